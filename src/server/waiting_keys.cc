#include "server/waiting_keys.h"

#include <algorithm>
#include <cassert>

#include "server/parking.h"

namespace mayfly {
namespace {

constexpr uint32_t kReasons = ChangeHub::Bit(ChangeReason::kCreated) |
                              ChangeHub::Bit(ChangeReason::kValueChanged) |
                              ChangeHub::Bit(ChangeReason::kSwapped);

void Link(WaitedKey& key, Wait& wait) noexcept {
  // Nearly everybody comes last. Only who was woken in vain goes back to an older place.
  Wait* before = key.last;
  while (before != nullptr && before->parked->order > wait.parked->order) before = before->prev;
  wait.key = &key;
  wait.prev = before;
  wait.next = before != nullptr ? before->next : key.first;
  (wait.prev != nullptr ? wait.prev->next : key.first) = &wait;
  (wait.next != nullptr ? wait.next->prev : key.last) = &wait;
}

void Unlink(Wait& wait) noexcept {
  (wait.prev != nullptr ? wait.prev->next : wait.key->first) = wait.next;
  (wait.next != nullptr ? wait.next->prev : wait.key->last) = wait.prev;
}

}  // namespace

WaitingKeys::~WaitingKeys() { changes_.Unlisten(*this); }

void WaitingKeys::Enter(Parked& parked, unsigned db, std::span<const std::string_view> keys) {
  assert(parked.waits.empty());
  if (keys_.empty()) changes_.Listen(*this, kReasons);
  std::vector<Wait> waits;
  waits.reserve(keys.size());
  try {
    for (const std::string_view name : keys) {
      WaitedKey& key = KeyOf(db, name);
      const auto same = [&key](const Wait& wait) { return wait.key == &key; };
      if (std::none_of(waits.begin(), waits.end(), same)) waits.push_back({.key = &key, .parked = &parked});
    }
  } catch (...) {
    for (const Wait& wait : waits) ForgetIfUnused(*wait.key);
    throw;
  }
  parked.waits = std::move(waits);
  for (Wait& wait : parked.waits) Link(*wait.key, wait);
}

WaitedKey& WaitingKeys::KeyOf(unsigned db, std::string_view name) {
  const auto found = keys_.find({db, name});
  if (found != keys_.end()) return *found->second;
  auto key = std::make_unique<WaitedKey>();
  key->db = db;
  key->name = name;
  WaitedKey& stored = *key;
  keys_.emplace(Place{db, stored.name}, std::move(key));
  return stored;
}

void WaitingKeys::Leave(Parked& parked) noexcept {
  for (Wait& wait : parked.waits) {
    Unlink(wait);
    ForgetIfUnused(*wait.key);
  }
  parked.waits.clear();
}

// A key that is ready stays until it was taken, so that the list of those needs no search.
void WaitingKeys::ForgetIfUnused(WaitedKey& key) noexcept {
  if (key.first != nullptr || key.ready || key.held) return;
  keys_.erase(keys_.find({key.db, key.name}));
  if (keys_.empty()) changes_.Unlisten(*this);
}

void WaitingKeys::MarkReady(WaitedKey& key) noexcept {
  if (key.ready) return;
  key.ready = true;
  key.next_ready = nullptr;
  (ready_last_ != nullptr ? ready_last_->next_ready : ready_first_) = &key;
  ready_last_ = &key;
}

WaitedKey* WaitingKeys::TakeReady() noexcept {
  WaitedKey* const key = ready_first_;
  if (key == nullptr) return nullptr;
  ready_first_ = key->next_ready;
  if (ready_first_ == nullptr) ready_last_ = nullptr;
  key->ready = false;
  key->held = true;
  return key;
}

void WaitingKeys::Release(WaitedKey& key) noexcept {
  key.held = false;
  ForgetIfUnused(key);
}

void WaitingKeys::OnChange(const Change& change) {
  if (change.reason == ChangeReason::kSwapped) {
    for (const auto& [place, key] : keys_) {
      if (place.db == change.database) MarkReady(*key);
    }
    return;
  }
  const auto found = keys_.find({change.database, change.key});
  if (found != keys_.end()) MarkReady(*found->second);
}

}  // namespace mayfly
