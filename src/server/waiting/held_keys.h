// Keys whose writers wait, while the last version of their values is on its way to another server (MIGRATE).
//
// One key may be held several times, and is free again after as many releases. Owns the names. Loop thread only.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace mayfly {

class HeldKeys {
 public:
  bool any() const noexcept { return !names_.empty(); }
  bool Holds(unsigned db, std::string_view key) const noexcept {
    const auto found = names_.lower_bound(Place(db, key));
    return found != names_.end() && found->first == db && found->second == key;
  }
  // Throws std::bad_alloc.
  void Hold(unsigned db, std::string_view key) { names_.emplace(db, std::string(key)); }
  // Ends one Hold. REQUIRES: Holds(db, key).
  void Release(unsigned db, std::string_view key) noexcept { names_.erase(names_.find(Place(db, key))); }

 private:
  using Name = std::pair<unsigned, std::string>;
  using Place = std::pair<unsigned, std::string_view>;
  struct Less {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard library's name
    template <typename One, typename Other>
    bool operator()(const One& one, const Other& other) const noexcept {
      return Place(one.first, one.second) < Place(other.first, other.second);
    }
  };
  std::multiset<Name, Less> names_;
};

}  // namespace mayfly
