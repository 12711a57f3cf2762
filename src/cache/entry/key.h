// A key as an argument of Keyspace's methods.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/memory/heap.h"
#include "cache/entry/expiry.h"
#include "cache/entry/value.h"

namespace mayfly {

class Entry;

// A key with its hash, so that the hash is computed only once.
struct Key {
  std::string_view text;
  uint64_t hash;
  HeapRef guess = {};  // perhaps the key's entry (look-ahead), or null; void after Databases::ForgetGuesses
};

// One of several keys that are put in one step (Keyspace::PutAll). Only PutAll uses the last three members.
struct KeyPut {
  Key key;
  StringValue value;
  Expiry expiry = {};
  Entry* entry = nullptr;  // the existing entry, and later its replacement
  bool inserted = false;   // the replacement is in the table
};

}  // namespace mayfly
