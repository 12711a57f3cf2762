#include "cache/types/integer_set.h"

#include <new>

#include "base/memory/heap.h"

namespace mayfly {

size_t IntegerSet::RoomFor(size_t width, size_t count) noexcept {
  return MallocSizeClass(sizeof(Block) + width * count);
}

size_t IntegerSet::memory() const noexcept {
  return block_ == nullptr ? 0 : RoomFor(block_->width, block_->count);
}

IntegerSet IntegerSet::Clone() const {
  IntegerSet copy;
  if (block_ == nullptr) return copy;
  copy.block_ = static_cast<Block*>(::operator new(memory()));
  std::memcpy(copy.block_.get(), block_.get(), sizeof(Block) + size() * width());
  return copy;
}

size_t IntegerSet::LowerBound(int64_t integer) const noexcept {
  size_t low = 0;
  size_t high = size();
  // Integers are often added in rising order.
  if (high != 0 && At(high - 1) < integer) return high;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (At(middle) < integer) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool IntegerSet::Add(int64_t integer) {
  const size_t index = LowerBound(integer);
  if (index < size() && At(index) == integer) return false;
  if (block_ == nullptr || WidthOf(integer) > block_->width) {
    Widen(WidthOf(integer), index);
  } else {
    OpenGap(index);
  }
  Store(Place(index), block_->width, integer);
  return true;
}

void IntegerSet::Widen(size_t width, size_t index) {
  const size_t count = size();
  auto* const fresh = static_cast<Block*>(::operator new(RoomFor(width, count + 1)));
  char* place = reinterpret_cast<char*>(fresh + 1);
  for (size_t i = 0; i < count; ++i) Store(place + (i < index ? i : i + 1) * width, width, At(i));
  new (fresh) Block{static_cast<uint32_t>(width), static_cast<uint32_t>(count + 1)};
  ::operator delete(std::exchange(block_, fresh).get());
}

// The block is always as large as the size class of its bytes; when the size class changes, so does the block.
void IntegerSet::OpenGap(size_t index) {
  const size_t width = block_->width;
  const size_t count = block_->count;
  const size_t behind = (count - index) * width;
  const size_t room = RoomFor(width, count + 1);
  if (room == RoomFor(width, count)) {
    std::memmove(Place(index + 1), Place(index), behind);
  } else {
    auto* const fresh = static_cast<Block*>(::operator new(room));
    std::memcpy(fresh, block_.get(), sizeof(Block) + index * width);
    std::memcpy(reinterpret_cast<char*>(fresh + 1) + (index + 1) * width, Place(index), behind);
    ::operator delete(std::exchange(block_, fresh).get());
  }
  ++block_->count;
}

bool IntegerSet::Remove(int64_t integer) noexcept {
  const size_t index = LowerBound(integer);
  if (index >= size() || At(index) != integer) return false;
  RemoveAt(index);
  return true;
}

void IntegerSet::RemoveAt(size_t index) noexcept {
  assert(index < size());
  const size_t width = block_->width;
  const size_t count = --block_->count;
  std::memmove(Place(index), Place(index + 1), (count - index) * width);
  const size_t room = RoomFor(width, count);
  if (room == RoomFor(width, count + 1)) return;
  // Without memory for a smaller block the set keeps the present block, and counts it as the smaller block.
  void* const fresh = ::operator new(room, std::nothrow);
  if (fresh == nullptr) return;
  std::memcpy(fresh, block_.get(), sizeof(Block) + count * width);
  ::operator delete(std::exchange(block_, static_cast<Block*>(fresh)).get());
}

bool IntegerSet::Validate() const noexcept {
  if (block_ == nullptr) return true;
  for (size_t i = 0; i < size(); ++i) {
    if (WidthOf(At(i)) > width() || (i != 0 && At(i - 1) >= At(i))) return false;
  }
  return true;
}

}  // namespace mayfly
