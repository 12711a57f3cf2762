// The hash table alone: time per operation, groups read per lookup, bytes per key. Prints tables; takes no
// argument.
//
// Entries of 64 bytes with keys of 14 are in random order in one block, so that reading one is a cache miss,
// as in a full cache. "ahead" is a hit with the two-stage look-ahead of a pipelined batch of 32.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>
#include <vector>

#include "base/bits/hash.h"
#include "cache/table/hash_table_resize.h"

namespace mayfly {
namespace {

struct Entry {
  static constexpr size_t kKeyBytes = 14;
  char bytes[64];
  std::string_view key() const { return {bytes, kKeyBytes}; }
};

struct Policy {
  using Ref = uint32_t;
  using Key = std::string_view;
  static constexpr Ref kNull = 0;
  const Entry* entries = nullptr;
  const Hasher* hasher = nullptr;

  uint64_t HashOf(Ref ref) const noexcept { return (*hasher)(entries[ref].key()); }
  bool Equals(Ref ref, const Key& key) const noexcept { return entries[ref].key() == key; }
  void Prefetch(Ref ref) const noexcept { __builtin_prefetch(entries + ref); }
  void* Allocate(size_t bytes) noexcept { return std::aligned_alloc(kCacheLine, bytes); }
  void Free(void* block, size_t) noexcept { std::free(block); }
};
using Table = HashTable<Policy>;

void WriteKey(uint64_t number, char* key) {
  char text[Entry::kKeyBytes + 1];
  std::snprintf(text, sizeof(text), "key:%010llu", static_cast<unsigned long long>(number % 10'000'000'000));
  std::memcpy(key, text, Entry::kKeyBytes);
}

class Bench {
 public:
  explicit Bench(size_t count) : count_(count), entries_(count + 1), order_(count) {
    for (size_t i = 0; i < count; ++i) order_[i] = static_cast<uint32_t>(i + 1);
    std::shuffle(order_.begin(), order_.end(), random_);
    for (size_t i = 0; i < count; ++i) WriteKey(i, entries_[order_[i]].bytes);
    asked_.resize(std::min<size_t>(count, kAsked));
    for (size_t i = 0; i < asked_.size(); ++i) WriteKey(random_() % count, asked_[i].bytes);
    absent_.resize(asked_.size());
    for (size_t i = 0; i < absent_.size(); ++i) WriteKey(count + random_() % count, absent_[i].bytes);
  }

  void Run() {
    Table table(Policy{entries_.data(), &hasher_});
    const double insert =
        Time(1, count_, [&](size_t i) { return table.Insert(order_[i], HashOf(order_[i])) ? 1 : 0; });
    const double hit = Time(3, asked_.size(), [&](size_t i) { return Find(table, asked_[i]); });
    const double ahead = FindAhead(table);
    const double miss = Time(3, asked_.size(), [&](size_t i) { return Find(table, absent_[i]); });
    const TableStats fresh = table.Stats();
    std::shuffle(order_.begin(), order_.end(), random_);
    // Replaces keys while their number stays the same, as in a table in use.
    const size_t gone = count_ / 100;
    for (size_t i = 0; i < gone; ++i) Erase(table, order_[i]);
    for (size_t i = 0; i < 4 * count_; ++i) {
      Erase(table, order_[(i + gone) % count_]);
      const uint32_t ref = order_[i % count_];
      if (!table.Insert(ref, HashOf(ref))) std::abort();
    }
    const TableStats used = table.Stats();
    const double bytes = static_cast<double>(table.memory()) / static_cast<double>(count_);
    const double erase = Time(1, count_, [&](size_t i) { return Erase(table, order_[i]); });
    std::printf("%9zu | %6.1f %6.1f %6.1f %6.1f %6.1f | %5.3f %5.3f %5.3f %5.3f %6.2f%% %8zu | %5.2f\n",
                count_, hit, ahead, miss, insert, erase, fresh.probes_per_hit, fresh.probes_per_miss,
                used.probes_per_hit, used.probes_per_miss,
                100.0 * static_cast<double>(used.displaced) / static_cast<double>(count_), used.stashed,
                bytes);
  }

 private:
  static constexpr size_t kAsked = 1'000'000;
  static constexpr size_t kBatch = 32;

  uint64_t HashOf(uint32_t ref) const { return hasher_(entries_[ref].key()); }
  uint32_t Find(const Table& table, const Entry& asked) const {
    return table.Find(asked.key(), hasher_(asked.key()));
  }
  uint32_t Erase(Table& table, uint32_t ref) const { return table.Erase(entries_[ref].key(), HashOf(ref)); }

  // Processor time, since other programs may use the machine, too.
  static double NowNs() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return 1e9 * static_cast<double>(spent.tv_sec) + static_cast<double>(spent.tv_nsec);
  }
  // Nanoseconds per call; the best of `rounds`.
  template <typename Fn>
  double Time(int rounds, size_t calls, Fn&& fn) {
    double best = 1e18;
    for (int round = 0; round < rounds; ++round) {
      const double start = NowNs();
      uint64_t sum = 0;
      for (size_t i = 0; i < calls; ++i) sum += fn(i);
      best = std::min(best, (NowNs() - start) / static_cast<double>(calls));
      sink_ = sum;
    }
    return best;
  }

  double FindAhead(const Table& table) {
    uint64_t hashes[kBatch];
    Table::Trail trails[kBatch];
    const size_t batches = asked_.size() / kBatch;
    return Time(3, batches,
                [&](size_t batch) {
                  const Entry* asked = asked_.data() + batch * kBatch;
                  for (size_t i = 0; i < kBatch; ++i) {
                    hashes[i] = hasher_(asked[i].key());
                    trails[i] = table.PrefetchGroup(hashes[i]);
                  }
                  for (size_t i = 0; i < kBatch; ++i) table.PrefetchCandidates(trails[i]);
                  uint64_t sum = 0;
                  for (size_t i = 0; i < kBatch; ++i) sum += table.Find(asked[i].key(), hashes[i]);
                  return sum;
                }) /
           kBatch;
  }

  size_t count_;
  std::mt19937_64 random_{42};
  Hasher hasher_{42};
  std::vector<Entry> entries_;
  std::vector<uint32_t> order_;
  std::vector<Entry> asked_;
  std::vector<Entry> absent_;
  volatile uint64_t sink_ = 0;  // Keeps the results alive.
};

void PrintBytesPerKey() {
  std::printf("\nbytes per key of the table while it grows\n");
  std::vector<Entry> entries(2'000'001);
  Hasher hasher(7);
  Table table(Policy{entries.data(), &hasher});
  double sum = 0;
  int samples = 0;
  size_t next_print = 10;
  for (size_t i = 1; i <= 2'000'000; ++i) {
    WriteKey(i, entries[i].bytes);
    if (!table.Insert(static_cast<uint32_t>(i), hasher(entries[i].key()))) std::abort();
    const double bytes = static_cast<double>(table.memory()) / static_cast<double>(i);
    if (i == next_print) {
      std::printf("%9zu %6.2f\n", i, bytes);
      next_print = i < 1'000'000 ? i * 10 : i + 100'000;
    }
    if (i >= 1'000'000 && i % 1'000 == 0) {
      sum += bytes;
      ++samples;
    }
  }
  std::printf("mean from 1M to 2M keys: %.2f\n", sum / samples);
}

}  // namespace
}  // namespace mayfly

int main() {
  std::printf(
      "     keys | ns: hit ahead   miss  insert  erase | lines per hit, miss; after churn; displaced stashed "
      "| B/key\n");
  for (const size_t count : {100'000, 1'000'000, 2'000'000, 10'000'000}) mayfly::Bench(count).Run();
  mayfly::PrintBytesPerKey();
}
