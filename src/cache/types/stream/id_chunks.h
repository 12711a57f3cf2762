// A sorted set of stream IDs, each with a payload: the pending entries of a consumer group, and of each of its consumers.
//
// IDs lie in chunks. The IDs of a chunk share the upper half of their sequences and are near in time, so an ID takes 8 bytes:
//
//   chunks_ -> | ms, sequence_high, count | ms - chunk's, sequence_low, payload | ... up to kItems |
//              | ...
//
// An ID that does not fit into the chunk of its place gets a chunk of its own. A full chunk is split in halves, but at its end:
// so IDs that come in order fill the chunks. A chunk that has become small is joined with a neighbour that has room and fits.
// IDs that come at the end and go at the front, as in a queue, are neither searched for nor moved.
//
// A payload may have a rank. Each chunk knows a lower bound of its ranks, so that the lowest ones are found without a look at all
// IDs: a look at a chunk makes its bound exact.
//
// Cost: Find, Insert and Erase are two binary searches, and move at most a chunk. Chunks that come or go in the middle move the
// pointers behind them; at the front nothing moves (head_).
//
// If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/memory/heap.h"
#include "cache/types/stream/stream_id.h"

namespace mayfly {

// int64_t Rank() const
template <typename Payload>
concept HasRank = requires(const Payload& payload) { payload.Rank(); };

// A lower bound of ranks, in a chunk.
struct RankBound {
  void Note(int64_t rank) const noexcept { least = std::min(least, rank); }

  mutable int64_t least = INT64_MAX;
};
struct NoRankBound {};

// Payload is trivially copyable; an empty class takes no room.
template <typename Payload>
class IdChunks {
 public:
  // A chunk with payloads of 0 bytes fills its memory, one with 16 nearly.
  static constexpr size_t kItems = 62;

  size_t size() const noexcept { return size_; }
  // The lowest and the highest ID. REQUIRES: size() != 0.
  StreamId First() const noexcept { return chunks_[head_]->At(0); }
  StreamId Last() const noexcept { return chunks_.back()->At(chunks_.back()->count - 1); }
  // The payload of the ID, until the next change; null if the ID is not there.
  const Payload* Find(StreamId id) const noexcept {
    const Place place = PlaceOf(id);
    return place.found ? &chunks_[place.chunk]->begin()[place.at].payload : nullptr;
  }
  // REQUIRES: the ID is not there. Throws std::bad_alloc.
  void Insert(StreamId id, Payload payload = {});
  // Gives the ID another payload. Returns false if the ID is not there.
  bool Update(StreamId id, const Payload& payload) noexcept;
  // Returns false if the ID is not there.
  bool Erase(StreamId id) noexcept;
  // The IDs with the lowest ranks, at most `count` (0: no limit), none with a rank above `most`: the lowest rank first, of equal
  // ones the lowest ID. Throws std::bad_alloc.
  std::vector<StreamId> LowestRanked(int64_t most, size_t count) const
    requires HasRank<Payload>;
  // The lowest rank. REQUIRES: size() != 0.
  int64_t LowestRank() const noexcept
    requires HasRank<Payload>;
  // Calls fn(StreamId, const Payload&) for the IDs from `low` on, in order, until fn returns false. REQUIRES: fn changes nothing.
  template <typename Fn>
  void ForFrom(StreamId low, Fn&& fn) const {
    if (size_ == 0) return;
    const Place place = PlaceOf(low);
    size_t at = place.at;
    for (size_t i = place.chunk; i < chunks_.size(); ++i, at = 0) {
      const Chunk& chunk = *chunks_[i];
      for (; at < chunk.count; ++at) {
        if (!fn(chunk.At(at), chunk.begin()[at].payload)) return;
      }
    }
  }
  // Erases each ID for which fn(StreamId, Payload) is true. Returns how many there were. Takes as long as a walk.
  template <typename Fn>
  size_t EraseIf(Fn&& fn) noexcept;
  // Erases at most about `budget` IDs, the highest ones. Returns true when none is left.
  bool FreeSome(size_t budget) noexcept;
  // Throws std::bad_alloc.
  IdChunks Clone() const;
  // Memory outside of this object, as rounded by the allocator.
  uint64_t Bytes() const noexcept {
    const uint64_t pointers =
        chunks_.capacity() == 0 ? 0 : MallocSizeClass(chunks_.capacity() * sizeof(void*));
    return pointers + (chunks_.size() - head_) * MallocSizeClass(sizeof(Chunk));
  }
  // For tests.
  bool Validate() const;

