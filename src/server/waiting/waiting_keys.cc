#include "server/waiting/waiting_keys.h"

#include <cassert>
#include <utility>

#include "base/memory/heap.h"
#include "server/clients/name_bytes.h"
#include "server/waiting/parking.h"

namespace mayfly {
namespace {

constexpr uint32_t kWaitedReasons = ChangeHub::Bit(ChangeReason::kCreated) |
                                    ChangeHub::Bit(ChangeReason::kValueChanged) |
                                    ChangeHub::Bit(ChangeReason::kSwapped);
constexpr uint32_t kGoneReasons =
    ChangeHub::Bit(ChangeReason::kDeleted) | ChangeHub::Bit(ChangeReason::kExpired) |
    ChangeHub::Bit(ChangeReason::kEvicted) | ChangeHub::Bit(ChangeReason::kInvalidated) |
    ChangeHub::Bit(ChangeReason::kRenamed) | ChangeHub::Bit(ChangeReason::kFlushed) |
    ChangeHub::Bit(ChangeReason::kNamespaceFlushed);

void Append(WaitedKeyLinks& ring, WaitedKeyLinks& key) noexcept {
  key.prev = ring.prev;
  key.next = &ring;
  ring.prev->next = &key;
  ring.prev = &key;
}

// Moves all of `from` to the end of `ring`.
void AppendAll(WaitedKeyLinks& ring, WaitedKeyLinks& from) noexcept {
  if (from.alone()) return;
  ring.prev->next = from.next;
  from.next->prev = ring.prev;
  from.prev->next = &ring;
  ring.prev = from.prev;
  from.next = from.prev = &from;
}

void Unlink(WaitedKeyLinks& key) noexcept {
  key.prev->next = key.next;
  key.next->prev = key.prev;
  key.next = key.prev = &key;
}

void Link(WaitedKey& key, Wait& wait) noexcept {
  // Nearly every wait comes last. Only a session woken in vain goes back to an older place, mostly to the gap left by the
  // session itself.
  const uint64_t order = wait.parked->order;
  Wait* before = key.gap != nullptr && key.gap->parked->order > order ? key.gap->prev : key.last;
  while (before != nullptr && before->parked->order > order) before = before->prev;
  wait.key = &key;
  wait.prev = before;
  wait.next = before != nullptr ? before->next : key.first;
  (wait.prev != nullptr ? wait.prev->next : key.first) = &wait;
  (wait.next != nullptr ? wait.next->prev : key.last) = &wait;
}

void Unlink(Wait& wait) noexcept {
  (wait.prev != nullptr ? wait.prev->next : wait.key->first) = wait.next;
  (wait.next != nullptr ? wait.next->prev : wait.key->last) = wait.prev;
  wait.key->gap = wait.next;
}

}  // namespace

WaitingKeys::WaitingKeys(ChangeHub& changes, uint64_t& name_bytes, const Hasher& hasher)
    : changes_(changes), name_bytes_(name_bytes), keys_(0, KeyPlaceHash(hasher)) {}

WaitingKeys::~WaitingKeys() { changes_.Unlisten(*this); }

void WaitingKeys::Enter(Parked& parked, unsigned db, std::span<const std::string_view> keys) {
  assert(parked.waits.empty());
  if (keys_.empty()) Listen();
  std::vector<Wait> waits;
  waits.reserve(keys.size());
  try {
    for (const std::string_view name : keys) {
      WaitedKey& key = KeyOf(db, name);
      if (key.enters == &parked) continue;  // named twice
      key.enters = &parked;
      waits.push_back({.key = &key, .parked = &parked});
    }
  } catch (...) {
    for (const Wait& wait : waits) {
      wait.key->enters = nullptr;
      ForgetIfUnused(*wait.key);
    }
    throw;
  }
  parked.waits = std::move(waits);
  name_bytes_ += ArrayBytes(parked.waits);
  parked.waited_bytes = ArrayBytes(parked.waits);
  for (Wait& wait : parked.waits) {
    wait.key->enters = nullptr;
    parked.waited_bytes += BytesOf(*wait.key);
    Link(*wait.key, wait);
  }
}

const Wait* WaitingKeys::NextAfter(const WaitedKey& key, uint64_t order) noexcept {
  if (order == 0) return key.first;
  const auto follows = [&](const Wait* wait) { return wait->parked->order > order; };
  const Wait* const gap = key.gap;
  // The gap is right unless another session has left since.
  if (gap != nullptr && follows(gap) && (gap->prev == nullptr || !follows(gap->prev))) return gap;
  if (key.last == nullptr || !follows(key.last)) return nullptr;
  const Wait* wait = key.first;
  while (!follows(wait)) wait = wait->next;
  return wait;
}

uint64_t WaitingKeys::BytesOf(const WaitedKey& key) noexcept {
  return MallocSizeClass(sizeof(WaitedKey)) + NodeBytes<Keys>() + TextBytes(key.name);
}

WaitedKey& WaitingKeys::KeyOf(unsigned db, std::string_view name) {
  const auto found = keys_.find({db, name});
  if (found != keys_.end()) return *found->second;
  while (idle_.size() <= db) idle_.emplace_back();
  auto key = std::make_unique<WaitedKey>();
  key->db = db;
  key->name = name;
  WaitedKey& stored = *key;
  const uint64_t buckets_before = BucketBytes(keys_);
  keys_.emplace(KeyPlace{db, stored.name}, std::move(key));
  Append(Idle(db), stored);
  name_bytes_ += BytesOf(stored) + BucketBytes(keys_) - buckets_before;
  return stored;
}

void WaitingKeys::Listen() {
  changes_.Listen(*this, kWaitedReasons | (gone_awaited_ != 0 ? kGoneReasons : 0));
}

void WaitingKeys::AwaitGone(Parked& parked) noexcept {
  assert(!parked.waits.empty() && !parked.awaits_gone);
  parked.awaits_gone = true;
  if (++gone_awaited_ == 1) Listen();  // again: takes no memory
}

void WaitingKeys::Leave(Parked& parked) noexcept {
  if (parked.waits.empty()) return;
  if (std::exchange(parked.awaits_gone, false) && --gone_awaited_ == 0) Listen();
  for (Wait& wait : parked.waits) {
    Unlink(wait);
    ForgetIfUnused(*wait.key);
  }
  name_bytes_ -= ArrayBytes(parked.waits);
  parked.waits.clear();
  parked.waited_bytes = 0;
}

void WaitingKeys::ForgetIfUnused(WaitedKey& key) noexcept {
  if (key.first != nullptr || key.held) return;
  Unlink(key);
  name_bytes_ -= BytesOf(key);
  keys_.erase(keys_.find({key.db, key.name}));
  if (keys_.empty()) changes_.Unlisten(*this);
}

void WaitingKeys::MarkReady(WaitedKey& key) noexcept {
  if (key.ready) return;
  key.ready = true;
  Unlink(key);
  Append(ready_, key);
}

bool WaitingKeys::Announce(const KeyPlace& place) noexcept {
  const auto found = keys_.find(place);
  if (found == keys_.end()) return false;
  MarkReady(*found->second);
  return found->second->first != nullptr;
}

WaitedKey* WaitingKeys::TakeReady() noexcept {
  if (!AnyReady()) return nullptr;
  if (ready_.alone()) --swapped_left_;
  WaitedKey& key = static_cast<WaitedKey&>(ready_.alone() ? *swapped_.next : *ready_.next);
  Unlink(key);
  key.ready = false;
  key.held = true;
  return &key;
}

void WaitingKeys::Release(WaitedKey& key) noexcept {
  key.held = false;
  if (!key.ready) Append(Idle(key.db), key);
  ForgetIfUnused(key);
}

void WaitingKeys::OnChange(const Change& change) {
  if (change.reason == ChangeReason::kSwapped || change.reason == ChangeReason::kFlushed ||
      change.reason == ChangeReason::kNamespaceFlushed) {
    if (change.database < idle_.size()) AppendAll(swapped_, Idle(change.database));
    return;
  }
  const auto found = keys_.find({change.database, change.key});
  if (found != keys_.end()) MarkReady(*found->second);
}

}  // namespace mayfly
