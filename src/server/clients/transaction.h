// A client's transaction: the watched keys since WATCH, and the queued requests since MULTI.
//
// Ownership: the session owns its Transaction. WatchedKeys links the watches, so a watch leaves WatchedKeys
// (WatchedKeys::Forget) before it is destroyed. Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

#include "server/clients/copied_arguments.h"

namespace mayfly {

struct Session;
struct TableRow;
struct WatchedKey;

// One client's interest in one key.
struct KeyWatch {
  WatchedKey* key = nullptr;
  Session* session = nullptr;
  bool existed = false;  // the key existed at WATCH
  KeyWatch* next = nullptr;
  KeyWatch* prev = nullptr;
};

struct Transaction {
  struct Queued {
    CopiedArguments arguments;
    const TableRow* row;  // of the command
  };

  // True if EXEC will run nothing; queueing further requests is then useless.
  bool lost() const noexcept { return refused || changed; }

  bool refused = false;                  // a request was refused instead of queued
  bool changed = false;                  // a watched key has changed
  uint32_t flags = 0;                    // CommandFlag: of all queued commands together
  uint32_t common_flags = ~uint32_t{0};  // CommandFlag: of each queued command
  // Bytes of the whole queue, as the allocator counts memory: a part of the client's query buffer in the wider sense.
  uint64_t queued_bytes() const noexcept {
    return argument_bytes + std::max(queued.capacity(), executing) * sizeof(Queued);
  }
  size_t length() const noexcept { return std::max(queued.size(), executing); }

  uint64_t argument_bytes = 0;
  uint64_t watched_bytes = 0;  // of all watches and names
  std::vector<Queued> queued;
  size_t executing = 0;  // requests that EXEC has taken from `queued`, and runs
  std::list<KeyWatch> watches;
};

}  // namespace mayfly
