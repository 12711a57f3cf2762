// Look-ahead of a batch for the keys of a keyspace. Three stages, with other work between them: each stage prefetches the
// reads of the next. A fourth stage for rich values is in cache/types/look_ahead.h.
//
//   hash --Group--> the table's group --Entry--> the entry --Neighbours, PrefetchRich--> what an access writes to and reads
//
// A guess is an entry that is probably the key's. The guess may be followed unless VoidGuesses::MayHold.
#pragma once

#include <cassert>
#include <cstdint>

#include "base/prefetch.h"
#include "cache/keyspace/keyspace.h"

namespace mayfly {

class LookAhead {
 public:
  using Trail = Keyspace::Table::Trail;

  explicit LookAhead(const Keyspace& keyspace) noexcept : keyspace_(keyspace) {}

  Trail Group(uint64_t hash) const noexcept { return keyspace_.table().PrefetchGroup(hash); }
  HeapRef Candidate(const Trail& trail) const noexcept { return keyspace_.table().PrefetchCandidates(trail); }
  // The second half of the second stage, if Candidate returned null.
  HeapRef Stray(const Trail& trail, uint64_t hash) const noexcept {
    return keyspace_.table().PrefetchStray(trail, hash);
  }
  // Prefetches the entries that a Touch of the guess will write to; with `writes`, also the entries that a new deadline will
  // write to.
  // REQUIRES: guess is not null.
  void Neighbours(HeapRef guess, bool writes) const noexcept {
    assert(guess);
    const Entry& entry = *keyspace_.At(guess);
    if (keyspace_.parts().access_effect == AccessEffect::kRecency) {
      Prefetch(entry.hotter());
      Prefetch(entry.colder());
    }
    if (!writes || !entry.expires()) return;
    Prefetch(entry.wheel_next());
    Prefetch(entry.wheel_prev());
  }
  // Prefetches the rich value of the guess. Returns false if the guess holds a string.
  // REQUIRES: guess is not null.
  bool PrefetchRich(HeapRef guess) const noexcept {
    const RichValue* const value = Rich(guess);
    if (value != nullptr) PrefetchToRead(value);
    return value != nullptr;
  }
  // The rich value of the guess; null if the guess holds a string.
  // REQUIRES: guess is not null.
  const RichValue* Rich(HeapRef guess) const noexcept {
    assert(guess);
    const Entry& entry = *keyspace_.At(guess);
    return entry.encoding() == Encoding::kRich ? entry.rich() : nullptr;
  }

 private:
  // A null reference, at the end of a list, needs no test: the prefetch then does no harm.
  void Prefetch(HeapRef ref) const noexcept { PrefetchToWrite(keyspace_.AddressOf(ref)); }

  const Keyspace& keyspace_;
};

}  // namespace mayfly
