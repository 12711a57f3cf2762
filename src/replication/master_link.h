// Follows a master: makes this server a replica of a redis-server, a valkey-server or another master with Redis's protocol.
//
//   kConnect --> kConnecting --> kHandshake --+--> kTransfer --> kLoading --+--> kConnected: the stream of commands
//      ^                                      +-----------------------------+        |
//      +------------------ a break, or repl-timeout without a byte ------------------+
//
// After a break the stream goes on at the same place if the master still has the missed bytes; otherwise the master sends all
// keys again. The keys arrive as a file, and the server serves the present keys meanwhile. Only a complete file with the
// right checksum replaces the present keys: garbage or half a file does no harm.
//
// While this server follows a master, the master decides when keys go: expired keys are hidden and kept until the master
// deletes them, nothing is evicted (replica-ignore-maxmemory), and clients may not write (replica-read-only).
//
// With tls-replication the connection uses TLS. The replica sends its offset to the master each second. While the link is up,
// CLIENT LIST has a line for the link, and CLIENT KILL breaks the link: the stream goes on over a new connection.
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
#include "replication/stale_drop.h"
#include "replication/transfer.h"
#include "server/clients/session.h"
#include "server/figures/link_figures.h"
#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/hubs/turn_ends.h"
#include "server/hubs/wakes.h"
#include "server/outgoing.h"
#include "server/server.h"

namespace mayfly {

class Disk;
struct LoadResult;

class MasterLink final : public LatePart,
                         private OutgoingConnection::Listener,
                         private Alarms::Alarm,
                         private TurnEnds::Listener,
                         private Wakes::Listener {
 public:
  using State = LinkFigures::State;
  static constexpr uint64_t kRetryMs = 1000;
  // A master's snapshot that this version cannot read is asked for again after kRetryMs, and then after twice the last pause, up to
  // this one.
  static constexpr uint64_t kMostRetryMs = 60'000;
  static constexpr uint64_t kTellMs = 1000;
  // The same reason for a missing link is logged again after this time.
  static constexpr uint64_t kLogAgainMs = 60'000;
  // A longer line is not an answer.
  static constexpr size_t kMostLineBytes = 4096;
  // So many bytes of the stream run in a turn: some thousand commands. The rest waits for the next turn. A transaction runs in one
  // turn whatever its length.
  static constexpr size_t kMostHeard = size_t{64} << 10;

  // Throws std::bad_alloc.
  MasterLink(Server& server, Disk& disk);
  ~MasterLink() override;
  // This server's link, made on first use, with the real disk. Throws std::bad_alloc.
  static MasterLink& Of(Server& server);

  // Follows this master from now on, instead of another. The keys stay until the master's keys are loaded. Throws
  // std::bad_alloc.
  void Follow(const config::MasterAddress& master, Now now) {
    handover_ = Handover::kNone;
    Change(master, now);
  }
  // The operator has named the present master once more: a pause before the next try ends.
  void TryNow(Now now) noexcept;
  // Follows a replica of this server, and asks the replica to become the master. Failover gets the answer.
  void FollowAndHandOver(const config::MasterAddress& replica, Now now) {
    handover_ = Handover::kToAsk;
    Change(replica, now);
  }
  // Follows no master: this server becomes a master with its present keys. No effect if this server is a master.
  void FollowNone(Now now) noexcept;

 private:
  enum class Handover : uint8_t {
    kNone,
    kToAsk,  // the next handshake asks the replica to become the master
    kAsked  // asked without an answer yet: the replica may be the master. Only an answer, or the operator, ends this.
  };

  void OnNews() noexcept override;
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) noexcept override;
  void OnSignal() noexcept override;
  void OnTurnEnd(Now now) noexcept override;

  void Change(const config::MasterAddress& master, Now now);
  // Tells Failover whether the replica has become the master.
  void TellOfHandover(bool is_master, Now now) noexcept;
  void Become(State state, Now now) noexcept;
  // Updates the link's line in CLIENT LIST; `received`: bytes of the stream that have run.
  void Show(size_t received, Now now) noexcept;
  void Connect(Now now);
  // Processes the received bytes. Throws std::bad_alloc.
  void Work(Now now);
  void Answer(Now now);
  void EndHandshake(Now now);
  void Receive(Now now);
  void Load(Now now);
  void OnLoaded(const LoadResult& result);
  // Throws std::bad_alloc.
  void BeginStream(const LoadResult& result, Now now);
  void Hear(Now now);
  void Tell();
  // Drops the link, and tries again later. `keeps_history`: the stream may go on.
  void Lose(std::string_view why, Now now, bool keeps_history = true) noexcept;
  // Likewise, after a snapshot that would not be known at the next try either.
  void PutOff(const LoadResult& result, Now now) noexcept;
  void LogLoss(std::string_view why, Now now) noexcept;
  void Drop() noexcept;
  // Tells the cluster whether this replica has its master's keys, and so may serve reads.
  void NoteMasterKeys(bool has_them) noexcept;
  // Makes the link anew if a replica of this server needs DELs instead of cutoffs. Returns true if so.
  bool GivesUpCutoffs(Now now);
  // Refuses stale data if replica-serve-stale-data is off.
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
  StaleDrop stale_drop_;
  bool gets_cutoffs_ = false;  // the stream may have cutoffs
  Handover handover_ = Handover::kNone;
  std::unique_ptr<Transfer> transfer_;  // owns the file
  size_t heard_ = 0;                    // bytes of the stream that have run in this turn
  uint64_t retry_mono_ms_ = 0;
  // The last pause of PutOff; 0: none since the link was up, or since the operator named a master.
  uint64_t pause_ms_ = 0;
  // The log names what was left out of the snapshot before that pause.
  bool left_out_told_ = false;
  uint64_t told_mono_ms_ = 0;
  std::string logged_;  // the last logged reason for a lost link; "": none since the link was up
  uint64_t logged_mono_ms_ = 0;
};

}  // namespace mayfly
