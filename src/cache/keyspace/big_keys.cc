#include "cache/keyspace/big_keys.h"

#include <algorithm>
#include <new>
#include <utility>

namespace mayfly {

std::vector<BigKeys::Noted>::iterator BigKeys::Find(uint8_t keyspace, uint64_t hash) noexcept {
  return std::find_if(noted_.begin(), noted_.end(),
                      [&](const Noted& noted) { return noted.hash == hash && noted.keyspace == keyspace; });
}

void BigKeys::Note(uint8_t keyspace, uint64_t hash, std::string_view key, uint64_t bytes) noexcept {
  if (bytes < kStepBytes) return Forget(keyspace, hash);
  if (const auto found = Find(keyspace, hash); found != noted_.end()) {
    found->bytes = bytes;
    return;
  }
  if (key.size() > kLongestKey) return;
  try {
    if (noted_.size() < kKept) {
      noted_.push_back({hash, bytes, keyspace, std::string(key)});
      return;
    }
    const auto least = std::min_element(noted_.begin(), noted_.end(),
                                        [](const Noted& a, const Noted& b) { return a.bytes < b.bytes; });
    if (bytes > least->bytes) *least = {hash, bytes, keyspace, std::string(key)};
  } catch (const std::bad_alloc&) {
  }
}

void BigKeys::Forget(uint8_t keyspace, uint64_t hash) noexcept {
  const auto found = Find(keyspace, hash);
  if (found == noted_.end()) return;
  std::swap(*found, noted_.back());
  noted_.pop_back();
}

void BigKeys::ForgetAll(uint8_t keyspace) noexcept {
  std::erase_if(noted_, [keyspace](const Noted& noted) { return noted.keyspace == keyspace; });
}

}  // namespace mayfly
