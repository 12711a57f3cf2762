#include "server/watch/tracking.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "base/memory/heap.h"
#include "cache/entry/entry.h"
#include "resp/bulk_text.h"
#include "server/clients/name_bytes.h"

namespace mayfly {
namespace {

// Keys forgotten at once: by a read beyond a limit, and by a lowered limit or a flush.
constexpr size_t kForgetsPerRead = 16;
constexpr size_t kForgetsAtOnce = 256;

std::string ListOf(std::string_view key) {
  std::string list = "*1\r\n";
  resp::AppendBulk(list, key);
  return list;
}

}  // namespace

// A listener without reasons costs nothing. The constructor takes the place among the listeners, so Follow takes no memory.
Tracking::Tracking(Accounts& accounts, ClientEnds& ends, ChangeHub& changes, Sessions& sessions,
                   const Hasher& hasher)
    : Listener(ends),
      changes_(changes),
      sessions_(sessions),
      hash_(hasher),
      keys_(0, KeyPlaceHash(hasher)),
      account_(accounts, account_bytes_) {
  changes_.Listen(*this, Interest{});
}

Tracking::~Tracking() { changes_.Unlisten(*this); }

void Tracking::Limit(size_t most_keys, size_t most_bytes) noexcept {
  most_keys_ = most_keys;
  most_bytes_ = most_bytes;
  KeepWithinLimits(kForgetsAtOnce);
}

// Broadcast mode needs all changes. The default mode needs only changes of entries that were read, and new keys if a client
// has read an absent key.
void Tracking::Follow() noexcept {
  hears_creations_ = absent_ != 0 || broadcast_clients_ != 0;
  uint32_t reasons = clients_ == 0 ? 0 : ChangeHub::kAllReasons;
  if (!hears_creations_) reasons &= ~ChangeHub::Bit(ChangeReason::kCreated);
  changes_.Listen(*this, {.reasons = reasons, .listened_only = broadcast_clients_ == 0});
}

// ---- clients

void Tracking::Start(Session& session, const TrackingOptions& options,
                     std::span<const std::string_view> prefixes) {
  const bool fresh = session.tracking == nullptr;
  if (fresh) session.tracking = std::make_unique<TrackingState>();
  std::vector<std::string>& own = session.tracking->prefixes;
  const size_t before = own.size();
  try {
    for (const std::string_view prefix : prefixes) AddPrefix(session, prefix);
    if (options.broadcast && prefixes.empty()) AddPrefix(session, "");
  } catch (...) {
    for (; own.size() != before; own.pop_back()) RemovePrefix(session, own.back());
    if (fresh) session.tracking.reset();
    throw;
  }
  session.tracking->options = options;
  session.tracking->redirect_broken = false;
  told_to_forget_ = false;  // a client in broadcast mode may have read keys before, and names none of them
  session.Set(Mode::kTracking);
  if (!fresh) return;
  ++clients_;
  if (options.broadcast) ++broadcast_clients_;
  Follow();
}

void Tracking::Stop(Session& session) noexcept {
  if (session.tracking == nullptr) return;
  for (const std::string& prefix : session.tracking->prefixes) RemovePrefix(session, prefix);
  --clients_;
  if (session.tracking->options.broadcast) --broadcast_clients_;
  session.tracking.reset();
  session.Clear(Mode::kTracking);
  if (clients_ == 0) ForgetKeys();
  Follow();
}

// A client may have many prefixes, so the search goes from the prefix to the client.
bool Tracking::HasPrefix(const Session& session, std::string_view prefix) const noexcept {
  const auto same_length = prefixes_.find(prefix.size());
  if (same_length == prefixes_.end()) return false;
  const auto found = same_length->second.find(prefix);
  if (found == same_length->second.end()) return false;
  const std::vector<Session*>& clients = found->second.clients;
  return std::find(clients.begin(), clients.end(), &session) != clients.end();
}

void Tracking::AddPrefix(Session& session, std::string_view prefix) {
  if (HasPrefix(session, prefix)) return;
  std::vector<std::string>& own = session.tracking->prefixes;
  own.emplace_back(prefix);
  try {
    Prefixes& same_length = prefixes_.try_emplace(prefix.size(), 0, hash_).first->second;
    same_length.try_emplace(std::string(prefix), hash_).first->second.clients.push_back(&session);
    session.tracking->prefix_bytes += PrefixBytes(own.back());
  } catch (...) {
    Unlink(session, prefix);
    own.pop_back();
    throw;
  }
}

uint64_t Tracking::PrefixBytes(const std::string& prefix) noexcept {
  return sizeof(std::string) + 2 * TextBytes(prefix) + NodeBytes<Prefixes>();
}

void Tracking::RemovePrefix(Session& session, const std::string& prefix) noexcept {
  session.tracking->prefix_bytes -= PrefixBytes(prefix);
  Unlink(session, prefix);
}

void Tracking::Unlink(const Session& session, std::string_view prefix) noexcept {
  const auto same_length = prefixes_.find(prefix.size());
  if (same_length == prefixes_.end()) return;
  const auto found = same_length->second.find(prefix);
  if (found != same_length->second.end()) {
    std::erase(found->second.clients, &session);
    if (found->second.clients.empty()) same_length->second.erase(found);
  }
  if (same_length->second.empty()) prefixes_.erase(same_length);
}

size_t Tracking::prefixes() const noexcept {
  size_t count = 0;
  for (const auto& [length, prefixes] : prefixes_) count += prefixes.size();
  return count;
}

// ---- the default mode

size_t Tracking::BytesOf(const Readers& readers) noexcept {
  constexpr size_t kNode = 64;  // of the map, with its share of the buckets
  const size_t name =
      readers.name.size() < sizeof(std::string) / 2 ? 0 : MallocSizeClass(readers.name.capacity() + 1);
  return kNode + sizeof(Readers) + name + MallocSizeClass(readers.ids.capacity() * sizeof(uint64_t));
}

void Tracking::ForgetKeys() noexcept {
  if (keys_.size() > kForgetsAtOnce) {
    try {
      doomed_.push_back(std::move(keys_));
      doomed_bytes_ += bytes_;
    } catch (const std::bad_alloc&) {  // then free at once: this takes no memory
    }
  }
  keys_.clear();
  items_ = bytes_ = absent_ = hand_ = 0;
}

bool Tracking::FreeSome(size_t budget) noexcept {
  for (; budget != 0 && !doomed_.empty(); --budget) {
    Keys& keys = doomed_.front();
    const auto first = keys.begin();
    doomed_bytes_ -= BytesOf(*first->second);
    keys.erase(first);
    if (keys.empty()) doomed_.pop_front();
  }
  KeepWithinLimits(budget);
  return MayFreeSome();
}

void Tracking::Remember(const Session& session, unsigned db, std::string_view key, bool exists) {
  assert(session.tracking != nullptr && !session.tracking->options.broadcast);
  auto found = keys_.find({db, key});
  if (found == keys_.end()) {
    auto readers = std::make_unique<Readers>();
    readers->name = key;
    readers->ids.reserve(1);
    const KeyPlace place{db, readers->name};
    found = keys_.emplace(place, std::move(readers)).first;
    bytes_ += BytesOf(*found->second);
  }
  Readers& readers = *found->second;
  if (!exists && !readers.absent) {
    readers.absent = true;
    if (++absent_ == 1 && !hears_creations_) Follow();
  }
  const auto place = std::lower_bound(readers.ids.begin(), readers.ids.end(), session.id);
  if (place != readers.ids.end() && *place == session.id) return;
  const size_t before = BytesOf(readers);
  readers.ids.insert(place, session.id);
  bytes_ += BytesOf(readers) - before;
  ++items_;
  told_to_forget_ = false;
  KeepWithinLimits(kForgetsPerRead);
}

size_t Tracking::KeepWithinLimits(size_t budget) noexcept {
  for (; budget != 0 && !keys_.empty() && TooMany(); --budget) {
    Invalidate(Next(), 0);
    ShrinkIfSparse();
  }
  return budget;
}

void Tracking::ShrinkIfSparse() noexcept {
  constexpr size_t kFewBuckets = 1024;
  constexpr size_t kSparse = 64;
  if (keys_.bucket_count() <= kFewBuckets || keys_.size() >= keys_.bucket_count() / kSparse) return;
  try {
    keys_.rehash(0);
  } catch (const std::bad_alloc&) {  // the table stays sparse, and Next takes longer
  }
}

Tracking::Keys::iterator Tracking::Next() noexcept {
  assert(!keys_.empty());
  for (;;) {
    hand_ = (hand_ + 1) % keys_.bucket_count();
    if (const auto first = keys_.begin(hand_); first != keys_.end(hand_)) return keys_.find(first->first);
  }
}

void Tracking::Invalidate(Keys::iterator key, uint64_t by) noexcept {
  const std::unique_ptr<Readers> readers = std::move(key->second);
  keys_.erase(key);
  bytes_ -= BytesOf(*readers);
  items_ -= readers->ids.size();
  if (readers->absent) --absent_;
  std::string list;
  try {
    list = ListOf(readers->name);
  } catch (const std::bad_alloc&) {  // then the readers must forget everything
  }
  for (const uint64_t id : readers->ids) {
    const auto reader = sessions_.by_id().find(id);
    if (reader == sessions_.by_id().end()) continue;
    Session& session = *reader->second;
    if (session.tracking == nullptr || session.tracking->options.broadcast) continue;
    if (session.tracking->options.no_loop && id == by) continue;
    Send(session, list);
  }
}

// ---- broadcast

void Tracking::NoteForBroadcast(std::string_view key, uint64_t by) noexcept {
  for (auto& [length, prefixes] : prefixes_) {
    if (length > key.size()) break;
    const auto found = prefixes.find(key.substr(0, length));
    if (found == prefixes.end()) continue;
    try {
      found->second.changed.insert_or_assign(std::string(key), by);
      pending_ = true;
    } catch (const std::bad_alloc&) {
      for (Session* session : found->second.clients) Send(*session, {});
    }
  }
}

void Tracking::BroadcastAll() noexcept {
  pending_ = false;
  for (auto& [length, prefixes] : prefixes_) {
    for (auto& [name, prefix] : prefixes) {
      if (!prefix.changed.empty()) BroadcastTo(prefix);
    }
  }
}

// Most clients get the same list.
void Tracking::BroadcastTo(Prefix& prefix) noexcept {
  const auto list_for = [&prefix](const Session* without) {
    std::string keys;
    size_t count = 0;
    for (const auto& [key, by] : prefix.changed) {
      if (without != nullptr && by == without->id) continue;
      resp::AppendBulk(keys, key);
      ++count;
    }
    return count == 0 ? std::string() : "*" + std::to_string(count) + "\r\n" + keys;
  };
  std::string all;
  for (Session* session : prefix.clients) {
    const bool no_loop = session->tracking->options.no_loop;
    try {
      if (!no_loop && all.empty()) all = list_for(nullptr);
      const std::string own = no_loop ? list_for(session) : std::string();
      if (!no_loop || !own.empty()) Send(*session, no_loop ? own : all);
    } catch (const std::bad_alloc&) {
      Send(*session, {});
    }
  }
  prefix.changed.clear();
}

// ---- messages

void Tracking::TellAllToForget() noexcept {
  if (told_to_forget_) return;
  ForgetKeys();
  for (auto& [length, prefixes] : prefixes_) {
    for (auto& [name, prefix] : prefixes) prefix.changed.clear();
  }
  pending_ = false;
  for (const auto& [id, session] : sessions_.by_id()) {
    if (session->tracking != nullptr) Send(*session, {});
  }
  told_to_forget_ = true;
}

void Tracking::Send(Session& session, std::string_view keys) noexcept {
  TrackingState& state = *session.tracking;
  Session* to = &session;
  try {
    if (state.options.redirect != 0) {
      const auto found = sessions_.by_id().find(state.options.redirect);
      if (found == sessions_.by_id().end()) {
        state.redirect_broken = true;
        if (session.reply.version() == 2) return;
        resp::Writer push = session.Pusher();
        push.Push(2);
        push.Bulk("tracking-redir-broken");
        push.Integer(static_cast<int64_t>(state.options.redirect));
        return sessions_.MarkDirty(session);
      }
      to = found->second;
    }
    if (to->closes() || to->Has(Mode::kOutputFull)) return;
    resp::Writer push = to->Pusher();
    if (push.version() == 3) {
      push.Push(2);
      push.Bulk("invalidate");
    } else if (to != &session && to->Has(Mode::kSubscribed)) {
      push.Array(3);
      push.Bulk("message");
      push.Bulk(kChannel);
    } else {
      return;  // no message is possible under RESP2
    }
    keys.empty() ? push.Null() : push.out().Append(keys);
  } catch (const std::bad_alloc&) {
    to->LoseMessage();
  }
  if (to->attached()) sessions_.MarkDirty(*to);
}

void Tracking::OnChange(const Change& change) {
  if (change.event.name.empty()) return TellAllToForget();  // a whole database or namespace
  if (change.entry == nullptr || change.event.unseen) return;
  told_to_forget_ = false;
  if (broadcast_clients_ != 0) NoteForBroadcast(change.key, change.client);
  const auto found = keys_.find({change.database, change.key});
  if (found != keys_.end()) Invalidate(found, change.client);
}

}  // namespace mayfly
