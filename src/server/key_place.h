// A key and its database: how clients that wait for keys, or watch them, are found.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace mayfly {

struct KeyPlace {
  unsigned db;
  std::string_view name;
  bool operator==(const KeyPlace&) const noexcept = default;
};

struct KeyPlaceHash {
  size_t operator()(const KeyPlace& place) const noexcept {
    return std::hash<std::string_view>()(place.name) ^ place.db;
  }
};

}  // namespace mayfly