 private:
  struct Item {
    uint32_t ms_after;
    uint32_t sequence_low;
    [[no_unique_address]] Payload payload;
  };
  struct Chunk {
    explicit Chunk(StreamId base) noexcept
        : ms(base.ms), sequence_high(static_cast<uint32_t>(base.sequence >> kHalf)) {}

    StreamId IdOf(const Item& item) const noexcept {
      return {ms + item.ms_after, (uint64_t{sequence_high} << kHalf) | item.sequence_low};
    }
    Item* begin() noexcept { return items.data() + first; }
    const Item* begin() const noexcept { return items.data() + first; }
    StreamId At(size_t at) const noexcept { return IdOf(begin()[at]); }
    // True if an ID at the end would move the others.
    bool reaches_end() const noexcept { return size_t{first} + count == kItems; }
    bool Fits(StreamId id) const noexcept {
      return id.ms >= ms && id.ms - ms <= UINT32_MAX && id.sequence >> kHalf == sequence_high;
    }
    void Note(const Payload& payload) const noexcept {
      if constexpr (HasRank<Payload>) bound.Note(payload.Rank());
    }
    // Makes the bound exact. Returns it.
    int64_t LowestRank() const noexcept
      requires HasRank<Payload>
    {
      bound.least = INT64_MAX;
      for (size_t at = 0; at < count; ++at) Note(begin()[at].payload);
      return bound.least;
    }
    // REQUIRES: Fits.
    Item Encode(StreamId id, Payload payload) const noexcept {
      Note(payload);
      return {static_cast<uint32_t>(id.ms - ms), static_cast<uint32_t>(id.sequence), payload};
    }
    // The index of the first ID that is not below `id`.
    size_t LowerBound(StreamId id) const noexcept {
      if (At(count - 1U) < id) return count;
      if (!(At(0) < id)) return 0;
      size_t low = 1;
      for (size_t high = count - 1U; low < high;) {
        const size_t middle = (low + high) / 2;
        if (At(middle) < id)
          low = middle + 1;
        else
          high = middle;
      }
      return low;
    }
    // REQUIRES: Fits; count < kItems.
    void Insert(size_t at, StreamId id, Payload payload) noexcept {
      if (reaches_end()) MoveToFront();
      std::move_backward(begin() + at, begin() + count, begin() + count + 1);
      begin()[at] = Encode(id, payload);
      ++count;
    }
    void Erase(size_t at) noexcept {
      if (at == 0)
        ++first;
      else
        std::move(begin() + at + 1, begin() + count, begin() + at);
      --count;
    }
    // Takes over the items of `from`, from `at` on, as the last ones. REQUIRES: they fit and have room.
    void TakeFrom(Chunk& from, size_t at) noexcept {
      MoveToFront();
      for (size_t i = at; i < from.count; ++i) begin()[count++] = Encode(from.At(i), from.begin()[i].payload);
      from.count = static_cast<uint16_t>(at);
    }
    void MoveToFront() noexcept {
      std::move(begin(), begin() + count, items.data());
      first = 0;
    }

    uint64_t ms;
    uint32_t sequence_high;
    uint16_t first = 0;  // of items
    uint16_t count = 0;
    [[no_unique_address]] std::conditional_t<HasRank<Payload>, RankBound, NoRankBound> bound;
    std::array<Item, kItems> items;
  };
  static constexpr unsigned kHalf = 32;

  struct Place {
    size_t chunk;
    size_t at;  // of the ID, or of the first higher one in this chunk; may be its end
    bool found;
  };

  // The chunk that has the ID, or where it would come. REQUIRES: size() != 0.
  size_t ChunkOf(StreamId id) const noexcept;
  // Without IDs the chunk is chunks_.size().
  Place PlaceOf(StreamId id) const noexcept;
  // Makes room for the pointers of that many chunks more. Throws std::bad_alloc.
  void Reserve(size_t more);
  // REQUIRES: Reserve.
  void PutChunk(size_t index, std::unique_ptr<Chunk> chunk) noexcept {
    chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(index), std::move(chunk));
  }
  void RemoveChunk(size_t index) noexcept;
  // Frees the room for pointers. REQUIRES: size_ == 0.
  void Reset() noexcept;
  // Joins the chunk and the next one if the result has room for more. Returns false if they stay two.
  bool JoinWithNext(size_t index) noexcept;

  std::vector<std::unique_ptr<Chunk>> chunks_;  // from head_ on; null before
  size_t head_ = 0;
  size_t size_ = 0;
};

