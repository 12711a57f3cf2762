#include "snapshot/old_keys.h"

#include <algorithm>

#include "cache/keyspace/adopter.h"
#include "cache/keyspace/databases.h"

namespace mayfly {
namespace {

// Hashes of all databases are in one set.
uint64_t PlaceOf(const Keyspace& home, uint64_t hash) noexcept {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  return hash ^ (home.id() * kOdd);
}

}  // namespace

void OldKeys::Keep(const Keyspace& home, uint64_t hash) { kept_.Insert(PlaceOf(home, hash)); }

bool OldKeys::RemoveSome(Now now, size_t& budget) {
  const ShownExpired shown(databases_);
  for (; database_ < databases_.count(); ++database_) {
    Keyspace& home = databases_.At(database_);
    do {
      if (budget == 0) return false;
      page_.clear();
      size_t seen = 1;
      cursor_ = home.Scan(cursor_, now, [&](const Entry& entry) {
        ++seen;
        if (!kept_.Has(PlaceOf(home, home.HashOf(entry.key())))) page_.emplace_back(entry.key());
      });
      for (const std::string& name : page_) {
        const Key key = home.KeyOf(name);
        if (Entry* const entry = home.Peek(key, now)) Adopter(home).GiveWay(key, *entry);
      }
      budget -= std::min(budget, seen);
    } while (cursor_ != 0);
  }
  return true;
}

}  // namespace mayfly
