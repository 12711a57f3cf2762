#include "base/bits/hyperloglog.h"

#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/bits/hyperloglog_draft.h"
#include "support/catch.h"

namespace mayfly::hll {
namespace {

constexpr size_t kMostSparse = 3000;

std::string HeaderOf(uint8_t encoding) {
  std::string header = "HYLL";
  header += static_cast<char>(encoding);
  header.resize(kHeaderBytes, '\0');
  return header;
}

std::string Sparse(const std::string& runs) { return HeaderOf(kSparse) + runs; }

Raised Add(Draft& draft, const std::string& element) { return draft.Raise(PlaceOf(element), kMostSparse); }

}  // namespace

TEST_CASE("an empty HyperLogLog is one run of zeros and counts nothing") {
  const Draft draft;
  CHECK(draft.bytes() == Sparse("\x7f\xff"));
  CHECK(IsHyperLogLog(draft.bytes()));
  CHECK(StoredCount(draft.bytes()) == 0U);
  CHECK(Count(draft.bytes()) == 0U);
}

TEST_CASE("a run is split where a register is raised, and joined with its like") {
  Draft draft;
  CHECK(draft.Raise({100, 3}, kMostSparse) == Raised::kYes);
  CHECK(draft.bytes().substr(kHeaderBytes) == std::string("\x40\x63\x88\x7f\x9a", 5));
  CHECK(draft.Raise({100, 3}, kMostSparse) == Raised::kNo);
  for (const size_t index : {101U, 102U, 103U, 104U})
    CHECK(draft.Raise({index, 3}, kMostSparse) == Raised::kYes);
  CHECK(draft.bytes().substr(kHeaderBytes) == std::string("\x40\x63\x8b\x88\x7f\x96", 6));
  CHECK(draft.Raise({102, 4}, kMostSparse) == Raised::kYes);
  CHECK(draft.bytes().substr(kHeaderBytes) == std::string("\x40\x63\x89\x8c\x89\x7f\x96", 7));
  CHECK_FALSE(StoredCount(draft.bytes()));
}

TEST_CASE("a rank or a size that the sparse encoding cannot hold makes it dense") {
  Draft high;
  high.Raise({5, kMostSparseRank}, kMostSparse);
  CHECK_FALSE(high.dense());
  CHECK(high.Raise({6, kMostSparseRank + 1}, kMostSparse) == Raised::kYes);
  CHECK(high.dense());
  CHECK(high.bytes().size() == kDenseBytes);
  CHECK(DenseRegister(high.bytes().data(), 5) == kMostSparseRank);
  CHECK(DenseRegister(high.bytes().data(), 6) == kMostSparseRank + 1);
  Draft large;
  CHECK(large.Raise({5, 1}, 19) == Raised::kYes);
  CHECK(large.dense());
}

TEST_CASE("dense registers do not touch each other") {
  std::mt19937_64 random(5);
  std::vector<char> bytes(kDenseBytes);
  std::vector<uint8_t> ranks(kRegisters);
  for (int round = 0; round < 3; ++round) {
    for (size_t i = 0; i < kRegisters; ++i)
      SetDenseRegister(bytes.data(), i, ranks[i] = static_cast<uint8_t>(random() % 64));
    for (size_t i = 0; i < kRegisters; ++i) REQUIRE(DenseRegister(bytes.data(), i) == ranks[i]);
  }
}

TEST_CASE("both encodings have the same registers and estimate the same, near the truth") {
  const auto sparse = std::make_unique<Draft>();
  const auto dense = std::make_unique<Draft>();
  const auto registers = std::make_unique<Registers>();
  REQUIRE(dense->BecomeDense());
  size_t checked = 1;
  for (size_t i = 1; i <= 100'000; ++i) {
    const std::string element = "element " + std::to_string(i);
    REQUIRE(Add(*sparse, element) == Add(*dense, element));
    if (i != checked) continue;
    checked *= 10;
    const std::optional<uint64_t> count = Count(dense->bytes());
    REQUIRE(count);
    CHECK(Count(sparse->bytes()) == count);
    CHECK(std::abs(static_cast<double>(*count) / static_cast<double>(i) - 1) < 0.03);
    CHECK(sparse->dense() == (i >= 10'000));
    REQUIRE(registers->Merge(sparse->bytes()));
    CHECK(registers->Count() == *count);
  }
}

TEST_CASE("an estimate is stored until it is no longer right") {
  Draft draft;
  Add(draft, "a");
  CHECK_FALSE(StoredCount(draft.bytes()));
  StoreCount(draft.data(), 0x0102030405060708);
  CHECK(StoredCount(draft.bytes()) == 0x0102030405060708U);
  CHECK(draft.bytes().substr(kCountAt, 2) == "\x08\x07");
  Add(draft, "a");
  CHECK(StoredCount(draft.bytes()));
  Add(draft, "b");
  CHECK_FALSE(StoredCount(draft.bytes()));
}

TEST_CASE("bytes that are no HyperLogLog are told by header and size") {
  CHECK_FALSE(IsHyperLogLog(""));
  CHECK_FALSE(IsHyperLogLog("HYLL"));
  CHECK_FALSE(IsHyperLogLog(std::string("HYLL").append(11, '\1')));
  CHECK_FALSE(IsHyperLogLog("hyll" + Sparse("\x7f\xff").substr(4)));
  CHECK_FALSE(IsHyperLogLog(HeaderOf(2)));
  CHECK_FALSE(IsHyperLogLog(HeaderOf(kDense)));
  CHECK(IsHyperLogLog(HeaderOf(kDense).append(kDenseBytes - kHeaderBytes, '\0')));
  CHECK(IsHyperLogLog(HeaderOf(kSparse)));
}

// CVE-2025-32023: the sum of the runs must not leave the registers.
TEST_CASE("runs that do not make all registers, or more, are corrupt") {
  for (const std::string& runs : {std::string(), std::string("\x7f", 1), std::string("\x7f\xfe", 2),
                                  std::string("\x7f\xff\x80", 3), std::string(20'000, '\x80')}) {
    const std::string bytes = Sparse(runs);
    CHECK_FALSE(Count(bytes));
    Registers registers;
    CHECK_FALSE(registers.Merge(bytes));
    Draft draft(bytes);
    CHECK_FALSE(draft.BecomeDense());
    CHECK(draft.Raise({kRegisters - 1, 40}, kMostSparse) == Raised::kCorrupt);
  }
}

TEST_CASE("whatever bytes a client stores, none are read or written beyond them") {
  std::mt19937_64 random(9);
  for (int round = 0; round < 3000; ++round) {
    std::string runs(random() % 60, '\0');
    for (char& c : runs) c = static_cast<char>(random());
    if (round % 3 == 0) runs.append(kRegisters - random() % 300, '\x80');
    const std::string bytes = Sparse(runs);
    const std::unique_ptr<char[]> exact(new char[bytes.size()]);
    bytes.copy(exact.get(), bytes.size());
    const std::string_view view(exact.get(), bytes.size());
    const bool valid = Count(view).has_value();
    Registers registers;
    CHECK(registers.Merge(view) == valid);
    Draft draft(view);
    for (int i = 0; i < 20; ++i)
      draft.Raise({random() % kRegisters, static_cast<uint8_t>(1 + random() % 51)}, random() % 20'000);
    CHECK(draft.bytes().size() <= kMostBytes);
    if (valid) CHECK(Count(draft.bytes()));
  }
}

}  // namespace mayfly::hll
