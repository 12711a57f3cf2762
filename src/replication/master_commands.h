// Runs the commands that a master sends to its replica, in order.
//
//   bytes --Feed--> resp::Parser --> a request --> Executor::MakeCall (Origin::kMaster)
//                                    MULTI ... EXEC: the whole transaction, when EXEC has arrived
//
// Expired keys still exist for the commands (ExpiredKeys::kShown), and rules for TTLs do not apply. A command is refused only
// for its form: the master has decided. Only commands of a master run: writes, messages, SELECT. A command that cannot run
// here is counted, and the first ones are logged; the keys may then differ from the master's. A command on keys of a database
// that does not exist here is counted and logged, too.
//
// offset() counts the bytes of the stream whose requests have taken effect. A transaction counts with its EXEC.
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
  // At most this many failed commands are logged in the life of the server.
  static constexpr uint64_t kFailuresTold = 10;

  explicit MasterCommands(Server& server);
  ~MasterCommands();
  MasterCommands(const MasterCommands&) = delete;
  MasterCommands& operator=(const MasterCommands&) = delete;

  // The stream begins at `offset`, with this database selected.
  void Begin(int64_t offset, unsigned database) noexcept;
  // Goes on with the stream after a break, at `offset` and in the same database, unless the stream selects another.
  void Continue(int64_t offset) noexcept {
    Cut();
    offset_ = offset;
  }
  // Sets whether messages with facts come from the master, and not from a client of the master.
  void TrustFacts(bool trusts) noexcept { trusts_facts_ = trusts; }
  Cutoff& cutoff() noexcept { return cutoff_; }
  // Forgets an unfinished request or transaction.
  void Cut() noexcept;
  unsigned database() const noexcept { return session_.db; }
  // session().last_command is the last command that ran; session().commands counts since Begin, Continue or Cut.
  const Session& session() const noexcept { return session_; }
  // Runs the requests completed by the bytes. Returns false if the bytes are not in Redis's protocol: the stream is then
  // useless. Throws std::bad_alloc; the stream is then useless, too.
  bool Feed(std::string_view bytes, Now now);
  int64_t offset() const noexcept { return offset_; }
  // True if the master has asked for the offset since the last call.
  bool TakeWish() noexcept { return std::exchange(wish_, false); }
  uint64_t bytes() const noexcept { return input_.capacity(); }
  // The bytes of the unfinished request or transaction.
  uint64_t waiting_bytes() const noexcept { return input_.size(); }

 private:
  struct Range {
    size_t begin;
    size_t size;
  };
  void Take(std::span<const std::string_view> words, Range range, Now now);
  void RunTransaction(Now now);
  // Counts bytes of the stream that have taken effect, and relays the bytes to this server's own replicas.
  void Pass(std::string_view bytes) noexcept;
  void Run(std::span<const std::string_view> words, Now now);
  // Runs a message with facts that only Mayfly knows (replication/facts.h).
  void RunFacts(std::span<const std::string_view> words, Now now);
  bool TakeCutoff(std::string_view text, Now now);
  // Counts a failed command. `reply`: the error, perhaps with more lines.
  void NoteFailure(std::span<const std::string_view> words, std::string_view reply) noexcept;

  Server& server_;
  ChunkPool chunks_;
  Session session_;
  ReplyBuffer replies_;
  resp::Parser parser_;
  resp::ArgList args_;
  std::string input_;      // from the first request on that has not taken effect
  size_t parsed_ = 0;      // of input_
  bool homeless_ = false;  // the selected database does not exist here
  bool trusts_facts_ = false;
  bool ran_cutoff_ = false;  // since the last Pass
  bool in_transaction_ = false;
  std::vector<Range> transaction_;  // the transaction's requests, in input_
  int64_t offset_ = 0;
  bool wish_ = false;
  uint64_t failures_told_ = 0;
  Cutoff cutoff_;
};

}  // namespace mayfly
