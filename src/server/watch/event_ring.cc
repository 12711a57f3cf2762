#include "server/watch/event_ring.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <memory>
#include <new>

namespace mayfly {
namespace {

constexpr unsigned kKindBits = 0x03;
constexpr unsigned kHasValue = 0x04;
constexpr unsigned kHasDatabase = 0x08;  // a database other than 0
constexpr unsigned kHasSkipped = 0x10;

constexpr size_t kNumberMax = 10;
// The most bytes of a record without key and value: the flags and five numbers.
constexpr size_t kHeaderMax = 1 + 5 * kNumberMax;

char* PutNumber(char* p, uint64_t number) noexcept {
  for (; number >= 0x80; number >>= 7) *p++ = static_cast<char>(number | 0x80);
  *p++ = static_cast<char>(number);
  return p;
}

char* PutText(char* p, std::string_view text) noexcept {
  p = PutNumber(p, text.size());
  if (!text.empty()) std::memcpy(p, text.data(), text.size());
  return p + text.size();
}

uint64_t TakeNumber(const char*& p) noexcept {
  uint64_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*p++);
    number |= uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return number;
  }
}

std::string_view TakeText(const char*& p) noexcept {
  const size_t size = TakeNumber(p);
  const std::string_view text(p, size);
  p += size;
  return text;
}

uint64_t Zigzag(int64_t value) noexcept {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
int64_t Unzigzag(uint64_t value) noexcept { return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1))); }

// Times may be any times accepted by EXPIREAT, so the sums wrap: unsigned sums may.
int64_t Minus(int64_t a, int64_t b) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
int64_t Plus(int64_t a, int64_t b) noexcept {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

}  // namespace

EventRing::~EventRing() {
  while (!segments_.empty()) DoomOldest();
  while (FreeSome(1)) {
  }
}

size_t EventRing::SegmentSize() const noexcept {
  return static_cast<size_t>(std::clamp<uint64_t>(limit_ / kSegments, kSegmentMin, kSegmentMax));
}

size_t EventRing::MostOfRecord() const noexcept {
  return static_cast<size_t>(std::min<uint64_t>(limit_ / kRecordPart, kRecordMax));
}

void EventRing::SetLimit(uint64_t bytes) noexcept {
  limit_ = bytes;
  while (KeptBytes() > limit_ && !segments_.empty()) DropOldest();
}

// ---- writing

void EventRing::Append(EventKind kind, int64_t wall_ms, unsigned database, std::string_view key,
                       std::optional<std::string_view> value) noexcept {
  assert(limit_ != 0);
  const uint64_t number = next_++;
  const size_t most = MostOfRecord();
  const auto takes = [&] { return sizeof(Segment) + kHeaderMax + key.size() + (value ? value->size() : 0); };
  if (value && takes() > most) value.reset();
  Segment* const segment = takes() <= most ? RoomFor(takes() - sizeof(Segment), wall_ms) : nullptr;
  if (segment == nullptr) {
    ++dropped_;
    ++overrun_;
    return;
  }
  if (segment->records == 0) segment->begin.number = segment->next_number = number;
  const uint64_t skipped = number - segment->next_number;
  char* const begin = segment->bytes() + segment->end;
  char* p = begin;
  *p++ = static_cast<char>(static_cast<unsigned>(kind) | (value ? kHasValue : 0) |
                           (database != 0 ? kHasDatabase : 0) | (skipped != 0 ? kHasSkipped : 0));
  if (skipped != 0) p = PutNumber(p, skipped);
  p = PutNumber(p, Zigzag(Minus(wall_ms, segment->last_wall_ms)));
  if (database != 0) p = PutNumber(p, database);
  p = PutText(p, key);
  if (value) p = PutText(p, *value);
  segment->end += static_cast<size_t>(p - begin);
  segment->next_number = number + 1;
  segment->last_wall_ms = wall_ms;
  ++segment->records;
  ++records_;
}

void EventRing::Restore(const EventRecord& record) noexcept {
  const uint64_t next = next_;
  next_ = record.number;
  Append(record.kind, record.wall_ms, record.database, record.key, record.value);
  SkipTo(next);
}

