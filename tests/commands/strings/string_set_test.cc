#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kSyntaxError = "ERR syntax error";
constexpr std::string_view kNotInteger = "ERR value is not an integer or out of range";
constexpr std::string_view kInvalidExpire = "ERR invalid expire time in 'set' command";

}  // namespace

TEST_CASE_METHOD(CommandTest, "what SET stores, GET answers byte for byte") {
  CHECK(Run({"SET", "k", "hello"}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("hello"));
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  CHECK(Run({"SET", every_byte, every_byte}) == Ok());
  CHECK(Run({"GET", every_byte}) == Bulk(every_byte));
  CHECK(Run({"SET", "", ""}) == Ok());
  CHECK(Run({"GET", ""}) == Bulk(""));
}

TEST_CASE_METHOD(CommandTest, "values of every size come back as they were") {
  const auto size =
      GENERATE(as<size_t>{}, 1, 20, 44, 45, 127, 128, 1024, 1025, 16383, 16384, 16385, 40000, 300000);
  std::string value(size, 'v');
  value.back() = 'e';
  CHECK(Run({"SET", "k", value}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk(value));
  CHECK(Run({"STRLEN", "k"}) == Integer(static_cast<int64_t>(size)));
  CHECK(Run({"SET", "k", "small"}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("small"));
}

TEST_CASE_METHOD(CommandTest, "a big value that was read straight into a block is adopted by SET") {
  const std::string value(100'000, 'b');
  const std::string request = EncodeRequest({"SET", "k", value, "PX", "50"}) + EncodeRequest({"GET", "k"});
  CHECK(client().RunRawWithBlocks(request) == "+OK\r\n$100000\r\n" + value + "\r\n");
  CHECK(Run({"STRLEN", "k"}) == Integer(100'000));
  AdvanceTime(50);
  CHECK(Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "integers are stored as numbers and answered as they were written") {
  for (const char* number : {"0", "-1", "255", "-256", "9223372036854775807", "-9223372036854775808"}) {
    CHECK(Run({"SET", "k", number}) == Ok());
    CHECK(Run({"GET", "k"}) == Bulk(number));
    CHECK(Run({"OBJECT", "ENCODING", "k"}) == Bulk("int"));
  }
  for (const char* text : {"00", "-0", "+1", " 1", "1 ", "9223372036854775808", "1.0", "0x1"}) {
    CHECK(Run({"SET", "k", text}) == Ok());
    CHECK(Run({"GET", "k"}) == Bulk(text));
    CHECK(Run({"OBJECT", "ENCODING", "k"}) == Bulk("embstr"));
  }
}

TEST_CASE_METHOD(CommandTest, "SET NX keeps an existing key and SET XX creates none") {
  CHECK(Run({"SET", "k", "1", "XX"}) == Null());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"SET", "k", "1", "NX"}) == Ok());
  CHECK(Run({"SET", "k", "2", "nx"}) == Null());
  CHECK(Run({"GET", "k"}) == Bulk("1"));
  CHECK(Run({"SET", "k", "3", "xX"}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("3"));
  UseResp3();
  CHECK(Run({"SET", "k", "4", "NX"}) == Null());
  CHECK(RunRaw("SET k 4 NX\r\n") == "_\r\n");
  UseResp2();
  CHECK(RunRaw("SET k 4 NX\r\n") == "$-1\r\n");
}

TEST_CASE_METHOD(CommandTest, "SET GET answers with the old value, whether or not it sets") {
  CHECK(Run({"SET", "k", "1", "GET"}) == Null());
  CHECK(Run({"SET", "k", "2", "GET"}) == Bulk("1"));
  CHECK(Run({"SET", "k", "3", "NX", "GET"}) == Bulk("2"));
  CHECK(Run({"GET", "k"}) == Bulk("2"));
  CHECK(Run({"SET", "k", "3", "GET", "XX", "PX", "10"}) == Bulk("2"));
  CHECK(Run({"PTTL", "k"}) == Integer(10));
  CHECK(Run({"SET", "absent", "3", "XX", "GET"}) == Null());
  CHECK(Run({"EXISTS", "absent"}) == Integer(0));
  CHECK(Run({"SET", "absent", "3", "NX", "GET"}) == Null());
  CHECK(Run({"GET", "absent"}) == Bulk("3"));
}

TEST_CASE_METHOD(CommandTest, "SET GET of a big value answers with the old bytes after they were replaced") {
  const std::string old(50'000, 'o');
  Run({"SET", "k", old});
  CHECK(Run({"SET", "k", "new", "GET"}) == Bulk(old));
  CHECK(Run({"GET", "k"}) == Bulk("new"));
}

TEST_CASE_METHOD(CommandTest, "a plain SET removes the expiry and KEEPTTL keeps it") {
  CHECK(Run({"SET", "k", "1", "EX", "10"}) == Ok());
  CHECK(Run({"SET", "k", "2", "KEEPTTL"}) == Ok());
  CHECK(Run({"PTTL", "k"}) == Integer(10'000));
  CHECK(Run({"SET", "k", "3"}) == Ok());
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"SET", "k", "4", "KEEPTTL"}) == Ok());
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"SET", "new", "1", "KEEPTTL"}) == Ok());
  CHECK(Run({"TTL", "new"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "KEEPTTL keeps a wall-clock deadline on the wall clock") {
  Run({"SET", "k", "1", "PXAT", UnixMs(1000)});
  CHECK(Run({"SET", "k", "2", "KEEPTTL"}) == Ok());
  StepWallClock(999);
  CHECK(Run({"PTTL", "k"}) == Integer(1));
  StepWallClock(1);
  CHECK(Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "SET takes its expiry in four ways") {
  CHECK(Run({"SET", "k", "v", "EX", "7"}) == Ok());
  CHECK(Run({"PTTL", "k"}) == Integer(7000));
  CHECK(Run({"SET", "k", "v", "px", "7"}) == Ok());
  CHECK(Run({"PTTL", "k"}) == Integer(7));
  CHECK(Run({"SET", "k", "v", "EXAT", UnixSeconds(7)}) == Ok());
  CHECK(Run({"EXPIRETIME", "k"}) == Integer(WallMs() / 1000 + 7));
  CHECK(Run({"SET", "k", "v", "PxAt", UnixMs(7)}) == Ok());
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(WallMs() + 7));
}

TEST_CASE_METHOD(CommandTest, "SET takes its options in any order and case") {
  CHECK(Run({"SET", "k", "1", "NX", "EX", "10"}) == Ok());
  CHECK(Run({"SET", "k", "2", "ex", "20", "xx"}) == Ok());
  CHECK(Run({"SET", "k", "3", "GET", "EX", "30", "XX"}) == Bulk("2"));
  CHECK(Run({"SET", "k", "4", "XX", "get", "KeepTtl"}) == Bulk("3"));
  CHECK(Run({"TTL", "k"}) == Integer(30));
  CHECK(Run({"SET", "k", "5", "XX", "XX", "GET", "GET", "EX", "5", "EX", "6"}) == Bulk("4"));
  CHECK(Run({"TTL", "k"}) == Integer(6));
}

TEST_CASE_METHOD(CommandTest, "options of SET that exclude each other are a syntax error") {
  const auto options = GENERATE(values<std::vector<std::string>>({
      {"NX", "XX"},
      {"XX", "NX"},
      {"EX"},
      {"PX"},
      {"EX", "10", "PX", "10"},
      {"PX", "10", "EX", "10"},
      {"EX", "10", "EXAT", "10"},
      {"PXAT", "10", "EX", "10"},
      {"EX", "10", "KEEPTTL"},
      {"KEEPTTL", "PX", "10"},
      {"PERSIST"},
      {"NX", "10"},
      {""},
      {"EXX", "10"},
      {"E", "10"},
      {"IFEQ"},
      {"NX", "EX", "10", "KEEPTTL", "GET"},
  }));
  std::vector<std::string> request{"SET", "k", "v"};
  request.insert(request.end(), options.begin(), options.end());
  CHECK(Run(request) == Error(kSyntaxError));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest,
                 "SET refuses an expiry that is not a number, not positive or does not fit into 64 bits") {
  const std::string max = "9223372036854775807";
  for (const char* word : {"EX", "PX", "EXAT", "PXAT"}) {
    CHECK(Run({"SET", "k", "v", word, "x"}) == Error(kNotInteger));
    CHECK(Run({"SET", "k", "v", word, ""}) == Error(kNotInteger));
    CHECK(Run({"SET", "k", "v", word, "1.5"}) == Error(kNotInteger));
    CHECK(Run({"SET", "k", "v", word, "9223372036854775808"}) == Error(kNotInteger));
    CHECK(Run({"SET", "k", "v", word, "0"}) == Error(kInvalidExpire));
    CHECK(Run({"SET", "k", "v", word, "-1"}) == Error(kInvalidExpire));
    CHECK(Run({"SET", "k", "v", word, "-9223372036854775808"}) == Error(kInvalidExpire));
  }
  CHECK(Run({"SET", "k", "v", "EX", max}) == Error(kInvalidExpire));
  CHECK(Run({"SET", "k", "v", "EX", "9223372036854775"}) == Error(kInvalidExpire));
  CHECK(Run({"SET", "k", "v", "EX", "9223372036854776"}) == Error(kInvalidExpire));
  CHECK(Run({"SET", "k", "v", "EXAT", "9223372036854776"}) == Error(kInvalidExpire));
  CHECK(Run({"SET", "k", "v", "PX", max}) == Error(kInvalidExpire));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "the latest expiry that fits into 64 bits is kept") {
  const int64_t farthest = INT64_MAX;
  CHECK(Run({"SET", "k", "v", "PXAT", std::to_string(farthest)}) == Ok());
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(farthest));
  CHECK(Run({"PTTL", "k"}) == Integer(farthest - WallMs()));
  CHECK(Run({"SET", "k", "v", "PX", std::to_string(farthest - WallMs())}) == Ok());
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(farthest));
  CHECK(Run({"SET", "k", "v", "PX", std::to_string(farthest - WallMs() + 1)}) == Error(kInvalidExpire));
  CHECK(Run({"SET", "k", "v", "EXAT", "9223372036854775"}) == Ok());
  CHECK(Run({"PEXPIRETIME", "k"}) == Integer(9223372036854775000));
  CHECK(Run({"EXPIRETIME", "k"}) == Integer(9223372036854775));
}

TEST_CASE_METHOD(CommandTest, "SET with a Unix time that has passed leaves no key") {
  Run({"SET", "k", "old"});
  CHECK(Run({"SET", "k", "v", "PXAT", UnixMs(0)}) == Ok());
  CHECK(Run({"GET", "k"}) == Null());
  TurnWheels();
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(Run({"SET", "k", "v", "EXAT", "1"}) == Ok());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "SETEX and PSETEX set a value with its expiry") {
  CHECK(Run({"SETEX", "k", "10", "v"}) == Ok());
  CHECK(Run({"PTTL", "k"}) == Integer(10'000));
  CHECK(Run({"PSETEX", "k", "10", "w"}) == Ok());
  CHECK(Run({"PTTL", "k"}) == Integer(10));
  CHECK(Run({"GET", "k"}) == Bulk("w"));
  CHECK(Run({"SETEX", "k", "x", "v"}) == Error(kNotInteger));
  CHECK(Run({"SETEX", "k", "0", "v"}) == Error("ERR invalid expire time in 'setex' command"));
  CHECK(Run({"SETEX", "k", "9223372036854775", "v"}) == Error("ERR invalid expire time in 'setex' command"));
  CHECK(Run({"PSETEX", "k", "-5", "v"}) == Error("ERR invalid expire time in 'psetex' command"));
  CHECK(Run({"PSETEX", "k", "5"}) == Error("ERR wrong number of arguments for 'psetex' command"));
  CHECK(Run({"SETEX", "k", "5", "v", "NX"}) == Error("ERR wrong number of arguments for 'setex' command"));
  CHECK(Run({"GET", "k"}) == Bulk("w"));
}

TEST_CASE_METHOD(CommandTest, "SETNX answers 1 if it set the key and 0 if the key existed") {
  CHECK(Run({"SETNX", "k", "1"}) == Integer(1));
  CHECK(Run({"SETNX", "k", "2"}) == Integer(0));
  CHECK(Run({"GET", "k"}) == Bulk("1"));
  CHECK(Run({"PEXPIRE", "k", "5"}) == Integer(1));
  LetTimePass(5);
  CHECK(Run({"SETNX", "k", "3"}) == Integer(1));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "GETSET answers with the old value and removes the expiry") {
  CHECK(Run({"GETSET", "k", "1"}) == Null());
  CHECK(Run({"PEXPIRE", "k", "50"}) == Integer(1));
  CHECK(Run({"GETSET", "k", "two"}) == Bulk("1"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  const std::string big(50'000, 'b');
  CHECK(Run({"GETSET", "k", big}) == Bulk("two"));
  CHECK(Run({"GETSET", "k", "7"}) == Bulk(big));
  CHECK(Run({"OBJECT", "ENCODING", "k"}) == Bulk("int"));
  CHECK(Run({"GETSET", "k"}) == Error("ERR wrong number of arguments for 'getset' command"));
  UseResp3();
  CHECK(RunRaw("GETSET absent 1\r\n") == "_\r\n");
}

TEST_CASE_METHOD(CommandTest, "MSET sets all pairs, the last of a key that comes twice, and no expiry") {
  CHECK(Run({"SET", "a", "0", "EX", "10"}) == Ok());
  CHECK(Run({"MSET", "a", "1", "b", "2", "a", "3"}) == Ok());
  CHECK(Run({"MGET", "a", "b", "c"}) == Array({Bulk("3"), Bulk("2"), Null()}));
  CHECK(Run({"TTL", "a"}) == Integer(-1));
  CHECK(Run({"MSET", "a", "1", "b"}) == Error("ERR wrong number of arguments for 'mset' command"));
  CHECK(Run({"MSET", "a"}) == Error("ERR wrong number of arguments for 'mset' command"));
  CHECK(Run({"GET", "a"}) == Bulk("3"));
}

TEST_CASE_METHOD(CommandTest, "each key that is set passes the change point once") {
  Run({"SET", "k", "v", "EX", "10"});
  Run({"SET", "k", "v", "NX"});
  Run({"MSET", "a", "1", "b", "2"});
  Run({"SETNX", "a", "2"});
  Run({"SET", "k", "v", "EX", "0"});
  CHECK(TakeChanges() ==
        std::vector<std::string>{"new k", "set k", "expire k", "new a", "set a", "new b", "set b"});
}

}  // namespace mayfly::testing
