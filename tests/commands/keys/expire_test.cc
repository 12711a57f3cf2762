#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "the four EXPIREs give a key its deadline") {
  Run({"SET", "k", "v"});
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"EXPIRE", "k", "10"}) == Integer(1));
  CHECK(Run({"PTTL", "k"}) == Integer(10'000));
  CHECK(Run({"PEXPIRE", "k", "1500"}) == Integer(1));
  CHECK(Run({"PTTL", "k"}) == Integer(1500));
  CHECK(Run({"PEXPIREAT", "k", UnixMs(777)}) == Integer(1));
  CHECK(Run({"PTTL", "k"}) == Integer(777));
  CHECK(Run({"EXPIREAT", "k", UnixSeconds(20)}) == Integer(1));
  CHECK(Run({"EXPIRETIME", "k"}) == Integer(WallMs() / 1000 + 20));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest, "for an absent key, reading its time answers -2 and changing it 0") {
  for (const char* command : {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"})
    CHECK(Run({command, "absent"}) == Integer(-2));
  for (const char* command : {"EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT"})
    CHECK(Run({command, "absent", "100"}) == Integer(0));
  CHECK(Run({"PERSIST", "absent"}) == Integer(0));
  Run({"SET", "k", "v"});
  for (const char* command : {"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"})
    CHECK(Run({command, "k"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "TTL and EXPIRETIME round to the nearest second") {
  Run({"SET", "k", "v", "PX", "1499"});
  CHECK(Run({"TTL", "k"}) == Integer(1));
  Run({"SET", "k", "v", "PX", "1500"});
  CHECK(Run({"TTL", "k"}) == Integer(2));
  Run({"SET", "k", "v", "PX", "499"});
  CHECK(Run({"TTL", "k"}) == Integer(0));
  const int64_t second = WallMs() / 1000 + 10;
  Run({"PEXPIREAT", "k", std::to_string(second * 1000 + 499)});
  CHECK(Run({"EXPIRETIME", "k"}) == Integer(second));
  Run({"PEXPIREAT", "k", std::to_string(second * 1000 + 500)});
  CHECK(Run({"EXPIRETIME", "k"}) == Integer(second + 1));
}

TEST_CASE_METHOD(CommandTest, "PERSIST removes the expiry, once") {
  Run({"SET", "k", "v", "PX", "50"});
  CHECK(Run({"PERSIST", "k"}) == Integer(1));
  CHECK(Run({"PERSIST", "k"}) == Integer(0));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  AdvanceTime(1000);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest, "EXPIRE with a time that has passed deletes the key and answers 1") {
  const auto request = GENERATE(values<std::vector<std::string>>({
      {"EXPIRE", "k", "0"},
      {"EXPIRE", "k", "-1"},
      {"PEXPIRE", "k", "-9223372036854775808"},
      {"EXPIRE", "k", "-9223372036854775"},
      {"EXPIREAT", "k", "0"},
      {"EXPIREAT", "k", "1"},
      {"PEXPIREAT", "k", "1700000000000"},
      {"PEXPIREAT", "k", "-1"},
  }));
  REQUIRE(WallMs() == 1'700'000'000'000);
  Run({"SET", "k", "v"});
  TakeChanges();
  CHECK(Run(request) == Integer(1));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(TakeChanges() == std::vector<std::string>{"del k"});
}

TEST_CASE_METHOD(CommandTest, "NX and XX test whether there is an expiry") {
  Run({"SET", "k", "v"});
  CHECK(Run({"EXPIRE", "k", "10", "XX"}) == Integer(0));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"EXPIRE", "k", "10", "nx"}) == Integer(1));
  CHECK(Run({"EXPIRE", "k", "20", "NX"}) == Integer(0));
  CHECK(Run({"TTL", "k"}) == Integer(10));
  CHECK(Run({"EXPIRE", "k", "20", "Xx"}) == Integer(1));
  CHECK(Run({"TTL", "k"}) == Integer(20));
}

TEST_CASE_METHOD(CommandTest, "GT and LT compare deadlines, and no expiry counts as endless") {
  Run({"SET", "k", "v"});
  CHECK(Run({"EXPIRE", "k", "100", "GT"}) == Integer(0));
  CHECK(Run({"EXPIRE", "k", "100", "LT"}) == Integer(1));
  CHECK(Run({"EXPIRE", "k", "100", "LT"}) == Integer(0));
  CHECK(Run({"EXPIRE", "k", "100", "GT"}) == Integer(0));
  CHECK(Run({"EXPIRE", "k", "101", "LT"}) == Integer(0));
  CHECK(Run({"EXPIRE", "k", "101", "gt"}) == Integer(1));
  CHECK(Run({"PEXPIRE", "k", "100999", "GT"}) == Integer(0));
  CHECK(Run({"PEXPIRE", "k", "100999", "LT"}) == Integer(1));
  CHECK(Run({"PTTL", "k"}) == Integer(100'999));
  CHECK(Run({"EXPIRE", "k", "-5", "GT"}) == Integer(0));
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  CHECK(Run({"EXPIRE", "k", "-5", "LT"}) == Integer(1));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "GT and LT compare deadlines of different clocks by Unix time") {
  Run({"SET", "k", "v", "PX", "1000"});
  CHECK(Run({"PEXPIREAT", "k", UnixMs(1000), "GT"}) == Integer(0));
  CHECK(Run({"PEXPIREAT", "k", UnixMs(1001), "GT"}) == Integer(1));
  CHECK(Run({"PEXPIRE", "k", "1001", "LT"}) == Integer(0));
  CHECK(Run({"PEXPIRE", "k", "1000", "LT"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "XX goes with GT and LT") {
  Run({"SET", "k", "v"});
  CHECK(Run({"EXPIRE", "k", "100", "XX", "LT"}) == Integer(0));
  Run({"EXPIRE", "k", "50"});
  CHECK(Run({"EXPIRE", "k", "100", "XX", "GT"}) == Integer(1));
  CHECK(Run({"EXPIRE", "k", "50", "LT", "XX"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "conditions that exclude each other or are unknown are refused") {
  const std::string command = GENERATE("EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT");
  Run({"SET", "k", "v"});
  for (const char* other : {"XX", "GT", "LT"}) {
    CHECK(Run({command, "k", "10", "NX", other}) ==
          Error("ERR NX and XX, GT or LT options at the same time are not compatible"));
    CHECK(Run({command, "k", "10", other, "NX"}) ==
          Error("ERR NX and XX, GT or LT options at the same time are not compatible"));
  }
  CHECK(Run({command, "k", "10", "GT", "LT"}) ==
        Error("ERR GT and LT options at the same time are not compatible"));
  CHECK(Run({command, "k", "10", "nonsense"}) == Error("ERR Unsupported option nonsense"));
  CHECK(Run({command, "k", "x", "a\r\nb"}) == Error("ERR Unsupported option a  b"));
  CHECK(Run({command, "k", "x", std::string("a\0b", 3)}) == Error("ERR Unsupported option a"));
  CHECK(Run({command, "k", "10", "NX", "XX", "nonsense"}) == Error("ERR Unsupported option nonsense"));
  CHECK(Run({command, "k", "x", "GT", "LT"}) ==
        Error("ERR GT and LT options at the same time are not compatible"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "EXPIRE needs a key and a time") {
  CHECK(Run({"EXPIRE", "k"}) == Error("ERR wrong number of arguments for 'expire' command"));
  CHECK(Run({"PEXPIREAT"}) == Error("ERR wrong number of arguments for 'pexpireat' command"));
  CHECK(Run({"TTL"}) == Error("ERR wrong number of arguments for 'ttl' command"));
  CHECK(Run({"PERSIST", "k", "x"}) == Error("ERR wrong number of arguments for 'persist' command"));
}

TEST_CASE_METHOD(CommandTest, "times that do not fit into 64 bits are refused, for absent keys too") {
  const std::string key = GENERATE("k", "absent");
  Run({"SET", "k", "v"});
  const std::string max = "9223372036854775807";
  CHECK(Run({"EXPIRE", key, "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"EXPIRE", key, "9223372036854775808"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"EXPIRE", key, max}) == Error("ERR invalid expire time in 'expire' command"));
  CHECK(Run({"EXPIRE", key, "9223372036854775"}) == Error("ERR invalid expire time in 'expire' command"));
  CHECK(Run({"EXPIRE", key, "-9223372036854776"}) == Error("ERR invalid expire time in 'expire' command"));
  CHECK(Run({"PEXPIRE", key, max}) == Error("ERR invalid expire time in 'pexpire' command"));
  CHECK(Run({"EXPIREAT", key, "9223372036854776"}) == Error("ERR invalid expire time in 'expireat' command"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "the last millisecond of 64 bits is a deadline like any other") {
  Run({"SET", "k", "v"});
  const int64_t max = INT64_MAX;
  CHECK(Run({"PEXPIREAT", "k", std::to_string(max)}) == Integer(1));
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(max));
  CHECK(Run({"EXPIRETIME", "k"}) == Integer(9223372036854776));
  CHECK(Run({"PEXPIRE", "k", std::to_string(max - WallMs() + 1)}) ==
        Error("ERR invalid expire time in 'pexpire' command"));
  CHECK(Run({"PEXPIRE", "k", std::to_string(max - WallMs())}) == Integer(1));
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(max));
  AdvanceTime(1'000'000);
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(max));
  CHECK(Run({"PTTL", "k"}) == Integer(max - WallMs()));
  CHECK(Run({"EXPIRE", "k", "10"}) == Integer(1));
  CHECK(Run({"TTL", "k"}) == Integer(10));
}

TEST_CASE_METHOD(CommandTest, "a change of the expiry passes the change point, a refused one does not") {
  Run({"SET", "k", "v"});
  TakeChanges();
  Run({"EXPIRE", "k", "10"});
  Run({"EXPIRE", "k", "20", "NX"});
  Run({"PERSIST", "k"});
  Run({"PERSIST", "k"});
  CHECK(TakeChanges() == std::vector<std::string>{"expire k", "persist k"});
}

}  // namespace mayfly::testing
