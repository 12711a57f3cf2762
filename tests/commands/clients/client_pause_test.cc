#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(
    CommandTest,
    "CLIENT PAUSE holds requests back until its time is over, and then runs them in their order") {
  TestClient& a = Connect();
  TestClient& b = Connect();
  CHECK(Run({"CLIENT", "PAUSE", "100"}) == Ok());
  CHECK(b.Run({"APPEND", "k", "1"}) == NoReply());
  CHECK(a.Run({"APPEND", "k", "2"}) == NoReply());
  CHECK(Run({"GET", "k"}) == NoReply());
  CHECK(b.Run({"GET", "k"}) == NoReply());
  AdvanceTime(99);
  CHECK(a.Received().empty());
  AdvanceTime(1);
  CHECK(b.Received() == std::vector<Reply>{Integer(1), Bulk("1")});
  CHECK(a.Received() == std::vector<Reply>{Integer(2)});
  CHECK(client().Received() == std::vector<Reply>{Bulk("12")});
  CHECK(b.Run({"GET", "k"}) == Bulk("12"));
}

TEST_CASE_METHOD(CommandTest, "CLIENT PAUSE WRITE lets reads through") {
  TestClient& other = Connect();
  Run({"SET", "k", "v"});
  CHECK(Run({"CLIENT", "PAUSE", "100", "write"}) == Ok());
  CHECK(other.RunRaw("GET k\r\nSET k w\r\nGET k\r\n") == "$1\r\nv\r\n");
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  CHECK(other.Received() == std::vector<Reply>{Ok(), Bulk("w")});
}

