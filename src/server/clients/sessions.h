// The sessions of all connections: ids, the list of sessions with output, and the list of woken sessions. The output is
// written at the end of the turn. Borrows the sessions: a connection adds its session when it opens and removes it
// before it is destroyed. Loop thread only.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "server/clients/session.h"

namespace mayfly {

// The limits on the unread output of one logged-in client, in bytes (OutputChain::set_limit).
struct OutputLimits {
  size_t most = SIZE_MAX;
  size_t most_of_subscriber = SIZE_MAX;

  size_t Of(const Session& session) const noexcept {
    if (session.Has(Mode::kReplica)) return SIZE_MAX;  // Replicas gives it little at once
    return session.Has(Mode::kSubscribed) ? most_of_subscriber : most;
  }
};

class Sessions {
 public:
  OutputLimits output_limits = {};  // as the options are now
  // Sets the limit of the session's output. Called when the client becomes a subscriber, or ceases to be a subscriber.
  void LimitOutput(Session& session) const noexcept { session.output.set_limit(output_limits.Of(session)); }

  // Assigns the session's id. Borrows the session until Remove. Throws std::bad_alloc without adding the session.
  void Add(Session& session) {
    ReserveForAll(dirty_);
    ReserveForAll(taken_);
    ReserveForAll(resumed_);
    by_id_.emplace(last_id_ + 1, &session);
    session.id = ++last_id_;
  }
  // The id of a session that is no connection's, and is shown among them.
  uint64_t TakeId() noexcept { return ++last_id_; }
  void Remove(Session& session) noexcept {
    by_id_.erase(session.id);
    session.id = 0;
    if (session.dirty) std::erase(dirty_, &session);
    if (session.Clear(Mode::kResumed)) {
      const auto waiting = resumed_.begin() + static_cast<ptrdiff_t>(resumed_taken_);
      resumed_.erase(std::find(waiting, resumed_.end(), &session));
    }
  }
  size_t size() const noexcept { return by_id_.size(); }
  // Ordered by id.
  const std::map<uint64_t, Session*>& by_id() const noexcept { return by_id_; }

  // Adds the session to the list of sessions to be written or closed at the end of the turn.
  // REQUIRES: the session was added.
  void MarkDirty(Session& session) noexcept {
    assert(session.attached());
    if (session.dirty) return;
    session.dirty = true;
    dirty_.push_back(&session);
  }
  bool AnyDirty() const noexcept { return !dirty_.empty(); }
  // The only session of this list, as in most turns, or null: takes it from the list.
  Session* TakeOnlyDirty() noexcept {
    if (dirty_.size() != 1) return nullptr;
    Session* const session = dirty_.front();
    dirty_.clear();
    session->dirty = false;
    return session;
  }
  // Returns this list, and clears the marks. The list stays unchanged until the next call. Receivers of messages (kIsTold)
  // come last: a publisher to many clients gets its reply before the messages are written.
  const std::vector<Session*>& TakeDirty() noexcept {
    taken_.clear();
    taken_.swap(dirty_);
    for (Session* session : taken_) session->dirty = false;
    std::partition(taken_.begin(), taken_.end(),
                   [](const Session* session) { return (session->modes & kIsTold) == 0; });
    return taken_;
  }

  // The request of a parked session has run between two requests of others. None of the session's further requests runs
  // until TakeResumed.
  // REQUIRES: the session was added.
  void MarkResumed(Session& session) noexcept {
    assert(session.attached());
    if (session.Has(Mode::kResumed)) return;
    session.Set(Mode::kResumed);
    if (resumed_.size() == resumed_.capacity()) {
      resumed_.erase(resumed_.begin(), resumed_.begin() + static_cast<ptrdiff_t>(resumed_taken_));
      resumed_taken_ = 0;
    }
    resumed_.push_back(&session);
  }
  // Unmarks and returns the session that was marked first; null if none is marked.
  Session* TakeResumed() noexcept {
    if (resumed_.empty()) [[likely]]
      return nullptr;
    if (resumed_taken_ == resumed_.size()) {
      resumed_.clear();
      resumed_taken_ = 0;
      return nullptr;
    }
    Session* const session = resumed_[resumed_taken_++];
    session->Clear(Mode::kResumed);
    return session;
  }

 private:
  static constexpr uint32_t kIsTold =
      BitOf(Mode::kSubscribed) | BitOf(Mode::kTracking) | BitOf(Mode::kPushTarget) | BitOf(Mode::kMonitor);

  // Marking a session must not fail, and thus takes no memory: the memory is reserved here.
  void ReserveForAll(std::vector<Session*>& list) {
    const size_t needed = by_id_.size() + 1;
    if (list.capacity() < needed) list.reserve(needed + needed / 2);
  }

  uint64_t last_id_ = 0;
  std::map<uint64_t, Session*> by_id_;
  std::vector<Session*> dirty_;
  std::vector<Session*> taken_;    // the last result of TakeDirty
  std::vector<Session*> resumed_;  // in the order of their waking
  size_t resumed_taken_ = 0;       // number of taken sessions at the front of resumed_
};

}  // namespace mayfly
