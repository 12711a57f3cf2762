// The value of a hash: fields with values, and deadlines of fields with a TTL. OBJECT ENCODING names the three forms of a
// hash:
//
//   listpack      few short fields, in a Pack, in order of insertion: field, value, field, value ...
//   listpackex    likewise, after a field ever had a deadline: field, value, deadline (0: none) ...
//   hashtable     TimedMembers
//
// A hash becomes large by Redis's rules (HashLimits), and never small again. All deadlines are on one clock: the clock of
// the first deadline.
//
// DropDue drops due fields. Due fields beyond its budget are absent for every method except Size() and NextDeadline(); only
// a large hash may have such fields.
//
// If memory runs out, a method throws std::bad_alloc and has changed nothing, except Set. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/memory/pointer48.h"
#include "cache/entry/rich_value.h"
#include "cache/types/limits.h"
#include "cache/types/pack.h"
#include "cache/types/timed_members.h"

namespace mayfly {

using LargeHash = TimedMembers;

class HashValue final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kHash;
  // Bytes for the digits of an integer, as a text.
  static constexpr size_t kRoom = PackItem::kRoom;

  HashValue() noexcept : RichValue(kType), pack_() {}
  ~HashValue() override;

  std::string_view EncodingName() const noexcept override;
  size_t Size() const noexcept override { return large() ? large_->size() : pack_.size() / Stride(); }
  uint64_t Bytes() const noexcept override;
  std::unique_ptr<RichValue> Clone() const override;
  bool FreeSome(size_t budget) noexcept override { return !large() || large_->FreeSome(budget); }
  RichValue** BurialLink() noexcept override { return large() ? large_->burial_link() : nullptr; }
  ValueListener* listener() const noexcept override { return large() ? large_->listener() : nullptr; }
  void ForEachMember(MemberVisitor& visitor) const override;
  Expiry NextDeadline() const noexcept override;
  bool AllDue(Now now) const noexcept override;
  // In a small hash, drops all due fields, even beyond `budget`.
  size_t DropDue(Now now, size_t budget, NameListener* listener) noexcept override;

  // Number of fields that are not due.
  size_t Live() const noexcept { return large() ? large_->live() : Size(); }
  bool Has(std::string_view field) const noexcept;
  // The field's value, or nothing if there is no such field. `room` has kRoom bytes; the result may be in `room`.
  std::optional<std::string_view> Get(std::string_view field, char* room) const noexcept;

  // Prefetches for a read of the field a little later.
  void Prefetch(std::string_view field) const noexcept {
    large() ? large_->Prefetch(field) : pack_.Prefetch();
  }

  // The result of Set.
  struct Progress {
    size_t fields = 0;  // set so far; a repeated field counts several times
    size_t added = 0;   // new fields among them
  };
  // Sets fields: `pairs` has a name, its value, the next name ... The fields lose their deadlines, unless `keep_deadlines`.
  // If memory runs out, Set throws std::bad_alloc, and `progress` counts the fields set before.
  // REQUIRES: no text lies in this hash.
  void Set(std::span<const std::string_view> pairs, const HashLimits& limits, MemberHome home,
           bool keep_deadlines, Progress& progress);
  // Returns false if there is no such field.
  bool Remove(std::string_view field) noexcept;

  // Never if the field has no deadline. REQUIRES: there is such a field.
  Expiry DeadlineOf(std::string_view field) const noexcept;
  // Converts the deadline if the others are on another clock. REQUIRES: there is such a field, and the deadline is neither
  // Never nor reached at `now`.
  void SetDeadline(std::string_view field, Expiry deadline, Now now);
  // Returns false if the field has no deadline. REQUIRES: there is such a field.
  bool ClearDeadline(std::string_view field);

