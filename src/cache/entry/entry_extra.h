// The rare parts of an entry: two times, terms (STALE, SLIDE) and tags. Few entries need them. One allocation of just
// the parts that are there, which its entry points to (EntryFlag::kExtra):
//
//   offset  bytes
//        0      8  header
//             72   EntryTimes     only with times
//             12 n a TagLink for each tag
//
// The entry owns it. Its parts never change: who needs others makes another extra, with another entry (Keyspace::
// Relocate). Units: ms.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "base/memory/heap.h"
#include "cache/entry/expiry.h"

namespace mayfly {

// What a value was given beside its deadline, in ms; 0: nothing.
struct EntryTerms {
  uint64_t stale_ms = 0;  // STALE: how long after the deadline the value is stale (cache/gone/stale_values.h)
  uint64_t slide_ms = 0;  // SLIDE: an access moves the deadline to so much after it
  uint64_t slide_until_ms = 0;  // SLIDE MAX: but not beyond this monotonic time

  bool any() const noexcept { return (stale_ms | slide_ms) != 0; }
};

struct EntryTimes {
  Expiry deadline;       // of the key
  Expiry own;            // the entry's own time, beside the deadline
  uint64_t wake_ms = 0;  // the earlier of both, on the clock of kWallDeadline
  // Deadlines' list of entries of which `deadline` and `own` are on two clocks.
  HeapRef next;
  HeapRef prev;
  EntryTerms terms;
};

// One tag of an entry, and its place in the list of those that have the tag (cache/keyspace/tags.h).
struct TagLink {
  HeapRef tag;  // null: the entry has room for a tag that was not put there yet, or was taken away
  HeapRef next;
  HeapRef prev;
};

class EntryExtra {
 public:
  // As many as one byte can count: more would be a mistake, and are looked through one by one.
  static constexpr size_t kMostTags = 255;

  struct Shape {
    bool times = false;
    uint8_t tags = 0;
    bool any() const noexcept { return times || tags != 0; }
    bool operator==(const Shape&) const noexcept = default;
    size_t Total() const noexcept {
      return sizeof(EntryExtra) + (times ? sizeof(EntryTimes) : 0) + tags * sizeof(TagLink);
    }
  };
  // Throws std::bad_alloc.
  static EntryExtra* New(Shape shape) {
    auto* const extra = new (::operator new(shape.Total())) EntryExtra(shape);
    if (shape.times) new (extra + 1) EntryTimes();
    for (unsigned i = 0; i < shape.tags; ++i) new (extra->links() + i) TagLink();
    return extra;
  }
  static void Delete(EntryExtra* extra) noexcept { ::operator delete(extra); }
  EntryExtra(const EntryExtra&) = delete;
  EntryExtra& operator=(const EntryExtra&) = delete;

  Shape shape() const noexcept { return {times_, tags_}; }
  bool has_times() const noexcept { return times_; }
  // REQUIRES: has_times().
  EntryTimes& times() noexcept {
    assert(times_);
    return *reinterpret_cast<EntryTimes*>(this + 1);
  }
  std::span<TagLink> tags() noexcept { return {links(), tags_}; }
  // REQUIRES: the entry has this tag.
  TagLink& LinkOf(HeapRef tag) noexcept {
    TagLink* link = links();
    while (!(link->tag == tag)) ++link;
    assert(link < links() + tags_);
    return *link;
  }

  uint32_t step = 0;     // Deadlines: which setting of the clock the wake was chosen by; 0: not in that list
  bool counted = false;  // Deadlines: is one of those with two times
  bool retired = false;  // the key is gone, and its value is stale

 private:
  explicit EntryExtra(Shape shape) noexcept : times_(shape.times), tags_(shape.tags) {}
  TagLink* links() noexcept {
    return reinterpret_cast<TagLink*>(reinterpret_cast<char*>(this + 1) + (times_ ? sizeof(EntryTimes) : 0));
  }

  bool times_;
  uint8_t tags_;
};

#ifndef MAYFLY_SANITIZE
static_assert(sizeof(EntryExtra) == 8 && sizeof(EntryTimes) == 72 && sizeof(TagLink) == 12);
#else
static_assert(sizeof(EntryExtra) % alignof(EntryTimes) == 0 && sizeof(EntryTimes) % alignof(TagLink) == 0);
#endif

}  // namespace mayfly
