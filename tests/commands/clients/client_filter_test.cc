// The filters that CLIENT LIST and CLIENT KILL share.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// Two clients that differ in everything that a filter can ask for. The one that asks has no names at all.
class FilterTest : public CommandTest {
 public:
  FilterTest() : other(Connect()) {
    const uint64_t now_ms = server().clock.Read().mono_ms;
    Session& mine = client().session();
    mine.peer = "10.0.0.1:5001";
    mine.local = SharedBytes::Copy("10.0.0.9:6379");
    mine.created_mono_ms = mine.active_mono_ms = now_ms;
    Session& others = other.session();
    others.peer = "[::1]:5002";
    others.local = SharedBytes::Copy("[::1]:6379");
    others.created_mono_ms = others.active_mono_ms = now_ms;
    others.MutableNames() = {.name = "worker", .lib_name = "lib", .lib_version = "1.2"};
    others.db = 3;
    others.no_evict = true;
    others.Set(Mode::kNoTouch);
  }

  // Whom CLIENT LIST shows: "", "me", "other" or "both". CLIENT KILL must mean the same.
  std::string Shown(const Words& filter) {
    Words list{"CLIENT", "LIST"};
    list.insert(list.end(), filter.begin(), filter.end());
    const Reply reply = Run(list);
    REQUIRE(reply.kind == Reply::Kind::kBulk);
    const bool me = reply.text.find("addr=" + client().session().peer) != std::string::npos;
    const bool them = reply.text.find("addr=" + other.session().peer) != std::string::npos;
    CHECK(Killed(filter) == (me ? 1 : 0) + (them ? 10 : 0));
    return me && them ? "both" : me ? "me" : them ? "other" : "";
  }

  TestClient& other;

 private:
  // 1 for the one that asks, 10 for the other one.
  int64_t Killed(const Words& filter) {
    Words kill{"CLIENT", "KILL"};
    if (std::find(filter.begin(), filter.end(), "SKIPME") == filter.end())
      kill.insert(kill.end(), {"SKIPME", "no"});
    kill.insert(kill.end(), filter.begin(), filter.end());
    const Reply reply = Run(kill);
    const bool me = client().session().Clear(Mode::kEnding);
    const bool them = other.session().Clear(Mode::kDropped);
    CHECK(reply == Integer((me ? 1 : 0) + (them ? 1 : 0)));
    return (me ? 1 : 0) + (them ? 10 : 0);
  }
};

std::string IdOf(TestClient& client) { return std::to_string(client.session().id); }

}  // namespace

TEST_CASE_METHOD(FilterTest, "each filter chooses those clients of which it is true") {
  CHECK(Shown({"TYPE", "normal"}) == "both");
  for (const char* type : {"replica", "slave", "MASTER", "primary", "pubsub"})
    CHECK(Shown({"TYPE", type}) == "");
  CHECK(Shown({"USER", "default"}) == "both");
  CHECK(Shown({"ADDR", "10.0.0.1:5001"}) == "me");
  CHECK(Shown({"ADDR", "10.0.0.1"}) == "");
  CHECK(Shown({"LADDR", "[::1]:6379"}) == "other");
  CHECK(Shown({"IP", "10.0.0.1"}) == "me");
  CHECK(Shown({"IP", "::1"}) == "other");
  CHECK(Shown({"IP", "10.0.0"}) == "");
  CHECK(Shown({"NAME", "worker"}) == "other");
  CHECK(Shown({"NAME", "work"}) == "");
  CHECK(Shown({"LIB-NAME", "lib"}) == "other");
  CHECK(Shown({"LIB-VER", "1.2"}) == "other");
  CHECK(Shown({"DB", "3"}) == "other");
  CHECK(Shown({"DB", "0"}) == "me");
  CHECK(Shown({"FLAGS", "e"}) == "other");
  CHECK(Shown({"FLAGS", "Te"}) == "other");
  CHECK(Shown({"FLAGS", "N"}) == "me");
  CHECK(Shown({"FLAGS", "eN"}) == "");
  CHECK(Shown({"FLAGS", "x"}) == "");
  CHECK(Shown({"ID", IdOf(other)}) == "other");
  CHECK(Shown({"ID", IdOf(other), "987654", IdOf(client())}) == "both");
  CHECK(Shown({"ID", "987654"}) == "");
  CHECK(Shown({"SKIPME", "YES"}) == "other");
  CHECK(Shown({"SKIPME", "no"}) == "both");
}

TEST_CASE_METHOD(FilterTest, "an empty name in a filter does not match clients without a name") {
  for (const char* filter : {"NAME", "LIB-NAME", "LIB-VER"}) CHECK(Shown({filter, ""}) == "");
}

TEST_CASE_METHOD(FilterTest, "a unix socket has no IP") {
  other.session().peer = "/tmp/mayfly.sock:0";
  other.session().over_unix_socket = true;
  CHECK(Shown({"IP", "/tmp/mayfly.sock"}) == "");
  CHECK(Shown({"ADDR", "/tmp/mayfly.sock:0"}) == "other");
}

