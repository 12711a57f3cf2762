// The socket of one client, for any protocol. Bytes that arrive go to the service that it speaks, the bytes that wait
// in its output go out. What the bytes mean is the business of the class that is derived from it: net/client/resp_client.h.
//
//   kOpen --- QUIT, protocol error, end of input, server stops ----> kEnding: input is dropped
//     |                                                                 | all replies written
//     | reset, limits, CLIENT KILL                                      v
//     v                                                              kLingering: our side is shut; input is
//   kClosed <--- end of input, or a bound is reached ---------------    still dropped
//
// Input. One read per turn, or some more if one has filled all its room and the service wants the rest (OnFullRead);
// what comes after that waits in the kernel. The service lends the memory (LendInput) and gets what has
// come (TakeInput).
//
// Output. One gathering write when the turn ends; what the kernel does not take is written as it drains. A
// client that holds much of it and reads too slowly is throttled: not read from until it has caught up
// (limits.h). The client-output-buffer-limit and the pool's limit (server/clients/output_pool.h) close it.
//
// Transport. Between socket and service there may be a filter (net/socket/transport.h, net/socket/filter.h). Limits on input count
// its plaintext. Output counts once: as plaintext until the filter has taken it, then as ciphertext. Without a filter
// no byte is copied, and libuv calls the service's class directly: no call in between is virtual.
//
// Ownership: a Service makes connections, Clients knows them; each deletes itself when libuv has let go of its
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
  // Takes over the descriptor of a new connection. An error code of libuv's, 0 when well; after an error it is on
  // its way out. Throws std::bad_alloc.
  int Accept(uv_loop_t& loop, int descriptor);
  Kind kind() const noexcept { return kind_; }
  bool from_loopback() const noexcept { return from_loopback_; }
  // Whether it is one of those that only look at the server (net/client/service.h).
  virtual bool is_observer() const noexcept { return false; }
  // Since when nothing would be lost by closing it, as far as the service knows: it has been answered, and has not begun
  // to ask again. ParkingLot::kForever: something would. Such an observer gives way when its port is full.
  virtual uint64_t SpareSince() const noexcept;
  State state() const noexcept { return state_; }
  bool throttled() const noexcept { return throttled_; }
  // Whether it would be read from and there is something to read.
  bool InputWaits() const noexcept;

  // Becomes a client: begins to read. Throws std::bad_alloc. REQUIRES: accepted, state kNew.
  void Open();
  // Sends the service's refusal and goes away. REQUIRES: accepted, state kNew.
  void Refuse(Verdict verdict, bool may_linger);
  // Null: plain.
  Filter* filter() noexcept { return filter_.get(); }
  // Hands over plaintext that waits in the filter, as much as one read per turn allows.
  // REQUIRES: there is a filter.
  void Deliver();
  // Its handshake had to wait and may go on now: reads what has come for it. REQUIRES: Clients::Postpone listed it.
  void GoOnWithHandshake();
  // It is not read from, and its peer has ended its direction (net/client/end_watch.h).
  void OnPeerGone();
  // Reads again, after it was throttled for the sake of the output pool.
  void Unthrottle();
  // Runs nothing more; lingers once its replies are written.
  void End();
  // Bytes of replies that the client does not have yet, as far as the kernel says.
  size_t UndeliveredBytes() const noexcept;
  // Closed at once; what was not written is lost.
  void Drop();
  // The same, with a log line that says how much output it holds and `why` that is too much.
  void DropForOutput(const char* why);
  // Closed, because another one needs its place. REQUIRES: SpareSince() is a time, and no input waits.
  void CloseSpare();
  // As Drop, because all clients together hold more than maxmemory-clients.
  void Evict();

  // Output that counts against the pool; none of a client that was dropped.
  uint64_t booked_output_bytes() const noexcept { return booked_.output; }
  // What maxmemory-clients would free by closing it; 0 for a client that it does not close.
  uint64_t evictable_bytes() const noexcept { return MayBeEvicted() ? booked_.held : 0; }
  uint64_t held_bytes() const noexcept { return booked_.held; }
  // Logs that this client, with others like it, exceeds maxmemory-clients and stays.
  void ReportExempt();
  // When OnTime has something to do; ParkingLot::kForever where nothing is timed.
  uint64_t NextDeadline() const noexcept;
  // The deadline has come.
  void OnTime(uint64_t now_mono_ms);

 protected:
  // What libuv calls for a connection without a filter.
  struct ReadCalls {
    uv_alloc_cb lend;
    uv_read_cb take;
  };
  // Those of a service's class: they call its LendInput and TakeInput directly (net/client/read_calls.h).
  template <typename Client>
  static const ReadCalls kReadCallsOf;
  virtual const ReadCalls& read_calls() const noexcept = 0;

  // Adds itself to `clients`. `output` is what waits to be written. Without a transport it is plain. Throws
  // std::bad_alloc.
  Connection(Clients& clients, Kind kind, OutputChain& output, std::unique_ptr<Transport> transport);
  virtual ~Connection();  // only when libuv has closed the handle

  // ---- what a service does
  // It has a descriptor and addresses now.
  virtual void OnAccept(Addresses&& addresses) noexcept = 0;
  // It was let in. Throws std::bad_alloc, and it is dropped then, without OnLeave.
  virtual void OnOpen() = 0;
  // Memory for the next bytes; empty: not in this turn. Throws std::bad_alloc.
  virtual std::span<char> LendInput() = 0;
  // These bytes were stored at the front of what was lent last.
  virtual void TakeInput(std::span<const char> bytes) = 0;
  // TakeInput got all the `size` bytes that were lent, so there is probably more. ReadOn has it read in this turn. Not
  // called for a connection with a filter.
  virtual void OnFullRead(size_t) {}
  // The client sends nothing more, and all that it sent was run. False if there is nothing left to write to it: it is
  // closed then. Else its next Flush is its last.
  virtual bool TakeEnd() = 0;
  // The server stops: nothing more runs. A Flush follows, which is the last.
  virtual void OnStop() noexcept = 0;
  // Writes what waits, in the steps below. Called as the socket drains, and when the server stops.
  virtual void Flush() = 0;
  // It is no client any more: it lingers now, or is closed. Input need not be kept.
  virtual void OnLeave() noexcept = 0;
  // Books what the service holds for it.
  virtual void Account() noexcept = 0;
  // Whether it is not read from because it has to wait for something that may never come. What it has sent
  // meanwhile is void if it goes away.
  virtual bool IsHeldBack() const noexcept { return false; }
  // Whether its silence does not count as idle time.
  virtual bool MayBeSilent() const noexcept { return false; }
  // When it is closed if nothing happens until then; ParkingLot::kForever: never. By the option timeout, unless the
  // service has limits of its own. Where this may become earlier, the service calls Clients::File.
  virtual uint64_t SilentUntil() const noexcept;
  // How much output it may hold.
  virtual const config::OutputLimit& LimitOfOutput() const noexcept;
  // Whether maxmemory-clients may close it.
  virtual bool MayBeEvicted() const noexcept { return true; }
  // Whether it has not logged in, though it should.
  virtual bool IsStranger() const noexcept { return false; }
  // For the log.
  virtual std::string_view name() const noexcept = 0;
  // What is sent to a client that is not let in.
  virtual std::string_view RefusalOf(Verdict verdict) const noexcept = 0;

  // ---- for the service's class
  Clients& clients() noexcept { return clients_; }
  const Clients& clients() const noexcept { return clients_; }
  int descriptor() const noexcept { return descriptor_; }
  // What has been written of the output.
  uint64_t written_bytes() const noexcept { return written_bytes_; }

  // Whether output waits, here or in the filter.
  bool OutputWaits() const noexcept { return waiting_output() != 0; }

  // The steps of Flush.
  // First: writes, or drops the client if it holds too much output. False if it is not open, or not any more.
  bool WriteOut();
  // Then, if nothing more is to come: input is dropped from now on, and the client lingers when all is written.
  void SetEnding() noexcept { state_ = State::kEnding; }
  // Then Account. Last: what follows from how much is left.
  void Settle();

  // Lends and takes once more in this turn.
  void ReadOn() noexcept { --read_turn_; }
  // No more input for now, although the service could be lent some.
  void set_input_full(bool full) noexcept { input_full_ = full; }
  // Reads, or not, as the state says.
  void UpdateReading();
  void DropForMemory(std::string_view of_what);

  // This connection's part of what all clients hold.
  struct Booked {
    uint64_t client = 0;     // of Stats::client_bytes
    uint64_t arriving = 0;   // and of Stats::arriving_bytes
    uint64_t announced = 0;  // and of Stats::announced_bytes
    uint64_t output = 0;     // and of what back-pressure goes by
    uint64_t held = 0;       // of Stats::held_bytes

    bool operator==(const Booked&) const noexcept = default;
  };
  // Without what the filter holds, which is added.
  void Book(const Booked& now) noexcept;
  // Input has come to memory that is booked as announced.
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
  // Whether this turn may read. The second call in a turn is answered false (but see ReadOn): libuv then leaves the bytes in the kernel,
  // and the other connections have their turn. (It tells TakeFor UV_ENOBUFS, which is no error here.)
  bool BeginRead() noexcept;
  void StartReading();
  // Has the kernel tell of the peer's end as long as nothing is read that would.
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
  // Starts or ends throttling, by how much output there is and whether the client reads.
  void Throttle();
  void SetThrottled(bool throttled) noexcept;
  // Looks whether the kernel has taken bytes since the last call: then the client reads, and is not idle.
  void NoticeReading() noexcept;
  // Drops the client if it holds more output than a limit allows: true. Starts and ends the soft limit's
  // time.
  bool EnforceOutputLimit();
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
  uint64_t heard_mono_ms_ = 0;  // when bytes were last seen to go either way
  union {
    uint64_t took_mono_ms = 0;      // when the client was last seen to read
    uint64_t linger_until_mono_ms;  // while kLingering, when nothing reads the other one
  } timing_;
  uint64_t taken_bytes_ = 0;               // by the kernel, when that was looked at last
  uint64_t above_soft_since_mono_ms_ = 0;  // 0: below the soft output limit
  uint32_t dropped_bytes_ =
      0;                    // of what the client sent after its last request, up to some kilobytes too many
  uint32_t read_turn_ = 0;  // the turn in which it was last read from
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
