#include "base/bits/hyperloglog.h"

#include <random>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kNoHyperLogLog = Error("WRONGTYPE Key is not a valid HyperLogLog string value.");
const Reply kCorrupt = Error("INVALIDOBJ Corrupted HLL object detected");

std::string Sparse(const std::string& runs) {
  return std::string("HYLL\1", 5) + std::string(11, '\0') + runs;
}

class HyperLogLogBesideRedis : public CommandTest {
 public:
  void Compare(const Words& request) {
    const std::string redis = oracle_.Ask(EncodeRequest(request), 1)[0];
    CAPTURE(request[0], request.size() > 1 ? request[1] : "");
    REQUIRE(Bulk(RunRaw(EncodeRequest(request))) == Bulk(redis));
  }

 private:
  Oracle oracle_;
};

}  // namespace

TEST_CASE_METHOD(CommandTest, "elements are added and counted once") {
  CHECK(Run({"PFADD", "h", "a", "b", "c"}) == Integer(1));
  CHECK(Run({"PFADD", "h", "a"}) == Integer(0));
  CHECK(Run({"PFCOUNT", "h"}) == Integer(3));
  CHECK(Run({"PFADD", "empty"}) == Integer(1));
  CHECK(Run({"PFADD", "empty"}) == Integer(0));
  CHECK(Run({"PFCOUNT", "empty"}) == Integer(0));
  CHECK(Run({"PFCOUNT", "none"}) == Integer(0));
  CHECK(Run({"PFADD", "i", "c", "d"}) == Integer(1));
  CHECK(Run({"PFCOUNT", "h", "i", "none"}) == Integer(4));
  CHECK(Run({"TYPE", "h"}) == Simple("string"));
  CHECK(Run({"OBJECT", "ENCODING", "h"}) == Bulk("raw"));
}

TEST_CASE_METHOD(CommandTest, "PFADD and PFMERGE keep the expiry and report pfadd") {
  Run({"PFADD", "h", "a"});
  Run({"EXPIRE", "h", "100"});
  Run({"PFADD", "i", "b"});
  TakeChanges();
  Run({"PFADD", "h", "x"});
  Run({"PFADD", "h", "x"});
  Run({"PFCOUNT", "h"});
  CHECK(Run({"PFMERGE", "h", "i"}) == Ok());
  CHECK(Run({"PFMERGE", "new", "h"}) == Ok());
  CHECK(TakeChanges() == Lines{"pfadd h", "pfadd h", "new new", "pfadd new"});
  CHECK(Run({"TTL", "h"}) == Integer(100));
  CHECK(Run({"PFCOUNT", "h"}) == Integer(3));
  CHECK(Run({"PFCOUNT", "new"}) == Integer(3));
}

TEST_CASE_METHOD(CommandTest, "PFDEBUG shows registers and runs, and makes a value dense") {
  Run({"PFADD", "h", "a"});
  CHECK(Run({"PFDEBUG", "ENCODING", "h"}) == Simple("sparse"));
  CHECK(Run({"PFDEBUG", "decode", "h"}).text.starts_with("Z:"));
  CHECK(Run({"PFDEBUG", "TODENSE", "h"}) == Integer(1));
  CHECK(Run({"PFDEBUG", "TODENSE", "h"}) == Integer(0));
  CHECK(Run({"PFDEBUG", "ENCODING", "h"}) == Simple("dense"));
  CHECK(Run({"PFDEBUG", "DECODE", "h"}) == Error("ERR HLL encoding is not sparse"));
  CHECK(Run({"PFDEBUG", "GETREG", "h"}).elements.size() == 16384);
  CHECK(Run({"PFCOUNT", "h"}) == Integer(1));
  CHECK(Run({"STRLEN", "h"}) == Integer(12304));
  CHECK(Run({"PFADD", "h", "a"}) == Integer(0));
  CHECK(Run({"PFADD", "h", "b"}) == Integer(1));
  CHECK(Run({"PFCOUNT", "h"}) == Integer(2));
  CHECK(Run({"PFDEBUG", "GETREG", "none"}) == Error("ERR The specified key does not exist"));
  CHECK(Run({"PFDEBUG", "SIMD", "h"}) == Error("ERR Unknown PFDEBUG subcommand 'SIMD'"));
  CHECK(Run({"PFSELFTEST"}) == Ok());
}

