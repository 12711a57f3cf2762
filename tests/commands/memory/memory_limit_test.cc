// maxmemory and maxkeys: what may be there at any time, and what INFO says of it.
#include <algorithm>
#include <memory>

#include "exec/memory/memory_gate.h"
#include "exec/memory/resident_guard.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class MemoryLimitTest : public CommandTest {
 public:
  MemoryLimitTest() { server().changes.Unlisten(server().change_log); }  // it grows with each change

  // Keys of about 100 bytes until `bytes` more are used, which is the limit from then on.
  void Fill(uint64_t bytes) {
    SetOption("maxmemory-policy", "allkeys-lru");
    const uint64_t until = server().memory.Data() + bytes;
    for (int i = 0; server().memory.Data() < until; ++i)
      Run({"SET", "k" + std::to_string(i), std::string(50, 'v')});
    limit = server().memory.Data();
    SetOption("maxmemory", std::to_string(limit));
  }
  void Note() { most = std::max(most, server().memory.Data()); }

  uint64_t limit = 0;
  uint64_t most = 0;  // Data at any time
};

// A kernel whose count of this process's memory is said by the test.
struct SaidMemory final : ProcessMemory {
  uint64_t ResidentBytes() noexcept override { return bytes; }
  void Purge() noexcept override {}
  void PurgeSoon() noexcept override {}
  void PurgeOld() noexcept override {}

  uint64_t bytes = 0;
};

// With a guard of resident memory, which a server in a test does not have.
class PressureTest : public MemoryLimitTest {
 public:
  PressureTest() { Guard(&resident_, kMostBytes); }
  ~PressureTest() { Guard(nullptr, 0); }
  // Resident memory is so near to the limit that about half of maxmemory may be used.
  void Press() { LookAt(kMostBytes / 1000 * 935); }
  void Relax() { LookAt(0); }
  // The same as Press, and nobody has looked yet.
  void Swell() { resident_.bytes = kMostBytes / 1000 * 935; }

 private:
  static constexpr uint64_t kMostBytes = uint64_t{1} << 30;

  void Guard(ProcessMemory* memory, uint64_t limit_bytes) {
    std::destroy_at(&server().resident);
    std::construct_at(&server().resident, memory, limit_bytes);
  }
  void LookAt(uint64_t bytes) {
    resident_.bytes = bytes;
    server().resident.Look(server().databases.heap().ChurnedBytes(), server().memory.All(),
                           server().options.settings().maxmemory.bytes);
  }

  SaidMemory resident_;
};

std::string FieldOf(const std::string& info, const std::string& name) {
  const size_t at = info.find("\r\n" + name + ":");
  REQUIRE(at != std::string::npos);
  const size_t begin = at + name.size() + 3;
  return info.substr(begin, info.find('\r', begin) - begin);
}

}  // namespace

TEST_CASE_METHOD(MemoryLimitTest,
                 "big values of many clients never take more than one request above maxmemory") {
  constexpr size_t kValue = 300'000;
  const bool in_blocks = GENERATE(false, true);
  // What the test itself needs is there before the limit is set.
  std::vector<TestClient*> clients;
  std::vector<std::string> requests;
  for (int i = 0; i < 40; ++i) {
    if (i < 8) clients.push_back(&Connect());
    // All of one length, so that no client's buffer grows later.
    requests.push_back(EncodeRequest({"SET", "big" + std::to_string(10 + i), std::string(kValue, 'x')}));
  }
  const auto send = [&](size_t i) {
    TestClient& to = *clients[i % clients.size()];
    CHECK((in_blocks ? to.RunRawWithBlocks(requests[i]) : to.RunRaw(requests[i])) == "+OK\r\n");
  };
  for (size_t i = 0; i < clients.size(); ++i) send(i);
  Run({"FLUSHALL"});
  server().FreeDue();
  Fill(3'000'000);
  for (size_t i = 0; i < requests.size(); ++i) {
    send(i);
    Note();
  }
  CHECK(most <= limit + kValue + kValue / 4);  // as the allocator rounds
  CHECK(Run({"DBSIZE"}).integer >= 6);
}

TEST_CASE_METHOD(MemoryLimitTest,
                 "a command that makes a long value of a short request is made up for by the next") {
  constexpr size_t kValue = 300'000;
  Fill(3'000'000);
  for (int i = 0; i < 20; ++i) {
    CHECK(Run({"SETRANGE", "long" + std::to_string(i), std::to_string(kValue - 1), "x"}) == Integer(kValue));
    Note();
  }
  CHECK(most <= limit + kValue + kValue / 4);
}

TEST_CASE_METHOD(MemoryLimitTest,
                 "after FLUSHALL there is room at once, though the old keys are freed later") {
  Fill(3'000'000);
  CHECK(Run({"FLUSHALL"}) == Ok());
  REQUIRE(server().databases.waiting_bytes() > 1'000'000);
  for (int i = 0; i < 1000; ++i) Run({"SET", "new" + std::to_string(i), std::string(50, 'v')});
  CHECK(Run({"DBSIZE"}) == Integer(1000));
}

