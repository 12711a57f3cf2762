// One key with its value, in one allocation.
//
//   byte 0        4        8               12      13      14
//        | colder | hotter | stamp:28 enc:4| owner | flags |  [expiry block] [extra*]  key length, value
//        length,
//        |<- LRU links  ->|                                    16 bytes       8 bytes   key bytes, value
//        bytes
//
//   expiry block, only with a TTL:   | wheel next 4 | wheel prev 4 | deadline 6 | filed 2 |
//   extra, only where a rare feature is used: a pointer to an EntryExtra (far deadlines; later: stale window,
//   tags) lengths: 7 bits a byte, low bits first, so one byte each for keys and values below 128 bytes value
//   bytes by encoding: the text itself; an integer in its shortest two's complement (0 to 8 bytes); or a
//   pointer of 8 bytes to a SharedBytes block (texts above kMaxInlineValue) or to a rich value.
//
// So a plain key costs 16 bytes beyond key and value, one with a TTL 32. Sanitizer builds have wide links.
// Units: stamp counts kStampMs since boot and wraps (IdleMs tells its age); under an LFU policy it becomes
// Redis's counter when the entry is used (cache/lfu.h). A deadline is in ms: monotonic, or Unix time where
// kWallDeadline is set. Ownership: Keyspace alone creates, relocates and frees entries; everybody else may
// look until the next change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/heap.h"
#include "base/shared_bytes.h"

namespace mayfly {

// How the value bytes are to be read. kText and kEdited differ only in what OBJECT ENCODING says: Redis calls
// a short text that was changed in place "raw".
enum class Encoding : uint8_t { kText, kEdited, kInteger, kBlock, kRich };

enum class EntryFlag : uint8_t {
  kExpires = 1 << 0,       // has the expiry block
  kWallDeadline = 1 << 1,  // the deadline is Unix time, filed in the wall wheel
  kExtra = 1 << 2,         // has an EntryExtra
  kSaved = 1 << 3,         // the running snapshot has it already
  kWatched = 1 << 4,       // a client WATCHes it
  kTracked = 1 << 5,       // a client caches it
  kVisited = 1 << 6,       // SIEVE's bit
  kWaitedFor = 1 << 7,     // a parked client waits for it, or it is leased
};

// What few entries need. Allocated beside the entry and freed with it.
struct EntryExtra {
  uint64_t far_deadline_ms = 0;  // deadlines that 48 bits cannot say
};

#pragma pack(push, 1)
struct EntryExpiry {
  HeapRef wheel_next;
  HeapRef wheel_prev;
  uint32_t deadline_low;
  uint16_t deadline_high;
  uint16_t filed;  // which slot of the wheel
};

struct EntryHeader {
  HeapRef colder;
  HeapRef hotter;
  uint32_t stamp_and_encoding;  // not two bit fields, which gcc would write byte by byte
  uint8_t owner;                // which keyspace
  uint8_t flags;
};
#pragma pack(pop)

class Entry {
 public:
  static constexpr uint64_t kStampMs = 64;
  static constexpr unsigned kStampBits = 28;
  static constexpr uint32_t kStampMask = (1U << kStampBits) - 1;
  static constexpr uint32_t kCountedStamp = 1U << (kStampBits - 1);  // a count of hits, not a time
  static constexpr uint32_t kTimeMask = kCountedStamp - 1;
  static constexpr uint64_t kMinuteMs = 60'000;
  static constexpr size_t kMaxInlineValue = 16 * 1024;
  static constexpr uint64_t kMaxNearDeadline = (uint64_t{1} << 48) - 2;
  static constexpr uint64_t kFarDeadline = kMaxNearDeadline + 1;  // "look into the extra"

  // What an entry is made of, before it exists.
  struct Shape {
    size_t key_bytes = 0;
    size_t value_bytes = 0;
    bool expires = false;
    bool extra = false;
    size_t Total() const noexcept;
  };

  // Lays an entry out in `memory` (shape.Total() bytes) and writes key, lengths and a zeroed header.
  // The value bytes, links, deadline and extra pointer are the caller's to fill.
  static Entry* Format(void* memory, const Shape& shape, std::string_view key) noexcept;

