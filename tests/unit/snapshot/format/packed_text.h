// The items of a packed collection as words, and what every damage to a collection must do: nothing, or make it bad.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/format/packed.h"
#include "support/catch.h"
#include "support/exact_block.h"

namespace mayfly::rdb {

using PackedWords = std::vector<std::string>;

// Texts and integers alike; nullopt if the collection is bad. Checks that the end of the collection is final.
template <class Reader>
std::optional<PackedWords> WordsOf(std::string_view bytes) {
  const ExactBlock block(bytes);
  Reader reader(block.view());
  PackedWords words;
  PackedItem item;
  ItemStatus status = reader.Next(item);
  for (; status == ItemStatus::kItem; status = reader.Next(item)) {
    std::array<char, PackedItem::kRoom> room{};
    words.emplace_back(item.Text(room.data()));
  }
  REQUIRE(reader.Next(item) == status);
  const std::optional<size_t> count = CountItems<Reader>(block.view());
  REQUIRE(count == (status == ItemStatus::kEnd ? std::optional(words.size()) : std::nullopt));
  if (status == ItemStatus::kBad) return std::nullopt;
  return words;
}

// Reads every beginning of the collection, and the collection with every byte changed. REQUIRES: the collection is good.
template <class Reader>
void ReadDamaged(const std::string& good) {
  for (size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK(!WordsOf<Reader>(std::string_view(good).substr(0, size)));
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string damaged = good;
      damaged[at] = static_cast<char>(byte);
      const std::optional<PackedWords> words = WordsOf<Reader>(damaged);
      if (words) CHECK(words->size() <= damaged.size());
    }
  }
}

}  // namespace mayfly::rdb
