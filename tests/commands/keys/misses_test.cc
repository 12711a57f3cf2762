// Why keys are missed, and whether the cache is too small: INFO stats, miss-ring-entries, shadow-list.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class MissesTest : public CommandTest {
 public:
  std::string Text(const std::string& name, const std::string& section = "stats") {
    const std::string text = Run({"INFO", section}).text;
    const size_t at = text.find("\n" + name + ":");
    if (at == std::string::npos) return "absent";
    const size_t begin = at + name.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  int64_t Field(const std::string& name) { return std::stoll(Text(name)); }
  // What a read of the key counts as; it is a miss.
  std::string WhyBy(const std::vector<std::string>& read) {
    Run({"CONFIG", "RESETSTAT"});
    Run(read);
    CHECK(Field("keyspace_misses") == 1);
    std::string why;
    int64_t sum = 0;
    for (const char* reason : {"expired", "evicted", "deleted", "invalidated", "cold"}) {
      const int64_t count = Field("keyspace_misses_" + std::string(reason));
      sum += count;
      if (count != 0) why += reason;
    }
    CHECK(sum == 1);
    return why;
  }
  std::string Why(const std::string& key) { return WhyBy({"GET", key}); }
};

}  // namespace

TEST_CASE_METHOD(MissesTest, "a miss counts by what became of the key") {
  Run({"MSET", "deleted", "1", "unlinked", "1", "renamed", "1", "moved", "1", "got", "1"});
  CHECK(Why("never") == "cold");
  Run({"SET", "expired", "1", "PX", "20"});
  AdvanceTime(20);
  CHECK(Why("expired") == "expired");
  Run({"SET", "late", "1", "PX", "20"});
  LetTimePass(20);
  CHECK(Why("late") == "expired");  // found and freed by this read
  Run({"DEL", "deleted"});
  Run({"UNLINK", "unlinked"});
  Run({"RENAME", "renamed", "anew"});
  Run({"MOVE", "moved", "1"});
  Run({"GETDEL", "got"});
  for (const char* key : {"deleted", "unlinked", "renamed", "moved", "got"}) {
    INFO(key);
    CHECK(Why(key) == "deleted");
  }
  Run({"MSET", "a", "1", "b", "2"});
  Run({"CONFIG", "SET", "maxkeys", "2"});
  Run({"SET", "c", "3"});
  CHECK(Why("a") == "evicted");
}

TEST_CASE_METHOD(MissesTest, "a miss counts by the last time that the key went") {
  Run({"SET", "k", "1", "PX", "20"});
  AdvanceTime(20);
  Run({"SET", "k", "1"});
  Run({"DEL", "k"});
  CHECK(Why("k") == "deleted");
  Run({"DEL", "k"});
  CHECK(Why("k") == "deleted");
  Run({"SET", "k", "1", "PX", "20"});
  AdvanceTime(20);
  Run({"DEL", "k"});  // it was not there
  CHECK(Why("k") == "expired");
}

TEST_CASE_METHOD(MissesTest, "every command that counts a miss counts its reason") {
  Run({"SET", "k", "1"});
  Run({"DEL", "k"});
  for (const std::vector<std::string>& read :
       std::vector<std::vector<std::string>>{{"GET", "k"},
                                             {"MGET", "k"},
                                             {"EXISTS", "k"},
                                             {"TTL", "k"},
                                             {"TYPE", "k"},
                                             {"STRLEN", "k"},
                                             {"HGET", "k", "f"},
                                             {"LRANGE", "k", "0", "1"},
                                             {"SMEMBERS", "k"},
                                             {"ZCARD", "k"},
                                             {"XLEN", "k"},
                                             {"OBJECT", "ENCODING", "k"},
                                             {"GETRANGE", "k", "0", "1"}}) {
    INFO(read[0]);
    CHECK(WhyBy(read) == "deleted");
  }
}

