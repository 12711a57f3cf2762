// A key with a database, to find the clients that wait for the key or watch the key.
#pragma once

#include <cstddef>
#include <string_view>

#include "server/clients/text_hash.h"

namespace mayfly {

struct KeyPlace {
  unsigned db;
  std::string_view name;
  bool operator==(const KeyPlace&) const noexcept = default;
};

class KeyPlaceHash {
 public:
  // Borrows the hasher.
  explicit KeyPlaceHash(const Hasher& hasher) noexcept : name_(hasher) {}
  size_t operator()(const KeyPlace& place) const noexcept { return name_(place.name) ^ place.db; }

 private:
  TextHash name_;
};

}  // namespace mayfly
