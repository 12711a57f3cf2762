// The socket of one client, for any protocol. Received bytes go to the connection's service, and the bytes in the output go
// out. The derived class knows the meaning of the bytes: net/client/resp_client.h.
//
//   kOpen --- QUIT, protocol error, end of input, server stops ----> kEnding: input is dropped
//     |                                                                 | all replies written
//     | reset, limits, CLIENT KILL                                      v
//     v                                                              kLingering: our side is shut; input is
//   kClosed <--- end of input, or a bound is reached ---------------    still dropped
//
// Input. One read per turn, or more if a read has filled all its room and the service wants the rest (OnFullRead); later
// bytes wait in the kernel. The service lends the memory (LendInput) and gets the received bytes (TakeInput).
//
// Output. One gathering write when the turn ends; the rest is written as the socket drains. A client with much output that
// reads too slowly is throttled: the server does not read from the client until the client has caught up (limits.h). The
// client-output-buffer-limit and the pool's limit (server/clients/output_pool.h) close the client.
//
// Transport. A filter may stand between socket and service (net/socket/transport.h, net/socket/filter.h). Limits on input
// count the filter's plaintext. Output counts once: as plaintext until the filter has taken the bytes, then as ciphertext.
// Without a filter no byte is copied, and libuv calls the service's class directly: no call in between is virtual.
//
// Ownership: a Service makes connections, Clients knows them; each connection deletes itself when libuv has closed its
// handle. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <uv.h>

#include "base/memory/output.h"
#include "config/settings.h"
#include "net/client/admission.h"
#include "net/socket/filter.h"
#include "net/socket/limits.h"
#include "net/socket/timed_client.h"

namespace mayfly::net {

class Clients;

class Connection : public TimedClient {
 public:
  enum class Kind : uint8_t { kTcp, kUnix };
  enum class State : uint8_t { kNew, kOpen, kEnding, kLingering, kClosed };
  // The addresses of both ends.
  struct Addresses {
    std::string peer;  // "127.0.0.1:50312", "[::1]:50312", "/path:0" for a unix socket
    std::string local;
  };

  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  static Connection& Of(TimedClient& timed) noexcept { return static_cast<Connection&>(timed); }

  // ---- for Clients
  // Takes over the descriptor of a new connection. Returns an error code of libuv, 0 on success; after an error the
  // connection is already closing. Throws std::bad_alloc.
  int Accept(uv_loop_t& loop, int descriptor);
  Kind kind() const noexcept { return kind_; }
  bool from_loopback() const noexcept { return from_loopback_; }
  // True for an scraper, a client that only looks at the server (net/client/service.h).
  virtual bool is_scraper() const noexcept { return false; }
  // The time since when closing the connection would lose nothing, as far as the service knows: the client has its answer,
  // and has not begun a new request. ParkingLot::kForever: closing would lose something. A spare scraper gives way when its
  // port is full.
  virtual uint64_t SpareSince() const noexcept;
  State state() const noexcept { return state_; }
  bool throttled() const noexcept { return throttled_; }
  // True if the connection is being read and there is something to read.
  bool InputWaits() const noexcept;

  // Becomes a client: begins to read. Throws std::bad_alloc. REQUIRES: accepted, state kNew.
  void Open();
  // Sends the service's refusal and goes away. REQUIRES: accepted, state kNew.
  void Refuse(Verdict verdict, bool may_linger);
  // Null: plain.
  Filter* filter() noexcept { return filter_.get(); }
  const Filter* filter() const noexcept { return filter_.get(); }
  // Hands over waiting plaintext from the filter, as much as one read per turn allows. REQUIRES: there is a filter.
  void Deliver();
  // The handshake had to wait and may go on now: reads the bytes for the handshake. REQUIRES: Clients::Postpone listed the
  // connection.
  void ResumeHandshake();
  // The connection is not being read, and the peer has ended its direction (net/client/end_watch.h).
  void OnPeerGone();
  // Reads again, after throttling for the sake of the output pool.
  void Unthrottle();
  // Runs no further request; lingers once the replies are written.
  void End();
  // Bytes of replies that have not reached the client, as far as the kernel says.
  size_t UndeliveredBytes() const noexcept;
  // Closes at once; unwritten output is lost.
  void Drop();
  // Like Drop, with a log line about the size of the output and the exceeded limit `why`.
  void DropForOutput(const char* why);
  // Closes the connection, because another client needs the place. REQUIRES: SpareSince() is a time, and no input waits.
  void CloseSpare();
  // Like Drop, because all clients together hold more than maxmemory-clients.
  void Evict();

