#include "replication/backlog.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace mayfly {

std::span<char> Backlog::Room(size_t size, std::string_view moved) {
  if (blocks_.empty() || RoomLeft() < size) AddBlock(size, moved);
  const Block& last = blocks_.back();
  return {last.bytes.data() + last.used, RoomLeft()};
}

std::span<char> Backlog::NextRoom(size_t used, size_t size) {
  const size_t before = blocks_.back().used;
  Take(used);
  drafted_ += used;
  try {
    AddBlock(size, {});
  } catch (...) {
    blocks_.back().used = before;
    drafted_ -= used;
    throw;
  }
  return {blocks_.back().bytes.data(), blocks_.back().bytes.size()};
}

void Backlog::Append(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<char> room = Room(1);
    const size_t size = std::min(room.size(), bytes.size());
    CopyBytes(room.data(), bytes.data(), size);
    Commit(size);
    bytes.remove_prefix(size);
  }
}

void Backlog::AddBlock(size_t least, std::string_view moved) {
  const bool reuses = spare_ && least <= spare_.size();
  SharedBytes bytes = reuses ? spare_ : SharedBytes::Allocate(std::max(least, kBlockBytes));
  if (!moved.empty()) std::memcpy(bytes.data(), moved.data(), moved.size());
  const size_t size = bytes.size();
  blocks_.push_back({end_ + static_cast<int64_t>(drafted_), std::move(bytes), 0});
  if (reuses)
    spare_ = {};
  else
    bytes_ += size;
  if (blocks_.size() > 1) CloseBlock();
}

void Backlog::CloseBlock() noexcept {
  const auto closed = std::prev(blocks_.end(), 2);
  const size_t size = closed->bytes.size();
  if (closed->used == 0) {
    Release(std::move(closed->bytes));
    blocks_.erase(closed);
  } else if (size - closed->used > size / kMostWaste && closed->bytes.Unique()) {
    closed->bytes.Shrink(closed->used);
    bytes_ -= size - closed->bytes.size();
  }
}

void Backlog::Release(SharedBytes&& bytes) noexcept {
  const SharedBytes freed = std::move(bytes);
  if (!spare_ && freed.size() == kBlockBytes && freed.Unique())
    spare_ = freed;
  else
    bytes_ -= freed.size();
}

char* Backlog::DraftBegin() noexcept {
  auto block = std::prev(blocks_.end());
  while (block->begin > end_) --block;
  return block->bytes.data() + (end_ - block->begin);
}

size_t Backlog::Feed(int64_t place, size_t most, OutputChain& out) const {
  assert(Has(place) && most != 0);
  if (blocks_.empty()) return 0;
  const Block* found = &blocks_.back();
  if (place < found->begin) {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), place,
                                        [](int64_t at, const Block& other) { return at < other.begin; });
    found = &*std::prev(after);
  }
  const Block& block = *found;
  const auto at = static_cast<size_t>(place - block.begin);
  const size_t size = std::min({block.used - at, most, static_cast<size_t>(end_ - place)});
  if (size != 0) out.AppendShared(block.bytes, at, size);
  return size;
}

void Backlog::Forget(int64_t place) noexcept {
  while (blocks_.size() > 1) {
    Block& first = blocks_.front();
    const int64_t end = first.begin + static_cast<int64_t>(first.used);
    if (end > place) return;
    begin_ = end;
    Release(std::move(first.bytes));
    blocks_.pop_front();
  }
}

// A block with bytes before the end, or the only block, stays.
void Backlog::Discard() noexcept {
  if (drafted_ == 0) return;
  drafted_ = 0;
  while (blocks_.size() > 1 && blocks_.back().begin >= end_) {
    Release(std::move(blocks_.back().bytes));
    blocks_.pop_back();
  }
  blocks_.back().used = static_cast<size_t>(end_ - blocks_.back().begin);
}

}  // namespace mayfly