template <typename Payload>
typename IdChunks<Payload>::Place IdChunks<Payload>::PlaceOf(StreamId id) const noexcept {
  if (size_ == 0) return {chunks_.size(), 0, false};
  const size_t index = ChunkOf(id);
  const Chunk& chunk = *chunks_[index];
  const size_t at = chunk.LowerBound(id);
  return {index, at, at < chunk.count && chunk.At(at) == id};
}

template <typename Payload>
size_t IdChunks<Payload>::ChunkOf(StreamId id) const noexcept {
  const size_t last = chunks_.size() - 1;
  if (last == head_ || id >= chunks_[last]->At(0)) return last;
  if (id < chunks_[head_ + 1]->At(0)) return head_;
  const auto after =
      std::upper_bound(chunks_.begin() + static_cast<ptrdiff_t>(head_) + 1, chunks_.end(), id,
                       [](StreamId wanted, const auto& chunk) { return wanted < chunk->At(0); });
  return static_cast<size_t>(after - chunks_.begin()) - 1;
}

template <typename Payload>
void IdChunks<Payload>::Reserve(size_t more) {
  if (chunks_.size() + more <= chunks_.capacity()) return;
  if (head_ > chunks_.size() / 2) {
    chunks_.erase(chunks_.begin(), chunks_.begin() + static_cast<ptrdiff_t>(head_));
    head_ = 0;
  }
  if (chunks_.size() + more > chunks_.capacity()) chunks_.reserve(2 * (chunks_.size() + more));
}

template <typename Payload>
void IdChunks<Payload>::Insert(StreamId id, Payload payload) {
  Reserve(2);
  struct Place place = PlaceOf(id);
  assert(!place.found);
  if (size_ == 0) {
    PutChunk(chunks_.size(), std::make_unique<Chunk>(id));
    place = {chunks_.size() - 1, 0, false};
  }
  Chunk* chunk = chunks_[place.chunk].get();
  const bool at_end = place.at == chunk->count;
  const bool last = at_end && place.chunk + 1 == chunks_.size();
  if (!chunk->Fits(id) || chunk->count == kItems || (last && chunk->reaches_end())) {
    const bool alone = last || !chunk->Fits(id);
    auto fresh = std::make_unique<Chunk>(id);
    if (!alone || (!at_end && place.at != 0)) {
      // In halves, or into what precedes and follows an ID that fits in neither.
      const size_t cut = alone ? place.at : kItems / 2;
      auto upper = std::make_unique<Chunk>(chunk->At(cut));
      upper->TakeFrom(*chunk, cut);
      PutChunk(place.chunk + 1, std::move(upper));
      if (!alone && place.at > cut) place = {place.chunk + 1, place.at - cut, false};
    }
    if (alone) {
      place = {place.at == 0 ? place.chunk : place.chunk + 1, 0, false};
      PutChunk(place.chunk, std::move(fresh));
    }
    chunk = chunks_[place.chunk].get();
  }
  chunk->Insert(place.at, id, payload);
  ++size_;
}

template <typename Payload>
bool IdChunks<Payload>::Update(StreamId id, const Payload& payload) noexcept {
  const struct Place place = PlaceOf(id);
  if (!place.found) return false;
  Chunk& chunk = *chunks_[place.chunk];
  chunk.begin()[place.at].payload = payload;
  chunk.Note(payload);
  return true;
}

template <typename Payload>
std::vector<StreamId> IdChunks<Payload>::LowestRanked(int64_t most, size_t count) const
  requires HasRank<Payload>
{
  using Ranked = std::pair<int64_t, StreamId>;
  std::vector<std::pair<int64_t, const Chunk*>> chunks;  // a heap, the lowest bound first
  for (size_t i = head_; i < chunks_.size(); ++i) {
    if (chunks_[i]->bound.least <= most) chunks.emplace_back(chunks_[i]->bound.least, chunks_[i].get());
  }
  const auto later = [](const auto& a, const auto& b) { return a.first > b.first; };
  std::make_heap(chunks.begin(), chunks.end(), later);
  std::vector<Ranked> found;  // a heap, the highest rank first
  while (!chunks.empty()) {
    const auto [bound, chunk] = chunks.front();
    if (found.size() == count && count != 0 && bound > found.front().first) break;
    std::pop_heap(chunks.begin(), chunks.end(), later);
    chunks.pop_back();
    chunk->LowestRank();
    for (size_t at = 0; at < chunk->count; ++at) {
      const Ranked ranked{chunk->begin()[at].payload.Rank(), chunk->At(at)};
      if (ranked.first > most) continue;
      const bool full = found.size() == count && count != 0;
      if (full && ranked >= found.front()) continue;
      if (full) {
        std::pop_heap(found.begin(), found.end());
        found.pop_back();
      }
      found.push_back(ranked);
      std::push_heap(found.begin(), found.end());
    }
  }
  std::sort_heap(found.begin(), found.end());
  std::vector<StreamId> ids;
  ids.reserve(found.size());
  for (const Ranked& ranked : found) ids.push_back(ranked.second);
  return ids;
}

