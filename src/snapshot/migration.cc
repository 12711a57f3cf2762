#include "snapshot/migration.h"

#include <algorithm>
#include <cassert>
#include <initializer_list>
#include <utility>

#include "cache/keyspace/databases.h"
#include "cache/time/lifetime.h"
#include "server/cluster/cluster.h"
#include "server/figures/stats.h"
#include "snapshot/dump_payload.h"

namespace mayfly {
namespace {

// The words of Redis.
constexpr std::string_view kCannotConnect = "IOERR error or timeout connecting to the client";
constexpr std::string_view kWriting = "writing";
constexpr std::string_view kReading = "reading";
constexpr std::string_view kTooBusy =
    "ERR the key was changed more often than it could be sent, and was not moved: ";

// A payload of this size is sent without another copy.
constexpr size_t kLargePayload = size_t{64} << 10;
constexpr size_t kBatchBytes = size_t{64} << 10;

void AppendHead(std::string& to, size_t words) {
  to.append("*").append(std::to_string(words)).append("\r\n");
}
void AppendSize(std::string& to, size_t bytes) {
  to.append("$").append(std::to_string(bytes)).append("\r\n");
}
void AppendWord(std::string& to, std::string_view word) {
  AppendSize(to, word.size());
  to.append(word).append("\r\n");
}
std::string RequestTo(std::initializer_list<std::string_view> words) {
  std::string request;
  AppendHead(request, words.size());
  for (const std::string_view word : words) AppendWord(request, word);
  return request;
}

bool RemovesUnasked(ChangeReason reason) noexcept {
  return reason == ChangeReason::kExpired || reason == ChangeReason::kEvicted;
}

}  // namespace

Migration::Migration(Context& ctx, MigrationOrder&& order)
    : migrations_(Migrations::Of(ctx.server)),
      databases_(ctx.server.databases),
      parking_(ctx.server.parking),
      bytes_(ctx.server.stats.migration_bytes),
      session_(ctx.session),
      db_(ctx.session.db),
      order_(std::move(order)),
      deadline_mono_ms_(ctx.now.mono_ms + order_.timeout_ms) {
  if (!order_.copy)
    databases_.changes().Listen(*this, {.reasons = ChangeHub::kAllReasons, .listened_only = true});
}

Migration::~Migration() {
  databases_.changes().Unlisten(*this);
  while (!under_way_.empty()) Forget(under_way_.begin());
  bytes_ -= awaited_bytes_;
}

void Migration::OnNews() noexcept {
  if (session_.parked != nullptr) parking_.Wake(*session_.parked, WakeReason::kReady);
}

void Migration::OnChange(const Change& change) noexcept {
  if (change.database != db_) return;
  const bool of_many = change.reason == ChangeReason::kFlushed || change.reason == ChangeReason::kSwapped ||
                       change.reason == ChangeReason::kNamespaceFlushed;
  if (of_many) {
    for (auto key = under_way_.lower_bound(change.key);
         key != under_way_.end() && std::string_view(key->first).starts_with(change.key); ++key) {
      // What is still there is of a namespace within, or older than the namespace. Its deadline is no matter here.
      const bool spared =
          change.reason == ChangeReason::kNamespaceFlushed && change.keyspace.Holds(key->first, Now{});
      if (!spared) key->second.changed = true;
    }
    return;
  }
  const auto key = under_way_.find(change.key);
  if (change.entry == nullptr || key == under_way_.end()) return;
  if (!RemovesUnasked(change.reason)) key->second.changed = true;
}

// ---- the course

bool Migration::Continue(Context& ctx) {
  assert(!over_);
  if (link_.connection == nullptr) Connect(ctx);
  while (!over_ && !awaited_.empty() && ReadReply(ctx)) {
  }
  if (!over_ && link_.connection->ended()) OnLost(ctx);
  if (!over_ && link_.connection->state() == OutgoingConnection::State::kOpen) {
    if (ready_) SendMore(ctx);
    if (ready_ && AllSent() && awaited_.empty()) Finish(ctx.now);
  }
  if (over_) return false;
  NoteProgress(ctx.now);
  if (ctx.now.mono_ms >= deadline_mono_ms_) GiveUp();
  return !over_;
}

void Migration::Connect(Context& ctx) {
  link_ = migrations_.TakeIdle(order_.route, *this);
  from_idle_ = link_.connection != nullptr;
  if (!from_idle_) {
    Outgoing* const outgoing = order_.route.by_tls ? ctx.server.outgoing_by_tls : ctx.server.outgoing;
    if (outgoing == nullptr) {
      over_ = true;
      error_ = kCannotConnect;
      return;
    }
    link_.connection = outgoing->Connect(order_.route.host, order_.route.port, *this);
  }
  SendGreeting();
}

void Migration::SendGreeting() {
  const Route& route = order_.route;
  if (route.logs_in && !from_idle_) {
    link_.connection->Send(route.user.empty() ? RequestTo({"AUTH", route.password})
                                              : RequestTo({"AUTH", route.user, route.password}));
    Await({.to = Reply::kLogin, .key = under_way_.end()});
  }
  if (link_.database != order_.database) {
    link_.connection->Send(RequestTo({"SELECT", std::to_string(order_.database)}));
    Await({.to = Reply::kSelect, .key = under_way_.end()});
  }
  ready_ = awaited_.empty();
}

void Migration::Await(Awaited awaited) {
  awaited_.push_back(awaited);
  awaited_bytes_ += awaited.bytes;
  bytes_ += awaited.bytes;
}

// The target's progress moves the deadline: the target takes bytes, or replies.
void Migration::NoteProgress(Now now) noexcept {
  const uint64_t progress = sent_bytes_ - std::min<uint64_t>(sent_bytes_, link_.connection->unsent()) +
                            replies_ +
                            (link_.connection->state() == OutgoingConnection::State::kOpen ? 1 : 0);
  if (progress == progress_) return;
  progress_ = progress;
  deadline_mono_ms_ = now.mono_ms + order_.timeout_ms;
}

void Migration::Finish(Now now) {
  over_ = true;
  link_.database = order_.database;
  if (link_.connection->received().empty())
    migrations_.Keep(std::move(order_.route), std::move(link_), now.mono_ms);
}

// ---- replies

bool Migration::ReadReply(Context& ctx) {
  const std::string_view received = link_.connection->received();
  if (received.empty()) return false;
  resp::ReplyReader reader(received.substr(0, kMostReplyBytes));
  resp::ReplyToken reply;
  const resp::ReplyStatus status = reader.Next(reply);
  if (status == resp::ReplyStatus::kNeedMore && received.size() < kMostReplyBytes) return false;
  const bool fits = status == resp::ReplyStatus::kToken &&
                    (reply.kind == resp::ReplyKind::kSimple || reply.kind == resp::ReplyKind::kError ||
                     (reply.kind == resp::ReplyKind::kInteger && awaited_.front().to == Reply::kDelete));
  if (!fits) {
    FailAs(kReading);
    return false;
  }
  const size_t size = std::min(received.size(), kMostReplyBytes) - reader.rest().size();
  any_reply_ = true;
  ++replies_;
  Take(ctx, reply);
  if (!over_) link_.connection->Consume(size);
  return !over_;
}

void Migration::Take(Context& ctx, const resp::ReplyToken& reply) {
  const Awaited awaited = awaited_.front();
  awaited_.pop_front();
  awaited_bytes_ -= awaited.bytes;
  bytes_ -= awaited.bytes;
  const bool failed = reply.kind == resp::ReplyKind::kError;
  if (failed && error_.empty()) error_ = "ERR Target instance replied with error: " + std::string(reply.text);
  switch (awaited.to) {
    case Reply::kLogin:
    case Reply::kSelect:
      if (failed) over_ = true;
      ready_ = awaited_.empty();
      return;
    case Reply::kRestore:
      return failed ? Forget(awaited.key) : Confirm(ctx, awaited.key);
    case Reply::kDelete:
      return;
  }
}

void Migration::Confirm(Context& ctx, Keys::iterator key) {
  const UnderWay& state = key->second;
  const bool exists = ctx.keyspace.Peek(ctx.keyspace.KeyOf(key->first), ctx.now) != nullptr;
  if (!state.changed) {
    if (!order_.copy) ctx.keyspace.Delete(ctx.keyspace.KeyOf(key->first), ctx.now);
    ++moved_;
  } else if (exists && state.sends < kMostSends) {
    return again_.push_back(key);
  } else {
    if (exists && error_.empty()) error_.append(kTooBusy).append(key->first);
    SendDelete(key->first);
  }
  Forget(key);
}

void Migration::Forget(Keys::iterator key) noexcept {
  if (key->second.held) parking_.ReleaseKey(db_, key->first);
  under_way_.erase(key);
}

// ---- requests

void Migration::Flush() {
  sent_bytes_ += out_.size();
  link_.connection->Send(std::exchange(out_, {}));
}

void Migration::SendMore(Context& ctx) {
  while (awaited_.size() < kWindowKeys && awaited_bytes_ < kWindowBytes && SendNext(ctx)) {
    if (out_.size() >= kBatchBytes) Flush();
  }
  Flush();
}

// Returns false if all keys were sent.
bool Migration::SendNext(Context& ctx) {
  if (AllSent()) return false;
  auto key = under_way_.end();
  if (!again_.empty()) {
    key = again_.front();
    again_.pop_front();
  } else {
    const auto [added, is_new] = under_way_.try_emplace(order_.keys[next_++]);
    if (!is_new) return true;  // named twice
    key = added;
  }
  Entry* const entry = ctx.keyspace.Peek(ctx.keyspace.KeyOf(key->first), ctx.now);
  std::string payload;
  if (entry != nullptr) payload = DumpPayloadOf(*entry, ctx.now);
  if (entry == nullptr || payload.empty()) {  // gone meanwhile: a copy sent before goes, too
    if (key->second.sends != 0) SendDelete(key->first);
    Forget(key);
    return true;
  }
  UnderWay& state = key->second;
  if (!order_.copy) {
    if (state.sends == kSendsUnheld) {
      parking_.HoldKey(db_, key->first);
      state.held = true;
    }
    entry->Set(EntryFlag::kListened);
  }
  state.changed = false;
  SendValue(ctx, key, *entry, std::move(payload));
  return true;
}

void Migration::SendValue(Context& ctx, Keys::iterator key, const Entry& entry, std::string&& payload) {
  const bool asks = ctx.server.cluster != nullptr && !ctx.server.cluster->emulated();
  const bool replaces = order_.replace || key->second.sends != 0;
  const int64_t ttl_ms = entry.expires() ? std::max<int64_t>(TtlMs(entry, ctx.now), 1) : 0;
  const size_t payload_bytes = payload.size();
  AppendHead(out_, replaces ? 5 : 4);
  AppendWord(out_, asks ? "RESTORE-ASKING" : "RESTORE");
  AppendWord(out_, key->first);
  AppendWord(out_, std::to_string(ttl_ms));
  AppendSize(out_, payload_bytes);
  if (payload_bytes < kLargePayload) {
    out_ += payload;
  } else {
    Flush();
    sent_bytes_ += payload_bytes;
    link_.connection->Send(std::move(payload));
  }
  out_ += "\r\n";
  if (replaces) AppendWord(out_, "REPLACE");
  ++key->second.sends;
  Await({.to = Reply::kRestore, .key = key, .bytes = payload_bytes + key->first.size()});
}

void Migration::SendDelete(std::string_view key) {
  out_ += RequestTo({"DEL", key});
  Await({.to = Reply::kDelete, .key = under_way_.end(), .bytes = key.size()});
}

// ---- failures

// A target closes idle connections. A kept connection gets a second try, unless the target has replied.
void Migration::OnLost(Context& ctx) {
  if (from_idle_ && !any_reply_) {
    link_ = {};
    out_.clear();
    next_ = 0;
    while (!under_way_.empty()) Forget(under_way_.begin());
    awaited_.clear();
    bytes_ -= std::exchange(awaited_bytes_, 0);
    Connect(ctx);
    if (over_ || !link_.connection->ended()) return;
  }
  switch (link_.connection->state()) {
    case OutgoingConnection::State::kNoAddress:
    case OutgoingConnection::State::kNoTls:
      error_ = kCannotConnect;
      break;
    case OutgoingConnection::State::kRefused:  // Redis notices when writing; by TLS at once
      if (!order_.route.by_tls) return FailAs(kWriting);
      error_ = kCannotConnect;
      break;
    default:
      return FailAs(kReading);
  }
  over_ = true;
}

void Migration::GiveUp() noexcept {
  if (link_.connection->state() == OutgoingConnection::State::kConnecting) {
    over_ = true;
    if (error_.empty()) error_ = kCannotConnect;
    return;
  }
  FailAs(link_.connection->unsent() != 0 ? kWriting : kReading);
}

// As in Redis, an earlier error of the target is reported instead.
void Migration::FailAs(std::string_view doing) noexcept {
  over_ = true;
  if (error_.empty()) error_.append("IOERR error or timeout ").append(doing).append(" to target instance");
}

}  // namespace mayfly
