#include "server/parking.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace mayfly {

ParkingLot::ParkingLot(uint64_t now_mono_ms) : wheel_(ParkedWheelHooks(), now_mono_ms) {}

ParkingLot::~ParkingLot() {
  for (const std::unique_ptr<Parked>& parked : parked_) parked->session->parked = nullptr;
}

Parked& ParkingLot::Park(Session& session, std::span<const std::string_view> arguments,
                         uint64_t deadline_mono_ms, uint64_t order) {
  assert(session.parked == nullptr);
  auto parked = std::make_unique<Parked>();
  parked->session = &session;
  parked->arguments.assign(arguments.begin(), arguments.end());
  parked->deadline_mono_ms = deadline_mono_ms;
  parked->order = order != 0 ? order : ++last_order_;
  parked->filed = wheel::kUnfiled;
  parked_.push_back(std::move(parked));
  Parked& stored = *parked_.back();
  stored.index = parked_.size() - 1;
  // The loop calls NextWake at the end of every turn, so the result of Insert is not needed.
  if (deadline_mono_ms != kForever) static_cast<void>(wheel_.Insert(&stored));
  session.parked = &stored;
  return stored;
}

void ParkingLot::Wake(Parked& parked, WakeReason reason) {
  if (parked.reason != WakeReason::kNone) return;
  parked.reason = reason;
  woken_.push_back(&parked);
}

void ParkingLot::Leave(Session& session) noexcept {
  if (session.parked == nullptr) return;
  if (session.parked->reason != WakeReason::kNone) std::erase(woken_, session.parked);
  static_cast<void>(Release(*session.parked));
}

void ParkingLot::Pause(PauseOf whom, uint64_t until_mono_ms) noexcept {
  assert(whom != PauseOf::kNobody);
  paused_until_mono_ms_ =
      paused_ == PauseOf::kNobody ? until_mono_ms : std::max(paused_until_mono_ms_, until_mono_ms);
  paused_ = std::max(paused_, whom);
}

void ParkingLot::Unpause() {
  paused_ = PauseOf::kNobody;
  std::vector<Parked*> held;
  for (const std::unique_ptr<Parked>& parked : parked_) {
    if (parked->paused) held.push_back(parked.get());
  }
  std::sort(held.begin(), held.end(), [](const Parked* a, const Parked* b) { return a->order < b->order; });
  for (Parked* parked : held) Wake(*parked, WakeReason::kReady);
}

void ParkingLot::HoldBack(Session& session, std::span<const std::string_view> arguments) {
  assert(paused_ != PauseOf::kNobody);
  Park(session, arguments, kForever).paused = true;
}

void ParkingLot::Advance(uint64_t now_mono_ms) {
  if (paused_ != PauseOf::kNobody && now_mono_ms >= paused_until_mono_ms_) Unpause();
  std::array<Parked*, 64> due;
  for (;;) {
    const auto progress = wheel_.Advance(now_mono_ms, due, due.size());
    for (size_t i = 0; i < progress.due; ++i) Wake(*due[i], WakeReason::kTimeout);
    if (!progress.more) return;
  }
}

uint64_t ParkingLot::NextWake() const noexcept {
  const uint64_t timeout = wheel_.size() == 0 ? kForever : wheel_.NextWake();
  return paused_ == PauseOf::kNobody ? timeout : std::min(timeout, paused_until_mono_ms_);
}

std::unique_ptr<Parked> ParkingLot::TakeWoken() {
  if (woken_.empty()) return nullptr;
  Parked* parked = woken_.front();
  woken_.pop_front();
  return Release(*parked);
}

std::unique_ptr<Parked> ParkingLot::Release(Parked& parked) noexcept {
  parked.session->parked = nullptr;
  if (wheel_.Contains(&parked)) wheel_.Remove(&parked);
  std::unique_ptr<Parked>& place = parked_[parked.index];
  parked_.back()->index = parked.index;
  std::swap(place, parked_.back());
  std::unique_ptr<Parked> released = std::move(parked_.back());
  parked_.pop_back();
  return released;
}

}  // namespace mayfly
