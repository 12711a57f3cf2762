// SLOWLOG: which calls are kept, and how they are shown. How long a call takes, the test says.
#include "support/command_test.h"
#include "support/stepped_cycles.h"

namespace mayfly::testing {
namespace {

constexpr auto kUs = static_cast<uint64_t>(LooplessServer::kAnyCyclesPerUs);

class SlowLogTest : public CommandTest {
 public:
  SlowLogTest() { server().changes.Listen(slow_, ~uint32_t{0}); }
  ~SlowLogTest() { server().changes.Unlisten(slow_); }

  // A request, or several, that change one key each, and take that long for it.
  Reply RunFor(uint64_t us, const Words& words) {
    slow_.set_each(us * kUs);
    Reply reply = Run(words);
    slow_.set_each(0);
    return reply;
  }
  void RunRawFor(uint64_t us, std::string_view bytes) {
    slow_.set_each(us * kUs);
    RunRaw(bytes);
    slow_.set_each(0);
  }
  // The arguments of the entries, newest first.
  std::vector<Words> Logged() {
    std::vector<Words> logged;
    for (const SlowCall& call : server().slow_log.newest_first()) logged.push_back(call.arguments);
    return logged;
  }

 private:
  SlowChanges slow_;
};

}  // namespace

TEST_CASE_METHOD(SlowLogTest, "a call that takes 10 ms is kept with its time, its arguments and its client") {
  Run({"CLIENT", "SETNAME", "worker"});
  RunFor(9'999, {"SET", "k", "1"});
  CHECK(Run({"SLOWLOG", "LEN"}) == Integer(0));
  CHECK(Run({"SLOWLOG", "GET"}) == Array({}));
  RunFor(10'000, {"SET", "k", "2"});
  AdvanceTime(3'000);
  RunFor(12'345, {"rpush", "list", "a"});
  const Reply peer = Bulk(client().session().peer);
  const int64_t now = WallMs() / 1000;
  const Reply first =
      Array({Integer(0), Integer(now - 3), Integer(10'000), Bulks({"SET", "k", "2"}), peer, Bulk("worker")});
  const Reply second =
      Array({Integer(1), Integer(now), Integer(12'345), Bulks({"rpush", "list", "a"}), peer, Bulk("worker")});
  CHECK(Run({"SLOWLOG", "GET"}) == Array({second, first}));
  CHECK(Run({"SLOWLOG", "GET", "1"}) == Array({second}));
  CHECK(Run({"SLOWLOG", "GET", "0"}) == Array({}));
  CHECK(Run({"SLOWLOG", "GET", "-1"}) == Array({second, first}));
  CHECK(Run({"SLOWLOG", "LEN"}) == Integer(2));
  CHECK(Run({"SLOWLOG", "RESET"}) == Ok());
  CHECK(Run({"SLOWLOG", "GET", "-1"}) == Array({}));
}

TEST_CASE_METHOD(SlowLogTest, "SLOWLOG GET shows ten entries, and refuses counts in Redis's words") {
  for (int i = 0; i < 12; ++i) RunFor(10'000, {"SET", "k", "v"});
  CHECK(Run({"SLOWLOG", "GET"}).elements.size() == 10);
  for (const char* wrong : {"-2", "x", "", "9223372036854775808"})
    CHECK(Run({"SLOWLOG", "GET", wrong}) == Error("ERR count should be greater than or equal to -1"));
  CHECK(Run({"SLOWLOG", "GET", "1", "2"}) ==
        Error("ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP."));
  CHECK(Run({"SLOWLOG", "HELP"}).kind == Reply::Kind::kArray);
}

TEST_CASE_METHOD(SlowLogTest, "many arguments and long ones are shortened") {
  Words words = {"SADD"};
  for (int i = 0; i < 40; ++i) words.push_back("key:" + std::to_string(i));
  words[1] = std::string(200, 'x');
  RunFor(10'000, words);
  REQUIRE(Logged().size() == 1);
  const Words logged = Logged()[0];
  REQUIRE(logged.size() == 32);
  CHECK(logged[1] == std::string(128, 'x') + "... (72 more bytes)");
  CHECK(logged[30] == "key:29");
  CHECK(logged[31] == "... (10 more arguments)");
}

TEST_CASE_METHOD(SlowLogTest, "with 0 every call is kept, each of a pipeline too, and with -1 none") {
  SetOption("slowlog-log-slower-than", "0");
  RunRaw("GET a\r\nGET b\r\nGET c\r\nPING\r\n");
  CHECK(Logged() == std::vector<Words>{{"PING"}, {"GET", "c"}, {"GET", "b"}, {"GET", "a"}});
  Run({"GET"});
  Run({"NOSUCH"});
  CHECK(Logged().size() == 4);  // what was refused did not run
  SetOption("slowlog-log-slower-than", "-1");
  RunFor(1'000'000, {"SET", "k", "v"});
  CHECK(Logged().size() == 4);
}

TEST_CASE_METHOD(SlowLogTest, "a short threshold is exact, also among calls of one kind") {
  SetOption("slowlog-log-slower-than", "3");
  RunRawFor(2, "INCR a\r\nINCR b\r\nINCR c\r\n");
  CHECK(Logged().empty());
  RunRawFor(3, "INCR a\r\nINCR b\r\n");
  CHECK(Logged() == std::vector<Words>{{"INCR", "b"}, {"INCR", "a"}});
}

TEST_CASE_METHOD(SlowLogTest, "slowlog-max-len keeps the newest entries, at once when it is lowered") {
  SetOption("slowlog-max-len", "3");
  for (const char* text : {"a", "b", "c", "d"}) RunFor(10'000, {"SET", "k", text});
  CHECK(Logged() == std::vector<Words>{{"SET", "k", "d"}, {"SET", "k", "c"}, {"SET", "k", "b"}});
  CHECK(Run({"CONFIG", "SET", "slowlog-max-len", "1"}) == Ok());
  CHECK(Logged() == std::vector<Words>{{"SET", "k", "d"}});
  SetOption("slowlog-max-len", "0");
  RunFor(10'000, {"SET", "k", "v"});
  CHECK(Logged().empty());
}

TEST_CASE_METHOD(SlowLogTest, "passwords of calls that are only tried, of users and of keys are not kept") {
  Run({"ACL", "SETUSER", "u", "on", ">secret", "+@all"});
  SetOption("slowlog-log-slower-than", "0");
  Run({"ACL", "DRYRUN", "u", "AUTH", "secret"});
  Run({"ACL", "DRYRUN", "u", "HELLO", "3", "AUTH", "u", "secret"});
  Run({"ACL", "DRYRUN", "u", "CONFIG", "SET", "requirepass", "secret"});
  Run({"ACL", "SETUSER", "u", ">secret"});
  Run({"CONFIG", "SET", "tls-key-file-pass", "secret", "masterauth", "secret"});
  Run({"HELLO", "AUTH", "u", "secret"});
  const std::string hidden = "(redacted)";
  CHECK(Logged() == std::vector<Words>{{"HELLO", "AUTH", hidden, hidden},
                                       {"CONFIG", "SET", "tls-key-file-pass", hidden, "masterauth", hidden},
                                       {"ACL", "SETUSER", hidden, hidden},
                                       {"ACL", "DRYRUN", "u", "CONFIG", hidden, hidden, hidden},
                                       {"ACL", "DRYRUN", "u", "HELLO", hidden, hidden, hidden, hidden},
                                       {"ACL", "DRYRUN", "u", "AUTH", hidden}});
}

TEST_CASE_METHOD(SlowLogTest, "secrets are not kept") {
  SetOption("slowlog-log-slower-than", "0");
  Run({"AUTH", "secret"});
  Run({"AUTH", "somebody", "secret"});
  Run({"HELLO", "2", "SETNAME", "auth", "AUTH", "default", "secret", "SETNAME", "shown"});
  Run({"CONFIG", "SET", "maxkeys", "7", "requirepass", "secret", "timeout", "0"});
  CHECK(Logged() ==
        std::vector<Words>{
            {"CONFIG", "SET", "maxkeys", "7", "requirepass", "(redacted)", "timeout", "0"},
            {"HELLO", "2", "SETNAME", "auth", "AUTH", "(redacted)", "(redacted)", "SETNAME", "shown"},
            {"AUTH", "(redacted)", "(redacted)"},
            {"AUTH", "(redacted)"}});
}

TEST_CASE_METHOD(SlowLogTest, "a call that waits is kept when it has ended") {
  SetOption("slowlog-log-slower-than", "0");
  TestClient& waiter = Connect();
  waiter.Run({"BLPOP", "list", "0"});
  CHECK(Logged().empty());
  Run({"RPUSH", "list", "a"});
  CHECK(waiter.Received().size() == 1);
  CHECK(Logged() == std::vector<Words>{{"BLPOP", "list", "0"}, {"RPUSH", "list", "a"}});
}

// The two INCRs are recorded together, so nobody knows which of them was slow.
TEST_CASE_METHOD(SlowLogTest,
                 "after a slow call among others of its kind, each is timed alone for a second") {
  for (int i = 0; i < 98; ++i) Run({"INCR", "n"});
  RunRawFor(5'100, "INCR a\r\nINCR b\r\n");
  CHECK(Logged().empty());
  RunRawFor(10'000, "INCR a\r\nINCR b\r\n");
  CHECK(Logged() == std::vector<Words>{{"INCR", "b"}, {"INCR", "a"}});
  AdvanceTime(1'000);
  Run({"SLOWLOG", "RESET"});
  RunRawFor(10'000, "INCR a\r\nINCR b\r\n");
  CHECK(Logged().empty());
}

TEST_CASE_METHOD(SlowLogTest, "calls that are together as slow as one slow call are not slow") {
  std::string requests;
  for (int i = 0; i < 60; ++i) requests += "INCR n\r\n";
  RunRawFor(200, requests);
  RunRawFor(200, requests);
  CHECK(Logged().empty());
}

}  // namespace mayfly::testing
