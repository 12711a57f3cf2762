// Client-side caching: which clients have read which keys, and telling them when these change (CLIENT TRACKING).
//
// In the default mode the keys that a client reads are remembered, and it is told of the next change of each. An entry
// that somebody has read so carries EntryFlag::kObserved, so that changes of other entries cost nothing. In broadcast
// mode nothing is remembered: a client is told of all keys that begin with one of its prefixes, once in a turn of the
// loop. A key that expires has changed, at its deadline. When a database is flushed or exchanged, clients are told to
// forget everything.
//
// The table of remembered keys is bounded in keys and in bytes: beyond that, clients are told to forget keys that have
// not changed.
//
// Ownership: a session owns its TrackingState. Keys and prefixes belong to this. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/change.h"
#include "server/key_place.h"
#include "server/sessions.h"
#include "server/text_hash.h"
#include "server/tracking_state.h"

namespace mayfly {

class Tracking final : public ChangeListener {
 public:
  // The RESP2 channel that a client subscribes to, to which others redirect.
  static constexpr std::string_view kChannel = "__redis__:invalidate";

  // Borrows both.
  Tracking(ChangeHub& changes, Sessions& sessions, const Hasher& hasher);
  ~Tracking() override;

  // Begins tracking, or changes its options; `prefixes` are added to those it has. Throws std::bad_alloc, and has changed
  // nothing then but that some of the prefixes may be added.
  // REQUIRES: the mode does not change; only a client in broadcast mode has prefixes.
  void Start(Session& session, const TrackingOptions& options, std::span<const std::string_view> prefixes);
  // No effect if it does not track.
  void Stop(Session& session) noexcept;

  // The client has read the key. `exists`: it is there, and its entry has EntryFlag::kObserved. Throws std::bad_alloc.
  // REQUIRES: it tracks, in the default mode.
  void Remember(const Session& session, unsigned db, std::string_view key, bool exists);
  // At the end of a turn: tells those in broadcast mode what has changed.
  void EndTurn() noexcept {
    if (pending_) [[unlikely]]
      BroadcastAll();
    if (hears_creations_ && absent_ == 0 && broadcast_clients_ == 0) [[unlikely]]
      Follow();
  }
  // From now on at most that many keys and bytes are remembered; 0: no limit.
  void Limit(size_t most_keys, size_t most_bytes) noexcept;

  size_t clients() const noexcept { return clients_; }
  size_t keys() const noexcept { return keys_.size(); }
  size_t items() const noexcept { return items_; }  // keys, once for each client that has read them
  size_t prefixes() const noexcept;
  size_t bytes() const noexcept { return bytes_; }

  void OnChange(const Change& change) override;

 private:
  struct Readers {
    std::string name;
    std::vector<uint64_t> ids;  // sorted
    bool absent = false;        // there was no such key when one of them asked
  };
  struct Prefix {
    explicit Prefix(TextHash hash) : changed(0, hash) {}

    std::vector<Session*> clients;
    std::unordered_map<std::string, uint64_t, TextHash> changed;  // since the last EndTurn, and who did it
  };
  // Those of one length.
  using Prefixes = std::unordered_map<std::string, Prefix, TextHash, std::equal_to<>>;
  using Keys = std::unordered_map<KeyPlace, std::unique_ptr<Readers>, KeyPlaceHash>;

  bool HasPrefix(const Session& session, std::string_view prefix) const noexcept;
  void AddPrefix(Session& session, std::string_view prefix);
  void RemovePrefix(Session& session, std::string_view prefix) noexcept;
  // Tells the readers of a key, and forgets them. `by`: who has changed it.
  void Invalidate(Keys::iterator key, uint64_t by) noexcept;
  void NoteForBroadcast(std::string_view key, uint64_t by) noexcept;
  void BroadcastAll() noexcept;
  void BroadcastTo(Prefix& prefix) noexcept;
  void TellAllToForget() noexcept;
  void KeepWithinLimits() noexcept;
  // `keys` is the encoded list of keys, or nothing for all.
  void Send(Session& session, std::string_view keys) noexcept;
  static size_t BytesOf(const Readers& readers) noexcept;
  void ForgetKeys() noexcept;
  // Any key that is remembered, and each in its turn. REQUIRES: there is one.
  Keys::iterator Next() noexcept;
  // Listens for what the clients need. Not to be called while changes are reported.
  void Follow() noexcept;

  ChangeHub& changes_;
  Sessions& sessions_;
  const TextHash hash_;
  Keys keys_;
  std::map<size_t, Prefixes> prefixes_;  // by length; none is empty
  size_t clients_ = 0;
  size_t broadcast_clients_ = 0;
  size_t items_ = 0;
  size_t absent_ = 0;  // of keys_
  size_t hand_ = 0;    // the bucket of keys_ that Next has looked at last
  size_t bytes_ = 0;
  size_t most_keys_ = 0;
  size_t most_bytes_ = 0;
  bool pending_ = false;
  bool told_to_forget_ = false;  // and nothing was remembered or told since
  bool hears_creations_ = false;
};

}  // namespace mayfly
