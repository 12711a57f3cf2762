// Keeps the data within maxmemory and maxkeys: evicts before a write, or refuses the write.
//
// Before a write runs, the gate evicts as many bytes as were added by the requests since the last write, however many
// entries this takes: memory thus exceeds maxmemory by the bytes of one request at most. If there is more to evict
// (maxmemory was lowered), the gate evicts at most kEvictionsPerCommand entries; the next turns of the loop do the rest.
// Those turns also evict for other commands' use of memory above the limit (buffers).
//
// Namespaces are kept within their own limits after commands that let a namespace grow (namespace_gate.cc). A namespace
// above its limits with nothing to evict is full: commands that need memory and name the namespace's keys are refused. Loop
// thread only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "cache/evict/eviction.h"
#include "exec/call/command_table.h"
#include "exec/memory/memory_meter.h"
#include "server/server.h"

namespace mayfly {

class MemoryGate {
 public:
  static constexpr size_t kEvictionsPerCommand = 64;
  // While resident memory is near its limit, the gate evicts this multiple of the added bytes: a page becomes free only when
  // all entries in the page are gone.
  static constexpr uint64_t kPressedFactor = 8;

  explicit MemoryGate(Server& server) noexcept : server_(server), namespaces_(server.databases.namespaces()) {
    Rebase();
  }

  // Called at the start of a batch, and of a call outside a batch: the next write sets the ceiling anew. A batch that only
  // reads thus has none.
  void ForgetCeiling() noexcept { ceiling_ = 0; }
  // True on a replica that takes writes from its master alone (replica-read-only).
  bool RefusesWrites() const noexcept;
  // True if `row` may run now, after the necessary evictions. If false, the row may still run if KeysFit is true. REQUIRES:
  // row.writes.
  [[gnu::always_inline]] bool MakeRoomFor(const TableRow& row, Now now) {
    assert(row.writes);
    const bool needs_room = (row.command->flags & kDenyOom) != 0;
    const bool room = server_.memory.All() <= ceiling_ || MakeRoom(needs_room, now);
    return room && !namespaces_.any_full();
  }
  // Evicts before keys are changed. False if memory is still exceeded, and `only_if_room`.
  bool MakeRoom(bool only_if_room, Now now);
  // False if a key that the call may write is in a full namespace. `call` begins with the command's name.
  bool KeysFit(const TableRow& row, std::span<const std::string_view> call, Now now) noexcept;
  // True if the data are within maxmemory. Evicts nothing.
  bool HasRoom() noexcept {
    SetCeiling();
    return server_.memory.All() <= ceiling_;
  }
  // Called after a command that writes.
  [[gnu::always_inline]] void HoldKeys(Now now) {
    if (namespaces_.any_grown()) [[unlikely]]
      static_cast<void>(TrimNamespaces(kEvictionsPerCommand, now));
    if (maxkeys_ != 0) [[unlikely]]
      static_cast<void>(MakeRoomForCommand(now));
  }
  // Evicts at most `budget` entries while a limit is exceeded; true if more entries must go.
  bool EvictSome(size_t budget, Now now) {
    const bool more = namespaces_.any_grown() && TrimNamespaces(budget, now);
    return (!Calm() && Evict(budget, now) == Evictor::Outcome::kMore) || more;
  }
  // True if more entries had to go when eviction last stopped. Meanwhile big arguments are not read from sockets. Never true on
  // a replica whose master evicts for it.
  bool short_of_room() const noexcept { return short_of_room_; }
  // Takes the current data as the data after an eviction; called when a limit has changed.
  void Rebase() noexcept;
  // This server follows a master now, or no master any more: other limits count.
  void FollowRole() noexcept;
  // Computes the promises to namespaces from their limits and from maxmemory and maxkeys; called when a limit has changed.
  void Promise() noexcept;

 private:
  // The ceiling includes buffers of clients and memory that waits to be freed. Both change little within a batch, and only
  // make the ceiling too low: the cost is a second test. While all memory is within maxmemory, the data are, too, and nobody
  // sums up the rest.
  void SetCeiling() noexcept;
  // True if Evict would have nothing to evict or to note.
  bool Calm() noexcept;
  // True on a replica whose master evicts for it (replica-ignore-maxmemory).
  bool IgnoresLimits() const noexcept;
  EvictionLimits Limits() const noexcept;
  Evictor::Outcome MakeRoomForCommand(Now now) noexcept;
  Evictor::Outcome Evict(size_t budget, Now now, const EvictionOwed& owed = {}) noexcept;
  EvictionOwed OwedByCommand() const noexcept;
  // Evicts the excess of namespaces above their limits; true if more must go.
  bool TrimNamespaces(size_t budget, Now now) noexcept;
  Evictor::Outcome Trim(Namespace& space, size_t budget, Now now) noexcept;

  Server& server_;
  Namespaces& namespaces_;
  // MemoryMeter::All above which a command that writes may have to evict; 0: not known.
  uint64_t ceiling_ = 0;
  uint64_t maxkeys_ = 0;
  // The data after the last eviction, or the limits if less. `bytes` is without the received parts of big arguments: the
  // arguments count when their request runs.
  struct {
    uint64_t bytes = 0;
    uint64_t keys = 0;
  } settled_;
  bool short_of_room_ = false;
};

}  // namespace mayfly