  // Output that counts against the pool; 0 for a dropped client.
  uint64_t booked_output_bytes() const noexcept { return booked_.output; }
  // The bytes that maxmemory-clients would free by closing the client; 0 for an exempt client.
  uint64_t evictable_bytes() const noexcept { return MayBeEvicted() ? booked_.held : 0; }
  uint64_t held_bytes() const noexcept { return booked_.held; }
  // Logs that this client, with other exempt clients, exceeds maxmemory-clients and stays.
  void ReportExempt();
  // The time of the next call of OnTime; ParkingLot::kForever: never.
  uint64_t NextDeadline() const noexcept;
  // The deadline has come.
  void OnTime(uint64_t now_mono_ms);

 protected:
  // The functions that libuv calls for a connection without a filter.
  struct ReadCalls {
    uv_alloc_cb lend;
    uv_read_cb take;
  };
  // The functions of a service's class, with direct calls of LendInput and TakeInput (net/client/read_calls.h).
  template <typename Client>
  static const ReadCalls kReadCallsOf;
  virtual const ReadCalls& read_calls() const noexcept = 0;

  // Adds itself to `clients`. `output` holds the bytes to be written. Without a transport the connection is plain. Throws
  // std::bad_alloc.
  Connection(Clients& clients, Kind kind, OutputChain& output, std::unique_ptr<Transport> transport);
  virtual ~Connection();  // only when libuv has closed the handle

  // ---- the service's part
  // The connection has a descriptor and addresses now.
  virtual void OnAccept(Addresses&& addresses) noexcept = 0;
  // The connection was admitted. Throws std::bad_alloc, and is then dropped without OnLeave.
  virtual void OnOpen() = 0;
  // Memory for the next bytes; empty: not in this turn. Throws std::bad_alloc.
  virtual std::span<char> LendInput() = 0;
  // `bytes` were stored at the front of the last lent room.
  virtual void TakeInput(std::span<const char> bytes) = 0;
  // TakeInput got all the `size` lent bytes, so there is probably more. ReadOn reads the rest in this turn. Not called for a
  // connection with a filter.
  virtual void OnFullRead(size_t) {}
  // The client sends nothing more, and all received requests have run. False if nothing is left to write: the connection is
  // closed then. Otherwise the next Flush is the last.
  virtual bool TakeEnd() = 0;
  // The server stops: no further request runs. A last Flush follows.
  virtual void OnStop() noexcept = 0;
  // Writes waiting output, in the steps below. Called as the socket drains, and when the server stops.
  virtual void Flush() = 0;
  // The client has left: the connection lingers now, or is closed. Input need not be kept.
  virtual void OnLeave() noexcept = 0;
  // Books the service's memory for the connection.
  virtual void Account() noexcept = 0;
  // True if the connection is not being read because its client waits for something that may never come. If the client goes
  // away, its input of the meantime is void.
  virtual bool IsHeldBack() const noexcept { return false; }
  // True if the client's silence does not count as idle time.
  virtual bool MayBeSilent() const noexcept { return false; }
  // The time to close a silent connection; ParkingLot::kForever: never. By the option timeout, unless the service has other
  // limits. When the time may become earlier, the service calls Clients::File.
  virtual uint64_t SilentUntil() const noexcept;
  // The limit of the client's output.
  virtual const config::OutputLimit& LimitOfOutput() const noexcept;
  // True if maxmemory-clients may close the connection.
  virtual bool MayBeEvicted() const noexcept { return true; }
  // True if the client must log in and has not.
  virtual bool IsStranger() const noexcept { return false; }
  // For the log.
  virtual std::string_view name() const noexcept = 0;
  // The reply to a refused client.
  virtual std::string_view RefusalOf(Verdict verdict) const noexcept = 0;

