// An Entry is one key with its value, in a single allocation.
//
//   offset  bytes  field
//        0      4  colder         LRU link: the entry used just before this entry
//        4      4  hotter         LRU link: the entry used just after this entry
//        8      4  stamp (low 28 bits): time of the last access, or the LFU counter; young (1 bit); encoding (3 bits)
//       12      1  owner          id of the keyspace
//       13      1  flags          EntryFlag
//       14     16  timed block    only with kTimed: wheel next 4 | wheel prev 4 | time 6 | filed 2
//               8  extra          only with kExtra: a pointer to an EntryExtra (cache/entry/entry_extra.h)
//              1+  key length     7 bits per byte, low bits first: one byte for lengths below 128
//              1+  value length   likewise
//                  key bytes
//                  value bytes    kText, kEdited: the text
//                                 kInteger: the shortest two's complement form, 0 to 8 bytes, low byte first
//                                 kBlock: a pointer to a SharedBytes block, 8 bytes (text > kMaxInlineValue)
//                                 kRich: a pointer to a RichValue, 8 bytes
//
// So a short key costs 16 bytes beyond key and value, and 32 with a TTL. In sanitizer builds the links are pointers, so all
// offsets are larger.
//
// Units: a stamp counts steps of kStampMs since boot and wraps (see IdleMs). Under an LFU policy an access stores Redis's
// counter in place of the time (cache/owners/lfu.h). A time is in ms: monotonic, or Unix time if kWallDeadline is set.
//
// Two times. At its *deadline* a key with a TTL (kExpires) is absent. At its *wake* the wheel returns the entry. The wake is
// the deadline, or an earlier *own time*, for instance the deadline of a member. An entry may have a wake and no deadline.
// The clock of the wake is the clock named by kWallDeadline.
//   kExpires, time < kFarDeadline:  the time is both deadline and wake
//   kExpires, time = kFarDeadline:  deadline and wake differ, or are above 48 bits; both are in the extra's EntryTimes
//   kTimed without kExpires:        the time is the wake; kFarDeadline if there is none
//
// Ownership: only Keyspace creates, relocates and frees entries. A pointer to an entry is valid until the
// next change of its keyspace. Loop thread only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/memory/heap.h"
#include "base/memory/shared_bytes.h"
#include "cache/entry/entry_extra.h"
#include "cache/entry/expiry.h"

namespace mayfly {

class RichValue;

// The form of the value bytes: from kBlock on, the value is outside the entry. kText and kEdited are stored alike; OBJECT
// ENCODING reports a short kEdited text as "raw", as Redis does for a string after a modification in place.
enum class Encoding : uint8_t { kText, kEdited, kInteger, kBlock, kRich };

// The flag of an optional part has the part's size as its value, so one mask computes an offset. kExpires has the value that
// the lists of a Quota need.
enum class EntryFlag : uint8_t {
  kWallDeadline = 1 << 0,  // the time in the timed block, or the extra's wake, is Unix time
  kVisited = 1 << 1,       // SIEVE: accessed since the hand last passed
  kPhase = 1 << 2,  // differs from its keyspace's phase: a listener wants to see the entry before its change
  kExtra = 1 << 3,  // has an EntryExtra
  kTimed = 1 << 4,  // has the timed block: a wheel can file the entry
  kListened =
      1 << 5,  // a listener wants to hear of the next change: watching and tracking parts know the clients
  kExpires = 1 << 6,  // has a TTL, is volatile; has kTimed too
  kTimedMembers =
      1 << 7,  // members of its value have deadlines; Deadlines sets the flag and counts these entries
};

#pragma pack(push, 1)
struct EntryExpiry {
  HeapRef wheel_next;
  HeapRef wheel_prev;
  uint32_t time_low;
  uint16_t time_high;
  uint16_t filed;  // wheel::Place: the list and strand with the entry
};

struct EntryHeader {
  HeapRef colder;
  HeapRef hotter;
  uint32_t stamp_and_encoding;  // and `young`; not bit fields: gcc would write them byte by byte
  uint8_t owner;                // id of the keyspace
  uint8_t flags;
};
#pragma pack(pop)

class Entry {
 public:
  static constexpr uint64_t kStampMs = 64;
  static constexpr unsigned kStampBits = 28;
  static constexpr uint32_t kStampMask = (1U << kStampBits) - 1;
  static constexpr uint32_t kCountedStamp = 1U << (kStampBits - 1);  // an LFU counter, not a time
  static constexpr uint32_t kTimeMask = kCountedStamp - 1;
  static constexpr uint32_t kYoung = 1U << kStampBits;
  static constexpr unsigned kEncodingShift = kStampBits + 1;
  static constexpr uint64_t kMinuteMs = 60'000;
  static constexpr size_t kMaxInlineValue = 16 * 1024;
  static constexpr uint64_t kMaxNearDeadline = (uint64_t{1} << 48) - 2;
  static constexpr uint64_t kFarDeadline = kMaxNearDeadline + 1;  // the times are in the extra

