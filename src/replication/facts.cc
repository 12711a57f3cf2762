#include "replication/facts.h"

#include <vector>

#include "cache/keyspace/keyspace.h"
#include "cache/tags/task_name.h"
#include "cache/types/hash_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/key_terms.h"
#include "snapshot/values/member_terms.h"

namespace mayfly {
namespace {

bool HasTimedMembers(const Entry& entry) noexcept {
  return entry.encoding() == Encoding::kRich && entry.rich()->NextDeadline().kind != Expiry::Kind::kNever;
}

// Turns a sliding deadline into a TTL. Other deadlines stay Unix times, as for keys without facts (replication/cutoff.h).
Expiry DeadlineOf(const Entry& entry, const KeyTerms& terms, Now now) noexcept {
  const Expiry is = entry.deadline();
  if (is.kind != Expiry::Kind::kWall || terms.wall || terms.slide_ms == 0) return is;
  return {Expiry::Kind::kRelative, is.On(Expiry::Kind::kRelative, now), Expiry::Stage::kKept};
}

Entry* GiveTerms(Keyspace& keyspace, const Key& key, Entry& entry, const KeyTerms& terms, Now now) {
  const Expiry deadline = DeadlineOf(entry, terms, now);
  EntryTerms own;
  if (entry.encoding() != Encoding::kRich) own.stale_ms = terms.stale_ms;  // only a string has a window
  if (deadline.kind == Expiry::Kind::kRelative) own.slide_ms = terms.slide_ms;
  if (terms.slide_until_unix_ms > now.wall_ms)
    own.slide_until_ms = now.mono_ms + static_cast<uint64_t>(terms.slide_until_unix_ms - now.wall_ms);
  std::string_view task;
  std::vector<std::string_view> tags;
  for (const std::string& tag : terms.tags) {
    if (IsTaskTag(tag))
      task = tag;
    else
      tags.push_back(tag);
  }
  Entry* kept = &entry;
  if (deadline.kind != Expiry::Kind::kNever) kept = keyspace.SetExpiry(key, *kept, deadline, now, own, task);
  return tags.empty() ? kept : keyspace.AddTags(key, *kept, tags, now);
}

template <typename T>
bool GiveDeadlines(Keyspace& keyspace, const Key& key, Entry& entry, std::string_view record, bool wall,
                   Now now) {
  Entry& roomy = *keyspace.RoomForOwnTime(key, entry, now);
  bool good = true;
  keyspace.EditRich<T>(key, roomy, now, events::kUnreported, [&](T& value) {
    MemberTermsIn terms;
    terms.Begin(record);
    size_t budget = SIZE_MAX;
    good = terms.GiveSome(value, {.wall = wall, .keeps_due = true, .home = keyspace.home()}, now, budget);
    return true;
  });
  return good;
}

bool GiveDeadlines(Keyspace& keyspace, const Key& key, std::string_view record, bool wall, Now now) {
  Entry* const entry = keyspace.Peek(key, now);
  if (entry == nullptr) return true;
  if (entry->encoding() != Encoding::kRich) return false;
  switch (entry->rich()->type) {
    case ValueType::kHash:
      return GiveDeadlines<HashValue>(keyspace, key, *entry, record, wall, now);
    case ValueType::kSet:
      return GiveDeadlines<SetValue>(keyspace, key, *entry, record, wall, now);
    case ValueType::kSortedSet:
      return GiveDeadlines<SortedSetValue>(keyspace, key, *entry, record, wall, now);
    default:
      return false;
  }
}

}  // namespace

std::string FactsOf(const Keyspace& keyspace, const Entry& entry, Now now) {
  const bool timed_members = HasTimedMembers(entry);
  if (!entry.Has(EntryFlag::kExtra) && !timed_members) return {};
  std::string fields;
  WriteKeyTerms(keyspace, entry, /*expired=*/false, now, fields);
  if (timed_members) WriteMemberTerms(entry, now, fields, /*of_hashes=*/true);
  if (fields.empty()) return {};
  std::string facts(1, kFactsOfKey);
  rdb::Out(facts).String(entry.key());
  return facts + fields;
}

bool TakeFacts(Keyspace& keyspace, std::string_view facts, Now now) {
  rdb::In in(facts);
  std::string_view name;
  if (in.String(name) != rdb::ReadStatus::kOk) return false;
  const std::string text(name);  // a copy: the next text overwrites `name`
  const Key key = keyspace.KeyOf(text);
  KeyTerms terms;
  while (!in.rest().empty()) {
    uint8_t code = 0;
    std::string_view part;
    if (in.Byte(code) != rdb::ReadStatus::kOk || code != rdb::opcode::kAux) return false;
    if (in.String(part) != rdb::ReadStatus::kOk) return false;
    const bool of_members = part == MemberTerms::kField;
    if (!of_members && part != KeyTerms::kField) return false;
    if (in.String(part) != rdb::ReadStatus::kOk) return false;
    if (of_members) {
      if (!GiveDeadlines(keyspace, key, part, /*wall=*/true, now)) return false;
      continue;
    }
    if (!ReadKeyTerms(part, terms)) return false;
    Entry* const entry = keyspace.Peek(key, now);
    if (entry != nullptr) GiveTerms(keyspace, key, *entry, terms, now);
  }
  return true;
}

}  // namespace mayfly
