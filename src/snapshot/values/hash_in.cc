#include "snapshot/values/hash_in.h"

#include <array>

#include "snapshot/format/listpack.h"
#include "snapshot/format/types.h"
#include "snapshot/format/ziplist.h"
#include "snapshot/format/zipmap.h"

namespace mayfly::rdb {
namespace {

// The latest deadline of a field that Redis stores.
constexpr uint64_t kLatestMs = (uint64_t{1} << 48) - 1;

bool IsPacked(uint8_t type) noexcept {
  switch (type) {
    case type::kHashZipmap:
    case type::kHashZiplist:
    case type::kHashListpack:
    case type::kHashTtlPackOld:
    case type::kHashTtlPack:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool HashIn::Knows(uint8_t type) noexcept {
  return IsPacked(type) || type == type::kHash || type == type::kHashTtlOld || type == type::kHashTtl;
}

bool HashIn::Set(std::string_view field, std::string_view value, uint64_t deadline_ms) {
  if (deadline_ms > kLatestMs) return false;
  const Expiry deadline{Expiry::Kind::kWall, deadline_ms};
  const bool due = deadline_ms != 0 && deadline.Reached(terms_.now);
  if (due && !terms_.keeps_due) {
    ++expired_;
    return true;
  }
  const std::array pair{field, value};
  HashValue::Progress progress;
  value_->Set(pair, terms_.limits.hash, terms_.home, false, progress);
  if (progress.added == 0) return false;
  if (deadline_ms == 0) return true;
  // A past deadline may lie before the monotonic clock's begin.
  const Expiry::Kind clock = terms_.ttls && !due ? Expiry::Kind::kRelative : Expiry::Kind::kWall;
  value_->SetDeadline(field, {clock, deadline.On(clock, terms_.now)}, terms_.now);
  return true;
}

void HashIn::Take(std::string_view field, std::string_view value, uint64_t deadline_ms) {
  refused_ = refused_ || !Set(field, value, deadline_ms);
}

ReadStatus HashIn::Plain(In& in) {
  std::string_view field;
  std::string_view value;
  ReadStatus status = in.String(field);
  Then(status, [&] { return in.String(value); });
  if (status == ReadStatus::kOk) Take(field, value, 0);
  return status;
}

ReadStatus HashIn::TimedRedis(In& in) {
  uint64_t ms = 0;
  std::string_view field;
  std::string_view value;
  ReadStatus status = in.Length(ms);
  Then(status, [&] { return in.String(field); });
  Then(status, [&] { return in.String(value); });
  if (status != ReadStatus::kOk) return status;
  bool good = ms <= kLatestMs;
  if (good && ms != 0 && type_ == type::kHashTtl) {
    ms += smallest_ms_ - 1;
    good = ms != 0;
  }
  refused_ = refused_ || !good;
  Take(field, value, ms);
  return status;
}

ReadStatus HashIn::TimedValkey(In& in) {
  constexpr int64_t kNone = -1;
  std::string_view field;
  std::string_view value;
  int64_t ms = 0;
  ReadStatus status = in.String(field);
  Then(status, [&] { return in.String(value); });
  Then(status, [&] { return in.Millis(ms); });
  if (status != ReadStatus::kOk) return status;
  refused_ = refused_ || ms < kNone || ms == 0;
  Take(field, value, ms == kNone ? 0 : static_cast<uint64_t>(ms));
  return status;
}

ReadStatus HashIn::Smallest(In& in) {
  if (has_smallest_) return ReadStatus::kOk;
  int64_t ms = 0;
  const ReadStatus status = in.Millis(ms);
  if (status != ReadStatus::kOk) return status;
  has_smallest_ = true;
  if (ms < 0 || static_cast<uint64_t>(ms) > kLatestMs)
    refused_ = true;
  else
    smallest_ms_ = static_cast<uint64_t>(ms);
  return status;
}

template <class Reader>
bool HashIn::Untimed(std::string_view packed, size_t& fields) {
  return ForEachRecord<Reader, 2>(packed, fields, [&](const std::array<PackedItem, 2>& items) {
    char room_of_field[PackedItem::kRoom];
    char room_of_value[PackedItem::kRoom];
    return Set(items[0].Text(room_of_field), items[1].Text(room_of_value), 0);
  });
}

bool HashIn::Timed(std::string_view packed, size_t& fields) {
  return ForEachRecord<ListpackReader, 3>(packed, fields, [&](const std::array<PackedItem, 3>& items) {
    char room_of_field[PackedItem::kRoom];
    char room_of_value[PackedItem::kRoom];
    const PackedItem& ms = items[2];
    if (!ms.is_integer || ms.integer < 0) return false;
    return Set(items[0].Text(room_of_field), items[1].Text(room_of_value), static_cast<uint64_t>(ms.integer));
  });
}

ValueStatus HashIn::Packed(In& in, size_t& budget) {
  std::string_view packed;
  if (const ReadStatus status = in.String(packed); status != ReadStatus::kOk) return NotOk(status);
  size_t fields = 0;
  bool good = false;
  switch (type_) {
    case type::kHashZipmap:
      good = Untimed<ZipmapReader>(packed, fields);
      break;
    case type::kHashZiplist:
      good = Untimed<ZiplistReader>(packed, fields);
      break;
    case type::kHashListpack:
      good = Untimed<ListpackReader>(packed, fields);
      break;
    default:
      good = Timed(packed, fields);
  }
  Spend(budget, fields);
  refused_ = refused_ || !good;
  return End();
}

ValueStatus HashIn::End() const noexcept {
  if (refused_) return ValueStatus::kRefused;
  if (value_->Size() != 0) return ValueStatus::kDone;
  return expired_ != 0 ? ValueStatus::kExpired : ValueStatus::kEmpty;
}

ValueStatus HashIn::Some(In& in, size_t& budget) {
  if (type_ == type::kHashTtl || type_ == type::kHashTtlPack) {
    if (const ReadStatus status = Smallest(in); status != ReadStatus::kOk) return NotOk(status);
  }
  if (IsPacked(type_)) return Packed(in, budget);
  const ValueStatus status = fields_.Continue(in, budget, [&] {
    if (type_ == type::kHash) return Plain(in);
    return type_ == type::kHashTtlOld && terms_.valkey ? TimedValkey(in) : TimedRedis(in);
  });
  return status == ValueStatus::kDone ? End() : status;
}

}  // namespace mayfly::rdb
