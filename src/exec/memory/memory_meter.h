// Measures used memory at the allocator, in the two pools with limits. Two loads and a subtraction.
//
//   all    everything that the loop thread has allocated: entries, tables, libuv's, buffers
//   used   all, without reply chunks kept for the next client (an unused pool), and without announced parts of requests
//          that have not arrived: nothing is stored there yet
//   data   used, without client buffers and the accounts (server/hubs/accounts.h): neither a client nor a script
//          must ever evict a key; without the shadow list (a measurement must not change the result), and without flushed
//          memory that is not freed yet; the received part of a big argument is data: it will be a value
#pragma once

#include <cstdint>

#include "cache/keyspace/databases.h"
#include "server/figures/stats.h"
#include "server/hubs/accounts.h"

namespace mayfly {

class MemoryMeter {
 public:
  // Borrows all arguments.
  MemoryMeter(Databases& databases, const Stats& stats, const Accounts& accounts) noexcept
      : databases_(databases),
        stats_(stats),
        accounts_(accounts),
        at_start_(databases.heap().ThreadBytes()) {}

  uint64_t All() const noexcept { return databases_.heap().ThreadBytes(); }
  uint64_t Used() const noexcept { return LessOr0(All(), Unused()); }
  uint64_t Data() const noexcept { return LessOr0(Used(), NotEvictable()); }
  // The part of Used outside Data.
  uint64_t NotEvictable() const noexcept {
    return stats_.client_bytes - stats_.announced_bytes - stats_.arriving_bytes + accounts_.Sum() +
           databases_.shadow().memory() + databases_.waiting_bytes();
  }
  // The value of All for a Data of `data`.
  uint64_t AllWith(uint64_t data) const noexcept { return data + NotEvictable() + Unused(); }
  uint64_t AtStart() const noexcept { return at_start_; }
  // Samples Used() and returns the highest sample so far.
  uint64_t Peak() noexcept {
    if (Used() > peak_) peak_ = Used();
    return peak_;
  }
  void ResetPeak() noexcept { peak_ = Used(); }

 private:
  uint64_t Unused() const noexcept { return stats_.spare_chunk_bytes + stats_.announced_bytes; }
  static uint64_t LessOr0(uint64_t whole, uint64_t part) noexcept { return whole > part ? whole - part : 0; }

  Databases& databases_;
  const Stats& stats_;
  const Accounts& accounts_;
  uint64_t at_start_;
  uint64_t peak_ = 0;
};

}  // namespace mayfly
