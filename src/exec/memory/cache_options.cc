#include "exec/memory/cache_options.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cache/keyspace/databases.h"
#include "config/namespace_values.h"
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

void Prepare(Server& server, const config::Settings& settings) {
  std::vector<TtlRules::Rule> rules;
  rules.reserve(settings.ttl_rules.size());
  for (const config::TtlRule& said : settings.ttl_rules) rules.push_back(RuleFor(said));
  const TtlRules::Terms for_all{.default_ms = settings.default_ttl.ms,
                                .max_ms = settings.max_ttl.ms,
                                .jitter_percent = static_cast<unsigned>(settings.ttl_jitter_percent),
                                .required = settings.ttl_required};
  server.databases.ttl_rules().Prepare(std::move(rules), DefaultsOf(settings), for_all, server.random);
}

void PrepareNamespaces(Server& server, const config::Settings& settings) {
  std::vector<Namespaces::Wanted> wanted;
  wanted.reserve(settings.namespaces.size());
  for (const config::NamespaceTerms& said : settings.namespaces)
    wanted.push_back({said.name, said.prefix, {.bytes = said.maxmemory_bytes, .keys = said.maxkeys}});
  server.databases.namespaces().Prepare(wanted);
}

bool IsTtlOption(std::string_view name) noexcept {
  return name == "ttl-rule" || name == "default-ttl" || name == "max-ttl" || name == "ttl-required" ||
         name == "ttl-jitter" || name == "namespace";
}

}  // namespace

void FollowEvictionPolicy(Server& server) {
  SetAccessEffect(server, server.options.settings());
  server.options.OnChange([&server](const config::Settings& settings, std::string_view name) {
    if (name == "maxmemory-policy" || name == "lfu-log-factor" || name == "lfu-decay-time")
      SetAccessEffect(server, settings);
  });
}

void FollowMissRing(Server& server) {
  config::Options& options = server.options;
  Databases& databases = server.databases;
  databases.MakeMissRing(static_cast<size_t>(options.settings().miss_ring_entries));
  databases.AdoptMissRing();
  options.BeforeSet(
      [&databases, &options](const config::Settings& wanted, std::string_view name) -> config::Problem {
        const int64_t entries = wanted.miss_ring_entries;
        if (name == "miss-ring-entries" && entries != options.settings().miss_ring_entries)
          databases.MakeMissRing(static_cast<size_t>(entries));
        return std::nullopt;
      });
  options.AfterSet(
      [&databases](bool accepted) { accepted ? databases.AdoptMissRing() : databases.DropMissRing(); });
}

void FollowTtlRules(Server& server) {
  TtlRules& rules = server.databases.ttl_rules();
  Prepare(server, server.options.settings());
  rules.Adopt();
  server.options.BeforeSet(
      [&server](const config::Settings& wanted, std::string_view name) -> config::Problem {
        if (IsTtlOption(name)) Prepare(server, wanted);
        return std::nullopt;
      });
  server.options.AfterSet([&rules](bool accepted) { accepted ? rules.Adopt() : rules.Drop(); });
}

void FollowNamespaces(Server& server) {
  Databases& databases = server.databases;
  PrepareNamespaces(server, server.options.settings());
  databases.AdoptNamespaces();
  server.options.BeforeSet(
      [&server](const config::Settings& wanted, std::string_view name) -> config::Problem {
        if (name != "namespace") return std::nullopt;
        if (config::Problem problem = config::CheckNamespaces(wanted)) return problem;
        PrepareNamespaces(server, wanted);
        return std::nullopt;
      });
  server.options.AfterSet([&databases](bool accepted) {
    if (!accepted) return databases.namespaces().Drop();
    databases.AdoptNamespaces();
  });
}

}  // namespace mayfly