  // The sizes and optional parts of an entry.
  struct Shape {
    size_t key_bytes = 0;
    size_t value_bytes = 0;
    bool expires = false;
    EntryExtra::Shape extra = {};
    bool timed = false;  // implied by expires
    size_t Total() const noexcept;
    // The flags of an entry of this shape, out of kParts.
    unsigned parts() const noexcept {
      return (expires ? Bit(EntryFlag::kExpires) | Bit(EntryFlag::kTimed) : 0) |
             (timed ? Bit(EntryFlag::kTimed) : 0) | (extra.any() ? Bit(EntryFlag::kExtra) : 0);
    }
  };
  static constexpr unsigned Bit(EntryFlag flag) noexcept { return static_cast<unsigned>(flag); }
  static constexpr unsigned kParts = static_cast<unsigned>(EntryFlag::kExpires) |
                                     static_cast<unsigned>(EntryFlag::kTimed) |
                                     static_cast<unsigned>(EntryFlag::kExtra);
  // An entry that takes another value in place has just the parts of its shape, and not the flag kTimedMembers.
  static constexpr unsigned kOfTheRoom = kParts | static_cast<unsigned>(EntryFlag::kTimedMembers);

  // Lays out an entry in `memory` of shape.Total() bytes: writes a zeroed header, the lengths and the key. The caller fills
  // in links, deadline, extra pointer and value bytes.
  static Entry* Format(void* memory, const Shape& shape, std::string_view key) noexcept;

  // ---- header
  HeapRef colder() const noexcept { return header()->colder; }
  HeapRef hotter() const noexcept { return header()->hotter; }
  void set_colder(HeapRef ref) noexcept { header()->colder = ref; }
  void set_hotter(HeapRef ref) noexcept { header()->hotter = ref; }
  uint32_t stamp() const noexcept { return header()->stamp_and_encoding & kStampMask; }
  // REQUIRES: stamp <= kStampMask.
  void set_stamp(uint32_t stamp) noexcept {
    assert(stamp <= kStampMask);
    header()->stamp_and_encoding = (header()->stamp_and_encoding & ~kStampMask) | stamp;
  }
  Encoding encoding() const noexcept {
    return static_cast<Encoding>(header()->stamp_and_encoding >> kEncodingShift);
  }
  void set_encoding(Encoding encoding) noexcept {
    constexpr uint32_t kOthers = (1U << kEncodingShift) - 1;
    header()->stamp_and_encoding = (header()->stamp_and_encoding & kOthers) | static_cast<uint32_t>(encoding)
                                                                                  << kEncodingShift;
  }
  // S3-FIFO: is on probation (cache/evict/s3fifo_evictor.h). Quota counts these entries: set the flag before Push.
  bool young() const noexcept { return (header()->stamp_and_encoding & kYoung) != 0; }
  void set_young(bool young) noexcept {
    header()->stamp_and_encoding = (header()->stamp_and_encoding & ~kYoung) | (young ? kYoung : 0);
  }
  uint8_t owner() const noexcept { return header()->owner; }
  void set_owner(uint8_t owner) noexcept { header()->owner = owner; }
  bool Has(EntryFlag flag) const noexcept { return (header()->flags & static_cast<uint8_t>(flag)) != 0; }
  void Set(EntryFlag flag) noexcept { header()->flags |= static_cast<uint8_t>(flag); }
  void Clear(EntryFlag flag) noexcept {
    header()->flags &= static_cast<uint8_t>(~static_cast<uint8_t>(flag));
  }
  uint8_t flags() const noexcept { return header()->flags; }
  void set_flags(uint8_t flags) noexcept { header()->flags = flags; }

