// Applies a client's modes to a request: CLIENT REPLY, NO-TOUCH, TRACKING and PAUSE. Messages wait for the reply of the
// request, and CLIENT PAUSE holds requests back. The executor uses this only for clients that have such a mode
// (Session::modes). Loop thread only.
#pragma once

#include <cstdint>
#include <optional>

#include "cache/keyspace/keyspace.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// Parks the session if a pause holds this request back, and returns whether it did.
// REQUIRES: the request would not be refused.
bool HoldBack(Server& server, Session& session, const Args& args, const TableRow& row);

// Sees to it that a handler does not access keys in a way that counts, for as long as this lives, if the client has
// NO-TOUCH: recency, frequency and deadlines that slide stay as they are. A key that the handler creates is new as any
// other. Nothing may be evicted meanwhile.
class TraceScope {
 public:
  TraceScope(Server& server, const Session& session, const TableRow& row);
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  ~TraceScope();

 private:
  Server& server_;
  std::optional<AccessTracking> suspended_;  // what to resume
};

// Applies CLIENT REPLY to one request of the session, for as long as it lives.
class ReplyScope {
 public:
  explicit ReplyScope(Session& session) noexcept;
  ReplyScope(const ReplyScope&) = delete;
  ReplyScope& operator=(const ReplyScope&) = delete;
  ~ReplyScope();

 private:
  Session& session_;
};

// After `call`, which `reader` has made itself or by a script: remembers the keys that it has read for a client that
// tracks them. The client is closed if there is no memory for that.
// REQUIRES: `reader` tracks. `keyspace` is the one in which the call ran.
void RememberReads(Server& server, Session& reader, const Call& call, Keyspace& keyspace) noexcept;
// At the end of a request of a client that tracks.
void EndTrackedRequest(Session& session, const TableRow& row) noexcept;

// While it lives, messages to the session that are no replies wait for the end of its request.
class PushScope {
 public:
  explicit PushScope(Session& session) noexcept : session_(session) { session_.in_request = true; }
  PushScope(const PushScope&) = delete;
  PushScope& operator=(const PushScope&) = delete;
  ~PushScope();

 private:
  Session& session_;
};

}  // namespace mayfly
