#include "cache/types/pack.h"

#include <random>
#include <string>
#include <vector>

#include "base/memory/heap.h"
#include "support/catch.h"

namespace mayfly {
namespace {

template <size_t kRecord>
std::string TextAt(const BasicPack<kRecord>& pack, Pack::At at) {
  char room[PackItem::kRoom];
  return std::string(pack.Read(at).Text(room));
}

template <size_t kRecord>
std::vector<std::string> Texts(const BasicPack<kRecord>& pack) {
  std::vector<std::string> texts;
  for (Pack::At at = pack.begin(); at != pack.end(); at = pack.Next(at)) texts.push_back(TextAt(pack, at));
  return texts;
}

template <size_t kRecord>
void Append(BasicPack<kRecord>& pack, std::string_view text) {
  const PackItem items[] = {PackItem::Of(text)};
  pack.Append(items);
}

}  // namespace

TEST_CASE("a linked pack keeps texts and numbers in their order and reads them both ways") {
  LinkedPack<1> pack;
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

TEST_CASE("a short text takes one byte more than itself, a small integer one in all, and a link one more") {
  const auto size_of = [](std::string_view text) {
    const PackItem item = PackItem::Of(text);
    return Pack::SizeOf({&item, 1});
  };
  CHECK(size_of("field") == 6);
  CHECK(size_of("42") == 1);
  CHECK(size_of("1700000000") == 5);
  const PackItem record[] = {PackItem::Of("member"), PackItem::Of("42")};
  CHECK(LinkedPack<2>::SizeOf(record) == 7 + 1 + 1);
  CHECK(LinkedPack<1>::SizeOf(record) == 8 + 2);
}

TEST_CASE("records are read both ways, counted and found by their first item") {
  LinkedPack<2> pack;
  std::vector<std::pair<std::string, int64_t>> model;
  for (int64_t i = 0; i < 200; ++i) {
    const std::string name(static_cast<size_t>(i * 3), 'm');
    const PackItem items[] = {PackItem::Of(name), PackItem::Of(i * i)};
    const size_t index = static_cast<size_t>(i * 7) % (model.size() + 1);
    pack.Insert(pack.Seek(index), items);
    model.insert(model.begin() + static_cast<ptrdiff_t>(index), {name, i * i});
  }
  REQUIRE(pack.Validate());
  CHECK(pack.size() == 200);
  const PackItem shorter[] = {PackItem::Of("short"), PackItem::Of(int64_t{-5})};
  pack.Exchange(pack.Seek(100), 1, shorter);
  model[100] = {"short", -5};
  pack.Erase(pack.Seek(20), 30);
  model.erase(model.begin() + 20, model.begin() + 50);
  Pack::At at = pack.end();
  for (size_t i = model.size(); i-- != 0;) {
    at = pack.Prev(at);
    CHECK(TextAt(pack, at) == model[i].first);
    CHECK(pack.Read(pack.Second(at)).integer == model[i].second);
    CHECK(pack.Find(PackItem::Of(model[i].first), pack.begin()) == at);
    CHECK(pack.Seek(i) == at);
  }
  CHECK(at == pack.begin());
  CHECK(pack.Validate());
}

TEST_CASE("a pack of more steps than its count can hold counts them") {
  Pack pack;
  const std::vector<PackItem> items(70'000, PackItem::Of(int64_t{7}));
  pack.Append(items);
  CHECK(pack.size() == 70'000);
  pack.Erase(pack.begin(), 70'000 - 65'535);
  CHECK(pack.size() == 65'535);
  CHECK(pack.Validate());
  pack.Erase(pack.begin(), 1);
  CHECK(pack.size() == 65'534);
  CHECK(pack.Validate());
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
    REQUIRE(pack.memory() == MallocSizeClass(pack.end()));
  }
}

}  // namespace mayfly
