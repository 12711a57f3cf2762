// The value of a hash: fields with values, and deadlines of fields with a TTL. It has one of three forms, as OBJECT
// ENCODING names them:
//
//   listpack      few short fields, in a Pack, in the order in which they came: field, value, field, value ...
//   listpackex    the same, once a field ever had a deadline: field, value, deadline (0: none) ...
//   hashtable     TimedMembers
//
// A hash becomes large by Redis's rules (HashLimits), and never goes back. All deadlines are on one clock: that on
// which the first of them was set.
//
// Fields that are due are dropped by DropDue. What its budget leaves over is absent for every other method but Size()
// and NextDeadline(); that may be the case of a large hash only.
//
// If memory runs out, a method throws std::bad_alloc and has changed nothing, but for Set. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/memory/pointer48.h"
#include "cache/entry/rich_value.h"
#include "cache/types/pack.h"
#include "cache/types/timed_members.h"

namespace mayfly {

using LargeHash = TimedMembers;

// Up to where a hash stays small: the options hash-max-listpack-entries and hash-max-listpack-value.
struct HashLimits {
  size_t fields = 512;
  size_t text_bytes = 64;  // of a field's name or value
};

class HashValue final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kHash;
  // Bytes for the digits of a text that is an integer.
  static constexpr size_t kRoom = PackItem::kRoom;

  HashValue() noexcept : RichValue(kType), pack_() {}
  ~HashValue() override;

  std::string_view EncodingName() const noexcept override;
  size_t Size() const noexcept override { return large() ? large_->size() : pack_.size() / Stride(); }
  uint64_t Bytes() const noexcept override;
  std::unique_ptr<RichValue> Clone() const override;
  bool FreeSome(size_t budget) noexcept override { return !large() || large_->FreeSome(budget); }
  RichValue** BurialLink() noexcept override { return large() ? large_->burial_link() : nullptr; }
  void ForEachMember(MemberVisitor& visitor) const override;
  Expiry NextDeadline() const noexcept override;
  bool AllDue(Now now) const noexcept override;
  // Of a small hash it drops all that are due, however many `budget` allows.
  size_t DropDue(Now now, size_t budget) noexcept override;

  // Number of fields that are not due.
  size_t Live() const noexcept { return large() ? large_->live() : Size(); }
  bool Has(std::string_view field) const noexcept;
  // The field's value, or nothing if there is no such field. `room` has kRoom bytes; the text may lie there.
  std::optional<std::string_view> Get(std::string_view field, char* room) const noexcept;

  // For a reader of that field who comes a little later.
  void Prefetch(std::string_view field) const noexcept {
    large() ? large_->Prefetch(field) : pack_.Prefetch();
  }

  // What Set has done.
  struct Progress {
    size_t fields = 0;  // set so far; the same one may count several times
    size_t added = 0;   // of them, those that were new
  };
  // Sets fields: `pairs` has a name, its value, the next name ... They lose their deadlines, unless
  // `keep_deadlines`. If memory runs out, std::bad_alloc is thrown and what `progress` says has been done.
  // REQUIRES: no text lies in this hash.
  void Set(std::span<const std::string_view> pairs, const HashLimits& limits, MemberHome home,
           bool keep_deadlines, Progress& progress);
  // False if there is no such field.
  bool Remove(std::string_view field) noexcept;

  // Never if the field has none. REQUIRES: there is such a field.
  Expiry DeadlineOf(std::string_view field) const noexcept;
  // Converts the deadline if the others are on another clock. REQUIRES: there is such a field, and the deadline is
  // neither Never nor reached at `now`.
  void SetDeadline(std::string_view field, Expiry deadline, Now now);
  // False if the field has none. REQUIRES: there is such a field.
  bool ClearDeadline(std::string_view field);

  // Calls fn(name, value), two std::string_view, for each field. REQUIRES: fn does not change this hash.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    if (large()) return large_->ForEach([&](const Member& member) { fn(member.name(), member.value()); });
    for (Pack::At at = pack_.begin(); at != pack_.end(); at = Skip(at)) ShowPair(at, fn);
  }
  // Calls fn as ForEach for a page, as Keyspace::Scan; a small hash is one page.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    if (large())
      return large_->Scan(cursor, [&](const Member& member) { fn(member.name(), member.value()); });
    ForEach(fn);
    return 0;
  }
  // Calls fn as ForEach for a random field. Returns what tells it from the others. O(1) if the hash is large.
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
  // Whether Random and Scan are cheap beside a walk through all fields.
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
  // Where the deadline of the field at `at` is. REQUIRES: the form is kTimedPack.
  Pack::At DeadlineAt(Pack::At at) const noexcept { return pack_.Next(pack_.Next(at)); }
  uint64_t DeadlineMs(Pack::At at) const noexcept {
    return static_cast<uint64_t>(pack_.Read(DeadlineAt(at)).integer);
  }
  // On the clock of the deadlines. REQUIRES: there ever was one.
  uint64_t NowMs(Now now) const noexcept { return Expiry::NowOn(clock_, now); }
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

  // All of it lies behind the type, in what would be padding.
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
