// A Session is the state of one client, without its socket.
//
// Ownership: the connection (src/net) owns its Session and the input. The Session owns the replies that are
// not written yet. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/output.h"
#include "resp/parser.h"
#include "resp/writer.h"

namespace mayfly {

struct Parked;

// The replies that a client wants (CLIENT REPLY).
enum class Replies : uint8_t {
  kOn,
  kOff,
  kSkipNext,  // from CLIENT REPLY SKIP until the next request begins
  kSkipping,  // during that request
};

struct Session {
  explicit Session(ChunkPool& chunks) : output(chunks), reply(output), pool(chunks) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // False while the session is parked, about to close, or holds too much unread output: no further request of
  // it runs.
  bool MayRun() const noexcept {
    return parked == nullptr && !close_after_reply && !close_now && !output.full();
  }

  // Discards replies from now on: they go to a chain that is never written. Speak ends that.
  void Silence() {
    if (unwanted == nullptr) unwanted = std::make_unique<OutputChain>(pool);
    reply.Redirect(*unwanted);
  }
  void Speak() noexcept {
    reply.Redirect(output);
    unwanted.reset();
  }
  // Whether its requests must run one at a time, because of CLIENT REPLY or NO-TOUCH.
  bool HasModes() const noexcept { return replies != Replies::kOn || no_touch; }

  uint64_t id = 0;   // unique, never reused
  std::string peer;  // "127.0.0.1:50312", "[::1]:50312", "/path:0" for a unix socket
  std::string local;
  int fd = -1;
  bool over_unix_socket = false;

  resp::Parser parser;
  OutputChain output;
  resp::Writer reply;

  ChunkPool& pool;
  std::unique_ptr<OutputChain>
      unwanted;  // receives the replies that the client does not want; null if it wants them

  unsigned db = 0;
  bool authenticated = false;
  uint32_t failed_logins = 0;  // in a row, since the last one that succeeded
  std::string name;
  std::string lib_name;
  std::string lib_version;

  uint64_t created_mono_ms = 0;
  uint64_t active_mono_ms = 0;                // when it last sent a command
  const std::string* last_command = nullptr;  // full name in the command table; null before the first
  uint64_t commands = 0;                      // that have run; not those that were refused before
  uint64_t net_input_bytes = 0;               // read from its socket
  uint64_t net_output_bytes = 0;              // written to its socket

  Replies replies = Replies::kOn;
  bool no_touch = false;       // its commands do not count as accesses to keys
  bool no_evict = false;       // only shown by CLIENT LIST: Mayfly closes no client to free memory
  bool modes_counted = false;  // counted in Sessions::with_modes

  bool close_after_reply = false;  // reads no more; closes when `output` is written
  bool close_now = false;          // closes at once; `output` is lost
  bool dirty = false;              // in the list of Sessions::TakeDirty
  Parked* parked = nullptr;        // not null while the client is blocked
  // The incomplete request that the connection keeps: its bytes, and the memory that holds them.
  uint64_t input_bytes = 0;
  uint64_t input_memory = 0;
};

}  // namespace mayfly