  static uint32_t StampOf(uint64_t mono_ms) noexcept {
    return static_cast<uint32_t>(mono_ms / kStampMs) & kTimeMask;
  }
  // REQUIRES: count <= 255.
  static uint32_t CountedStamp(uint32_t count, uint64_t mono_ms) noexcept {
    assert(count < 1U << kCountBits);
    return kCountedStamp | static_cast<uint32_t>(mono_ms / kMinuteMs & kMinuteMask) << kCountBits | count;
  }
  // The resolution of this stamp's time in ms.
  static uint64_t StampUnitMs(uint32_t stamp) noexcept {
    return (stamp & kCountedStamp) == 0 ? kStampMs : kMinuteMs;
  }
  // The time since `stamp` was set, rounded down to StampUnitMs. Wraps after 99 days (a time) or 45 days (an
  // LFU counter).
  static uint64_t IdleMs(uint32_t stamp, uint64_t now_mono_ms) noexcept {
    if ((stamp & kCountedStamp) == 0) [[likely]]
      return ((StampOf(now_mono_ms) - stamp) & kTimeMask) * kStampMs;
    return ((now_mono_ms / kMinuteMs - (stamp >> kCountBits)) & kMinuteMask) * kMinuteMs;
  }

  // ---- time
  bool expires() const noexcept { return Has(EntryFlag::kExpires); }
  bool timed() const noexcept { return Has(EntryFlag::kTimed); }
  // When the key expires; Never without a TTL.
  [[gnu::always_inline]] Expiry deadline() const noexcept {
    if (!expires()) return Expiry::Never();
    const uint64_t near = near_ms();
    if (near == kFarDeadline) [[unlikely]]
      return {times().deadline.kind, times().deadline.deadline_ms, Expiry::Stage::kKept};
    return {ClockOf(Has(EntryFlag::kWallDeadline)), near, Expiry::Stage::kKept};
  }
  // The entry's own time, beside the deadline, or Never; also Never if the deadline comes first on the same clock.
  Expiry own() const noexcept {
    if (!timed()) return Expiry::Never();
    const bool near = near_ms() != kFarDeadline;
    if (expires()) return near ? Expiry::Never() : times().own;
    return near ? wake() : Expiry::Never();
  }
  // Returns true if the times are in the extra: an own time comes before the deadline, or the deadline is above 48 bits.
  bool has_two_times() const noexcept {
    return Has(EntryFlag::kExtra) && expires() && near_ms() == kFarDeadline;
  }
  // Returns true if the entry has an own time on another clock than its deadline.
  bool mixed() const noexcept {
    return has_two_times() && times().own.kind != Expiry::Kind::kNever &&
           times().own.kind != times().deadline.kind;
  }

