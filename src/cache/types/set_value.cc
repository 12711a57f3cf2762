#include "cache/types/set_value.h"

#include <algorithm>
#include <vector>

#include "base/memory/heap.h"
#include "base/text/numbers.h"
#include "cache/types/member_table.h"

namespace mayfly {
namespace {

// The most bytes of a packed set.
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
  switch (form()) {
    case Form::kIntegers:
      return integers_.size();
    case Form::kPacked:
      return pack_.size();
    case Form::kLarge:
      return large_->size();
  }
  return 0;
}

uint64_t SetValue::Bytes() const noexcept {
  constexpr uint64_t kOwn = MallocSizeClass(sizeof(SetValue));
  switch (form()) {
    case Form::kIntegers:
      return kOwn + integers_.memory();
    case Form::kPacked:
      return kOwn + pack_.memory();
    case Form::kLarge:
      return kOwn + large_->bytes();
  }
  return kOwn;
}

std::unique_ptr<RichValue> SetValue::Clone() const {
  auto copy = std::make_unique<SetValue>();
  switch (form()) {
    case Form::kIntegers:
      copy->Become(integers_.Clone());
      break;
    case Form::kPacked:
      copy->Become(pack_.Clone());
      break;
    case Form::kLarge:
      copy->Become(large_->Clone());
      break;
  }
  copy->clock_ = clock_;
  return copy;
}

void SetValue::ForEachMember(MemberVisitor& visitor) const {
  ForEach([&](std::string_view member) { visitor.Visit({&member, 1}); });
}

// ---- forms

void SetValue::Destroy() noexcept {
  switch (form()) {
    case Form::kIntegers:
      return integers_.~IntegerSet();
    case Form::kPacked:
      return pack_.~Pack();
    case Form::kLarge:
      delete large_.get();
  }
}

void SetValue::Become(IntegerSet&& integers) noexcept {
  Destroy();
  std::construct_at(&integers_, std::move(integers));
  form_ = Form::kIntegers;
}

void SetValue::Become(Pack&& pack) noexcept {
  Destroy();
  std::construct_at(&pack_, std::move(pack));
  form_ = Form::kPacked;
}

void SetValue::Become(std::unique_ptr<TimedMembers> large) noexcept {
  Destroy();
  std::construct_at(&large_, large.release());
  form_ = Form::kLarge;
}

void SetValue::Take(SetValue&& other) noexcept {
  assert(&other != this);
  switch (other.form_) {
    case Form::kIntegers:
      return Become(std::move(other.integers_));
    case Form::kPacked:
      return Become(std::move(other.pack_));
    case Form::kLarge:
      Become(std::unique_ptr<TimedMembers>(other.large_.get()));
      clock_ = other.clock_;
      std::construct_at(&other.integers_);
      other.form_ = Form::kIntegers;
  }
}

// ---- members

std::string_view SetValue::At(size_t index, char* room) const noexcept {
  if (form_ == Form::kIntegers) return {room, FormatInteger(integers_.At(index), room)};
  return pack_.ReadText(pack_.Seek(index), room);
}

bool SetValue::Contains(std::string_view member) const noexcept {
  if (is_large()) return large_->Find(member) != nullptr;
  const PackItem item = PackItem::Of(member);
  if (form_ == Form::kIntegers)
    return item.kind == PackItem::Kind::kInteger && integers_.Contains(item.integer);
  return pack_.Find(item, pack_.begin()) != pack_.end();
}

void SetValue::Expect(std::string_view first, size_t members, const SetLimits& limits, MemberHome home) {
  if (is_large()) return;
  if (Size() == 0 && (members > limits.integers || !IntegerOf(first))) Become(Pack());
  const size_t most = form_ == Form::kIntegers ? limits.integers : limits.packed;
  if (members > most) Grow(nullptr, home);
}

bool SetValue::Add(std::string_view member, const SetLimits& limits, MemberHome home) {
  if (is_large()) return large_->Include(member);
  if (form_ == Form::kPacked) return AddPacked(member, limits, home);
  if (const std::optional<int64_t> integer = IntegerOf(member))
    return AddInteger(*integer, member, limits, home);

  const bool fits = integers_.size() < limits.packed && member.size() <= limits.packed_bytes &&
                    LongestDigits(integers_) <= limits.packed_bytes;
  if (!fits) return Grow(&member, home), true;
  Pack pack;
  for (size_t i = 0; i < integers_.size(); ++i) {
    const PackItem item = PackItem::Of(integers_.At(i));
    pack.Append({&item, 1});
  }
  const PackItem item = PackItem::Of(member);
  pack.Append({&item, 1});
  Become(std::move(pack));
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
  if (integers_.size() < limits.integers) return integers_.Add(integer);
  if (integers_.Contains(integer)) return false;
  Grow(&digits, home);
  return true;
}

bool SetValue::AddPacked(std::string_view member, const SetLimits& limits, MemberHome home) {
  const PackItem item = PackItem::Of(member);
  if (member.size() < Pack::kTooLong && pack_.Find(item, pack_.begin()) != pack_.end()) return false;
  const bool fits = pack_.size() < limits.packed && member.size() <= limits.packed_bytes &&
                    member.size() < kMostPackedBytes - pack_.bytes();
  if (fits) {
    pack_.Append({&item, 1});
  } else {
    Grow(&member, home);
  }
  return true;
}

void SetValue::Grow(const std::string_view* member, MemberHome home) {
  auto grown = std::make_unique<TimedMembers>(home);
  ForEach([&](std::string_view old) { grown->Add(old, std::nullopt, 0); });
  if (member != nullptr) grown->Add(*member, std::nullopt, 0);
  Become(std::move(grown));
}

bool SetValue::Remove(std::string_view member) noexcept {
  if (is_large()) return large_->Remove(member);
  const PackItem item = PackItem::Of(member);
  if (form_ == Form::kIntegers)
    return item.kind == PackItem::Kind::kInteger && integers_.Remove(item.integer);
  const Pack::At at = pack_.Find(item, pack_.begin());
  if (at == pack_.end()) return false;
  pack_.Erase(at, 1);
  return true;
}

// ---- deadlines

bool SetValue::AddUntil(std::string_view member, Expiry deadline, bool keep_deadline, MemberHome home,
                        Now now) {
  assert(deadline.kind != Expiry::Kind::kNever);
  if (!is_large()) {
    if (keep_deadline && Contains(member)) return false;
    Grow(nullptr, home);
  }
  const bool first = !timed();
  const bool is_new =
      large_->IncludeUntil(member, first ? deadline.deadline_ms : deadline.On(clock_, now), keep_deadline);
  if (first) clock_ = deadline.kind;
  return is_new;
}

Expiry SetValue::DeadlineOf(std::string_view member) const noexcept {
  if (!is_large()) return Expiry::Never();
  const uint64_t ms = TimedMembers::DeadlineOf(*large_->Find(member));
  return ms == 0 ? Expiry::Never() : Expiry{clock_, ms};
}

bool SetValue::ClearDeadline(std::string_view member) noexcept {
  if (DeadlineOf(member).kind == Expiry::Kind::kNever) return false;
  large_->ClearDeadline(*large_->Find(member));
  return true;
}

Expiry SetValue::NextDeadline() const noexcept {
  return timed() ? Expiry{clock_, large_->nearest_ms()} : Expiry::Never();
}

bool SetValue::AllDue(Now now) const noexcept {
  return timed() && large_->AllDue(Expiry::NowOn(clock_, now));
}

size_t SetValue::DropDue(Now now, size_t budget, NameListener* listener) noexcept {
  return timed() ? large_->DropUntil(Expiry::NowOn(clock_, now), budget, listener) : 0;
}

MemberTable SetValue::TableAt(Now now) noexcept {
  MemberTable table = large_->TableAt(timed() ? Expiry::NowOn(clock(), now) : 0);
  table.clock = clock_;
  return table;
}

bool SetValue::Validate() const noexcept {
  switch (form()) {
    case Form::kIntegers:
      return integers_.Validate();
    case Form::kPacked:
      return pack_.Validate();
    case Form::kLarge:
      return large_->Validate();
  }
  return false;
}

}  // namespace mayfly
