// Counts keys by remaining TTL in all databases, in slices, for INFO ttlhist (cache/ttl_histogram.h).
//
// Few keys are counted at once, at a request. With more keys, the request starts a walk through the tables, in slices shared
// with other work (server/sliced_work.h), and shows the result of the last walk, with its age. A walk counts once each key
// that exists during the whole walk, by the remaining time at the visit. Keys that come, change or go meanwhile are
// counted as met by the walk, or not at all.
//
// However frequent the requests, walks take no more than a fiftieth of the time: each walk is followed by a rest.
//
// Made by the first request; lives in Server::ttl_walk. Loop thread only.
#pragma once

#include <cstdint>

#include "base/time/clock.h"
#include "cache/ttl_histogram.h"
#include "server/server.h"
#include "server/sliced_work.h"

namespace mayfly {

class TtlWalk : public LatePart, private SlicedWork::Step {
 public:
  // At most this many keys are counted at once: less than a millisecond.
  static constexpr size_t kAtOnce = 10'000;
  // The rest after a walk: kRestMs, or the walk's time in slices times the factor if longer.
  static constexpr uint64_t kRestMs = 10'000;
  static constexpr uint64_t kRestFactor = 50;

  struct Result {
    bool known = false;  // false: nothing was ever counted
    uint64_t began_mono_ms = 0;
    TtlHistogram histogram;
  };

  explicit TtlWalk(Server& server) : Step(server.sliced_work), server_(server) {}
  // Throws std::bad_alloc.
  static TtlWalk& Of(Server& server);

  // Returns the last result. Counts anew before, or begins a walk, as described above; counts at once with at most `at_once`
  // keys.
  const Result& Ask(Now now, size_t at_once = kAtOnce) noexcept;
  bool in_progress() const noexcept { return waits(); }

 private:
  bool DoSome(Now now, size_t budget) noexcept override;
  void Begin(Now now) noexcept;
  // Visits about `budget` keys, or a tenth as many pages of a table. Returns true if more are left.
  bool Walk(Now now, size_t budget) noexcept;

  Server& server_;
  Result last_;
  Result draft_;  // of the current walk
  unsigned database_ = 0;
  uint64_t cursor_ = 0;
  uint64_t spent_before_cycles_ = 0;
  uint64_t rests_until_mono_ms_ = 0;
};

}  // namespace mayfly
