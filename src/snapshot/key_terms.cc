#include "snapshot/key_terms.h"

#include "cache/entry/entry_extra.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly {
namespace {

enum Bits : uint8_t {
  kWall = 1 << 0,
  kSlide = 1 << 1,
  kStaleWindow = 1 << 2,
  kTags = 1 << 3,
  kWallMembers = 1 << 4,
  kExpired = 1 << 5,
};
constexpr uint8_t kKnown = kWall | kSlide | kStaleWindow | kTags | kWallMembers | kExpired;

bool HasWallMembers(const Entry& entry) noexcept {
  return entry.encoding() == Encoding::kRich && entry.rich()->NextDeadline().kind == Expiry::Kind::kWall;
}

}  // namespace

void WriteKeyTerms(const Keyspace& keyspace, const Entry& entry, bool expired, Now now, std::string& bytes) {
  const bool wall = entry.deadline().kind == Expiry::Kind::kWall;
  const bool extra = entry.Has(EntryFlag::kExtra);
  if (!wall && !extra && !HasWallMembers(entry)) return;
  const EntryTerms terms = entry.terms();
  const std::vector<std::string_view> tags =
      extra ? keyspace.tags().NamesOf(entry) : std::vector<std::string_view>();
  const uint8_t bits = static_cast<uint8_t>(
      (wall ? kWall : 0) | (terms.slide_ms != 0 ? kSlide : 0) | (terms.stale_ms != 0 ? kStaleWindow : 0) |
      (tags.empty() ? 0 : kTags) | (HasWallMembers(entry) ? kWallMembers : 0) | (expired ? kExpired : 0));
  if (bits == 0) return;
  std::string record;
  rdb::Out part(record);
  part.Byte(bits);
  if (terms.slide_ms != 0) {
    part.Length(terms.slide_ms);
    part.Length(terms.slide_until_ms != 0 ? static_cast<uint64_t>(now.WallOf(terms.slide_until_ms)) : 0);
  }
  if (terms.stale_ms != 0) part.Length(terms.stale_ms);
  if (!tags.empty()) part.Length(tags.size());
  for (const std::string_view tag : tags) part.String(tag);
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kAux);
  out.String(KeyTerms::kField);
  out.String(record);
}

bool ReadKeyTerms(std::string_view record, KeyTerms& terms) {
  using rdb::ReadStatus;
  rdb::In in(record);
  terms = {};
  uint8_t bits = 0;
  if (in.Byte(bits) != ReadStatus::kOk || (bits & ~kKnown) != 0) return false;
  terms.wall = (bits & kWall) != 0;
  terms.wall_members = (bits & kWallMembers) != 0;
  terms.expired = (bits & kExpired) != 0;
  if ((bits & kSlide) != 0) {
    uint64_t until = 0;
    if (in.Length(terms.slide_ms) != ReadStatus::kOk || in.Length(until) != ReadStatus::kOk) return false;
    terms.slide_until_unix_ms = static_cast<int64_t>(until);
    if (terms.slide_ms == 0 || terms.slide_until_unix_ms < 0) return false;
  }
  if ((bits & kStaleWindow) != 0 && (in.Length(terms.stale_ms) != ReadStatus::kOk || terms.stale_ms == 0))
    return false;
  if ((bits & kTags) != 0) {
    uint64_t count = 0;
    if (in.Length(count) != ReadStatus::kOk || count == 0 || count > EntryExtra::kMostTags) return false;
    for (; count != 0; --count) {
      std::string_view tag;
      if (in.String(tag) != ReadStatus::kOk) return false;
      if (in.text_bytes() > record.size()) return false;  // a tag is never compressed
      terms.tags.emplace_back(tag);
    }
  }
  return in.rest().empty();
}

}  // namespace mayfly
