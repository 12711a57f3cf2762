// From bytes to replies: parses the requests that a client sent, looks ahead over the batch, and runs them.
//
//   input --Parser--> a batch of requests --hash, prefetch groups, prefetch entries--> dispatch one by one
//
// Dispatch: look-up, arity, permissions, memory, handler, timing. Look-ahead only warms caches: each command looks
// its key up again, because an earlier one of the batch may have moved it. A batch ends behind a command that
// changes session state, and a protocol error is answered in its order.
// The clock is read once per batch (at most kBatchRequests) and after a slow command. Loop thread only.
#pragma once

#include <cstdint>
#include <string_view>

#include "exec/context.h"
#include "resp/parser.h"

namespace mayfly {

class Executor {
 public:
  static constexpr size_t kBatchRequests = 64;

  explicit Executor(Server& server);

  // Runs the complete requests at the front of `input`, appending to session.output; returns the bytes consumed.
  // What is left is incomplete, or waits because the session was parked or is to be closed. Marks the session
  // dirty when there is something to write or to close.
  size_t Run(Session& session, std::string_view input);

  // Runs one request whose arguments are at hand: from a parked client, later from a transaction or a script.
  void Dispatch(Session& session, std::span<const std::string_view> arguments, WakeReason wake);

  // Runs again what was woken since the last call. The sessions that came free may have more input waiting:
  // `freed` is called with each of them.
  template <typename Freed>
  void RunWoken(Freed&& freed) {
    while (std::unique_ptr<Parked> woken = server_.parking.TakeWoken()) {
      Session& session = *woken->session;
      Rerun(*woken);
      if (session.parked == nullptr) freed(session);
    }
  }

  Now now() const noexcept { return now_; }
  // Reads the clock: at the start of a turn, and where time is known to have passed.
  Now RefreshNow() noexcept;

 private:
  struct Request {
    size_t first_arg;
    size_t arg_count;
    const TableRow* row;
    uint64_t hash;  // of the first key; 0 where there is none
  };

  void Rerun(Parked& parked);
  void DispatchRow(Session& session, Args& args, const TableRow* row, uint64_t hash, WakeReason wake);

  Server& server_;
  Now now_;
  resp::ArgList args_;
  std::vector<Request> batch_;
};

}  // namespace mayfly