TEST_CASE_METHOD(MissesTest,
                 "a value goes with its members: taken out it is deleted, at their deadlines expired") {
  Run({"SADD", "s", "a"});
  Run({"SREM", "s", "a"});
  CHECK(WhyBy({"SMEMBERS", "s"}) == "deleted");
  Run({"HSET", "h", "f", "v"});
  Run({"HPEXPIRE", "h", "20", "FIELDS", "1", "f"});
  AdvanceTime(20);
  CHECK(WhyBy({"HGET", "h", "f"}) == "expired");
}

TEST_CASE_METHOD(MissesTest, "flushed keys are deleted, before they are freed and after") {
  const std::string flush = GENERATE("FLUSHDB", "FLUSHALL");
  Run({"SET", "evicted", "1"});
  AdvanceTime(1000);
  Run({"CONFIG", "SET", "maxkeys", "1"});
  Run({"SET", "k", "1", "PX", "20"});
  Run({"CONFIG", "SET", "maxkeys", "0"});
  AdvanceTime(20);
  for (int i = 0; i < 100; ++i) Run({"SET", "k" + std::to_string(i), "1"});
  Run({"SET", "k", "1"});
  Run({flush});
  CHECK(Why("k") == "deleted");  // and not expired, as it was before
  CHECK(Why("k99") == "deleted");
  CHECK(Why("evicted") == "evicted");
  TurnWheels();
  CHECK(Why("k") == "deleted");
  CHECK(Why("k99") == "deleted");
  CHECK(Why("never") == "cold");
}

TEST_CASE_METHOD(MissesTest, "databases do not take each other's keys for theirs") {
  Run({"SET", "k", "1"});
  Run({"DEL", "k"});
  Run({"SELECT", "1"});
  CHECK(Why("k") == "cold");
  Run({"SWAPDB", "0", "1"});
  CHECK(Why("k") == "deleted");
  Run({"SET", "other", "1"});
  Run({"SELECT", "0"});
  Run({"SET", "k", "1"});
  Run({"FLUSHDB"});
  CHECK(Why("other") == "cold");
  CHECK(Why("k") == "deleted");
}

