#include "snapshot/migrations.h"

#include <algorithm>
#include <utility>

#include "server/figures/stats.h"
#include "server/hubs/hubs.h"

namespace mayfly {

struct Migrations::Idle final : OutgoingConnection::Listener {
  Idle(Migrations& all, Route&& to, Link&& kept, uint64_t until)
      : home(all), route(std::move(to)), link(std::move(kept)), until_mono_ms(until) {}
  void OnNews() noexcept override { home.Drop(*this); }

  Migrations& home;
  Route route;
  Link link;
  uint64_t until_mono_ms;
};

Migrations::Migrations(Server& server)
    : Alarm(server.hubs.alarms),
      server_(server),
      account_(server.hubs.accounts, server.stats.migration_bytes) {}

Migrations::~Migrations() = default;

Migrations& Migrations::Of(Server& server) {
  if (server.migrations == nullptr) server.migrations = std::make_unique<Migrations>(server);
  return static_cast<Migrations&>(*server.migrations);
}

Link Migrations::TakeIdle(const Route& route, OutgoingConnection::Listener& listener) noexcept {
  const auto found =
      std::find_if(idle_.rbegin(), idle_.rend(), [&](const auto& idle) { return idle->route == route; });
  if (found == idle_.rend()) return {};
  Link link = std::move((*found)->link);
  idle_.erase(std::next(found).base());
  Count();
  link.connection->set_listener(listener);
  return link;
}

void Migrations::Keep(Route route, Link link, uint64_t now_mono_ms) {
  auto idle = std::make_unique<Idle>(*this, std::move(route), std::move(link), now_mono_ms + kIdleMs);
  idle->link.connection->set_listener(*idle);
  if (idle_.size() == kMostIdle) idle_.erase(idle_.begin());
  idle_.push_back(std::move(idle));
  Count();
}

void Migrations::Drop(const Idle& idle) noexcept {
  std::erase_if(idle_, [&](const auto& kept) { return kept.get() == &idle; });
  Count();
}

uint64_t Migrations::NextWake() const noexcept {
  return idle_.empty() ? Alarms::kNever : idle_.front()->until_mono_ms;
}

void Migrations::OnWake(Now now, Log*) noexcept {
  std::erase_if(idle_, [&](const auto& idle) { return idle->until_mono_ms <= now.mono_ms; });
  Count();
}

void Migrations::AtEnd(Log*) noexcept {
  idle_.clear();
  Count();
}

void Migrations::Count() noexcept { server_.stats.idle_outgoing = idle_.size(); }

}  // namespace mayfly
