#include "snapshot/load_claims.h"

#include <algorithm>
#include <iterator>
#include <memory>
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
  if (overwhelmed_ || gone_.Has(PlaceOf(home, key.hash))) return false;
  if (IsOfFlushedNamespace(key.text)) return false;
  return std::ranges::none_of(
      tags, [&](const std::string& tag) { return tags_.Has(PlaceOf(home, home.HashOf(tag))); });
}

// Each prefix of the key is also a prefix of every name between the two in sorted order: so of what the key and the last row
// before the key have in common.
bool LoadClaims::IsOfFlushedNamespace(std::string_view key) const noexcept {
  for (;;) {
    const auto after = flushed_.upper_bound(key);
    if (after == flushed_.begin()) return false;
    const auto& [prefix, flushed] = *std::prev(after);
    if (key.starts_with(prefix)) return flushed;
    const auto differ = std::ranges::mismatch(key, prefix);
    key = key.substr(0, static_cast<size_t>(differ.in1 - key.begin()));
  }
}

void LoadClaims::NoteFlushed(const Keyspace& keyspace) noexcept {
  std::replace_if(
      homes_.begin(), homes_.end(), [&](const Keyspace* home) { return home == &keyspace; }, nullptr);
}

void LoadClaims::Divide(const std::string& prefix) {
  const bool flushed = IsOfFlushedNamespace(prefix);
  flushed_.try_emplace(prefix, flushed);
}

void LoadClaims::NoteNamespaceFlushed(const Namespace& space) {
  const Namespaces& namespaces = databases_.namespaces();
  Divide(space.prefix());
  for (const std::unique_ptr<Namespace>& other : namespaces.active()) {
    if (other->prefix().starts_with(space.prefix())) Divide(other->prefix());
  }
  for (auto row = flushed_.find(space.prefix());
       row != flushed_.end() && row->first.starts_with(space.prefix()); ++row)
    row->second = row->second || namespaces.Covers(space, row->first);
}

void LoadClaims::Note(HashPlaces& names, const Keyspace& keyspace, std::string_view name) {
  if (gone_.size() + tags_.size() < kMostNames)
    names.Insert(PlaceOf(keyspace, keyspace.HashOf(name)));
  else
    overwhelmed_ = true;
}

void LoadClaims::NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags) {
  for (const std::string_view tag : tags) Note(tags_, keyspace, tag);
}

void LoadClaims::OnChange(const Change& change) {
  if (change.reason == ChangeReason::kFlushed)
    NoteFlushed(change.keyspace);
  else
    NoteGone(change.keyspace, change.key);
}

void LoadClaims::NoteGone(const Keyspace& keyspace, std::string_view key) noexcept {
  try {
    Note(gone_, keyspace, key);
  } catch (const std::bad_alloc&) {
    overwhelmed_ = true;
  }
}

}  // namespace mayfly
