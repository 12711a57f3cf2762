// Who may let keys go into a stream (INTO), and what ACL LOG says of those who may not.
#include <string>
#include <vector>

#include "commands/tasks/tasks_world.h"

namespace mayfly::testing {
namespace {

const Reply kNoStream =
    Error("NOPERM this user has no permissions to access one of the keys used as arguments");

class TasksRightsTest : public TasksTest {
 public:
  // A client that is logged in as a new user with these rules.
  TestClient& With(const std::string& user, const Words& rules) {
    Words words = {"ACL", "SETUSER", user, "on", "nopass"};
    words.insert(words.end(), rules.begin(), rules.end());
    REQUIRE(Run(words) == Ok());
    TestClient& client = Connect();
    REQUIRE(client.Run({"AUTH", user, "any"}) == Ok());
    return client;
  }
  // A field of the only entry of ACL LOG.
  std::string Logged(const std::string& field) {
    const Reply log = Run({"ACL", "LOG"});
    if (log.elements.size() != 1) return std::to_string(log.elements.size()) + " entries";
    const std::vector<Reply>& entry = log.elements[0].elements;
    for (size_t i = 0; i + 1 < entry.size(); i += 2) {
      if (entry[i].text == field) return entry[i + 1].text;
    }
    return "no such field";
  }
};

}  // namespace

TEST_CASE_METHOD(TasksRightsTest, "a stream after INTO that a user may not write to stands in ACL LOG") {
  TestClient& app = With("app", {"+@all", "~mail:*"});
  app.Run({"SET", "mail:1", "v"});
  for (const Words& words :
       {Words{"SET", "mail:1", "x", "EX", "9", "INTO", "jobs"},
        Words{"SET", "mail:1", "jobs", "PX", "9", "INTO", "jobs"},
        Words{"EXPIRE", "mail:1", "9", "INTO", "jobs"}, Words{"PEXPIREAT", "mail:1", "1", "INTO", "jobs"}}) {
    CAPTURE(words);
    Run({"ACL", "LOG", "RESET"});
    CHECK(app.Run(words) == kNoStream);
    CHECK(Logged("reason") == "key");
    CHECK(Logged("object") == "jobs");
    CHECK(Logged("context") == "toplevel");
    CHECK(Logged("username") == "app");
    CHECK(Logged("client-info").find("user=app") != std::string::npos);
  }
  CHECK(Run({"INFO", "stats"}).text.find("acl_access_denied_key:4\r\n") != std::string::npos);
  CHECK(Run({"GET", "mail:1"}) == Bulk("v"));
  CHECK(Run({"TTL", "mail:1"}) == Integer(-1));
}

TEST_CASE_METHOD(TasksRightsTest, "INTO is refused and logged in transactions and scripts, too") {
  TestClient& app = With("app", {"+@all", "~mail:*"});
  app.Run({"MULTI"});
  app.Run({"SET", "mail:1", "v", "EX", "9", "INTO", "jobs"});
  CHECK(app.Run({"EXEC"}) == Array({kNoStream}));
  CHECK(Logged("object") == "jobs");
  Run({"ACL", "LOG", "RESET"});
  const char* script = "return redis.call('SET', KEYS[1], 'v', 'EX', 9, 'INTO', 'jobs')";
  CHECK(app.Run({"EVAL", script, "1", "mail:1"}).kind == Reply::Kind::kError);
  CHECK(Logged("object") == "jobs");
  CHECK(Run({"EXISTS", "mail:1"}) == Integer(0));
}

TEST_CASE_METHOD(TasksRightsTest, "who may read a stream may not let keys go into it") {
  TestClient& reader = With("reader", {"+@all", "~mail:*", "%R~jobs"});
  TestClient& writer = With("writer", {"+@all", "~mail:*", "%W~jobs"});
  CHECK(reader.Run({"SET", "mail:1", "v", "EX", "9", "INTO", "jobs"}) == kNoStream);
  CHECK(reader.Run({"DRAIN", "jobs"}) == kNoStream);
  CHECK(reader.Run({"TIMERS", "jobs"}).kind == Reply::Kind::kArray);
  CHECK(writer.Run({"SET", "mail:1", "v", "EX", "9", "INTO", "jobs"}) == Ok());
  CHECK(writer.Run({"TIMERS", "jobs"}) == kNoStream);
}

TEST_CASE_METHOD(TasksRightsTest, "one selector must grant the command, its key and the stream together") {
  TestClient& apart = With("apart", {"+set", "+expire", "~mail:*", "(+@all ~jobs)"});
  CHECK(apart.Run({"XADD", "jobs", "1-1", "f", "v"}) == Bulk("1-1"));
  CHECK(apart.Run({"SET", "mail:1", "v"}) == Ok());
  CHECK(apart.Run({"SET", "mail:1", "v", "EX", "9", "INTO", "jobs"}) == kNoStream);
  CHECK(apart.Run({"EXPIRE", "mail:1", "9", "INTO", "jobs"}) == kNoStream);
  TestClient& together = With("together", {"+set", "~page:*", "(+set ~mail:* %W~jobs)"});
  CHECK(together.Run({"SET", "mail:1", "v", "EX", "9", "INTO", "jobs"}) == Ok());
  CHECK(together.Run({"SET", "page:1", "v", "EX", "9", "INTO", "jobs"}) == kNoStream);
}

TEST_CASE_METHOD(TasksRightsTest, "a rule with INTO needs no right of the client to the stream") {
  SetOption("ttl-rule", "mail:* into jobs");
  TestClient& app = With("app", {"+@all", "~mail:*"});
  CHECK(app.Run({"SET", "mail:1", "v", "PX", "20"}) == Ok());
  CHECK(app.Run({"TIMERS", "jobs"}) == kNoStream);
  AdvanceTime(20);
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
}

}  // namespace mayfly::testing
