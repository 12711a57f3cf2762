#include "exec/metrics/status_json.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/text/quote.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/call/value_type.h"
#include "exec/dispatch/executor.h"
#include "exec/info/identity.h"
#include "exec/info/memory_report.h"
#include "exec/info/ttl_walk.h"
#include "exec/memory/memory_meter.h"
#include "exec/memory/resident_guard.h"
#include "server/clients/session.h"
#include "server/clients/sessions.h"
#include "server/figures/link_figures.h"
#include "server/figures/rates.h"
#include "server/figures/replica_figures.h"
#include "server/figures/stats.h"
#include "server/waiting/parking.h"
#include "server/watch/pubsub.h"

namespace mayfly {
namespace {

// Counting at most this many keys at once takes a fraction of a slice.
constexpr size_t kCountedAtOnce = 1'000;
// The shown levels of the wheel: up to 139 years.
constexpr int kLevels = 7;

std::string ShownKey(std::string_view key) {
  std::string text;
  AppendQuoted(text, key.substr(0, StatusJson::kShownKeyBytes));
  if (key.size() > StatusJson::kShownKeyBytes) text += "… " + std::to_string(key.size()) + " bytes";
  return text;
}

std::string_view LinkStateOf(LinkFigures::State state) noexcept {
  switch (state) {
    case LinkFigures::State::kNone:
      return "none";
    case LinkFigures::State::kConnect:
      return "waiting";
    case LinkFigures::State::kConnecting:
      return "connecting";
    case LinkFigures::State::kHandshake:
      return "handshake";
    case LinkFigures::State::kTransfer:
      return "transfer";
    case LinkFigures::State::kLoading:
      return "loading";
    case LinkFigures::State::kConnected:
      break;
  }
  return "up";
}

std::string ShownHost(std::string_view host) {
  std::string text(host.substr(0, StatusJson::kShownKeyBytes));
  if (host.size() > StatusJson::kShownKeyBytes) text += "…";
  return text;
}

}  // namespace

bool StatusJson::BuildSome(Now now) {
  switch (part_++) {
    case 0:
      json_.Open('{');
      AddServer(now);
      AddSnapshots(now);
      AddReplication(now);
      return true;
    case 1:
      AddMemory();
      AddKeys(now);
      return true;
    case 2:
      AddExpiry(now);
      AddWheel(now);
      return true;
    case 3:
      AddTtls(now);
      return true;
    default:
      AddHotKeys(now);
      AddBigKeys(now);
      json_.Close('}');
      return false;
  }
}

void StatusJson::AddServer(Now now) {
  const Stats& stats = server_.stats;
  const Rates::PerSecond rates = server_.rates.At(now.mono_ms, RateTotals(stats));
  json_.Key("version").String(kMayflyVersion).Key("stopping").Bool(stopping_);
  json_.Key("uptime_ms").Number(now.mono_ms - stats.started_mono_ms);
  json_.Key("ops_per_s").Decimal(rates.commands).Key("commands").Number(stats.commands_processed);
  json_.Key("in_bytes_per_s").Decimal(rates.input_bytes);
  json_.Key("out_bytes_per_s").Decimal(rates.output_bytes);
  json_.Key("errors").Number(stats.error_replies);
  json_.Key("loop_turn_max_us").Number(stats.loop_turn_max_us);
  json_.Key("hits").Number(stats.keyspace_hits).Key("misses").Number(stats.keyspace_misses);
  json_.Key("misses_by_reason").Open('{');
  json_.Key("expired").Number(stats.MissesOf(MissReason::kExpired));
  json_.Key("evicted").Number(stats.MissesOf(MissReason::kEvicted));
  json_.Key("deleted").Number(stats.MissesOf(MissReason::kDeleted));
  json_.Key("invalidated").Number(stats.MissesOf(MissReason::kInvalidated));
  json_.Key("cold").Number(stats.MissesOf(MissReason::kCold)).Close('}');
  json_.Key("clients").Open('{').Key("connected").Number(server_.sessions.size());
  json_.Key("max").Number(server_.options.settings().maxclients);
  json_.Key("blocked").Number(server_.parking.blocked());
  json_.Key("subscribed").Number(server_.pubsub.clients());
  json_.Key("accepted").Number(stats.connections_received);
  json_.Key("refused").Number(stats.connections_rejected).Close('}');
}

void StatusJson::AddSnapshots(Now now) {
  const SaveFigures& saves = server_.stats.saves;
  const bool saving = saves.running_since_mono_ms != 0;
  const bool waits = (server_.modes & BitOf(Mode::kLoading)) != 0;
  json_.Key("save")
      .Open('{')
      .Key("running")
      .Bool(saving)
      .Key("keys_done")
      .Number(saving ? saves.keys_done : 0);
  json_.Key("keys_total").Number(saving ? saves.keys_total : 0);
  const bool saved = saves.last_save_s != 0;
  json_.Key("saved").Bool(saved);
  json_.Key("age_s").Number(saved ? std::max<int64_t>(now.wall_ms / kMsPerSecond - saves.last_save_s, 0) : 0);
  json_.Key("keys").Number(saves.last_keys).Key("bytes").Number(saves.last_bytes);
  json_.Key("took_ms").Number(saves.last_took_ms);
  json_.Key("changes").Number(server_.databases.changes().by_clients() - saves.changes_at_save);
  json_.Key("problem").String(saves.last_problem).Close('}');
  json_.Key("load").Open('{').Key("running").Bool(saves.loading).Key("clients_wait").Bool(waits);
  json_.Key("file_bytes").Number(saves.load_file_bytes).Key("bytes").Number(saves.load_done_bytes);
  json_.Key("keys").Number(saves.load_keys).Key("expired").Number(saves.load_expired);
  json_.Key("skipped").Number(saves.load_skipped).Key("took_ms").Number(saves.load_took_ms);
  json_.Key("problem").String(saves.load_problem).Close('}');
}

// The seconds of a replica's lag are those of INFO.
void StatusJson::AddReplication(Now now) {
  const LinkFigures& link = server_.link;
  const std::vector<ReplicaFigures::Line>& lines = server_.followers.lines;
  json_.Key("replication").Open('{').Key("role").String(link.follows() ? "replica" : "master");
  json_.Key("master").Open('{').Key("host").String(ShownHost(link.follows() ? link.host : ""));
  json_.Key("port").Number(link.follows() ? link.port : 0).Key("link").String(LinkStateOf(link.state));
  json_.Key("heard_ms").Number(link.up() ? now.mono_ms - link.heard_mono_ms : 0);
  json_.Key("down_ms").Number(link.follows() && !link.up() ? now.mono_ms - link.down_since_mono_ms : 0);
  json_.Key("failed").Number(link.failures).Close('}');
  json_.Key("connected").Number(lines.size()).Key("replicas").Open('[');
  for (const ReplicaFigures::Line& line : std::span(lines).first(std::min(lines.size(), kShownReplicas))) {
    json_.Open('{').Key("host").String(ShownHost(line.address)).Key("port").Number(line.port);
    json_.Key("state").String(line.state).Key("online").Bool(line.online);
    json_.Key("lag_s").Number(line.online ? (now.mono_ms - line.heard_mono_ms) / kMsPerSecond : 0);
    json_.Close('}');
  }
  json_.Close(']').Close('}');
}

void StatusJson::AddMemory() {
  const MemoryReport report = ReportMemory(server_, json_.text().capacity());
  json_.Key("memory").Open('{').Key("used").Number(report.used).Key("resident").Number(report.resident);
  json_.Key("peak").Number(report.peak).Key("dataset").Number(report.dataset);
  json_.Key("clients").Number(report.clients);
  json_.Key("max").Number(server_.options.settings().maxmemory.bytes);
  json_.Key("policy").String(server_.options.Get("maxmemory-policy").value_or("")).Close('}');
}

void StatusJson::AddKeys(Now) {
  uint64_t expiring = 0;
  for (unsigned i = 0; i < server_.databases.count(); ++i) expiring += server_.databases.At(i).expiring();
  json_.Key("keys").Number(server_.databases.total_keys()).Key("expiring").Number(expiring);
}

void StatusJson::AddExpiry(Now now) {
  const ExpiryStats& stats = server_.databases.expiry_stats();
  json_.Key("expired").Number(stats.expired()).Key("evicted").Number(stats.evicted_keys);
  json_.Key("invalidated").Number(stats.invalidated_keys);
  json_.Key("lag_us").Open('{').Key("p50").Number(stats.lag_us.Percentile(0.5));
  json_.Key("p99").Number(stats.lag_us.Percentile(0.99));
  json_.Key("p999").Number(stats.lag_us.Percentile(0.999)).Key("max").Number(stats.lag_us.max()).Close('}');
  json_.Key("backlog").Number(server_.databases.Backlog(now));
  json_.Key("wakeups").Number(stats.wheel_wakeups).Key("burst_max").Number(stats.burst_max);
}

// Writes the wheels of all databases as one: for each level 16 hexadecimal digits, with the slot of now as the lowest bit.
void StatusJson::AddWheel(Now now) {
  json_.Key("wheel").Open('[');
  for (int level = 0; level < kLevels; ++level) {
    uint64_t slots = 0;
    for (unsigned i = 0; i < server_.databases.count(); ++i)
      slots |= server_.databases.At(i).lifetimes().deadlines().SlotsAhead(level, now);
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(slots));
    json_.String(digits);
  }
  json_.Close(']');
}

