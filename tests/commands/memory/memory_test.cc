#include <algorithm>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// The value of a field of MEMORY STATS, in RESP3.
Reply Field(const Reply& stats, const std::string& name) {
  for (size_t i = 0; i + 1 < stats.elements.size(); i += 2) {
    if (stats.elements[i] == Bulk(name)) return stats.elements[i + 1];
  }
  FAIL("no field " << name);
  return Null();
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "MEMORY USAGE answers what a key takes with its value") {
  Run({"MSET", "small", "v", "big", std::string(100'000, 'x')});
  const int64_t small = Run({"MEMORY", "USAGE", "small"}).integer;
  CHECK((small >= 16 && small <= 64));
  Run({"SET", "small", "v", "EX", "100"});
  CHECK(Run({"MEMORY", "USAGE", "small"}).integer > small);
  const int64_t big = Run({"MEMORY", "usage", "big", "samples", "0"}).integer;
  CHECK((big > 100'000 && big < 130'000));
  CHECK(Run({"MEMORY", "USAGE", "absent", "SAMPLES", "5"}) == Null());
  LetTimePass(100'000);
  CHECK(Run({"MEMORY", "USAGE", "small"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "MEMORY USAGE refuses wrong options before it looks up the key") {
  CHECK(Run({"MEMORY", "USAGE", "absent", "SAMPLES"}) == Error("ERR syntax error"));
  CHECK(Run({"MEMORY", "USAGE", "absent", "NONSENSE"}) == Error("ERR syntax error"));
  CHECK(Run({"MEMORY", "USAGE", "absent", "SAMPLES", "-1"}) == Error("ERR syntax error"));
  CHECK(Run({"MEMORY", "USAGE", "absent", "SAMPLES", "x"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"MEMORY", "USAGE"}) == Error("ERR wrong number of arguments for 'memory|usage' command"));
  CHECK(Run({"MEMORY", "NONSENSE"}) == Error("ERR unknown subcommand 'NONSENSE'. Try MEMORY HELP."));
  CHECK(Run({"MEMORY", "HELP"}).elements.size() > 10);
}

TEST_CASE_METHOD(CommandTest, "MEMORY USAGE does not count as an access of the key") {
  Run({"SET", "k", "v"});
  AdvanceTime(10'000);
  const uint64_t hits = stats().keyspace_hits;
  Run({"MEMORY", "USAGE", "k"});
  CHECK(stats().keyspace_hits == hits);
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(10));
}

TEST_CASE_METHOD(CommandTest, "MEMORY STATS has Redis's fields, and their sums fit") {
  UseResp3();
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(100, 'x'), "EX", "1000"});
  const Reply stats = Run({"MEMORY", "STATS"});
  REQUIRE(stats.kind == Reply::Kind::kMap);
  CHECK(stats.elements[0] == Bulk("peak.allocated"));
  CHECK(stats.elements[stats.elements.size() - 2] == Bulk("fragmentation.bytes"));
  CHECK(Field(stats, "keys.count") == Integer(1000));
  const int64_t total = Field(stats, "total.allocated").integer;
  const int64_t overhead = Field(stats, "overhead.total").integer;
  CHECK(Field(stats, "peak.allocated").integer >= total);
  CHECK(Field(stats, "dataset.bytes").integer == total - overhead);
  CHECK(Field(stats, "dataset.bytes").integer >= 100'000);
  const Reply db = Field(stats, "db.0");
  REQUIRE(db.kind == Reply::Kind::kMap);
  CHECK(Field(db, "overhead.hashtable.main").integer >= 1000 * 14);
  CHECK(Field(db, "overhead.hashtable.expires").integer >= 1000 * 16);
  CHECK(Field(stats, "allocator.active").integer >= Field(stats, "allocator.allocated").integer);
  UseResp2();
  const Reply flat = Run({"MEMORY", "STATS"});
  CHECK(flat.kind == Reply::Kind::kArray);
  CHECK(flat.elements.size() == stats.elements.size());
  Run({"FLUSHALL"});
  CHECK(Run({"MEMORY", "STATS"}).elements.size() == flat.elements.size() - 2);
}

TEST_CASE_METHOD(CommandTest,
                 "MEMORY DOCTOR does not judge a small server, and notices a peak that is over") {
  UseResp3();
  // The allocator is the whole program's: what earlier tests have left counts, and may lie near the bound.
  constexpr uint64_t kBound = 5 << 20;
  constexpr uint64_t kNear = 1 << 20;
  const uint64_t used = server().memory.Used();
  const bool judges = Run({"MEMORY", "DOCTOR"}).text.find("nothing to judge") == std::string::npos;
  if (used + kNear < kBound || used > kBound + kNear) CHECK(judges == (used > kBound));
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(16'000, 'x')});
  CHECK(Run({"MEMORY", "DOCTOR"}).text.find("The peak was") == std::string::npos);
  for (int i = 0; i < 600; ++i) Run({"DEL", "k" + std::to_string(i)});
  CHECK(Run({"MEMORY", "DOCTOR"}).text.find("The peak was") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest, "MEMORY DOCTOR says that writes get OOM, whatever the size") {
  SetOption("maxmemory-policy", "volatile-lru");
  Run({"SET", "k", std::string(100'000, 'x')});
  SetOption("maxmemory", std::to_string(server().memory.Data() - 1000));
  REQUIRE(Run({"SET", "more", std::string(1000, 'x')}).kind == Reply::Kind::kError);
  CHECK(Run({"MEMORY", "DOCTOR"})
            .text.find("Writes that need memory get OOM as long as the policy (volatile-lru) finds no key") !=
        std::string::npos);
  SetOption("maxmemory", "0");
  CHECK(Run({"MEMORY", "DOCTOR"}).text.find("OOM") == std::string::npos);
}

TEST_CASE_METHOD(CommandTest, "MEMORY PURGE and MALLOC-STATS answer") {
  CHECK(Run({"MEMORY", "PURGE"}) == Ok());
  CHECK(Run({"MEMORY", "PURGE", "x"}) == Error("ERR wrong number of arguments for 'memory|purge' command"));
  CHECK_FALSE(Run({"MEMORY", "MALLOC-STATS"}).text.empty());
}

}  // namespace mayfly::testing
