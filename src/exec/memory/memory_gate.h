// Keeps the data within maxmemory and maxkeys: evicts before a write, or refuses the write.
//
// Before a command that writes runs, it evicts as many bytes as the requests since the last such command added,
// however many entries that takes: so memory exceeds maxmemory by the bytes of one request at most. If there is
// more to evict (maxmemory was lowered), it evicts at most kEvictionsPerCommand entries; the next turns of the
// loop do the rest. What other commands leave above the limit (buffers) is evicted by those turns, too.
//
// Namespaces are kept within their own limits after the commands that let them grow (namespace_gate.cc). One that is
// above them with nothing to evict is full: commands that need memory and name keys of it are refused. Loop thread
// only.
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
  // While resident memory is near its limit, it evicts this multiple of the bytes added: a page becomes free
  // only when all entries in it are gone.
  static constexpr uint64_t kPressedFactor = 8;

  explicit MemoryGate(Server& server) noexcept : server_(server), namespaces_(server.databases.namespaces()) {
    Settle();
  }

  // At the start of a batch, and of a call outside one.
  //
  // The ceiling includes buffers of clients and memory that waits to be freed. Both change little within a
  // batch, and only in the direction that makes the ceiling too low, which costs no more than a second look.
  void SetCeiling() noexcept;
  // Whether `row` may run now, after the evictions that it needs. If not, it still may unless KeysFit says no.
  // REQUIRES: row.writes.
  [[gnu::always_inline]] bool MakeRoomFor(const TableRow& row, Now now) {
    assert(row.writes);
    const bool needs_room = (row.command->flags & kDenyOom) != 0;
    const bool room = server_.memory.All() <= ceiling_ || MakeRoom(needs_room, now);
    return room && !namespaces_.any_full();
  }
  // Evicts what is needed before keys are changed. False if memory is exceeded all the same, and `only_if_room`.
  bool MakeRoom(bool only_if_room, Now now);
  // False if a key that the call may write is of a namespace that is full. `call` begins with the command's name.
  bool KeysFit(const TableRow& row, std::span<const std::string_view> call, Now now) noexcept;
  // Whether the data are within maxmemory. Evicts nothing.
  bool HasRoom() noexcept {
    SetCeiling();
    return server_.memory.All() <= ceiling_;
  }
  // After a command that writes.
  [[gnu::always_inline]] void HoldKeys(Now now) {
    if (namespaces_.any_grown()) [[unlikely]]
      static_cast<void>(TrimNamespaces(kEvictionsPerCommand, now));
    if (maxkeys_ != 0) [[unlikely]]
      static_cast<void>(MakeRoomForCommand(now));
  }
  // Evicts at most `budget` entries while a limit is exceeded; true if more must go.
  bool EvictSome(size_t budget, Now now) {
    const bool more = namespaces_.any_grown() && TrimNamespaces(budget, now);
    return (!Calm() && Evict(budget, now) == Evictor::Outcome::kMore) || more;
  }
  // Whether more had to go when eviction last stopped. Meanwhile big arguments are not read from sockets.
  bool short_of_room() const noexcept { return short_of_room_; }
  // The data as they are now are those after an eviction; to be called when a limit has changed.
  void Settle() noexcept;
  // What is promised to namespaces follows from their limits and from maxmemory and maxkeys; to be called when one of
  // them has changed.
  void Promise() noexcept;

 private:
  // Whether Evict would find nothing to do, and nothing to note.
  bool Calm() noexcept;
  EvictionLimits Limits() const noexcept;
  Evictor::Outcome MakeRoomForCommand(Now now) noexcept;
  Evictor::Outcome Evict(size_t budget, Now now, const EvictionOwed& owed = {}) noexcept;
  EvictionOwed OwedByCommand() const noexcept;
  // Evicts what namespaces have above their limits; true if more must go.
  bool TrimNamespaces(size_t budget, Now now) noexcept;
  Evictor::Outcome Trim(Namespace& space, size_t budget, Now now) noexcept;

  Server& server_;
  Namespaces& namespaces_;
  uint64_t ceiling_ = 0;  // MemoryMeter::All above which a command that writes may have to evict
  uint64_t maxkeys_ = 0;
  // The data after the last eviction, or the limits if there was less. `bytes` is without the parts of big
  // arguments that had arrived by then: they are made up for when their request runs.
  struct {
    uint64_t bytes = 0;
    uint64_t keys = 0;
  } settled_;
  bool short_of_room_ = false;
};

}  // namespace mayfly
