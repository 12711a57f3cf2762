#include "exec/dispatch/lease_pushes.h"

#include <memory>
#include <new>

#include "cache/keyspace/databases.h"
#include "exec/acl/permission.h"
#include "server/acl/user.h"
#include "server/clients/sessions.h"
#include "server/waiting/leases.h"

namespace mayfly {
namespace {

void AppendValue(resp::Writer& push, const Entry& entry) {
  if (entry.encoding() == Encoding::kInteger) return push.BulkInteger(entry.integer());
  push.Bulk(entry.text());
}

void Tell(resp::Writer push, const Lease& lease, const Entry* entry) {
  push.Push(4);
  push.Bulk("take");
  push.Bulk(lease.name);
  if (entry != nullptr) {
    push.Bulk("HIT");
    AppendValue(push, *entry);
  } else if (lease.state == Lease::State::kFailed) {
    push.Bulk("ERR");
    push.Bulk(lease.message);
  } else {
    push.Bulk("BUSY");
    push.Null();
  }
}

// The row of TAKE, also after rename-command.
const TableRow* RowOfTake(const CommandTable& commands) noexcept {
  for (const TableRow* row : commands.rows()) {
    if (row->command->name == "take") return row;
  }
  return nullptr;
}

// True if the client, as its current user, may still TAKE the key: the client asked a while ago.
bool MayTake(const Session& session, const TableRow* take, std::string_view key) noexcept {
  if (session.user() == nullptr || take == nullptr) return false;
  const std::string_view call[] = {"TAKE", key, "LEASE", "1"};
  return !session.restricted() || FindPermission(*session.user(), *take, call).granted();
}

void TellAll(Server& server, const Lease& lease, Now now) noexcept {
  const TableRow* const take = lease.told.empty() ? nullptr : RowOfTake(server.commands);
  Keyspace& keyspace = server.databases.At(lease.db);
  const Entry* entry = keyspace.Peek(keyspace.KeyOf(lease.name), now);
  if (entry != nullptr && entry->encoding() == Encoding::kRich) entry = nullptr;  // TAKE is for strings
  const Lease* const next = entry == nullptr ? server.leases.Find(lease.db, lease.name) : nullptr;
  const bool goes_on = next != nullptr && next->state == Lease::State::kHeld;
  for (const uint64_t id : lease.told) {
    const auto found = server.sessions.by_id().find(id);
    if (found == server.sessions.by_id().end()) continue;
    Session& session = *found->second;
    if (session.closes() || session.Has(Mode::kOutputFull) || session.reply.version() != 3) continue;
    try {
      if (!MayTake(session, take, lease.name)) continue;
      if (goes_on) {
        server.leases.TellEnd(*next, id);
        continue;
      }
      Tell(session.Pusher(), lease, entry);
    } catch (const std::bad_alloc&) {
      session.LoseMessage();
    }
    if (session.attached()) server.sessions.MarkDirty(session);
  }
}

}  // namespace

void TellOfEndedLeases(Server& server, Now now) noexcept {
  while (const std::unique_ptr<Lease> lease = server.leases.TakeEnded()) TellAll(server, *lease, now);
  server.leases.EndTurn();
}

}  // namespace mayfly
