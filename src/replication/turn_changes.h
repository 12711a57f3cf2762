// The keys that have changed in this turn, each once, in the order of their first changes.
//
// A table with open addressing finds a key's item by name and keyspace. Its places count as empty unless they have the number of
// this round, so that a new round costs nothing. Memory stays for the next rounds, up to kKeptItems.
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

  // What of the key is still to be told.
  enum class Left : uint8_t {
    kNothing,  // commands of the stream have told it, or nobody needs it
    kExpiry,   // whether and when it expires
    kValue     // everything, or that it is gone
  };
  struct Item {
    Keyspace* keyspace;
    uint64_t hash;
    uint32_t name_at;
    uint32_t name_size;
    Left left;
    uint8_t commands;  // that have told of it in this turn, up to 255
    // It had no deadline at some moment: what it had with an earlier one, such as INTO, is over.
    bool persisted;
  };

  // The key's item, a new one if need be. Valid until the next call. Throws std::bad_alloc.
  Item& Of(Keyspace& keyspace, const Key& key);
  // The key's item, or null. Valid until the next call of Of.
  Item* Find(const Keyspace& keyspace, const Key& key) noexcept;
  std::span<const Item> items() const noexcept { return items_; }
  std::span<Item> items() noexcept { return items_; }
  std::string_view NameOf(const Item& item) const noexcept {
    return std::string_view(names_).substr(item.name_at, item.name_size);
  }
  // Nothing of this keyspace is to be told any more.
  void Forget(const Keyspace& keyspace) noexcept;
  // Begins another round.
  void Clear() noexcept;
  bool empty() const noexcept { return items_.empty(); }

 private:
  struct Place {
    uint32_t round = 0;
    uint32_t item = 0;
  };
  // Where the key's item is; otherwise an empty place. REQUIRES: there are places.
  size_t PlaceOf(const Keyspace& keyspace, const Key& key) const noexcept;
  void Grow();

  std::vector<Item> items_;
  std::string names_;
  std::vector<Place> places_;  // a power of two, at least twice as many as items
  uint32_t round_ = 1;
};

}  // namespace mayfly
