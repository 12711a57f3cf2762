// Client-side caching (CLIENT TRACKING): remembers the keys read by each client, and reports changes of the keys.
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
// A flush tells the clients at once, and the end of the last client that tracks is at once, too; what was remembered is
// freed later, in slices (FreeSome). Who reads a key meanwhile is remembered in a new table, which these do not touch.
// Where a limit was lowered, the keys that are too many are forgotten in slices likewise.
//
// Ownership: a session owns its TrackingState. Keys and prefixes belong to this. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/keyspace/change.h"
#include "server/clients/sessions.h"
#include "server/clients/text_hash.h"
#include "server/clients/tracking_state.h"
#include "server/hubs/accounts.h"
#include "server/hubs/client_ends.h"
#include "server/waiting/key_place.h"

namespace mayfly {

struct Hubs;

class Tracking final : public ChangeListener, private ClientEnds::Ear {
 public:
  // The RESP2 channel that a client subscribes to, to which others redirect.
  static constexpr std::string_view kChannel = "__redis__:invalidate";

  // Borrows all.
  Tracking(Hubs& hubs, ChangeHub& changes, Sessions& sessions, const Hasher& hasher);
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
    account_bytes_ = bytes();
    if (pending_) [[unlikely]]
      BroadcastAll();
    if (hears_creations_ && absent_ == 0 && broadcast_clients_ == 0) [[unlikely]]
      Follow();
  }
  // From now on at most that many keys and bytes are remembered; 0: no limit. Where far more are, FreeSome does the rest.
  void Limit(size_t most_keys, size_t most_bytes) noexcept;

  // Whether FreeSome has something to do.
  bool MayFreeSome() const noexcept { return !doomed_.empty() || TooMany(); }
  // Frees about `budget` keys that were forgotten, or are too many. Returns true if there are more.
  bool FreeSome(size_t budget) noexcept;

  size_t clients() const noexcept { return clients_; }
  size_t keys() const noexcept { return keys_.size(); }
  size_t items() const noexcept { return items_; }  // keys, once for each client that has read them
  size_t prefixes() const noexcept;
  // Of the keys, and of those that wait to be freed.
  size_t bytes() const noexcept { return bytes_ + doomed_bytes_; }

  void OnChange(const Change& change) override;

 private:
  void OnClientEnd(Session& session) noexcept override { Stop(session); }
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
  bool TooMany() const noexcept {
    return (most_keys_ != 0 && keys_.size() > most_keys_) || (most_bytes_ != 0 && bytes_ > most_bytes_);
  }
  // Has clients forget at most `budget` keys while there are too many. Returns what is left of it.
  size_t KeepWithinLimits(size_t budget) noexcept;
  // So that Next finds a key within a few buckets.
  void ShrinkIfSparse() noexcept;
  // `keys` is the encoded list of keys, or nothing for all.
  void Send(Session& session, std::string_view keys) noexcept;
  static size_t BytesOf(const Readers& readers) noexcept;
  // Leaves all keys to FreeSome.
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
  size_t absent_ = 0;       // of keys_
  size_t hand_ = 0;         // the bucket of keys_ that Next has looked at last
  size_t bytes_ = 0;        // of keys_
  std::list<Keys> doomed_;  // forgotten; none is empty
  size_t doomed_bytes_ = 0;
  size_t most_keys_ = 0;
  size_t most_bytes_ = 0;
  bool pending_ = false;
  bool told_to_forget_ = false;  // and nothing was remembered or told since
  bool hears_creations_ = false;
  uint64_t account_bytes_ = 0;  // bytes(), at the end of the last turn
  Accounts::Account account_;
};

}  // namespace mayfly
