// This server's replicas: other servers that follow this one, of Redis, of Valkey or of Mayfly.
//
//   SYNC, PSYNC --> kWaits --> kSending: a snapshot --> kLoads --REPLCONF ACK--> kOnline: the stream of commands
//       \                                                                        ^
//        +---- PSYNC of a history and a place that the backlog has ---------------+
//
// A snapshot begins at a place of the stream, and the stream goes on from there when the replica has loaded the snapshot. One
// snapshot is sent at a time; other replicas wait. The stream is written from the first replica on, and for repl-backlog-ttl after
// the last one has left; without it a change costs nothing.
//
// A replica's output gets little of the stream at once; the rest waits in the backlog. A replica that is further behind than
// client-output-buffer-limit allows for replicas is dropped, so the backlog does not grow without end.
//
// While this server follows a master itself, the stream is the master's, byte for byte, and its replicas get that: they count the
// same bytes. When it becomes a master the stream goes on at the same place under another name (history), and the old name stays
// known: so the other replicas of the old master, and the old master, may go on where they were.
//
//   kNone --the first replica--> kChanges --REPLICAOF--> kNone --the link is up--> kRelay --REPLICAOF NO ONE--> kChanges
//
// While all who read the stream know cutoffs, expired keys are told by these (replication/cutoff.h). A server that does not know
// them cannot go on within a part of the stream that has some, and waits for its snapshot until none comes any more: a server that
// relays a master's stream makes its link anew, and tells the master (MasterLink::GivesUpCutoffs).
//
// If memory runs out for the stream, it is of no more use: all replicas are dropped, and get everything anew when they return.
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
#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/hubs/client_ends.h"
#include "server/hubs/hubs.h"
#include "server/hubs/turn_ends.h"
#include "server/server.h"
#include "snapshot/sync_wishes.h"

