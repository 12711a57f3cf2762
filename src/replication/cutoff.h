// The replica's part of cutoffs: a master's cutoff replaces a DEL for each expired key.
//
// A cutoff is a Unix time at a place of the stream. A key with a deadline at or before the cutoff is gone at the master, even
// if the master has not freed the key yet. No command at the master finds the key, so none can give it another deadline. The
// replica has all deadlines from the master and frees the keys without their names: a thousand keys with one deadline cost
// one message. The replica's own clocks play no part.
//
//   master:   a key is gone after its deadline --> a cutoff at the deadline, unless the last cutoff is as late
//   replica:  MoveTo --> frees some keys at once, and the others in slices
//             DropKeysOf --> before a command of the master runs: frees the command's keys that still wait for a slice
//
// The master still sends DEL:
//   - for a task, a key with a sliding TTL (IsCutOff in cache/time/lifetime.h), a key whose members have deadlines, or a key with another
//     change to be written in the same turn
//   - while a server without cutoffs reads the stream, and after the last such server has left until the backlog has forgotten
//     the place where it left (Replicas::MayUseCutoffs)
//   - after the master's wall clock was set: replicas may know another deadline than the key's own (ChangeStream::exact)
//
// A replica that was a master before has some monotonic deadlines. Other servers know these deadlines as Unix times, by the
// distance of both clocks in ChangeStream. Every deadline in the stream lies after the last cutoff: a replica that begins
// without a cutoff misses nothing.
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
  // A new cutoff frees at most this many keys at once.
  static constexpr size_t kAtOnce = 128;

  explicit Cutoff(Server& server);
  ~Cutoff() override;

  // True while a cutoff is in force.
  bool any() const noexcept { return at_.wall_ms != 0; }
  // The stream has this cutoff here. No effect unless later than the last cutoff. `told_clock_distance_ms`: the wall clock minus
  // the monotonic clock, by which other servers know the deadlines of a server that was a master before.
  void MoveTo(int64_t unix_ms, int64_t told_clock_distance_ms, Now now);
  // Frees the keys of a master's command that are cut off. REQUIRES: `words` is a call of `row`.
  void DropKeysOf(const TableRow& row, std::span<const std::string_view> words, unsigned database) {
    if (waits_) [[unlikely]]
      DropNow(row, words, database);
  }
  // Ends the cutoff: frees the remaining keys at once.
  void End(Now now);
  // Ends the cutoff and keeps the keys: a snapshot is about to replace all of them.
  void Forget() noexcept;
  // Goes on with the remaining keys, after a script has ended.
  void Continue() noexcept {
    if (waits_) Announce();
  }

 private:
  bool DoSome(Now now, size_t budget) noexcept override;
  void DropNow(const TableRow& row, std::span<const std::string_view> words, unsigned database);
  void FreeSome(Now now, size_t budget);

  Server& server_;
  Now at_;              // the cutoff as a wall time and as a monotonic time; 0: none
  bool waits_ = false;  // some keys are not freed yet
};

}  // namespace mayfly
