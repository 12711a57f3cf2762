#include "snapshot/use_order.h"

#include <algorithm>
#include <utility>

#include "cache/keyspace/adopter.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly {

void WriteIdleField(std::string_view name, int64_t steps, std::string& bytes) {
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kAux);
  out.String(name);
  out.IntegerString(steps);
}

void EarlyKeys::Add(uint64_t index, std::string_view key, uint64_t idle_steps, uint32_t stamp) {
  Early early{.idle_steps = idle_steps, .index = index, .stamp = stamp, .key = std::string(key)};
  const uint64_t bytes = BytesOf(early);
  if (bytes_ + bytes > kMostBytes) return;
  keys_.push_back(std::move(early));
  std::push_heap(keys_.begin(), keys_.end(), IsColder);
  bytes_ += bytes;
}

bool EarlyKeys::MoveThoseBefore(uint64_t idle_steps, const LoadClaims& claims, Now now, size_t& budget) {
  for (; AnyBefore(idle_steps); --budget) {
    if (budget == 0) return false;
    std::pop_heap(keys_.begin(), keys_.end(), IsColder);
    const Early early = std::move(keys_.back());
    keys_.pop_back();
    bytes_ -= BytesOf(early);
    Keyspace* const home = claims.HomeOf(early.index);
    if (home == nullptr) continue;
    Entry* const entry = home->Peek(home->KeyOf(early.key), now);
    if (entry != nullptr && entry->stamp() == early.stamp) Adopter(*home).MoveToColdest(*entry);
  }
  return true;
}

}  // namespace mayfly
