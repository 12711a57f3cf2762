#include "replication/backlog.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mayfly {

void Backlog::AddBlock(size_t least) {
  SharedBytes bytes = SharedBytes::Allocate(std::max(least, kBlockBytes));
  const size_t size = bytes.size();
  blocks_.push_back({end_, std::move(bytes), 0});
  bytes_ += size;
}

size_t Backlog::Feed(int64_t place, size_t most, OutputChain& out) const {
  assert(Has(place) && most != 0);
  if (blocks_.empty()) return 0;
  const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), place,
                                      [](int64_t at, const Block& block) { return at < block.begin; });
  const Block& block = *std::prev(after);
  const auto at = static_cast<size_t>(place - block.begin);
  const size_t size = std::min(block.used - at, most);
  if (size != 0) out.AppendShared(block.bytes, at, size);
  return size;
}

void Backlog::Forget(int64_t place) noexcept {
  while (blocks_.size() > 1) {
    const Block& first = blocks_.front();
    const int64_t end = first.begin + static_cast<int64_t>(first.used);
    if (end > place) return;
    bytes_ -= first.bytes.size();
    begin_ = end;
    blocks_.pop_front();
  }
}

}  // namespace mayfly
