// Counts keys by remaining TTL in all databases, in slices, for INFO ttlhist (cache/ttl_histogram.h).
//
// Few keys are counted at once, when somebody asks. If there are more, a walk through the tables begins then, in slices
// that it shares with other work (server/sliced_work.h), and who asks is shown what the last walk has found, with its
// age. A walk looks once at each key that is there throughout, and counts it by the time that it has left at that
// moment. Keys that come, change or go meanwhile are counted as the walk finds them, or not at all.
//
// However often somebody asks, walks take no more than a fiftieth of the time: after each there is a rest.
//
// Made by the first request for it; lives in Server::ttl_walk. Loop thread only.
#pragma once

#include <cstdint>

#include "base/time/clock.h"
#include "cache/ttl_histogram.h"
#include "server/server.h"
#include "server/sliced_work.h"

namespace mayfly {

class TtlWalk : public LatePart, private SlicedWork::Step {
 public:
  // So many keys are counted at once: less than a millisecond.
  static constexpr size_t kAtOnce = 10'000;
  // How long it rests after a walk: this time, or that of the walk in slices times the factor if that is longer.
  static constexpr uint64_t kRestMs = 10'000;
  static constexpr uint64_t kRestFactor = 50;

  struct Result {
    bool known = false;  // if not, nothing was ever counted
    uint64_t began_mono_ms = 0;
    TtlHistogram histogram;
  };

  explicit TtlWalk(Server& server) : Step(server.sliced_work), server_(server) {}
  // Throws std::bad_alloc.
  static TtlWalk& Of(Server& server);

  // What was counted last. Counts anew before that, or begins to, as described above; at once if there are at most
  // `at_once` keys.
  const Result& Ask(Now now, size_t at_once = kAtOnce) noexcept;
  bool in_progress() const noexcept { return waits(); }

 private:
  bool DoSome(Now now, size_t budget) noexcept override;
  void Begin(Now now) noexcept;
  // Looks at about `budget` keys, or a tenth as many pages of a table. Returns true if more are left.
  bool Walk(Now now, size_t budget) noexcept;

  Server& server_;
  Result last_;
  Result draft_;  // of the walk that is under way
  unsigned database_ = 0;
  uint64_t cursor_ = 0;
  uint64_t spent_before_cycles_ = 0;
  uint64_t rests_until_mono_ms_ = 0;
};

}  // namespace mayfly