  // ---- for the service's class
  Clients& clients() noexcept { return clients_; }
  const Clients& clients() const noexcept { return clients_; }
  int descriptor() const noexcept { return descriptor_; }
  // The number of written bytes of output.
  uint64_t written_bytes() const noexcept { return written_bytes_; }

  // True if output waits, here or in the filter.
  bool OutputWaits() const noexcept { return waiting_output() != 0; }

  // The steps of Flush.
  // First: writes, or drops the client if the output exceeds a limit. False if the connection is not open, or no longer
  // open.
  bool WriteOut(const config::OutputLimit& limit) {
    if (state_ != State::kOpen && state_ != State::kEnding) return false;
    if (EnforceOutputLimit(limit)) return false;
    if (write_ == nullptr) Write();
    if (state_ == State::kClosed) return false;
    NoticeReading();
    return true;
  }
  // Then, if nothing more is to come: input is dropped from now on, and the client lingers when all output is written.
  void SetEnding() noexcept { state_ = State::kEnding; }
  // Then Account. Last: acts on the amount of remaining output.
  void FollowOutput() {
    if (state_ == State::kEnding) [[unlikely]]
      return FollowLastOutput();
    if (throttled_ || output_.size() > kOutputOwnBytes) [[unlikely]]
      Throttle();
    UpdateReading();
  }

  // Lends and takes once more in this turn.
  void ReadOn() noexcept { --read_turn_; }
  // Stops further input for now, although the service could lend room.
  void set_input_full(bool full) noexcept { input_full_ = full; }
  // Starts or stops reading, by the state.
  void UpdateReading() {
    const bool wants_input = state_ == State::kOpen && !throttled_ && !input_ended_ && !input_full_;
    if (!wants_input || !reading_) SetReading(wants_input || DropsInput());
  }
  void DropForMemory(std::string_view of_what);

  // This connection's part of the memory of all clients.
  struct Booked {
    uint64_t client = 0;     // of Stats::client_bytes
    uint64_t arriving = 0;   // and of Stats::arriving_bytes
    uint64_t announced = 0;  // and of Stats::announced_bytes
    uint64_t output = 0;     // and of the output counted for back-pressure
    uint64_t held = 0;       // of Stats::held_bytes

    bool operator==(const Booked&) const noexcept = default;
  };
  // Without the filter's memory; Book adds it.
  void Book(const Booked& now) noexcept;
  // Input has arrived in memory booked as announced.
  void BookArriving(size_t size) noexcept;

 private:
  uv_stream_t* stream() noexcept { return &socket_.stream; }
  static Connection& Of(void* handle_data) noexcept { return *static_cast<Connection*>(handle_data); }
  Addresses LearnAddresses();
  void SetSocketOptions() noexcept;
  void Leave() noexcept;
  void SetBooked(const Booked& now) noexcept;

  // Input.
  template <typename Client>
  static void LendTo(uv_handle_t* handle, size_t suggested, uv_buf_t* buffer);
  template <typename Client>
  static void TakeFor(uv_stream_t* stream, ssize_t n, const uv_buf_t* buffer);
  // True if this turn may read. The second call in a turn returns false (but see ReadOn): libuv then leaves the bytes in the
  // kernel, and the other connections have their turn. (Libuv passes UV_ENOBUFS to TakeFor, which is no error here.)
  bool BeginRead() noexcept;
  void SetReading(bool wanted);
  void StartReading();
  // Lets the kernel report the peer's end while no read would notice the end.
  void UpdateWatch() noexcept;
  char* LendToDrop();
  void OnReadError(ssize_t error);
  void OnEndOfInput();
  void CountInput(size_t size) noexcept;
  bool DropsInput() const noexcept;
  void OnDroppedInput(size_t size);

