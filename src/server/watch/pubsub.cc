#include "server/watch/pubsub.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "base/memory/heap.h"
#include "base/text/glob.h"
#include "resp/bulk_text.h"
#include "server/clients/sessions.h"

namespace mayfly {
namespace {

std::string_view WordOf(TopicKind kind) noexcept {
  switch (kind) {
    case TopicKind::kChannel:
      return "message";
    case TopicKind::kPattern:
      return "pmessage";
    case TopicKind::kShardChannel:
      break;
  }
  return "smessage";
}

// From the number of elements to the last byte before the channel's name.
std::string HeadOf(TopicKind kind, std::string_view name) {
  std::string head = kind == TopicKind::kPattern ? "4\r\n" : "3\r\n";
  resp::AppendBulk(head, WordOf(kind));
  if (kind == TopicKind::kPattern) resp::AppendBulk(head, name);
  return head;
}

// Matches the rest without the anchors. Beside an anchor, "*" also matches the empty text.
bool Matches(std::string_view pattern, std::string_view text, bool beside_anchor) noexcept {
  if (text.empty() && beside_anchor) return pattern.find_first_not_of('*') == std::string_view::npos;
  return GlobMatch(pattern, text);
}

constexpr uint64_t kSubscriptionBytes =
    MallocSizeClass(sizeof(Subscription)) + NodeBytes<Subscriptions::ByName>();

}  // namespace

PubSub::PubSub(ClientEnds& ends, Sessions& sessions, uint64_t& name_bytes, const Hasher& hasher)
    : Listener(ends),
      sessions_(sessions),
      name_bytes_(name_bytes),
      hash_(hasher),
      topics_{Topics(0, hash_), Topics(0, hash_), Topics(0, hash_)} {}

// Channel and message, encoded for all subscribers.
class PubSub::Message {
 public:
  Message(std::string_view channel, std::string_view message) {
    resp::AppendBulk(text_, channel);
    text_.append("$").append(std::to_string(message.size())).append("\r\n");
    if (text_.size() + message.size() > OutputChain::kCopyMax) {
      block_ = SharedBytes::Allocate(text_.size() + message.size() + 2);
      char* at = block_.data() + text_.copy(block_.data(), text_.size());
      at += message.copy(at, message.size());
      std::string_view("\r\n").copy(at, 2);
    } else {
      text_.append(message).append("\r\n");
    }
  }

  void AppendTo(OutputChain& output) const {
    block_ ? output.AppendShared(block_, 0, block_.size()) : output.Append(text_);
  }

