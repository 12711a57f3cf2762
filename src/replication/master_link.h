// Follows a master: makes this server a replica of a redis-server, a valkey-server or another master with Redis's protocol.
//
//   kConnect --> kConnecting --> kHandshake --+--> kTransfer --> kLoading --+--> kConnected: the stream of commands
//      ^                                      +-----------------------------+        |
//      +------------------ a break, or repl-timeout without a byte ------------------+
//
// After a break the stream goes on where it was, if the master still has what was missed; otherwise the master sends all keys
// again. They are received as a file, beside the present keys, which are served meanwhile. Only a file that is whole, with the
// right checksum, takes the place of the keys: a master that sends garbage, or half of a file, does no harm.
//
// While this server follows a master, the master decides when keys go: expired keys are hidden and kept until the master deletes
// them, nothing is evicted (replica-ignore-maxmemory), and clients may not write (replica-read-only).
//
// With tls-replication the connection is made by TLS. The replica tells the master each second how far it is. While the link is
// up it is a line of CLIENT LIST, and CLIENT KILL breaks it: the stream goes on by a new connection.
//
// Borrows the server and the disk. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/memory/output.h"
#include "base/time/clock.h"
#include "config/settings.h"
#include "replication/handshake.h"
#include "replication/master_commands.h"
#include "replication/transfer.h"
#include "server/clients/session.h"
#include "server/figures/link_figures.h"
#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/hubs/wakes.h"
#include "server/outgoing.h"
#include "server/server.h"

namespace mayfly {

class Disk;
struct LoadResult;

class MasterLink final : public LatePart,
                         private OutgoingConnection::Ear,
                         private Alarms::Alarm,
                         private Wakes::Ear {
 public:
  using State = LinkFigures::State;
  static constexpr uint64_t kRetryMs = 1000;
  static constexpr uint64_t kTellMs = 1000;
  // The same reason for a missing link is logged so long after the last line, again and again.
  static constexpr uint64_t kLogAgainMs = 60'000;
  // A longer line is no answer.
  static constexpr size_t kMostLineBytes = 4096;

  // Throws std::bad_alloc.
  MasterLink(Server& server, Disk& disk);
  ~MasterLink() override;
  // Of this server; makes it, with the real disk. Throws std::bad_alloc.
  static MasterLink& Of(Server& server);

  // Follows this master from now on, instead of another one. The keys stay until the master's are there. Throws std::bad_alloc.
  void Follow(const config::MasterAddress& master, Now now) {
    handover_ = Handover::kNone;
    Change(master, now);
  }
  // As Follow, of a replica of this server, which is asked to become the master: Failover hears of the answer.
  void TakeBackSeat(const config::MasterAddress& replica, Now now) {
    handover_ = Handover::kToAsk;
    Change(replica, now);
  }
  // Follows none: this server is a master, with the keys that it has. No effect if it is one.
  void FollowNone(Now now);

 private:
  enum class Handover : uint8_t {
    kNone,
    kToAsk,  // the next handshake asks the replica to become the master
    kAsked  // it was asked: it may be the master, though no answer came. Only an answer, or the operator, ends this.
  };

  void OnNews() noexcept override;
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) noexcept override;
  void OnSignal() noexcept override;

  void Change(const config::MasterAddress& master, Now now);
  // The question whether it becomes the master is answered.
  void TellOfHandover(bool is_master, Now now);
  void Become(State state, Now now) noexcept;
  // Brings up to date what CLIENT LIST shows of the link; `received`: bytes of the stream that have run.
  void Show(size_t received, Now now) noexcept;
  void Connect(Now now);
  // Goes on with what was received. Throws std::bad_alloc.
  void Work(Now now);
  void Answer(Now now);
  void EndHandshake(Now now);
  void Receive(Now now);
  void Load(Now now);
  void OnLoaded(const LoadResult& result);
  void Hear(Now now);
  void Tell();
  // Drops the link, and tries again later. `history`: the stream may go on.
  void Lose(std::string_view why, Now now, bool keeps_history = true) noexcept;
  void LogLoss(std::string_view why, Now now) noexcept;
  void Drop() noexcept;
  // Keeps expired keys hidden; those of a replica that takes writes of clients are freed.
  void HoldExpired() noexcept;
  // Whether this replica has the keys of its master decides who serves reads in a cluster.
  void NoteMasterKeys(bool has_them) noexcept;
  // Makes the link anew if this server may not get cutoffs any more: it has a replica that needs DELs.
  bool GivesUpCutoffs(Now now);
  // Refuses stale data if the options say so.
  void GateStaleData() noexcept;
  uint64_t timeout_ms() const noexcept;
  HandshakeTerms Terms() const;

  Server& server_;
  Disk& disk_;
  LinkFigures& figures_;
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  MasterCommands commands_;
  ChunkPool no_chunks_;
  Session shown_;                                   // LinkFigures::client
  std::unique_ptr<OutgoingConnection> connection_;  // null: none
  std::optional<Handshake> handshake_;
  bool gets_cutoffs_ = false;  // the stream may have some
  Handover handover_ = Handover::kNone;
  std::unique_ptr<Transfer> transfer_;  // with its file
  uint64_t retry_mono_ms_ = 0;
  uint64_t told_mono_ms_ = 0;
  std::string logged_;  // why the link was lost; "": nothing was logged since it was up
  uint64_t logged_mono_ms_ = 0;
};

}  // namespace mayfly
