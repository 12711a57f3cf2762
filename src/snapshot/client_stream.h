// Sends a snapshot to a client after SYNC: a replica, or redis-cli --rdb, which first sends REPLCONF rdb-only 1.
//
//   <greeting> $EOF:<mark>\r\n <the bytes of a file> <mark>          mark: 40 digits that no file has by chance
//
// The client is parked meanwhile. At the end the connection is closed, as in Redis, unless the client is a replica. The
// client's output holds at most kInOutput bytes of the snapshot, and no more than a part of a client's limit; the rest waits
// here. An alarm checks every kLookMs how much the client has read. A client that reads nothing for kPatienceMs is closed.
//
// Borrows the server. Loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "server/hubs/alarms.h"
#include "server/hubs/client_ends.h"
#include "snapshot/disk/save_target.h"

namespace mayfly {

struct Server;
struct Session;
struct StreamTerms;

class ClientStream final : public SaveTarget, private Alarms::Alarm, private ClientEnds::Listener {
 public:
  static constexpr size_t kInOutput = size_t{2} << 20;
  static constexpr uint64_t kLookMs = 2;
  static constexpr uint64_t kPatienceMs = 60'000;

  // `checksum`: false writes 0 instead of a checksum. The alarm sends the first bytes, after this turn's reply. Throws
  // std::bad_alloc. REQUIRES: the session was added to Sessions.
  ClientStream(Server& server, Session& session, const StreamTerms& terms, bool checksum, Now now);
  ~ClientStream() override;

  bool IsFor(const Session& session) const noexcept { return &session == session_; }

  void Give(std::string&& chunk) override;
  std::string Collect() noexcept override;
  size_t waiting_bytes() const noexcept override { return waiting_bytes_; }
  void Finish() override;
  bool Abandon() noexcept override;
  State state() noexcept override { return state_; }
  const std::string& problem() const noexcept override { return problem_; }
  uint64_t written_bytes() noexcept override { return written_bytes_; }
  void Wait() override {}  // the end comes at once

 private:
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  void OnClientEnd(Session& session) noexcept override;
  // As in Redis, a snapshot is no reason to close its client: the output stays below client-output-buffer-limit.
  size_t MostInOutput() const noexcept;
  // Moves bytes to the client's output as far as the output has room. Throws std::bad_alloc and OutputTooLong.
  void Pump();
  void Fail(std::string_view problem) noexcept;

  Server& server_;
  Session* session_;  // null: the client has left
  const bool checksum_;
  const bool ends_client_;
  const std::string mark_;
  std::deque<std::string> chunks_;
  size_t sent_ = 0;  // of the first chunk
  std::string room_;
  size_t waiting_bytes_ = 0;
  uint64_t written_bytes_ = 0;
  uint64_t crc_ = 0;
  bool finished_ = false;
  State state_ = State::kWriting;
  std::string problem_;
  size_t unread_ = 0;  // of the client's output, at the last look
  uint64_t look_mono_ms_;
  uint64_t moved_mono_ms_;  // the client has read something
};

}  // namespace mayfly
