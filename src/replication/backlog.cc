#include "replication/backlog.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mayfly {

void Backlog::AddBlock(size_t least) {
  if (spare_ && least <= kBlockBytes) {
    blocks_.push_back({end_, spare_, 0});
    spare_ = {};
    return;
  }
  SharedBytes bytes = SharedBytes::Allocate(std::max(least, kBlockBytes));
  const size_t size = bytes.size();
  blocks_.push_back({end_, std::move(bytes), 0});
  bytes_ += size;
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
  const size_t size = std::min(block.used - at, most);
  if (size != 0) out.AppendShared(block.bytes, at, size);
  return size;
}

void Backlog::Forget(int64_t place) noexcept {
  while (blocks_.size() > 1) {
    Block& first = blocks_.front();
    const int64_t end = first.begin + static_cast<int64_t>(first.used);
    if (end > place) return;
    if (!spare_ && first.bytes.size() == kBlockBytes && first.bytes.Unique())
      spare_ = std::move(first.bytes);
    else
      bytes_ -= first.bytes.size();
    begin_ = end;
    blocks_.pop_front();
  }
}

}  // namespace mayfly
