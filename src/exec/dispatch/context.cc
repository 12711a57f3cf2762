#include "exec/dispatch/context.h"

#include <cassert>

#include "cache/keyspace/databases.h"
#include "exec/dispatch/executor.h"
#include "exec/observe/call_observers.h"
#include "server/waiting/parking.h"
#include "server/watch/notifier.h"

namespace mayfly {

WakeReason Context::wake() const noexcept { return resumed != nullptr ? resumed->reason : WakeReason::kNone; }

void Context::Park(const Args& args, uint64_t deadline_mono_ms, std::span<const std::string_view> keys,
                   std::optional<ValueType> wanted) {
  assert(MayPark());
  if (resumed != nullptr) {
    server.parking.Park(session, args.all(), resumed->deadline_mono_ms, resumed->order, keys, wanted);
  } else {
    server.parking.Park(session, args.all(), deadline_mono_ms, 0, keys, wanted);
  }
}

void Context::Await(const Args& args, uint64_t deadline_mono_ms, std::unique_ptr<PendingWork>& work) {
  assert(MayPark());
  if (resumed != nullptr) {
    server.parking.Await(session, resumed->arguments, deadline_mono_ms, work);
  } else {
    CopiedArguments arguments(args.all());
    server.parking.Await(session, arguments, deadline_mono_ms, work);
  }
}

bool Context::Delay(const Args& args, uint64_t wait_ms) {
  if (resumed == nullptr) {
    if (wait_ms == 0 || !MayPark()) return false;
    server.parking.Delay(session, args.all(), now.mono_ms + wait_ms);
    return true;
  }
  if (now.mono_ms >= resumed->deadline_mono_ms) return false;
  server.parking.Delay(session, args.all(), resumed->deadline_mono_ms, resumed->order);
  return true;
}

Outcome Context::MakeCall(std::span<const std::string_view> arguments, resp::Writer& to, Origin inner) {
  return MakeCall(session, arguments, to, inner);
}

Outcome Context::MakeCall(Session& as, std::span<const std::string_view> arguments, resp::Writer& to,
                          Origin inner) {
  assert(!arguments.empty() && !MayBlock(inner));
  return server.executor->MakeCall({as, to, now, inner, arguments, server.executor->RowOf(arguments)});
}

Outcome Context::MakeCall(std::span<const std::string_view> arguments, const TableRow& command,
                          resp::Writer& to, Origin inner) {
  assert(!arguments.empty() && !MayBlock(inner));
  return server.executor->MakeCall({session, to, now, inner, arguments, &command});
}

void Context::CountMiss(Key key) {
  CountUntold(key);
  if (server.notifier.tells_misses()) [[unlikely]]
    server.notifier.OnMiss(keyspace.database(), key.text);
}

void Context::CountUntold(const Key& key) {
  const Miss miss = server.databases.NoteMiss(keyspace, key, now);
  server.stats.CountMiss(miss.reason, miss.in_shadow);
  if (server.databases.namespaces().any()) server.databases.namespaces().CountMiss(key.text);
}

}  // namespace mayfly
