// The keys changed in this turn, each once, in the order of the first changes.
//
// A table with open addressing finds a key's item by name and keyspace. A place without the number of this round counts as
// empty: a new round costs nothing. The memory stays for the next rounds, up to kKeptItems.
//
// Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry/key.h"

namespace mayfly {

class Keyspace;

class TurnChanges {
 public:
  static constexpr size_t kKeptItems = 4096;

  // The part of a key still to be written into the stream.
  enum class Left : uint8_t {
    kNothing,  // the stream has reported the key already, or nobody needs it
    kExpiry,   // the deadline, or none
    kValue     // the whole value, or DEL
  };
  struct Item {
    Keyspace* keyspace;
    uint64_t hash;
    uint32_t name_at;
    uint32_t name_size;
    Left left;
    uint8_t commands;  // for the key in this turn, up to 255
    // The key had no deadline at some moment: terms of an earlier deadline, such as INTO, are over.
    bool persisted;
  };

  // Returns the key's item, a new item if need be. Valid until the next call. Throws std::bad_alloc.
  Item& Of(Keyspace& keyspace, const Key& key);
  // Returns the key's item, or null. Valid until the next call of Of.
  Item* Find(const Keyspace& keyspace, const Key& key) noexcept;
  std::span<const Item> items() const noexcept { return items_; }
  std::span<Item> items() noexcept { return items_; }
  std::string_view NameOf(const Item& item) const noexcept {
    return std::string_view(names_).substr(item.name_at, item.name_size);
  }
  // Nothing of this keyspace is to be written any more.
  void Forget(const Keyspace& keyspace) noexcept;
  // Begins another round.
  void Clear() noexcept;
  bool empty() const noexcept { return items_.empty(); }

 private:
  struct Place {
    uint32_t round = 0;
    uint32_t item = 0;
  };
  // Returns the place of the key's item, otherwise an empty place. REQUIRES: places_ is not empty.
  size_t PlaceOf(const Keyspace& keyspace, const Key& key) const noexcept;
  void Grow();

  std::vector<Item> items_;
  std::string names_;
  std::vector<Place> places_;  // a power of two, at least twice as many as items
  uint32_t round_ = 1;
};

}  // namespace mayfly