EventRing::Segment* EventRing::RoomFor(size_t record, int64_t wall_ms) noexcept {
  if (!segments_.empty() && segments_.back()->room - segments_.back()->end >= record) return segments_.back();
  if (!segments_.empty() && segments_.back()->records == 0) DoomOldest();  // the only segment: see LetGo
  const size_t size = std::max(SegmentSize(), sizeof(Segment) + record);
  if (size > limit_) return nullptr;
  while (KeptBytes() + size > limit_) DropOldest();
  for (size_t freed = 0; bytes_ + size > limit_ && freed < kFreedAtOnce; ++freed) FreeSome(1);
  try {
    std::unique_ptr<char[]> memory(new char[size]);
    segments_.push_back(nullptr);
    auto* const segment = new (memory.release()) Segment{};
    segment->room = size - sizeof(Segment);
    segment->begin = {.at = 0, .number = next_, .wall_ms = wall_ms};
    segment->next_number = next_;
    segment->last_wall_ms = wall_ms;
    segments_.back() = segment;
    bytes_ += size;
    return segment;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// ---- reading

EventRecord EventRing::Next(const Segment& segment, Place& place) noexcept {
  const char* p = segment.bytes() + place.at;
  const auto flags = static_cast<unsigned char>(*p++);
  EventRecord record;
  record.kind = static_cast<EventKind>(flags & kKindBits);
  record.number = place.number;
  if ((flags & kHasSkipped) != 0) record.number += TakeNumber(p);
  record.wall_ms = Plus(place.wall_ms, Unzigzag(TakeNumber(p)));
  if ((flags & kHasDatabase) != 0) record.database = static_cast<unsigned>(TakeNumber(p));
  record.key = TakeText(p);
  if ((flags & kHasValue) != 0) record.value = TakeText(p);
  place = {
      .at = static_cast<size_t>(p - segment.bytes()), .number = record.number + 1, .wall_ms = record.wall_ms};
  return record;
}

size_t EventRing::SegmentWith(uint64_t from) const noexcept {
  const auto found = std::partition_point(segments_.begin(), segments_.end(), [from](const Segment* segment) {
    return segment->next_number <= from;
  });
  return static_cast<size_t>(found - segments_.begin());
}

uint64_t EventRing::first_number() const noexcept {
  uint64_t first = next_;
  ReadFrom(0, [&first](const EventRecord& record) {
    first = record.number;
    return false;
  });
  return first;
}

uint64_t EventRing::FirstWithin(uint64_t bytes) const noexcept {
  uint64_t first = next_;
  for (size_t i = segments_.size(); i-- != 0 && segments_[i]->end <= bytes;) {
    bytes -= segments_[i]->end;
    first = segments_[i]->begin.number;
  }
  return first;
}

// ---- letting go

size_t EventRing::LetGo(uint64_t last) noexcept {
  const size_t before = records_;
  while (!segments_.empty() && segments_.front()->next_number <= last + 1) {
    Segment& oldest = *segments_.front();
    if (segments_.size() == 1 && oldest.allocated() == SegmentSize()) {
      records_ -= oldest.records;
      oldest.records = oldest.end = 0;
      oldest.begin = {.at = 0, .number = oldest.next_number, .wall_ms = oldest.last_wall_ms};
      return before - records_;
    }
    DoomOldest();
  }
  if (segments_.empty()) return before - records_;
  Segment& segment = *segments_.front();
  for (Place next = segment.begin; next.at != segment.end; segment.begin = next) {
    if (Next(segment, next).number > last) break;
    --segment.records;
    --records_;
  }
  return before - records_;
}

void EventRing::DoomOldest() noexcept {
  Segment* const segment = segments_.front();
  segments_.pop_front();
  records_ -= segment->records;
  doomed_bytes_ += segment->allocated();
  segment->next_doomed = doomed_;
  doomed_ = segment;
}

void EventRing::DropOldest() noexcept {
  dropped_ += segments_.front()->records;
  overrun_ += UnreadIn(*segments_.front());
  DoomOldest();
}

size_t EventRing::UnreadIn(const Segment& segment) const noexcept {
  if (segment.begin.number >= read_to_) return segment.records;
  if (segment.next_number <= read_to_) return 0;
  size_t unread = 0;
  for (Place place = segment.begin; place.at != segment.end;)
    unread += Next(segment, place).number >= read_to_ ? 1 : 0;
  return unread;
}

bool EventRing::FreeSome(size_t budget) noexcept {
  for (; doomed_ != nullptr && budget != 0; --budget) {
    Segment* const segment = doomed_;
    doomed_ = segment->next_doomed;
    bytes_ -= segment->allocated();
    doomed_bytes_ -= segment->allocated();
    delete[] reinterpret_cast<char*>(segment);
  }
  return doomed_ != nullptr;
}

bool EventRing::Validate() const {
  uint64_t bytes = 0;
  size_t records = 0;
  uint64_t next = 0;
  for (const Segment* segment : segments_) {
    bytes += segment->allocated();
    size_t read = 0;
    Place place = segment->begin;
    for (; place.at < segment->end; ++read) {
      const EventRecord record = Next(*segment, place);
      if (record.number < next || static_cast<unsigned>(record.kind) > kKindBits) return false;
      next = record.number + 1;
    }
    const bool at_end = place.at == segment->end && place.wall_ms == segment->last_wall_ms;
    const bool may_be_empty = segments_.size() == 1;
    if (!at_end || (read == 0 && !may_be_empty)) return false;
    if (read != segment->records || segment->end > segment->room) return false;
    if (place.number != segment->next_number) return false;
    records += read;
  }
  uint64_t doomed = 0;
  for (const Segment* segment = doomed_; segment != nullptr; segment = segment->next_doomed)
    doomed += segment->allocated();
  return records == records_ && doomed == doomed_bytes_ && bytes == KeptBytes() && bytes <= limit_ &&
         next <= next_;
}

}  // namespace mayfly
