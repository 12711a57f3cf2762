// Publish and subscribe: the subscribers of each channel and pattern, and the delivery of messages.
//
// A message is encoded once. Its subscribers get copies of a small one, and share the bytes of a larger one. It waits in
// their output until the end of the turn, when each of them is written once. Patterns are found by the text before their
// first wildcard, or after their last one, so a message meets only those whose text its channel begins or ends with.
//
// A client that is in the middle of a request gets its own messages after the reply (Session::PushOutput). One for whose
// message there is no memory, or that has more unread output than it may, is closed; others do not notice.
//
// Ownership: topics belong to this and exist while they have subscribers; subscriptions belong to their sessions.
// Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "server/clients/name_bytes.h"
#include "server/clients/subscriptions.h"
#include "server/clients/text_hash.h"
#include "server/hubs/client_ends.h"

namespace mayfly {

class Sessions;
struct Hubs;
struct Stats;

// A channel or pattern that somebody has subscribed to.
struct Topic {
  TopicKind kind;
  std::string name;
  std::string head;  // what precedes channel and message on the wire, without the first byte
  std::vector<Subscription*> subscribers;  // in no order
};

class PubSub final : private ClientEnds::Ear {
 public:
  // Borrows all, `stats` for their name_bytes.
  PubSub(Hubs& hubs, Sessions& sessions, Stats& stats, const Hasher& hasher);
  PubSub(const PubSub&) = delete;
  PubSub& operator=(const PubSub&) = delete;

  // True if it is a new subscription. Throws std::bad_alloc, and changes nothing then.
  bool Subscribe(Session& session, TopicKind kind, std::string_view name);
  // True if there was a subscription.
  bool Unsubscribe(Session& session, TopicKind kind, std::string_view name) noexcept;

  // Sends the message to all who have subscribed to the channel, or to a pattern that it matches. Returns how many
  // messages that are. Throws std::bad_alloc before the first is sent.
  size_t Publish(std::string_view channel, std::string_view message);
  // To those who have subscribed to the shard channel.
  size_t PublishToShard(std::string_view channel, std::string_view message);

  // Whether nobody could get a message by Publish.
  bool Deserted() const noexcept {
    return topics(TopicKind::kChannel).empty() && topics(TopicKind::kPattern).empty();
  }
  size_t subscribers(TopicKind kind, std::string_view name) const noexcept;
  // Clients with a subscription.
  size_t clients() const noexcept { return clients_; }

  // The names are those of the values.
  using Topics = std::unordered_map<std::string_view, std::unique_ptr<Topic>, TextHash>;
  const Topics& topics(TopicKind kind) const noexcept { return topics_[static_cast<size_t>(kind)]; }

 private:
  // Ends all subscriptions of the session.
  void OnClientEnd(Session& session) noexcept override;
  class Message;
  // The text with which a pattern begins, or if that is empty, ends.
  struct Anchor {
    size_t side;  // of shelves_
    std::string_view text;
  };
  // Patterns by their anchors, which have the same length.
  using Shelf = std::unordered_map<std::string, std::vector<Topic*>, TextHash, std::equal_to<>>;
  static constexpr uint64_t kPlaceBytes = NodeBytes<Shelf>();
  static constexpr size_t kFront = 0;
  static constexpr size_t kBack = 1;

  Topics& all(TopicKind kind) noexcept { return topics_[static_cast<size_t>(kind)]; }
  // What a topic takes, and with it one subscription to it.
  static uint64_t BytesOf(const Topic& topic) noexcept;
  static uint64_t BytesWith(const Topic& topic) noexcept;
  Topic& Add(TopicKind kind, std::string_view name);
  void Remove(Topic& topic) noexcept;
  static Anchor AnchorOf(std::string_view pattern) noexcept;
  void Shelve(Topic& pattern);
  void Unshelve(Topic& pattern) noexcept;
  void Unlink(Subscription& subscription) noexcept;
  void UpdateMode(Session& session) noexcept;
  size_t DeliverByPattern(std::string_view channel, const Message& message) noexcept;
  size_t Deliver(const Topic& topic, const Message& message) noexcept;
  void SendTo(Session& session, std::string_view head, const Message& message) noexcept;

  Sessions& sessions_;
  uint64_t& name_bytes_;
  const TextHash hash_;
  std::array<Topics, kTopicKinds> topics_;
  std::array<std::map<size_t, Shelf>, 2>
      shelves_;  // kFront and kBack; by the anchors' length; no shelf is empty
  size_t clients_ = 0;
};

}  // namespace mayfly
