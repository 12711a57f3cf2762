// A Session is the state of one client, without its socket.
//
// Ownership: the connection (src/net) owns its Session and the input. The Session owns the unwritten replies. Loop thread
// only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/memory/output.h"
#include "base/memory/shared_bytes.h"
#include "resp/parser.h"
#include "resp/writer.h"

namespace mayfly {

class User;
struct Parked;
struct Subscriptions;
struct TrackingState;
struct Transaction;

// Why a client's next request takes the slower way: one bit each, in Session::modes. A batch tests this word once for each
// request, so a mode costs only its client.
enum class Mode : uint32_t {
  kStranger = 1 << 0,       // must log in and has not
  kParked = 1 << 1,         // waits: `parked` is not null
  kResumed = 1 << 2,        // was woken between two requests; further input waits for the end of the turn
  kEnding = 1 << 3,         // reads no more; closes after `output` is written
  kDropped = 1 << 4,        // closes at once; `output` is lost
  kOutputFull = 1 << 5,     // holds more unread output than allowed
  kReplySkipped = 1 << 6,   // CLIENT REPLY is not ON
  kNoTouch = 1 << 7,        // CLIENT NO-TOUCH: its commands do not count as accesses to keys
  kSubscribed = 1 << 8,     // has subscriptions; under RESP2, few commands are allowed
  kRestricted = 1 << 9,     // each request is tested by the user's rules (User::tests_keys)
  kTransaction = 1 << 10,   // between MULTI and EXEC: its requests are queued
  kTracking = 1 << 11,      // CLIENT TRACKING: the server may remember the keys read
  kPushTarget = 1 << 12,    // receives the invalidation messages of another client
  kReadsReplica = 1 << 13,  // READONLY: a replica of a cluster serves its reads
  kMonitor = 1 << 15,       // MONITOR: receives a line for every call, and may use no key
  kReplica = 1 << 16,       // gets the stream of commands, or all keys before
  kMaster = 1 << 17,        // stands for the link to the master (server/figures/link_figures.h)
  // The server's modes, for every client (Server::modes). No session has these bits.
  kKeysHeld = 1 << 20,     // some keys' writers wait (ParkingLot::HoldKey)
  kFewReplicas = 1 << 21,  // fewer replicas are up to date than a write needs (min-replicas-to-write)
  kNoMaster = 1 << 22,  // a replica's link is down, and clients get no stale data (replica-serve-stale-data)
  kUnsaved = 1 << 23,   // the last save has failed: writes are refused (stop-writes-on-bgsave-error)
  kPaused = 1 << 24,    // CLIENT PAUSE, or all writers wait (ParkingLot::paused)
  kLoading = 1 << 25,   // a snapshot is loaded, and clients have to wait (load-mode wait)
  kBusy = 1 << 26,      // a script or a function has been running for too long
  kBusyFunction = 1 << 27,  // the long script is a function
  kObserved = 1 << 28,      // there is a call observer (exec/observe/call_observers.h)
  kClustered = 1 << 29,     // other daemons serve some slots (server/cluster/cluster.h)
  kNewRules = 1 << 30,      // users have changed since requests were planned
};

constexpr uint32_t BitOf(Mode mode) noexcept { return static_cast<uint32_t>(mode); }

// The replies wanted by a client (CLIENT REPLY).
enum class Replies : uint8_t {
  kOn,
  kOff,
  kSkipNext,  // from CLIENT REPLY SKIP until the begin of the next request
  kSkipping,  // during that request
};

// Names and versions from CLIENT SETNAME and SETINFO.
struct ClientNames {
  std::string name;
  std::string lib_name;
  std::string lib_version;
};

// A sender of requests, and the place of its replies. Most sessions belong to connections: Sessions knows these, and the
// loop writes their output. A session that was never added to Sessions belongs to another part, for instance to scripts: its
// replies stay in `output`, or go where the caller redirects them (exec/call/call.h).
struct Session {
  explicit Session(ChunkPool& chunks);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  bool Has(Mode mode) const noexcept { return (modes & BitOf(mode)) != 0; }
  void Set(Mode mode) noexcept { modes |= BitOf(mode); }
  // Returns true if the mode was set.
  bool Clear(Mode mode) noexcept {
    const bool was_set = Has(mode);
    modes &= ~BitOf(mode);
    return was_set;
  }
  void Put(Mode mode, bool set) noexcept { set ? Set(mode) : static_cast<void>(Clear(mode)); }

  // False while the session is parked, about to close, or holds too much unread output: none of its further requests runs.
  static constexpr uint32_t kMayNotRun = BitOf(Mode::kParked) | BitOf(Mode::kResumed) | BitOf(Mode::kEnding) |
                                         BitOf(Mode::kDropped) | BitOf(Mode::kOutputFull);
  bool MayRun() const noexcept { return (modes & kMayNotRun) == 0; }
  bool closes() const noexcept { return (modes & (BitOf(Mode::kEnding) | BitOf(Mode::kDropped))) != 0; }
  // True if Sessions knows the session; the loop then writes the output.
  bool attached() const noexcept { return id != 0; }