  // Output.
  size_t waiting_output() const noexcept {
    return output_.size() + (filter_ != nullptr ? filter_->to_send() : 0);
  }
  void Write();
  void WriteLater();
  void OnWritten(int status);
  void CountOutput(size_t size) noexcept;
  // FollowOutput in the state kEnding.
  void FollowLastOutput();
  // Starts or ends throttling, by the amount of output and the client's reading.
  void Throttle();
  void SetThrottled(bool throttled) noexcept;
  // Tests whether the kernel has taken bytes since the last call: the client then reads, and is not idle.
  void NoticeReading() noexcept;
  // Drops the client if its output exceeds a limit, and returns true then. Starts and ends the time of the soft limit. As in
  // Redis, the output before the write counts: one reply may be too much.
  bool EnforceOutputLimit(const config::OutputLimit& limit) {
    const size_t waiting = waiting_output();
    const bool is_above_hard = output_.full() || (limit.hard_bytes != 0 && waiting >= limit.hard_bytes);
    const bool is_above_soft = limit.soft_bytes != 0 && waiting >= limit.soft_bytes;
    if (!is_above_soft) above_soft_since_mono_ms_ = 0;
    return (is_above_hard || is_above_soft) && DropIfTooMuch(limit, is_above_hard, is_above_soft);
  }
  bool DropIfTooMuch(const config::OutputLimit& limit, bool is_above_hard, bool is_above_soft);
  bool HasBeenAboveSoft(uint64_t ms);
  void Linger();

  // With a filter (connection_filter.cc).
  static const ReadCalls kFilteredReadCalls;
  uv_buf_t LendForCiphertext();
  void OnNothingLent();
  void OnCiphertext(std::string_view bytes);
  void HandOver();
  void AfterHandOver();
  void WriteFiltered();
  bool Seal();
  bool EndFilter();
  bool ShakesHands() const noexcept {
    return filter_ != nullptr && filter_->transport->state() == Transport::State::kHandshake;
  }
  bool HandshakeMustWait() noexcept;
  bool HandshakeWaits() const noexcept { return filter_ != nullptr && filter_->handshake.listed; }
  void LeaveHandshakes();
  void StopPolling();
  void PollAgain();
  void DropForHandshake(std::string_view why);

  Clients& clients_;
  OutputChain& output_;
  std::unique_ptr<Filter> filter_;  // null: plain
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } socket_;
  struct WaitingWrite {
    uv_write_t request;
    size_t bytes;
  };
  std::unique_ptr<WaitingWrite> write_;  // only while a write is under way
  uint64_t written_bytes_ = 0;
  Booked booked_;
  uint64_t heard_mono_ms_ = 0;  // the last known traffic in either direction
  union {
    uint64_t took_mono_ms = 0;      // the last known read by the client
    uint64_t linger_until_mono_ms;  // in the state kLingering, where took_mono_ms is unused
  } timing_;
  uint64_t taken_bytes_ = 0;               // by the kernel, at the last test
  uint64_t above_soft_since_mono_ms_ = 0;  // 0: below the soft output limit
  uint32_t dropped_bytes_ =
      0;                    // bytes after the client's last request, at most some kilobytes beyond the limit
  uint32_t read_turn_ = 0;  // the last turn with a read
  int descriptor_ = -1;
  State state_ = State::kNew;
  const Kind kind_;
  bool is_client_ = false;  // between OnOpen and OnLeave
  bool from_loopback_ : 1 = false;
  bool watched_ : 1 = false;  // by Clients::end_watch
  bool reading_ : 1 = false;
  bool throttled_ : 1 = false;
  bool input_full_ : 1 = false;
  bool input_ended_ : 1 = false;
};

}  // namespace mayfly::net
