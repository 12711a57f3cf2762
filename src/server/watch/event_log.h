// The log of removed keys, for EXPLOG: name, time, reason, database and value. With it the wheel is a scheduler: a key
// is a task, its TTL the delay, its value what is to be done.
//
// It listens to the change point while the option expire-log-size is not 0, and costs nothing otherwise. Logged are
// keys that expire, at their deadline or when a lookup finds them before; that are evicted, invalidated by a tag, or
// deleted by a command (also by one that takes the last member of a value). Not logged: RENAME and MOVE, after which the key
// is elsewhere, a value that replaces another, and flushes, which look at no key.
//
// Order: that in which the keys went. Expired keys go in the order of their deadlines, however many are due and however
// long the loop was held up, if they are in one database and all have relative TTLs, or all Unix times (each kind has a
// wheel of its own, and each database has both). A key that a command finds expired while others are due as well is
// logged at once, before those.
//
// Numbers begin with the microseconds of Unix time when the log is turned on, and rise by one. So they are above all
// numbers of an earlier run, unless the wall clock was set back in between, and a reader sees a gap.
//
// Who waits for events is in the ParkingLot, and is woken by the first one. Loop thread only.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time/clock.h"
#include "cache/keyspace/change.h"
#include "server/waiting/parking.h"
#include "server/watch/event_ring.h"

namespace mayfly {

class EventLog final : public ChangeListener {
 public:
  // Borrows all of them.
  EventLog(ChangeHub& changes, ParkingLot& parking, Clock& clock);
  // Events are at the time that `now` is then: the executor's, so that a herd of keys reads no clock. Borrows it.
  // REQUIRES: called before the first change of a key.
  void TakeTimeFrom(const Now& now) noexcept { now_ = &now; }
  ~EventLog() override { changes_.Unlisten(*this); }

  // From now on the log takes at most `most_bytes`, 0 turns it off, and keeps values of up to `value_bytes`; 0: none.
  void Follow(uint64_t most_bytes, uint64_t value_bytes) noexcept;
  bool on() const noexcept { return ring_.limit() != 0; }
  const EventRing& ring() const noexcept { return ring_; }
  // Drops the records with numbers up to `last`, and returns how many these were.
  size_t LetGo(uint64_t last) noexcept { return ring_.LetGo(last); }

  bool MayFreeSome() const noexcept { return ring_.MayFreeSome(); }
  // Frees what is not needed any more, in pieces; `budget` as that of a step (server/sliced_work.h). Returns
  // MayFreeSome().
  bool FreeSome(size_t budget) noexcept { return ring_.FreeSome(budget / kEntriesPerSegment + 1); }

  void OnChange(const Change& change) override;

 private:
  // To free a segment takes about as long as to free this many entries.
  static constexpr size_t kEntriesPerSegment = 16;

  ChangeHub& changes_;
  ParkingLot& parking_;
  Clock& clock_;
  const Now* now_ = nullptr;
  EventRing ring_;
  uint64_t value_bytes_ = 0;
};

}  // namespace mayfly
