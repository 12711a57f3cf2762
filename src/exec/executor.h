// From bytes to replies: parses the requests that a client sent, looks ahead over the batch, and runs them.
//
//   input --Parser--> a batch of requests --hash, prefetch groups, prefetch entries--> dispatch one by one
//
// Dispatch: look-up, arity, permissions, memory, handler, timing. Look-ahead only warms caches: each command
// looks its key up again, because an earlier one of the batch may have moved it. A batch ends behind a
// command that changes session state, and a protocol error is answered in its order. The clock is read at the
// start of a turn (RefreshNow, by the loop) and again once kStaleUs have gone by, so after a slow command
// too. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "exec/context.h"
#include "resp/parser.h"

namespace mayfly {

class Executor {
 public:
  static constexpr size_t kBatchRequests = 64;
  static constexpr uint64_t kStaleUs = 200;
  // Entries that one command evicts at most before it runs; the rest goes on in the next turns.
  static constexpr size_t kEvictionsPerCommand = 64;

  explicit Executor(Server& server);

  // Runs the complete requests at the front of `input`, appending to session.output; returns the bytes
  // consumed. What is left is incomplete, or waits because the session was parked or is to be closed. Marks
  // the session dirty when there is something to write or to close.
  size_t Run(Session& session, std::string_view input);

  // Runs one request whose arguments are at hand: of a parked client, later of a transaction or a script.
  void Dispatch(Session& session, std::span<const std::string_view> arguments,
                const Parked* resumed = nullptr);

  // Runs again what was woken since the last call. The sessions that came free may have more input waiting:
  // `freed` is called with each of them.
  template <typename Freed>
  void RunWoken(Freed&& freed) {
    while (const std::unique_ptr<Parked> woken = server_.parking.TakeWoken()) {
      Session& session = *woken->session;
      Resume(*woken);
      if (session.parked == nullptr) freed(session);
    }
  }

  // Evicts at most `budget` entries while over a limit; true where it must go on.
  bool EvictSome(size_t budget);

  // Reads the clock.
  Now RefreshNow() noexcept;
  Now now() const noexcept { return now_; }

 private:
  struct Planned {
    resp::Request request;
    const TableRow* row;  // null: unknown
    uint64_t hash;        // of the first key; 0 where there is none
    size_t end;           // offset behind it in the input
    HeapRef guess;        // for look-ahead alone
  };

  // Parses ahead from input[from..]; false when the client broke the protocol.
  bool Plan(Session& session, std::string_view input, size_t from);
  void LookAhead(const Session& session) noexcept;
  // Runs what was planned; the offset behind the last request that ran.
  size_t RunPlanned(Session& session, size_t from);
  void Resume(const Parked& parked);
  void Execute(Session& session, Args& args, const TableRow* row, uint64_t hash, const Parked* resumed);
  bool Admit(Session& session, const Args& args, const TableRow* row);
  void Call(Context& context, Args& args);
  void RejectUnknown(Session& session, const Args& args, const TableRow* container);
  void KeepTime(const TableRow& row) noexcept;
  const TableRow* RowOf(std::span<const std::string_view> arguments) const noexcept;
  bool Authenticated(const Session& session) const noexcept;
  EvictionLimits Limits() const noexcept;
  Evictor::Outcome MakeRoom(size_t budget);

  Server& server_;
  Now now_;
  resp::ArgList args_;
  resp::Limits limits_;
  std::vector<Planned> plan_;
  uint64_t stale_cycles_;
  uint64_t refreshed_at_ = 0;  // TSC
  uint64_t command_began_ = 0;
};

}  // namespace mayfly
