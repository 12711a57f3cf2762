#include "net/client/resp_client.h"

#include <new>
#include <utility>

#include "base/log/log.h"
#include "net/client/clients.h"
#include "net/client/read_calls.h"
#include "server/acl/users.h"
#include "server/clients/sessions.h"
#include "server/clients/transaction.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/waiting/held_bytes.h"
#include "server/waiting/parking.h"

namespace mayfly::net {

// The greatest size class of jemalloc for an idle client of less than a kilobyte: libuv and the tables of clients hold about
// 110 bytes more.
static_assert(sizeof(RespClient) <= 896);

RespClient::RespClient(Clients& clients, Kind kind, std::unique_ptr<Transport> transport)
    : Session(clients.chunks()), Connection(clients, kind, Session::output, std::move(transport)) {
  over_unix_socket = kind == Kind::kUnix;
}

Connection* RespService::NewConnection(Clients& clients, Connection::Kind kind) const {
  return new RespClient(clients, kind, transports_ == nullptr ? nullptr : transports_->NewTransport());
}

void RespClient::OnAccept(Addresses&& addresses) noexcept {
  fd = descriptor();
  peer = std::move(addresses.peer);
  local = clients().ShareAddress(addresses.local);
}

void RespClient::OnOpen() {
  Server& server = clients().server();
  created_mono_ms = active_mono_ms = clients().turn().now().mono_ms;
  LogIn(server.users.Newcomer());
  server.sessions.Add(*this);
  ++server.stats.connections_received;
  Account();
  if (server.log != nullptr) server.log->Debug("client ", id, " connects from ", peer);
}

void RespClient::OnLeave() noexcept {
  Server& server = clients().server();
  if (server.log != nullptr) server.log->Debug("client ", id, " from ", peer, " is gone");
  server.hubs.client_ends.Tell(*this);
  server.sessions.Remove(*this);
  input_.Release();
}

const config::OutputLimit& RespClient::LimitOfOutput() const noexcept {
  static constexpr config::OutputLimit kNone;
  if (Has(Mode::kReplica)) return kNone;  // Replicas looks how far behind it is
  const config::OutputLimits& limits = clients().settings().client_output_buffer_limit;
  return Has(Mode::kSubscribed) ? limits.pubsub : limits.normal;
}

bool RespClient::IsStranger() const noexcept { return user() == nullptr; }

// ---- input

const Connection::ReadCalls& RespClient::read_calls() const noexcept { return kReadCallsOf<RespClient>; }

std::span<char> RespClient::LendInput() {
  if (parser.awaited() != 0 && clients().executor().short_of_room()) [[unlikely]]
    return {};  // the server is evicting keys
  // A client with a transport does not read on within the turn, and its plaintext is copied anyway: no read of plaintext is
  // short.
  if (filter() != nullptr) [[unlikely]]
    static_cast<void>(parser.ExpectNoBig());
  return input_.Lend(parser, [this](size_t size) { return clients().LendInput(size); });
}

void RespClient::TakeInput(std::span<const char> bytes) {
  const size_t size = bytes.size();
  net_input_bytes += size;
  const std::string_view to_run = input_.Filled(parser, bytes);
  if (!to_run.empty()) return clients().Defer(*this, to_run);
  // The bytes went into a block; later bytes complete the block.
  clients().turn().Begin();
  input_bytes += size;
  BookArriving(size);
}

void RespClient::OnFullRead(size_t size) {
  clients().RunFullRead(size);
  if (state() == State::kOpen && Input::MayReadOn(parser, size)) ReadOn();
}

// All received requests have run, except requests after a request served in this turn. The replies may still have to be
// written.
bool RespClient::TakeEnd() {
  clients().RunWoken();
  if (state() != State::kOpen) return false;
  if (parked != nullptr || (!dirty && !OutputWaits())) return false;
  Set(Mode::kEnding);
  clients().server().sessions.MarkDirty(*this);
  return true;
}

void RespClient::AfterRun(const Feed& feed) {
  if (state() != State::kOpen) return;
  if (feed.state == Feed::State::kNoRoom) [[unlikely]]
    return DropForMemory("its requests");
  try {
    input_.Keep(feed);
  } catch (const std::bad_alloc&) {
    return DropForMemory("its requests");
  }
  AfterInput();
}

void RespClient::Resume() {
  if (state() != State::kOpen) return;
  if (input_.empty()) return AfterInput();
  clients().Defer(*this, input_.kept());
  clients().RunDeferred();
}

void RespClient::AfterInput() {
  // Nothing is kept and there is something to write: Flush will do the rest.
  if (dirty && input_.empty() && parser.idle()) [[likely]]
    return;
  clients().turn().Begin();
  Account();
  if (EnforceInputLimit()) return;
  set_input_full(KeepsEnough());
  UpdateReading();
}

// Announced bytes count before they arrive, because there is room reserved. Requests queued since MULTI arrived as requests,
// and are kept until EXEC.
bool RespClient::EnforceInputLimit() {
  const uint64_t queued = transaction == nullptr ? 0 : transaction->queued_bytes();
  const uint64_t most = clients().settings().client_query_buffer_limit;
  const uint64_t request = input_bytes + parser.awaited();
  if (request + queued <= most) return false;
  ++clients().server().stats.query_limit_disconnections;
  clients().Report(
      Incidents::Kind::kLongRequest, "closing client ", peer,
      request > most ? ": its request is" : ": its request and what it has queued since MULTI are",
      " longer than client-query-buffer-limit");
  Drop();
  return true;
}

bool RespClient::ExceedsParked() const noexcept {
  const bool held_back = parked->paused || parked->delayed;
  return input_.kept().size() > (held_back ? kParkedInputBytes : kBlockedInputBytes);
}

// ---- output

void RespClient::Flush() {
  if (Has(Mode::kDropped) && (state() == State::kOpen || state() == State::kEnding)) [[unlikely]]
    return Drop();
  const bool is_replica = Has(Mode::kReplica);
  const uint64_t began = is_replica ? ReadCycles() : 0;
  const bool goes_on = WriteOut(LimitOfOutput());
  if (is_replica) [[unlikely]]
    clients().turn().LeaveOut(ReadCycles() - began);
  if (!goes_on) return;
  net_output_bytes = written_bytes();
  if (Has(Mode::kEnding)) SetEnding();
  if (!IsBookedAsIdle()) Account();
  if (transaction != nullptr && EnforceInputLimit()) [[unlikely]]
    return;
  set_input_full(KeepsEnough());
  FollowOutput();
}

// As for most clients after most turns: nothing waits, in either direction, and so it was booked.
[[gnu::always_inline]] inline bool RespClient::IsBookedAsIdle() const noexcept {
  return held_bytes() == sizeof(Session) && input_.memory(parser) == 0 && output.memory() == 0 &&
         filter() == nullptr && !HoldsRareThings(*this);
}

void RespClient::Account() noexcept {
  input_bytes = input_.bytes(parser);
  input_memory = input_.memory(parser);
  uint64_t waiting = input_memory;
  if (HoldsRareThings(*this)) [[unlikely]]
    waiting += QueuedBytes(*this);
  // Shared blocks are mostly values of the cache itself: blocks count as output, but not as memory of clients. The announced
  // bytes are the empty part of the parser's blocks, including the allocator's rounding.
  Book({.client = waiting + output.chunk_memory(),
        .arriving = parser.received(),
        .announced = parser.awaited() == 0 ? 0 : parser.memory() - parser.received(),
        .output = output.memory(),
        .held = HeldBytes(*this)});
}

}  // namespace mayfly::net
