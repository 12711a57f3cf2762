// When keys were used last, in a snapshot file: AUX fields before a key, which Redis and Valkey skip. Redis's own record
// (opcode::kIdle) has seconds, for each key.
//
//   AUX "i" <difference>   this key and the following keys were idle for this many steps more than the keys before; in decimal
//                          digits. The file has the most recently used keys first, and many keys share a step: most keys need
//                          no field
//   AUX "e" <idle steps>   this key comes early, before keys used later: the key was about to change or to be used while the
//                          file was written. The following keys are idle as before
//
// EarlyKeys puts early keys in their place while a file is loaded: each key moves to the cold end of its list once all keys
// used later are loaded. A key used meanwhile stays.
//
// Units: steps of Entry::kStampMs. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "snapshot/load_claims.h"

namespace mayfly {

// The fields' names.
inline constexpr std::string_view kIdleField = "i";
inline constexpr std::string_view kEarlyField = "e";

// Appends a field. Throws std::bad_alloc.
void WriteIdleField(std::string_view name, int64_t steps, std::string& bytes);

class EarlyKeys {
 public:
  // The most bytes of remembered names. Early keys beyond the limit stay where they came.
  static constexpr size_t kMostBytes = size_t{64} << 20;

  // An early key of the file's database `index` was adopted, with this stamp. Throws std::bad_alloc.
  void Add(uint64_t index, std::string_view key, uint64_t idle_steps, uint32_t stamp);
  // True if an early key was used later than `idle_steps` ago: the key's place has come.
  bool AnyBefore(uint64_t idle_steps) const noexcept {
    return !keys_.empty() && keys_.front().idle_steps < idle_steps;
  }
  // Moves these keys, and subtracts the number of keys from `budget`. Returns false if some are left.
  bool MoveThoseBefore(uint64_t idle_steps, const LoadClaims& claims, Now now, size_t& budget);
  uint64_t bytes() const noexcept { return bytes_; }

 private:
  struct Early {
    uint64_t idle_steps;
    uint64_t index;
    uint32_t stamp;
    std::string key;
  };
  static bool IsColder(const Early& a, const Early& b) noexcept { return a.idle_steps > b.idle_steps; }
  static uint64_t BytesOf(const Early& early) noexcept { return sizeof(Early) + early.key.capacity(); }

  std::vector<Early> keys_;  // a heap, the most recently used on top
  uint64_t bytes_ = 0;
};

}  // namespace mayfly
