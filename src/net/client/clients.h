// All connections of the loop and their shared parts: read buffer, reply chunks, timing wheel, output pool. The wheel
// times the connections, and back-pressure guards the pool of output.
//
// Ownership: Clients makes each connection at its arrival and forgets the connection when libuv has closed it (Forget); the
// loop must run until count() is 0 before this dies. Loop thread only.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

#include <uv.h>

#include "base/log/log.h"
#include "base/log/log_throttle.h"
#include "base/memory/output.h"
#include "config/sources/options.h"
#include "exec/dispatch/executor.h"
#include "net/client/connection.h"
#include "net/client/connection_list.h"
#include "net/client/end_watch.h"
#include "net/client/resp_client.h"
#include "net/client/service.h"
#include "net/client/turn.h"
#include "net/socket/limits.h"
#include "server/clients/output_pool.h"
#include "server/clients/presence.h"
#include "server/figures/incidents.h"
#include "server/hubs/alarms.h"

namespace mayfly::net {

class Clients final : public Presence, private Alarms::Alarm {
 public:
  Clients(Server& server, Executor& executor, Turn& turn, Log& log);
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;
  ~Clients();
  // Watches for the ends of clients that are not being read. The loop must run once more after CloseWatch.
  void StartWatch(uv_loop_t& loop) { end_watch_.Start(loop); }
  void CloseWatch() { end_watch_.Close(); }

  // Takes over the descriptor of a new connection of this service and admits or refuses the connection.
  void Accept(uv_loop_t& loop, int descriptor, Connection::Kind kind, const Service& service);
  // Sets the most connections that may linger at one time.
  void set_lingering_max(size_t most) noexcept { lingering_max_ = most; }
  // The end of a turn: runs the requests of woken clients and writes waiting output.
  void FinishTurn();
  // Sets the function for a full turn: the turn has read from as many clients as one turn may, and there are more. Set once.
  void OnFullTurn(std::function<void()> end_turn) { end_turn_ = std::move(end_turn); }
  // A read has filled all its room: the input runs now, and the turn is full after many such reads.
  void RunFullRead(size_t size);
  // The end of each callback that has read. The connection may be closed afterwards.
  void EndTurnIfFull() {
    if (turn_is_full_) [[unlikely]]
      EndFullTurn();
  }

  // True announces the stop of the server to scrapers. False withdraws the announced stop.
  void set_stopping(bool stopping) noexcept {
    stopping_ = stopping;
    ending_ = ending_ && stopping;
  }
  bool stopping() const noexcept { return stopping_; }
  // Ends every connection but the scrapers', because the server stops.
  void EndAll();
  // The other clients are gone.
  void EndScrapers();
  void DropAll();
  // Drops every connection but the scrapers'.
  void DropGuests();
  // The number of connections without the scrapers'.
  size_t guests() const noexcept { return all_.size() - scrapers_known_; }
  // The number of clients with undelivered replies, and the number of undelivered bytes.
  struct Undelivered {
    size_t clients = 0;
    size_t bytes = 0;
  };
  Undelivered CountUndelivered() const noexcept;
  size_t count() const noexcept { return all_.size(); }
  // True if requests have arrived that were not read yet. Asks the kernel about each client.
  bool InputWaits() const noexcept;
  bool IsThere(const Session& session) const noexcept override;

  // An option has changed that may end the time of clients: each is looked at in the next turn.
  void LookAtAll();

  // ---- for connections
  Server& server() noexcept { return server_; }
  Executor& executor() noexcept { return executor_; }
  const config::Settings& settings() const noexcept { return server_.options.settings(); }
  Turn& turn() noexcept { return turn_; }
  Log& log() noexcept { return log_; }
  // A line of the log about a kind of incident that may be frequent.
  template <typename... Pieces>
  void Report(Incidents::Kind kind, const Pieces&... pieces) noexcept {
    turn_.Begin();
    server_.incidents.Tell(kind, turn_.now().mono_ms, &log_, pieces...);
  }
  ChunkPool& chunks() noexcept { return chunks_; }
  // The text of an address, mostly equal to the previous connection's; null if there is no memory.
  SharedBytes ShareAddress(std::string_view text) noexcept;
  // Lends `size` bytes of the buffer shared by all connections. With too little room, the input in the buffer runs first,
  // and the turn is full.
  char* LendInput(size_t size) {
    static_assert(kSharedInputBytes >= 2 * (kReadBufferBytes + kCopiedTailBytes));
    const bool full = shared_input_.size() - input_used_ < size;
    if (full || deferred_count_ == kDeferredMax) [[unlikely]]
      return LendAfterRun();
    return shared_input_.data() + input_used_;
  }
  // `input` of this connection will run when the turn has read from all clients. The input lies at the front of the last
  // lent room, or in memory of the connection that does not change until then.
  void Defer(RespClient& client, std::string_view input);
  // Runs the deferred inputs. Called before any other change of a connection's state.
  void RunDeferred();
  // Called then: runs the requests of woken clients, and their later input.
  void RunWoken();

