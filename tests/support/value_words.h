// A value as words, for comparisons: "field=text", "member=score" ... in an order that does not depend on tables.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/types/hash_value.h"
#include "cache/types/list_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "cache/types/stream/stream_groups.h"
#include "cache/types/stream/stream_value.h"

namespace mayfly {

using ValueWords = std::vector<std::string>;

inline std::string WordOfId(StreamId id) { return std::to_string(id.ms) + '-' + std::to_string(id.sequence); }

// Fields that have a deadline end with "@" and their Unix time in ms; fields that are due at `now` are left out.
inline ValueWords WordsOfHash(const HashValue& hash, Now now) {
  ValueWords words;
  hash.ForEachLiveAt(now, [&](std::string_view name, std::string_view value, Expiry deadline) {
    std::string word = std::string(name) + '=' + std::string(value);
    if (deadline.kind != Expiry::Kind::kNever)
      word += '@' + std::to_string(deadline.On(Expiry::Kind::kWall, now));
    words.push_back(word);
  });
  std::sort(words.begin(), words.end());
  return words;
}

// Groups, consumers and what they hold; not when a consumer was active, which types of Redis 7.0 do not have.
inline ValueWords WordsOfGroups(const StreamValue& stream) {
  ValueWords words;
  if (stream.groups() == nullptr) return words;
  stream.groups()->ForEach([&](const StreamGroup& group) {
    words.push_back("group " + group.name + " last " + WordOfId(group.last_id) + " read " +
                    std::to_string(group.entries_read));
    group.ForEachConsumer([&](const StreamConsumer& consumer) {
      words.push_back("consumer " + consumer.name + " seen " + std::to_string(consumer.seen_ms));
    });
    group.deliveries().ForFrom({}, [&](StreamId id, const Delivery& delivery) {
      words.push_back(WordOfId(id) + " held by " + group.ConsumerOf(delivery).name + " since " +
                      std::to_string(delivery.ms) + " count " + std::to_string(delivery.count));
      return true;
    });
  });
  return words;
}

inline ValueWords WordsOfValue(const RichValue& value, Now now) {
  class Visitor : public MemberVisitor {
   public:
    void Visit(std::span<const std::string_view> parts) override {
      std::string word(parts[0]);
      for (const std::string_view part : parts.subspan(1)) word += '=' + std::string(part);
      words.push_back(word);
    }
    ValueWords words;
  };
  if (value.type == ValueType::kHash) return WordsOfHash(static_cast<const HashValue&>(value), now);
  Visitor visitor;
  value.ForEachMember(visitor);
  if (value.type == ValueType::kSet) std::sort(visitor.words.begin(), visitor.words.end());
  if (value.type == ValueType::kStream) {
    const auto& stream = static_cast<const StreamValue&>(value);
    visitor.words.push_back("last " + WordOfId(stream.last_id()) + " deleted " +
                            WordOfId(stream.max_deleted_id()) + " added " + std::to_string(stream.added()));
    const ValueWords groups = WordsOfGroups(stream);
    visitor.words.insert(visitor.words.end(), groups.begin(), groups.end());
  }
  return visitor.words;
}

// Reads all of the value, and tests its invariants.
inline bool IsValid(const RichValue& value) {
  switch (value.type) {
    case ValueType::kHash:
      return static_cast<const HashValue&>(value).Validate();
    case ValueType::kList:
      return static_cast<const ListValue&>(value).Validate();
    case ValueType::kSet:
      return static_cast<const SetValue&>(value).Validate();
    case ValueType::kSortedSet:
      return static_cast<const SortedSetValue&>(value).Validate();
    case ValueType::kStream:
      return static_cast<const StreamValue&>(value).Validate();
    case ValueType::kString:
      break;
  }
  return true;
}

}  // namespace mayfly
