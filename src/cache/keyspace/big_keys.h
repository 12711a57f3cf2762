// The keys with the largest values, for BIGKEYS. Bounded: the largest kKept of the keys noted by Keyspace.
//
// Keyspace notes only values outside their entries that take kStepBytes or more: when a value is stored, and whenever its
// size passes a multiple of kStepBytes. So a SET of a small value costs nothing, and a change of a rich value costs one
// comparison (Passes). A note has the id of the keyspace and the name of the key, not the entry, because entries may move. A
// reader of the list looks the keys up, and sees their present size. A key longer than kLongestKey is not noted.
//
// If kKept larger keys are noted, a key is refused, and noted again when its size next passes a step. Loop thread only.
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
    uint64_t bytes;  // of the value, when noted
    uint8_t keyspace;
    std::string key;
  };

  // Returns true if a multiple of kStepBytes lies between two sizes of a value: then the caller must note the value.
  static constexpr bool Passes(uint64_t before, uint64_t after) noexcept {
    return (before ^ after) >= kStepBytes;
  }
  // Notes the present size of the key's value. No effect if out of memory.
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
