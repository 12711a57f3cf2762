// A client's transaction: the watched keys since WATCH, and the queued requests since MULTI.
//
// Ownership: the session owns its Transaction; WatchedKeys links the watches, so they leave it
// (WatchedKeys::Forget) before they are destroyed. Loop thread only.
#pragma once

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
  bool existed = false;  // whether the key was there when WATCH came
  KeyWatch* next = nullptr;
  KeyWatch* prev = nullptr;
};

struct Transaction {
  struct Queued {
    CopiedArguments arguments;
    const TableRow* row;  // of the command
  };

  // Whether EXEC will run nothing, so that there is no sense in keeping requests.
  bool lost() const noexcept { return refused || changed; }

  bool refused = false;  // a request was refused when it was to be queued
  bool changed = false;  // a watched key has changed
  uint32_t flags = 0;    // CommandFlag: of all queued commands together
  // Of all that is queued, as the allocator counts it: a part of the client's query buffer in the wider sense.
  uint64_t queued_bytes() const noexcept { return argument_bytes + queued.capacity() * sizeof(Queued); }

  uint64_t argument_bytes = 0;
  uint64_t watched_bytes = 0;  // of all watches and their names
  std::vector<Queued> queued;
  std::list<KeyWatch> watches;
};

}  // namespace mayfly