  // ---- the timed block. All REQUIRE timed().
  HeapRef wheel_next() const noexcept { return block_of_time()->wheel_next; }
  HeapRef wheel_prev() const noexcept { return block_of_time()->wheel_prev; }
  void set_wheel_next(HeapRef ref) noexcept { block_of_time()->wheel_next = ref; }
  void set_wheel_prev(HeapRef ref) noexcept { block_of_time()->wheel_prev = ref; }
  uint16_t filed() const noexcept { return block_of_time()->filed; }
  void set_filed(uint16_t slot) noexcept { block_of_time()->filed = slot; }
  // The time at which the wheel returns the entry. REQUIRES: a time was set.
  uint64_t wake_ms() const noexcept {
    const uint64_t near = near_ms();
    return near != kFarDeadline ? near : times().wake_ms;
  }
  Expiry wake() const noexcept { return {ClockOf(Has(EntryFlag::kWallDeadline)), wake_ms()}; }
  // Sets the deadline, on the clock of kWallDeadline, and the wake to the same time.
  // REQUIRES: expires(); deadline_ms <= kMaxNearDeadline, or has_times().
  void set_deadline_ms(uint64_t deadline_ms) noexcept {
    assert(expires());
    if (deadline_ms <= kMaxNearDeadline) return set_near_ms(deadline_ms);
    set_two_times({ClockOf(Has(EntryFlag::kWallDeadline)), deadline_ms}, Expiry::Never(), deadline_ms);
  }
  // As set_deadline_ms.
  // REQUIRES: expires(); deadline_ms <= kMaxNearDeadline.
  [[gnu::always_inline]] void set_near_deadline_ms(uint64_t deadline_ms) noexcept {
    assert(expires() && deadline_ms <= kMaxNearDeadline);
    set_near_ms(deadline_ms);
  }
  // Sets the wake, on the clock of kWallDeadline, of an entry without a deadline. A time above 48 bits becomes the highest
  // time below: early, but in 8,900 years.
  // REQUIRES: !expires().
  void set_wake_ms(uint64_t wake_ms) noexcept {
    assert(!expires());
    set_near_ms(wake_ms <= kMaxNearDeadline ? wake_ms : kMaxNearDeadline);
  }
  // REQUIRES: timed() and !expires().
  void clear_wake() noexcept {
    assert(!expires());
    set_near_ms(kFarDeadline);
  }
  // Sets a deadline and an own time; `wake_ms` is the earlier of the two, on the clock of kWallDeadline.
  // REQUIRES: expires(), and has_times().
  void set_two_times(Expiry deadline, Expiry own, uint64_t wake_ms) noexcept {
    assert(expires());
    times().deadline = deadline;
    times().own = own;
    times().wake_ms = wake_ms;
    set_near_ms(kFarDeadline);
  }

  // How long after its deadline the value is stale (the window); mostly 0.
  uint64_t stale_ms() const noexcept { return terms().stale_ms; }
  EntryTerms terms() const noexcept { return has_times() ? times().terms : EntryTerms{}; }

  // ---- extra
  bool has_times() const noexcept { return Has(EntryFlag::kExtra) && extra()->has_times(); }
  // REQUIRES: has_times().
  EntryTimes& times() const noexcept { return extra()->times(); }
  // The number of the entry's tags.
  uint8_t tags() const noexcept { return Has(EntryFlag::kExtra) ? extra()->shape().tags : 0; }
  // Returns true if the entry goes into a stream at its deadline (cache/tags/task_name.h).
  bool task() const noexcept { return Has(EntryFlag::kExtra) && extra()->task(); }
  // Returns true for a task whose time has come, and which waits for its stream.
  bool ready() const noexcept { return Has(EntryFlag::kExtra) && extra()->ready; }
  // Returns true for an entry in a list of victims: no task, and no spared stream (cache/owners/quota.h).
  bool evictable() const noexcept {
    return !Has(EntryFlag::kExtra) || (!extra()->task() && !extra()->spared);
  }
  // The next two methods REQUIRE Has(kExtra).
  EntryExtra* extra() const noexcept {
    assert(Has(EntryFlag::kExtra));
    EntryExtra* pointer = nullptr;
    std::memcpy(&pointer, bytes() + extra_offset(), sizeof pointer);
    return pointer;
  }
  void set_extra(EntryExtra* pointer) noexcept {
    assert(Has(EntryFlag::kExtra));
    std::memcpy(bytes() + extra_offset(), &pointer, sizeof pointer);
  }

