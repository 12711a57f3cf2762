// This server's replicas: servers of Redis, Valkey or Mayfly that follow this server.
//
//   SYNC, PSYNC --> kWaits --> kSending: a snapshot --> kLoads --REPLCONF ACK--> kOnline: the stream of commands
//       \                                                                        ^
//        +---- PSYNC with a history and a place in the backlog ------------------+
//
// A snapshot begins at a place of the stream. When the replica has loaded the snapshot, the stream goes on from this place.
// One snapshot is sent at a time; other replicas wait. The stream begins with the first replica, and ends repl-backlog-ttl
// after the last replica has left. Without a stream a change costs nothing.
//
// A replica's output gets little of the stream at once (kInOutput); the rest waits in the backlog. A replica further behind
// than client-output-buffer-limit allows for replicas is dropped, which limits the backlog.
//
// While this server follows a master, its stream is the master's, byte for byte: this server's replicas count the same bytes.
// When this server becomes a master, the stream goes on at the same place under another name (history), and the old name
// stays known. The old master and the old master's other replicas may then go on at their places.
//
//   kNone --the first replica--> kChanges --REPLICAOF--> kNone --the link is up--> kRelay --REPLICAOF NO ONE--> kChanges
//
// While all readers of the stream support cutoffs, cutoffs report expired keys (replication/cutoff.h). A replica without
// support for cutoffs cannot go on within a part of the stream with cutoffs. Its snapshot waits until no more cutoffs come. A
// server that relays a master's stream makes its link anew for such a replica, and tells the master
// (MasterLink::GivesUpCutoffs).
//
// If memory runs out for the stream, the stream ends: all replicas are dropped, and get all keys again when they return.
//
// Borrows the server. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "config/settings.h"
#include "replication/backlog.h"
#include "replication/change_stream.h"
#include "server/clients/session.h"
#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/hubs/client_ends.h"
#include "server/hubs/hubs.h"
#include "server/hubs/turn_ends.h"
#include "server/server.h"
#include "snapshot/sync_wishes.h"

