#include "server/waiting/leases.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <span>
#include <utility>

#include "server/clients/session.h"

namespace mayfly {
namespace {

// The changes that end a lease. Expiry and eviction do not: the value is then missing even more. NSFLUSH ends the leases of its
// keys itself: most of these keys do not exist.
constexpr uint32_t kLeaseReasons =
    ChangeHub::Bit(ChangeReason::kCreated) | ChangeHub::Bit(ChangeReason::kValueChanged) |
    ChangeHub::Bit(ChangeReason::kDeleted) | ChangeHub::Bit(ChangeReason::kInvalidated) |
    ChangeHub::Bit(ChangeReason::kFlushed) | ChangeHub::Bit(ChangeReason::kRenamed) |
    ChangeHub::Bit(ChangeReason::kSwapped);

}  // namespace

// A listener without reasons costs nothing. The constructor takes the place among the listeners, so Hear takes no memory.
Leases::Leases(Alarms& alarms, Accounts& accounts, ClientEnds& ends, ChangeHub& changes, WaitingKeys& waiting,
               const Hasher& hasher, std::mt19937_64& random, uint64_t now_mono_ms)
    : Alarm(alarms),
      Listener(ends),
      changes_(changes),
      waiting_(waiting),
      random_(random),
      invalidations_(hasher),
      wheel_(LeaseWheelHooks(), now_mono_ms),
      leases_(0, KeyPlaceHash(hasher)),
      account_(accounts, account_bytes_) {
  changes_.Listen(*this, Interest{});
}

Leases::~Leases() {
  changes_.Unlisten(*this);
  while (TakeEnded() != nullptr) {  // one by one: a chain of owners would be destroyed recursively
  }
}

void Leases::Hear(bool on) noexcept {
  hears_ = on;
  changes_.Listen(*this, Interest{.reasons = on ? kLeaseReasons : 0});
}

const Lease* Leases::Find(unsigned db, std::string_view key) const noexcept {
  if (leases_.empty()) return nullptr;
  const auto found = leases_.find({db, key});
  return found != leases_.end() ? found->second.get() : nullptr;
}

const Lease* Leases::Held(unsigned db, std::string_view key, uint64_t token) const noexcept {
  const Lease* const lease = Find(db, key);
  const bool held = lease != nullptr && lease->state == Lease::State::kHeld && lease->token == token;
  return held ? lease : nullptr;
}

Leases::Room Leases::RoomFor(uint64_t owner, std::string_view key) const noexcept {
  const size_t bytes = BytesOf(key.size());
  if (bytes_ + bytes > kMostBytes) return Room::kFull;
  const auto owned = owned_.find(owner);
  return owned != owned_.end() && owned->second.bytes + bytes > kMostBytesOfOwner ? Room::kOwnerHasTooMany
                                                                                  : Room::kYes;
}

Lease& Leases::Mutable(const Lease& lease) noexcept { return *leases_.find({lease.db, lease.name})->second; }

Lease& Leases::Add(unsigned db, std::string_view key) {
  const auto found = leases_.find({db, key});
  if (found != leases_.end()) return *found->second;
  auto lease = std::make_unique<Lease>();
  lease->db = db;
  lease->name = key;
  lease->state = Lease::State::kReleased;
  const KeyPlace place{db, lease->name};
  Lease& added = *leases_.emplace(place, std::move(lease)).first->second;
  bytes_ += BytesOf(key.size());
  return added;
}

const Lease& Leases::Grant(uint64_t owner, unsigned db, std::string_view key, uint64_t until_mono_ms) {
  Holding& holding = owned_[owner];
  Lease* added = nullptr;
  try {
    added = &Add(db, key);
  } catch (...) {
    if (holding.first == nullptr) owned_.erase(owner);
    throw;
  }
  Lease& lease = *added;
  assert(lease.state != Lease::State::kHeld);
  ForgetFailure(lease);
  lease.state = Lease::State::kHeld;
  lease.owner = owner;
  lease.token = random_();
  lease.invalidations = invalidations_.count();
  AddHolder(lease, holding);
  File(lease, until_mono_ms);
  if (!hears_) Hear(true);
  return lease;
}

void Leases::Revoke(const Lease& lease) noexcept { End(leases_.find({lease.db, lease.name})); }

void Leases::File(Lease& lease, uint64_t until_mono_ms) noexcept {
  if (wheel_.Contains(&lease)) wheel_.Remove(&lease);
  lease.until_mono_ms = until_mono_ms;
  // The loop calls NextWake at the end of every turn, so the result of Insert is not needed.
  static_cast<void>(wheel_.Insert(&lease));
}

void Leases::AddHolder(Lease& lease, Holding& holding) noexcept {
  lease.owned_next = holding.first;
  lease.owned_prev = nullptr;
  if (holding.first != nullptr) holding.first->owned_prev = &lease;
  holding.first = &lease;
  holding.bytes += BytesOf(lease.name.size());
}

void Leases::RemoveHolder(Lease& lease) noexcept {
  const auto owned = owned_.find(lease.owner);
  Holding& holding = owned->second;
  holding.bytes -= BytesOf(lease.name.size());
  if (lease.owned_next != nullptr) lease.owned_next->owned_prev = lease.owned_prev;
  (lease.owned_prev != nullptr ? lease.owned_prev->owned_next : holding.first) = lease.owned_next;
  if (holding.first == nullptr) owned_.erase(owned);
  lease.owned_next = lease.owned_prev = nullptr;
}

void Leases::ForgetFailure(Lease& lease) noexcept {
  if (lease.state == Lease::State::kFailed)
    failed_bytes_ -= BytesOf(lease.name.size()) + lease.message.size();
  bytes_ -= lease.message.size();
  lease.message = {};
}

void Leases::Forget(Map::iterator at) noexcept {
  std::unique_ptr<Lease> lease = std::move(at->second);
  leases_.erase(at);
  if (lease->state == Lease::State::kHeld) RemoveHolder(*lease);
  if (wheel_.Contains(lease.get())) wheel_.Remove(lease.get());
  ForgetFailure(*lease);
  bytes_ -= BytesOf(lease->name.size());
  if (!lease->told.empty()) AddEnded(std::move(lease));
}

void Leases::AddEnded(std::unique_ptr<Lease> lease) noexcept {
  Lease* const added = lease.release();
  added->ended_next = nullptr;
  if (ended_last_ != nullptr) {
    ended_last_->ended_next = added;
  } else {
    ended_first_.reset(added);
  }
  ended_last_ = added;
}

std::unique_ptr<Lease> Leases::TakeEnded() noexcept {
  std::unique_ptr<Lease> first = std::move(ended_first_);
  if (first == nullptr) return nullptr;
  ended_first_.reset(first->ended_next);
  if (ended_first_ == nullptr) ended_last_ = nullptr;
  return first;
}

void Leases::End(Map::iterator at) noexcept {
  waiting_.Announce(at->first);
  Forget(at);
}

void Leases::EndAllOf(unsigned db) noexcept {
  EndIf([db](unsigned of, std::string_view) { return of == db; });
}

void Leases::KeepOrForget(Lease& lease, uint64_t until_mono_ms, bool remember) noexcept {
  RemoveHolder(lease);
  const bool awaited = waiting_.Announce({lease.db, lease.name});
  if (awaited || remember) {
    File(lease, until_mono_ms);
  } else {
    Forget(leases_.find({lease.db, lease.name}));
  }
}

void Leases::Release(const Lease& lease, uint64_t now_mono_ms) noexcept {
  Lease& changed = Mutable(lease);
  assert(changed.state == Lease::State::kHeld);
  changed.state = Lease::State::kReleased;
  KeepOrForget(changed, now_mono_ms, /*remember=*/false);
}

void Leases::Fail(const Lease& lease, std::string_view message, uint64_t until_mono_ms) {
  Lease& changed = Mutable(lease);
  assert(changed.state == Lease::State::kHeld);
  // Clients with PUSH get their messages now; waiting clients may ask until the failure's time.
  std::unique_ptr<Lease> ended;
  if (!changed.told.empty()) {
    ended = std::make_unique<Lease>();
    ended->name = changed.name;
    ended->message = message;
  }
  const size_t bytes = BytesOf(changed.name.size()) + message.size();
  const bool remember = failed_bytes_ + bytes <= kMostBytesOfFailures;
  changed.message = message;
  bytes_ += message.size();
  changed.state = Lease::State::kFailed;
  failed_bytes_ += bytes;
  if (ended != nullptr) {
    ended->db = changed.db;
    ended->state = Lease::State::kFailed;
    ended->told.swap(changed.told);
    AddEnded(std::move(ended));
  }
  KeepOrForget(changed, until_mono_ms, remember);
}

void Leases::TellEnd(const Lease& lease, uint64_t session) {
  std::vector<uint64_t>& told = Mutable(lease).told;
  if (std::find(told.begin(), told.end(), session) == told.end()) told.push_back(session);
}

void Leases::OnClientEnd(Session& session) noexcept {
  const uint64_t owner = session.id;
  for (auto owned = owned_.find(owner); owned != owned_.end(); owned = owned_.find(owner))
    End(leases_.find({owned->second.first->db, owned->second.first->name}));
  session.Clear(Mode::kPushTarget);
}

void Leases::OnWake(Now now, Log*) noexcept {
  constexpr size_t kBatch = 64;
  std::array<Lease*, kBatch> due;
  for (bool more = true; more;) {
    const auto progress = wheel_.Advance(now.mono_ms, due, kBatch);
    for (Lease* lease : std::span(due).first(progress.due)) {
      const auto at = leases_.find({lease->db, lease->name});
      lease->state == Lease::State::kHeld ? End(at) : Forget(at);
    }
    more = progress.more;
  }
}

void Leases::OnChange(const Change& change) {
  if (leases_.empty()) return;
  if (change.event.name.empty()) return EndAllOf(change.database);
  const auto found = leases_.find({change.database, change.key});
  if (found != leases_.end()) End(found);
}

bool Leases::Validate() const {
  size_t held = 0;
  size_t bytes = 0;
  size_t failed = 0;
  for (const auto& [place, lease] : leases_) {
    if (place.db != lease->db || place.name.data() != lease->name.data()) return false;
    if (!wheel_.Contains(lease.get())) return false;
    if (lease->state == Lease::State::kHeld) ++held;
    bytes += BytesOf(lease->name.size()) + lease->message.size();
    if (lease->state == Lease::State::kFailed) failed += BytesOf(lease->name.size()) + lease->message.size();
  }
  size_t owned = 0;
  for (const auto& [owner, holding] : owned_) {
    const Lease* before = nullptr;
    size_t held_bytes = 0;
    for (const Lease* lease = holding.first; lease != nullptr; before = lease, lease = lease->owned_next) {
      if (lease->owner != owner || lease->owned_prev != before || lease->state != Lease::State::kHeld)
        return false;
      held_bytes += BytesOf(lease->name.size());
      ++owned;
    }
    if (holding.first == nullptr || holding.bytes != held_bytes) return false;
  }
  return held == owned && bytes == bytes_ && failed == failed_bytes_ && wheel_.size() == leases_.size() &&
         wheel_.Validate();
}

}  // namespace mayfly
