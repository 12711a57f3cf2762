#include "cache/types/set_value.h"

#include <algorithm>
#include <vector>

#include "base/heap.h"
#include "base/numbers.h"

namespace mayfly {
namespace {

// No set is packed into more bytes.
constexpr size_t kMostPackedBytes = Pack::kTooLong;

std::optional<int64_t> IntegerOf(std::string_view member) noexcept {
  const PackItem item = PackItem::Of(member);
  if (item.kind != PackItem::Kind::kInteger) return std::nullopt;
  return item.integer;
}

size_t DigitsOf(int64_t integer) noexcept {
  char digits[kMaxIntegerText];
  return FormatInteger(integer, digits);
}

size_t LongestDigits(const IntegerSet& integers) noexcept {
  if (integers.size() == 0) return 0;
  return std::max(DigitsOf(integers.At(0)), DigitsOf(integers.At(integers.size() - 1)));
}

}  // namespace

std::string_view SetValue::EncodingName() const noexcept {
  switch (form()) {
    case Form::kIntegers:
      return "intset";
    case Form::kPacked:
      return "listpack";
    case Form::kLarge:
      return "hashtable";
  }
  return "";
}

size_t SetValue::Size() const noexcept {
  if (const auto* integers = std::get_if<IntegerSet>(&members_)) return integers->size();
  if (const auto* pack = std::get_if<Pack>(&members_)) return pack->size();
  return large().size();
}

uint64_t SetValue::Bytes() const noexcept {
  constexpr uint64_t kOwn = Heap::SizeClass(sizeof(SetValue));
  if (const auto* integers = std::get_if<IntegerSet>(&members_)) return kOwn + integers->memory();
  if (const auto* pack = std::get_if<Pack>(&members_)) return kOwn + pack->memory();
  return kOwn + Heap::SizeClass(sizeof(Large)) + large().bytes();
}

std::unique_ptr<RichValue> SetValue::Clone() const {
  auto copy = std::make_unique<SetValue>();
  if (const auto* integers = std::get_if<IntegerSet>(&members_)) {
    copy->members_ = integers->Clone();
  } else if (const auto* pack = std::get_if<Pack>(&members_)) {
    copy->members_ = pack->Clone();
  } else {
    auto members = std::make_unique<Large>(large().home());
    large().ForEach([&](const Member& member) { members->members.Add(member.parts()); });
    copy->members_ = std::move(members);
  }
  return copy;
}

bool SetValue::FreeSome(size_t budget) noexcept { return form() != Form::kLarge || large().FreeSome(budget); }

RichValue** SetValue::BurialLink() noexcept {
  return form() == Form::kLarge ? &std::get<LargePointer>(members_)->buried_before : nullptr;
}

void SetValue::ForEachMember(MemberVisitor& visitor) const {
  ForEach([&](std::string_view member) { visitor.Visit({&member, 1}); });
}

std::string_view SetValue::At(size_t index, char* room) const noexcept {
  if (const auto* integers = std::get_if<IntegerSet>(&members_))
    return {room, FormatInteger(integers->At(index), room)};
  const Pack& pack = std::get<Pack>(members_);
  return pack.Read(pack.Seek(index)).Text(room);
}

bool SetValue::Contains(std::string_view member) const noexcept {
  if (form() == Form::kLarge) return large().Find(member) != nullptr;
  const PackItem item = PackItem::Of(member);
  if (const auto* integers = std::get_if<IntegerSet>(&members_))
    return item.kind == PackItem::Kind::kInteger && integers->Contains(item.integer);
  const Pack& pack = std::get<Pack>(members_);
  return pack.Find(item, pack.begin()) != pack.end();
}

void SetValue::Expect(std::string_view first, size_t members, const SetLimits& limits, MemberHome home) {
  if (form() == Form::kLarge) return;
  if (Size() == 0 && (members > limits.integers || !IntegerOf(first))) members_ = Pack();
  const size_t most = form() == Form::kIntegers ? limits.integers : limits.packed;
  if (members > most) Grow(nullptr, home);
}

bool SetValue::Add(std::string_view member, const SetLimits& limits, MemberHome home) {
  if (form() == Form::kLarge) return AddLarge(member);
  if (auto* pack = std::get_if<Pack>(&members_)) return AddPacked(*pack, member, limits, home);
  auto& integers = std::get<IntegerSet>(members_);
  if (const std::optional<int64_t> integer = IntegerOf(member))
    return AddInteger(*integer, member, limits, home);

  const bool fits = integers.size() < limits.packed && member.size() <= limits.packed_bytes &&
                    LongestDigits(integers) <= limits.packed_bytes;
  if (!fits) return Grow(&member, home), true;
  Pack pack;
  for (size_t i = 0; i < integers.size(); ++i) {
    const PackItem item = PackItem::Of(integers.At(i));
    pack.Append({&item, 1});
  }
  const PackItem item = PackItem::Of(member);
  pack.Append({&item, 1});
  members_ = std::move(pack);
  return true;
}

size_t SetValue::AddAll(std::span<const std::string_view> members, const SetLimits& limits, MemberHome home) {
  if (members.size() == 1 && Size() != 0) return Add(members[0], limits, home) ? 1 : 0;
  std::vector<bool> is_new(members.size());
  size_t added = 0;
  size_t i = 0;
  try {
    Expect(members[0], members.size(), limits, home);
    for (; i < members.size(); ++i) {
      is_new[i] = Add(members[i], limits, home);
      added += is_new[i] ? 1 : 0;
    }
  } catch (...) {
    while (i-- != 0) {
      if (is_new[i]) Remove(members[i]);
    }
    throw;
  }
  return added;
}

bool SetValue::AddInteger(int64_t integer, std::string_view digits, const SetLimits& limits,
                          MemberHome home) {
  auto& integers = std::get<IntegerSet>(members_);
  if (integers.size() < limits.integers) return integers.Add(integer);
  if (integers.Contains(integer)) return false;
  Grow(&digits, home);
  return true;
}

bool SetValue::AddPacked(Pack& pack, std::string_view member, const SetLimits& limits, MemberHome home) {
  const PackItem item = PackItem::Of(member);
  if (member.size() < Pack::kTooLong && pack.Find(item, pack.begin()) != pack.end()) return false;
  const bool fits = pack.size() < limits.packed && member.size() <= limits.packed_bytes &&
                    member.size() < kMostPackedBytes - pack.bytes();
  if (fits) {
    pack.Append({&item, 1});
  } else {
    Grow(&member, home);
  }
  return true;
}

bool SetValue::AddLarge(std::string_view member) {
  Members& members = large();
  const uint64_t hash = members.HashOf(member);
  if (members.Find(member, hash) != nullptr) return false;
  members.Add({.name = member}, hash);
  return true;
}

void SetValue::Grow(const std::string_view* member, MemberHome home) {
  auto grown = std::make_unique<Large>(home);
  ForEach([&](std::string_view old) { grown->members.Add({.name = old}); });
  if (member != nullptr) grown->members.Add({.name = *member});
  members_ = std::move(grown);
}

bool SetValue::Remove(std::string_view member) noexcept {
  if (form() == Form::kLarge) {
    Member* const found = large().Find(member);
    if (found != nullptr) large().Remove(*found);
    return found != nullptr;
  }
  const PackItem item = PackItem::Of(member);
  if (auto* integers = std::get_if<IntegerSet>(&members_))
    return item.kind == PackItem::Kind::kInteger && integers->Remove(item.integer);
  Pack& pack = std::get<Pack>(members_);
  const Pack::At at = pack.Find(item, pack.begin());
  if (at == pack.end()) return false;
  pack.Erase(at, 1);
  return true;
}

bool SetValue::Validate() const noexcept {
  if (const auto* integers = std::get_if<IntegerSet>(&members_)) return integers->Validate();
  if (const auto* pack = std::get_if<Pack>(&members_)) return pack->Validate();
  return large().Validate();
}

}  // namespace mayfly
