#include "exec/dispatch/queueing.h"

#include <cassert>
#include <utility>

#include "exec/dispatch/discard.h"
#include "server/clients/transaction.h"

namespace mayfly {

void Queue(Server& server, Session& session, const Args& args, const TableRow& row) {
  assert(MustQueue(session, row));
  Transaction& transaction = *session.transaction;
  if (transaction.lost()) return;
  const uint32_t flags = CallFlags::Of(server, row, args.all());
  transaction.queued.push_back({CopiedArguments(args.all()), &row});
  transaction.argument_bytes += transaction.queued.back().arguments.memory();
  transaction.flags |= flags;
  transaction.common_flags &= flags;
}

std::string NoteRefusal(Refusal why, Server& server, Session& session, const TableRow* row,
                        std::string&& error) {
  if (row != nullptr && (row->command->flags & kRunsQueue) != 0) {
    Discard(server, session);
    if (why == Refusal::kElsewhere) return std::move(error);  // clients read this error
    constexpr std::string_view kGeneral = "ERR ";
    const size_t from = error.starts_with(kGeneral) ? kGeneral.size() : 0;
    return "EXECABORT Transaction discarded because of: " + error.substr(from);
  }
  if (session.Has(Mode::kTransaction)) session.transaction->refused = true;
  return std::move(error);
}

}  // namespace mayfly