  // ---- key and value
  [[gnu::always_inline]] std::string_view key() const noexcept {
    const Lengths at = lengths();
    return {bytes() + at.payload, at.key};
  }
  // The value bytes as stored; encoding() names their form.
  [[gnu::always_inline]] std::string_view stored() const noexcept {
    const Lengths at = lengths();
    return {bytes() + at.payload + at.key, at.value};
  }
  char* stored_data() noexcept {
    const Lengths at = lengths();
    return bytes() + at.payload + at.key;
  }
  // REQUIRES: encoding() is kInteger.
  int64_t integer() const noexcept {
    assert(encoding() == Encoding::kInteger);
    return UnpackInteger(stored());
  }
  // The block of a kBlock value. The result holds a reference of its own, beside the entry's.
  SharedBytes block() const noexcept;
  // The pointer of a kBlock or kRich value. REQUIRES: encoding() is kBlock or kRich.
  void* pointer() const noexcept {
    assert(encoding() == Encoding::kBlock || encoding() == Encoding::kRich);
    void* value = nullptr;
    std::memcpy(&value, stored().data(), sizeof value);
    return value;
  }
  // REQUIRES: encoding() is kRich.
  RichValue* rich() const noexcept {
    assert(encoding() == Encoding::kRich);
    return static_cast<RichValue*>(pointer());
  }
  // The value as text. REQUIRES: kText, kEdited or kBlock (an integer must be formatted first).
  std::string_view text() const noexcept;
  // Length in bytes of the value as a client sees it.
  // REQUIRES: a string (not kRich).
  size_t TextLength() const noexcept;

  Shape shape() const noexcept {
    const Lengths at = lengths();
    return {.key_bytes = at.key,
            .value_bytes = at.value,
            .expires = expires(),
            .extra = extra_shape(),
            .timed = timed()};
  }
  size_t allocated_bytes() const noexcept {
    const Lengths at = lengths();
    return at.payload + at.key + at.value;
  }
  // Gives the entry the value length of `shape` in place, for the same key. Returns the address of the value bytes; the
  // caller fills them in. Returns null, and changes nothing, if `shape` needs another allocation size, other optional parts
  // or a longer length field, or if the entry has timed members or tags, or if its kPhase is not `phase`.
  [[gnu::always_inline]] char* Become(const Shape& shape, uint8_t phase) noexcept {
    if ((flags() & (kOfTheRoom | Bit(EntryFlag::kPhase))) != (shape.parts() | phase)) return nullptr;
    if (shape.extra.any() && !HasTimesAlone(shape)) [[unlikely]]
      return nullptr;
    const size_t at = lengths_offset();
    const auto* raw = reinterpret_cast<const unsigned char*>(bytes() + at);
    if ((raw[0] | raw[1]) >= 0x80) [[unlikely]]
      return BecomeLong(shape.value_bytes);
    if (shape.value_bytes != raw[1] && !SetLength(at + 2, raw[0], raw[1], shape.value_bytes)) return nullptr;
    return bytes() + at + 2 + raw[0];
  }

  // Returns true if the entry has just the optional parts of `shape`.
  bool HasParts(const Shape& shape) const noexcept {
    return (flags() & kParts) == shape.parts() && extra_shape() == shape.extra;
  }
  // Returns true if Become would succeed.
  bool Fits(const Shape& shape) const noexcept;

  // The shortest two's complement form of an integer, low byte first. 0 takes no bytes.
  static size_t PackedIntegerBytes(int64_t value) noexcept;
  static void PackInteger(int64_t value, char* out, size_t size) noexcept { std::memcpy(out, &value, size); }
  static int64_t UnpackInteger(std::string_view packed) noexcept {
    if (packed.empty()) return 0;
    uint64_t value = 0;
    std::memcpy(&value, packed.data(), packed.size());
    const unsigned unused_bits = 64 - 8 * static_cast<unsigned>(packed.size());
    return static_cast<int64_t>(value << unused_bits) >> unused_bits;
  }

 private:
  static constexpr unsigned kCountBits = 8;
  static constexpr uint64_t kMinuteMask = 0xffff;

  struct Lengths {
    size_t payload;  // offset of the key
    size_t key;
    size_t value;
  };

