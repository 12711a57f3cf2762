#include "snapshot/values/sorted_set_in.h"

#include <array>
#include <cmath>
#include <optional>

#include "base/text/numbers.h"
#include "snapshot/format/listpack.h"
#include "snapshot/format/types.h"
#include "snapshot/format/ziplist.h"

namespace mayfly::rdb {
namespace {

std::optional<double> ScoreOf(const PackedItem& item) {
  if (item.is_integer) return static_cast<double>(item.integer);
  return ParseDouble(item.text);
}

}  // namespace

bool SortedSetIn::Knows(uint8_t type) noexcept {
  return type == type::kZsetText || type == type::kZset || type == type::kZsetZiplist ||
         type == type::kZsetListpack;
}

bool SortedSetIn::Add(std::string_view name, double score) {
  if (std::isnan(score)) return false;
  // Members are put into order one by one: no slice becomes long.
  const SortedSetValue::Found found = value_->Find(name);
  if (found) return false;
  value_->Add(found, name, score, terms_.limits.sorted_set, terms_.home);
  return true;
}

ReadStatus SortedSetIn::Plain(In& in) {
  std::string_view name;
  double score = 0;
  ReadStatus status = in.String(name);
  Then(status, [&] { return type_ == type::kZset ? in.Double(score) : in.DoubleText(score); });
  if (status == ReadStatus::kOk) refused_ = refused_ || !Add(name, score);
  return status;
}

ValueStatus SortedSetIn::SomePlain(In& in, size_t& budget) {
  if (const ReadStatus status = members_.Begin(in); status != ReadStatus::kOk) return NotOk(status);
  // If the number is a lie, the set has the large form for nothing.
  value_->Expect(members_.left(), terms_.limits.sorted_set, terms_.home);
  return members_.Continue(in, budget, [&] { return Plain(in); });
}

template <class Reader>
bool SortedSetIn::AddAll(std::string_view packed, size_t& members) {
  return ForEachRecord<Reader, 2>(packed, members, [&](const std::array<PackedItem, 2>& items) {
    char room[PackedItem::kRoom];
    const std::optional<double> score = ScoreOf(items[1]);
    return score && Add(items[0].Text(room), *score);
  });
}

ValueStatus SortedSetIn::Packed(In& in, size_t& budget) {
  std::string_view packed;
  if (const ReadStatus status = in.String(packed); status != ReadStatus::kOk) return NotOk(status);
  size_t members = 0;
  const bool good = type_ == type::kZsetZiplist ? AddAll<ZiplistReader>(packed, members)
                                                : AddAll<ListpackReader>(packed, members);
  Spend(budget, members);
  refused_ = !good;
  return ValueStatus::kDone;
}

ValueStatus SortedSetIn::Some(In& in, size_t& budget) {
  const bool plain = type_ == type::kZset || type_ == type::kZsetText;
  const ValueStatus status = plain ? SomePlain(in, budget) : Packed(in, budget);
  if (status == ValueStatus::kDone && refused_) return ValueStatus::kRefused;
  return status == ValueStatus::kDone && value_->Size() == 0 ? ValueStatus::kEmpty : status;
}

}  // namespace mayfly::rdb