TEST_CASE_METHOD(MissesTest, "miss-ring-entries changes while the server runs; 0 knows no reasons") {
  CHECK(Run({"CONFIG", "GET", "miss-ring-entries"}) == Array({Bulk("miss-ring-entries"), Bulk("65536")}));
  CHECK(Text("mem_miss_ring", "memory") == "262144");
  Run({"SET", "k", "1"});
  Run({"DEL", "k"});
  CHECK(Run({"CONFIG", "SET", "miss-ring-entries", "65536"}) == Ok());
  CHECK(Why("k") == "deleted");
  CHECK(Run({"CONFIG", "SET", "miss-ring-entries", "0"}) == Ok());
  CHECK(Text("mem_miss_ring", "memory") == "0");
  CHECK(Why("k") == "cold");
  Run({"SET", "k", "1"});
  Run({"DEL", "k"});
  CHECK(Why("k") == "cold");
  CHECK(Run({"CONFIG", "SET", "miss-ring-entries", "1000"}) == Ok());
  CHECK(Text("mem_miss_ring", "memory") == "4032");
  Run({"SET", "k", "1"});
  Run({"DEL", "k"});
  CHECK(Why("k") == "deleted");
  CHECK(Run({"CONFIG", "SET", "miss-ring-entries", "32", "maxkeys", "-1"}).kind == Reply::Kind::kError);
  CHECK(Why("k") == "deleted");
  CHECK(Run({"CONFIG", "SET", "miss-ring-entries", "-1"}).kind == Reply::Kind::kError);
  CHECK(Run({"CONFIG", "SET", "miss-ring-entries", "67108865"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(MissesTest, "lru_tail_age_ms is the age of the key that is evicted next") {
  CHECK(Field("lru_tail_age_ms") == 0);
  Run({"SET", "lasting", "1"});
  AdvanceTime(6400);
  Run({"SET", "old", "1", "EX", "1000"});
  Run({"SET", "new", "1", "EX", "1000"});
  AdvanceTime(6400);
  Run({"GET", "new"});
  CHECK(Field("lru_tail_age_ms") == 6400);  // volatile-lru keeps the lasting one
  Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  CHECK(Field("lru_tail_age_ms") == 12'800);
  Run({"CONFIG", "SET", "maxmemory-policy", "volatile-lru", "maxkeys", "100"});
  CHECK(Field("lru_tail_age_ms") == 12'800);
  Run({"GET", "lasting"});
  CHECK(Field("lru_tail_age_ms") == 6400);
  Run({"CLIENT", "NO-TOUCH", "ON"});
  CHECK(Field("lru_tail_age_ms") == 6400);
  Run({"CLIENT", "NO-TOUCH", "OFF"});
  for (const char* policy :
       {"allkeys-sieve", "allkeys-s3fifo", "volatile-s3fifo", "allkeys-lfu", "volatile-lfu"}) {
    Run({"CONFIG", "SET", "maxmemory-policy", policy});
    CHECK(Text("lru_tail_age_ms") == "absent");
  }
}

TEST_CASE_METHOD(MissesTest, "evicted_age_ms tells how long evicted keys were not used") {
  CHECK(Field("evicted_age_ms_p50") == 0);
  Run({"CONFIG", "SET", "maxkeys", "10"});
  for (int i = 0; i < 20; ++i) {
    AdvanceTime(640);
    Run({"SET", "k" + std::to_string(i), "1"});
  }
  CHECK(Field("evicted_keys") == 10);
  CHECK(Field("evicted_age_ms_p50") == 6400);
  CHECK(Field("evicted_age_ms_p99") == 6400);
  Run({"CONFIG", "RESETSTAT"});
  CHECK(Field("evicted_age_ms_p99") == 0);
}

TEST_CASE_METHOD(MissesTest, "hits_at_twice_the_memory counts misses of what twice the keys would keep") {
  CHECK(Text("hits_at_twice_the_memory") == "absent");
  Run({"CONFIG", "SET", "maxkeys", "2", "shadow-list", "yes"});
  for (const char* key : {"a", "b", "c", "d", "e"}) Run({"SET", key, "1"});
  Run({"GET", "d"});
  CHECK(Field("hits_at_twice_the_memory") == 1);
  Run({"GET", "a"});  // four keys are younger
  CHECK(Field("hits_at_twice_the_memory") == 1);
  Run({"GET", "b"});
  CHECK(Field("hits_at_twice_the_memory") == 2);
  Run({"EXISTS", "b"});
  CHECK(Field("hits_at_twice_the_memory") == 3);
  Run({"SET", "b", "1"});
  Run({"GET", "b"});
  CHECK(Field("hits_at_twice_the_memory") == 4);
  Run({"DEL", "c"});
  Run({"GET", "c"});
  CHECK(Field("hits_at_twice_the_memory") == 4);
  CHECK(Field("keyspace_hits") == 2);
  Run({"CONFIG", "RESETSTAT"});
  CHECK(Field("hits_at_twice_the_memory") == 0);
  Run({"GET", "e"});
  CHECK(Field("hits_at_twice_the_memory") == 1);
  Run({"FLUSHALL"});
  Run({"GET", "e"});
  CHECK(Field("hits_at_twice_the_memory") == 1);
  Run({"CONFIG", "SET", "shadow-list", "no"});
  CHECK(Text("hits_at_twice_the_memory") == "absent");
}

TEST_CASE_METHOD(MissesTest, "the shadow list takes nothing of maxmemory, and gives its memory back") {
  constexpr int kKeys = 5000;
  Run({"CONFIG", "SET", "maxkeys", "2000", "shadow-list", "yes"});
  for (int i = 0; i < kKeys; ++i) Run({"SET", "key:" + std::to_string(i), "value"});
  const int64_t taken = std::stoll(Text("mem_shadow_list", "memory"));
  CHECK((taken > 2000 * 32 && taken < 2000 * 64));
  CHECK(Text("mem_not_counted_for_evict", "memory") == std::to_string(taken));
  Run({"CONFIG", "SET", "shadow-list", "no"});
  TurnWheels();
  CHECK(Text("mem_shadow_list", "memory") == "0");
  CHECK(Text("mem_not_counted_for_evict", "memory") == "0");
}

}  // namespace mayfly::testing
