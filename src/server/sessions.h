// All sessions: their ids, the number of those with modes, and the list of those that have something to write
// at the end of the turn. Borrows the sessions: a connection adds its session when it opens and removes it
// before it is destroyed. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "server/session.h"

namespace mayfly {

class Sessions {
 public:
  // Assigns the session's id. Borrows the session until Remove. Throws std::bad_alloc, and the session is not
  // added then.
  void Add(Session& session) {
    ReserveForAll(dirty_);
    ReserveForAll(taken_);
    by_id_.emplace(last_id_ + 1, &session);
    session.id = ++last_id_;
  }
  void Remove(Session& session) noexcept {
    by_id_.erase(session.id);
    if (session.modes_counted) --with_modes_;
    if (session.dirty) std::erase(dirty_, &session);
  }
  size_t size() const noexcept { return by_id_.size(); }
  // Ordered by id.
  const std::map<uint64_t, Session*>& by_id() const noexcept { return by_id_; }

  // The number of sessions with modes (Session::HasModes). While it is 0, the executor does not test for
  // modes.
  size_t with_modes() const noexcept { return with_modes_; }
  // Call this after a mode of the session has changed.
  void CountModes(Session& session) noexcept {
    const bool has = session.HasModes();
    if (has == session.modes_counted) return;
    session.modes_counted = has;
    has ? ++with_modes_ : --with_modes_;
  }

  // Adds the session to the list of those that are written or closed at the end of the turn.
  // REQUIRES: the session was added.
  void MarkDirty(Session& session) noexcept {
    if (session.dirty) return;
    session.dirty = true;
    dirty_.push_back(&session);
  }
  // Hands that list over, and clears the marks. It stays as it is until the next call.
  const std::vector<Session*>& TakeDirty() noexcept {
    taken_.clear();
    taken_.swap(dirty_);
    for (Session* session : taken_) session->dirty = false;
    return taken_;
  }

 private:
  // So that marking a session, which happens where nothing may fail, takes no memory.
  void ReserveForAll(std::vector<Session*>& list) {
    const size_t needed = by_id_.size() + 1;
    if (list.capacity() < needed) list.reserve(needed + needed / 2);
  }

  uint64_t last_id_ = 0;
  size_t with_modes_ = 0;
  std::map<uint64_t, Session*> by_id_;
  std::vector<Session*> dirty_;
  std::vector<Session*> taken_;  // what TakeDirty handed over
};

}  // namespace mayfly