  // The logged-in user; null: nobody.
  const User* user() const noexcept { return user_; }
  // True if some call is forbidden to the user.
  bool restricted() const noexcept;
  void LogIn(const User* user) noexcept;

  // The last setting by CLIENT REPLY.
  Replies replies() const noexcept { return replies_; }
  void SetReplies(Replies replies) noexcept {
    replies_ = replies;
    Put(Mode::kReplySkipped, replies != Replies::kOn);
  }
  const ClientNames& names() const noexcept {
    static const ClientNames kNone;
    return names_ != nullptr ? *names_ : kNone;
  }
  // Throws std::bad_alloc.
  ClientNames& MutableNames() {
    if (names_ == nullptr) names_ = std::make_unique<ClientNames>();
    return *names_;
  }
  std::string_view local_text() const noexcept { return local ? local.view() : std::string_view(); }
  ChunkPool& pool() const noexcept { return output.pool(); }
  // Discards replies from now on: replies go to a chain that is never written. Speak ends the silence.
  void Silence() {
    SideOutputs& side = MakeSideOutputs();
    if (side.unwanted == nullptr) side.unwanted = NewSideOutput();
    reply.Redirect(*side.unwanted);
  }
  void Speak() noexcept {
    reply.Redirect(output);
    if (side_outputs_ != nullptr) side_outputs_->unwanted.reset();
  }
  // Receives unwanted replies; null if the client wants replies.
  OutputChain* unwanted() const noexcept {
    return side_outputs_ != nullptr ? side_outputs_->unwanted.get() : nullptr;
  }
  // The place of messages beside the replies (pushes), even while CLIENT REPLY discards replies. While a request of this
  // client runs, the pushes wait for the reply. Throws std::bad_alloc.
  OutputChain& PushOutput() {
    if (!in_request) return output;
    SideOutputs& side = MakeSideOutputs();
    if (side.late_pushes == nullptr) side.late_pushes = NewSideOutput();
    return *side.late_pushes;
  }
  // The messages that wait for the end of a request; mostly null.
  std::unique_ptr<OutputChain> TakeLatePushes() noexcept {
    return side_outputs_ != nullptr ? std::move(side_outputs_->late_pushes) : nullptr;
  }
  // A message to this client is lost: there was no memory, or the message exceeds the limit of the output. The client will
  // be closed; if `output` is full, at the end of the turn and with a line in the log.
  void LoseMessage() noexcept {
    static_cast<void>(pool().TakeFailed());  // the failure concerns no reply
    if (!output.full()) Set(Mode::kDropped);
  }
  // Writes a message in the client's protocol. Throws std::bad_alloc.
  resp::Writer Pusher() { return resp::Writer(PushOutput(), reply.version()); }

  // In an order without gaps: each of ten thousand idle clients has all these members.
  uint32_t modes = BitOf(Mode::kStranger);
  int fd = -1;
  uint64_t id = 0;    // unique, never reused
  std::string peer;   // "127.0.0.1:50312", "[::1]:50312", "/path:0" for a unix socket
  SharedBytes local;  // likewise, of the server's end; null: unknown

  resp::Parser parser;
  OutputChain output;
  resp::Writer reply;

  unsigned db = 0;
  bool over_unix_socket = false;
  bool no_evict = false;    // CLIENT NO-EVICT: maxmemory-clients does not close it
  bool dirty = false;       // in the list of Sessions::TakeDirty
  bool in_request = false;  // a request runs of a client that may get pushes

  uint64_t created_mono_ms = 0;
  uint64_t active_mono_ms = 0;                // the time of the last command
  const std::string* last_command = nullptr;  // full name in the command table; null before the first
  uint64_t commands = 0;                      // without refused requests
  uint64_t net_input_bytes = 0;               // read from its socket
  uint64_t net_output_bytes = 0;              // written to its socket

  std::unique_ptr<Transaction> transaction;      // null before WATCH and MULTI
  std::unique_ptr<Subscriptions> subscriptions;  // null without any
  std::unique_ptr<TrackingState> tracking;       // null unless CLIENT TRACKING is on

  Parked* parked = nullptr;  // not null while the client is blocked
  // The incomplete request kept by the connection: its bytes, and the memory that holds the bytes.
  uint64_t input_bytes = 0;
  uint64_t input_memory = 0;
  uint32_t failed_logins = 0;  // in a row, since the last success

 private:
  // The outputs that few clients have, beside `output`.
  struct SideOutputs {
    std::unique_ptr<OutputChain> unwanted;
    std::unique_ptr<OutputChain> late_pushes;
  };
  // A side output has the limit of `output`.
  std::unique_ptr<OutputChain> NewSideOutput() const {
    auto side = std::make_unique<OutputChain>(pool());
    side->set_limit(output.limit());
    return side;
  }
  SideOutputs& MakeSideOutputs() {
    if (side_outputs_ == nullptr) side_outputs_ = std::make_unique<SideOutputs>();
    return *side_outputs_;
  }

  Replies replies_ = Replies::kOn;
  std::unique_ptr<SideOutputs> side_outputs_;  // null: none
  std::unique_ptr<ClientNames> names_;         // null: none
  const User* user_ = nullptr;
};

}  // namespace mayfly