  EntryExtra::Shape extra_shape() const noexcept {
    return Has(EntryFlag::kExtra) ? extra()->shape() : EntryExtra::Shape{};
  }
  // Returns true if the extra has exactly the parts of `shape`, and no tags.
  bool HasTimesAlone(const Shape& shape) const noexcept {
    return shape.extra.tags == 0 && extra_shape() == shape.extra;
  }
  char* bytes() noexcept { return reinterpret_cast<char*>(this); }
  const char* bytes() const noexcept { return reinterpret_cast<const char*>(this); }
  EntryHeader* header() noexcept { return reinterpret_cast<EntryHeader*>(this); }
  const EntryHeader* header() const noexcept { return reinterpret_cast<const EntryHeader*>(this); }
  static Expiry::Kind ClockOf(bool wall) noexcept {
    return wall ? Expiry::Kind::kWall : Expiry::Kind::kRelative;
  }
  uint64_t near_ms() const noexcept {
    const EntryExpiry* block = block_of_time();
    return block->time_low | (static_cast<uint64_t>(block->time_high) << 32);
  }
  void set_near_ms(uint64_t near) noexcept {
    block_of_time()->time_low = static_cast<uint32_t>(near);
    block_of_time()->time_high = static_cast<uint16_t>(near >> 32);
  }
  EntryExpiry* block_of_time() noexcept {
    assert(timed());
    return reinterpret_cast<EntryExpiry*>(bytes() + sizeof(EntryHeader));
  }
  const EntryExpiry* block_of_time() const noexcept {
    assert(timed());
    return reinterpret_cast<const EntryExpiry*>(bytes() + sizeof(EntryHeader));
  }
  // The total size of the optional parts with flags in `flags`.
  static size_t BytesOfParts(unsigned flags) noexcept {
    constexpr unsigned kTimedBit = Bit(EntryFlag::kTimed);
    constexpr unsigned kExtraBit = Bit(EntryFlag::kExtra);
    if constexpr (sizeof(EntryExpiry) == kTimedBit && sizeof(EntryExtra*) == kExtraBit)
      return flags & (kTimedBit | kExtraBit);
    return ((flags & kTimedBit) != 0 ? sizeof(EntryExpiry) : 0) +
           ((flags & kExtraBit) != 0 ? sizeof(EntryExtra*) : 0);
  }
  size_t extra_offset() const noexcept {
    return sizeof(EntryHeader) + BytesOfParts(flags() & Bit(EntryFlag::kTimed));
  }
  size_t lengths_offset() const noexcept { return sizeof(EntryHeader) + BytesOfParts(flags()); }
  [[gnu::always_inline]] Lengths lengths() const noexcept {
    const size_t at = lengths_offset();
    const auto* raw = reinterpret_cast<const unsigned char*>(bytes() + at);
    if ((raw[0] | raw[1]) < 0x80) [[likely]]
      return {at + 2, raw[0], raw[1]};
    return LongLengths(at);
  }
  Lengths LongLengths(size_t at) const noexcept;
  // Returns true if an entry with the key at `payload` has room for `wanted` bytes instead of `value`, also in its length
  // field.
  static bool SameRoom(size_t payload, size_t key, size_t value, size_t wanted) noexcept;
  // Stores the value length. Returns false, and changes nothing, unless SameRoom. The parameters are numbers, not
  // structures, so that rare callers keep their own values in registers. BecomeLong, for lengths above 127, has the same
  // form.
  bool SetLength(size_t payload, size_t key, size_t value, size_t wanted) noexcept;
  char* BecomeLong(size_t value_bytes) noexcept;
};

#ifndef MAYFLY_SANITIZE
static_assert(sizeof(HeapRef) == 4);
static_assert(sizeof(EntryHeader) == 14 && sizeof(EntryExpiry) == 16);
static_assert(offsetof(EntryHeader, colder) == 0 && offsetof(EntryHeader, hotter) == 4);
static_assert(offsetof(EntryHeader, owner) == 12 && offsetof(EntryHeader, flags) == 13);
static_assert(offsetof(EntryExpiry, wheel_prev) == 4 && offsetof(EntryExpiry, time_low) == 8);
static_assert(offsetof(EntryExpiry, time_high) == 12 && offsetof(EntryExpiry, filed) == 14);
#endif

}  // namespace mayfly