  // Calls fn(name, value), two std::string_view, for each field. REQUIRES: fn does not change this hash.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    if (large()) return large_->ForEach([&](const Member& member) { fn(member.name(), member.value()); });
    for (Pack::At at = pack_.begin(); at != pack_.end(); at = Skip(at)) ShowPair(at, fn);
  }
  // Number of fields that are not due at `now`, before DropDue. O(n) for a small hash.
  size_t LiveAt(Now now) const noexcept {
    if (large()) return large_->LiveAt(TimeOfDue(now));
    size_t live = 0;
    ForEachLiveAt(now, [&](std::string_view, std::string_view, Expiry) { ++live; });
    return live;
  }
  // Calls fn(name, value, deadline) for each of the fields that LiveAt counts. REQUIRES: fn does not change this hash.
  template <typename Fn>
  void ForEachLiveAt(Now now, Fn&& fn) const {
    const uint64_t now_ms = TimeOfDue(now);
    const auto show = [&](std::string_view name, std::string_view value, uint64_t ms) {
      if (ms == 0) return fn(name, value, Expiry::Never());
      if (ms > now_ms) fn(name, value, Expiry{clock(), ms});
    };
    if (large()) {
      return large_->ForEach(
          [&](const Member& member) { show(member.name(), member.value(), LargeHash::DeadlineOf(member)); });
    }
    for (Pack::At at = pack_.begin(); at != pack_.end(); at = Skip(at)) {
      const uint64_t ms = Stride() == StrideOf(Form::kTimedPack) ? DeadlineMs(at) : 0;
      ShowPair(at, [&](std::string_view name, std::string_view value) { show(name, value, ms); });
    }
  }
  // The fields of a large hash that LiveAt counts, for a walk in slices. REQUIRES: large().
  MemberTable TableAt(Now now) noexcept;
  // Calls fn as ForEach for a page, as Keyspace::Scan; a small hash is one page.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    if (large())
      return large_->Scan(cursor, [&](const Member& member) { fn(member.name(), member.value()); });
    ForEach(fn);
    return 0;
  }
  // Calls fn as ForEach for a random field. Returns an identity of the field in a large hash, else null. O(1) if the hash is
  // large.
  // REQUIRES: Live() != 0.
  template <typename Rng, typename Fn>
  const void* Random(Rng& random, Fn&& fn) const {
    if (large()) {
      const Member& member = large_->Random(random);
      fn(member.name(), member.value());
      return &member;
    }
    ShowPair(pack_.Seek(random() % Size() * Stride()), fn);
    return nullptr;
  }
  // Calls fn as Random for `count` fields, which may repeat. Throws std::bad_alloc. REQUIRES: Live() != 0.
  template <typename Rng, typename Fn>
  void Draw(Rng& random, uint64_t count, Fn&& fn) const {
    if (large())
      return large_->Draw(random, count, [&](const Member& member) { fn(member.name(), member.value()); });
    for (; count != 0; --count) Random(random, fn);
  }
  // Returns true if Random and Scan are cheap compared with a walk through all fields.
  bool large() const noexcept { return form_ == Form::kLarge; }

  // Reads every field; for tests.
  bool Validate() const noexcept;

 private:
  enum class Form : uint8_t { kPack, kTimedPack, kLarge };

  // Items of a field in the pack.
  static constexpr size_t StrideOf(Form form) noexcept { return form == Form::kTimedPack ? 3 : 2; }
  size_t Stride() const noexcept { return StrideOf(form_); }
  Pack::At Skip(Pack::At at) const noexcept;
  Pack::At Locate(std::string_view field) const noexcept { return LocateIn(pack_, Stride(), field); }
  static Pack::At LocateIn(const Pack& pack, size_t stride, std::string_view field) noexcept;
  // The place of the deadline of the field at `at`. REQUIRES: the form is kTimedPack.
  Pack::At DeadlineAt(Pack::At at) const noexcept { return pack_.Next(pack_.Next(at)); }
  uint64_t DeadlineMs(Pack::At at) const noexcept {
    return static_cast<uint64_t>(pack_.Read(DeadlineAt(at)).integer);
  }
  // The time on the clock of the deadlines. REQUIRES: the hash has or had a deadline.
  uint64_t NowMs(Now now) const noexcept { return Expiry::NowOn(clock_, now); }
  Expiry::Kind clock() const noexcept { return clock_; }
  // Fields with a deadline up to this time are due.
  uint64_t TimeOfDue(Now now) const noexcept { return clock_ == Expiry::Kind::kNever ? 0 : NowMs(now); }
  template <typename Fn>
  void ShowPair(Pack::At at, Fn&& fn) const {
    char room_of_name[kRoom];
    char room_of_value[kRoom];
    const std::string_view name = pack_.ReadText(at, room_of_name);
    fn(name, pack_.ReadText(pack_.Next(at), room_of_value));
  }

  static bool SetIn(Pack& pack, size_t stride, std::string_view field, std::string_view value,
                    bool keep_deadline);
  void SetSmall(std::span<const std::string_view> pairs, const HashLimits& limits, MemberHome home,
                bool keep_deadlines, Progress& progress);
  static void SetLarge(LargeHash& hash, std::span<const std::string_view> pairs, bool keep_deadlines,
                       Progress& progress);
  static std::unique_ptr<LargeHash> Enlarged(const Pack& pack, size_t stride, MemberHome home);
  void BecomeLarge(std::unique_ptr<LargeHash> large) noexcept;
  void BecomeTimed();

  // All data members lie behind `type`, in bytes that would be padding.
  Form form_ : 2 = Form::kPack;
  Expiry::Kind clock_ : 2 = Expiry::Kind::kNever;  // of the deadlines
  // NOLINTBEGIN(readability-identifier-naming): the members of this union are private, too
  union {
    Pack pack_;
    Pointer48<LargeHash> large_;  // owned
  };
  // NOLINTEND(readability-identifier-naming)
};

static_assert(sizeof(HashValue) == 2 * sizeof(void*));

}  // namespace mayfly