TEST_CASE_METHOD(FilterTest, "MAXAGE and IDLE choose who is that old and has been idle for that long") {
  other.session().created_mono_ms += 1;
  AdvanceTime(10'000);
  CHECK(Shown({"MAXAGE", "10"}) == "me");
  CHECK(Shown({"maxage", "9"}) == "both");
  CHECK(Shown({"IDLE", "10"}) == "other");  // who asks is not idle
  AdvanceTime(1);
  CHECK(Shown({"MAXAGE", "10"}) == "both");
  other.Run({"PING"});
  CHECK(Shown({"IDLE", "1"}) == "");
}

TEST_CASE_METHOD(FilterTest,
                 "several filters must all be true, and of a filter that comes twice the last counts") {
  CHECK(Shown({"DB", "3", "NAME", "worker", "TYPE", "normal", "ID", IdOf(other)}) == "other");
  CHECK(Shown({"DB", "3", "IP", "10.0.0.1"}) == "");
  CHECK(Shown({"ID", IdOf(client()), "SKIPME", "yes"}) == "");
  CHECK(Shown({"DB", "3", "DB", "0"}) == "me");
  CHECK(Shown({"ID", IdOf(client()), "ID", IdOf(other)}) == "both");  // but numbers add up
}

TEST_CASE_METHOD(FilterTest,
                 "CLIENT LIST shows the clients of an ID filter in its order, CLIENT KILL counts each once") {
  const std::string mine = Run({"CLIENT", "LIST", "ID", IdOf(client())}).text;
  const std::string list = Run({"CLIENT", "LIST", "ID", IdOf(other), IdOf(client()), IdOf(other)}).text;
  const std::string begin = "id=" + IdOf(other) + " ";
  CHECK(list.starts_with(begin));
  CHECK(list.rfind("\n" + begin) > list.find("\nid=" + IdOf(client()) + " "));
  CHECK(Run({"CLIENT", "KILL", "ID", IdOf(other), IdOf(other), IdOf(client()), IdOf(client()), "SKIPME",
             "no"}) == Integer(2));
}

TEST_CASE_METHOD(FilterTest, "a client that is leaving and reads slowly can be killed") {
  other.Run({"QUIT"});
  REQUIRE(other.session().Has(Mode::kEnding));
  CHECK(Run({"CLIENT", "KILL", "ID", IdOf(other)}) == Integer(1));
  CHECK(other.session().Has(Mode::kDropped));
}

TEST_CASE_METHOD(FilterTest, "a filter that makes no sense is refused by both, and nobody is killed") {
  const std::string command = GENERATE("LIST", "KILL");
  const auto refused = [&](Words filter) {
    filter.insert(filter.begin(), {"CLIENT", command});
    const Reply reply = Run(filter);
    CHECK_FALSE(other.session().Has(Mode::kDropped));
    CHECK_FALSE(client().session().Has(Mode::kEnding));
    return reply;
  };
  CHECK(refused({"TYPE", "foo"}) == Error("ERR Unknown client type 'foo'"));
  CHECK(refused({"USER", "nobody"}) == Error("ERR No such user 'nobody'"));
  CHECK(refused({"SKIPME", "maybe"}) == Error("ERR syntax error"));
  CHECK(refused({"MAXAGE", "x"}) == Error("ERR maxage is not an integer or out of range"));
  CHECK(refused({"MAXAGE", "0"}) == Error("ERR maxage should be greater than 0"));
  CHECK(refused({"IDLE", "x"}) == Error("ERR idle is not an integer or out of range"));
  CHECK(refused({"IDLE", "-1"}) == Error("ERR idle should be greater than 0"));
  CHECK(refused({"FLAGS", "ez"}) == Error("ERR Unknown flags found in the provided filter: ez"));
  for (const char* number : {"x", "2147483648", "-2147483649", ""})
    CHECK(refused({"DB", number}) == Error("ERR DB is not an integer or out of range"));
  for (const char* number : {"-1", "16", "2147483647"})
    CHECK(refused({"DB", number}) == Error("ERR DB number should be between 0 and 15"));
  CHECK(refused({"NAME", "worker", "FOO", "x"}) == Error("ERR syntax error"));
  CHECK(refused({"NAME", "worker", "DB"}) == Error("ERR syntax error"));
  CHECK(refused({"ID", "5", "NAME", "worker", "x"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(FilterTest, "what an ID filter refuses is what Redis has always refused") {
  CHECK(Run({"CLIENT", "KILL", "ID", "x", "NAME", "a"}) == Error("ERR client-id should be greater than 0"));
  CHECK(Run({"CLIENT", "KILL", "ID", "5", "0"}) == Error("ERR syntax error"));
  CHECK(Run({"CLIENT", "KILL", "ID", "5", "x"}) == Error("ERR syntax error"));
  CHECK(Run({"CLIENT", "LIST", "ID", "x", "NAME", "a"}) == Error("ERR Invalid client ID"));
  CHECK(Run({"CLIENT", "LIST", "ID", "5", "0", "-1"}) == Bulk(""));
}

}  // namespace mayfly::testing
