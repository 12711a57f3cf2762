#include "cache/types/sorted_set_value.h"

#include <array>
#include <cassert>
#include <memory>
#include <utility>

#include "base/memory/heap.h"
#include "base/text/numbers.h"
#include "cache/types/member_table.h"

namespace mayfly {
namespace {

// -0 becomes 0 in the small form, as in Redis.
PackItem ScoreItem(double score) noexcept { return PackItem::Of(score + 0.0); }

// Whether the member at `at` comes before another one.
bool IsLess(const ScoredPack& pack, ScoredPack::At at, double score, std::string_view name) noexcept {
  const double its_score = pack.Read(pack.Second(at)).Number();
  if (its_score != score) return its_score < score;
  char room[PackItem::kRoom];
  return pack.ReadText(at, room) < name;
}

}  // namespace

void SortedSetValue::Cursor::Next() noexcept {
  if (small_ == nullptr) return place_.Next();
  at_ = small_->Next(at_);
  valid_ = at_ != small_->end();
}

void SortedSetValue::Cursor::Prev() noexcept {
  if (small_ == nullptr) return place_.Prev();
  valid_ = at_ != small_->begin();
  if (valid_) at_ = small_->Prev(at_);
}

SortedSetValue::~SortedSetValue() {
  if (is_large())
    delete large_.get();
  else
    small_.~ScoredPack();
}

size_t SortedSetValue::Size() const noexcept { return is_large() ? large_->size() : small_.size(); }

uint64_t SortedSetValue::Bytes() const noexcept {
  const uint64_t own = MallocSizeClass(sizeof *this);
  if (!is_large()) return own + small_.memory();
  return own + MallocSizeClass(sizeof *large_) + large_->bytes();
}

std::unique_ptr<RichValue> SortedSetValue::Clone() const {
  auto copy = std::make_unique<SortedSetValue>();
  if (!is_large()) {
    copy->small_ = small_.Clone();
    return copy;
  }
  const Members& members = large_->members();
  auto large = std::make_unique<LargeSortedSet>(members.other_home());
  for (auto at = large_->order().First(); at; at.Next()) {
    const Member& member = *members.At(at.ref());
    large->Add(member.name(), members.HashOf(member.name()), at.key(), LargeSortedSet::DeadlineOf(member));
  }
  copy->BecomeLarge(std::move(large));
  copy->clock_ = clock_;
  return copy;
}

void SortedSetValue::ForEachMember(MemberVisitor& visitor) const {
  for (Cursor at = At(0); at; at.Next()) {
    const std::string score = FormatDouble(at.score());
    const std::string_view parts[] = {at.name(), score};
    visitor.Visit(parts);
  }
}

SortedSetValue::Found SortedSetValue::Find(std::string_view name) const noexcept {
  Found found;
  if (!is_large()) {
    found.at_ = small_.Find(PackItem::Of(name), small_.begin());
    found.present_ = found.at_ != small_.end();
    if (found.present_) found.score_ = small_.Read(small_.Second(found.at_)).Number();
    return found;
  }
  found.hash_ = large_->members().HashOf(name);
  found.member_ = large_->FindAny(name, found.hash_);
  if (found.member_ != nullptr && LargeSortedSet::IsHidden(*found.member_))
    found.hidden_ = std::exchange(found.member_, nullptr);
  found.present_ = found.member_ != nullptr;
  if (found.present_) found.score_ = found.member_->score();
  return found;
}

size_t SortedSetValue::RankOf(const Found& found) const noexcept {
  assert(found);
  if (is_large()) return large_->RankOf(*found.member_);
  size_t rank = 0;
  for (ScoredPack::At at = small_.begin(); at != found.at_; at = small_.Next(at)) ++rank;
  return rank;
}

SortedSetValue::Cursor SortedSetValue::At(size_t rank) const noexcept {
  Cursor cursor;
  if (is_large()) {
    cursor.members_ = &large_->members();
    cursor.place_ = large_->order().At(rank);
    return cursor;
  }
  cursor.small_ = &small_;
  cursor.valid_ = rank < Size();
  cursor.at_ = cursor.valid_ ? small_.Seek(rank) : small_.end();
  return cursor;
}

template <typename Range>
RankRange SortedSetValue::RanksInPack(const Range& range, bool from_end, size_t skip) const noexcept {
  const size_t size = Size();
  if (size == 0) return {};
  Cursor first = At(0);
  Cursor last = At(size - 1);
  if (range.IsAfter(last.score(), last.name()) || range.IsBefore(first.score(), first.name())) return {};
  if (!from_end) {
    size_t rank = 0;
    for (; first && range.IsAfter(first.score(), first.name()); first.Next()) ++rank;
    for (; first && skip > 0; first.Next(), --skip) ++rank;
    size_t count = 0;
    for (; first && !range.IsBefore(first.score(), first.name()); first.Next()) ++count;
    return {rank, count};
  }
  size_t end = size;
  for (; last && range.IsBefore(last.score(), last.name()); last.Prev()) --end;
  for (; last && skip > 0; last.Prev(), --skip) --end;
  size_t count = 0;
  for (; last && !range.IsAfter(last.score(), last.name()); last.Prev()) ++count;
  return {end - count, count};
}

template <typename Range>
RankRange SortedSetValue::RanksInOrder(const Range& range) const noexcept {
  const Members& members = large_->members();
  const auto name = [&](HeapRef ref) { return members.At(ref)->name(); };
  const size_t first =
      large_->order().CountBefore([&](double score, HeapRef ref) { return range.IsAfter(score, name(ref)); });
  const size_t end = large_->order().CountBefore(
      [&](double score, HeapRef ref) { return !range.IsBefore(score, name(ref)); });
  return {first, end > first ? end - first : 0};
}

RankRange SortedSetValue::RanksOf(const ScoreRange& range) const noexcept {
  if (!is_large()) return RanksInPack(range, false, 0);
  // As above, without a look at the members.
  const size_t first =
      large_->order().CountBefore([&](double score, HeapRef) { return range.IsAfter(score, {}); });
  const size_t end =
      large_->order().CountBefore([&](double score, HeapRef) { return !range.IsBefore(score, {}); });
  return {first, end > first ? end - first : 0};
}

RankRange SortedSetValue::RanksOf(const NameRange& range, bool from_end, size_t skip) const noexcept {
  if (!is_large()) return RanksInPack(range, from_end, skip);
  return RanksInOrder(range).Without(skip, from_end);
}

void SortedSetValue::Expect(size_t members, const SortedSetLimits& limits, MemberHome home) {
  if (!is_large() && members > limits.packed) Grow(home);
}

ScoredPack::At SortedSetValue::PlaceOf(std::string_view name, double score) const noexcept {
  if (small_.empty()) return small_.end();
  const ScoredPack::At last = small_.Prev(small_.end());
  if (IsLess(small_, last, score, name)) return small_.end();
  ScoredPack::At at = small_.begin();
  while (at != last && IsLess(small_, at, score, name)) at = small_.Next(at);
  return at;
}

void SortedSetValue::Add(const Found& found, std::string_view name, double score,
                         const SortedSetLimits& limits, MemberHome home) {
  assert(!found);
  const bool fits = !is_large() && Size() < limits.packed && name.size() <= limits.packed_bytes &&
                    name.size() + small_.bytes() < ScoredPack::kTooLong;
  if (fits) {
    const std::array items{PackItem::Of(name), ScoreItem(score)};
    return small_.Insert(PlaceOf(name, score), items);
  }
  if (is_large()) {
    if (found.hidden_ != nullptr) large_->RemoveHidden(*found.hidden_);
    return large_->Add(name, found.hash_, score);
  }
  Grow(home);
  large_->Add(name, large_->members().HashOf(name), score);
}

void SortedSetValue::SetScore(const Found& found, std::string_view name, double score) {
  assert(found);
  if (is_large()) return large_->SetScore(*found.member_, score);
  const ScoredPack::At at = found.at_;
  const ScoredPack::At after = small_.Next(at);
  const bool stays = (at == small_.begin() || IsLess(small_, small_.Prev(at), score, name)) &&
                     (after == small_.end() || !IsLess(small_, after, score, name));
  const std::array items{PackItem::Of(name), ScoreItem(score)};
  if (stays) return small_.Exchange(at, 1, items);
  // It may be there twice for a moment, so that nothing is lost if there is no memory.
  const ScoredPack::At place = PlaceOf(name, score);
  const ScoredPack::At before = small_.end();
  small_.Insert(place, items);
  small_.Erase(place <= at ? at + (small_.end() - before) : at, 1);
}

void SortedSetValue::Collect(std::string_view name, double score, const SortedSetLimits& limits,
                             MemberHome home) {
  const Found found = Find(name);
  if (!is_large())
    found ? SetScore(found, name, score) : Add(found, name, score, limits, home);
  else if (found)
    found.member_->set_score(score);
  else
    large_->Collect(name, found.hash_, score);
}

void SortedSetValue::Remove(const Found& found) noexcept {
  assert(found);
  if (is_large()) return large_->Remove(*found.member_);
  small_.Erase(found.at_, 1);
}

void SortedSetValue::RemoveRanks(const RankRange& ranks) noexcept {
  assert(ranks.first + ranks.count <= Live());
  if (is_large()) return large_->RemoveRanks(ranks.first, ranks.count);
  small_.Erase(small_.Seek(ranks.first), ranks.count);
}

void SortedSetValue::Grow(MemberHome home) {
  auto large = std::make_unique<LargeSortedSet>(home);
  for (Cursor at = At(0); at; at.Next()) {
    const std::string_view name = at.name();
    large->Add(name, large->members().HashOf(name), at.score());
  }
  BecomeLarge(std::move(large));
}

void SortedSetValue::BecomeLarge(std::unique_ptr<LargeSortedSet> large) noexcept {
  assert(!is_large());
  small_.~ScoredPack();
  std::construct_at(&large_, large.release());
  form_ = Form::kLarge;
}

// ---- deadlines

Expiry SortedSetValue::DeadlineOf(const Found& found) const noexcept {
  assert(found);
  const uint64_t ms = is_large() ? LargeSortedSet::DeadlineOf(*found.member_) : 0;
  return ms == 0 ? Expiry::Never() : Expiry{clock_, ms};
}

void SortedSetValue::SetDeadline(const Found& found, std::string_view name, Expiry deadline, MemberHome home,
                                 Now now) {
  assert(found && deadline.kind != Expiry::Kind::kNever);
  Member* member = found.member_;
  if (!is_large()) {
    Grow(home);
    member = large_->members().Find(name);
  }
  const bool first = !timed();
  large_->SetDeadline(*member, first ? deadline.deadline_ms : deadline.On(clock_, now));
  if (first) clock_ = deadline.kind;
}

Expiry SortedSetValue::NextDeadline() const noexcept {
  return timed() ? Expiry{clock_, large_->nearest_ms()} : Expiry::Never();
}

bool SortedSetValue::AllDue(Now now) const noexcept {
  return timed() && large_->AllDue(Expiry::NowOn(clock_, now));
}

size_t SortedSetValue::DueInOrder(Now now) const noexcept {
  return timed() ? large_->DueInOrder(Expiry::NowOn(clock_, now)) : 0;
}

size_t SortedSetValue::DropDue(Now now, size_t budget, NameListener* listener) noexcept {
  if (!timed()) return 0;
  const uint64_t now_ms = Expiry::NowOn(clock_, now);
  if (budget != kAtOnce) return large_->DropUntil(now_ms, budget, listener);
  const size_t dropped = large_->DropUntil(now_ms, kFew, listener);
  large_->HideUntil(now_ms);
  return dropped;
}

MemberTable SortedSetValue::TableAt(Now now) noexcept {
  MemberTable table = large_->TableAt(timed() ? Expiry::NowOn(clock(), now) : 0);
  table.clock = clock_;
  return table;
}

bool SortedSetValue::Validate() const noexcept {
  if (is_large()) return large_->Validate();
  if (!small_.Validate()) return false;
  for (ScoredPack::At at = small_.begin(); at != small_.end();) {
    const ScoredPack::At next = small_.Next(at);
    if (small_.Read(small_.Second(at)).kind == PackItem::Kind::kText) return false;
    char room[PackItem::kRoom];
    if (next != small_.end() &&
        !IsLess(small_, at, small_.Read(small_.Second(next)).Number(), small_.ReadText(next, room)))
      return false;
    at = next;
  }
  return true;
}

}  // namespace mayfly
