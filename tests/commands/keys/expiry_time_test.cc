// How keys end: to the millisecond, by the right clock, and whether or not the wheel has come round.
#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "a key vanishes exactly at its deadline") {
  CHECK(Run({"SET", "k", "v", "PX", "20"}) == Ok());
  AdvanceTime(19);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"PTTL", "k"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"GET", "k"}) == Null());
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(TakeChanges() == std::vector<std::string>{"new k", "set k", "expire k", "expired k"});
}

TEST_CASE_METHOD(CommandTest, "deadlines about the last that 48 bits can hold are exact, and kept") {
  constexpr int64_t kEdge = int64_t{1} << 48;
  const int64_t deadline = kEdge + GENERATE(-3, -2, -1, 0, 1);
  const bool on_wall_clock = GENERATE(false, true);
  const int64_t now = on_wall_clock ? WallMs() : static_cast<int64_t>(server().clock.Read().mono_ms);
  const int64_t left = deadline - now;
  const auto give = [&](int64_t ttl) {
    if (on_wall_clock)
      CHECK(Run({"PEXPIREAT", "k", UnixMs(ttl)}) == Integer(1));
    else
      CHECK(Run({"PEXPIRE", "k", std::to_string(ttl)}) == Integer(1));
  };
  Run({"SET", "k", "v"});
  give(left);
  CHECK(Run({"PTTL", "k"}) == Integer(left));
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(WallMs() + left));
  give(50'000);
  give(left);
  CHECK(Run({"COPY", "k", "copy"}) == Integer(1));
  AdvanceTime(1000);
  CHECK(Run({"PTTL", "k"}) == Integer(left - 1000));
  CHECK(Run({"PTTL", "copy"}) == Integer(left - 1000));
  CHECK(keyspace().Validate());
  AdvanceTime(static_cast<uint64_t>(left) - 1001);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"PTTL", "copy"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest,
                 "a key vanishes at its deadline for every command, even while the wheel is late") {
  const auto request = GENERATE(values<std::pair<std::vector<std::string>, Reply>>({
      {{"GET", "k"}, Null()},
      {{"MGET", "k"}, Array({Null()})},
      {{"PEEK", "k"}, Null()},
      {{"GETTTL", "k"}, Array({Null(), Integer(-2)})},
      {{"MGETTTL", "k"}, Array({Array({Null(), Integer(-2)})})},
      {{"STRLEN", "k"}, Integer(0)},
      {{"GETDEL", "k"}, Null()},
      {{"GETEX", "k", "EX", "10"}, Null()},
      {{"EXISTS", "k"}, Integer(0)},
      {{"TOUCH", "k"}, Integer(0)},
      {{"TYPE", "k"}, Simple("none")},
      {{"TTL", "k"}, Integer(-2)},
      {{"PTTL", "k"}, Integer(-2)},
      {{"EXPIRETIME", "k"}, Integer(-2)},
      {{"PEXPIRETIME", "k"}, Integer(-2)},
      {{"EXPIRE", "k", "10"}, Integer(0)},
      {{"PEXPIREAT", "k", "9000000000000"}, Integer(0)},
      {{"PERSIST", "k"}, Integer(0)},
      {{"OBJECT", "ENCODING", "k"}, Null()},
      {{"OBJECT", "IDLETIME", "k"}, Null()},
      {{"SET", "k", "w", "XX"}, Null()},
      {{"SET", "k", "w", "NX"}, Ok()},
      {{"SET", "k", "w", "GET"}, Null()},
      {{"SETNX", "k", "w"}, Integer(1)},
      {{"INCR", "k"}, Integer(1)},
      {{"APPEND", "k", "xy"}, Integer(2)},
      {{"DEL", "k"}, Integer(0)},
      {{"UNLINK", "k"}, Integer(0)},
      {{"KEYS", "*"}, Array({})},
      {{"RANDOMKEY"}, Null()},
      {{"SCAN", "0"}, Array({Bulk("0"), Array({})})},
  }));
  const bool on_wall_clock = GENERATE(false, true);
  if (on_wall_clock) {
    Run({"SET", "k", "value", "PXAT", UnixMs(20)});
  } else {
    Run({"SET", "k", "value", "PX", "20"});
  }
  LetTimePass(19);
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  LetTimePass(1);
  CHECK(Run(request.first) == request.second);
  AdvanceTime(100);
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(CommandTest, "a key that is written again while the wheel is late has no expiry") {
  Run({"SET", "k", "old", "PX", "20"});
  LetTimePass(30);
  CHECK(Run({"SET", "k", "new", "KEEPTTL"}) == Ok());
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  AdvanceTime(1000);
  CHECK(Run({"GET", "k"}) == Bulk("new"));
  CHECK(TakeChanges() ==
        std::vector<std::string>{"new k", "set k", "expire k", "expired k", "new k", "set k"});
}

TEST_CASE_METHOD(CommandTest, "every delay ends at its own millisecond") {
  const std::vector<uint64_t> delays{1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 262'143, 262'144, 262'145};
  for (const uint64_t delay : delays) {
    Run({"SET", "k" + std::to_string(delay), "v", "PX", std::to_string(delay)});
  }
  uint64_t passed = 0;
  for (size_t i = 0; i < delays.size(); ++i) {
    AdvanceTime(delays[i] - 1 - passed);
    CHECK(Run({"EXISTS", "k" + std::to_string(delays[i])}) == Integer(1));
    AdvanceTime(1);
    passed = delays[i];
    CHECK(Run({"DBSIZE"}) == Integer(static_cast<int64_t>(delays.size() - 1 - i)));
  }
}

TEST_CASE_METHOD(CommandTest, "a deadline that moves later or earlier is kept to the millisecond") {
  Run({"SET", "k", "v", "PX", "100"});
  AdvanceTime(50);
  Run({"PEXPIRE", "k", "100"});
  AdvanceTime(99);
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  Run({"PEXPIRE", "k", "10000"});
  Run({"PEXPIRE", "k", "3"});
  AdvanceTime(2);
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "relative expiries do not move when the wall clock is set") {
  Run({"SET", "k", "v", "PX", "1000"});
  Run({"SET", "e", "v"});
  Run({"EXPIRE", "e", "1"});
  StepWallClock(3'600'000);
  CHECK(Run({"PTTL", "k"}) == Integer(1000));
  CHECK(Run({"PTTL", "e"}) == Integer(1000));
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(WallMs() + 1000));
  StepWallClock(-7'200'000);
  CHECK(Run({"PTTL", "k"}) == Integer(1000));
  AdvanceTime(999);
  CHECK(Run({"EXISTS", "k", "e"}) == Integer(2));
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "wall-clock expiries follow the wall clock forward") {
  Run({"SET", "k", "v", "PXAT", UnixMs(1000)});
  StepWallClock(999);
  CHECK(Run({"PTTL", "k"}) == Integer(1));
  StepWallClock(1);
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(TakeChanges() == std::vector<std::string>{"new k", "set k", "expire k", "expired k"});
}

TEST_CASE_METHOD(CommandTest, "wall-clock expiries follow the wall clock back") {
  Run({"SET", "k", "v", "EXAT", UnixSeconds(10)});
  const int64_t deadline = Run({"PEXPIRETIME", "k"}).integer;
  StepWallClock(-60'000);
  CHECK(Run({"PTTL", "k"}) == Integer(deadline - WallMs()));
  AdvanceTime(60'000);
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  AdvanceTime(static_cast<uint64_t>(deadline - WallMs()) - 1);
  CHECK(Run({"PTTL", "k"}) == Integer(1));
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest,
                 "a step of the wall clock that the server has not seen yet is seen by the next command") {
  const std::string deadline = UnixMs(1000);
  Run({"SET", "k", "v", "PXAT", deadline});
  Run({"SET", "unseen", "v", "PXAT", deadline});
  TakeChanges();
  StepWallClockUnnoticed(1000);
  CHECK(Run({"GET", "k"}) == Null());
  CHECK(TakeChanges() == std::vector<std::string>{"expired k"});
  StepWallClockUnnoticed(-1000);
  TurnWheels();
  CHECK(TakeChanges().empty());  // nobody came across the other one while it was due
  CHECK(Run({"KEYS", "*"}) == Bulks({"unseen"}));
  CHECK(Run({"PTTL", "unseen"}) == Integer(1000));
}

TEST_CASE_METHOD(CommandTest, "after a stall of ten seconds every key that came due in it is freed") {
  for (int i = 0; i < 2000; ++i) Run({"SET", "k" + std::to_string(i), "v", "PX", std::to_string(1 + i * 5)});
  LetTimePass(10'000);
  CHECK(Run({"KEYS", "*"}) == Array({}));
  TurnWheels();
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

}  // namespace mayfly::testing