namespace mayfly {

struct Session;

// A client that waits until replicas have confirmed all changes before.
class ReplicaWait;

class Replicas final : public LatePart,
                       private TurnEnds::Listener,
                       private Alarms::Alarm,
                       private ClientEnds::Listener {
 public:
  // A replica's output holds at most this much of the stream.
  static constexpr size_t kInOutput = size_t{1} << 20;
  // The interval between checks of a replica that is behind.
  static constexpr uint64_t kLookMs = 2;
  static constexpr uint64_t kTickMs = 1000;

  explicit Replicas(Server& server);
  ~Replicas() override;
  // This server's replicas, made on first use. Throws std::bad_alloc.
  static Replicas& Of(Server& server);
  // Null in tests without replication.
  static Replicas* IfMade(Server& server) noexcept { return static_cast<Replicas*>(server.replicas.get()); }

  // ---- what replicas ask for
  //
  // Begins to send the stream of `history` from `place` on. Returns false if this is not possible. Throws std::bad_alloc.
  bool Continue(Session& session, const SyncWish& wish, std::string_view history, int64_t place, Now now);
  // Sends a snapshot as soon as no other snapshot is under way, and then the stream. The caller parks the client, as long as
  // IsAwaited. Throws std::bad_alloc. `partial`: the replica knows PSYNC.
  void SendAll(Session& session, const SyncWish& wish, bool partial, Now now);
  // True while the client waits for a snapshot to begin or to end.
  bool IsAwaited(const Session& session) const noexcept;
  // The replica has everything up to `place`, and in its append-only file everything up to `durable`; -1: no such file. No
  // effect if the client is not a replica.
  void Confirm(const Session& session, int64_t place, int64_t durable, Now now);
  std::string_view history() const noexcept;
  // True if all readers of this server's stream may get cutoffs.
  bool MayUseCutoffs() const noexcept;
  std::optional<int64_t> told_clock_distance_ms() const noexcept { return stream_.told_clock_distance_ms(); }

  // ---- what clients ask for
  //
  // Sends replicas a request that changes no key: a message, a library of functions.
  static void Forward(Server& server, unsigned database, std::span<const std::string_view> words) noexcept {
    Replicas* const replicas = IfMade(server);
    if (replicas != nullptr && replicas->stream_.running()) replicas->stream_.Send(database, words);
  }
  // Writes all changes so far, and returns the place of the stream after the last change. More may be promised (IsComplete).
  int64_t PlaceOfNow(Now now);
  // True if the stream has, or gets at the end of this turn, whatever this server has promised up to this doom
  // (Databases::IsDone).
  bool IsComplete(uint64_t doom) const noexcept;
  bool IsComplete() const noexcept { return IsComplete(last_doom()); }
  uint64_t last_doom() const noexcept;
  // The same place, for use at the end of a turn.
  int64_t last_change() const noexcept { return last_change_; }
  // The place after the last change or sign of life, for use at the end of a turn: only questions to confirm follow.
  int64_t last_word() const noexcept { return last_word_; }
  // Returns the address of a replica that has everything of the stream and may take it over, so that this server goes on at its
  // own place; only of `wanted`, if given. Throws std::bad_alloc.
  std::optional<config::MasterAddress> FindComplete(const std::optional<config::MasterAddress>& wanted) const;
  // Has: a replica has this address. IsOnline: the replica also gets the stream.
  bool Has(const config::MasterAddress& address) const noexcept { return FindAt(address) != nullptr; }
  bool IsOnline(const config::MasterAddress& address) const noexcept;
  bool any() const noexcept { return !replicas_.empty(); }
  // The number of replicas that have confirmed `place`; ConfirmedDurable: in their append-only files.
  size_t Confirmed(int64_t place) const noexcept;
  size_t ConfirmedDurable(int64_t place) const noexcept;
  // The number of replicas that confirm by themselves, and have not confirmed `place`.
  size_t Lagging(int64_t place) const noexcept;
  // Logs how far each replica is behind, and how many replicas have everything. For the end of a turn.
  void TellOfLagging(Log& log) const;
  // Like PlaceOfNow, but within a transaction. While the stream lacks the changes of the transaction, or promised ones, no
  // replica has confirmed the returned place.
  int64_t PlaceAfterThis() const noexcept {
    return stream_.empty() && IsComplete() ? last_change_ : backlog_.end() + 1;
  }
  // At the end of the turn, asks the replicas to confirm the stream.
  void AskToConfirm() noexcept {
    asks_ = true;
    AskForTurn();
  }
  // Adds a client to wake when a replica confirms. Throws std::bad_alloc.
  void AddWait(ReplicaWait& wait) { waits_.push_back(&wait); }
  void RemoveWait(ReplicaWait& wait) noexcept { std::erase(waits_, &wait); }

  // Refuses clients' writes while a master has fewer good replicas than min-replicas-to-write. Called also when this server
  // begins to follow a master: then writes need no replicas.
  void GateWrites(Now now) noexcept;

  // ---- the master's stream (replication/master_link.h)
  //
  // This server follows a master from now on: the stream stands still, and the replicas are dropped. history() and place()
  // say how much of the stream this server has.
  void StandStill(Now now) noexcept;
  // The master's stream comes from now on: after a snapshot, from `place` on, or with the next byte of the present stream,
  // perhaps under another name.
  struct Relayed {
    std::string_view history;
    int64_t place;
    unsigned database;
    bool may_cut_off;  // the stream may have cutoffs
  };
  void BeginRelay(const Relayed& stream, Now now);
  void ResumeRelaying(std::string_view history, bool may_cut_off, Now now);
  // Appends bytes of the master's stream that have taken effect here. `database`: selected after the bytes.
  void Relay(std::string_view bytes, unsigned database, bool has_cutoff) noexcept;
  // This server's keys belong to no stream any more.
  void Forget(Now now) noexcept;
  // This server is a master: the stream goes on with its own changes, or ends if memory runs out. `had_cutoff`: a cutoff of the
  // master is in force.
  void TakeOver(bool had_cutoff, Now now) noexcept;
  int64_t place() const noexcept { return backlog_.end(); }

 private:
  enum class Source : uint8_t { kNone, kChanges, kRelay };
  enum class State : uint8_t { kWaits, kSending, kLoads, kOnline };
  struct Replica {
    Session* session;
    State state;
    bool plain;          // a server that may be older than Redis 7.4
    bool takes_cutoffs;  // and its own replicas do, too
    bool confirms;       // by itself, each second: the replica knows PSYNC
    std::string address;
    uint16_t port;
    int64_t place;      // of the next byte for the replica's output
    int64_t confirmed;  // by the replica
    int64_t durable;    // in the append-only file; -1: nothing
    uint64_t heard_mono_ms;
    uint64_t above_soft_since_mono_ms = 0;  // 0: not above

    // False also for a replica that is being dropped: it may lack a change that the stream had no memory for.
    bool counts() const noexcept { return state == State::kOnline && !session->closes(); }
  };

  void OnTurnEnd(Now now) noexcept override {
    if (HasWork()) SendAtTurnEnd(now);
    HearEachTurn(HasWork());
  }
  bool HasWork() const noexcept { return !stream_.empty() || asked_ || busy_; }
  void SendAtTurnEnd(Now now) noexcept;
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  void OnClientEnd(Session& session) noexcept override;

  // Asks for work at the end of this turn.
  void AskForTurn() noexcept {
    asked_ = true;
    server_.hubs.turn_ends.Ask();
  }
  // True if a replica waits for a snapshot or gets one.
  bool AnyAwaitsKeys() const noexcept;
  // Writes the changes into the stream. Throws std::bad_alloc.
  void Flush(Now now);
  // Gives waits their places if the stream is complete for them. REQUIRES: the stream has all changes so far.
  void GivePlaces() noexcept;
  bool AnyUnsettled() const noexcept;
  void WakeIfReached(ReplicaWait& wait) noexcept;
  const Replica* FindAt(const config::MasterAddress& address) const noexcept;
  Replica* Find(const Session& session) noexcept;
  const Replica* Find(const Session& session) const noexcept;
  Replica& Add(Session& session, const SyncWish& wish, State state, Now now);
  void StartStream();
  // Ends the stream, and drops all replicas.
  void EndStream(std::string_view why, Now now) noexcept;
  void DropAll(std::string_view why) noexcept;
  std::string DrawHistory();
  // Gives the stream another name. The old name stays known up to here.
  void Rename(std::string history);
  bool IsKnown(std::string_view history, int64_t place) const noexcept;
  // True if a replica would be dropped at once (client-output-buffer-limit): one command may be longer than the limit, and
  // stays in the backlog.
  bool IsBeyondLimit(int64_t place) const noexcept;
  // True if a server without cutoffs may read the stream from this place on.
  bool IsFreeOfCutoffs(int64_t place) const noexcept {
    return place >= cutoff_place_ && !(source_ == Source::kRelay && relay_may_cut_off_);
  }
  // Uses cutoffs if all replicas support cutoffs.
  void ChooseCutoffs() noexcept { stream_.UseCutoffs(source_ == Source::kChanges && MayUseCutoffs()); }
  // Ends the stream after memory has run out.
  void Break(Now now) noexcept;
  void Drop(Replica& replica, std::string_view why) noexcept;
  // Begins the next snapshot, and notices the end of a snapshot.
  void ContinueSending(Now now);
  void BeginSnapshot(Replica& replica, Now now);
  // Frees the keys cut off by this server's own stream: replicas do not have these keys any more.
  void FreeCutOff(Now cutoff, Now now);
  // Moves bytes of the stream to the outputs.
  void Pump(Now now);
  void PumpTo(Replica& replica, Now now);
  bool IsTooFarBehind(Replica& replica, Now now) const noexcept;
  void Tick(Now now);
  bool IsSilent(const Replica& replica, Now now) const noexcept;
  // Updates the figures of the backlog; also after the stream's end, when no turn updates them any more.
  void CountBacklog() noexcept;
  // Updates all figures.
  void Publish(Now now) noexcept;

  Server& server_;
  Backlog backlog_;
  ChangeStream stream_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<ReplicaWait*> waits_;
  Source source_ = Source::kNone;
  int64_t last_change_ = 0;  // the place after the last change of a key: only signs of life follow
  int64_t last_word_ = 0;
  unsigned relayed_database_ = 0;  // selected in the master's stream
  bool relay_may_cut_off_ = false;
  int64_t cutoff_place_ = 0;  // the place after the last cutoff
  int64_t last_without_cutoffs_ =
      0;                // where the last replica without cutoffs left: the replica may come back
  bool named_ = false;  // the first name, the run's ID, was used
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  bool asks_ = false;    // replicas have to be asked to confirm
  bool asked_ = false;   // work besides changes waits for the end of this turn
  bool busy_ = false;    // every turn may have work: a replica lacks something
  bool behind_ = false;  // a replica's output is full
  uint64_t tick_mono_ms_ = 0;
  uint64_t pinged_mono_ms_ = 0;
  uint64_t lonely_since_mono_ms_ = 0;
};

}  // namespace mayfly