TEST_CASE_METHOD(CommandTest, "values that are no HyperLogLogs are refused") {
  Run({"MSET", "text", "v", "number", "12", "short", "HYLL"});
  Run({"SADD", "set", "a"});
  for (const char* key : {"text", "number", "short"}) {
    CHECK(Run({"PFADD", key, "a"}) == kNoHyperLogLog);
    CHECK(Run({"PFADD", key}) == kNoHyperLogLog);
    CHECK(Run({"PFCOUNT", key}) == kNoHyperLogLog);
    CHECK(Run({"PFCOUNT", "none", key}) == kNoHyperLogLog);
    CHECK(Run({"PFMERGE", "d", key}) == kNoHyperLogLog);
    CHECK(Run({"PFDEBUG", "ENCODING", key}) == kNoHyperLogLog);
  }
  const Reply wrong = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(Run({"PFADD", "set", "a"}) == wrong);
  CHECK(Run({"PFCOUNT", "set"}) == wrong);
  CHECK(Run({"PFMERGE", "set"}) == wrong);
  CHECK(Run({"EXISTS", "d"}) == Integer(0));
}

// CVE-2025-32023.
TEST_CASE_METHOD(CommandTest, "a value with broken registers is called corrupt") {
  for (const std::string& runs :
       {std::string("\x7f"), std::string("\x7f\xfe"), std::string(50'000, '\x80')}) {
    std::string bytes = Sparse(runs);
    bytes[15] = '\x80';  // no estimate is stored
    Run({"SET", "h", bytes});
    CHECK(Run({"PFCOUNT", "h"}) == kCorrupt);
    CHECK(Run({"PFCOUNT", "h", "h"}) == kCorrupt);
    CHECK(Run({"PFMERGE", "d", "h"}) == kCorrupt);
    CHECK(Run({"PFMERGE", "h", "d"}) == kCorrupt);
    CHECK(Run({"PFDEBUG", "TODENSE", "h"}) == kCorrupt);
    CHECK(Run({"PFDEBUG", "GETREG", "h"}) == kCorrupt);
    CHECK(Run({"GET", "h"}) == Bulk(bytes));
  }
  CHECK(Run({"PFADD", "h", "a"}) == kCorrupt);
}

TEST_CASE_METHOD(CommandTest, "hll-sparse-max-bytes says how long a value is sparse") {
  SetOption("hll-sparse-max-bytes", "20");
  Run({"PFADD", "h", "a"});
  CHECK(Run({"PFDEBUG", "ENCODING", "h"}) == Simple("dense"));
  SetOption("hll-sparse-max-bytes", "3000");
  Run({"PFADD", "i", "a"});
  CHECK(Run({"PFDEBUG", "ENCODING", "i"}) == Simple("sparse"));
}

TEST_CASE_METHOD(HyperLogLogBesideRedis,
                 "the bytes of a HyperLogLog are those that Redis makes of the same elements") {
  std::mt19937_64 random(17);
  for (int i = 0; i < 3000; ++i) {
    const std::string key = "h" + std::to_string(random() % 3);
    Words add{"PFADD", key};
    for (size_t count = 1 + random() % 3; count != 0; --count)
      add.push_back(std::string(random() % 20, 'x') + std::to_string(random() % 5000));
    Compare(add);
    if (i % 3 == 0) Compare({"GET", key});
    if (i % 7 == 0) Compare({"PFCOUNT", key});
    if (i % 50 == 0) Compare({"PFCOUNT", "h0", "h1", "h2"});
    if (i % 50 == 0) Compare({"PFMERGE", "m" + std::to_string(i / 500), key});
    if (i % 50 == 0) Compare({"GET", "m" + std::to_string(i / 500)});
    if (i % 200 == 0) Compare({"PFDEBUG", "DECODE", "m" + std::to_string(i / 500)});
  }
  for (const char* key : {"h0", "h1", "m0", "m5"}) {
    Compare({"PFDEBUG", "ENCODING", key});
    Compare({"PFDEBUG", "GETREG", key});
    Compare({"GET", key});
  }
}

}  // namespace mayfly::testing
