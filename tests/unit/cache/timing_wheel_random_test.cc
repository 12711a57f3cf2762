// Random runs of all operations of the wheel, compared step by step with a sorted set of deadlines.
#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "unit/cache/timing_wheel_fixture.h"

namespace mayfly::wheel_test {
namespace {

#ifdef MAYFLY_SANITIZE
constexpr int kSteps = 60'000;
#else
constexpr int kSteps = 1'000'000;
#endif
constexpr uint32_t kTimers = 600;

class RandomRun {
 public:
  RandomRun(uint64_t seed, bool with_rewinds)
      : random_(seed), with_rewinds_(with_rewinds), t_(kTimers, seed % 5000) {
    now_ = t_.wheel.elapsed();
    comes_at_.resize(kTimers + 1);
  }

  // The step at which the wheel and the set disagreed, or kSteps.
  int Go() {
    for (int step = 0; step < kSteps; ++step) {
      const uint64_t choice = random_() % 1000;
      const bool good = choice < 400                           ? SetOrRemove()
                        : choice < 650                         ? Move()
                        : choice == 999 && with_rewinds_       ? Rewind()
                        : choice >= 990 && t_.wheel.size() > 0 ? Sleep()
                                                               : Advance();
      if (!good) return step;
      if (step % 7 == 0 && !WakesInTime()) return step;
      if (step % 211 == 0 && !(t_.wheel.Validate() && t_.wheel.size() == order_.size())) return step;
    }
    return kSteps;
  }

  uint64_t handed_back() const { return handed_back_; }
  uint64_t left_half_done() const { return left_half_done_; }

 private:
  // Delays of every magnitude, most of them short, a few beyond all levels, a few in the past.
  uint64_t RandomDeadline() {
    const uint64_t kind = random_() % 100;
    const uint64_t elapsed = t_.wheel.elapsed();
    if (kind == 0) return UINT64_MAX - random_() % 3;
    if (kind < 4) return elapsed - std::min(elapsed, random_() % 200);
    if (kind < 8) return ((elapsed >> 12) + 1 + random_() % 3) << 12;  // exactly at a boundary
    const uint64_t bits = kind < 70 ? random_() % 14 : random_() % 24;
    return elapsed + random_() % (uint64_t{1} << bits);
  }
  void Remember(uint32_t id, uint64_t deadline) {
    comes_at_[id] = std::max(deadline, t_.wheel.elapsed());
    order_.insert({comes_at_[id], id});
  }
  uint32_t RandomTimer() { return static_cast<uint32_t>(1 + random_() % kTimers); }
  void Armed(bool anew) {
    if (anew) armed_ = t_.wheel.NextWake();
  }

  bool SetOrRemove() {
    const uint32_t id = RandomTimer();
    if (t_.wheel.Contains(id)) {
      if (random_() % 3 != 0) return Move();
      t_.wheel.Remove(id);
      return order_.erase({comes_at_[id], id}) == 1;
    }
    const uint64_t deadline = RandomDeadline();
    Armed(t_.Set(id, deadline));
    Remember(id, deadline);
    return true;
  }
  bool Move() {
    const uint32_t id = RandomTimer();
    if (!t_.wheel.Contains(id)) return true;
    order_.erase({comes_at_[id], id});
    const uint64_t deadline = RandomDeadline();
    Armed(t_.Move(id, deadline));
    Remember(id, deadline);
    return true;
  }

  bool Advance() {
    static constexpr std::array<uint64_t, 2> kTurns = {64, 4096};
    const uint64_t n = kTurns[random_() % 2];
    const std::array<uint64_t, 8> jumps = {0, 1, 1, 2, n - 1, n, n + 1, 1000 * n};
    const uint64_t pick = random_() % 64;
    now_ += jumps[pick == 0 ? 7 : pick % 7];
    return AdvanceToNow();
  }
  bool Sleep() {
    now_ = std::max(now_, std::min(t_.wheel.NextWake(), now_ + (uint64_t{1} << 40)));
    return AdvanceToNow();
  }
  bool AdvanceToNow() {
    std::array<uint32_t, 16> due;
    const bool in_bits = random_() % 4 == 0;
    const size_t room = in_bits ? random_() % due.size() : due.size();
    const size_t budget = in_bits ? random_() % 12 : SIZE_MAX;
    for (;;) {
      const Wheel::Progress p = t_.wheel.Advance(now_, {due.data(), room}, budget);
      armed_ = t_.wheel.NextWake();
      if (p.touched > budget || p.due > p.touched || p.due > room) return false;
      if (p.more != t_.wheel.HasWork(now_)) return false;
      for (size_t i = 0; i < p.due; ++i) {
        if (!IsNext(due[i])) return false;
      }
      handed_back_ += p.due;
      if (!p.more) return t_.wheel.elapsed() == now_ && (order_.empty() || order_.begin()->first > now_);
      if (room > 0 && p.touched == 0 && budget > 0) return false;  // the loop would spin
      if (in_bits && random_() % 2 == 0) return ++left_half_done_ > 0;
      if (room == 0 || budget == 0) return true;
    }
  }
  // Whether `id` is due and among those with the earliest tick.
  bool IsNext(uint32_t id) {
    if (order_.empty() || comes_at_[id] != order_.begin()->first || comes_at_[id] > now_) return false;
    return t_[id].deadline <= now_ && !t_.wheel.Contains(id) && order_.erase({comes_at_[id], id}) == 1;
  }

  bool Rewind() {
    const uint64_t elapsed = t_.wheel.elapsed();
    now_ = elapsed - std::min(elapsed, random_() % (uint64_t{1} << (random_() % 20)));
    t_.wheel.Rewind(now_);
    armed_ = t_.wheel.NextWake();
    std::set<std::pair<uint64_t, uint32_t>> before;
    before.swap(order_);
    for (const auto& [when, id] : before) Remember(id, t_[id].deadline);
    return true;
  }

  // The owner's timer must fire no later than the first due timer or other work.
  bool WakesInTime() const {
    const uint64_t wake = t_.wheel.NextWake();
    if (armed_ > wake) return false;
    return order_.empty() ? wake == Wheel::kNever : wake <= order_.begin()->first;
  }

  std::mt19937_64 random_;
  bool with_rewinds_;
  Timers t_;
  uint64_t now_ = 0;
  uint64_t armed_ = Wheel::kNever;
  std::set<std::pair<uint64_t, uint32_t>> order_;  // (the tick at which it must be handed back, timer)
  std::vector<uint64_t> comes_at_;
  uint64_t handed_back_ = 0;
  uint64_t left_half_done_ = 0;
};

TEST_CASE("a long random run agrees with a sorted set of deadlines") {
  const uint64_t seed = GENERATE(11, 4242);
  CAPTURE(seed);
  RandomRun run(seed, false);
  CHECK(run.Go() == kSteps);
  CHECK(run.handed_back() > kSteps / 20);
  CHECK(run.left_half_done() > kSteps / 200);
}

TEST_CASE("a long random run with a clock that is set back agrees with a sorted set") {
  const uint64_t seed = GENERATE(3, 271828);
  CAPTURE(seed);
  RandomRun run(seed, true);
  CHECK(run.Go() == kSteps);
  CHECK(run.handed_back() > kSteps / 20);
}

}  // namespace
}  // namespace mayfly::wheel_test
