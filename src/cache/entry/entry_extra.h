// The rare parts of an entry: two times, terms (STALE, SLIDE), tags, what makes it a task, and the mark of a spared stream.
// Few entries need them. An extra is one allocation of just the present parts; its entry points to the extra
// (EntryFlag::kExtra):
//
//   offset  bytes
//        0      8  header
//             72   EntryTimes     only with times
//             12 n a TagLink for each tag
//
// The entry owns the extra. The set of parts never changes: an entry that needs other parts gets another extra, in another
// entry (Keyspace::Relocate). The mark of a spared stream takes no room, and changes in place. Units: ms.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include "base/memory/heap.h"
#include "cache/entry/expiry.h"

namespace mayfly {

// The terms of a value beside its deadline, in ms; 0: none.
struct EntryTerms {
  uint64_t stale_ms = 0;  // STALE: how long after the deadline the value is stale (cache/gone/stale_values.h)
  uint64_t slide_ms = 0;  // SLIDE: an access moves the deadline to this long after the access
  uint64_t slide_until_ms = 0;  // SLIDE MAX: but not beyond this monotonic time

  bool any() const noexcept { return (stale_ms | slide_ms) != 0; }
};

struct EntryTimes {
  Expiry deadline;       // of the key
  Expiry own;            // the entry's own time, beside the deadline
  uint64_t wake_ms = 0;  // the earlier of both, on the clock of kWallDeadline
  // Links of Deadlines' list of entries with `deadline` and `own` on two clocks.
  HeapRef next;
  HeapRef prev;
  EntryTerms terms;
};

// One tag of an entry, and its place in the list of the tag's entries (cache/tags/tags.h).
struct TagLink {
  HeapRef tag;  // null: room for a tag that was not added yet, or was removed
  HeapRef next;
  HeapRef prev;
};

class EntryExtra {
 public:
  // The maximum of a one-byte count: more tags would be a mistake, and the code searches tags linearly.
  static constexpr size_t kMostTags = 255;

  struct Shape {
    bool times = false;
    uint8_t tags = 0;
    bool task = false;    // one of the tags is the task's (cache/tags/task_name.h); takes no room
    bool spared = false;  // EntryExtra::spared; takes no room
    bool any() const noexcept { return times || tags != 0 || spared; }
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

  Shape shape() const noexcept { return {times_, tags_, task_, spared}; }
  bool task() const noexcept { return task_; }
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

  uint32_t step =
      0;  // Deadlines: the clock's setting when the wake was chosen; 0: not in the list of two clocks
  bool counted : 1 = false;  // Deadlines: counted among the entries with two times
  bool retired : 1 = false;  // the key is gone, and its value is stale
  bool ready : 1 =
      false;        // a task whose time has come: the key is live, in no wheel, and waits for its stream
  bool spared : 1;  // a stream that no policy evicts (cache/keyspace/spared_streams.h)

 private:
  explicit EntryExtra(Shape shape) noexcept
      : spared(shape.spared), times_(shape.times), task_(shape.task), tags_(shape.tags) {}
  TagLink* links() noexcept {
    return reinterpret_cast<TagLink*>(reinterpret_cast<char*>(this + 1) + (times_ ? sizeof(EntryTimes) : 0));
  }

  bool times_ : 1;
  bool task_ : 1;
  uint8_t tags_;
};

#ifndef MAYFLY_SANITIZE
static_assert(sizeof(EntryExtra) == 8 && sizeof(EntryTimes) == 72 && sizeof(TagLink) == 12);
#else
static_assert(sizeof(EntryExtra) % alignof(EntryTimes) == 0 && sizeof(EntryTimes) % alignof(TagLink) == 0);
#endif

}  // namespace mayfly
