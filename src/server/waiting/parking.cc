#include "server/waiting/parking.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "server/clients/session.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"

namespace mayfly {

ParkingLot::ParkingLot(Hubs& hubs, ChangeHub& changes, Stats& stats, const Hasher& hasher,
                       uint64_t now_mono_ms)
    : Alarm(hubs.alarms),
      Listener(hubs.client_ends),
      keys_(changes, stats.name_bytes, hasher),
      wheel_(ParkedWheelHooks(), now_mono_ms) {}

ParkingLot::~ParkingLot() {
  while (!parked_.empty()) static_cast<void>(Release(*parked_.back()));
}

Parked& ParkingLot::Park(Session& session, std::span<const std::string_view> arguments,
                         uint64_t deadline_mono_ms, uint64_t order, std::span<const std::string_view> keys,
                         std::optional<ValueType> wanted) {
  assert(session.parked == nullptr);
  auto parked = std::make_unique<Parked>();
  parked->session = &session;
  parked->arguments = CopiedArguments(arguments);
  parked->deadline_mono_ms = deadline_mono_ms;
  parked->order = order != 0 ? order : ++last_order_;
  parked->wanted = wanted;
  MakeRoom();
  if (!keys.empty()) keys_.Enter(*parked, session.db, keys);
  return File(std::move(parked));
}

Parked& ParkingLot::Await(Session& session, CopiedArguments& arguments, uint64_t deadline_mono_ms,
                          std::unique_ptr<PendingWork>& work) {
  assert(session.parked == nullptr);
  auto parked = std::make_unique<Parked>();
  MakeRoom();
  parked->session = &session;
  parked->arguments = std::move(arguments);
  parked->deadline_mono_ms = deadline_mono_ms;
  parked->order = ++last_order_;
  parked->work = std::move(work);
  return File(std::move(parked));
}

void ParkingLot::MakeRoom() {
  if (parked_.size() == parked_.capacity()) parked_.reserve(2 * parked_.size() + 1);
}

Parked& ParkingLot::File(std::unique_ptr<Parked> parked) noexcept {
  parked->filed = wheel::kUnfiled;
  parked_.push_back(std::move(parked));
  Parked& stored = *parked_.back();
  stored.index = parked_.size() - 1;
  // The loop calls NextWake at the end of every turn, so the result of Insert is not needed.
  if (stored.deadline_mono_ms != kForever) static_cast<void>(wheel_.Insert(&stored));
  stored.session->parked = &stored;
  stored.session->Set(Mode::kParked);
  return stored;
}

Parked& ParkingLot::Delay(Session& session, std::span<const std::string_view> arguments,
                          uint64_t deadline_mono_ms, uint64_t order) {
  Parked& parked = Park(session, arguments, deadline_mono_ms, order);
  parked.delayed = true;
  ++delayed_;
  return parked;
}

void ParkingLot::Wake(Parked& parked, WakeReason reason) noexcept {
  if (parked.reason != WakeReason::kNone) return;
  parked.reason = reason;
  parked.woken_prev = woken_last_;
  (woken_last_ != nullptr ? woken_last_->woken_next : woken_first_) = &parked;
  woken_last_ = &parked;
}

void ParkingLot::AwaitEvent(Parked& parked) noexcept {
  assert(!parked.reads_events);
  parked.reads_events = true;
  parked.reader_prev = reader_last_;
  (reader_last_ != nullptr ? reader_last_->reader_next : reader_first_) = &parked;
  reader_last_ = &parked;
}

void ParkingLot::LeaveReaders(Parked& parked) noexcept {
  if (!parked.reads_events) return;
  parked.reads_events = false;
  (parked.reader_prev != nullptr ? parked.reader_prev->reader_next : reader_first_) = parked.reader_next;
  (parked.reader_next != nullptr ? parked.reader_next->reader_prev : reader_last_) = parked.reader_prev;
  parked.reader_next = parked.reader_prev = nullptr;
}

void ParkingLot::WakeEventReaders() noexcept {
  while (reader_first_ != nullptr) {
    Parked& reader = *reader_first_;
    LeaveReaders(reader);
    Wake(reader, WakeReason::kReady);
  }
}

void ParkingLot::Leave(Session& session) noexcept {
  if (session.parked != nullptr) static_cast<void>(Release(*session.parked));
}

void ParkingLot::Pause(PauseOf whom, uint64_t until_mono_ms) noexcept {
  assert(whom != PauseOf::kNobody);
  paused_until_mono_ms_ =
      paused_ == PauseOf::kNobody ? until_mono_ms : std::max(paused_until_mono_ms_, until_mono_ms);
  paused_ = std::max(paused_, whom);
}

void ParkingLot::Unpause() noexcept {
  paused_ = PauseOf::kNobody;
  WakeHeldBack();
}

void ParkingLot::HoldWriters(bool hold) noexcept {
  if (std::exchange(holds_writers_, hold) && !hold) WakeHeldBack();
}

void ParkingLot::ReleaseKey(unsigned db, std::string_view key) noexcept {
  held_.Release(db, key);
  WakeHeldBack();
}

void ParkingLot::WakeHeldBack() noexcept {
  if (std::none_of(parked_.begin(), parked_.end(), [](const auto& parked) { return parked->paused; })) return;
  std::sort(parked_.begin(), parked_.end(), [](const auto& a, const auto& b) { return a->order < b->order; });
  for (size_t i = 0; i < parked_.size(); ++i) {
    parked_[i]->index = i;
    if (parked_[i]->paused) Wake(*parked_[i], WakeReason::kReady);
  }
}

void ParkingLot::HoldBack(Session& session, std::span<const std::string_view> arguments) {
  assert(HoldsBack());
  Park(session, arguments, kForever).paused = true;
}

void ParkingLot::OnWake(Now now, Log*) noexcept {
  if (paused_ != PauseOf::kNobody && now.mono_ms >= paused_until_mono_ms_) Unpause();
  std::array<Parked*, 64> due;
  for (;;) {
    const auto progress = wheel_.Advance(now.mono_ms, due, due.size());
    for (size_t i = 0; i < progress.due; ++i)
      Wake(*due[i], now.mono_ms < due[i]->end_mono_ms ? WakeReason::kReady : WakeReason::kTimeout);
    if (!progress.more) return;
  }
}

uint64_t ParkingLot::NextWake() const noexcept {
  const uint64_t timeout = wheel_.size() == 0 ? kForever : wheel_.NextWake();
  return paused_ == PauseOf::kNobody ? timeout : std::min(timeout, paused_until_mono_ms_);
}

std::unique_ptr<Parked> ParkingLot::TakeWoken() noexcept {
  return woken_first_ != nullptr ? Release(*woken_first_) : nullptr;
}

std::unique_ptr<Parked> ParkingLot::Take(Parked& parked, WakeReason reason) noexcept {
  std::unique_ptr<Parked> taken = Release(parked);
  if (taken->reason == WakeReason::kNone) taken->reason = reason;
  return taken;
}

std::unique_ptr<Parked> ParkingLot::Release(Parked& parked) noexcept {
  parked.session->parked = nullptr;
  parked.session->Clear(Mode::kParked);
  keys_.Leave(parked);
  LeaveReaders(parked);
  if (wheel_.Contains(&parked)) wheel_.Remove(&parked);
  if (parked.delayed) --delayed_;
  if (parked.reason != WakeReason::kNone) {
    (parked.woken_prev != nullptr ? parked.woken_prev->woken_next : woken_first_) = parked.woken_next;
    (parked.woken_next != nullptr ? parked.woken_next->woken_prev : woken_last_) = parked.woken_prev;
  }
  std::unique_ptr<Parked>& place = parked_[parked.index];
  parked_.back()->index = parked.index;
  std::swap(place, parked_.back());
  std::unique_ptr<Parked> released = std::move(parked_.back());
  parked_.pop_back();
  return released;
}

}  // namespace mayfly
