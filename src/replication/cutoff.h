// A master's cutoffs, instead of a DEL for each key that expires, and what a replica does at one.
//
// A cutoff is a Unix time at a place of the stream. A key whose deadline is at or before it is gone at the master, whether the
// master has freed it or not: nobody finds it there, so nobody gives it another deadline. The replica has all deadlines from the
// master, so it frees such keys without their names: a thousand keys of one deadline cost one message. Its own clocks have no say.
//
//   master:   a key is gone after its deadline --> a cutoff of that deadline, unless the last cutoff is as late
//   replica:  MoveTo --> frees some keys at once, and the others in slices
//             DropKeysOf --> before a command of the master runs: its keys, if they wait for a slice
//
// The master sends DEL nevertheless:
//   - for a key that has a rule of its own (Keyspace::IsCutOff), whose members have deadlines, or of which something else is still
//     to be told in the same turn
//   - while a server that does not know cutoffs reads its stream, and until the backlog has forgotten the place where the last
//     one has left (Replicas::MayUseCutoffs)
//   - after its wall clock was set: a deadline that was told may not be its own deadline any more (ChangeStream::exact)
//
// The deadlines of a replica that was a master before are partly monotonic; others were told of them as Unix times, by the
// distance of both clocks that ChangeStream has kept. A deadline that is told lies after the last cutoff, so a replica that begins
// without any cutoff misses nothing.
//
// Borrows the server. Loop thread only. Units: milliseconds since 1970.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "server/server.h"
#include "server/sliced_work.h"

namespace mayfly {

struct TableRow;

class Cutoff final : private SlicedWork::Step {
 public:
  // So many keys are freed at once.
  static constexpr size_t kAtOnce = 128;

  explicit Cutoff(Server& server);
  ~Cutoff() override;

  // There was one, and none has ended it.
  bool any() const noexcept { return at_.wall_ms != 0; }
  // The stream has this cutoff here. No effect if there was a later one. `told_distance_ms`: of a server that was a master before.
  void MoveTo(int64_t unix_ms, int64_t told_distance_ms, Now now);
  // Frees the keys of this command of the master that are cut off. REQUIRES: the arguments are those of a call of the row.
  void DropKeysOf(const TableRow& row, std::span<const std::string_view> words, unsigned database) {
    if (waits_) [[unlikely]]
      DropNow(row, words, database);
  }
  // The cutoff does not count from here on: frees at once what is left.
  void End(Now now);
  // Likewise, but the keys stay: others will take their places.
  void Forget() noexcept;
  // Goes on with what is left, after a script has ended.
  void GoOn() noexcept {
    if (waits_) Announce();
  }

 private:
  bool DoSome(Now now, size_t budget) noexcept override;
  void DropNow(const TableRow& row, std::span<const std::string_view> words, unsigned database);
  void FreeSome(Now now, size_t budget);

  Server& server_;
  Now at_;              // on the wall clock, and on that of the own monotonic deadlines; 0: none
  bool waits_ = false;  // keys are left
};

}  // namespace mayfly
