// Applies a client's modes to a request: CLIENT REPLY, NO-TOUCH, TRACKING and PAUSE. Messages wait for the reply of the
// request, and CLIENT PAUSE holds requests back. The executor uses these functions only for clients with such a mode
// (Session::modes). Loop thread only.
#pragma once

#include <cstdint>

#include "cache/keyspace/keyspace.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// Parks the session if a pause holds this request back, or because the request may change a held key, and returns true then. REQUIRES: the request would not be refused.
bool HoldBack(Server& server, Session& session, const Args& args, const TableRow& row);

// While a TraceScope lives, a handler for a client with NO-TOUCH has no access effect: recency, frequency and sliding
// deadlines stay unchanged. A key created by the handler is as new as any other key. Nothing may be evicted meanwhile.
class TraceScope {
 public:
  TraceScope(Server& server, const Session& session, const TableRow& row);
  TraceScope(const TraceScope&) = delete;
  TraceScope& operator=(const TraceScope&) = delete;
  ~TraceScope();

 private:
  Server& server_;
  const bool suspends_;
};

// Applies CLIENT REPLY to one request of the session, for the lifetime of the scope.
class ReplyScope {
 public:
  explicit ReplyScope(Session& session) noexcept;
  ReplyScope(const ReplyScope&) = delete;
  ReplyScope& operator=(const ReplyScope&) = delete;
  ~ReplyScope();

 private:
  Session& session_;
};

// Remembers the keys read by `call`, made by the tracking client `reader` or by a script of this client. The client is
// closed if there is no memory. REQUIRES: `reader` tracks. The call ran in `keyspace`.
void RememberReads(Server& server, Session& reader, const Call& call, Keyspace& keyspace) noexcept;
// Called at the end of a request of a tracking client, also of a refused one. `row` is null for an unknown command.
void EndTrackedRequest(Session& session, const TableRow* row) noexcept;

// While a PushScope lives, messages to the session beside replies wait for the end of the session's request.
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
