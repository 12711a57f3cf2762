// The part of MemoryGate for the limits of namespaces.
#include "config/sources/options.h"
#include "exec/call/command_keys.h"
#include "exec/memory/memory_gate.h"

namespace mayfly {

Evictor::Outcome MemoryGate::Trim(Namespace& space, size_t budget, Now now) noexcept {
  const Evictor::Outcome outcome = server_.evictor.Trim(space, Limits(), now, budget);
  namespaces_.SetFull(space, outcome == Evictor::Outcome::kNothingToEvict);
  return outcome;
}

// A replica's namespaces stay in the list until they count: FollowRole.
bool MemoryGate::TrimNamespaces(size_t budget, Now now) noexcept {
  if (IgnoresLimits()) return false;
  bool more = false;
  namespaces_.TakeGrown([&](Namespace& space) {
    if (Trim(space, budget, now) != Evictor::Outcome::kMore) return;
    namespaces_.NoteGrown(space);
    more = true;
  });
  return more;
}

// Keys may have gone since a namespace was found full, so the namespace is tested again. RENAME and kin need no memory, but
// bring a key into the namespace.
bool MemoryGate::KeysFit(const TableRow& row, std::span<const std::string_view> call, Now now) noexcept {
  if (!namespaces_.any_full() || !row.writes || IgnoresLimits()) return true;
  const bool needs_room = (row.command->flags & kDenyOom) != 0;
  bool fit = true;
  ForEachKey(*row.command, call, [&](const FoundKey& key) {
    if ((key.use & (kKeyRO | kKeyRM)) != 0 || !(needs_room || (key.use & kKeyOW) != 0)) return;
    Namespace* const space = namespaces_.Of(key.text);
    if (space == nullptr || !Namespaces::IsFull(*space)) return;
    fit = fit && Trim(*space, kEvictionsPerCommand, now) != Evictor::Outcome::kNothingToEvict;
  });
  return fit;
}

// What was above the limits of a namespace while others decided is evicted in slices. Nothing is evicted any more on a replica
// whose master does so.
void MemoryGate::FollowRole() noexcept {
  short_of_room_ = short_of_room_ && !IgnoresLimits();
  Rebase();
  ForgetCeiling();
  for (const auto& space : namespaces_.active()) space->Rebase();
}

// The program's own memory is in maxmemory, too.
void MemoryGate::Promise() noexcept {
  const config::Settings& settings = server_.options.settings();
  const uint64_t own = server_.memory.AtStart();
  const uint64_t maxmemory = settings.maxmemory.bytes;
  server_.databases.PromiseNamespaces(
      {.bytes = maxmemory > own ? maxmemory - own : 0, .keys = static_cast<uint64_t>(settings.maxkeys)});
}

}  // namespace mayfly
