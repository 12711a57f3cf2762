// The log of removed keys, for EXPLOG: name, time, reason, database and value. It is for observers: each reader gets every record,
// and a full log forgets. Work for one worker goes into a stream instead (cache/keyspace/tasks.h).
//
// EventLog listens to the change point while the option expire-log-size is not 0, and costs nothing otherwise. Logged are
// keys that expire, at the deadline or earlier by a lookup that finds the key expired; keys that are evicted, invalidated by
// a tag, or deleted by a command (also by removal of a value's last member). Not logged: RENAME and MOVE, because the key
// lives on elsewhere; a value replaced by another; flushes, because a flush visits no key; and keys that give way to a
// master's file, because nobody knows why the file lacks a key.
//
// A replica's keys go by its master's commands. A key that is deleted after its deadline, or with it by a cutoff
// (replication/cutoff.h), has expired.
//
// Order: the order of the removals. Expired keys go in the order of their deadlines, however many are due and however long
// the loop was held up, if the keys are in one database and all have relative TTLs, or all have Unix times (each database
// has a separate wheel for each kind). A key found expired by a command is logged at once, before other due keys.
//
// Numbers begin with the microseconds of Unix time when the log is turned on, and rise by one. All numbers are thus above
// all numbers of an earlier run, unless the wall clock was set back in between, and a reader sees a gap. A snapshot file has
// the next number and the newest records (snapshot/event_fields.h).
//
// Records that a full log drops before any reader has seen them are told in the server's log: the first at once, later ones as a
// sum, one line in kLogMs.
//
// ParkingLot has the clients that wait for events; the first event wakes these clients. Loop thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "server/hubs/alarms.h"
#include "server/watch/event_ring.h"

namespace mayfly {

class ParkingLot;

class EventLog final : public ChangeListener, private Alarms::Alarm {
 public:
  // Without a reader each new record drops an old one: an hour has few lines.
  static constexpr uint64_t kLogMs = 600'000;

  // Borrows all arguments.
  EventLog(Alarms& alarms, ChangeHub& changes, ParkingLot& parking, Clock& clock);
  // Events get the time of `now` at the change: the executor's, because a clock reading for each of many keys would be slow.
  // Borrows `now`. REQUIRES: called before the first change of a key.
  void TakeTimeFrom(const Now& now) noexcept { now_ = &now; }
  ~EventLog() override { changes_.Unlisten(*this); }
  // Whether this server is a replica now. Keys with deadlines up to the cutoff have expired at its master; {}: there is no
  // cutoff.
  void set_at_replica(bool at_replica) noexcept { at_replica_ = at_replica; }
  void set_cutoff(Now cutoff) noexcept { cutoff_ = cutoff; }

  // Sets the limit of the log's memory to `most_bytes`, 0 turns the log off; values of up to `value_bytes` are kept, 0:
  // none.
  void Follow(uint64_t most_bytes, uint64_t value_bytes) noexcept;
  bool on() const noexcept { return ring_.limit() != 0; }
  const EventRing& ring() const noexcept { return ring_; }
  // A reader has seen the records with numbers below `next`.
  void NoteRead(uint64_t next) noexcept { ring_.NoteRead(next); }
  // Drops the records with numbers up to `last`, and returns the number of dropped records.
  size_t LetGo(uint64_t last) noexcept { return ring_.LetGo(last); }

  bool MayFreeSome() const noexcept { return ring_.MayFreeSome(); }
  // Frees unused memory in pieces; `budget` is the budget of a step (server/sliced_work.h). Returns MayFreeSome().
  bool FreeSome(size_t budget) noexcept { return ring_.FreeSome(budget / kEntriesPerSegment + 1); }

  void OnChange(const Change& change) override;

  // ---- for snapshots
  //
  // A key of a snapshot file has expired while no server had it. `value` is kept if its size allows.
  void NoteExpired(unsigned database, std::string_view key, int64_t deadline_unix_ms,
                   std::optional<std::string_view> value) noexcept;
  // Events get numbers from `next` on, if these are higher: as an earlier run had numbers below `next`.
  void SkipTo(uint64_t next) noexcept { ring_.SkipTo(next); }
  // Returns true if the log is on, and has had no event in this run: then records of an earlier run may come first.
  bool MayRestore() const noexcept { return on() && !heard_; }
  // REQUIRES: MayRestore(); see EventRing::Restore.
  void Restore(const EventRecord& record) noexcept { ring_.Restore(record); }

 private:
  // Freeing a segment takes about as long as freeing this many entries.
  static constexpr size_t kEntriesPerSegment = 16;

  EventKind KindOf(const Change& change) const noexcept;
  EventKind KindOfDeleted(const Change& change) const noexcept;
  int64_t TimeOf(const Change& change, EventKind kind) const noexcept;
  void Append(EventKind kind, int64_t wall_ms, unsigned database, std::string_view key,
              std::optional<std::string_view> value) noexcept;
  uint64_t NextWake() const noexcept override {
    return ring_.overrun() == overrun_told_ ? Alarms::kNever : quiet_until_mono_ms_;
  }
  void OnWake(Now now, Log* log) noexcept override { Report(now.mono_ms, log); }
  void AtEnd(Log* log) noexcept override { Report(Alarms::kNever, log); }
  // Logs how many records were overrun since the last line, if it is time.
  void Report(uint64_t now_mono_ms, Log* log) noexcept;

  ChangeHub& changes_;
  ParkingLot& parking_;
  Clock& clock_;
  const Now* now_ = nullptr;
  bool at_replica_ = false;
  Now cutoff_ = {};
  EventRing ring_;
  uint64_t value_bytes_ = 0;
  bool heard_ = false;                // of an event
  uint64_t overrun_told_ = 0;         // EventRing::overrun at the last line
  uint64_t quiet_until_mono_ms_ = 0;  // no line before
};

}  // namespace mayfly
