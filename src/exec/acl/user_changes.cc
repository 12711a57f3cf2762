#include "exec/acl/user_changes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "config/sources/candidate.h"
#include "config/sources/options.h"
#include "exec/acl/permission.h"
#include "server/acl/user.h"
#include "server/clients/sessions.h"
#include "server/clients/subscriptions.h"

namespace mayfly {
namespace {

template <typename Fn>
void ForEachClientOf(const Server& server, const User& user, Fn&& fn) {
  for (const auto& [id, session] : server.sessions.by_id()) {
    if (session->user() == &user) fn(*session);
  }
}

// Called after changed rules. New rules of the default user may also log in all clients without a login.
void RefreshClients(Server& server, const User& user) noexcept {
  server.modes |= BitOf(Mode::kNewRules);
  ForEachClientOf(server, user, [&](Session& session) { session.LogIn(&user); });
  if (server.users.Newcomer() != &user) return;
  for (const auto& [id, session] : server.sessions.by_id()) {
    if (session->user() == nullptr && !session->closes()) session->LogIn(&user);
  }
}

// As in Redis, the rest of a running transaction has the rights of the default user.
void LogOut(Server& server, const User& user, const Session* running) noexcept {
  ForEachClientOf(server, user, [&](Session& session) {
    session.LogIn(&session == running ? &server.users.default_user() : nullptr);
    CloseClient(server, session, running);
  });
}

bool HasAllChannels(const User& user) noexcept {
  return std::any_of(user.selectors().begin(), user.selectors().end(),
                     [](const Selector& selector) { return selector.all_channels(); });
}

std::vector<std::string> ChannelsOf(const User& user) {
  std::vector<std::string> channels;
  for (const Selector& selector : user.selectors())
    channels.insert(channels.end(), selector.channels().begin(), selector.channels().end());
  return channels;
}

bool MayKeep(const Subscriptions& subscriptions, const std::vector<std::string>& channels) noexcept {
  for (const TopicKind kind : {TopicKind::kChannel, TopicKind::kPattern, TopicKind::kShardChannel}) {
    for (const auto& [name, subscription] : subscriptions.by_kind[static_cast<size_t>(kind)]) {
      if (!AnyAllows(channels, name, kind == TopicKind::kPattern)) return false;
    }
  }
  return true;
}

// The clients of `user` with subscriptions forbidden to the user `next`.
std::vector<Session*> SubscribersToClose(const Server& server, const User& user, const User& next) {
  std::vector<Session*> found;
  if (HasAllChannels(next)) return found;
  const std::vector<std::string> channels = ChannelsOf(next);
  ForEachClientOf(server, user, [&](Session& session) {
    if (session.subscriptions != nullptr && !MayKeep(*session.subscriptions, channels))
      found.push_back(&session);
  });
  return found;
}

}  // namespace

void CloseClient(Server& server, Session& session, const Session* running) noexcept {
  if (&session == running) return session.Set(Mode::kEnding);
  session.Set(Mode::kDropped);
  server.sessions.MarkDirty(session);
}

void PutUser(Server& server, User user, const Session* running) {
  user.SetQuick(QuickRightsOf(user, server.commands));
  std::vector<Session*> closed;
  if (const User* const old = server.users.Find(user.name())) closed = SubscribersToClose(server, *old, user);
  const User& put = server.users.Put(std::move(user));
  for (Session* const session : closed) CloseClient(server, *session, running);
  RefreshClients(server, put);
}

bool RemoveUser(Server& server, std::string_view name, const Session* running) noexcept {
  const std::unique_ptr<User> removed = server.users.Remove(name);
  if (removed == nullptr) return false;
  LogOut(server, *removed, running);
  return true;
}

void ReplaceUsers(Server& server, std::vector<User> users, const Session* running) {
  for (User& user : users) user.SetQuick(QuickRightsOf(user, server.commands));
  Users fresh;
  fresh.Begin(server.commands.catalogue());
  for (User& user : users) fresh.Put(std::move(user));
  User& old_default = server.users.default_user();
  for (const auto& [name, user] : server.users.by_name()) {
    if (user.get() != &old_default) LogOut(server, *user, running);
  }
  old_default = std::move(fresh.default_user());
  server.users.TakeOthers(std::move(fresh));
  RefreshClients(server, server.users.default_user());
}

void FollowRequirePass(Server& server) {
  User user = server.users.default_user();
  SetOnlyPassword(user, server.options.settings().requirepass);
  PutUser(server, std::move(user), nullptr);
  const auto make = [&server](const config::Settings& wanted) -> std::optional<User> {
    if (wanted.requirepass == server.options.settings().requirepass) return std::nullopt;
    User made = server.users.default_user();
    SetOnlyPassword(made, wanted.requirepass);
    made.SetQuick(QuickRightsOf(made, server.commands));
    return made;
  };
  // It may read what it could read before, so nobody who has subscribed is closed.
  const auto adopt = [&server](User&& made) {
    User& default_user = server.users.default_user();
    default_user = std::move(made);
    RefreshClients(server, default_user);
  };
  server.options.Prepare(config::Keeping(make, adopt), &config::Settings::requirepass);
}

}  // namespace mayfly