TEST_CASE_METHOD(CommandTest, "CLIENT UNPAUSE is not held back, and the held requests run") {
  TestClient& other = Connect();
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  Run({"CLIENT", "PAUSE", "9223372036854775807", "ALL"});
  CHECK(other.Run({"PING"}) == NoReply());
  AdvanceTime(1'000'000);
  CHECK(other.Received().empty());
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  CHECK(other.Received() == std::vector<Reply>{Simple("PONG")});
  CHECK(other.Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(CommandTest, "two CLIENT UNPAUSE in one pipeline let each request run once") {
  TestClient& a = Connect();
  TestClient& b = Connect();
  Run({"CLIENT", "PAUSE", "1000", "WRITE"});
  CHECK(a.RunRaw("INCR k\r\nINCR k\r\n").empty());
  CHECK(b.Run({"APPEND", "t", "x"}) == NoReply());
  const std::string unpause = EncodeRequest({"CLIENT", "UNPAUSE"});
  CHECK(RunRaw(unpause + unpause + "PING\r\n") == "+OK\r\n+OK\r\n+PONG\r\n");
  CHECK(a.Received() == std::vector<Reply>{Integer(1), Integer(2)});
  CHECK(b.Received() == std::vector<Reply>{Integer(1)});
  CHECK(Run({"MGET", "k", "t"}) == Bulks({"2", "x"}));
  CHECK(a.Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(CommandTest,
                 "after UNPAUSE and PAUSE in one pipeline, a request that has not run is held back again") {
  TestClient& other = Connect();
  Run({"CLIENT", "PAUSE", "1000"});
  CHECK(other.Run({"INCR", "k"}) == NoReply());
  RunRaw(EncodeRequest({"CLIENT", "UNPAUSE"}) + EncodeRequest({"CLIENT", "PAUSE", "1000", "WRITE"}));
  CHECK(other.Received().empty());
  CHECK(Run({"CLIENT", "UNPAUSE"}) == Ok());
  CHECK(other.Received() == std::vector<Reply>{Integer(1)});
}

TEST_CASE_METHOD(CommandTest, "a second pause makes the first neither shorter nor milder") {
  TestClient& other = Connect();
  Run({"CLIENT", "PAUSE", "100", "ALL"});
  Run({"CLIENT", "PAUSE", "10", "WRITE"});
  CHECK(other.Run({"GET", "k"}) == NoReply());
  AdvanceTime(50);
  Run({"CLIENT", "PAUSE", "100", "WRITE"});
  AdvanceTime(99);
  CHECK(other.Received().empty());
  AdvanceTime(1);
  CHECK(other.Received() == std::vector<Reply>{Null()});
}

TEST_CASE_METHOD(CommandTest, "a pause also holds back what others sent in the same batch") {
  TestClient& other = Connect();
  const std::string pause = EncodeRequest({"CLIENT", "PAUSE", "100"});
  const std::string set = EncodeRequest({"SET", "k", "v"});
  Feed feeds[] = {{.session = &client().session(), .input = pause},
                  {.session = &other.session(), .input = set}};
  server().executor.Run(feeds);
  CHECK(client().Received() == std::vector<Reply>{Ok()});
  CHECK(other.Received().empty());
  AdvanceTime(100);
  CHECK(other.Received() == std::vector<Reply>{Ok()});
}

TEST_CASE_METHOD(CommandTest, "what would be refused anyway is refused during a pause as well") {
  Run({"CLIENT", "PAUSE", "100"});
  CHECK(Run({"GET"}) == Error("ERR wrong number of arguments for 'get' command"));
  CHECK(Run({"NOSUCH"}).kind == Reply::Kind::kError);
  CHECK(Run({"CLIENT", "NOSUCH"}).kind == Reply::Kind::kError);
  SetOption("requirepass", "secret");
  CHECK(Connect().Run({"GET", "k"}) == Error("NOAUTH Authentication required."));
}

TEST_CASE_METHOD(CommandTest, "keys expire during a pause") {
  Run({"SET", "k", "v", "PX", "20"});
  Run({"CLIENT", "PAUSE", "100", "WRITE"});
  AdvanceTime(20);
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "CLIENT PAUSE refuses wrong times and modes, in Redis's order") {
  CHECK(Run({"CLIENT", "PAUSE", "x"}) == Error("ERR timeout is not an integer or out of range"));
  CHECK(Run({"CLIENT", "PAUSE", "-1"}) == Error("ERR timeout is negative"));
  CHECK(Run({"CLIENT", "PAUSE", "x", "foo"}) == Error("ERR CLIENT PAUSE mode must be WRITE or ALL"));
  CHECK(Run({"CLIENT", "PAUSE", "0", "ALL"}) == Ok());
  CHECK(Run({"CLIENT", "PAUSE", "0", "ALL", "x"}) ==
        Error("ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP."));
  CHECK(Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(CommandTest, "CLIENT UNBLOCK ends a wait as if its time were over, or with an error") {
  TestClient& other = Connect();
  const std::string id = std::to_string(other.session().id);
  CHECK(Run({"CLIENT", "UNBLOCK", id}) == Integer(0));
  CHECK(Run({"CLIENT", "UNBLOCK", "987654"}) == Integer(0));
  for (const auto& [word, reason] :
       {std::pair{"timeout", WakeReason::kTimeout}, {"ERROR", WakeReason::kUnblocked}}) {
    const std::vector<std::string_view> ping{"PING"};
    const Parked& parked = server().parking.Park(other.session(), ping, ParkingLot::kForever);
    const std::string raw = EncodeRequest({"CLIENT", "UNBLOCK", id, word});
    Feed feed{.session = &client().session(), .input = raw};
    server().executor.Run({&feed, 1});
    CHECK(client().Received() == std::vector<Reply>{Integer(1)});
    CHECK(parked.reason == reason);
    server().RunWoken();
    CHECK(other.session().parked == nullptr);
  }
}

TEST_CASE_METHOD(CommandTest,
                 "CLIENT UNBLOCK ends the wait of every command as the command's time limit does") {
  Run({"XGROUP", "CREATE", "x", "g", "0", "MKSTREAM"});
  Run({"XADD", "x", "1-1", "f", "v"});
  Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "x", ">"});
  for (const auto& [words, at_end] : std::vector<std::pair<Words, Reply>>{
           {{"BLPOP", "k", "0"}, NullArray()},
           {{"BRPOP", "k", "0"}, NullArray()},
           {{"BLMPOP", "0", "1", "k", "LEFT"}, NullArray()},
           {{"BLMOVE", "k", "l", "LEFT", "RIGHT", "0"}, NullArray()},
           {{"BRPOPLPUSH", "k", "l", "0"}, NullArray()},
           {{"BZPOPMIN", "k", "0"}, NullArray()},
           {{"BZPOPMAX", "k", "0"}, NullArray()},
           {{"BZMPOP", "0", "1", "k", "MIN"}, NullArray()},
           {{"XREAD", "BLOCK", "0", "STREAMS", "x", "$"}, NullArray()},
           {{"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "STREAMS", "x", ">"}, NullArray()},
           {{"XREADGROUP", "GROUP", "g", "b", "BLOCK", "9000", "STREAMS", "x", ">"}, NullArray()},
           {{"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "CLAIM", "9000", "STREAMS", "x", ">"},
            NullArray()},
           {{"WAIT", "1", "0"}, Integer(0)}}) {
    CAPTURE(words);
    TestClient waits(server());
    Words unblock{"CLIENT", "UNBLOCK", std::to_string(waits.session().id)};
    for (const std::string reason : {"", "TIMEOUT", "ERROR"}) {
      CAPTURE(reason);
      unblock.resize(3);
      if (!reason.empty()) unblock.push_back(reason);
      CHECK(waits.Run(words) == NoReply());
      CHECK(Run(unblock) == Integer(1));
      server().RunWoken();
      const Reply refused = Error("UNBLOCKED client unblocked via CLIENT UNBLOCK");
      CHECK(waits.Received() == std::vector{reason == "ERROR" ? refused : at_end});
      CHECK(waits.session().parked == nullptr);
    }
  }
}

TEST_CASE_METHOD(CommandTest, "CLIENT UNBLOCK ends a wait though the client was woken in vain just before") {
  Run({"XGROUP", "CREATE", "x", "g", "0", "MKSTREAM"});
  TestClient& waits = Connect();
  for (const auto& [word, reply] : {std::pair{"TIMEOUT", NullArray()},
                                    {"ERROR", Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")}}) {
    waits.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "x", ">"});
    server().parking.Wake(*waits.session().parked, WakeReason::kReady);
    const std::string raw = EncodeRequest({"CLIENT", "UNBLOCK", std::to_string(waits.session().id), word});
    Feed feed{.session = &client().session(), .input = raw};
    server().executor.Run({&feed, 1});
    CHECK(client().Received() == std::vector<Reply>{Integer(1)});
    server().RunWoken();
    CHECK(waits.Received() == std::vector<Reply>{reply});
  }
}

TEST_CASE_METHOD(CommandTest,
                 "CLIENT UNBLOCK does not let a client out of a pause, and refuses wrong words") {
  TestClient& other = Connect();
  const std::string id = std::to_string(other.session().id);
  Run({"CLIENT", "PAUSE", "100", "WRITE"});
  CHECK(other.Run({"SET", "k", "v"}) == NoReply());
  CHECK(Run({"CLIENT", "UNBLOCK", id}) == Integer(0));
  CHECK(Run({"CLIENT", "UNBLOCK", "abc"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"CLIENT", "UNBLOCK", "abc", "foo"}) ==
        Error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR"));
  CHECK(Run({"CLIENT", "UNBLOCK", id, "error", "x"}) ==
        Error("ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT HELP."));
}

}  // namespace mayfly::testing
