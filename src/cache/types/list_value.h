// The value of a list: texts, in a small or a large form. A small list is one pack. A large list is a sequence of packs
// (list_nodes.h): its ends are reached at once, and any element by counting nodes from the nearer end.
//
//   small ("listpack")    | pack |
//   large ("quicklist")   | node | node | node | ...     each within the limit, or one element alone
//
// A list becomes large when its pack would exceed the limit of one node. A list becomes small again when all its elements
// are in one node of at most half the limit, as in Redis 7.2. When elements between the ends change, two neighbours of
// together at most half a node are merged. No node is empty.
//
// If memory runs out, a method throws std::bad_alloc, and no element has changed; the list may be large then. A noexcept
// method merges less. A text of ElementPack::kTooLong bytes or more counts as running out of memory. Texts as arguments of a
// method do not lie in the list. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cache/entry/rich_value.h"
#include "cache/types/limits.h"
#include "cache/types/list_nodes.h"
#include "cache/types/pack.h"

namespace mayfly {

class ListListener;

enum class ListEnd : uint8_t { kHead, kTail };

class ListValue final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kList;

  ListValue() noexcept : RichValue(kType), pack_() {}
  ~ListValue() override;

  std::string_view EncodingName() const noexcept override;
  size_t Size() const noexcept override;
  uint64_t Bytes() const noexcept override;
  std::unique_ptr<RichValue> Clone() const override;
  // Frees whole nodes; each costs as much as a member of another value.
  bool FreeSome(size_t budget) noexcept override;
  RichValue** BurialLink() noexcept override;
  ValueListener* listener() const noexcept override;
  void ForEachMember(MemberVisitor& visitor) const override;

  // Prefetches for a reader of a small list a little later.
  void Prefetch() const noexcept {
    if (!is_large_) pack_.Prefetch();
  }

  // True if SetListener may be called: a listener would hear of changes.
  bool is_large() const noexcept { return is_large_; }
  // The list calls the listener before changes from now on; not for elements that Push adds to the tail, which come after all
  // others. A listener of null ends the calls. REQUIRES: is_large().
  void SetListener(ListListener* listener) noexcept;

  // Adds the texts one after another: afterwards the last text is at the end.
  void Push(ListEnd end, std::span<const std::string_view> texts, const ListLimit& limit);
  // The element at `index`, counted from the head; a text is valid until the next change.
  // REQUIRES: index < Size().
  PackItem At(uint64_t index) const noexcept;
  PackItem At(ListEnd end) const noexcept { return At(end == ListEnd::kHead ? 0 : Size() - 1); }
  // REQUIRES: index < Size().
  void Set(uint64_t index, std::string_view text, const ListLimit& limit);
  // Inserts the text in front of element `index`. REQUIRES: index <= Size().
  void Insert(uint64_t index, std::string_view text, const ListLimit& limit);
  // Removes `count` elements from an end. REQUIRES: count <= Size().
  void Drop(ListEnd end, uint64_t count, const ListLimit& limit) noexcept;
  // Removes all but `count` elements from `first` on. REQUIRES: first + count <= Size().
  void Keep(uint64_t first, uint64_t count, const ListLimit& limit) noexcept;
  // Removes at most `most` elements equal to `item`, the nearest to `from` first. Returns the number of removed elements.
  uint64_t Remove(const PackItem& item, uint64_t most, ListEnd from, const ListLimit& limit) noexcept;

  // Reads every element; for tests.
  bool Validate() const noexcept;

 private:
  friend class ListWalk;

  struct Large;
  struct Place {
    size_t node = 0;
    size_t offset = 0;  // in the node
  };

  // The packs; a small list counts as one node.
  size_t NodeCount() const noexcept;
  const ElementPack& PackAt(size_t node) const noexcept;
  // The place of element `index`; in a large list with `index` = Size(), the place behind the last element.
  Place PlaceOf(uint64_t index) const noexcept;
  // Makes the list large if `items` more items of `bytes` bytes would make the list large.
  void MakeRoomFor(size_t bytes, size_t items, const ListLimit& limit);
  void BecomeLarge(std::unique_ptr<Large> large) noexcept;
  // Drop without a call of the listener.
  void DropUnseen(ListEnd end, uint64_t count, const ListLimit& limit) noexcept;
  // Must precede a change between the ends.
  void BeforeChange() noexcept;
  // Makes the list small if the limit allows a small list now.
  void Shrink(const ListLimit& limit) noexcept;

  // All data members lie behind `type`, in bytes that would be padding.
  bool is_large_ = false;
  // NOLINTBEGIN(readability-identifier-naming): the members of this union are private, too
  union {
    ElementPack pack_;
    Pointer48<Large> large_;  // owned
  };
  // NOLINTEND(readability-identifier-naming)
};

static_assert(sizeof(ListValue) == 2 * sizeof(void*));

// Walks from one element to the next. Invalid after any change of the list.
class ListWalk {
 public:
  // Begins at element `index`, and walks away from `from`. REQUIRES: index < list.Size().
  ListWalk(const ListValue& list, uint64_t index, ListEnd from) noexcept;

  PackItem Item() const noexcept { return pack_->Read(at_); }
  // As Item().Text(room).
  std::string_view Text(char* room) const noexcept { return pack_->ReadText(at_, room); }
  bool Is(const PackItem& item) const noexcept { return pack_->Is(at_, item); }
  // REQUIRES: there is a next element.
  void Next() noexcept {
    if (from_ == ListEnd::kHead) {
      at_ = pack_->Next(at_);
      if (at_ != pack_->end()) [[likely]]
        return;
      if (++node_ == list_.NodeCount()) return;
      pack_ = &list_.PackAt(node_);
      at_ = pack_->begin();
    } else {
      if (at_ == pack_->begin()) {
        if (node_ == 0) return;
        pack_ = &list_.PackAt(--node_);
        at_ = pack_->end();
      }
      at_ = pack_->Prev(at_);
    }
  }

 private:
  const ListValue& list_;
  const ListEnd from_;
  size_t node_;
  const ElementPack* pack_;
  ElementPack::At at_;
};

}  // namespace mayfly
