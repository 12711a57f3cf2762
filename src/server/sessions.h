// All sessions: ids, how many there are, which of them have modes, and which have something to write at the
// end of this turn. Borrows them: a connection adds its session when it opens and removes it before it dies.
// Loop thread only.
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
    if (session.modes_counted) --with_modes_;
    if (session.dirty) std::erase(dirty_, &session);
  }
  size_t size() const noexcept { return by_id_.size(); }
  // In order of their ids.
  const std::map<uint64_t, Session*>& by_id() const noexcept { return by_id_; }

  // How many sessions have modes (Session::HasModes). While there are none, nobody looks for any.
  size_t with_modes() const noexcept { return with_modes_; }
  // A mode of the session has changed.
  void CountModes(Session& session) noexcept {
    const bool has = session.HasModes();
    if (has == session.modes_counted) return;
    session.modes_counted = has;
    has ? ++with_modes_ : --with_modes_;
  }

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
  size_t with_modes_ = 0;
  std::map<uint64_t, Session*> by_id_;
  std::vector<Session*> dirty_;
};

}  // namespace mayfly
