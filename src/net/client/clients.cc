#include "net/client/clients.h"

#include <algorithm>
#include <bit>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "base/memory/heap.h"
#include "net/client/admission.h"
#include "net/socket/descriptor.h"
#include "server/acl/users.h"
#include "server/clients/sessions.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/waiting/parking.h"

namespace mayfly::net {

Clients::Clients(Server& server, Executor& executor, Turn& turn, Log& log)
    : Alarm(server.hubs.alarms),
      server_(server),
      executor_(executor),
      turn_(turn),
      log_(log),
      wheel_({}, executor.now().mono_ms) {
  server_.parking.AskPresence(this);
}

Clients::~Clients() { server_.parking.AskPresence(nullptr); }

void Clients::Accept(uv_loop_t& loop, int descriptor, Connection::Kind kind, const Service& service) {
  turn_.Begin();
  Connection* connection = nullptr;
  try {
    connection = service.NewConnection(*this, kind);
    if (connection->is_scraper()) ++scrapers_known_;
    if (const int error = connection->Accept(loop, descriptor); error != 0)
      return log_.Warning("cannot accept a connection: ", uv_strerror(error));
    LetIn(*connection, service.scrapers_max());
  } catch (const std::bad_alloc&) {
    NoteRefusal();
    connection != nullptr ? connection->Drop() : CloseDescriptor(descriptor);
  }
}

void Clients::NoteRefusal() {
  ++server_.stats.connections_rejected;
  if (const uint64_t refused = refusals_logged_.Note(turn_.now().mono_ms); refused != 0)
    log_.Warning("out of memory for new connections: ", refused, " refused");
}

// Libuv doubles its table of descriptors when it watches one beyond it, and aborts if there is no memory for that.
bool Clients::FindRoomToWatch(int descriptor) {
  const size_t needed =
      std::bit_ceil(static_cast<size_t>(descriptor) + 3);  // with libuv's two places of its own
  if (needed <= watchable_) [[likely]]
    return true;
  if (!Heap::HasPlain(needed * sizeof(void*))) return NoteRefusal(), false;
  watchable_ = needed;
  return true;
}

void Clients::LetIn(Connection& connection, size_t scrapers_max) {
  const bool scrapes = connection.is_scraper();
  Visitor visitor{.needs_no_login = server_.users.Newcomer() != nullptr,
                  .over_unix_socket = connection.kind() == Connection::Kind::kUnix,
                  .from_loopback = connection.from_loopback(),
                  .clients_before = scrapes ? scrapers_.size() : let_in_,
                  .clients_max = scrapes ? scrapers_max : static_cast<size_t>(settings().maxclients)};
  if (scrapes) scrapers_.reserve(scrapers_.size() + 1);
  Verdict verdict = VerdictOn(settings(), visitor);
  if (verdict == Verdict::kTooMany && scrapes) {
    // No scraper is closed for a visitor who would be refused nevertheless.
    --visitor.clients_before;
    if (VerdictOn(settings(), visitor) == Verdict::kWelcome && CloseSpareScraper())
      verdict = Verdict::kWelcome;
  }
  if (verdict == Verdict::kWelcome) return connection.Open();
  ++server_.stats.connections_rejected;
  connection.Refuse(verdict, MayLinger());
}

bool Clients::CloseSpareScraper() {
  Connection* sparest = nullptr;
  uint64_t since = ParkingLot::kForever;
  for (Connection* scraper : scrapers_) {
    const uint64_t spare_since = scraper->SpareSince();
    if (spare_since >= since || scraper->InputWaits()) continue;
    sparest = scraper;
    since = spare_since;
  }
  if (sparest != nullptr) sparest->CloseSpare();
  return sparest != nullptr;
}

[[gnu::noinline]] char* Clients::LendAfterRun() {
  RunDeferred();
  turn_is_full_ = true;
  return shared_input_.data() + input_used_;
}

void Clients::RunFullRead(size_t size) {
  RunDeferred();
  full_read_bytes_ += size;
  if (full_read_bytes_ >= shared_input_.size()) turn_is_full_ = true;
}

void Clients::EndFullTurn() {
  turn_is_full_ = false;
  end_turn_();
}

void Clients::Defer(RespClient& client, std::string_view input) {
  // At most kDeferredMax inputs. An input in the shared buffer is never one too many: see LendInput.
  if (deferred_count_ == kDeferredMax) RunDeferred();
  deferred_[deferred_count_++] = {.session = &client, .input = input};
  if (input.data() == shared_input_.data() + input_used_) input_used_ += input.size();
}

void Clients::RunDeferred() {
  if (deferred_count_ == 0) return;
  const std::span<Feed> feeds = std::span(deferred_).first(deferred_count_);
  for (Feed& feed : feeds) {
    if (RespClient::Of(*feed.session).state() == Connection::State::kClosed) feed.state = Feed::State::kDone;
  }
  executor_.Run(feeds);
  for (const Feed& feed : feeds) RespClient::Of(*feed.session).AfterRun(feed);
  deferred_count_ = 0;
  input_used_ = 0;
}

void Clients::RunWoken() {
  executor_.RunWoken([](Session& session) { RespClient::Of(session).Resume(); });
}

// Connections with input for more than one turn may list themselves again.
[[gnu::noinline]] void Clients::DeliverListed() {
  for (size_t left = with_plaintext_.size(); left != 0 && !with_plaintext_.empty(); --left) {
    Connection& connection = with_plaintext_.front();
    with_plaintext_.Remove(connection);
    connection.Deliver();
  }
  RunDeferred();
}

[[gnu::noinline]] void Clients::ResumeHandshakes() {
  while (!handshakes_.empty() && HandshakesMayGoOn()) handshakes_.front().ResumeHandshake();
  RunDeferred();
}

bool Clients::HandshakesMayGoOn() noexcept {
  turn_.Begin();
  if (std::exchange(handshake_turn_, turn_.number()) != turn_.number()) handshake_cycles_ = 0;
  return server_.cycle_rate.ToUs(handshake_cycles_) < kHandshakesUs;
}

SharedBytes Clients::ShareAddress(std::string_view text) noexcept {
  try {
    if (!last_address_ || last_address_.view() != text) last_address_ = SharedBytes::Copy(text);
    return last_address_;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

void Clients::FinishTurn() {
  RunDeferred();
  full_read_bytes_ = 0;
  if (!with_plaintext_.empty()) [[unlikely]]
    DeliverListed();
  RunWoken();
  executor_.EndTurn();
  if (Session* const session = server_.sessions.TakeOnlyDirty()) [[likely]]
    RespClient::Of(*session).Flush();
  else
    for (Session* other : server_.sessions.TakeDirty()) RespClient::Of(*other).Flush();
  if (output_bytes_ > Pool().most_bytes) [[unlikely]]
    ShrinkOutput();
  if (server_.stats.held_bytes >= Pool().most_held_bytes) [[unlikely]]
    EvictClients();
  if (throttled_ != 0) [[unlikely]]
    UnthrottleIfCalm();
  if (!handshakes_.empty()) [[unlikely]]
    ResumeHandshakes();  // after the replies of this turn were written
  server_.stats.spare_chunk_bytes = chunks_.kept() * OutputChunk::kSize;
}

void Clients::EndAll() {
  ending_ = true;
  for (Connection* connection : all_) {
    if (!connection->is_scraper()) connection->End();
  }
}

void Clients::EndScrapers() {
  for (Connection* connection : all_) connection->End();
}

void Clients::DropGuests() {
  for (Connection* connection : all_) {
    if (!connection->is_scraper()) connection->Drop();
  }
}

void Clients::DropAll() {
  for (Connection* connection : all_) connection->Drop();
}

Clients::Undelivered Clients::CountUndelivered() const noexcept {
  Undelivered undelivered;
  for (const Connection* connection : all_) {
    if (connection->state() == Connection::State::kClosed || connection->is_scraper()) continue;
    const size_t bytes = connection->UndeliveredBytes();
    undelivered.clients += bytes != 0 ? 1 : 0;
    undelivered.bytes += bytes;
  }
  return undelivered;
}

bool Clients::InputWaits() const noexcept {
  return std::any_of(all_.begin(), all_.end(),
                     [](const Connection* connection) { return connection->InputWaits(); });
}

bool Clients::IsThere(const Session& session) const noexcept { return !PeerHasEnded(session.fd); }

// ---- time

void Clients::File(Connection& connection) {
  turn_.Begin();
  const uint64_t deadline = connection.NextDeadline();
  deadline == ParkingLot::kForever ? Unfile(connection) : FileAt(connection, deadline);
}

void Clients::FileAt(Connection& connection, uint64_t deadline_mono_ms) {
  TimedClient* const timed = &connection;
  timed->deadline_mono_ms = deadline_mono_ms;
  // The loop calls NextWake at the end of every turn.
  if (wheel_.Contains(timed))
    static_cast<void>(wheel_.Move(timed));
  else
    static_cast<void>(wheel_.Insert(timed));
}

void Clients::Unfile(Connection& connection) noexcept {
  if (wheel_.Contains(&connection)) wheel_.Remove(&connection);
}

void Clients::OnWake(Now now, Log*) {
  constexpr size_t kBatch = 64;
  std::array<TimedClient*, kBatch> due;
  for (bool more = true; more;) {
    const ClientWheel::Progress progress = wheel_.Advance(now.mono_ms, due, due.size());
    for (size_t i = 0; i < progress.due; ++i) Connection::Of(*due[i]).OnTime(now.mono_ms);
    more = progress.more;
  }
}

uint64_t Clients::NextWake() const noexcept {
  return wheel_.size() == 0 ? ParkingLot::kForever : wheel_.NextWake();
}

void Clients::LookAtAll() {
  turn_.Begin();
  for (Connection* connection : all_) {
    if (connection->state() == Connection::State::kOpen) FileAt(*connection, turn_.now().mono_ms);
  }
}

// ---- back-pressure

// The output of others has drained: throttled clients may go on. Otherwise two clients waiting for each other would wait for
// ever.
[[gnu::noinline]] void Clients::UnthrottleIfCalm() {
  if (output_bytes_ > Pool().calm_bytes / 4 * 3) return;
  for (Connection* connection : all_) {
    if (connection->throttled()) connection->Unthrottle();
  }
}

// ---- too much

// All clients are visited once for each kFattest closed clients.
template <typename BytesOf, typename Close>
void Clients::CloseFattest(BytesOf bytes_of, Close close) {
  constexpr size_t kFattest = 64;
  std::array<Connection*, kFattest> fattest;
  const auto fatter = [&](const Connection* a, const Connection* b) { return bytes_of(*a) > bytes_of(*b); };
  for (bool any = true; any;) {
    any = false;
    const auto end = std::partial_sort_copy(all_.begin(), all_.end(), fattest.begin(), fattest.end(), fatter);
    for (auto at = fattest.begin(); at != end; ++at) {
      if (bytes_of(**at) == 0) continue;
      any = true;
      if (!close(**at)) return;
    }
  }
}

[[gnu::noinline, gnu::cold]] void Clients::ShrinkOutput() {
  const auto close = [this](Connection& connection) {
    connection.DropForOutput("the most of all, and all hold too much");
    return output_bytes_ > Pool().most_bytes;
  };
  CloseFattest([](const Connection& connection) { return connection.booked_output_bytes(); }, close);
}

// The memory of exempt clients counts, but a part of the limit is always left to the others. Otherwise one waiting exempt
// client with much memory would have every other client closed, including the operator who comes to end it.
[[gnu::noinline, gnu::cold]] void Clients::EvictClients() {
  constexpr uint64_t kLeftPart = 4;
  uint64_t exempt = 0;
  Connection* fattest = nullptr;
  for (Connection* connection : all_) {
    if (connection->evictable_bytes() == connection->held_bytes()) continue;
    exempt += connection->held_bytes();
    if (fattest == nullptr || connection->held_bytes() > fattest->held_bytes()) fattest = connection;
  }
  const uint64_t most = Pool().most_held_bytes;
  const uint64_t left = std::max(most - std::min(most, exempt), most / kLeftPart);
  const auto too_much = [&] { return server_.stats.held_bytes - exempt >= left; };
  const auto close = [&](Connection& connection) {
    connection.Evict();
    return too_much();
  };
  if (too_much())
    CloseFattest([](const Connection& connection) { return connection.evictable_bytes(); }, close);
  if (fattest != nullptr && server_.stats.held_bytes >= most) fattest->ReportExempt();
}

}  // namespace mayfly::net
