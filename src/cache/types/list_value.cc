#include "cache/types/list_value.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <utility>

#include "base/memory/heap.h"
#include "cache/types/list_large.h"
#include "cache/types/value_listeners.h"

namespace mayfly {
namespace {

// Deleting this many nodes takes no longer than one step.
constexpr size_t kFewListNodes = 64;

PackItem ItemOf(std::string_view text) {
  if (text.size() >= ElementPack::kTooLong) throw std::bad_alloc();
  return PackItem::Of(text);
}

}  // namespace

// ---- the value

ListValue::~ListValue() {
  if (is_large_) {
    delete large_.get();
  } else {
    pack_.~ElementPack();
  }
}

std::string_view ListValue::EncodingName() const noexcept { return is_large_ ? "quicklist" : "listpack"; }

size_t ListValue::Size() const noexcept { return is_large_ ? large_->size : pack_.size(); }

uint64_t ListValue::Bytes() const noexcept {
  return MallocSizeClass(sizeof *this) +
         (is_large_ ? MallocSizeClass(sizeof *large_) + large_->bytes() : pack_.memory());
}

std::unique_ptr<RichValue> ListValue::Clone() const {
  auto copy = std::make_unique<ListValue>();
  if (!is_large_) {
    copy->pack_ = pack_.Clone();
    return copy;
  }
  auto large = std::make_unique<Large>();
  for (size_t i = 0; i < large_->nodes.size(); ++i) large->AppendNode(large_->nodes[i].pack.Clone());
  copy->BecomeLarge(std::move(large));
  return copy;
}

bool ListValue::FreeSome(size_t budget) noexcept {
  if (!is_large_) return true;
  for (; budget != 0 && large_->nodes.size() > kFewListNodes; --budget)
    large_->Drop(ListEnd::kTail, large_->nodes.back().count);
  return large_->nodes.size() <= kFewListNodes;
}

RichValue** ListValue::BurialLink() noexcept {
  return is_large_ && large_->nodes.size() > kFewListNodes ? &large_->buried_before : nullptr;
}

ValueListener* ListValue::listener() const noexcept { return is_large_ ? large_->listener : nullptr; }

void ListValue::SetListener(ListListener* listener) noexcept {
  assert(is_large_);
  large_->listener = listener;
}

void ListValue::BeforeChange() noexcept {
  if (is_large_ && large_->listener != nullptr) large_->listener->BeforeChange();
}

void ListValue::ForEachMember(MemberVisitor& visitor) const {
  char room[PackItem::kRoom];
  for (size_t i = 0; i < NodeCount(); ++i) {
    const ElementPack& pack = PackAt(i);
    for (ElementPack::At at = pack.begin(); at != pack.end(); at = pack.Next(at)) {
      const std::string_view text = pack.ReadText(at, room);
      visitor.Visit({&text, 1});
    }
  }
}

// ---- places

size_t ListValue::NodeCount() const noexcept { return is_large_ ? large_->nodes.size() : 1; }

const ElementPack& ListValue::PackAt(size_t node) const noexcept {
  return is_large_ ? large_->nodes[node].pack : pack_;
}

ListValue::Place ListValue::PlaceOf(uint64_t index) const noexcept {
  return is_large_ ? large_->PlaceOf(index) : Place{0, index};
}

PackItem ListValue::At(uint64_t index) const noexcept {
  assert(index < Size());
  const Place place = PlaceOf(index);
  const ElementPack& pack = PackAt(place.node);
  return pack.Read(pack.Seek(place.offset));
}

ListWalk::ListWalk(const ListValue& list, uint64_t index, ListEnd from) noexcept : list_(list), from_(from) {
  assert(index < list.Size());
  const ListValue::Place place = list.PlaceOf(index);
  node_ = place.node;
  pack_ = &list.PackAt(node_);
  at_ = pack_->Seek(place.offset);
}

// ---- small and large

void ListValue::MakeRoomFor(size_t bytes, size_t items, const ListLimit& limit) {
  if (is_large_ || !limit.ExceededBy(pack_.bytes() + bytes, pack_.size() + items)) return;
  auto large = std::make_unique<Large>();
  if (!pack_.empty()) large->AppendNode(std::move(pack_));
  BecomeLarge(std::move(large));
}

void ListValue::BecomeLarge(std::unique_ptr<Large> large) noexcept {
  assert(!is_large_);
  pack_.~ElementPack();
  std::construct_at(&large_, large.release());
  is_large_ = true;
}

void ListValue::Shrink(const ListLimit& limit) noexcept {
  if (!is_large_ || large_->nodes.size() > 1) return;
  ElementPack rest;
  if (!large_->nodes.empty()) {
    ListNode& node = large_->nodes.front();
    if (limit.ExceedsHalf(node.pack.bytes(), node.count)) return;
    BeforeChange();
    rest = std::move(node.pack);
  } else {
    BeforeChange();
  }
  delete large_.get();
  std::construct_at(&pack_, std::move(rest));
  is_large_ = false;
}

// ---- changes

// A small list takes several texts at a time, and its pack is written anew once for many texts. The length of the texts
// decides whether the list stays small, as in Redis, although integers take less in a pack. An empty text counts as one
// byte; otherwise one pack would take any number of empty texts.
void ListValue::Push(ListEnd end, std::span<const std::string_view> texts, const ListLimit& limit) {
  const bool head = end == ListEnd::kHead;
  size_t bytes = 0;
  for (const std::string_view text : texts) {
    if (text.size() >= ElementPack::kTooLong) throw std::bad_alloc();
    bytes += std::max<size_t>(text.size(), 1);
  }
  MakeRoomFor(bytes, texts.size(), limit);
  uint64_t pushed = 0;
  try {
    if (is_large_) {
      for (; pushed < texts.size(); ++pushed) large_->Push(end, PackItem::Of(texts[pushed]), limit);
      if (head && large_->listener != nullptr) large_->listener->AfterPushHead(pushed);
      return;
    }
    std::array<PackItem, 32> items;
    while (pushed < texts.size()) {
      const size_t count = std::min(items.size(), texts.size() - pushed);
      for (size_t i = 0; i < count; ++i) items[head ? count - 1 - i : i] = PackItem::Of(texts[pushed + i]);
      pack_.Insert(head ? pack_.begin() : pack_.end(), {items.data(), count});
      pushed += count;
    }
  } catch (...) {
    DropUnseen(end, pushed, limit);
    throw;
  }
}

void ListValue::Set(uint64_t index, std::string_view text, const ListLimit& limit) {
  assert(index < Size());
  const PackItem item = ItemOf(text);
  BeforeChange();
  MakeRoomFor(text.size(), 1, limit);
  if (!is_large_) return pack_.Replace(pack_.Seek(index), item);
  const Place place = large_->PlaceOf(index);
  if (!large_->Replace(place, item, limit)) {
    large_->Insert(place, item, limit);
    large_->Erase(large_->PlaceOf(index + 1));
  }
  large_->MergeAround(large_->PlaceOf(index).node, limit);
  Shrink(limit);
}

void ListValue::Insert(uint64_t index, std::string_view text, const ListLimit& limit) {
  assert(index <= Size());
  const PackItem item = ItemOf(text);
  BeforeChange();
  MakeRoomFor(text.size(), 1, limit);
  if (!is_large_) return pack_.Insert(pack_.Seek(index), {&item, 1});
  large_->Insert(large_->PlaceOf(index), item, limit);
  large_->MergeAround(large_->PlaceOf(index).node, limit);
}

void ListValue::Drop(ListEnd end, uint64_t count, const ListLimit& limit) noexcept {
  assert(count <= Size());
  if (is_large_ && large_->listener != nullptr)
    end == ListEnd::kHead ? large_->listener->BeforeDropHead(count) : large_->listener->BeforeDropTail(count);
  DropUnseen(end, count, limit);
}

void ListValue::DropUnseen(ListEnd end, uint64_t count, const ListLimit& limit) noexcept {
  if (is_large_) {
    large_->Drop(end, count);
    return Shrink(limit);
  }
  pack_.Erase(end == ListEnd::kHead ? pack_.begin() : pack_.Seek(pack_.size() - count), count);
}

void ListValue::Keep(uint64_t first, uint64_t count, const ListLimit& limit) noexcept {
  assert(first + count <= Size());
  Drop(ListEnd::kTail, Size() - first - count, limit);
  Drop(ListEnd::kHead, first, limit);
  if (!is_large_) return;
  large_->MergeAround(large_->nodes.size() - 1, limit);
  large_->MergeAround(0, limit);
  Shrink(limit);
}

uint64_t ListValue::Remove(const PackItem& item, uint64_t most, ListEnd from,
                           const ListLimit& limit) noexcept {
  if (!is_large_) return RemoveItems(pack_, item, most, from);
  BeforeChange();
  const uint64_t removed = large_->Remove(item, most, from);
  if (removed == 0) return 0;
  large_->Compact(limit);
  Shrink(limit);
  return removed;
}

bool ListValue::Validate() const noexcept {
  uint64_t items = 0;
  uint64_t bytes = 0;
  for (size_t i = 0; i < NodeCount(); ++i) {
    const ElementPack& pack = PackAt(i);
    if (!pack.Validate() || (is_large_ && large_->nodes[i].count != pack.size())) return false;
    if (is_large_ && pack.empty()) return false;
    items += pack.size();
    bytes += pack.memory();
  }
  return items == Size() && (!is_large_ || bytes == large_->pack_bytes);
}

}  // namespace mayfly
