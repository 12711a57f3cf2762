// MONITOR: what its clients are sent, and what they may do.
#include <sstream>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const std::string kTime = "+1700000000.000000 ";

Lines LinesOf(const std::string& bytes) {
  Lines lines;
  std::istringstream text(bytes);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

class MonitorTest : public CommandTest {
 public:
  MonitorTest() { REQUIRE(monitor.Run({"MONITOR"}) == Ok()); }
  // What came since the last call, without what all lines have: time, client and line end.
  Lines Shown() {
    Lines lines = LinesOf(monitor.RunRaw(""));
    for (std::string& line : lines) {
      REQUIRE(line.starts_with(kTime + "["));
      REQUIRE(line.back() == '\r');
      line = line.substr(line.find(']') + 2);
      line.pop_back();
    }
    return lines;
  }
  TestClient& monitor = Connect();
};

}  // namespace

TEST_CASE_METHOD(MonitorTest,
                 "each call is a line with its time, its database, its client and its arguments") {
  LetTimePass(1'234);
  Run({"SET", "k", "a \"quoted\" \\ text\r\n\x01\xff"});
  CHECK(monitor.RunRaw("") == "+1700000001.234000 [0 " + client().session().peer +
                                  "] \"SET\" \"k\" \"a \\\"quoted\\\" \\\\ text\\r\\n\\x01\\xff\"\r\n");
  Run({"SELECT", "5"});
  Run({"get", ""});
  CHECK(monitor.RunRaw("") == "+1700000001.234000 [5 " + client().session().peer + "] \"SELECT\" \"5\"\r\n" +
                                  "+1700000001.234000 [5 " + client().session().peer + "] \"get\" \"\"\r\n");
}

TEST_CASE_METHOD(MonitorTest, "a client of a unix socket is shown by the socket") {
  StartWith("unixsocket", "/tmp/s");
  client().session().over_unix_socket = true;
  Run({"PING"});
  CHECK(monitor.RunRaw("") == kTime + "[0 unix:/tmp/s] \"PING\"\r\n");
}

TEST_CASE_METHOD(MonitorTest, "what was refused is not shown, nor what administrators send, nor secrets") {
  Run({"GET"});
  Run({"NOSUCH"});
  Run({"CONFIG", "GET", "maxkeys"});
  Run({"SLOWLOG", "GET"});
  CHECK(Shown().empty());
  Run({"INCR", "k"});
  Run({"LPUSH", "k", "fails"});
  Run({"AUTH", "user", "secret"});
  Run({"HELLO", "2", "AUTH", "user", "secret"});
  CHECK(Shown() == Lines{R"("INCR" "k")", R"("LPUSH" "k" "fails")", R"_("AUTH" "(redacted)" "(redacted)")_",
                         R"_("HELLO" "2" "AUTH" "(redacted)" "(redacted)")_"});
}

TEST_CASE_METHOD(MonitorTest, "all monitors get every line, each other's and their own as well") {
  TestClient& second = Connect();
  second.UseResp3();
  CHECK(second.Run({"MONITOR"}) == Ok());
  CHECK(monitor.RunRaw("PING\r\n") ==
        "+PONG\r\n" + kTime + "[0 " + monitor.session().peer + "] \"PING\"\r\n");
  CHECK(second.RunRaw("") == kTime + "[0 " + monitor.session().peer + "] \"PING\"\r\n");
  Run({"ECHO", std::string(5000, 'x')});
  CHECK(Shown() == Lines{"\"ECHO\" \"" + std::string(5000, 'x') + "\""});
  CHECK(second.RunRaw("").size() > 5000);
}

TEST_CASE_METHOD(MonitorTest,
                 "a monitor uses no key, is not answered when it asks again, and is listed as O") {
  const Reply refused = Error("ERR Replica can't interact with the keyspace");
  CHECK(monitor.Run({"SET", "k", "v"}) == refused);
  CHECK(monitor.Run({"GET", "k"}) == refused);
  CHECK(monitor.Run({"MONITOR"}) == NoReply());
  CHECK(monitor.session().Has(Mode::kMonitor));
  const std::string id = std::to_string(monitor.session().id);
  CHECK(Run({"CLIENT", "LIST", "ID", id}).text.find(" flags=O ") != std::string::npos);
  Shown();
  CHECK(Run({"CLIENT", "PAUSE", "1000"}) == Ok());
  CHECK(monitor.RunRaw("PING\r\n").starts_with("+PONG\r\n"));
}

TEST_CASE_METHOD(MonitorTest, "RESET ends it, and requests take the short way again") {
  CHECK(server().server.modes != 0);
  CHECK(monitor.Run({"RESET"}) == Simple("RESET"));
  CHECK(server().server.modes == 0);
  Run({"SET", "k", "v"});
  CHECK(monitor.Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(MonitorTest, "QUIT ends it") {
  CHECK(LinesOf(monitor.RunRaw("QUIT\r\n")).front() == "+OK\r");
  Run({"PING"});
  CHECK(monitor.RunRaw("").empty());
}

TEST_CASE("a monitor that has gone is forgotten with the next call") {
  TestServer server;
  TestClient client(server);
  {
    TestClient monitor(server);
    CHECK(monitor.Run({"MONITOR"}) == Ok());
    client.Run({"PING"});
  }
  CHECK(client.Run({"PING"}) == Simple("PONG"));
  CHECK(server.server.modes == 0);
}

TEST_CASE_METHOD(MonitorTest, "a call that waits is shown once, when it begins to wait") {
  TestClient& waiter = Connect();
  waiter.Run({"BLPOP", "list", "0"});
  CHECK(Shown() == Lines{R"("BLPOP" "list" "0")"});
  Run({"RPUSH", "list", "a"});
  CHECK(waiter.Received().size() == 1);
  CHECK(Shown() == Lines{R"("RPUSH" "list" "a")"});
  Run({"CLIENT", "PAUSE", "10"});
  waiter.Run({"ECHO", "later"});
  CHECK(Shown().empty());
  AdvanceTime(10);
  CHECK(LinesOf(monitor.RunRaw("")).at(0).ends_with("\"ECHO\" \"later\"\r"));
}

TEST_CASE_METHOD(CommandTest, "requests that came in one turn with MONITOR are shown if they run after it") {
  TestClient& monitor = Connect();
  const std::string before = "SET a 1\r\n";
  const std::string begin = "MONITOR\r\n";
  const std::string after = "SET b 2\r\nGET b\r\n";
  TestClient& other = Connect();
  Feed feeds[] = {{.session = &client().session(), .input = before},
                  {.session = &monitor.session(), .input = begin},
                  {.session = &other.session(), .input = after}};
  server().executor.Run(feeds);
  const Lines lines = LinesOf(monitor.RunRaw(""));
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "+OK\r");
  CHECK(lines[1].ends_with(R"("SET" "b" "2")"
                           "\r"));
  CHECK(lines[2].ends_with(R"("GET" "b")"
                           "\r"));
}

TEST_CASE_METHOD(MonitorTest, "a monitor that wants no replies gets no lines") {
  monitor.Run({"CLIENT", "REPLY", "OFF"});
  monitor.RunRaw("");
  Run({"PING"});
  CHECK(monitor.RunRaw("").empty());
  CHECK(monitor.RunRaw("CLIENT REPLY ON\r\n").starts_with("+OK\r\n"));
  Run({"PING"});
  CHECK(Shown().size() == 1);
}

TEST_CASE_METHOD(CommandTest, "a monitor that does not read piles up no more than its output may hold") {
  constexpr size_t kMegabyte = 1 << 20;
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  TestClient& monitor = Connect();
  CHECK(monitor.Run({"MONITOR"}) == Ok());
  const std::string text(100'000, 'x');
  for (int i = 0; i < 100; ++i) Run({"ECHO", text});
  CHECK(monitor.session().output.size() >= kMegabyte);
  CHECK(monitor.session().output.size() < 2 * kMegabyte);
  CHECK_FALSE(monitor.session().MayRun());  // its connection closes it
  CHECK(Run({"PING"}) == Simple("PONG"));
}

// ---- beside a redis-server

namespace {
// "+1700000000.123456 [0 127.0.0.1:5] "get" "k"" without the time and the client: "0 "get" "k"".
Lines Bare(const Lines& lines) {
  Lines bare;
  for (const std::string& line : lines) {
    const size_t open = line.find('['), close = line.find(']');
    if (line.empty() || line[0] != '+' || open == std::string::npos || close == std::string::npos) continue;
    bare.push_back(line.substr(open + 1, line.find(' ', open) - open - 1) + line.substr(close + 1));
  }
  return bare;
}

}  // namespace

TEST_CASE_METHOD(MonitorTest, "the lines are those of a redis-server") {
  const std::vector<std::vector<std::string>> requests = {
      {"SET", "k", std::string("\0\a\b\t\n\v\f\r\x1b \"\\'~\x7f\x80\xff", 17)},
      {"get", "k"},
      {"GET"},
      {"NOSUCH", "x"},
      {"INCR", "k"},
      {"SELECT", "5"},
      {"PING"},
      {"SELECT", "0"},
      {"CLIENT", "ID"},
      {"CLIENT", "LIST"},
      {"CONFIG", "GET", "hz"},
      {"INFO", "cpu"},
      {"COMMAND", "COUNT"},
      {"AUTH", "secret"},
      {"AUTH", "user", "secret"},
      {"HELLO", "2", "AUTH", "default", "secret", "SETNAME", "me"},
      {"DEBUG", "JMAP"},
      {"SLOWLOG", "LEN"},
      {"LATENCY", "LATEST"},
      {"MEMORY", "DOCTOR"},
      {"OBJECT", "HELP"},
      {"TIME"},
      {"ROLE"},
      {"LASTSAVE"},
      {"FLUSHALL"},
      {"DBSIZE"},
      {"RESET"},
      {"ECHO", "end"},
  };
  Oracle oracle;
  OracleClient their_monitor(oracle);
  OracleClient their_client(oracle);
  their_monitor.Ask("MONITOR\r\n", 1);
  TestClient& ours = Connect();
  for (const auto& request : requests) {
    their_client.Ask(EncodeRequest(request), 1);
    ours.RunRaw(EncodeRequest(request));
  }
  const Lines theirs = Bare(LinesOf(their_monitor.AskUntil("", "\"end\"\r\n")));
  CHECK(Bare(LinesOf(monitor.RunRaw(""))) == theirs);
  CHECK(theirs.size() > 10);
}

}  // namespace mayfly::testing
