// Libraries of functions at a replica: those that its master has, whatever has changed them.
#include <string>
#include <vector>

#include "commands/replicas/follow_world.h"

namespace mayfly::testing {
namespace {

// Its function answers with `says`.
std::string LibrarySaying(const std::string& name, const std::string& says) {
  return "#!lua name=" + name + "\nredis.register_function{function_name = '" + name +
         "', callback = function() return '" + says + "' end, flags = {'no-writes'}}";
}

class FunctionFollowTest : public FollowTest {
 public:
  void CheckSame() {
    Carry();
    Compare({"FUNCTION", "LIST", "WITHCODE"});
    Compare({"FUNCTION", "STATS"});
    for (const char* name : {"a", "b", "c"}) Compare({"FCALL_RO", name, "0"});
    CHECK(Link("master_failed_commands") == "0");
    CHECK(Link("slave_repl_offset") == Field("replication", "master_repl_offset"));
  }
};

}  // namespace

TEST_CASE_METHOD(FunctionFollowTest, "a replica has the libraries of its master, after each change of them") {
  Run({"FUNCTION", "LOAD", LibrarySaying("a", "before")});
  follower.Run({"FUNCTION", "LOAD", LibrarySaying("c", "own")});
  Follow();
  CheckSame();
  CHECK(follower.Run({"FCALL", "a", "0"}) == Bulk("before"));
  const Reply one = Run({"FUNCTION", "DUMP"});
  for (const Words& change :
       std::vector<Words>{{"FUNCTION", "LOAD", LibrarySaying("b", "loaded")},
                          {"FUNCTION", "LOAD", "REPLACE", LibrarySaying("b", "replaced")},
                          {"FUNCTION", "LOAD", "REPLACE", "#!lua name=b\nerror('no')"},
                          {"FUNCTION", "DELETE", "a"},
                          {"FUNCTION", "DELETE", "a"},
                          {"FUNCTION", "RESTORE", one.text},
                          {"FUNCTION", "RESTORE", one.text},
                          {"FUNCTION", "LOAD", "REPLACE", LibrarySaying("a", "other")},
                          {"function", "restore", one.text, "replace"},
                          {"FUNCTION", "RESTORE", one.text, "FLUSH"},
                          {"FUNCTION", "FLUSH", "ASYNC"},
                          {"FUNCTION", "RESTORE", one.text, "APPEND"}}) {
    CAPTURE(change);
    Run(change);
    CheckSame();
  }
  CHECK(follower.Run({"FUNCTION", "LIST"}).elements.size() == 1);
}

TEST_CASE_METHOD(FunctionFollowTest,
                 "libraries that a transaction changes reach a replica with the transaction") {
  Follow();
  Run({"MULTI"});
  Run({"SET", "k", "v"});
  Run({"FUNCTION", "LOAD", LibrarySaying("a", "queued")});
  Run({"FUNCTION", "LOAD", LibrarySaying("b", "queued")});
  Run({"FUNCTION", "DELETE", "b"});
  CHECK(Run({"EXEC"}) == Array({Ok(), Bulk("a"), Bulk("b"), Ok()}));
  CheckSame();
  CHECK(follower.Run({"FCALL_RO", "a", "0"}) == Bulk("queued"));
  Run({"MULTI"});
  Run({"FUNCTION", "FLUSH"});
  Run({"EXEC"});
  CheckSame();
  CHECK(follower.Run({"FUNCTION", "LIST"}) == Array({}));
}

TEST_CASE_METHOD(FunctionFollowTest,
                 "what a function writes reaches a replica as its writes, not as the call") {
  const std::string writes =
      "#!lua name=a\nredis.register_function('twice', function(keys, args) "
      "redis.call('SET', keys[1], args[1]) redis.call('SELECT', 1) redis.call('RPUSH', keys[1], args[1], "
      "args[1]) "
      "return redis.pcall('INCR', keys[1]) end)";
  Follow();
  Run({"FUNCTION", "LOAD", writes});
  CHECK(Run({"FCALL", "twice", "1", "k", "v"}).text.starts_with("WRONGTYPE"));
  Run({"SET", "after", "v"});
  Carry();
  CompareAll();
  CHECK(follower.Run({"SELECT", "1"}) == Ok());
  CHECK(follower.Run({"LRANGE", "k", "0", "-1"}) == Bulks({"v", "v"}));
  CHECK(follower.Run({"EXISTS", "after"}) == Integer(0));
}

}  // namespace mayfly::testing
