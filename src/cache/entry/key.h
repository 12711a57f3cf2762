// A key as the methods of Keyspace take it.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory/heap.h"
#include "cache/entry/expiry.h"
#include "cache/entry/value.h"

namespace mayfly {

class Entry;

// A key with its hash, which is computed only once.
struct Key {
  std::string_view text;
  uint64_t hash;
  HeapRef guess = {};  // an entry that may be the key's, or null; invalid after Databases::ForgetGuesses
};

// One of several keys that are put in one step (Keyspace::PutAll, which alone uses the last three).
struct KeyPut {
  Key key;
  StringValue value;
  Expiry expiry = {};
  Entry* entry = nullptr;  // the existing one, and later the one that replaces it
  bool inserted = false;   // the latter is in the table
};

}  // namespace mayfly
