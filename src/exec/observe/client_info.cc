#include "exec/observe/client_info.h"

#include "base/time/clock.h"
#include "exec/call/args.h"
#include "server/acl/user.h"
#include "server/acl/users.h"
#include "server/clients/subscriptions.h"
#include "server/clients/tracking_state.h"
#include "server/clients/transaction.h"
#include "server/waiting/held_bytes.h"

namespace mayfly {
namespace {

void Field(std::string& text, std::string_view name, std::string_view value) {
  if (!text.empty() && text.back() != '\n') text += ' ';
  text.append(name).append("=").append(value);
}

void Field(std::string& text, std::string_view name, uint64_t value) {
  Field(text, name, std::to_string(value));
}

uint64_t ParkedBytes(const Session& session) noexcept {
  return session.parked == nullptr ? 0 : session.parked->arguments.text_bytes();
}

std::string_view UserOf(const Session& session) noexcept {
  if (session.Has(Mode::kMaster)) return "(superuser)";
  return session.user() != nullptr ? session.user()->name() : User::kDefaultName;
}

// The transaction between MULTI and the end of EXEC, or null.
const Transaction* TransactionOf(const Session& session) noexcept {
  const Transaction* const transaction = session.transaction.get();
  const bool runs = transaction != nullptr && transaction->executing != 0;
  return runs || session.Has(Mode::kTransaction) ? transaction : nullptr;
}

// The memory of the connection: waiting input, the arguments of parked and queued requests, waiting replies.
void MemoryFields(std::string& text, const Session& session) {
  const OutputChain& output = session.output;
  const uint64_t arguments = ParkedBytes(session);
  const Transaction* const transaction = TransactionOf(session);
  const uint64_t queued = transaction != nullptr ? transaction->queued_bytes() : 0;
  const uint64_t chunks = output.chunk_memory();
  Field(text, "qbuf", session.input_bytes);
  Field(text, "qbuf-free", session.input_memory - session.input_bytes);
  Field(text, "argv-mem", arguments);
  Field(text, "multi-mem", queued);
  Field(text, "rbs", chunks);
  Field(text, "rbp", chunks);
  Field(text, "obl", output.size());
  Field(text, "oll", chunks / OutputChunk::kSize);
  Field(text, "omem", output.memory());
  Field(text, "tot-mem", HeldBytes(session));
}

}  // namespace

std::optional<ClientType> ClientTypeOf(std::string_view word) noexcept {
  if (EqualsIgnoringCase(word, "NORMAL")) return ClientType::kNormal;
  if (EqualsIgnoringCase(word, "SLAVE") || EqualsIgnoringCase(word, "REPLICA")) return ClientType::kReplica;
  if (EqualsIgnoringCase(word, "PUBSUB")) return ClientType::kPubSub;
  if (EqualsIgnoringCase(word, "MASTER") || EqualsIgnoringCase(word, "PRIMARY")) return ClientType::kMaster;
  return std::nullopt;
}

std::string FlagsOf(const Session& session) {
  std::string flags;
  if (session.Has(Mode::kReplica)) flags += 'S';
  if (session.Has(Mode::kMaster)) flags += 'M';
  if (session.Has(Mode::kMonitor)) flags += 'O';
  if (session.Has(Mode::kSubscribed)) flags += 'P';
  if (TransactionOf(session) != nullptr) flags += 'x';
  if (session.parked != nullptr && !session.parked->delayed) flags += 'b';
  if (const TrackingState* const tracking = session.tracking.get(); tracking != nullptr) {
    flags += 't';
    if (tracking->redirect_broken) flags += 'R';
    if (tracking->options.broadcast) flags += 'B';
  }
  if (session.transaction != nullptr && session.transaction->changed) flags += 'd';
  if (session.Has(Mode::kEnding)) flags += 'c';
  if (session.Has(Mode::kDropped)) flags += 'A';
  if (session.over_unix_socket) flags += 'U';
  if (session.Has(Mode::kReadsReplica)) flags += 'r';
  if (session.no_evict) flags += 'e';
  if (session.Has(Mode::kNoTouch)) flags += 'T';
  return flags.empty() ? "N" : flags;
}

ClientType TypeOf(const Session& session) noexcept {
  if (session.Has(Mode::kReplica)) return ClientType::kReplica;
  if (session.Has(Mode::kMaster)) return ClientType::kMaster;
  return session.Has(Mode::kSubscribed) ? ClientType::kPubSub : ClientType::kNormal;
}

void AppendClientLine(std::string& text, const Session& session, Now now) {
  Field(text, "id", session.id);
  Field(text, "addr", session.peer);
  Field(text, "laddr", session.local_text());
  Field(text, "fd", std::to_string(session.fd));
  Field(text, "name", session.names().name);
  Field(text, "age", (now.mono_ms - session.created_mono_ms) / kMsPerSecond);
  Field(text, "idle", (now.mono_ms - session.active_mono_ms) / kMsPerSecond);
  Field(text, "flags", FlagsOf(session));
  Field(text, "db", session.db);
  const auto subscriptions = [&](TopicKind kind) {
    return session.subscriptions != nullptr ? session.subscriptions->count(kind) : 0;
  };
  Field(text, "sub", subscriptions(TopicKind::kChannel));
  Field(text, "psub", subscriptions(TopicKind::kPattern));
  Field(text, "ssub", subscriptions(TopicKind::kShardChannel));
  const Transaction* const transaction = TransactionOf(session);
  Field(text, "multi", transaction != nullptr ? std::to_string(transaction->length()) : "-1");
  Field(text, "watch", session.transaction != nullptr ? session.transaction->watches.size() : 0);
  MemoryFields(text, session);
  Field(text, "events", session.output.empty() ? "r" : "rw");
  Field(text, "cmd", session.last_command != nullptr ? *session.last_command : "NULL");
  Field(text, "user", UserOf(session));
  Field(text, "redir",
        session.tracking != nullptr ? std::to_string(session.tracking->options.redirect) : "-1");
  Field(text, "resp", std::to_string(session.reply.version()));
  Field(text, "lib-name", session.names().lib_name);
  Field(text, "lib-ver", session.names().lib_version);
  Field(text, "tot-net-in", session.net_input_bytes);
  Field(text, "tot-net-out", session.net_output_bytes);
  Field(text, "tot-cmds", session.commands);
  text += '\n';
}

}  // namespace mayfly
