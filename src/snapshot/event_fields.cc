#include "snapshot/event_fields.h"

#include <optional>

#include "base/text/numbers.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly {
namespace {

// A field ends after this many bytes.
constexpr size_t kMostFieldBytes = size_t{64} << 10;
// Numbers begin as microseconds of Unix time. A larger number is refused: a long run after it would exceed Redis's integers.
constexpr uint64_t kMostNumber = uint64_t{1} << 62;

void WriteAux(std::string_view name, std::string_view value, std::string& bytes) {
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kAux);
  out.String(name);
  out.String(value);
}

// The views belong to `in`.
bool ReadEvent(rdb::In& in, EventRecord& event) {
  using rdb::ReadStatus;
  uint8_t kind = 0;
  uint8_t has_value = 0;
  uint64_t database = 0;
  std::string_view value;
  const bool read = in.Length(event.number) == ReadStatus::kOk &&
                    in.Millis(event.wall_ms) == ReadStatus::kOk && in.Byte(kind) == ReadStatus::kOk &&
                    in.Byte(has_value) == ReadStatus::kOk && in.Length(database) == ReadStatus::kOk &&
                    in.String(event.key) == ReadStatus::kOk &&
                    (has_value == 0 || in.String(value) == ReadStatus::kOk);
  if (!read || kind > static_cast<uint8_t>(EventKind::kInvalidated) || has_value > 1 ||
      database > UINT32_MAX || event.number > kMostNumber)
    return false;
  event.kind = static_cast<EventKind>(kind);
  event.database = static_cast<unsigned>(database);
  event.value = has_value != 0 ? std::optional(value) : std::nullopt;
  return true;
}

std::optional<uint64_t> NextNumber(std::string_view field) noexcept {
  const std::optional<int64_t> next = ParseInteger(field);
  if (!next || *next < 0 || static_cast<uint64_t>(*next) > kMostNumber) return std::nullopt;
  return static_cast<uint64_t>(*next);
}

// Calls take(event) for each event up to the first that cannot be read. Returns false if there is one.
template <typename Take>
bool ForEachEvent(std::string_view field, const Take& take) {
  rdb::In in(field);
  EventRecord event;
  while (!in.rest().empty()) {
    if (!ReadEvent(in, event)) return false;
    take(event);
  }
  return true;
}

}  // namespace

void WriteEventFields(const EventLog& log, uint64_t most_bytes, std::string& bytes) {
  if (!log.on()) return;
  const EventRing& ring = log.ring();
  WriteAux(EventFields::kNext, std::to_string(ring.next_number()), bytes);
  std::string records;
  rdb::Out out(records);
  ring.ReadFrom(ring.FirstWithin(most_bytes), [&](const EventRecord& event) {
    out.Length(event.number);
    out.Millis(event.wall_ms);
    out.Byte(static_cast<uint8_t>(event.kind));
    out.Byte(event.value ? 1 : 0);
    out.Length(event.database);
    out.String(event.key);
    if (event.value) out.String(*event.value);
    if (records.size() > kMostFieldBytes) {
      WriteAux(EventFields::kRecords, records, bytes);
      records.clear();
    }
    return true;
  });
  if (!records.empty()) WriteAux(EventFields::kRecords, records, bytes);
}

bool ReadNextEvent(std::string_view field, EventLog& log) {
  const std::optional<uint64_t> next = NextNumber(field);
  if (next) log.SkipTo(*next);
  return next.has_value();
}

bool ReadEvents(std::string_view field, EventLog& log) {
  return ForEachEvent(field, [&log](const EventRecord& event) {
    if (log.MayRestore() && !log.ring().HasFrom(event.number)) log.Restore(event);
  });
}

bool CanReadEventField(std::string_view name, std::string_view field) {
  if (name == EventFields::kNext) return NextNumber(field).has_value();
  return ForEachEvent(field, [](const EventRecord&) {});
}

}  // namespace mayfly
