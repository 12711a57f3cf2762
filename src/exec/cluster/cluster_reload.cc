#include "exec/cluster/cluster_reload.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <new>
#include <string>
#include <utility>

#include "base/bits/key_slot.h"
#include "base/log/log.h"
#include "cache/keyspace/databases.h"
#include "config/sources/candidate.h"
#include "config/sources/options.h"
#include "server/clients/sessions.h"
#include "server/clients/subscriptions.h"
#include "server/cluster/cluster.h"
#include "server/waiting/parking.h"
#include "server/watch/pubsub.h"

namespace mayfly {
namespace {

// Ends one subscription, and tells the client, like SUNSUBSCRIBE.
void EndSubscription(Server& server, Session& session, const Topic& topic) noexcept {
  try {
    resp::Writer to = session.Pusher();
    to.Push(3);
    to.Bulk("sunsubscribe");
    to.Bulk(topic.name);
    to.Integer(static_cast<int64_t>(session.subscriptions->count(TopicKind::kShardChannel)) - 1);
  } catch (const std::bad_alloc&) {
    static_cast<void>(session.pool().TakeFailed());  // the client that changed the map stays open
    session.Set(Mode::kDropped);
  }
  server.pubsub.Unsubscribe(session, TopicKind::kShardChannel, topic.name);
  server.sessions.LimitOutput(session);
  if (session.attached()) server.sessions.MarkDirty(session);
}

}  // namespace

ClusterReload::ClusterReload(Server& server) : Step(server.sliced_work), server_(server) {
  const auto prepare = [this](const config::Settings& wanted) -> config::Problem {
    // The reason has words of the file in it, and a client need not learn what is in any file that can be read here.
    if (Prepare(wanted)) return "Unable to read the cluster from this file. Check server logs.";
    return std::nullopt;
  };
  server.options.Prepare(
      {.prepare = prepare, .adopt = [this] { Commit(); }, .drop = [this] { next_.reset(); }},
      &config::Settings::cluster_config_file);
}

void ClusterReload::Reload() {
  if (!Prepare(server_.options.settings())) Commit();
}

config::Problem ClusterReload::Prepare(const config::Settings& settings) {
  auto map = std::make_unique<ClusterMap>();
  config::Problem problem = ReadClusterFile(settings, server_.options.files(), *map);
  if (problem) {
    if (server_.log != nullptr) server_.log->Warning("the cluster stays as it is: ", *problem);
  } else {
    next_ = std::move(map);
  }
  return problem;
}

void ClusterReload::Commit() noexcept {
  assert(next_ != nullptr);
  Cluster& cluster = *server_.cluster;
  const bool was_replica = cluster.map().master() != nullptr;
  const bool is_replica = next_->master() != nullptr;
  size_t came = 0;
  size_t went = 0;
  for (size_t i = 0; i < kSlots; ++i) {
    const auto slot = static_cast<uint16_t>(i);
    const bool was_here = cluster.map().Holds(slot);
    const bool is_here = next_->Holds(slot);
    if (is_here && !was_here) ++came;
    if (was_here && !is_here) ++went;
  }
  if (!is_replica) GiveRole(*next_);  // first, so that replicas hear of the keys that are dropped
  if (!is_replica && was_replica) DropFromStart();
  if (!is_replica && came != 0 && waits()) {
    constexpr size_t kMany = 10'000;
    while (DropSome(server_.clock.Read(), kMany)) {
    }
  }
  cluster.Adopt(std::move(*next_));
  next_.reset();
  RedirectWaiters();
  if (went != 0) EndShardSubscriptions();
  if (is_replica) {
    keys_dropped_ = true;
    GiveRole(cluster.map());
  } else if (went != 0) {
    DropFromStart();
  }
  if (server_.log == nullptr) return;
  try {
    server_.log->Notice(cluster.Describe(), "; slots that came: ", came, ", that went: ", went);
    for (const std::string& warning : cluster.Warnings()) server_.log->Warning(warning);
  } catch (const std::bad_alloc&) {  // only a line of the log is lost
  }
}

void ClusterReload::DropFromStart() noexcept {
  cursor_ = 0;
  keys_dropped_ = false;
  Announce();
}

void ClusterReload::GiveRole(const ClusterMap& map) noexcept {
  role_missing_ = true;
  try {
    if (!server_.Busy()) {
      server_.cluster->GiveRole(map);
      role_missing_ = false;
    }
  } catch (const std::bad_alloc&) {  // later
  }
  if (role_missing_) Announce();
}

// Wakes also clients in slots without service, because the cluster may be down now.
void ClusterReload::RedirectWaiters() noexcept {
  server_.parking.keys().ForEach([this](const WaitedKey& key) {
    if (server_.cluster->Serves(SlotOf(key.name))) return;
    for (const Wait* wait = key.first; wait != nullptr; wait = wait->next)
      server_.parking.Wake(*wait->parked, WakeReason::kReady);
  });
}

void ClusterReload::EndShardSubscriptions() noexcept {
  const PubSub::Topics& topics = server_.pubsub.topics(TopicKind::kShardChannel);
  for (auto at = topics.begin(); at != topics.end();) {
    const Topic& topic = *at->second;
    ++at;  // the topic goes with its last subscriber
    if (server_.cluster->map().Holds(SlotOf(topic.name))) continue;
    for (size_t left = topic.subscribers.size(); left != 0; --left)
      EndSubscription(server_, *topic.subscribers.back()->session, topic);
  }
}

bool ClusterReload::DoSome(Now now, size_t budget) noexcept {
  if (server_.Busy()) return true;
  if (role_missing_) GiveRole(server_.cluster->map());
  return role_missing_ || DropSome(now, budget);
}

bool ClusterReload::DropSome(Now now, size_t budget) noexcept {
  constexpr size_t kMost = 64;  // entries of a page; the walk meets the rest again
  constexpr size_t kCostOfPage = 10;
  Keyspace& keyspace = server_.databases.At(0);
  server_.databases.SetClient(0);
  while (!keys_dropped_) {
    if (budget == 0) return true;
    std::array<std::string_view, kMost> found;
    size_t count = 0;
    bool all = true;
    const uint64_t next = keyspace.Scan(cursor_, now, [&](const Entry& entry) {
      if (server_.cluster->map().Holds(SlotOf(entry.key()))) return;
      if (count == kMost)
        all = false;
      else
        found[count++] = entry.key();
    });
    for (size_t i = 0; i < count; ++i) {
      const Key key = keyspace.KeyOf(found[i]);
      if (Entry* const entry = keyspace.Peek(key, now)) keyspace.Remove(key, *entry, ChangeReason::kDeleted);
    }
    budget -= std::min(budget, count + kCostOfPage);
    if (!all) continue;
    cursor_ = next;
    keys_dropped_ = next == 0;
  }
  return server_.databases.DropSomeStale(budget);  // of all slots: stale values are optional, and rare
}

}  // namespace mayfly