template <typename Payload>
int64_t IdChunks<Payload>::LowestRank() const noexcept
  requires HasRank<Payload>
{
  int64_t least = std::numeric_limits<int64_t>::max();
  for (size_t i = head_; i < chunks_.size(); ++i) {
    if (chunks_[i]->bound.least < least) least = std::min(least, chunks_[i]->LowestRank());
  }
  return least;
}

template <typename Payload>
bool IdChunks<Payload>::Erase(StreamId id) noexcept {
  const struct Place place = PlaceOf(id);
  if (!place.found) return false;
  Chunk& chunk = *chunks_[place.chunk];
  chunk.Erase(place.at);
  --size_;
  if (chunk.count == 0)
    RemoveChunk(place.chunk);
  else if (chunk.count <= kItems / 4 && !JoinWithNext(place.chunk) && place.chunk != head_)
    JoinWithNext(place.chunk - 1);
  return true;
}

template <typename Payload>
void IdChunks<Payload>::RemoveChunk(size_t index) noexcept {
  if (index != head_) {
    chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(index));
  } else {
    chunks_[head_++].reset();
  }
  if (size_ == 0) Reset();
}

template <typename Payload>
void IdChunks<Payload>::Reset() noexcept {
  std::vector<std::unique_ptr<Chunk>>().swap(chunks_);
  head_ = 0;
}

template <typename Payload>
bool IdChunks<Payload>::JoinWithNext(size_t index) noexcept {
  if (index + 1 == chunks_.size()) return false;
  Chunk& chunk = *chunks_[index];
  Chunk& next = *chunks_[index + 1];
  if (chunk.count + next.count > kItems / 2 || !chunk.Fits(next.At(0)) ||
      !chunk.Fits(next.At(next.count - 1)))
    return false;
  chunk.TakeFrom(next, 0);
  RemoveChunk(index + 1);
  return true;
}

template <typename Payload>
template <typename Fn>
size_t IdChunks<Payload>::EraseIf(Fn&& fn) noexcept {
  const size_t before = size_;
  size_t kept = head_;
  for (size_t i = head_; i < chunks_.size(); ++i) {
    Chunk& chunk = *chunks_[i];
    const auto end = std::remove_if(chunk.begin(), chunk.begin() + chunk.count,
                                    [&](const Item& item) { return fn(chunk.IdOf(item), item.payload); });
    const auto left = static_cast<uint16_t>(end - chunk.begin());
    size_ -= chunk.count - left;
    chunk.count = left;
    if (left != 0) chunks_[kept++].swap(chunks_[i]);
  }
  chunks_.resize(kept);
  if (size_ == 0) Reset();
  return before - size_;
}

template <typename Payload>
bool IdChunks<Payload>::FreeSome(size_t budget) noexcept {
  for (size_t freed = 0; size_ != 0 && freed < budget;) {
    freed += chunks_.back()->count;
    size_ -= chunks_.back()->count;
    RemoveChunk(chunks_.size() - 1);
  }
  return size_ == 0;
}

template <typename Payload>
IdChunks<Payload> IdChunks<Payload>::Clone() const {
  IdChunks copy;
  copy.chunks_.reserve(chunks_.size() - head_);
  for (size_t i = head_; i < chunks_.size(); ++i)
    copy.chunks_.push_back(std::make_unique<Chunk>(*chunks_[i]));
  copy.size_ = size_;
  return copy;
}

template <typename Payload>
bool IdChunks<Payload>::Validate() const {
  size_t seen = 0;
  StreamId last{};
  for (size_t i = 0; i < chunks_.size(); ++i) {
    if ((chunks_[i] != nullptr) != (i >= head_)) return false;
    if (i < head_) continue;
    const Chunk& chunk = *chunks_[i];
    if (chunk.count == 0 || size_t{chunk.first} + chunk.count > kItems) return false;
    for (size_t at = 0; at < chunk.count; ++at) {
      if (seen++ != 0 && chunk.At(at) <= last) return false;
      last = chunk.At(at);
      if constexpr (HasRank<Payload>) {
        if (chunk.begin()[at].payload.Rank() < chunk.bound.least) return false;
      }
    }
  }
  return seen == size_ && (size_ != 0 || chunks_.empty());
}

}  // namespace mayfly
