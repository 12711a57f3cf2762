#include "cache/types/list_value.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

using Texts = std::vector<std::string>;

class Collector : public MemberVisitor {
 public:
  void Visit(std::span<const std::string_view> parts) override { texts.emplace_back(parts[0]); }
  Texts texts;
};

Texts TextsOf(const RichValue& list) {
  Collector collector;
  list.ForEachMember(collector);
  return collector.texts;
}

Texts WalkBack(const ListValue& list) {
  Texts texts;
  char room[PackItem::kRoom];
  ListWalk walk(list, list.Size() - 1, ListEnd::kTail);
  for (size_t i = 0; i < list.Size(); ++i, walk.Next()) texts.emplace_back(walk.Item().Text(room));
  std::reverse(texts.begin(), texts.end());
  return texts;
}

void Push(ListValue& list, ListEnd end, const Texts& texts, const ListLimit& limit) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  list.Push(end, views, limit);
}

constexpr ListEnd kEnds[] = {ListEnd::kHead, ListEnd::kTail};

// A list beside a vector that does the same.
class ListModel {
 public:
  ListModel(int64_t option, unsigned seed) : limit_(option), random_(seed) {}

  void Step() {
    switch (Below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return Push();
      case 4:
        return Drop();
      case 5:
        return Set();
      case 6:
      case 7:
        return Insert();
      case 8:
        return Below(8) == 0 ? Keep() : Drop();
      default:
        return Remove();
    }
  }
  void Check() {
    REQUIRE(list_.Validate());
    REQUIRE(list_.Size() == texts_.size());
    REQUIRE(TextsOf(list_) == texts_);
    if (texts_.empty()) return;
    REQUIRE(WalkBack(list_) == texts_);
    const size_t index = Below(texts_.size());
    char room[PackItem::kRoom];
    REQUIRE(list_.At(index).Text(room) == texts_[index]);
  }

