// A client's socket: what arrives goes to the executor, the replies that wait go out, once per loop turn.
//
//   kOpen ------ QUIT, protocol error, end of input, server stops ------> kEnding: what the client still
//   sends
//     |                                                                      |     is dropped
//     | reset, limits, CLIENT KILL                                           | all replies written
//     v                                                                      v
//   kClosed <--- end of input, or a bound is reached ------------------- kLingering: our side is shut as well
//
// Input. Bytes are read into the buffer that all connections share; only an incomplete request is kept
// (InputTail), and copied before the next bytes when they come. A long tail is grown where it lies, and a big
// argument is read straight into the block that will be its value (resp::Parser). One read per turn; the rest
// waits in the kernel.
//
// Output. One gathering write when the turn ends; what the kernel does not take is written as it drains. A
// client that does not read its replies is not read from, either (limits.h), and the
// client-output-buffer-limit closes it.
//
// Memory: an idle connection holds neither tail nor chunk. Ownership: Clients makes and forgets connections;
// each deletes itself when libuv has let go of its handle. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <uv.h>

#include "exec/batch.h"
#include "net/input_tail.h"
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
  // Whether it would be read from and there is something to read.
  bool InputWaits() const noexcept;

  // Becomes a client: begins to read. Throws std::bad_alloc. REQUIRES: accepted, state kNew.
  void Open();
  // Sends `text` and goes away. REQUIRES: accepted, state kNew.
  void Refuse(std::string_view text, bool may_linger);

  // Writes what waits, and closes if that was asked for. Called when the turn ends.
  void Flush();
  // What it sent was run (see Clients::Defer); keeps what was left.
  void AfterRun(const Feed& feed);
  // Goes on with kept input, after it was parked.
  void Resume();
  // Reads again, after it was held back for the sake of the output pool.
  void Relieve();
  // Runs nothing more; lingers once its replies are written.
  void End();
  // Bytes of replies that the client does not have yet, as far as the kernel says.
  size_t UndeliveredBytes() const noexcept;
  // Closed at once; what was not written is lost.
  void Drop();

  // When OnTime has something to do; ParkingLot::kForever where nothing is timed.
  uint64_t NextDeadline() const noexcept;
  // The deadline has come.
  void OnTime(uint64_t now_mono_ms);

 private:
  enum class Target : uint8_t { kShared, kTail, kBlock };

  ~Connection() = default;  // only when libuv has closed the handle

  uv_stream_t* stream() noexcept { return &socket_.stream; }
  void LearnAddresses();
  void SetSocketOptions() noexcept;

  // Input.
  uv_buf_t LendBuffer();
  void OnRead(ssize_t n);
  void OnEndOfInput();
  void RunTail();
  void DropForMemory();
  // After Run took `consumed` bytes of `input`: how many bytes of the rest are to be kept.
  size_t ToKeep(std::string_view rest);
  void AfterInput();
  void UpdateReading();

  // Output.
  void Write();
  void WriteLater();
  void OnWritten(int status);
  void Settle();
  bool EnforceOutputLimit();
  void Linger();
  bool DropsInput() const noexcept;
  void OnDroppedInput(size_t size);

  // Keeps input_bytes, input_memory and the sums over all clients right.
  void Account() noexcept;
  void Book(uint64_t client_bytes, uint64_t output_bytes) noexcept;

  Clients& clients_;
  union {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
  } socket_;
  std::unique_ptr<uv_write_t> write_;  // only while a write is under way
  size_t writing_bytes_ = 0;
  InputTail tail_;
  uint64_t booked_client_bytes_ = 0;  // this connection's part of Stats::client_bytes
  uint64_t booked_output_bytes_ = 0;  // and of what back-pressure goes by
  uint64_t heard_mono_ms_ = 0;        // when bytes last went either way
  uint64_t linger_until_mono_ms_ = 0;
  uint64_t above_soft_since_mono_ms_ = 0;  // 0: below the soft output limit
  size_t dropped_bytes_ = 0;               // of what the client sent after its last request
  uint32_t read_turn_ = 0;                 // the turn in which it was last read from
  State state_ = State::kNew;
  Target target_ = Target::kShared;
  const Kind kind_;
  bool from_loopback_ = false;
  bool reading_ = false;
  bool held_back_ = false;  // by back-pressure
  bool input_ended_ = false;
};

}  // namespace mayfly::net
