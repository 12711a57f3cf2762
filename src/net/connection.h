// A client's socket: what arrives goes to the executor, the replies that wait go out, once per loop turn.
//
//   kOpen --- QUIT, protocol error, end of input, server stops ----> kEnding: input is dropped
//     |                                                                 | all replies written
//     | reset, limits, CLIENT KILL                                      v
//     v                                                              kLingering: our side is shut; input is
//   kClosed <--- end of input, or a bound is reached ---------------    still dropped
//
// Input. One read per turn; the rest waits in the kernel, and that of a big argument also while keys are evicted
// to make room for it. What has come is run when the turn has read from all clients (Clients::Defer), and what
// has not run is kept (net/input.h).
//
// Output. One gathering write when the turn ends; what the kernel does not take is written as it drains. A
// client that holds much of it and reads too slowly is throttled: not read from until it has caught up
// (limits.h). The client-output-buffer-limit and the pool's limit (server/output_pool.h) close it.
//
// Memory: an idle connection holds neither tail nor chunk. Ownership: Clients makes and forgets connections;
// each deletes itself when libuv has let go of its handle. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <uv.h>

#include "exec/dispatch/batch.h"
#include "net/input.h"
#include "net/timed_client.h"
#include "server/session.h"

namespace mayfly::net {

class Clients;

class Connection final : public Session, public TimedClient {
 public:
  enum class Kind : uint8_t { kTcp, kUnix };
  enum class State : uint8_t { kNew, kOpen, kEnding, kLingering, kClosed };

  // Adds itself to `clients`. Throws std::bad_alloc.
  Connection(Clients& clients, Kind kind);

  static Connection& Of(Session& session) noexcept { return static_cast<Connection&>(session); }
  static Connection& Of(TimedClient& timed) noexcept { return static_cast<Connection&>(timed); }

  // Takes over the descriptor of a new connection and learns its addresses. An error code of libuv's, 0 when
  // well; after an error it is on its way out. Throws std::bad_alloc.
  int Accept(uv_loop_t& loop, int descriptor);
  bool from_loopback() const noexcept { return from_loopback_; }
  State state() const noexcept { return state_; }
  bool throttled() const noexcept { return throttled_; }
  // Whether it would be read from and there is something to read.
  bool InputWaits() const noexcept;

  // Becomes a client: begins to read. Throws std::bad_alloc. REQUIRES: accepted, state kNew.
  void Open();
  // Sends `text` and goes away. REQUIRES: accepted, state kNew.
  void Refuse(std::string_view text, bool may_linger);

  // Writes what waits, and closes if that was asked for. Called when the turn ends.
  void Flush();
  // What it sent was run (see Clients::Defer): keeps the rest.
  void AfterRun(const Feed& feed);
  // Runs what it sent while it was parked.
  void Resume();
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

  // Output that counts against the pool; none of a client that was dropped.
  uint64_t booked_output_bytes() const noexcept { return booked_.output; }
  // When OnTime has something to do; ParkingLot::kForever where nothing is timed.
  uint64_t NextDeadline() const noexcept;
  // The deadline has come.
  void OnTime(uint64_t now_mono_ms);

 private:
  ~Connection() = default;  // only when libuv has closed the handle

  uv_stream_t* stream() noexcept { return &socket_.stream; }
  void LearnAddresses();
  void SetSocketOptions() noexcept;

  // Input.
  uv_buf_t LendBuffer();
  void OnRead(ssize_t n);
  void OnEndOfInput();
  // Counts what is kept, closes the client if that is too much, and reads on or not.
  void AfterInput();
  void UpdateReading();

  // Output.
  void Write();
  void WriteLater();
  void OnWritten(int status);
  void Settle();
  // Starts or ends throttling, by how much output there is and whether the client reads.
  void Throttle();
  void SetThrottled(bool throttled) noexcept;
  // Looks whether the kernel has taken bytes since the last call: then the client reads, and is not idle.
  void NoticeReading() noexcept;
  // Drops the client if it holds more output than a limit allows: true. Starts and ends the soft limit's
  // time.
  bool EnforceOutputLimit();
  void Linger();
  void DropForMemory(std::string_view of_what);
  bool DropsInput() const noexcept;
  void OnDroppedInput(size_t size);

  // Keeps input_bytes, input_memory and the sums over all clients right.
  void Account() noexcept;
  struct Booked {
    uint64_t client = 0;    // this connection's part of Stats::client_bytes
    uint64_t arriving = 0;  // and of Stats::arriving_bytes
    uint64_t output = 0;    // and of what back-pressure goes by
  };
  void Book(const Booked& now) noexcept;

  Clients& clients_;
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } socket_;
  std::unique_ptr<uv_write_t> write_;  // only while a write is under way
  size_t writing_bytes_ = 0;
  Input input_;
  Booked booked_;
  uint64_t heard_mono_ms_ = 0;  // when bytes were last seen to go either way
  uint64_t took_mono_ms_ = 0;   // when the client was last seen to read
  uint64_t taken_bytes_ = 0;    // by the kernel, when that was looked at last
  uint64_t linger_until_mono_ms_ = 0;
  uint64_t above_soft_since_mono_ms_ = 0;  // 0: below the soft output limit
  size_t dropped_bytes_ = 0;               // of what the client sent after its last request
  uint32_t read_turn_ = 0;                 // the turn in which it was last read from
  State state_ = State::kNew;
  const Kind kind_;
  bool from_loopback_ = false;
  bool reading_ = false;
  bool throttled_ = false;
  bool input_ended_ = false;
};

}  // namespace mayfly::net
