// The tasks of one keyspace: keys that go into a stream at their deadline, each once (SET ... INTO).
//
//   wheel --due--> DeliverDue --taken--> the key goes, as any expired key
//                      |
//                      '--not now--> ready: in no wheel, in its owner's list of ready tasks
//                                      |
//   DRAIN: the first by DeliverDue,      |
//          the others ------------------>'--> DeliverReady, at once or a second later, and again
//
// Until its stream has it, a task is a live key, also after its deadline: lookups deliver nothing, so no command changes a
// stream in passing.
//
// The stream's new entry is "key", the key, "value", the value, "due", the deadline as Unix time in ms; without "value" if that
// is no string. Its id is the deadline, or the next possible id. Delivery comes before the removal of the key: if memory runs
// out, the task stays.
//
// A stream cannot take a task while its name belongs to a key of another type or to the task itself, its last id is the last
// possible one, key and value are too long for an entry, memory is short, a snapshot is loaded (TaskSettings::held): the stream may
// be still to come; or a master is followed. A replica's master delivers the task, and the replica gets the stream's entry from
// the master.
//
// A part of Keyspace, which owns the entries. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/memory/heap.h"
#include "base/time/clock.h"
#include "cache/entry/expiry.h"

namespace mayfly {

class Entry;
struct Key;
class Keyspace;
struct KeyspaceParts;
class Owners;
class Quota;
class TagHold;
class Tags;

class Tasks {
 public:
  // More than these ready tasks are not put in order, nor are more drained at once.
  static constexpr size_t kMostSorted = 10'000;

  explicit Tasks(Keyspace& keyspace) noexcept;
  Tasks(const Tasks&) = delete;
  Tasks& operator=(const Tasks&) = delete;

  // The number of tasks; the number of due tasks.
  size_t count() const noexcept;
  size_t ready_count() const noexcept;
  // Lets the `most` nearest of the stream's tasks go now, in the order of their deadlines; all tasks, if they are more than
  // kMostSorted, in any order. Delivers at most `budget` at once; Advance delivers the rest. Returns the number of tasks. Throws
  // std::bad_alloc.
  size_t Drain(std::string_view stream, size_t most, Now now, size_t budget);
  // True while DRAIN has let go of tasks that no stream has been asked to take yet.
  bool HasDrained() const noexcept;
  // Tries at once to deliver the tasks that wait for their streams.
  void Retry() noexcept;
  // Brings these tasks into the order of their deadlines, unless they are more than kMostSorted, or memory is short.
  void SortReady(Now now) noexcept;

  // ---- for the keyspace and the reaper
  //
  // Fits the tags that a key is to have to its deadline: without one a task's tag goes; with one a rule (ttl-rule ... into) may add
  // it, if the key was `asked` to have this deadline and does not just keep it. Throws std::bad_alloc.
  void Fit(std::string_view key, bool asked, Expiry expiry, TagHold& tags);
  // The deadline of a task has come, or DRAIN lets it go: delivers the task, or makes it ready. REQUIRES: it is not ready.
  void DeliverDue(const Key& key, Entry& entry, Now now);
  // The task's time has come: it is in no wheel, and among the ready ones.
  void MakeReady(Entry& entry, Now now) noexcept;
  // A ready task gets another deadline, or is no task any more: back to the others.
  void MakeUnready(Entry& entry, Now now) noexcept;
  // Delivers ready and drained tasks. Subtracts its work from `*budget`. Returns true if work is left.
  bool Advance(Now now, size_t* budget);
  // Milliseconds from `now` until Advance has work; UINT64_MAX if there will be none.
  uint64_t NextWakeMs(Now now) const noexcept;

 private:
  enum class Delivery : uint8_t {
    kTaken,    // the stream has the task
    kSoon,     // the stream can take it as soon as an absent key is freed; nothing has changed
    kRefused,  // the stream cannot take it now; nothing has changed
  };
  // A round through the ready tasks of all owners, which may take several slices.
  struct Round {
    size_t owner = 0;   // the first that is not done
    size_t failed = 0;  // of this owner's tasks
    // The first tags whose tasks have failed. A tag may be freed meanwhile: then its successor waits for the next round.
    std::array<HeapRef, 16> blocked = {};
    size_t blocked_tags = 0;
  };

  // The number of the stream's tasks; above kMostSorted without late and absent ones, and without those that DRAIN has let go.
  size_t CountDrainable(std::string_view stream, Now now) const noexcept;
  // Adds the task to its stream. REQUIRES: the entry is a task.
  Delivery Deliver(const Entry& entry, Now now);
  Delivery DeliverTo(const Key& stream, uint64_t most, const Entry& entry, Now now);
  // Subtracts the number of tasks that it has tried from `*budget`. Returns true if more wait for now.
  bool DeliverReady(Now now, size_t* budget);
  bool DeliverReadyOf(Quota& quota, Now now, size_t* budget);
  // Tries a ready task once more.
  void TryReady(Entry& entry, Now now);
  // As NextWakeMs, for ready tasks.
  uint64_t NextReadyMs(Now now) const noexcept;
  // Makes entries of drained tags ready. Subtracts their number from `*budget`. Returns true if more are left.
  bool MakeDrainedReady(Now now, size_t* budget);

  Keyspace& keyspace_;
  KeyspaceParts& parts_;
  Tags& tags_;
  Owners& owners_;
  uint64_t retry_ms_ = 0;  // ready tasks are tried from this monotonic time on
  bool draining_ = false;  // since the last DRAIN no round through the ready tasks has ended
  Round round_;
};

}  // namespace mayfly
