#include "snapshot/load_claims.h"

#include <algorithm>
#include <new>

namespace mayfly {

LoadClaims::LoadClaims(Databases& databases, bool of_keys) : databases_(databases) {
  constexpr uint32_t kFlushes = ChangeHub::Bit(ChangeReason::kFlushed);
  constexpr uint32_t kKeys = ChangeHub::Bit(ChangeReason::kDeleted) | ChangeHub::Bit(ChangeReason::kExpired) |
                             ChangeHub::Bit(ChangeReason::kEvicted) |
                             ChangeHub::Bit(ChangeReason::kInvalidated) |
                             ChangeHub::Bit(ChangeReason::kRenamed);
  for (unsigned i = 0; i < databases.count(); ++i) homes_.push_back(&databases.At(i));
  databases.changes().Listen(*this, of_keys ? kFlushes | kKeys : kFlushes);
}

LoadClaims::~LoadClaims() { databases_.changes().Unlisten(*this); }

// A keyspace keeps its id in SWAPDB. No more keys come for a flushed keyspace.
uint64_t LoadClaims::PlaceOf(const Keyspace& keyspace, uint64_t hash) noexcept {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  return hash ^ (keyspace.id() * kOdd);
}

bool LoadClaims::AllFlushed() const noexcept {
  return std::all_of(homes_.begin(), homes_.end(), [](const Keyspace* home) { return home == nullptr; });
}

bool LoadClaims::MayCome(const Keyspace& home, const Key& key,
                         std::span<const std::string> tags) const noexcept {
  if (gone_.contains(PlaceOf(home, key.hash))) return false;
  const auto is_flushed = [&](const Name& prefix) {
    return prefix.keyspace == &home && key.text.starts_with(prefix.text);
  };
  if (std::any_of(prefixes_.begin(), prefixes_.end(), is_flushed)) return false;
  return std::none_of(tags.begin(), tags.end(), [&](const std::string& tag) {
    return std::any_of(tags_.begin(), tags_.end(),
                       [&](const Name& name) { return name.keyspace == &home && name.text == tag; });
  });
}

void LoadClaims::NoteFlushed(const Keyspace& keyspace) noexcept {
  std::replace_if(
      homes_.begin(), homes_.end(), [&](const Keyspace* home) { return home == &keyspace; }, nullptr);
}

void LoadClaims::NoteNamespaceFlushed(std::string_view prefix) {
  for (const Keyspace* const home : homes_) {
    const auto is_known = [&](const Name& known) { return known.keyspace == home && known.text == prefix; };
    if (home != nullptr && std::none_of(prefixes_.begin(), prefixes_.end(), is_known))
      prefixes_.push_back({home, std::string(prefix)});
  }
}

void LoadClaims::NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags) {
  for (const std::string_view tag : tags) tags_.push_back({&keyspace, std::string(tag)});
}

void LoadClaims::OnChange(const Change& change) {
  if (change.reason == ChangeReason::kFlushed)
    NoteFlushed(change.keyspace);
  else
    NoteGone(change.keyspace, change.key);
}

void LoadClaims::NoteGone(const Keyspace& keyspace, std::string_view key) noexcept {
  try {
    if (gone_.size() < kMostKeys)
      gone_.insert(PlaceOf(keyspace, keyspace.HashOf(key)));
    else
      overwhelmed_ = true;
  } catch (const std::bad_alloc&) {
    overwhelmed_ = true;
  }
}

}  // namespace mayfly