  // ---- header
  HeapRef colder() const noexcept { return header()->colder; }
  HeapRef hotter() const noexcept { return header()->hotter; }
  void set_colder(HeapRef ref) noexcept { header()->colder = ref; }
  void set_hotter(HeapRef ref) noexcept { header()->hotter = ref; }
  uint32_t stamp() const noexcept { return header()->stamp_and_encoding & kStampMask; }
  // REQUIRES: stamp <= kStampMask.
  void set_stamp(uint32_t stamp) noexcept {
    header()->stamp_and_encoding = (header()->stamp_and_encoding & ~kStampMask) | stamp;
  }
  Encoding encoding() const noexcept {
    return static_cast<Encoding>(header()->stamp_and_encoding >> kStampBits);
  }
  void set_encoding(Encoding encoding) noexcept {
    header()->stamp_and_encoding = stamp() | static_cast<uint32_t>(encoding) << kStampBits;
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
    return kCountedStamp | static_cast<uint32_t>(mono_ms / kMinuteMs & kMinuteMask) << kCountBits | count;
  }
  // What stamps of this kind are rounded down to.
  static uint64_t StampUnitMs(uint32_t stamp) noexcept {
    return (stamp & kCountedStamp) == 0 ? kStampMs : kMinuteMs;
  }
  // The age of a stamp, in whole units of its kind. Wraps: after 99 days, or 45 for a count.
  static uint64_t IdleMs(uint32_t stamp, uint64_t now_mono_ms) noexcept {
    if ((stamp & kCountedStamp) == 0) [[likely]]
      return ((StampOf(now_mono_ms) - stamp) & kTimeMask) * kStampMs;
    return ((now_mono_ms / kMinuteMs - (stamp >> kCountBits)) & kMinuteMask) * kMinuteMs;
  }

  // ---- expiry. REQUIRES for all but expires(): expires().
  bool expires() const noexcept { return Has(EntryFlag::kExpires); }
  HeapRef wheel_next() const noexcept { return expiry()->wheel_next; }
  HeapRef wheel_prev() const noexcept { return expiry()->wheel_prev; }
  void set_wheel_next(HeapRef ref) noexcept { expiry()->wheel_next = ref; }
  void set_wheel_prev(HeapRef ref) noexcept { expiry()->wheel_prev = ref; }
  uint16_t filed() const noexcept { return expiry()->filed; }
  void set_filed(uint16_t slot) noexcept { expiry()->filed = slot; }
  uint64_t deadline_ms() const noexcept {
    const EntryExpiry* block = expiry();
    const uint64_t near = block->deadline_low | (static_cast<uint64_t>(block->deadline_high) << 32);
    return near != kFarDeadline ? near : extra()->far_deadline_ms;
  }
  // A deadline above kMaxNearDeadline REQUIRES an extra.
  void set_deadline_ms(uint64_t deadline_ms) noexcept {
    const uint64_t near = deadline_ms <= kMaxNearDeadline ? deadline_ms : kFarDeadline;
    if (near == kFarDeadline) extra()->far_deadline_ms = deadline_ms;
    expiry()->deadline_low = static_cast<uint32_t>(near);
    expiry()->deadline_high = static_cast<uint16_t>(near >> 32);
  }

  // ---- extra. REQUIRES: Has(kExtra).
  EntryExtra* extra() const noexcept {
    EntryExtra* pointer = nullptr;
    std::memcpy(&pointer, bytes() + extra_offset(), sizeof pointer);
    return pointer;
  }
  void set_extra(EntryExtra* pointer) noexcept {
    std::memcpy(bytes() + extra_offset(), &pointer, sizeof pointer);
  }

