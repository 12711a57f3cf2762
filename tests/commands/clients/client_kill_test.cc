#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class KillTest : public CommandTest {
 public:
  KillTest() : other(Connect()) {
    const uint64_t now_ms = server().clock.Read().mono_ms;
    client().session().peer = "10.0.0.1:1";
    client().session().local = SharedBytes::Copy("10.0.0.9:6379");
    client().session().created_mono_ms = now_ms;
    other.session().peer = "10.0.0.1:2";
    other.session().local = SharedBytes::Copy("10.0.0.8:6379");
    other.session().created_mono_ms = now_ms;
  }
  std::string Id(TestClient& client) { return std::to_string(client.session().id); }
  // Kills by these conditions; how many there were, and 100 more where it was the other one.
  int64_t Kill(std::vector<std::string> conditions) {
    conditions.insert(conditions.begin(), {"CLIENT", "KILL"});
    const Reply reply = Run(conditions);
    REQUIRE(reply.kind == Reply::Kind::kInteger);
    const bool hit = other.session().Clear(Mode::kDropped);
    return reply.integer + (hit ? 100 : 0);
  }

  TestClient& other;
};

}  // namespace

TEST_CASE_METHOD(KillTest, "CLIENT KILL with an address closes that client") {
  CHECK(Run({"CLIENT", "KILL", "10.0.0.1:3"}) == Error("ERR No such client"));
  CHECK(Run({"CLIENT", "KILL", "ID"}) == Error("ERR No such client"));
  CHECK(Run({"CLIENT", "KILL", "10.0.0.1:2"}) == Ok());
  CHECK(other.session().Has(Mode::kDropped));
  CHECK(other.Run({"PING"}) == NoReply());
}

TEST_CASE_METHOD(KillTest, "a client that kills itself gets the reply first") {
  CHECK(Run({"CLIENT", "KILL", "10.0.0.1:1"}) == Ok());
  CHECK(client().session().Has(Mode::kEnding));
  CHECK_FALSE(client().session().Has(Mode::kDropped));
  CHECK(Run({"PING"}) == NoReply());
}

TEST_CASE_METHOD(KillTest, "CLIENT KILL closes and counts the clients that meet every condition") {
  CHECK(Kill({"ID", Id(other)}) == 101);
  CHECK(Kill({"id", "987654"}) == 0);
  CHECK(Kill({"TYPE", "normal"}) == 101);
  CHECK(Kill({"TYPE", "pubsub"}) == 0);
  CHECK(Kill({"ADDR", "10.0.0.1:2"}) == 101);
  CHECK(Kill({"ADDR", "10.0.0.1"}) == 0);
  CHECK(Kill({"LADDR", "10.0.0.8:6379"}) == 101);
  CHECK(Kill({"USER", "default"}) == 101);
  CHECK(Kill({"ID", Id(other), "ADDR", "10.0.0.1:1"}) == 0);
  CHECK(Kill({"ID", Id(client())}) == 0);  // oneself is spared
  CHECK(Kill({"ID", Id(client()), "SKIPME", "no"}) == 1);
  CHECK(client().session().Has(Mode::kEnding));
}

TEST_CASE_METHOD(KillTest, "MAXAGE spares clients that are younger") {
  AdvanceTime(9999);
  CHECK(Kill({"MAXAGE", "10"}) == 0);
  AdvanceTime(1);
  CHECK(Kill({"MAXAGE", "10"}) == 101);
}

TEST_CASE_METHOD(KillTest, "CLIENT KILL refuses conditions in Redis's words, and kills nobody") {
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"CLIENT", "KILL"});
    const Reply reply = Run(words);
    CHECK_FALSE(other.session().Has(Mode::kDropped));
    return reply;
  };
  CHECK(refused({}) == Error("ERR wrong number of arguments for 'client|kill' command"));
  for (const char* id : {"0", "-1", "abc"})
    CHECK(refused({"ID", id}) == Error("ERR client-id should be greater than 0"));
  CHECK(refused({"TYPE", "foo"}) == Error("ERR Unknown client type 'foo'"));
  CHECK(refused({"USER", "nobody"}) == Error("ERR No such user 'nobody'"));
  CHECK(refused({"SKIPME", "maybe"}) == Error("ERR syntax error"));
  CHECK(refused({"MAXAGE", "x"}) == Error("ERR maxage is not an integer or out of range"));
  CHECK(refused({"MAXAGE", "0"}) == Error("ERR maxage should be greater than 0"));
  CHECK(refused({"ID", "5", "TYPE"}) == Error("ERR syntax error"));
  CHECK(refused({"FOO", "bar"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(KillTest, "a client is killed while a pause holds it back, and what it sent never runs") {
  CHECK(Run({"CLIENT", "PAUSE", "1000"}) == Ok());
  CHECK(other.Run({"SET", "k", "v"}) == NoReply());
  CHECK(Run({"CLIENT", "KILL", "ID", Id(other)}) == Integer(1));
  CHECK(other.session().Has(Mode::kDropped));
  server().parking.Leave(other.session());  // as its connection does when it is dropped
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(KillTest, "a client killed by one of the same batch runs nothing more") {
  const std::string kill = EncodeRequest({"CLIENT", "KILL", "ID", Id(other)});
  const std::string set = EncodeRequest({"SET", "k", "v"});
  Feed feeds[] = {{.session = &client().session(), .input = kill},
                  {.session = &other.session(), .input = set}};
  server().executor.Run(feeds);
  CHECK(other.session().Has(Mode::kDropped));
  CHECK(other.Received().empty());
  CHECK(client().Received() == std::vector<Reply>{Integer(1)});
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

}  // namespace mayfly::testing