TEST_CASE_METHOD(MemoryLimitTest, "a batch of many pairs takes no more above maxmemory than itself") {
  constexpr size_t kPairs = 1000;
  Fill(3'000'000);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::string> words{"MSET"};
    for (size_t i = 0; i < kPairs; ++i) {
      words.push_back("pair" + std::to_string(round) + ":" + std::to_string(i));
      words.emplace_back(100, 'p');
    }
    CHECK(Run(words) == Ok());
    Note();
  }
  CHECK(most <= limit + kPairs * 250);
}

TEST_CASE_METHOD(MemoryLimitTest,
                 "while the writers of a key wait (MIGRATE), the limits of memory hold for all others") {
  Run({"SET", "k", "v"});
  server().parking.HoldKey(0, "k");
  CHECK(Connect().Run({"SET", "k", "w"}) == NoReply());
  const auto set_until_refused = [&](const std::string& prefix) {
    for (int i = 0; i < 1000; ++i) {
      if (Run({"SET", prefix + std::to_string(i), std::string(1000, 'x')}) != Ok()) return i;
    }
    return 1000;
  };
  SECTION("maxmemory refuses what needs memory, and nothing else") {
    SetOption("maxmemory", std::to_string(server().memory.Data() + 100'000));
    CHECK(set_until_refused("o") < 150);
    CHECK(Run({"GET", "o0"}) == Bulk(std::string(1000, 'x')));
    CHECK(Run({"DEL", "o0"}) == Integer(1));
  }
  SECTION("maxmemory evicts") {
    SetOption("maxmemory-policy", "allkeys-lru");
    const uint64_t bound = server().memory.Data() + 100'000;
    SetOption("maxmemory", std::to_string(bound));
    CHECK(set_until_refused("o") == 1000);
    CHECK(server().memory.Data() < bound + 10'000);
  }
  SECTION("a namespace has its limit") {
    SetOption("namespace", "n prefix n: maxmemory 100kb");
    CHECK(set_until_refused("n:") < 150);
  }
  server().parking.ReleaseKey(0, "k");
  TurnWheels();
}

TEST_CASE_METHOD(MemoryLimitTest, "a lower maxmemory is reached in slices: no command pays for all of it") {
  Fill(3'000'000);
  const uint64_t lower = limit - 1'500'000;
  SetOption("maxmemory", std::to_string(lower));
  const int64_t keys = Run({"DBSIZE"}).integer;
  Run({"SET", "another", "v"});
  CHECK(Run({"DBSIZE"}).integer >= keys - 64);
  while (server().executor.EvictSome(64)) {
  }
  CHECK(server().memory.Data() <= lower);
  SetOption("maxmemory", std::to_string(limit));
  CHECK_FALSE(server().executor.EvictSome(64));
}

#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted
TEST_CASE_METHOD(PressureTest,
                 "while resident memory is near its limit, a write makes room for eight times its bytes") {
  constexpr uint64_t kValue = 50'000;
  Fill(6'000'000);
  Run({"SET", "settled", "v"});
  const auto made_room = [&] {
    const uint64_t before = server().memory.Data();
    Run({"SETRANGE", "big", std::to_string(kValue - 1), "x"});
    Run({"SET", "settled", "w"});  // makes up for the big value
    const uint64_t after = server().memory.Data();
    Run({"DEL", "big"});
    return before > after ? before - after : 0;
  };
  CHECK(made_room() < kValue / 2);
  Press();
  CHECK(server().resident.pressed());
  const uint64_t pressed = made_room();
  CHECK(pressed >= (MemoryGate::kPressedFactor - 1) * kValue);
  CHECK(pressed < 2 * MemoryGate::kPressedFactor * kValue);
}
#endif

TEST_CASE_METHOD(PressureTest,
                 "near the limit of resident memory keys go until their share of maxmemory is used") {
  Fill(6'000'000);
  Press();
  const uint64_t share = server().resident.Allowed(limit);
  CHECK(share < limit * 6 / 10);
  CHECK(share > limit * 4 / 10);
  size_t slices = 0;
  while (server().executor.EvictSome(64)) ++slices;
  CHECK(slices > 100);  // no slice pays for all of it
  CHECK(server().memory.Data() <= share);
  CHECK(server().memory.Data() > share - 10'000);
  Relax();
  CHECK_FALSE(server().executor.EvictSome(64));
  const int64_t keys = Run({"DBSIZE"}).integer;
  Run({"SET", "another", "v"});
  CHECK(Run({"DBSIZE"}).integer == keys + 1);  // all of maxmemory may be used again
}

#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted
TEST_CASE_METHOD(PressureTest,
                 "resident memory is looked at in turns, too, however little of maxmemory is used") {
  SetOption("maxmemory", "100mb");
  SetOption("maxmemory-policy", "allkeys-lru");
  for (int i = 0; i < 5000; ++i) Run({"SET", "k" + std::to_string(i), std::string(1000, 'v')});
  CHECK_FALSE(server().executor.EvictSome(64));
  CHECK_FALSE(server().resident.pressed());
  Swell();
  CHECK_FALSE(server().executor.EvictSome(64));
  CHECK_FALSE(server().resident.pressed());  // too little has changed since the last look
  for (int i = 0; i < 5000; ++i) Run({"SET", "k" + std::to_string(i), std::string(1500, 'w')});
  CHECK_FALSE(server().resident.pressed());  // no write has come near maxmemory
  CHECK_FALSE(server().executor.EvictSome(64));
  CHECK(server().resident.pressed());
}
#endif

TEST_CASE_METHOD(CommandTest, "maxkeys holds after a write of many keys, too") {
  SetOption("maxkeys", "100");
  for (int round = 0; round < 5; ++round) {
    std::vector<std::string> words{"MSET"};
    for (int i = 0; i < 500; ++i) {
      words.push_back("k" + std::to_string(round * 500 + i));
      words.push_back("v");
    }
    CHECK(Run(words) == Ok());
    CHECK(Run({"DBSIZE"}) == Integer(100));
  }
  SetOption("maxkeys", "10");
  Run({"SET", "another", "v"});
  CHECK(Run({"DBSIZE"}) == Integer(101 - 64));  // the rest goes in slices
}

TEST_CASE_METHOD(CommandTest, "a lower maxkeys is reached in slices of turns, also while nobody writes") {
  SetOption("maxkeys", "1000");
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), "v"});
  SetOption("maxkeys", "100");
  CHECK(Run({"DBSIZE"}) == Integer(1000));
  size_t slices = 0;
  while (server().executor.EvictSome(64)) ++slices;
  CHECK(slices > 10);
  CHECK(Run({"DBSIZE"}) == Integer(100));
  CHECK(Run({"EXISTS", "k899", "k900", "k999"}) == Integer(2));  // the oldest went
}

TEST_CASE_METHOD(MemoryLimitTest,
                 "when all is quiet used_memory is within maxmemory, whatever INFO takes for itself") {
  Fill(1'000'000);
  for (int i = 0; i < 3000; ++i) Run({"SET", "more" + std::to_string(i), std::string(50, 'v')});
  while (server().executor.EvictSome(64)) {
  }
  // A chunk that waits for the next reply, as the loop would say.
  OutputChunk* chunk = server().chunks.Take();
  server().chunks.Give(chunk);
  stats().spare_chunk_bytes = server().chunks.kept() * OutputChunk::kSize;
  REQUIRE(stats().spare_chunk_bytes != 0);
  for (const char* section : {"memory", "everything"}) {
    const std::string info = Run({"INFO", section}).text;
    const uint64_t used = std::stoull(FieldOf(info, "used_memory"));
    CHECK(used <= limit + 2000);  // the test itself holds some texts
    CHECK(used > limit - 100'000);
    CHECK(FieldOf(info, "mem_not_counted_for_evict") == "0");
    CHECK(FieldOf(info, "mem_spare_reply_chunks") == std::to_string(stats().spare_chunk_bytes));
    CHECK(FieldOf(info, "maxmemory_in_force") == std::to_string(limit));
  }
}

TEST_CASE_METHOD(CommandTest,
                 "what has arrived of big arguments counts as data, the rest of them as the client's") {
  Run({"SET", "k", std::string(10'000, 'v')});
  const uint64_t data = server().memory.Data();
  const uint64_t used = server().memory.Used();
  stats().client_bytes = 1000;
  CHECK(server().memory.NotEvictable() == 1000);
  CHECK(server().memory.Data() == data - 1000);
  stats().arriving_bytes = 400;
  CHECK(server().memory.NotEvictable() == 600);
  CHECK(server().memory.Data() == data - 600);
  CHECK(server().memory.Used() == used);
  CHECK(server().memory.AllWith(server().memory.Data()) == server().memory.All());
  stats().announced_bytes = 500;  // of the 600, and nothing is stored there yet
  CHECK(server().memory.NotEvictable() == 100);
  CHECK(server().memory.Data() == data - 600);
  CHECK(server().memory.Used() == used - 500);
  CHECK(server().memory.AllWith(server().memory.Data()) == server().memory.All());
  stats().name_bytes = 50;
  CHECK(server().memory.Data() == data - 650);
  stats().Reset();
  CHECK(server().memory.NotEvictable() == 150);
  stats().client_bytes = stats().arriving_bytes = stats().announced_bytes = stats().name_bytes = 0;
}

}  // namespace mayfly::testing