  // ---- key and value
  [[gnu::always_inline]] std::string_view key() const noexcept {
    const Lengths at = lengths();
    return {bytes() + at.payload, at.key};
  }
  // The bytes as they are stored; what they mean is the encoding's.
  [[gnu::always_inline]] std::string_view stored() const noexcept {
    const Lengths at = lengths();
    return {bytes() + at.payload + at.key, at.value};
  }
  char* stored_data() noexcept {
    const Lengths at = lengths();
    return bytes() + at.payload + at.key;
  }
  // REQUIRES: encoding() is kInteger.
  int64_t integer() const noexcept { return UnpackInteger(stored()); }
  // The block of a kBlock value, borrowed: the entry keeps its reference.
  SharedBytes block() const noexcept;
  // The pointer of a kBlock or kRich value.
  void* pointer() const noexcept {
    void* value = nullptr;
    std::memcpy(&value, stored().data(), sizeof value);
    return value;
  }
  // The value as text where it is one (kText, kEdited, kBlock); an integer is not text until it is formatted.
  std::string_view text() const noexcept;
  // Length in bytes of the value as a client sees it. REQUIRES: a string (not kRich).
  size_t TextLength() const noexcept;

  Shape shape() const noexcept {
    const Lengths at = lengths();
    return {
        .key_bytes = at.key, .value_bytes = at.value, .expires = expires(), .extra = Has(EntryFlag::kExtra)};
  }
  size_t allocated_bytes() const noexcept {
    const Lengths at = lengths();
    return at.payload + at.key + at.value;
  }
  // Becomes an entry of `shape` for the same key, where that needs neither another allocation nor the key to
  // move: returns where the value's bytes go, which are the caller's to fill. Otherwise null, and unchanged.
  [[gnu::always_inline]] char* Become(const Shape& shape) noexcept {
    if (shape.expires != expires() || shape.extra != Has(EntryFlag::kExtra)) return nullptr;
    const Lengths at = lengths();
    if (shape.value_bytes != at.value && !SetLength(at, shape)) return nullptr;
    return bytes() + at.payload + at.key;
  }

  // An integer in its shortest two's complement, low byte first: 0 takes no byte.
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

  char* bytes() noexcept { return reinterpret_cast<char*>(this); }
  const char* bytes() const noexcept { return reinterpret_cast<const char*>(this); }
  EntryHeader* header() noexcept { return reinterpret_cast<EntryHeader*>(this); }
  const EntryHeader* header() const noexcept { return reinterpret_cast<const EntryHeader*>(this); }
  EntryExpiry* expiry() noexcept { return reinterpret_cast<EntryExpiry*>(bytes() + sizeof(EntryHeader)); }
  const EntryExpiry* expiry() const noexcept {
    return reinterpret_cast<const EntryExpiry*>(bytes() + sizeof(EntryHeader));
  }
  size_t extra_offset() const noexcept { return sizeof(EntryHeader) + (expires() ? sizeof(EntryExpiry) : 0); }
  size_t lengths_offset() const noexcept {
    return extra_offset() + (Has(EntryFlag::kExtra) ? sizeof(EntryExtra*) : 0);
  }
  [[gnu::always_inline]] Lengths lengths() const noexcept {
    const size_t at = lengths_offset();
    const auto* raw = reinterpret_cast<const unsigned char*>(bytes() + at);
    if ((raw[0] | raw[1]) < 0x80) [[likely]]
      return {at + 2, raw[0], raw[1]};
    return LongLengths(at);
  }
  Lengths LongLengths(size_t at) const noexcept;
  // False where `shape` needs another size class or more bytes for its length.
  bool SetLength(const Lengths& at, const Shape& shape) noexcept;
};

#ifndef MAYFLY_SANITIZE
static_assert(sizeof(HeapRef) == 4);
static_assert(sizeof(EntryHeader) == 14 && sizeof(EntryExpiry) == 16);
static_assert(offsetof(EntryHeader, colder) == 0 && offsetof(EntryHeader, hotter) == 4);
static_assert(offsetof(EntryHeader, owner) == 12 && offsetof(EntryHeader, flags) == 13);
static_assert(offsetof(EntryExpiry, wheel_prev) == 4 && offsetof(EntryExpiry, deadline_low) == 8);
static_assert(offsetof(EntryExpiry, deadline_high) == 12 && offsetof(EntryExpiry, filed) == 14);
#endif

}  // namespace mayfly
