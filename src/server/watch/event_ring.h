// A bounded queue of numbered records about removed keys: the memory of server/watch/event_log.h, and the source of EXPLOG's
// replies.
//
//   segments, the oldest first   [ ..... r r r r ][ r r r r r r r ][ r r r         ]
//                                        ^ begin                          ^ end
//   a record   flags 1 | [skipped] | time | [database] | key length | key | [value length | value]
//
// Numbers are stored 7 bits a byte, low bits first; parts in brackets only if a flag says so. The time is the difference to
// the previous record (zigzag: possibly negative). `skipped` numbers before this record's number have no record. A record
// takes about 4 bytes beside key and value.
//
// Numbers. Each event gets the next number, even an event without room for a record; a reader that expects n and gets a
// higher number knows the number of missed events.
//
// Memory. A segment is one allocation, made when the previous segment is full. The bytes of all segments never exceed the
// limit: before a new segment would exceed the limit, the oldest segment goes with its records. FreeSome frees the segments
// dropped by LetGo or by a lower limit, in slices; a new segment in need of room frees some, too. Only after a lowered limit
// the bytes may exceed the limit meanwhile. The last segment is kept when its records go: reading up to date then allocates
// and frees no segments. While the limit is 0, nothing is kept or numbered.
//
// Units: Unix time in ms. Owns its segments. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>

namespace mayfly {

enum class EventKind : uint8_t { kExpired, kEvicted, kDeleted, kInvalidated };

// The views belong to the ring and die with its next change.
struct EventRecord {
  uint64_t number = 0;
  int64_t wall_ms = 0;
  EventKind kind = EventKind::kExpired;
  unsigned database = 0;
  std::string_view key;
  std::optional<std::string_view> value = {};
};

class EventRing {
 public:
  // A search within a segment reads at most this many bytes, unless the segment has a single large record.
  static constexpr size_t kSegmentMax = size_t{64} << 10;
  static constexpr size_t kSegmentMin = 1024;
  // A small limit is divided into this many segments: dropping the oldest segment then loses little.
  static constexpr size_t kSegments = 64;
  // A record is copied while clients wait; copying this many bytes takes about 0.1 ms.
  static constexpr size_t kRecordMax = size_t{2} << 20;
  // No record takes more than this part of the limit: a larger record would push out most other records.
  static constexpr size_t kRecordPart = 4;
  // The most dropped segments freed by one Append: enough room for the largest record.
  static constexpr size_t kFreedAtOnce = kRecordMax / kSegmentMax + 1;

  EventRing() = default;
  EventRing(const EventRing&) = delete;
  EventRing& operator=(const EventRing&) = delete;
  ~EventRing();

  // Sets the most bytes of all segments; 0: nothing is kept. Drops the oldest records of a larger ring.
  void SetLimit(uint64_t bytes) noexcept;
  uint64_t limit() const noexcept { return limit_; }
  // The next number becomes `next`, if higher. Records are not affected.
  void SkipTo(uint64_t next) noexcept {
    if (next > next_) next_ = next;
  }

  // Adds a record and assigns the next number. A value without room is left out. Without room or memory for the rest, the
  // number stays without a record and counts as dropped. REQUIRES: limit() is not 0.
  void Append(EventKind kind, int64_t wall_ms, unsigned database, std::string_view key,
              std::optional<std::string_view> value) noexcept;

  // Adds a record of an earlier run, with its number; the next number does not fall. REQUIRES: limit() is not 0, and the number
  // is above those of all records.
  void Restore(const EventRecord& record) noexcept;

  // Calls fn(const EventRecord&) -> bool for each record with a number of at least `from`, in order, until fn returns false.
  // O(log n) to find the first record.
  template <typename Fn>
  void ReadFrom(uint64_t from, Fn&& fn) const {
    for (size_t i = SegmentWith(from); i < segments_.size(); ++i) {
      const Segment& segment = *segments_[i];
      Place place = segment.begin;
      while (place.at != segment.end) {
        const EventRecord record = Next(segment, place);
        if (record.number >= from && !fn(record)) return;
      }
    }
  }
  // True if there is a record with a number of at least `from`.
  bool HasFrom(uint64_t from) const noexcept {
    return records_ != 0 && SegmentWith(from) != segments_.size();
  }
  // Drops the records with numbers up to `last`, and returns the number of dropped records.
  size_t LetGo(uint64_t last) noexcept;

  // The number of the first record; next_number() if there is none.
  uint64_t first_number() const noexcept;
  uint64_t next_number() const noexcept { return next_; }
  size_t size() const noexcept { return records_; }
  // The lowest number from which on all records together take no more than `bytes`, in whole segments.
  uint64_t FirstWithin(uint64_t bytes) const noexcept;
  // The number of records dropped without LetGo, and of events without room or memory.
  uint64_t dropped() const noexcept { return dropped_; }
  // The number of these that went before NoteRead had passed them.
  uint64_t overrun() const noexcept { return overrun_; }
  // A reader has seen the records with numbers below `next`.
  void NoteRead(uint64_t next) noexcept {
    if (next > read_to_) read_to_ = next;
  }
  // The bytes of all segments, including dropped segments that are not freed yet.
  uint64_t bytes() const noexcept { return bytes_; }

  bool MayFreeSome() const noexcept { return doomed_ != nullptr; }
  // Frees up to `budget` segments. Returns MayFreeSome().
  bool FreeSome(size_t budget) noexcept;

  // Checks all invariants by reading every record. For tests.
  [[nodiscard]] bool Validate() const;

 private:
  // The place of a record, with facts from the records before.
  struct Place {
    size_t at;
    uint64_t number;  // of the next record, unless the record skips some numbers
    int64_t wall_ms;  // of the record before
  };
  struct Segment {
    Segment* next_doomed = nullptr;
    size_t room;  // for records; the records follow this struct
    size_t end = 0;
    size_t records = 0;
    Place begin;
    uint64_t next_number;  // after the last record
    int64_t last_wall_ms;  // of the last record

    char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
    const char* bytes() const noexcept { return reinterpret_cast<const char*>(this + 1); }
    size_t allocated() const noexcept { return sizeof(Segment) + room; }
  };

  // Reads the record at `place`, and moves `place` to the next record.
  static EventRecord Next(const Segment& segment, Place& place) noexcept;
  // The number of the segment's records that no reader has seen.
  size_t UnreadIn(const Segment& segment) const noexcept;
  // The index of the first segment with a number of at least `from`.
  size_t SegmentWith(uint64_t from) const noexcept;
  size_t SegmentSize() const noexcept;
  size_t MostOfRecord() const noexcept;
  // A segment with room for `record` bytes at the end; null if there is no room.
  Segment* RoomFor(size_t record, int64_t wall_ms) noexcept;
  // Takes the oldest segment out, to be freed later.
  void DoomOldest() noexcept;
  // Like DoomOldest, and the records count as dropped.
  void DropOldest() noexcept;
  uint64_t KeptBytes() const noexcept { return bytes_ - doomed_bytes_; }

  std::deque<Segment*> segments_;
  Segment* doomed_ = nullptr;
  uint64_t doomed_bytes_ = 0;
  uint64_t limit_ = 0;
  uint64_t bytes_ = 0;  // of all segments
  uint64_t next_ = 0;
  uint64_t dropped_ = 0;
  uint64_t overrun_ = 0;
  uint64_t read_to_ = 0;  // see NoteRead
  size_t records_ = 0;
};

}  // namespace mayfly
