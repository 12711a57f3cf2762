#include "server/watch/event_log.h"

#include <algorithm>
#include <optional>

#include "base/log/log.h"
#include "base/text/numbers.h"
#include "cache/entry/entry.h"
#include "cache/entry/rich_value.h"
#include "cache/time/lifetime.h"
#include "server/waiting/parking.h"

namespace mayfly {
namespace {

constexpr uint32_t kLoggedReasons =
    ChangeHub::Bit(ChangeReason::kExpired) | ChangeHub::Bit(ChangeReason::kEvicted) |
    ChangeHub::Bit(ChangeReason::kDeleted) | ChangeHub::Bit(ChangeReason::kInvalidated);

// True if all members of a replica's value were due. The last of them may be gone from the value already.
bool HadDueMembers(const Entry& entry, Now now) noexcept {
  if (!entry.timed() || entry.encoding() != Encoding::kRich) return false;
  return entry.rich()->Size() == 0 ? entry.own().Reached(now) : AllMembersDue(entry, now);
}

}  // namespace

// A value is expired, too, when its last members have expired. A replica keeps what is due until its master deletes it; a task
// that is due goes into its stream.
EventKind EventLog::KindOfDeleted(const Change& change) const noexcept {
  const Entry& entry = *change.entry;
  const bool has_expired = events::IsOfExpiredMembers(change.event) || IsCutOff(entry, cutoff_);
  const bool was_due =
      has_expired || (at_replica_ && (entry.deadline().Reached(*now_) || HadDueMembers(entry, *now_)));
  return was_due ? EventKind::kExpired : EventKind::kDeleted;
}

EventKind EventLog::KindOf(const Change& change) const noexcept {
  switch (change.reason) {
    case ChangeReason::kExpired:
      return EventKind::kExpired;
    case ChangeReason::kEvicted:
      return EventKind::kEvicted;
    case ChangeReason::kInvalidated:
      return EventKind::kInvalidated;
    default:
      return KindOfDeleted(change);
  }
}

// The time of an expired key's event is the deadline in Unix time; a relative deadline is converted by the current wall
// clock.
int64_t EventLog::TimeOf(const Change& change, EventKind kind) const noexcept {
  const Expiry deadline = change.entry->deadline();
  const bool is_over =
      change.reason == ChangeReason::kExpired || deadline.Reached(*now_) || deadline.Reached(cutoff_);
  if (kind != EventKind::kExpired || !is_over || deadline.kind == Expiry::Kind::kNever) return now_->wall_ms;
  const bool wall = deadline.kind == Expiry::Kind::kWall;
  return wall ? static_cast<int64_t>(deadline.deadline_ms) : now_->WallOf(deadline.deadline_ms);
}

// A listener without reasons costs nothing. The constructor takes the place among the listeners, so Follow takes no memory.
EventLog::EventLog(Alarms& alarms, ChangeHub& changes, ParkingLot& parking, Clock& clock)
    : Alarm(alarms), changes_(changes), parking_(parking), clock_(clock) {
  changes_.Listen(*this, Interest{});
}

void EventLog::Follow(uint64_t most_bytes, uint64_t value_bytes) noexcept {
  value_bytes_ = value_bytes;
  if (most_bytes == ring_.limit()) return;
  const bool was_on = on();
  ring_.SetLimit(most_bytes);
  if (on() == was_on) return;
  changes_.Listen(*this, Interest{.reasons = on() ? kLoggedReasons : 0});
  // Removals while the log was off have no numbers.
  if (on())
    ring_.SkipTo(
        std::max(ring_.next_number() + 1, static_cast<uint64_t>(std::max<int64_t>(clock_.ReadWallUs(), 0))));
  else
    parking_.WakeEventReaders();
}

void EventLog::OnChange(const Change& change) {
  if (change.entry == nullptr) return;                    // a DEL of an absent key
  if (change.event.name == events::kLoaded.name) return;  // the key gives way to a master's file
  const Entry& entry = *change.entry;
  char digits[kMaxIntegerText];
  std::optional<std::string_view> value;
  if (value_bytes_ != 0 && entry.encoding() != Encoding::kRich && entry.TextLength() <= value_bytes_) {
    const bool is_text = entry.encoding() != Encoding::kInteger;
    value = is_text ? entry.text() : std::string_view(digits, FormatInteger(entry.integer(), digits));
  }
  const EventKind kind = KindOf(change);
  Append(kind, TimeOf(change, kind), change.database, change.key, value);
}

void EventLog::NoteExpired(unsigned database, std::string_view key, int64_t deadline_unix_ms,
                           std::optional<std::string_view> value) noexcept {
  if (!on()) return;
  if (value_bytes_ == 0 || (value && value->size() > value_bytes_)) value.reset();
  Append(EventKind::kExpired, deadline_unix_ms, database, key, value);
}

void EventLog::Report(uint64_t now_mono_ms, Log* log) noexcept {
  const uint64_t overrun = ring_.overrun() - overrun_told_;
  if (overrun == 0 || now_mono_ms < quiet_until_mono_ms_) return;
  overrun_told_ = ring_.overrun();
  quiet_until_mono_ms_ = now_mono_ms + kLogMs;
  if (log != nullptr)
    log->Warning("EXPLOG: ", overrun, overrun == 1 ? " record" : " records",
                 " dropped unread: expire-log-size is ", ring_.limit(), " bytes");
}

void EventLog::Append(EventKind kind, int64_t wall_ms, unsigned database, std::string_view key,
                      std::optional<std::string_view> value) noexcept {
  heard_ = true;
  ring_.Append(kind, wall_ms, database, key, value);
  if (parking_.AnyEventReader()) [[unlikely]]
    parking_.WakeEventReaders();
}

}  // namespace mayfly
