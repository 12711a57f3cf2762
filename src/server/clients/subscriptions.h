// The subscriptions of a client: channels, patterns and shard channels. Loop thread only.
//
// Ownership: the session owns this. Only PubSub (server/watch/pubsub.h) changes subscriptions, and links each subscription
// to a topic. A client leaves PubSub before the session is destroyed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "server/clients/text_hash.h"

namespace mayfly {

struct Session;
struct Topic;

enum class TopicKind : uint8_t { kChannel, kPattern, kShardChannel };
inline constexpr size_t kTopicKinds = 3;

struct Subscription {
  Session* session = nullptr;
  Topic* topic = nullptr;
  size_t place = 0;  // among the topic's subscribers
};

struct Subscriptions {
  // By topic name; the views refer to the names in the topics.
  using ByName = std::unordered_map<std::string_view, std::unique_ptr<Subscription>, TextHash>;

  explicit Subscriptions(TextHash hash) : by_kind{ByName(0, hash), ByName(0, hash), ByName(0, hash)} {}

  ByName& of(TopicKind kind) noexcept { return by_kind[static_cast<size_t>(kind)]; }
  size_t count(TopicKind kind) const noexcept { return by_kind[static_cast<size_t>(kind)].size(); }
  // The count in the replies of SUBSCRIBE and kin: shard channels are counted separately.
  size_t CountFor(TopicKind kind) const noexcept {
    if (kind == TopicKind::kShardChannel) return count(kind);
    return count(TopicKind::kChannel) + count(TopicKind::kPattern);
  }
  bool empty() const noexcept {
    return CountFor(TopicKind::kChannel) + CountFor(TopicKind::kShardChannel) == 0;
  }

  std::array<ByName, kTopicKinds> by_kind;
  uint64_t bytes = 0;  // of all subscriptions and names, without the tables' buckets
};

}  // namespace mayfly
