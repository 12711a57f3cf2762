#include "snapshot/large/half_saved.h"

#include <utility>

#include "cache/entry/entry.h"
#include "cache/keyspace/databases.h"
#include "cache/types/hash_value.h"
#include "cache/types/list_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "cache/types/stream/stream_value.h"
#include "snapshot/large/half_saved_list.h"
#include "snapshot/large/half_saved_stream.h"
#include "snapshot/large/half_saved_table.h"
#include "snapshot/large/half_saved_text.h"

namespace mayfly {
namespace {

bool HasSlices(const RichValue& value) noexcept {
  switch (value.type) {
    case ValueType::kHash:
      return static_cast<const HashValue&>(value).large();
    case ValueType::kList:
      return static_cast<const ListValue&>(value).is_large();
    case ValueType::kSet:
      return static_cast<const SetValue&>(value).is_large();
    case ValueType::kSortedSet:
      return static_cast<const SortedSetValue&>(value).is_large();
    case ValueType::kStream:
      return true;
    case ValueType::kString:
      break;
  }
  return false;
}

MemberTable TableOf(RichValue& value, Now now) noexcept {
  if (value.type == ValueType::kHash) return static_cast<HashValue&>(value).TableAt(now);
  if (value.type == ValueType::kSet) return static_cast<SetValue&>(value).TableAt(now);
  return static_cast<SortedSetValue&>(value).TableAt(now);
}

}  // namespace

bool HalfSaved::IsLarge(const Entry& entry) noexcept {
  if (entry.encoding() == Encoding::kBlock) return entry.TextLength() > rdb::Out::kMostCompressed;
  return entry.encoding() == Encoding::kRich && entry.rich()->Bytes() >= kLargeBytes &&
         HasSlices(*entry.rich());
}

std::unique_ptr<HalfSaved> HalfSaved::Begin(HalfSavedHost& home, unsigned database, const Entry& entry,
                                            std::string&& facts) {
  if (entry.encoding() == Encoding::kBlock)
    return std::make_unique<HalfSavedText>(home, database, entry, std::move(facts));
  RichValue& value = *entry.rich();
  if (value.type == ValueType::kList)
    return std::make_unique<HalfSavedList>(home, database, entry.key(), static_cast<ListValue&>(value),
                                           std::move(facts));
  if (value.type == ValueType::kStream)
    return std::make_unique<HalfSavedStream>(home, database, entry.key(), static_cast<StreamValue&>(value),
                                             std::move(facts));
  const MemberTable table = TableOf(value, home.alive_at);
  if (table.live == 0) return nullptr;
  return std::make_unique<HalfSavedTable>(home, database, entry.key(), value.type, table, std::move(facts));
}

void HalfSaved::TakeOver(std::unique_ptr<RichValue> value) noexcept {
  kept_ = std::move(value);
  kept_bytes_ = kept_->Bytes();
  home_.kept_bytes += kept_bytes_;
  home_.CountBytes();
}

void HalfSaved::LetGo() noexcept {
  if (kept_ == nullptr) return;
  home_.kept_bytes -= std::exchange(kept_bytes_, 0);
  home_.databases.Bury(std::move(kept_));
  home_.CountBytes();
}

}  // namespace mayfly
