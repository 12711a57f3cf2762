#include "replication/turn_changes.h"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

namespace mayfly {
namespace {

constexpr size_t kFewestPlaces = 64;
constexpr size_t kKeptNameBytes = size_t{1} << 20;

}  // namespace

size_t TurnChanges::PlaceOf(const Keyspace& keyspace, const Key& key) const noexcept {
  const size_t mask = places_.size() - 1;
  size_t at = key.hash & mask;
  for (; places_[at].round == round_; at = (at + 1) & mask) {
    const Item& item = items_[places_[at].item];
    if (item.hash == key.hash && item.keyspace == &keyspace && NameOf(item) == key.text) break;
  }
  return at;
}

TurnChanges::Item& TurnChanges::Of(Keyspace& keyspace, const Key& key) {
  if ((items_.size() + 1) * 2 > places_.size()) Grow();
  const size_t at = PlaceOf(keyspace, key);
  if (places_[at].round == round_) return items_[places_[at].item];
  const size_t name_at = names_.size();
  if (name_at + key.text.size() > std::numeric_limits<uint32_t>::max()) throw std::bad_alloc();
  names_.append(key.text);
  items_.push_back({.keyspace = &keyspace,
                    .hash = key.hash,
                    .name_at = static_cast<uint32_t>(name_at),
                    .name_size = static_cast<uint32_t>(key.text.size()),
                    .left = Left::kNothing,
                    .commands = 0,
                    .persisted = false});
  places_[at] = {.round = round_, .item = static_cast<uint32_t>(items_.size() - 1)};
  return items_.back();
}

TurnChanges::Item* TurnChanges::Find(const Keyspace& keyspace, const Key& key) noexcept {
  if (items_.empty()) return nullptr;
  const size_t at = PlaceOf(keyspace, key);
  return places_[at].round == round_ ? &items_[places_[at].item] : nullptr;
}

void TurnChanges::Grow() {
  std::vector<Place> places(std::max(kFewestPlaces, places_.size() * 2));
  const size_t mask = places.size() - 1;
  for (size_t i = 0; i < items_.size(); ++i) {
    size_t at = items_[i].hash & mask;
    while (places[at].round == round_) at = (at + 1) & mask;
    places[at] = {.round = round_, .item = static_cast<uint32_t>(i)};
  }
  places_ = std::move(places);
}

void TurnChanges::Forget(const Keyspace& keyspace) noexcept {
  for (Item& item : items_) {
    if (item.keyspace == &keyspace) item.left = Left::kNothing;
  }
}

void TurnChanges::Clear() noexcept {
  if (items_.size() > kKeptItems) {
    items_ = {};
    places_ = {};
  }
  if (names_.size() > kKeptNameBytes) names_ = {};
  items_.clear();
  names_.clear();
  if (++round_ == 0) {  // the places of old rounds must not count again
    places_ = {};
    round_ = 1;
  }
}

}  // namespace mayfly
