#include "cache/types/counted_tree.h"

#include <memory>
#include <new>
#include <random>
#include <set>
#include <utility>

#include "cache/types/counted_tree_prune.h"
#include "support/catch.h"

namespace mayfly {
namespace {

// Refs are compared as numbers, the other way round, so that a tie that is not asked for is noticed.
struct TestPolicy {
  using Key = double;
  using Ref = HeapRef;
  size_t* blocks;
  const size_t* blocks_max;

  bool KeyLess(double a, double b) const noexcept { return a < b; }
  bool TieLess(HeapRef a, HeapRef b) const noexcept { return a.bits > b.bits; }
  void* Allocate(size_t bytes) const noexcept {
    return *blocks == *blocks_max ? nullptr : (++*blocks, ::operator new(bytes, std::nothrow));
  }
  void Free(void* block, size_t) const noexcept {
    --*blocks;
    ::operator delete(block);
  }
};

using Item = std::pair<double, HeapRefBits>;
struct Before {
  bool operator()(const Item& a, const Item& b) const noexcept {
    return a.first < b.first || (a.first == b.first && a.second > b.second);
  }
};
using Model = std::set<Item, Before>;

class CountedTreeFixture {
 public:
  size_t blocks = 0;
  size_t blocks_max = SIZE_MAX;
  CountedTree<TestPolicy> tree{TestPolicy{&blocks, &blocks_max}};
  Model model;