namespace mayfly {

struct Session;

// A client that waits until replicas have confirmed what came before.
class ReplicaWait;

class Replicas final : public LatePart,
                       private TurnEnds::Ear,
                       private Alarms::Alarm,
                       private ClientEnds::Ear {
 public:
  // So much of the stream is in a replica's output at most.
  static constexpr size_t kInOutput = size_t{1} << 20;
  // A replica that is behind is looked at so often.
  static constexpr uint64_t kLookMs = 2;
  static constexpr uint64_t kTickMs = 1000;

  explicit Replicas(Server& server);
  ~Replicas() override;
  // Of this server; makes them. Throws std::bad_alloc.
  static Replicas& Of(Server& server);
  // Null in tests that have no replication.
  static Replicas* IfMade(Server& server) noexcept { return static_cast<Replicas*>(server.replicas.get()); }

  // ---- what replicas ask for
  //
  // Begins to send the stream of this history from `place` on, if that is possible. Throws std::bad_alloc.
  bool Continue(Session& session, const SyncWish& wish, std::string_view history, int64_t place, Now now);
  // Sends a snapshot as soon as none is under way, and then the stream. The caller parks the client, as long as IsAwaited. Throws
  // std::bad_alloc. `partial`: the replica knows PSYNC.
  void SendAll(Session& session, const SyncWish& wish, bool partial, Now now);
  // The client waits for its snapshot, or for the end of it.
  bool IsAwaited(const Session& session) const noexcept;
  // The replica has everything up to this place; `durable`: up to this place it is in its append-only file, -1 if it has none. No
  // effect if the client is no replica.
  void Confirm(const Session& session, int64_t place, int64_t durable, Now now);
  std::string_view history() const noexcept;
  // Whoever reads this server's stream may get cutoffs.
  bool MayUseCutoffs() const noexcept;
  std::optional<int64_t> told_distance_ms() const noexcept { return stream_.told_distance_ms(); }

  // ---- what clients ask for
  //
  // Replicas run this request, too, which changes no key: a message, a library of functions.
  static void Forward(Server& server, unsigned database, std::span<const std::string_view> words) noexcept {
    Replicas* const replicas = IfMade(server);
    if (replicas != nullptr && replicas->stream_.running()) replicas->stream_.Send(database, words);
  }
  // The place of the stream after everything that was changed so far.
  int64_t PlaceOfNow(Now now);
  // Likewise, at the end of a turn.
  int64_t last_change() const noexcept { return last_change_; }
  // The address of a replica that has confirmed this place: of `wanted`, if it is not empty. Throws std::bad_alloc.
  std::optional<config::MasterAddress> FindConfirmed(const std::optional<config::MasterAddress>& wanted,
                                                     int64_t place) const;
  // Whether there is such a replica, and whether it gets the stream.
  bool Has(const config::MasterAddress& address) const noexcept { return FindAt(address) != nullptr; }
  bool IsOnline(const config::MasterAddress& address) const noexcept;
  bool any() const noexcept { return !replicas_.empty(); }
  // The number of replicas that have confirmed this place.
  size_t Confirmed(int64_t place) const noexcept;
  size_t ConfirmedDurable(int64_t place) const noexcept;
  // The number of replicas that confirm by themselves, and have not confirmed this place.
  size_t Lagging(int64_t place) const noexcept;
  // Says how far behind they are, and how many are not, at the end of a turn.
  void TellOfLagging(Log& log) const;
  // As PlaceOfNow, within a transaction that is not in the stream yet: nobody has confirmed it.
  int64_t PlaceAfterThis() const noexcept { return stream_.empty() ? last_change_ : backlog_.end() + 1; }
  // Asks the replicas, at the end of the turn, to confirm what they have.
  void AskToConfirm() noexcept {
    asks_ = true;
    AskForTurn();
  }
  // Those who are woken when a replica confirms something. Throws std::bad_alloc.
  void AddWait(ReplicaWait& wait) { waits_.push_back(&wait); }
  void RemoveWait(ReplicaWait& wait) noexcept { std::erase(waits_, &wait); }

  // ---- the master's stream (replication/master_link.h)
  //
  // This server follows a master from now on: its stream stands still, and the replicas are dropped. What history() and place()
  // say is what this server has of it.
  void StandStill(Now now) noexcept;
  // The master's stream comes from now on, from this place: after a snapshot, or with the next byte of the present stream, perhaps
  // under another name.
  struct Relayed {
    std::string_view history;
    int64_t place;
    unsigned database;
    bool may_cut_off;  // it may have cutoffs
  };
  void BeginRelay(const Relayed& stream, Now now);
  void GoOnRelaying(std::string_view history, bool may_cut_off, Now now);
  // These bytes of it have taken effect here; now this database is selected.
  void Relay(std::string_view bytes, unsigned database, bool has_cutoff) noexcept;
  // What this server has is of no stream any more.
  void Forget(Now now) noexcept;
  // This server is a master: the stream goes on with its own changes. `had_cutoff`: the master's had one that counts. Throws
  // std::bad_alloc.
  void TakeOver(bool had_cutoff, Now now);
  int64_t place() const noexcept { return backlog_.end(); }

 private:
  enum class Source : uint8_t { kNone, kChanges, kRelay };
  enum class State : uint8_t { kWaits, kSending, kLoads, kOnline };
  struct Replica {
    Session* session;
    State state;
    bool plain;          // a server that may be older than Redis 7.4
    bool takes_cutoffs;  // and so do its own replicas
    bool confirms;       // by itself, each second: it knows PSYNC
    std::string address;
    uint16_t port;
    int64_t place;      // in the stream, of the next byte for its output
    int64_t confirmed;  // by the replica
    int64_t durable;    // likewise, -1: nothing
    uint64_t heard_mono_ms;
    uint64_t above_soft_since_mono_ms = 0;  // 0: it is not
  };

  void OnTurnEnd(Now now) noexcept override {
    if (!stream_.empty() || asked_ || busy_) SendAtTurnEnd(now);  // nothing at the end of most turns
  }
  void SendAtTurnEnd(Now now) noexcept;
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  void OnClientEnd(Session& session) noexcept override;

  // There is work at the end of this turn.
  void AskForTurn() noexcept {
    asked_ = true;
    server_.hubs.turn_ends.Ask();
  }
  // A replica waits for its snapshot, or gets it.
  bool AnyAwaitsKeys() const noexcept;
  // Writes what has changed into the stream. Throws std::bad_alloc.
  void Flush(Now now);
  const Replica* FindAt(const config::MasterAddress& address) const noexcept;
  Replica* Find(const Session& session) noexcept;
  const Replica* Find(const Session& session) const noexcept;
  Replica& Add(Session& session, const SyncWish& wish, State state, Now now);
  void StartStream();
  // Ends the stream, and drops those who read it.
  void EndStream(std::string_view why, Now now) noexcept;
  void DropAll(std::string_view why) noexcept;
  std::string DrawHistory();
  // The stream gets another name, and is known by the old one up to here.
  void Rename(std::string history);
  bool IsKnown(std::string_view history, int64_t place) const noexcept;
  // A server that knows no cutoffs may read the stream from this place on.
  bool IsFreeOfCutoffs(int64_t place) const noexcept {
    return place >= cutoff_place_ && !(source_ == Source::kRelay && relay_may_cut_off_);
  }
  // Uses cutoffs if all replicas take them.
  void ChooseCutoffs() noexcept { stream_.UseCutoffs(source_ == Source::kChanges && MayUseCutoffs()); }
  // Memory has run out for the stream.
  void Break(Now now) noexcept;
  void Drop(Replica& replica, std::string_view why) noexcept;
  // Begins the next snapshot, and notices the end of one.
  void GoOnSending(Now now);
  void BeginSnapshot(Replica& replica, Now now);
  // Frees what this server's own stream has cut off: replicas have no such keys any more.
  void FreeCutOff(Now cutoff, Now now);
  // Moves bytes of the stream to the outputs.
  void Pump(Now now);
  void PumpTo(Replica& replica, Now now);
  bool IsTooFarBehind(Replica& replica, Now now) const noexcept;
  void Tick(Now now);
  bool IsSilent(const Replica& replica, Now now) const noexcept;
  // Brings up to date what others see of the backlog: also at its end, when no turn looks at it any more.
  void CountBacklog() noexcept;
  // Brings up to date what others see.
  void Publish(Now now) noexcept;
  void GateWrites(Now now) noexcept;

  Server& server_;
  Backlog backlog_;
  ChangeStream stream_;
  std::vector<std::unique_ptr<Replica>> replicas_;
  std::vector<ReplicaWait*> waits_;
  Source source_ = Source::kNone;
  int64_t last_change_ = 0;        // the place after the last change of a key: what follows are signs of life
  unsigned relayed_database_ = 0;  // that is selected in the master's stream
  bool relay_may_cut_off_ = false;
  int64_t cutoff_place_ = 0;  // the place after the last cutoff
  int64_t barred_place_ = 0;  // where the last replica has left that takes no cutoffs: it may come back
  bool named_ = false;        // the first name, that of the run, was used
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  bool asks_ = false;    // the replicas to confirm
  bool asked_ = false;   // for work at the end of this turn, apart from changes
  bool busy_ = false;    // every turn may have work: a replica has not got everything
  bool behind_ = false;  // a replica's output is full
  uint64_t tick_mono_ms_ = 0;
  uint64_t pinged_mono_ms_ = 0;
  uint64_t lonely_since_mono_ms_ = 0;
};

}  // namespace mayfly
