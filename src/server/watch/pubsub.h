// Publish and subscribe: the subscribers of each channel and pattern, and the delivery of messages.
//
// A message is encoded once. Subscribers get copies of a small message, and share the bytes of a larger message. The message
// waits in each output until the end of the turn, when each client is written once. Patterns are found by the text before
// their first wildcard, or after their last wildcard: a message is only compared with patterns whose text begins or ends the
// channel's name.
//
// A client in the middle of a request gets its own messages after the reply (Session::PushOutput). A client is closed if
// there is no memory for its message, or if its unread output exceeds the limit; other clients do not notice.
//
// Ownership: PubSub owns the topics; a topic exists while it has subscribers. Subscriptions belong to their sessions. Loop
// thread only.
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

// A channel or pattern with subscribers.
struct Topic {
  TopicKind kind;
  std::string name;
  std::string head;  // the bytes before channel and message on the wire, without the first byte
  std::vector<Subscription*> subscribers;  // in no order
};

class PubSub final : private ClientEnds::Listener {
 public:
  // Borrows all arguments. `name_bytes`: Stats::name_bytes.
  PubSub(ClientEnds& ends, Sessions& sessions, uint64_t& name_bytes, const Hasher& hasher);
  PubSub(const PubSub&) = delete;
  PubSub& operator=(const PubSub&) = delete;

  // True if the subscription is new. Throws std::bad_alloc without a change.
  bool Subscribe(Session& session, TopicKind kind, std::string_view name);
  // True if there was a subscription.
  bool Unsubscribe(Session& session, TopicKind kind, std::string_view name) noexcept;

  // Sends the message to all subscribers of the channel, and of matching patterns. Returns the number of messages sent.
  // Throws std::bad_alloc before the first is sent.
  size_t Publish(std::string_view channel, std::string_view message);
  // Sends the message to all subscribers of the shard channel.
  size_t PublishToShard(std::string_view channel, std::string_view message);

  // True if no client could get a message by Publish.
  bool Deserted() const noexcept {
    return topics(TopicKind::kChannel).empty() && topics(TopicKind::kPattern).empty();
  }
  size_t subscribers(TopicKind kind, std::string_view name) const noexcept;
  // Clients with a subscription.
  size_t clients() const noexcept { return clients_; }

  // The values own the names.
  using Topics = std::unordered_map<std::string_view, std::unique_ptr<Topic>, TextHash>;
  const Topics& topics(TopicKind kind) const noexcept { return topics_[static_cast<size_t>(kind)]; }

 private:
  // Ends all subscriptions of the session.
  void OnClientEnd(Session& session) noexcept override;
  class Message;
  // The text before the first wildcard of a pattern, or if empty, after the last.
  struct Anchor {
    size_t side;  // of shelves_
    std::string_view text;
  };
  // Patterns by anchor; all anchors of a shelf have the same length.
  using Shelf = std::unordered_map<std::string, std::vector<Topic*>, TextHash, std::equal_to<>>;
  static constexpr uint64_t kPlaceBytes = NodeBytes<Shelf>();
  static constexpr size_t kFront = 0;
  static constexpr size_t kBack = 1;

  Topics& all(TopicKind kind) noexcept { return topics_[static_cast<size_t>(kind)]; }
  // The memory of a topic, and of a topic with one subscription.
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
