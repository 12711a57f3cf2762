// The part of Executor for the requests of clients after waiting.
#include <new>

#include "cache/keyspace/databases.h"
#include "exec/call/value_type.h"
#include "exec/dispatch/executor.h"

namespace mayfly {
namespace {

// True if a client must look at a key now, after waiting. `entry` is null for an absent key.
bool WaitsFor(const Parked& parked, const Entry* entry) noexcept {
  if (parked.even_absent) return true;
  return entry != nullptr && (!parked.wanted || *parked.wanted == TypeOf(*entry));
}

}  // namespace

// A client that finds nothing, because another client was first, waits on in the same place. Each client thus has one try
// per ready key, while the key exists.
[[gnu::noinline]] void Executor::ServeReady() noexcept {
  if (server_.Busy()) return;  // a script made the key ready and still runs
  WaitingKeys& keys = server_.parking.keys();
  while (WaitedKey* const key = keys.TakeReady()) {
    uint64_t served = 0;
    for (;;) {
      Keyspace& keyspace = server_.databases.At(key->db);
      const Entry* const entry = keyspace.Peek(keyspace.KeyOf(key->name), now_);
      const Wait* wait = WaitingKeys::NextAfter(*key, served);
      while (wait != nullptr && !WaitsFor(*wait->parked, entry)) wait = wait->next;
      if (wait == nullptr) break;
      served = wait->parked->order;
      Wake(*server_.parking.Take(*wait->parked, WakeReason::kReady));
    }
    keys.Release(*key);
  }
}

// A request held back by a pause begins now, unless there is another pause. The request of a gone client does not run: an
// element taken by the request would be lost.
void Executor::Wake(Parked& parked) noexcept {
  Session& session = *parked.session;
  if (!session.closes() && !server_.parking.IsThere(session)) session.Set(Mode::kDropped);
  if (session.closes()) return MarkIfDirty(session);  // killed meanwhile
  gate_.ForgetCeiling();
  try {
    const TableRow* const row = RowOf(parked.arguments.all());
    Args args(parked.arguments.all(), row != nullptr ? row->cursor : 1);
    RunWithModes(session, args, row, {}, &parked);
  } catch (const std::bad_alloc&) {
    CloseForMemory(session);
  }
  if (session.parked == nullptr && session.attached()) server_.sessions.MarkResumed(session);
  MarkIfDirty(session);
}

// The request counts as one that has not begun.
[[gnu::noinline, gnu::cold]] void Executor::Postpone(const Context& context, const Args& args) noexcept {
  constexpr uint64_t kLaterMs = 5;
  assert(context.MayBePostponed());
  Session& session = context.session;
  --session.commands;  // the caller of Execute adds one
  try {
    server_.parking.Postpone(session, args.all(), context.now.mono_ms + kLaterMs);
  } catch (const std::bad_alloc&) {
    CloseForMemory(session);
  }
}

}  // namespace mayfly
