// Client-side caching (CLIENT TRACKING): remembers the keys read by each client, and reports changes of the keys.
//
// In the default mode the server remembers the keys read by a client, and tells the client of the next change of each. An
// entry read by a tracking client carries EntryFlag::kListened, and changes of other entries thus cost nothing. In broadcast
// mode nothing is remembered: a client gets a message with all changed keys of its prefixes, once in a turn of the loop. The
// expiry of a key is a change, at the key's deadline. When a database is flushed or exchanged, clients get the message to forget
// everything.
//
// The table of remembered keys is bounded in keys and in bytes: beyond the bounds, clients get the message to forget unchanged
// keys.
//
// A flush tells the clients at once, and the end of the last tracking client takes effect at once, too; the remembered keys
// are freed later, in slices (FreeSome). Keys read meanwhile are remembered in a new table, apart from the old tables. After
// a lowered limit, the keys above the limit are forgotten in slices likewise.
//
// Ownership: a session owns its TrackingState. Tracking owns keys and prefixes. Loop thread only.
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

#include "cache/changes/change.h"
#include "server/clients/sessions.h"
#include "server/clients/text_hash.h"
#include "server/clients/tracking_state.h"
#include "server/hubs/accounts.h"
#include "server/hubs/client_ends.h"
#include "server/waiting/key_place.h"

namespace mayfly {

class Tracking final : public ChangeListener, private ClientEnds::Listener {
 public:
  // The RESP2 channel for redirected messages: the redirect target subscribes to this channel.
  static constexpr std::string_view kChannel = "__redis__:invalidate";

  // Borrows all arguments.
  Tracking(Accounts& accounts, ClientEnds& ends, ChangeHub& changes, Sessions& sessions,
           const Hasher& hasher);
  ~Tracking() override;

  // Begins tracking, or changes the client's options, and adds `prefixes`. Throws std::bad_alloc without a change, except
  // that some of the prefixes may be added. REQUIRES: the mode does not change; only a client in broadcast mode has
  // prefixes.
  void Start(Session& session, const TrackingOptions& options, std::span<const std::string_view> prefixes);
  // No effect if the client does not track.
  void Stop(Session& session) noexcept;

  // The client has read the key. `exists`: the key exists, and its entry has EntryFlag::kListened. Throws std::bad_alloc.
  // REQUIRES: the client tracks, in the default mode.
  void Remember(const Session& session, unsigned db, std::string_view key, bool exists);
  // Called at the end of a turn: tells clients in broadcast mode of the changes.
  void EndTurn() noexcept {
    account_bytes_ = bytes();
    if (pending_) [[unlikely]]
      BroadcastAll();
    if (hears_creations_ && absent_ == 0 && broadcast_clients_ == 0) [[unlikely]]
      Follow();
  }
  // Limits the remembered keys and bytes; 0: no limit. If the excess is large, FreeSome does the rest.
  void Limit(size_t most_keys, size_t most_bytes) noexcept;

  // True if FreeSome has work.
  bool MayFreeSome() const noexcept { return !doomed_.empty() || TooMany(); }
  // Frees about `budget` forgotten or excess keys. Returns true if more are left.
  bool FreeSome(size_t budget) noexcept;

  size_t clients() const noexcept { return clients_; }
  size_t keys() const noexcept { return keys_.size(); }
  size_t items() const noexcept { return items_; }  // keys, once for each client that has read them
  size_t prefixes() const noexcept;
  // The bytes of the remembered keys, and of the keys that wait to be freed.
  size_t bytes() const noexcept { return bytes_ + doomed_bytes_; }

  void OnChange(const Change& change) override;

 private:
  void OnClientEnd(Session& session) noexcept override { Stop(session); }
  struct Readers {
    std::string name;
    std::vector<uint64_t> ids;  // sorted
    bool absent = false;        // the key was absent when one of the readers asked
  };
  struct Prefix {
    explicit Prefix(TextHash hash) : changed(0, hash) {}

    std::vector<Session*> clients;
    std::unordered_map<std::string, uint64_t, TextHash> changed;  // since the last EndTurn, with the client
  };
  // Prefixes of one length.
  using Prefixes = std::unordered_map<std::string, Prefix, TextHash, std::equal_to<>>;
  using Keys = std::unordered_map<KeyPlace, std::unique_ptr<Readers>, KeyPlaceHash>;

  bool HasPrefix(const Session& session, std::string_view prefix) const noexcept;
  void AddPrefix(Session& session, std::string_view prefix);
  void RemovePrefix(Session& session, const std::string& prefix) noexcept;
  void Unlink(const Session& session, std::string_view prefix) noexcept;
  // A prefix of one client, here and at the client.
  static uint64_t PrefixBytes(const std::string& prefix) noexcept;
  // Tells the readers of a key, and forgets the readers. `by`: the client that changed the key.
  void Invalidate(Keys::iterator key, uint64_t by) noexcept;
  void NoteForBroadcast(std::string_view key, uint64_t by) noexcept;
  void BroadcastAll() noexcept;
  void BroadcastTo(Prefix& prefix) noexcept;
  void TellAllToForget() noexcept;
  bool TooMany() const noexcept {
    return (most_keys_ != 0 && keys_.size() > most_keys_) || (most_bytes_ != 0 && bytes_ > most_bytes_);
  }
  // Makes clients forget at most `budget` keys while there are too many. Returns the unused budget.
  size_t KeepWithinLimits(size_t budget) noexcept;
  // Keeps the table dense: Next must find a key within a few buckets.
  void ShrinkIfSparse() noexcept;
  // `keys` is the encoded list of keys, or empty for all keys.
  void Send(Session& session, std::string_view keys) noexcept;
  static size_t BytesOf(const Readers& readers) noexcept;
  // Leaves all keys to FreeSome.
  void ForgetKeys() noexcept;
  // A remembered key; successive calls go round the table. REQUIRES: there is a remembered key.
  Keys::iterator Next() noexcept;
  // Listens for the changes needed by the clients. Not to be called while changes are reported.
  void Follow() noexcept;

  ChangeHub& changes_;
  Sessions& sessions_;
  const TextHash hash_;
  Keys keys_;
  std::map<size_t, Prefixes> prefixes_;  // by length; no map is empty
  size_t clients_ = 0;
  size_t broadcast_clients_ = 0;
  size_t items_ = 0;
  size_t absent_ = 0;       // of keys_
  size_t hand_ = 0;         // the last bucket of keys_ that Next has visited
  size_t bytes_ = 0;        // of keys_
  std::list<Keys> doomed_;  // forgotten keys; no table is empty
  size_t doomed_bytes_ = 0;
  size_t most_keys_ = 0;
  size_t most_bytes_ = 0;
  bool pending_ = false;
  bool told_to_forget_ =
      false;  // and since then nobody has begun to track, and nothing was remembered or told
  bool hears_creations_ = false;
  uint64_t account_bytes_ = 0;  // bytes(), at the end of the last turn
  Accounts::Account account_;
};

}  // namespace mayfly
