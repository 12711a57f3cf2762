#include "cache/types/list_nodes.h"

#include <deque>
#include <random>
#include <utility>

#include "support/catch.h"

namespace mayfly {
namespace {

// The counts stand for the nodes.
bool Same(const ListNodes& nodes, const std::deque<uint32_t>& model) {
  if (nodes.size() != model.size()) return false;
  for (size_t i = 0; i < model.size(); ++i) {
    if (nodes[i].count != model[i]) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("the ring of nodes does what a deque does, whatever its size and wherever it begins") {
  std::mt19937 random(20240301);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  ListNodes nodes;
  std::deque<uint32_t> model;
  uint32_t number = 0;
  for (const size_t target : {10, 500, 600, 3000, 100, 5000, 2, 700, 0, 1500}) {
    const bool grows = target > model.size();
    const size_t side = below(3);  // more often at the head, at the tail, or at both
    while (model.size() != target) {
      const bool head = side == 2 ? below(2) == 0 : (below(8) == 0) == (side == 0);
      if (below(8) != 0 ? grows : !grows || model.empty()) {
        (head ? nodes.AddFirst() : nodes.AddLast()).count = ++number;
        head ? model.push_front(number) : model.push_back(number);
      } else if (!model.empty()) {
        head ? nodes.DropFirst() : nodes.DropLast();
        head ? model.pop_front() : model.pop_back();
      }
    }
    REQUIRE(Same(nodes, model));
    for (int i = 0; i < 20 && !model.empty(); ++i) {
      const size_t at = below(model.size());
      nodes.EraseAt(at);
      model.erase(model.begin() + static_cast<ptrdiff_t>(at));
      const size_t to = below(model.size() + 1);
      nodes.InsertAt(to).count = ++number;
      model.insert(model.begin() + static_cast<ptrdiff_t>(to), number);
    }
    REQUIRE(Same(nodes, model));
  }
}

TEST_CASE("a ring that has shrunk gives its blocks back") {
  ListNodes nodes;
  for (int i = 0; i < 100'000; ++i) nodes.AddLast();
  const uint64_t full = nodes.bytes();
  CHECK(full < 100'000 * (sizeof(ListNode) + 1));
  for (int i = 0; i < 99'990; ++i) nodes.DropFirst();
  CHECK(nodes.bytes() < full / 50);
  // One that only wanders keeps its size.
  for (int i = 0; i < 10'000; ++i) {
    nodes.AddLast();
    nodes.DropFirst();
  }
  CHECK(nodes.bytes() < full / 50);
}

}  // namespace mayfly
