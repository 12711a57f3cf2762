#include "cache/types/hash_value.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "base/memory/heap.h"
#include "cache/entry/name_listener.h"
#include "cache/types/member_table.h"

namespace mayfly {

HashValue::~HashValue() {
  if (large())
    delete large_.get();
  else
    pack_.~Pack();
}

std::string_view HashValue::EncodingName() const noexcept {
  switch (form_) {
    case Form::kPack:
      return "listpack";
    case Form::kTimedPack:
      return "listpackex";
    case Form::kLarge:
      return "hashtable";
  }
  return {};
}

uint64_t HashValue::Bytes() const noexcept {
  return MallocSizeClass(sizeof *this) + (large() ? large_->bytes() : pack_.memory());
}

std::unique_ptr<RichValue> HashValue::Clone() const {
  auto copy = std::make_unique<HashValue>();
  if (large())
    copy->BecomeLarge(large_->Clone());
  else
    copy->pack_ = pack_.Clone();
  copy->form_ = form_;
  copy->clock_ = clock_;
  return copy;
}

void HashValue::ForEachMember(MemberVisitor& visitor) const {
  ForEach([&](std::string_view name, std::string_view value) {
    const std::array<std::string_view, 2> parts{name, value};
    visitor.Visit(parts);
  });
}

// ---- fields

Pack::At HashValue::Skip(Pack::At at) const noexcept {
  for (size_t i = Stride(); i != 0; --i) at = pack_.Next(at);
  return at;
}

Pack::At HashValue::LocateIn(const Pack& pack, size_t stride, std::string_view field) noexcept {
  if (field.size() >= Pack::kTooLong) return pack.end();
  return pack.Find(PackItem::Of(field), pack.begin(), stride);
}

bool HashValue::Has(std::string_view field) const noexcept {
  return large() ? large_->Find(field) != nullptr : Locate(field) != pack_.end();
}

std::optional<std::string_view> HashValue::Get(std::string_view field, char* room) const noexcept {
  if (large()) {
    const Member* const member = large_->Find(field);
    return member != nullptr ? std::optional(member->value()) : std::nullopt;
  }
  const Pack::At at = Locate(field);
  if (at == pack_.end()) return std::nullopt;
  return pack_.ReadText(pack_.Next(at), room);
}

bool HashValue::Remove(std::string_view field) noexcept {
  if (large()) return large_->Remove(field);
  const Pack::At at = Locate(field);
  if (at == pack_.end()) return false;
  pack_.Erase(at, Stride());
  return true;
}

// Returns true if the field is new.
bool HashValue::SetIn(Pack& pack, size_t stride, std::string_view field, std::string_view value,
                      bool keep_deadline) {
  const std::array<PackItem, 3> items{PackItem::Of(field), PackItem::Of(value), PackItem::Of(int64_t{0})};
  const Pack::At at = LocateIn(pack, stride, field);
  if (at == pack.end()) {
    pack.Append(std::span(items).first(stride));
    return true;
  }
  const size_t kept = keep_deadline ? stride - 2 : 0;
  pack.Exchange(pack.Next(at), stride - 1 - kept, std::span(items).subspan(1, stride - 1 - kept));
  return false;
}

void HashValue::Set(std::span<const std::string_view> pairs, const HashLimits& limits, MemberHome home,
                    bool keep_deadlines, Progress& progress) {
  assert(pairs.size() % 2 == 0);
  if (large()) return SetLarge(*large_, pairs, keep_deadlines, progress);
  size_t bytes = pack_.bytes();
  bool grows = pairs.size() / 2 > limits.fields;
  for (const std::string_view text : pairs) {
    grows = grows || text.size() > limits.text_bytes;
    bytes += text.size();
  }
  if (!grows && bytes < Pack::kTooLong) return SetSmall(pairs, limits, home, keep_deadlines, progress);
  std::unique_ptr<LargeHash> large = Enlarged(pack_, Stride(), home);
  Progress all;
  SetLarge(*large, pairs, keep_deadlines, all);
  BecomeLarge(std::move(large));
  progress = all;
}

// Several fields are set in a copy, so that Set sets all fields or none.
void HashValue::SetSmall(std::span<const std::string_view> pairs, const HashLimits& limits, MemberHome home,
                         bool keep_deadlines, Progress& progress) {
  const size_t stride = Stride();
  if (pairs.size() == 2 && (Size() < limits.fields || Has(pairs[0]))) {
    progress.added += SetIn(pack_, stride, pairs[0], pairs[1], keep_deadlines) ? 1 : 0;
    ++progress.fields;
    return;
  }
  Pack draft = pack_.Clone();
  Progress all;
  for (; all.fields < pairs.size() / 2; ++all.fields) {
    const bool added = SetIn(draft, stride, pairs[2 * all.fields], pairs[2 * all.fields + 1], keep_deadlines);
    all.added += added ? 1 : 0;
  }
  if (draft.size() / stride > limits.fields)
    BecomeLarge(Enlarged(draft, stride, home));
  else
    pack_ = std::move(draft);
  progress = all;
}

void HashValue::SetLarge(LargeHash& hash, std::span<const std::string_view> pairs, bool keep_deadlines,
                         Progress& progress) {
  for (; progress.fields < pairs.size() / 2; ++progress.fields) {
    const size_t i = 2 * progress.fields;
    progress.added += hash.Set(pairs[i], pairs[i + 1], keep_deadlines) ? 1 : 0;
  }
}

std::unique_ptr<LargeHash> HashValue::Enlarged(const Pack& pack, size_t stride, MemberHome home) {
  auto large = std::make_unique<LargeHash>(home);
  char room_of_name[kRoom];
  char room_of_value[kRoom];
  for (Pack::At at = pack.begin(); at != pack.end();) {
    const std::string_view name = pack.ReadText(at, room_of_name);
    at = pack.Next(at);
    const std::string_view value = pack.ReadText(at, room_of_value);
    at = pack.Next(at);
    uint64_t deadline_ms = 0;
    if (stride == StrideOf(Form::kTimedPack)) {
      deadline_ms = static_cast<uint64_t>(pack.Read(at).integer);
      at = pack.Next(at);
    }
    large->Add(name, value, deadline_ms);
  }
  return large;
}

void HashValue::BecomeLarge(std::unique_ptr<LargeHash> large) noexcept {
  assert(form_ != Form::kLarge);
  pack_.~Pack();
  std::construct_at(&large_, large.release());
  form_ = Form::kLarge;
}

// ---- deadlines

void HashValue::BecomeTimed() {
  assert(form_ == Form::kPack);
  Pack timed;
  constexpr size_t kAtOnce = 16;
  std::array<PackItem, StrideOf(Form::kTimedPack) * kAtOnce> items;
  size_t filled = 0;
  for (Pack::At at = pack_.begin(); at != pack_.end(); at = Skip(at)) {
    items[filled++] = pack_.Read(at);
    items[filled++] = pack_.Read(pack_.Next(at));
    items[filled++] = PackItem::Of(int64_t{0});
    if (filled == items.size()) timed.Append(std::span(items).first(std::exchange(filled, 0)));
  }
  timed.Append(std::span(items).first(filled));
  pack_ = std::move(timed);
  form_ = Form::kTimedPack;
}

Expiry HashValue::NextDeadline() const noexcept {
  uint64_t nearest = LargeHash::kNever;
  if (large()) {
    nearest = large_->nearest_ms();
  } else if (form_ == Form::kTimedPack) {
    for (Pack::At at = pack_.begin(); at != pack_.end();) {
      const Pack::At deadline_at = DeadlineAt(at);
      if (const int64_t ms = pack_.Read(deadline_at).integer; ms != 0)
        nearest = std::min(nearest, static_cast<uint64_t>(ms));
      at = pack_.Next(deadline_at);
    }
  }
  return nearest == LargeHash::kNever ? Expiry::Never() : Expiry{clock_, nearest};
}

bool HashValue::AllDue(Now now) const noexcept {
  if (form_ == Form::kPack || clock_ == Expiry::Kind::kNever) return false;
  const uint64_t now_ms = NowMs(now);
  if (large()) return large_->AllDue(now_ms);
  for (Pack::At at = pack_.begin(); at != pack_.end(); at = Skip(at)) {
    const uint64_t ms = DeadlineMs(at);
    if (ms == 0 || ms > now_ms) return false;
  }
  return true;
}

size_t HashValue::DropDue(Now now, size_t budget, NameListener* listener) noexcept {
  if (clock_ == Expiry::Kind::kNever) return 0;
  const uint64_t now_ms = NowMs(now);
  if (large()) return large_->DropUntil(now_ms, budget, listener);
  if (form_ != Form::kTimedPack) return 0;
  size_t dropped = 0;
  for (Pack::At at = pack_.begin(); at != pack_.end();) {
    const Pack::At deadline_at = DeadlineAt(at);
    const auto ms = static_cast<uint64_t>(pack_.Read(deadline_at).integer);
    if (ms == 0 || ms > now_ms) {
      at = pack_.Next(deadline_at);
      continue;
    }
    char room[PackItem::kRoom];
    if (listener != nullptr) listener->Take(pack_.ReadText(at, room));
    pack_.Erase(at, Stride());
    ++dropped;
  }
  return dropped;
}

Expiry HashValue::DeadlineOf(std::string_view field) const noexcept {
  if (form_ == Form::kPack) return Expiry::Never();
  const uint64_t ms = large() ? LargeHash::DeadlineOf(*large_->Find(field)) : DeadlineMs(Locate(field));
  return ms == 0 ? Expiry::Never() : Expiry{clock_, ms};
}

void HashValue::SetDeadline(std::string_view field, Expiry deadline, Now now) {
  assert(deadline.kind != Expiry::Kind::kNever);
  const bool first = deadline.kind != clock_ && NextDeadline().kind == Expiry::Kind::kNever;
  const uint64_t ms = first ? deadline.deadline_ms : deadline.On(clock_, now);
  if (large()) {
    large_->SetDeadline(*large_->Find(field), ms);
  } else {
    if (form_ == Form::kPack) BecomeTimed();
    pack_.Replace(DeadlineAt(Locate(field)), PackItem::Of(static_cast<int64_t>(ms)));
  }
  if (first) clock_ = deadline.kind;
}

bool HashValue::ClearDeadline(std::string_view field) {
  if (DeadlineOf(field).kind == Expiry::Kind::kNever) return false;
  if (large())
    large_->ClearDeadline(*large_->Find(field));
  else
    pack_.Replace(DeadlineAt(Locate(field)), PackItem::Of(int64_t{0}));
  return true;
}

MemberTable HashValue::TableAt(Now now) noexcept {
  MemberTable table = large_->TableAt(TimeOfDue(now));
  table.clock = clock_;
  return table;
}

bool HashValue::Validate() const noexcept {
  if (large()) return large_->Validate();
  bool right = pack_.Validate() && pack_.size() % Stride() == 0;
  for (Pack::At at = pack_.begin(); right && at != pack_.end(); at = Skip(at)) {
    right = Locate(pack_.ReadText(at, std::array<char, kRoom>().data())) == at;
    if (form_ == Form::kTimedPack)
      right = right && pack_.Read(DeadlineAt(at)).kind == PackItem::Kind::kInteger;
  }
  return right;
}

}  // namespace mayfly
