// The keys with the largest values, for BIGKEYS. Bounded: the largest kKept of those that Keyspace has noted.
//
// Only values that lie outside their entries and take kStepBytes or more are noted, when they are stored and whenever
// their size passes a multiple of kStepBytes. So a SET of a small value costs nothing, and a change of a rich value one
// comparison (Passes). Keys are known by the id of their keyspace and their name, not by their entries, which may
// move; who reads the list looks them up, and sees their size of now. A key longer than kLongestKey is not noted.
//
// A key that was turned away because kKept larger ones were there is noted again when it next passes a step.
// Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

class BigKeys {
 public:
  static constexpr size_t kKept = 128;
  static constexpr uint64_t kStepBytes = 16 * 1024;  // a power of two
  static constexpr size_t kLongestKey = 1024;

  struct Noted {
    uint64_t hash;
    uint64_t bytes;  // of the value, as it was noted
    uint8_t keyspace;
    std::string key;
  };

  // Whether a multiple of kStepBytes lies between two sizes of a value, so that it is to be noted.
  static constexpr bool Passes(uint64_t before, uint64_t after) noexcept {
    return (before ^ after) >= kStepBytes;
  }
  // The value of this key has that size now. If there is no memory to note that, nothing happens.
  void Note(uint8_t keyspace, uint64_t hash, std::string_view key, uint64_t bytes) noexcept;
  // The key is gone, or has another value.
  void Forget(uint8_t keyspace, uint64_t hash) noexcept;
  // All keys of this keyspace are gone.
  void ForgetAll(uint8_t keyspace) noexcept;

  const std::vector<Noted>& noted() const noexcept { return noted_; }

 private:
  std::vector<Noted>::iterator Find(uint8_t keyspace, uint64_t hash) noexcept;

  std::vector<Noted> noted_;  // in no order
};

}  // namespace mayfly
