// Runs the commands that a master sends to its replica, in order.
//
//   bytes --Feed--> resp::Parser --> a request --> Executor::MakeCall (Origin::kMaster)
//                                    MULTI ... EXEC: all of it at once, when EXEC is there
//
// The commands run with expired keys still there (ExpiredKeys::kShown), without rules for TTLs, and are refused for nothing but
// their form: the master has decided. Only what a master sends runs: writes, messages, SELECT. A command that cannot run here is
// counted, and the first are logged; the keys may differ from the master's then. So are commands on keys of a database that does
// not exist here.
//
// offset() counts the bytes of the stream whose requests have taken effect: a transaction counts with its EXEC.
//
// Memory: the bytes of the unfinished request or transaction. Borrows the server. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory/output.h"
#include "base/time/clock.h"
#include "exec/call/reply_buffer.h"
#include "replication/cutoff.h"
#include "resp/args.h"
#include "resp/parser.h"
#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

class MasterCommands {
 public:
  // So many commands that cannot run are logged in the life of the server.
  static constexpr uint64_t kFailuresTold = 10;

  explicit MasterCommands(Server& server);
  ~MasterCommands();
  MasterCommands(const MasterCommands&) = delete;
  MasterCommands& operator=(const MasterCommands&) = delete;

  // The stream begins at `offset`, with this database selected.
  void Begin(int64_t offset, unsigned database) noexcept;
  // The stream was cut. It goes on at `offset`, in the same database, unless it says which.
  void GoOn(int64_t offset) noexcept {
    Cut();
    offset_ = offset;
  }
  // Whether messages with facts are the master's own, and not some client's of it.
  void TrustFacts(bool trusts) noexcept { trusts_facts_ = trusts; }
  Cutoff& cutoff() noexcept { return cutoff_; }
  // Forgets the beginning of a request.
  void Cut() noexcept;
  unsigned database() const noexcept { return session_.db; }
  // Its last_command is the last that ran, and its commands are those since Begin or GoOn.
  const Session& session() const noexcept { return session_; }
  // Runs what the bytes complete. False: these are no requests, and the stream is of no more use. Throws std::bad_alloc; then,
  // too.
  bool Feed(std::string_view bytes, Now now);
  int64_t offset() const noexcept { return offset_; }
  // The master has asked for the offset since the last call.
  bool TakeWish() noexcept { return std::exchange(wish_, false); }
  uint64_t bytes() const noexcept { return input_.capacity(); }
  // Of the unfinished request or transaction.
  uint64_t waiting_bytes() const noexcept { return input_.size(); }

 private:
  struct Range {
    size_t begin;
    size_t size;
  };
  void Take(std::span<const std::string_view> words, Range range, Now now);
  void RunTransaction(Now now);
  // These bytes of the stream have taken effect. This server's own replicas get them.
  void Pass(std::string_view bytes) noexcept;
  void Run(std::span<const std::string_view> words, Now now);
  // A message with what Mayfly alone knows (replication/facts.h).
  void RunFacts(std::span<const std::string_view> words, Now now);
  bool TakeCutoff(std::string_view text, Now now);
  // Counts a command that cannot run. `reply`: the error, perhaps with more lines.
  void NoteFailure(std::span<const std::string_view> words, std::string_view reply) noexcept;

  Server& server_;
  ChunkPool chunks_;
  Session session_;
  ReplyBuffer replies_;
  resp::Parser parser_;
  resp::ArgList args_;
  std::string input_;      // from the first request on that has not taken effect
  size_t parsed_ = 0;      // of the input
  bool homeless_ = false;  // the selected database does not exist here
  bool trusts_facts_ = false;
  bool ran_cutoff_ = false;  // since the last bytes that were passed on
  bool in_transaction_ = false;
  std::vector<Range> transaction_;  // its requests in the input
  int64_t offset_ = 0;
  bool wish_ = false;
  uint64_t failures_told_ = 0;
  Cutoff cutoff_;
};

}  // namespace mayfly