 private:
  size_t Below(size_t n) { return static_cast<size_t>(random_() % n); }
  std::string Text() {
    if (Below(3) == 0) return std::to_string(Below(5));
    return std::string(Below(40) == 0 ? Below(12'000) : Below(400), static_cast<char>('a' + Below(3)));
  }
  auto At(size_t index) { return texts_.begin() + static_cast<ptrdiff_t>(index); }

  void Push() {
    const ListEnd end = kEnds[Below(2)];
    Texts more(1 + Below(40));
    for (std::string& text : more) text = Text();
    mayfly::Push(list_, end, more, limit_);
    if (end == ListEnd::kHead) std::reverse(more.begin(), more.end());
    texts_.insert(end == ListEnd::kHead ? texts_.begin() : texts_.end(), more.begin(), more.end());
  }
  void Drop() {
    const size_t count = Below(std::min<size_t>(texts_.size(), Below(10) == 0 ? 500 : 20) + 1);
    const ListEnd end = kEnds[Below(2)];
    list_.Drop(end, count, limit_);
    end == ListEnd::kHead ? texts_.erase(At(0), At(count))
                          : texts_.erase(At(texts_.size() - count), texts_.end());
  }
  void Set() {
    if (texts_.empty()) return;
    const size_t index = Below(texts_.size());
    const std::string text = Text();
    list_.Set(index, text, limit_);
    texts_[index] = text;
  }
  void Insert() {
    const size_t index = Below(texts_.size() + 1);
    const std::string text = Text();
    if (texts_.empty()) return;
    list_.Insert(index, text, limit_);
    texts_.insert(At(index), text);
  }
  void Keep() {
    const size_t first = Below(texts_.size() + 1);
    const size_t count = Below(texts_.size() - first + 1);
    list_.Keep(first, count, limit_);
    texts_ = Texts(At(first), At(first + count));
  }
  void Remove() {
    const std::string text = std::to_string(Below(5));
    const uint64_t most = Below(2) == 0 ? UINT64_MAX : 1 + Below(3);
    const ListEnd from = kEnds[Below(2)];
    uint64_t removed = 0;
    if (from == ListEnd::kTail) std::reverse(texts_.begin(), texts_.end());
    std::erase_if(texts_, [&](const std::string& one) { return one == text && removed < most && ++removed; });
    if (from == ListEnd::kTail) std::reverse(texts_.begin(), texts_.end());
    REQUIRE(list_.Remove(PackItem::Of(text), most, from, limit_) == removed);
  }

  ListLimit limit_;
  std::mt19937 random_;
  ListValue list_;
  Texts texts_;
};

}  // namespace

TEST_CASE("a list does what a vector of texts does, whatever the limit of a node") {
  for (const int64_t option : {-2, -1, -5, 1, 3, 128, 0}) {
    INFO(option);
    ListModel model(option, 20240302);
    for (int step = 0; step < 1500; ++step) {
      model.Step();
      if (step % 10 == 0) model.Check();
    }
    model.Check();
  }
}

TEST_CASE("a list is large beyond the limit of one node, and small again from half of it on") {
  const ListLimit limit(4);
  ListValue list;
  Push(list, ListEnd::kTail, {"a", "b", "c", "d"}, limit);
  CHECK(list.EncodingName() == "listpack");
  Push(list, ListEnd::kTail, {"e"}, limit);
  CHECK(list.EncodingName() == "quicklist");
  list.Drop(ListEnd::kHead, 2, limit);
  CHECK(list.EncodingName() == "quicklist");
  list.Drop(ListEnd::kTail, 1, limit);
  CHECK(TextsOf(list) == Texts{"c", "d"});
  CHECK(list.EncodingName() == "listpack");
}

TEST_CASE("an element that is larger than a node is alone in one, and leaves the others as they are") {
  const ListLimit limit(-1);
  const std::string large(100'000, 'x');
  ListValue list;
  Push(list, ListEnd::kTail, {"a", "b", "c"}, limit);
  list.Insert(1, large, limit);
  CHECK(TextsOf(list) == Texts{"a", large, "b", "c"});
  list.Set(2, large, limit);
  CHECK(TextsOf(list) == Texts{"a", large, large, "c"});
  CHECK(list.Bytes() < 2 * 120'000);
  list.Set(1, "small", limit);
  list.Set(2, "too", limit);
  CHECK(list.Bytes() < 1000);
  CHECK(list.Validate());
  CHECK(TextsOf(list) == Texts{"a", "small", "too", "c"});
}

TEST_CASE("what is left of a list after removals takes about as much memory as a list that never had more") {
  const ListLimit limit(-2);
  ListValue list;
  for (int i = 0; i < 100'000; ++i) Push(list, ListEnd::kTail, {i % 50 == 0 ? "stays" : "goes"}, limit);
  const uint64_t full = list.Bytes();
  CHECK(list.Remove(PackItem::Of("goes"), UINT64_MAX, ListEnd::kHead, limit) == 98'000);
  CHECK(list.Validate());
  CHECK(list.Bytes() < full / 20);
  CHECK(list.Remove(PackItem::Of("stays"), UINT64_MAX, ListEnd::kTail, limit) == 2000);
  CHECK(list.Size() == 0);
  CHECK(list.EncodingName() == "listpack");
}

TEST_CASE("a copy of a list is a list of its own") {
  const ListLimit limit(-2);
  for (const size_t size : {size_t{3}, size_t{5000}}) {
    ListValue list;
    Texts texts;
    for (size_t i = 0; i < size; ++i) texts.push_back("element " + std::to_string(i));
    Push(list, ListEnd::kTail, texts, limit);
    const std::unique_ptr<RichValue> copy = list.Clone();
    list.Keep(1, 1, limit);
    CHECK(TextsOf(*copy) == texts);
    CHECK(static_cast<const ListValue&>(*copy).Validate());
  }
}

TEST_CASE("integers and empty texts that are pushed at once fill nodes, as other texts do") {
  const ListEnd end = GENERATE(ListEnd::kHead, ListEnd::kTail);
  const std::string text = GENERATE("", "7", "1234567");
  const ListLimit limit(-2);
  ListValue list;
  Push(list, end, Texts(20'000, text), limit);
  CHECK(list.EncodingName() == "quicklist");
  CHECK(list.Validate());
  // The nodes of a list that has grown one by one are as full as these.
  ListValue grown;
  for (int i = 0; i < 20'000; ++i) Push(grown, end, {text}, limit);
  CHECK(list.Bytes() <= grown.Bytes() + 8192);
  CHECK(grown.Bytes() <= list.Bytes() + 8192);
}

TEST_CASE("a list of many nodes is freed in steps, a smaller one at once") {
  const ListLimit limit(-2);
  ListValue small;
  Push(small, ListEnd::kTail, Texts(1000, "element"), limit);
  CHECK(small.BurialLink() == nullptr);
  ListValue large;
  Push(large, ListEnd::kTail, Texts(1'000'000, "element"), limit);
  const uint64_t bytes = large.Bytes();
  CHECK(bytes < 10 * 1'000'000);  // an element takes 9 bytes
  CHECK(large.BurialLink() != nullptr);
  CHECK_FALSE(large.FreeSome(100));
  CHECK(large.Bytes() < bytes);
  while (!large.FreeSome(1000)) {
  }
}

}  // namespace mayfly