  void Insert(double key, HeapRefBits ref) {
    tree.Insert(key, {ref});
    model.insert({key, ref});
  }
  void Erase(const Item& item) {
    tree.Erase(item.first, {item.second});
    model.erase(item);
  }
  Item Nth(size_t rank) const { return *std::next(model.begin(), static_cast<ptrdiff_t>(rank)); }
  // Every item, forwards and backwards.
  bool SameAsModel() const {
    auto cursor = tree.First();
    for (const auto& [key, ref] : model) {
      if (!cursor || cursor.key() != key || cursor.ref().bits != ref) return false;
      cursor.Next();
    }
    if (cursor) return false;
    cursor = tree.Last();
    for (auto item = model.rbegin(); item != model.rend(); ++item, cursor.Prev())
      if (!cursor || cursor.key() != item->first || cursor.ref().bits != item->second) return false;
    return !cursor && tree.size() == model.size() && tree.Validate();
  }
};

}  // namespace

TEST_CASE_METHOD(CountedTreeFixture, "an empty tree takes no memory and has neither first nor last") {
  CHECK(tree.bytes() == 0);
  CHECK(!tree.First());
  CHECK(!tree.Last());
  CHECK(!tree.At(0));
  CHECK(tree.RankOf(1, {1}) == 0);
  CHECK(tree.Validate());
}

TEST_CASE_METHOD(CountedTreeFixture, "items come in the order of their keys, ties as the policy says") {
  for (const Item& item : {Item{2, 5}, {1, 7}, {2, 9}, {-1, 1}}) Insert(item.first, item.second);
  CHECK(SameAsModel());
  CHECK(tree.RankOf(2, {9}) == 2);
  CHECK(tree.RankOf(2, {5}) == 3);
  CHECK(tree.At(1).ref().bits == 7);
  CHECK(tree.CountBefore([](double key, HeapRef) { return key < 2; }) == 2);
  CHECK(tree.CountBefore([](double key, HeapRef) { return key <= 2; }) == 4);
}

TEST_CASE_METHOD(CountedTreeFixture, "items that come in order, either way, leave the leaves full") {
  constexpr size_t kItems = 20'000;
  const bool rising = GENERATE(true, false);
  for (uint32_t i = 1; i <= kItems; ++i) Insert(rising ? i : -static_cast<double>(i), i);
  CHECK(SameAsModel());
  constexpr size_t kSlots = CountedTree<TestPolicy>::Leaf::kSlots;
  CHECK(tree.bytes() <= (kItems / kSlots + 1) * kTreeNodeBytes * 11 / 10);
}

TEST_CASE_METHOD(CountedTreeFixture, "items are appended as they would be inserted") {
  for (uint32_t i = 1; i <= 20'000; ++i) {
    const uint32_t key = i / 3;
    tree.Append(key, {30'000 - i});
    model.insert({key, 30'000 - i});
    if (i % 1'000 == 0) Insert(key - 0.5, 40'000 + i);
  }
  CHECK(SameAsModel());
  CHECK(tree.Validate());
}

TEST_CASE_METHOD(CountedTreeFixture, "an item is exchanged in its place, or moves to its new one") {
  for (uint32_t i = 1; i <= 1'000; ++i) Insert(i, i);
  const size_t nodes = blocks;
  blocks_max = blocks;
  for (const auto& [old_item, item] : {std::pair<Item, Item>{{1, 1}, {-5, 1}},
                                       {{500, 500}, {500.5, 500}},
                                       {{1000, 1000}, {1e9, 1000}},
                                       {{7, 7}, {7, 2000}}}) {
    tree.Change(old_item.first, {old_item.second}, item.first, {item.second});
    model.erase(old_item);
    model.insert(item);
  }
  CHECK(blocks == nodes);
  blocks_max = SIZE_MAX;
  tree.Change(9, {9}, 700.5, {9});
  model.erase({9, 9});
  model.insert({700.5, 9});
  CHECK(SameAsModel());
}

TEST_CASE_METHOD(CountedTreeFixture, "a range is erased in slices, and each item is seen once") {
  for (uint32_t i = 1; i <= 5'000; ++i) Insert(i % 70, i);
  size_t seen = 0;
  while (tree.size() > 1'000) {
    const size_t slice = std::min<size_t>(300, tree.size() - 1'000);
    CHECK(tree.EraseFrom(500, slice,
                         [&](double key, HeapRef ref) { seen += model.erase({key, ref.bits}); }) == slice);
    CHECK(tree.Validate());
  }
  CHECK(seen == 4'000);
  CHECK(SameAsModel());
  CHECK(tree.EraseFrom(990, 50, [&](double key, HeapRef ref) { model.erase({key, ref.bits}); }) == 10);
  CHECK(SameAsModel());
}

TEST_CASE_METHOD(CountedTreeFixture, "many items are erased in one pass, without memory") {
  std::mt19937_64 random(5);
  // That many of 1,000 items go, from anywhere or from one run.
  const HeapRefBits per_mille = GENERATE(0U, 1U, 100U, 500U, 970U, 999U, 1000U);
  const bool in_a_run = GENERATE(false, true);
  const size_t items = GENERATE(0, 1, 40, 70, 5000, 60'000);
  for (size_t i = 0; i < items; ++i)
    Insert(static_cast<double>(random() % 100'000), static_cast<HeapRefBits>(i + 1));
  blocks_max = blocks;
  const auto goes = [&](double key, HeapRefBits ref) {
    return in_a_run ? key < per_mille * 100.0 : ref * 7919U % 1000 < per_mille;
  };
  size_t ahead = 0;
  size_t seen = 0;
  tree.EraseIf([&](HeapRef) { ++ahead; },
               [&](double key, HeapRef ref) {
                 ++seen;
                 return goes(key, ref.bits);
               });
  CHECK(seen == items);
  CHECK(ahead <= items);
  std::erase_if(model, [&](const Item& item) { return goes(item.first, item.second); });
  CHECK(SameAsModel());
  blocks_max = SIZE_MAX;
  for (size_t i = 0; i < 300; ++i)
    Insert(static_cast<double>(random() % 100'000), static_cast<HeapRefBits>(items + i + 1));
  while (model.size() > 100) Erase(random() % 2 == 0 ? *model.begin() : *model.rbegin());
  CHECK(SameAsModel());
}

TEST_CASE_METHOD(CountedTreeFixture, "if memory runs out, an insert has changed nothing") {
  std::mt19937 random(5);
  for (uint32_t i = 1; i <= 4'000; ++i) {
    const auto key = static_cast<double>(random() % 1'000);
    for (size_t spare = 0;; ++spare) {
      blocks_max = blocks + spare;
      const size_t before = blocks;
      try {
        Insert(key, i);
        break;
      } catch (const std::bad_alloc&) {
        REQUIRE(blocks == before);
        REQUIRE(tree.size() == model.size());
      }
    }
  }
  CHECK(SameAsModel());
}

TEST_CASE_METHOD(CountedTreeFixture, "a tree does what a set does") {
  std::mt19937_64 random(11);
  uint32_t next_ref = 0;
  size_t target = 3'000;
  for (int step = 0; step < 60'000; ++step) {
    if (step % 6'000 == 0) target = std::array{3'000U, 100U, 6'000U, 0U}[random() % 4];
    const bool grow = model.size() < target ? random() % 4 != 0 : random() % 4 == 0;
    if (grow || model.empty()) {
      Insert(static_cast<double>(random() % 800), ++next_ref);
    } else {
      const size_t rank = random() % model.size();
      const Item item = Nth(rank);
      REQUIRE(tree.RankOf(item.first, {item.second}) == rank);
      REQUIRE(tree.At(rank).ref().bits == item.second);
      if (random() % 4 == 0) {
        const Item changed{static_cast<double>(random() % 800), random() % 2 == 0 ? ++next_ref : item.second};
        if (changed == item) continue;
        tree.Change(item.first, {item.second}, changed.first, {changed.second});
        model.erase(item);
        model.insert(changed);
      } else {
        Erase(item);
      }
    }
    if (step % 500 == 0) {
      REQUIRE(SameAsModel());
      const auto bound = static_cast<double>(random() % 800);
      REQUIRE(tree.CountBefore([&](double key, HeapRef) { return key < bound; }) ==
              static_cast<size_t>(std::distance(model.begin(), model.lower_bound({bound, UINT32_MAX}))));
    }
  }
  CHECK(SameAsModel());
  while (!tree.FreeSome(100)) REQUIRE(tree.Validate());
  CHECK(tree.bytes() == 0);
  CHECK(blocks == 0);
}

}  // namespace mayfly
