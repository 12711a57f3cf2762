// All sessions: ids, how many there are, and which of them have something to write at the end of this turn.
// Borrows them: a connection adds its session when it opens and removes it before it dies. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/session.h"

namespace mayfly {

class Sessions {
 public:
  // Gives the session its id.
  void Add(Session& session) {
    session.id = ++last_id_;
    by_id_.emplace(session.id, &session);
  }
  void Remove(Session& session) noexcept {
    by_id_.erase(session.id);
    if (session.dirty) std::erase(dirty_, &session);
  }
  size_t size() const noexcept { return by_id_.size(); }
  // In order of their ids.
  const std::map<uint64_t, Session*>& by_id() const noexcept { return by_id_; }

  // Puts the session on the list of those to be written (or closed) when the turn ends.
  void MarkDirty(Session& session) {
    if (session.dirty) return;
    session.dirty = true;
    dirty_.push_back(&session);
  }
  // Hands the list over; nobody on it is marked any more. `scratch` is emptied and reused.
  void TakeDirty(std::vector<Session*>& scratch) noexcept {
    scratch.clear();
    scratch.swap(dirty_);
    for (Session* session : scratch) session->dirty = false;
  }

 private:
  uint64_t last_id_ = 0;
  std::map<uint64_t, Session*> by_id_;
  std::vector<Session*> dirty_;
};

}  // namespace mayfly
