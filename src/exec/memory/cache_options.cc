#include "exec/memory/cache_options.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cache/keyspace/databases.h"
#include "cache/tags/task_name.h"
#include "config/namespace_values.h"
#include "config/sources/candidate.h"
#include "config/sources/options.h"

namespace mayfly {
namespace {

std::optional<uint64_t> MsOf(const std::optional<config::Duration>& time) noexcept {
  return time ? std::optional(time->ms) : std::nullopt;
}

AccessEffect AccessEffectOf(EvictionPolicy policy) noexcept {
  switch (policy) {
    case EvictionPolicy::kAllKeysSieve:
    case EvictionPolicy::kAllKeysS3Fifo:
    case EvictionPolicy::kVolatileS3Fifo:
      return AccessEffect::kVisitedBit;
    case EvictionPolicy::kAllKeysLfu:
    case EvictionPolicy::kVolatileLfu:
      return AccessEffect::kFrequency;
    default:
      return AccessEffect::kRecency;
  }
}

void SetAccessEffect(Server& server, const config::Settings& settings) {
  const EvictionPolicy policy = settings.maxmemory_policy;
  server.databases.KeepGhosts(policy == EvictionPolicy::kAllKeysS3Fifo ||
                              policy == EvictionPolicy::kVolatileS3Fifo);
  server.databases.SetAccessEffect(AccessEffectOf(policy), {.log_factor = settings.lfu_log_factor,
                                                            .decay_minutes = settings.lfu_decay_time_minutes,
                                                            .random = &server.random});
}

TtlRules::Rule RuleFor(const config::TtlRule& said) {
  TtlRules::Rule rule{
      .pattern = said.pattern, .default_ms = MsOf(said.default_ttl), .max_ms = MsOf(said.max_ttl)};
  if (said.jitter_percent) rule.jitter_percent = static_cast<unsigned>(*said.jitter_percent);
  if (said.required) rule.required = true;
  if (!said.stream.empty()) rule.task = TaskTagOf({.stream = said.stream});
  return rule;
}

TtlRules::PrefixDefaults DefaultsOf(const config::Settings& settings) {
  std::vector<std::string> prefixes;
  TtlRules::PrefixDefaults defaults;
  for (const config::NamespaceTerms& said : settings.namespaces) {
    prefixes.push_back(said.prefix);
    defaults.ms.push_back(said.default_ttl.ms);
  }
  defaults.prefixes = PrefixTable(prefixes);
  return defaults;
}

TtlRules::Said TtlRulesOf(const config::Settings& settings) {
  std::vector<TtlRules::Rule> rules;
  rules.reserve(settings.ttl_rules.size());
  for (const config::TtlRule& said : settings.ttl_rules) rules.push_back(RuleFor(said));
  return {.rules = std::move(rules),
          .defaults = DefaultsOf(settings),
          .for_all = {.default_ms = settings.default_ttl.ms,
                      .max_ms = settings.max_ttl.ms,
                      .jitter_percent = static_cast<unsigned>(settings.ttl_jitter_percent),
                      .required = settings.ttl_required}};
}

std::vector<Namespaces::Wanted> NamespacesOf(const config::Settings& settings) {
  std::vector<Namespaces::Wanted> wanted;
  wanted.reserve(settings.namespaces.size());
  for (const config::NamespaceTerms& said : settings.namespaces)
    wanted.push_back({said.name, said.prefix, {.bytes = said.maxmemory_bytes, .keys = said.maxkeys}});
  return wanted;
}

MissRing MissRingOf(const config::Settings& settings, Databases& databases) {
  return {databases.heap(), static_cast<size_t>(settings.miss_ring_entries)};
}

}  // namespace

void FollowEvictionPolicy(Server& server) {
  server.options.FollowFromNow(
      [&server](const config::Settings& settings) { SetAccessEffect(server, settings); },
      &config::Settings::maxmemory_policy, &config::Settings::lfu_log_factor,
      &config::Settings::lfu_decay_time_minutes);
}

void FollowMissRing(Server& server) {
  Databases& databases = server.databases;
  const config::Settings& now = server.options.settings();
  const auto make = [&databases, &now](const config::Settings& wanted) -> std::optional<MissRing> {
    if (wanted.miss_ring_entries == now.miss_ring_entries)
      return std::nullopt;  // the ring keeps what it knows
    return MissRingOf(wanted, databases);
  };
  const auto adopt = [&databases](MissRing&& ring) { databases.AdoptMissRing(std::move(ring)); };
  adopt(MissRingOf(now, databases));
  server.options.Prepare(config::Keeping(make, adopt), &config::Settings::miss_ring_entries);
}

void FollowTtlRules(Server& server) {
  using config::Settings;
  const auto make = [](const Settings& wanted) { return std::optional(TtlRulesOf(wanted)); };
  const auto adopt = [&rules = server.databases.ttl_rules(), &random = server.random](TtlRules::Said&& said) {
    rules.Adopt(std::move(said), random);
  };
  adopt(TtlRulesOf(server.options.settings()));
  server.options.Prepare(config::Keeping(make, adopt), &Settings::ttl_rules, &Settings::default_ttl,
                         &Settings::max_ttl, &Settings::ttl_required, &Settings::ttl_jitter_percent,
                         &Settings::namespaces);
}

void FollowStreamLimits(Server& server) {
  server.options.FollowFromNow(
      [&server](const config::Settings& settings) {
        server.databases.task_settings().node_bytes = settings.stream_node_max_bytes;
        server.databases.task_settings().node_entries = static_cast<size_t>(settings.stream_node_max_entries);
      },
      &config::Settings::stream_node_max_bytes, &config::Settings::stream_node_max_entries);
}

void FollowNamespaces(Server& server) {
  Databases& databases = server.databases;
  const auto make = [&databases](const config::Settings& wanted) {
    return std::optional(databases.namespaces().Prepare(NamespacesOf(wanted)));
  };
  const auto adopt = [&databases](Namespaces::Prepared&& prepared) {
    databases.AdoptNamespaces(std::move(prepared));
  };
  adopt(*make(server.options.settings()));
  server.options.Prepare({.prepare = config::CheckNamespaces}, &config::Settings::namespaces);
  server.options.Prepare(config::Keeping(make, adopt), &config::Settings::namespaces);
}

}  // namespace mayfly
