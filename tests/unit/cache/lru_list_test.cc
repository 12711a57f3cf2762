#include "cache/owners/lru_list.h"

#include <algorithm>
#include <random>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

struct Node {
  Node* colder = nullptr;
  Node* hotter = nullptr;
};

struct Hooks {
  using Ref = Node*;
  static constexpr Ref kNull = nullptr;
  Ref Colder(Ref ref) const noexcept { return ref->colder; }
  Ref Hotter(Ref ref) const noexcept { return ref->hotter; }
  void SetColder(Ref ref, Ref colder) const noexcept { ref->colder = colder; }
  void SetHotter(Ref ref, Ref hotter) const noexcept { ref->hotter = hotter; }
};

std::vector<Node*> Order(const LruList<Hooks>& list) {
  std::vector<Node*> order;
  for (Node* at = list.hottest(); at != nullptr; at = at->colder) order.push_back(at);
  return order;
}

}  // namespace

TEST_CASE("the list has the exact order of use through a million random steps") {
  constexpr size_t kNodes = 50;
  std::vector<Node> nodes(2 * kNodes);
  std::vector<Node*> free;
  for (Node& node : nodes) free.push_back(&node);
  LruList<Hooks> list;
  std::vector<Node*> model;  // hottest first
  std::mt19937_64 random(7);
  for (int step = 0; step < 1'000'000; ++step) {
    const auto any = [&] { return model.begin() + static_cast<std::ptrdiff_t>(random() % model.size()); };
    switch (model.empty() ? 0 : random() % 5) {
      case 0:
        if (model.size() == kNodes) break;
        list.PushHottest(free.back());
        model.insert(model.begin(), free.back());
        free.pop_back();
        break;
      case 1: {
        const auto at = any();
        list.MoveToHottest(*at);
        std::rotate(model.begin(), at, at + 1);
        break;
      }
      case 3: {
        Node* const entry = *any();
        Node* const hotter = *any();
        if (entry == hotter) break;
        list.MoveBehind(entry, hotter);
        std::erase(model, entry);
        model.insert(std::find(model.begin(), model.end(), hotter) + 1, entry);
        break;
      }
      case 2: {
        const auto at = any();
        list.Remove(*at);
        free.push_back(*at);
        model.erase(at);
        break;
      }
      default: {
        const auto at = any();
        list.Replace(*at, free.front());
        std::swap(*at, free.front());
      }
    }
    REQUIRE(list.size() == model.size());
    REQUIRE(list.coldest() == (model.empty() ? nullptr : model.back()));
    if (step % 64 == 0) {
      REQUIRE(list.Validate());
      REQUIRE(Order(list) == model);
    }
  }
}

}  // namespace mayfly
