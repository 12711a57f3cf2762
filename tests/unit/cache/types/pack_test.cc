#include "cache/types/pack.h"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "base/heap.h"

namespace mayfly {
namespace {

std::string TextAt(const Pack& pack, Pack::At at) {
  char room[PackItem::kRoom];
  return std::string(pack.Read(at).Text(room));
}

std::vector<std::string> Texts(const Pack& pack) {
  std::vector<std::string> texts;
  for (Pack::At at = pack.begin(); at != pack.end(); at = pack.Next(at)) texts.push_back(TextAt(pack, at));
  return texts;
}

void Append(Pack& pack, std::string_view text) {
  const PackItem items[] = {PackItem::Of(text)};
  pack.Append(items);
}

}  // namespace

TEST_CASE("a pack keeps texts and numbers in their order and reads them both ways") {
  Pack pack;
  CHECK(pack.empty());
  CHECK(pack.memory() == 0);
  const std::vector<std::string> texts = {"field",
                                          "",
                                          "0",
                                          "111",
                                          "112",
                                          "-1",
                                          "-128",
                                          "-129",
                                          "32767",
                                          "32768",
                                          "9223372036854775807",
                                          "-9223372036854775808",
                                          "9223372036854775808",
                                          "007",
                                          "-0",
                                          "1.5",
                                          std::string(127, 'x'),
                                          std::string(128, 'x'),
                                          std::string(65535, 'x'),
                                          std::string(65536, 'x')};
  for (const std::string& text : texts) Append(pack, text);
  CHECK(Texts(pack) == texts);
  CHECK(pack.size() == texts.size());
  CHECK(pack.Validate());
  Pack::At at = pack.end();
  for (size_t i = texts.size(); i-- != 0;) {
    at = pack.Prev(at);
    CHECK(TextAt(pack, at) == texts[i]);
    CHECK(at == pack.Seek(i));
    CHECK(at == pack.Find(PackItem::Of(texts[i]), pack.begin()));
  }
  CHECK(at == pack.begin());
  CHECK(pack.Find(PackItem::Of("absent"), pack.begin()) == pack.end());
}

TEST_CASE("a short text takes two bytes more than itself, a small integer two in all") {
  CHECK(Pack::SizeOf(PackItem::Of("field")) == 7);
  CHECK(Pack::SizeOf(PackItem::Of("42")) == 2);
  CHECK(Pack::SizeOf(PackItem::Of("1700000000")) == 6);
}

TEST_CASE("a score that is an integer is kept as one, any other exactly") {
  const double scores[] = {0,         -0.0,    1, -3, 0.1, 1e300, 9007199254740991, 9007199254740992,
                           -INFINITY, INFINITY};
  Pack pack;
  for (const double score : scores) {
    const PackItem items[] = {PackItem::Of(score)};
    pack.Append(items);
  }
  Pack::At at = pack.begin();
  for (const double score : scores) {
    CHECK(pack.Read(at).Number() == score);
    at = pack.Next(at);
  }
  CHECK(pack.Read(pack.begin()).kind == PackItem::Kind::kInteger);
  CHECK(pack.Read(pack.Seek(1)).kind == PackItem::Kind::kReal);
  CHECK(std::signbit(pack.Read(pack.Seek(1)).Number()));
}

TEST_CASE("a search with a stride looks at fields only") {
  Pack pack;
  for (const char* const text : {"a", "b", "b", "c"}) Append(pack, text);
  CHECK(pack.Find(PackItem::Of("b"), pack.begin(), 2) == pack.Seek(2));
  CHECK(pack.Find(PackItem::Of("c"), pack.begin(), 2) == pack.end());
}

TEST_CASE("a run of items is exchanged for another one in one step") {
  Pack pack;
  for (const char* const text : {"a", "b", "c", "d"}) Append(pack, text);
  const PackItem longer[] = {PackItem::Of("12"), PackItem::Of("a longer text"), PackItem::Of("")};
  pack.Exchange(pack.Seek(1), 2, longer);
  CHECK(pack.size() == 5);
  char room[PackItem::kRoom];
  CHECK(pack.Read(pack.Seek(1)).integer == 12);
  CHECK(pack.Read(pack.Seek(2)).Text(room) == "a longer text");
  CHECK(pack.Read(pack.Seek(4)).Text(room) == "d");
  pack.Exchange(pack.Seek(1), 3, {});
  CHECK(pack.size() == 2);
  CHECK(pack.Read(pack.Seek(1)).Text(room) == "d");
  CHECK(pack.Validate());
}

TEST_CASE("a pack does what a vector of texts does") {
  std::mt19937_64 random(20240229);
  const auto draw = [&](size_t below) { return static_cast<size_t>(random() % below); };
  for (int round = 0; round < 50; ++round) {
    Pack pack;
    std::vector<std::string> model;
    const auto text = [&] {
      if (draw(3) == 0) return std::to_string(static_cast<int64_t>(random()) >> draw(64));
      return std::string(draw(draw(20) == 0 ? 70'000 : 40), static_cast<char>('a' + draw(3)));
    };
    for (int step = 0; step < 300; ++step) {
      const size_t index = draw(model.size() + 1);
      const std::string one = text();
      const std::string two = text();
      if (draw(3) != 0) {
        const PackItem items[] = {PackItem::Of(one), PackItem::Of(two)};
        pack.Insert(pack.Seek(index), items);
        model.insert(model.begin() + static_cast<ptrdiff_t>(index), {one, two});
      } else if (index != model.size() && draw(2) == 0) {
        pack.Replace(pack.Seek(index), PackItem::Of(one));
        model[index] = one;
      } else {
        const size_t count = draw(std::min<size_t>(model.size() - index, 5) + 1);
        pack.Erase(pack.Seek(index), count);
        const auto from = model.begin() + static_cast<ptrdiff_t>(index);
        model.erase(from, from + static_cast<ptrdiff_t>(count));
      }
      REQUIRE(pack.size() == model.size());
    }
    REQUIRE(pack.Validate());
    REQUIRE(Texts(pack) == model);
    REQUIRE(Texts(pack.Clone()) == model);
    REQUIRE(pack.memory() == Heap::SizeClass(pack.end()));
  }
}

}  // namespace mayfly