  // The filter of this connection holds plaintext: the loop does not sleep before the delivery.
  void DeliverLater(Connection& connection) noexcept { with_plaintext_.Add(connection); }
  // Adds to the time of this turn's handshakes. HandshakesMayGoOn: true if there is time for further handshakes in this
  // turn.
  void SpendOnHandshakes(uint64_t cycles) noexcept { handshake_cycles_ += cycles; }
  bool HandshakesMayGoOn() noexcept;
  // The handshake of this connection goes on after earlier postponed handshakes, as soon as there is time: the loop does not
  // sleep before.
  void Postpone(Connection& connection) noexcept { handshakes_.Add(connection); }
  void ForgetHandshake(Connection& connection) noexcept { handshakes_.Remove(connection); }
  bool HandshakesWait() const noexcept { return !handshakes_.empty(); }
  bool PlaintextWaits() const noexcept { return !with_plaintext_.empty(); }
  // The connection is closed: all work of its filter ends.
  void ForgetWaiting(Connection& connection) noexcept {
    with_plaintext_.Remove(connection);
    handshakes_.Remove(connection);
  }
  EndWatch& end_watch() noexcept { return end_watch_; }

  // Files the connection on the wheel by its NextDeadline, or unfiles the connection. A deadline that moves later needs no
  // new filing: OnTime compares again.
  void File(Connection& connection);
  void FileAt(Connection& connection, uint64_t deadline_mono_ms);
  void Unfile(Connection& connection) noexcept;
  bool ending() const noexcept { return ending_; }
  // Adds to the sum of all clients' output; wraps, so a difference may be negative.
  void BookOutput(uint64_t difference) noexcept { output_bytes_ += difference; }
  // True if all clients together hold more output than is calm.
  bool Crowded() const noexcept { return output_bytes_ > Pool().calm_bytes; }
  // A connection begins or ends to be throttled.
  void CountThrottled(bool throttled) noexcept { throttled ? ++throttled_ : --throttled_; }
  // While the server stops, every connection lingers: its descriptor is not needed for new clients.
  bool MayLinger() const noexcept { return ending_ || lingering_ < lingering_max_; }
  size_t linger_bytes() const noexcept { return ending_ ? kStopLingerBytes : kLingerBytes; }
  void BeginLinger() noexcept { ++lingering_; }
  void EndLinger() noexcept { --lingering_; }
  // A connection was admitted, or has left.
  void CountIn(Connection& connection) noexcept {
    if (connection.is_scraper())
      scrapers_.push_back(&connection);
    else
      ++let_in_;
  }
  void CountOut(Connection& connection) noexcept {
    if (connection.is_scraper())
      std::erase(scrapers_, &connection);
    else
      --let_in_;
  }
  void Remember(Connection& connection) { all_.insert(&connection); }
  // Libuv can watch the descriptor, provided that nothing is allocated before it does. False if there is no memory.
  bool FindRoomToWatch(int descriptor);
  // Libuv has closed the connection.
  void Forget(Connection& connection) noexcept {
    all_.erase(&connection);
    if (connection.is_scraper()) --scrapers_known_;
  }

 private:
  // The time of the next deadline of a connection.
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  const OutputPool& Pool() const noexcept { return executor_.output_pool(); }
  // There is no memory for a new connection.
  void NoteRefusal();
  void LetIn(Connection& connection, size_t scrapers_max);
  void EndFullTurn();
  // The rest of LendInput.
  char* LendAfterRun();
  // Closes the scraper that has been spare for longest. False if no scraper is spare.
  bool CloseSpareScraper();
  void DeliverListed();
  void ResumeHandshakes();
  void UnthrottleIfCalm();
  // Drops clients, the client with the most output first, until the output of all is within the pool.
  void ShrinkOutput();
  // Drops clients, the client with the most memory first, until the memory of all clients is within maxmemory-clients, or
  // until the memory of evictable clients is within their part of the limit.
  void EvictClients();
  // Calls `close` for one client after the other, the client with the most bytes first, until `close` returns false or no
  // client with bytes is left. Takes no memory. `close` sets the bytes of the client to 0.
  template <typename BytesOf, typename Close>
  void CloseFattest(BytesOf bytes_of, Close close);

  Server& server_;
  Executor& executor_;
  Turn& turn_;
  Log& log_;
  ChunkPool chunks_;
  SharedBytes last_address_;
  ClientWheel wheel_;
  std::unordered_set<Connection*> all_;
  size_t watchable_ = 0;               // libuv has room for descriptors below
  size_t let_in_ = 0;                  // admitted connections that have not left, without scrapers
  std::vector<Connection*> scrapers_;  // admitted scrapers; LetIn makes room
  size_t scrapers_known_ = 0;          // of all_
  ConnectionList<&Filter::plaintext> with_plaintext_;
  ConnectionList<&Filter::handshake> handshakes_;
  EndWatch end_watch_;
  uint64_t handshake_cycles_ = 0;  // spent in handshake_turn_
  uint32_t handshake_turn_ = 0;
  uint64_t output_bytes_ = 0;
  size_t throttled_ = 0;  // number of throttled connections
  size_t lingering_ = 0;
  size_t lingering_max_ = kLingeringMax;
  LogThrottle refusals_logged_{kPauseLogMs};
  bool stopping_ = false;
  bool ending_ = false;
  bool turn_is_full_ = false;
  size_t full_read_bytes_ = 0;  // of this turn
  std::function<void()> end_turn_;
  std::array<Feed, kDeferredMax> deferred_;
  size_t deferred_count_ = 0;
  size_t input_used_ = 0;  // bytes of shared_input_ used by deferred inputs
  std::array<char, kSharedInputBytes> shared_input_;
};

}  // namespace mayfly::net
