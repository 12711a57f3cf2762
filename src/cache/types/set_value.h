// The value of a set. It has one of three forms, as OBJECT ENCODING names them:
//
//   intset      integers alone, in an IntegerSet
//   listpack    few short members, in a Pack, in the order in which they came
//   hashtable   Members
//
// A set becomes what the next member needs, by Redis's rules (SetLimits), and never goes back to a smaller form.
//
// Members have no deadlines yet, though a Member has room for one (reserved for SADDEX).
//
// If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>

#include "cache/rich_value.h"
#include "cache/types/integer_set.h"
#include "cache/types/members.h"
#include "cache/types/pack.h"

namespace mayfly {

// Up to where the small forms go: the options set-max-intset-entries, set-max-listpack-entries and
// set-max-listpack-value.
struct SetLimits {
  size_t integers = 512;
  size_t packed = 128;
  size_t packed_bytes = 64;  // of a member
};

class SetValue final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kSet;
  enum class Form : uint8_t { kIntegers, kPacked, kLarge };
  // Bytes for the digits of a member that is an integer.
  static constexpr size_t kRoom = PackItem::kRoom;

  // An empty set. REQUIRES: the form is not kLarge.
  explicit SetValue(Form form = Form::kIntegers) noexcept : RichValue(kType) {
    assert(form != Form::kLarge);
    if (form == Form::kPacked) members_ = Pack();
  }

  std::string_view EncodingName() const noexcept override;
  size_t Size() const noexcept override;
  uint64_t Bytes() const noexcept override;
  std::unique_ptr<RichValue> Clone() const override;
  bool FreeSome(size_t budget) noexcept override;
  RichValue** BurialLink() noexcept override;
  void ForEachMember(MemberVisitor& visitor) const override;

  Form form() const noexcept { return static_cast<Form>(members_.index()); }
  bool Contains(std::string_view member) const noexcept;
  // For a reader of that member who comes a little later.
  void Prefetch(std::string_view member) const noexcept {
    if (form() == Form::kLarge) return large().Prefetch(member);
    if (const auto* pack = std::get_if<Pack>(&members_)) pack->Prefetch();
  }
  // False if it was there. Throws std::bad_alloc. REQUIRES: the text does not lie in this set.
  bool Add(std::string_view member, const SetLimits& limits, MemberHome home);
  // Adds all of them or, if it throws, none. Returns how many were not there. A set that could not hold so many in
  // its form becomes large before the first. Throws std::bad_alloc. REQUIRES: as Add; there are some.
  size_t AddAll(std::span<const std::string_view> members, const SetLimits& limits, MemberHome home);
  // False if it was not there.
  bool Remove(std::string_view member) noexcept;

  // Calls fn(std::string_view) for each member. REQUIRES: fn does not change this set.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    char room[kRoom];
    if (const auto* integers = std::get_if<IntegerSet>(&members_)) {
      for (size_t i = 0; i < integers->size(); ++i)
        fn(std::string_view(room, FormatInteger(integers->At(i), room)));
    } else if (const auto* pack = std::get_if<Pack>(&members_)) {
      for (Pack::At at = pack->begin(); at != pack->end(); at = pack->Next(at)) fn(pack->Read(at).Text(room));
    } else {
      large().ForEach([&](const Member& member) { fn(member.name()); });
    }
  }
  // Calls fn(std::string_view) for a page, as Members::Scan; a set that is not large is one page.
  template <typename Fn>
  uint64_t Scan(uint64_t cursor, Fn&& fn) const {
    if (form() == Form::kLarge) return large().Scan(cursor, [&](const Member& member) { fn(member.name()); });
    ForEach(fn);
    return 0;
  }
  // A random member, as a text or as digits in `room`, which has kRoom bytes. O(1) if the set is large.
  // REQUIRES: Size() != 0.
  template <typename Rng>
  std::string_view Random(Rng& rng, char* room) const {
    if (form() == Form::kLarge) return large().Random(rng)->name();
    return At(rng() % Size(), room);
  }
  // The members of a large set; null if form() is another.
  Members* AsMembers() noexcept { return form() == Form::kLarge ? &large() : nullptr; }
  const Members* AsMembers() const noexcept { return form() == Form::kLarge ? &large() : nullptr; }
  void Exchange(SetValue& other) noexcept { members_.swap(other.members_); }
  // Removes a random member, after having called fn(std::string_view) with it. REQUIRES: Size() != 0; fn does
  // not use this set.
  template <typename Rng, typename Fn>
  void Pop(Rng& rng, Fn&& fn) {
    char room[kRoom];
    if (auto* integers = std::get_if<IntegerSet>(&members_)) {
      const size_t index = rng() % integers->size();
      fn(std::string_view(room, FormatInteger(integers->At(index), room)));
      integers->RemoveAt(index);
    } else if (auto* pack = std::get_if<Pack>(&members_)) {
      const Pack::At at = pack->Seek(rng() % pack->size());
      fn(pack->Read(at).Text(room));
      pack->Erase(at, 1);
    } else {
      Member& member = *large().Random(rng);
      fn(member.name());
      large().Remove(member);
    }
  }

  // Reads every member; for tests.
  bool Validate() const noexcept;

 private:
  struct Large {
    explicit Large(MemberHome home) noexcept : members(home) {}
    Members members;
    RichValue* buried_before = nullptr;
  };
  using LargePointer = std::unique_ptr<Large>;

  Members& large() const noexcept { return std::get<LargePointer>(members_)->members; }
  // The member with this index, counted from 0. REQUIRES: form() is not kLarge.
  std::string_view At(size_t index, char* room) const noexcept;
  bool AddInteger(int64_t integer, std::string_view digits, const SetLimits& limits, MemberHome home);
  bool AddPacked(Pack& pack, std::string_view member, const SetLimits& limits, MemberHome home);
  bool AddLarge(std::string_view member);
  // So many members are about to be added, `first` before the others.
  void Expect(std::string_view first, size_t members, const SetLimits& limits, MemberHome home);
  // Makes it large, with one member more, if that is not null.
  void Grow(const std::string_view* member, MemberHome home);

  std::variant<IntegerSet, Pack, LargePointer> members_;
};

}  // namespace mayfly