void StatusJson::AddTtls(Now now) {
  const TtlWalk::Result& last = TtlWalk::Of(server_).Ask(now, kCountedAtOnce);
  json_.Key("ttl").Open('{').Key("known").Bool(last.known);
  json_.Key("age_ms").Number(last.known ? now.mono_ms - last.began_mono_ms : 0).Key("ranges").Open('[');
  const auto show = [&](std::string_view range, const TtlHistogram::Sum& sum) {
    json_.Open('{').Key("name").String(range).Key("keys").Number(sum.keys);
    json_.Key("bytes").Number(sum.bytes).Close('}');
  };
  for (size_t i = 0; i < TtlHistogram::kExpiring; ++i)
    show(TtlHistogram::kRanges[i].name, last.histogram.In(i));
  show("none", last.histogram.lasting());
  json_.Close(']').Close('}');
}

void StatusJson::AddHotKeys(Now now) {
  json_.Key("hot").Open('[');
  for (const HotKeys::Hot& hot : server_.executor->hot_keys().Hottest(kShownKeys, now.mono_ms)) {
    json_.Open('{').Key("db").Number(hot.database).Key("key").String(ShownKey(hot.key));
    json_.Key("per_s").Decimal(hot.per_second).Close('}');
  }
  json_.Close(']');
}

void StatusJson::AddBigKeys(Now now) {
  struct Big {
    uint64_t bytes;
    unsigned database;
    const Entry* entry;
  };
  std::vector<Big> biggest;
  server_.databases.ForEachBigKey(now, [&](const Keyspace& keyspace, const Entry& entry) {
    const uint64_t bytes = EntryMemory::Of(entry);
    if (bytes >= BigKeys::kStepBytes) biggest.push_back({bytes, keyspace.database(), &entry});
  });
  std::sort(biggest.begin(), biggest.end(), [](const Big& a, const Big& b) {
    return std::tuple(b.bytes, a.database, a.entry->key()) < std::tuple(a.bytes, b.database, b.entry->key());
  });
  if (biggest.size() > kShownKeys) biggest.resize(kShownKeys);
  json_.Key("big").Open('[');
  for (const Big& big : biggest) {
    json_.Open('{').Key("db").Number(big.database).Key("key").String(ShownKey(big.entry->key()));
    json_.Key("type").String(TypeName(*big.entry)).Key("bytes").Number(big.bytes).Close('}');
  }
  json_.Close(']');
}

}  // namespace mayfly