 private:
  std::string text_;
  SharedBytes block_;  // null: text_ is the whole message
};

// ---- subscriptions

bool PubSub::Subscribe(Session& session, TopicKind kind, std::string_view name) {
  if (session.subscriptions == nullptr) session.subscriptions = std::make_unique<Subscriptions>(hash_);
  Subscriptions::ByName& own = session.subscriptions->of(kind);
  if (own.contains(name)) return false;
  const auto found = all(kind).find(name);
  Topic& topic = found != all(kind).end() ? *found->second : Add(kind, name);
  try {
    auto subscription =
        std::unique_ptr<Subscription>(new Subscription{&session, &topic, topic.subscribers.size()});
    const uint64_t array_before = ArrayBytes(topic.subscribers);
    topic.subscribers.push_back(subscription.get());
    name_bytes_ += ArrayBytes(topic.subscribers) - array_before;
    try {
      const uint64_t buckets_before = BucketBytes(own);
      own.emplace(topic.name, std::move(subscription));
      name_bytes_ += kSubscriptionBytes + BucketBytes(own) - buckets_before;
    } catch (...) {
      topic.subscribers.pop_back();
      throw;
    }
  } catch (...) {
    if (topic.subscribers.empty()) Remove(topic);
    throw;
  }
  session.subscriptions->bytes += BytesWith(topic);
  UpdateMode(session);
  return true;
}

bool PubSub::Unsubscribe(Session& session, TopicKind kind, std::string_view name) noexcept {
  if (session.subscriptions == nullptr) return false;
  Subscriptions::ByName& own = session.subscriptions->of(kind);
  const auto found = own.find(name);
  if (found == own.end()) return false;
  const std::unique_ptr<Subscription> subscription = std::move(found->second);
  own.erase(found);
  Unlink(*subscription);
  UpdateMode(session);
  return true;
}

void PubSub::OnClientEnd(Session& session) noexcept {
  if (session.subscriptions == nullptr) return;
  for (Subscriptions::ByName& own : session.subscriptions->by_kind) {
    while (!own.empty()) {
      const std::unique_ptr<Subscription> subscription = std::move(own.begin()->second);
      own.erase(own.begin());
      Unlink(*subscription);
    }
  }
  UpdateMode(session);
}

void PubSub::UpdateMode(Session& session) noexcept {
  const bool subscribed = !session.subscriptions->empty();
  if (!subscribed) {
    for (const Subscriptions::ByName& own : session.subscriptions->by_kind) name_bytes_ -= BucketBytes(own);
    session.subscriptions.reset();
  }
  if (subscribed == session.Has(Mode::kSubscribed)) return;
  session.Put(Mode::kSubscribed, subscribed);
  subscribed ? ++clients_ : --clients_;
}

void PubSub::Unlink(Subscription& subscription) noexcept {
  Topic& topic = *subscription.topic;
  subscription.session->subscriptions->bytes -= BytesWith(topic);
  name_bytes_ -= kSubscriptionBytes;
  Subscription*& place = topic.subscribers[subscription.place];
  place = topic.subscribers.back();
  place->place = subscription.place;
  topic.subscribers.pop_back();
  if (topic.subscribers.empty()) Remove(topic);
}

size_t PubSub::subscribers(TopicKind kind, std::string_view name) const noexcept {
  const auto found = topics(kind).find(name);
  return found == topics(kind).end() ? 0 : found->second->subscribers.size();
}

// ---- topics

// A class in brackets may extend to the end of the pattern, and a backslash belongs to the byte after it: neither has an
// anchor behind it.
PubSub::Anchor PubSub::AnchorOf(std::string_view pattern) noexcept {
  const size_t first = pattern.find_first_of("*?[\\");
  if (first != 0 || pattern.find_first_of("[\\") != std::string_view::npos)
    return {kFront, pattern.substr(0, first)};
  const std::string_view end = pattern.substr(pattern.find_last_of("*?") + 1);
  return end.empty() ? Anchor{kFront, {}} : Anchor{kBack, end};
}

uint64_t PubSub::BytesOf(const Topic& topic) noexcept {
  return MallocSizeClass(sizeof(Topic)) + NodeBytes<Topics>() + TextBytes(topic.name) + TextBytes(topic.head);
}

uint64_t PubSub::BytesWith(const Topic& topic) noexcept { return kSubscriptionBytes + BytesOf(topic); }

Topic& PubSub::Add(TopicKind kind, std::string_view name) {
  auto topic = std::unique_ptr<Topic>(new Topic{kind, std::string(name), HeadOf(kind, name), {}});
  Topic& added = *topic;
  const uint64_t buckets_before = BucketBytes(all(kind));
  const auto place = all(kind).emplace(added.name, std::move(topic)).first;
  name_bytes_ += BucketBytes(all(kind)) - buckets_before;
  try {
    if (kind == TopicKind::kPattern) Shelve(added);
  } catch (...) {
    all(kind).erase(place);
    throw;
  }
  name_bytes_ += BytesOf(added);
  return added;
}

void PubSub::Remove(Topic& topic) noexcept {
  if (topic.kind == TopicKind::kPattern) Unshelve(topic);
  name_bytes_ -= BytesOf(topic) + ArrayBytes(topic.subscribers);
  Topics& same_kind = all(topic.kind);
  same_kind.erase(same_kind.find(topic.name));
}

void PubSub::Shelve(Topic& pattern) {
  const Anchor anchor = AnchorOf(pattern.name);
  try {
    Shelf& shelf = shelves_[anchor.side].try_emplace(anchor.text.size(), 0, hash_).first->second;
    const uint64_t buckets_before = BucketBytes(shelf);
    const auto [place, added] = shelf.try_emplace(std::string(anchor.text));
    if (added) name_bytes_ += kPlaceBytes + TextBytes(place->first) + BucketBytes(shelf) - buckets_before;
    const uint64_t array_before = ArrayBytes(place->second);
    place->second.push_back(&pattern);
    name_bytes_ += ArrayBytes(place->second) - array_before;
  } catch (...) {
    Unshelve(pattern);
    throw;
  }
}

void PubSub::Unshelve(Topic& pattern) noexcept {
  const Anchor anchor = AnchorOf(pattern.name);
  std::map<size_t, Shelf>& shelves = shelves_[anchor.side];
  const auto shelf = shelves.find(anchor.text.size());
  if (shelf == shelves.end()) return;
  if (const auto place = shelf->second.find(anchor.text); place != shelf->second.end()) {
    std::erase(place->second, &pattern);
    if (place->second.empty()) {
      name_bytes_ -= kPlaceBytes + TextBytes(place->first) + ArrayBytes(place->second);
      shelf->second.erase(place);
    }
  }
  if (!shelf->second.empty()) return;
  name_bytes_ -= BucketBytes(shelf->second);
  shelves.erase(shelf);
}

// ---- messages

size_t PubSub::Publish(std::string_view channel, std::string_view message) {
  const auto found = topics(TopicKind::kChannel).find(channel);
  const bool known = found != topics(TopicKind::kChannel).end();
  if (!known && topics(TopicKind::kPattern).empty()) return 0;
  const Message encoded(channel, message);
  return (known ? Deliver(*found->second, encoded) : 0) + DeliverByPattern(channel, encoded);
}

size_t PubSub::DeliverByPattern(std::string_view channel, const Message& message) noexcept {
  size_t receivers = 0;
  for (const size_t side : {kFront, kBack}) {
    for (const auto& [length, shelf] : shelves_[side]) {
      if (length > channel.size()) break;
      const auto place = shelf.find(channel.substr(side == kFront ? 0 : channel.size() - length, length));
      if (place == shelf.end()) continue;
      const auto without_anchor = [side, anchor = length](std::string_view text) {
        return side == kFront ? text.substr(anchor) : text.substr(0, text.size() - anchor);
      };
      for (const Topic* pattern : place->second) {
        if (Matches(without_anchor(pattern->name), without_anchor(channel), length != 0))
          receivers += Deliver(*pattern, message);
      }
    }
  }
  return receivers;
}

size_t PubSub::PublishToShard(std::string_view channel, std::string_view message) {
  const auto found = topics(TopicKind::kShardChannel).find(channel);
  if (found == topics(TopicKind::kShardChannel).end()) return 0;
  return Deliver(*found->second, Message(channel, message));
}

size_t PubSub::Deliver(const Topic& topic, const Message& message) noexcept {
  for (const Subscription* subscription : topic.subscribers)
    SendTo(*subscription->session, topic.head, message);
  return topic.subscribers.size();
}

void PubSub::SendTo(Session& session, std::string_view head, const Message& message) noexcept {
  if (session.closes() || session.Has(Mode::kOutputFull)) return;
  try {
    OutputChain& output = session.PushOutput();
    output.Append(session.reply.version() == 2 ? "*" : ">");
    output.Append(head);
    message.AppendTo(output);
  } catch (const std::bad_alloc&) {
    session.LoseMessage();
  }
  if (session.attached()) sessions_.MarkDirty(session);
}

}  // namespace mayfly
