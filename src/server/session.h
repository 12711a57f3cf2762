// What the server knows of one client, apart from its socket.
//
// Ownership: the connection (src/net) owns its Session and the bytes that came in; the Session owns the
// replies that have not been written. Loop thread only.
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

// Which replies a client wants: CLIENT REPLY.
enum class Replies : uint8_t {
  kOn,
  kOff,
  kSkipNext,  // all but the next one; silent until that one is made
  kSkipping,  // that one is being made
};

struct Session {
  explicit Session(ChunkPool& chunks) : output(chunks), reply(output), pool(chunks) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // False while it waits, or once it is to be closed: nothing more of what it sent runs then.
  bool MayRun() const noexcept {
    return parked == nullptr && !close_after_reply && !close_now && !output.full();
  }

  // While silent its replies go to a chain that nobody writes.
  void Silence() {
    if (unwanted == nullptr) unwanted = std::make_unique<OutputChain>(pool);
    reply.Redirect(*unwanted);
  }
  void Speak() noexcept {
    reply.Redirect(output);
    unwanted.reset();
  }
  // Its requests have to be run one by one, with an eye on what it asked for.
  bool HasModes() const noexcept { return replies != Replies::kOn || no_touch; }

  uint64_t id = 0;   // never reused
  std::string peer;  // "127.0.0.1:50312", "[::1]:50312", "/path:0" for a unix socket
  std::string local;
  int fd = -1;
  bool over_unix_socket = false;

  resp::Parser parser;
  OutputChain output;
  resp::Writer reply;

  ChunkPool& pool;
  std::unique_ptr<OutputChain> unwanted;  // replies on their way to nowhere; null: they are wanted

  unsigned db = 0;
  bool authenticated = false;
  std::string name;
  std::string lib_name;
  std::string lib_version;

  uint64_t created_mono_ms = 0;
  uint64_t active_mono_ms = 0;                // when it last sent a command
  const std::string* last_command = nullptr;  // full name of a table row; null before the first

  Replies replies = Replies::kOn;
  bool no_touch = false;       // what it reads does not become recent
  bool no_evict = false;       // remembered for CLIENT LIST: Mayfly closes no client to make room for keys
  bool modes_counted = false;  // in Sessions

  bool close_after_reply = false;  // nothing more is read; closed once `output` is written
  bool close_now = false;          // dropped without another byte
  bool dirty = false;              // queued in Sessions for the end of the turn
  Parked* parked = nullptr;        // set while it waits; no further request of it runs
  // Incomplete requests that the connection keeps: bytes that have come, and the memory that they are kept
  // in.
  uint64_t input_bytes = 0;
  uint64_t input_memory = 0;
};

}  // namespace mayfly
