// One member of a large hash, set or sorted set, in one allocation of the heap. The layout:
//
//   | flags 1 | size of the name 1 or 4 | size of the value 1 or 4, if present | score 8, if present |
//   | deadline 8, if present | name | value |
//
// The flags also have the member's mark, for Members::StartWalk: a number below 4.
// The name is a set's member or a hash's field. Both sizes take 4 bytes if the name or the value is longer than 255 bytes.
// Ownership: Members owns the member. A member does not move, but Members::Change may replace a member by another.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace mayfly {

// The parts of a member. Texts are borrowed.
struct MemberParts {
  std::string_view name;
  std::optional<std::string_view> value = {};
  std::optional<double> score = {};
  std::optional<uint64_t> deadline_ms = {};
};

class Member {
 public:
  // A size is 4 bytes at most.
  static bool CanHold(const MemberParts& parts) noexcept {
    return parts.name.size() <= UINT32_MAX && (!parts.value || parts.value->size() <= UINT32_MAX);
  }
  // REQUIRES: CanHold(parts), as for Fill.
  static size_t SizeOf(const MemberParts& parts) noexcept {
    return AtLeast(TextsAt(FlagsOf(parts)) + parts.name.size() + (parts.value ? parts.value->size() : 0));
  }
  // REQUIRES: this memory has SizeOf(parts) bytes, and no text of `parts` lies in this memory.
  void Fill(const MemberParts& parts) noexcept {
    const uint8_t flags = FlagsOf(parts);
    bytes()[0] = static_cast<char>(flags);
    SetSize(flags, 0, parts.name.size());
    if (parts.value) SetSize(flags, 1, parts.value->size());
    if (parts.score) set_score(*parts.score);
    if (parts.deadline_ms) set_deadline_ms(*parts.deadline_ms);
    char* const texts = bytes() + TextsAt(flags);
    parts.name.copy(texts, parts.name.size());
    if (parts.value) parts.value->copy(texts + parts.name.size(), parts.value->size());
  }

  std::string_view name() const noexcept { return {bytes() + TextsAt(flags()), SizeAt(0)}; }
  bool has_value() const noexcept { return (flags() & kValue) != 0; }
  // REQUIRES: has_value().
  std::string_view value() const noexcept {
    assert(has_value());
    return {bytes() + TextsAt(flags()) + SizeAt(0), SizeAt(1)};
  }
  // REQUIRES: has_value(); `value` is as long as the present value.
  void set_value(std::string_view value) noexcept {
    assert(has_value() && value.size() == SizeAt(1));
    value.copy(bytes() + TextsAt(flags()) + SizeAt(0), value.size());
  }
  // REQUIRES: the member has a score.
  double score() const noexcept { return Load<double>(ScoreAt(flags())); }
  void set_score(double score) noexcept { Store(ScoreAt(flags()), score); }
  bool timed() const noexcept { return (flags() & kTimed) != 0; }
  // On the clock of the value's deadlines. REQUIRES: timed().
  uint64_t deadline_ms() const noexcept { return Load<uint64_t>(DeadlineAt(flags())); }
  void set_deadline_ms(uint64_t deadline_ms) noexcept { Store(DeadlineAt(flags()), deadline_ms); }
  // A new member's mark is 0.
  unsigned mark() const noexcept { return flags() >> kMarkShift; }
  void set_mark(unsigned mark) noexcept {
    bytes()[0] = static_cast<char>((flags() & ((1U << kMarkShift) - 1)) | mark << kMarkShift);
  }
  // All parts, for making another member.
  MemberParts parts() const noexcept {
    MemberParts all{.name = name()};
    if (has_value()) all.value = value();
    if ((flags() & kScored) != 0) all.score = score();
    if (timed()) all.deadline_ms = deadline_ms();
    return all;
  }
  // The number of allocated bytes.
  size_t allocated_bytes() const noexcept {
    return AtLeast(TextsAt(flags()) + SizeAt(0) + (has_value() ? SizeAt(1) : 0));
  }

 private:
  static constexpr uint8_t kValue = 1;
  static constexpr uint8_t kScored = 2;
  static constexpr uint8_t kTimed = 4;
  static constexpr uint8_t kWide = 8;        // sizes take 4 bytes
  static constexpr unsigned kMarkShift = 6;  // the mark takes the highest bits
  static constexpr size_t kNarrowMax = 255;

  // A HeapRef needs objects aligned to 16; objects of up to 8 bytes are not.
  static size_t AtLeast(size_t bytes) noexcept { return std::max<size_t>(bytes, 9); }
  static uint8_t FlagsOf(const MemberParts& parts) noexcept {
    const bool wide = parts.name.size() > kNarrowMax || (parts.value && parts.value->size() > kNarrowMax);
    return static_cast<uint8_t>((parts.value ? kValue : 0) | (parts.score ? kScored : 0) |
                                (parts.deadline_ms ? kTimed : 0) | (wide ? kWide : 0));
  }
  static size_t SizeBytes(uint8_t flags) noexcept { return (flags & kWide) != 0 ? sizeof(uint32_t) : 1; }
  static size_t ScoreAt(uint8_t flags) noexcept {
    return 1 + SizeBytes(flags) * ((flags & kValue) != 0 ? 2 : 1);
  }
  static size_t DeadlineAt(uint8_t flags) noexcept {
    return ScoreAt(flags) + ((flags & kScored) != 0 ? sizeof(double) : 0);
  }
  static size_t TextsAt(uint8_t flags) noexcept {
    return DeadlineAt(flags) + ((flags & kTimed) != 0 ? sizeof(uint64_t) : 0);
  }

  char* bytes() noexcept { return reinterpret_cast<char*>(this); }
  const char* bytes() const noexcept { return reinterpret_cast<const char*>(this); }
  uint8_t flags() const noexcept { return static_cast<uint8_t>(bytes()[0]); }
  // The size of the name (0) or the value (1).
  size_t SizeAt(size_t which) const noexcept {
    if ((flags() & kWide) == 0) return static_cast<uint8_t>(bytes()[1 + which]);
    return Load<uint32_t>(1 + which * sizeof(uint32_t));
  }
  void SetSize(uint8_t flags, size_t which, size_t size) noexcept {
    if ((flags & kWide) == 0)
      bytes()[1 + which] = static_cast<char>(size);
    else
      Store(1 + which * sizeof(uint32_t), static_cast<uint32_t>(size));
  }
  template <typename T>
  T Load(size_t at) const noexcept {
    T number;
    std::memcpy(&number, bytes() + at, sizeof number);
    return number;
  }
  template <typename T>
  void Store(size_t at, T number) noexcept {
    std::memcpy(bytes() + at, &number, sizeof number);
  }
};

}  // namespace mayfly
