// Reads streams of the RDB format: types 15, 19, 21, 26 and 27 (stream_out.h draws the older types). Entries marked as
// deleted are dropped, and idempotent producers as well. See reading.h.
//
//   after the groups, types 26 and 27:
//     duration | most IDs | number of producers | { name | number of IDs | { ID, a string | entry, two lengths } }
//     | IDs added | duplicates
//   after the consumers of a group, type 27:  number of IDs | { 16 bytes }: pending entries given back by a consumer. Here the
//     entries belong to a special consumer, kGivenBack, and have been idle for ever
//
// Wrong contents are: IDs that do not ascend, entries after the stream's last ID, a listpack whose items do not follow the layout,
// and a pending entry with no consumer of the group, or with two. A stream with another number of entries than it says has its true
// length: release candidates of Redis 5.0 counted wrongly, and every server since passes the number on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/types/stream/stream_id.h"
#include "cache/types/stream/stream_value.h"
#include "snapshot/values/reading.h"

namespace mayfly {
class StreamConsumer;
class StreamGroup;
}  // namespace mayfly

namespace mayfly::rdb {

class StreamIn {
 public:
  static bool Knows(uint8_t type) noexcept;
  // REQUIRES: Knows(type).
  StreamIn(uint8_t type, const ReadingTerms& terms)
      : type_(type), limits_(terms.limits.stream), value_(std::make_unique<StreamValue>()) {}

  // Throws std::bad_alloc; then the reader cannot go on.
  ValueStatus Some(In& in, size_t& budget);
  std::unique_ptr<RichValue> Take() noexcept { return std::move(value_); }
  // True if the stream says another length than it has.
  bool wrong_length() const noexcept { return wrong_length_; }

  static constexpr std::string_view kGivenBack = "(given back)";

 private:
  // A part of the input. After the totals come the groups. A group has a head, pending entries and consumers; a consumer has a
  // head and pending entries. A producer has a head and IDs.
  enum class Part : uint8_t {
    kNodes,
    kTotals,
    kGroups,
    kPending,
    kConsumers,
    kConsumerPending,
    kGivenBack,
    kProducerRules,
    kProducers,
    kProducerIds,
    kProducerTotals,
    kEnd
  };

  // A count from the input, and the elements left.
  struct Sequence {
    bool open = false;
    uint64_t left = 0;
  };

  ReadStatus Node(In& in, size_t& budget);
  // Returns false for wrong contents; so do the other functions of this kind.
  bool TakeNode(std::string_view key, std::string_view listpack, size_t& budget);
  ReadStatus Totals(In& in);
  // The part after the last element of part_.
  Part AfterPart() const noexcept;
  // Reads the next element of part_, or goes to another part.
  ReadStatus Step(In& in);
  ReadStatus Element(In& in);
  ReadStatus GroupHead(In& in);
  ReadStatus Pending(In& in);
  ReadStatus ConsumerHead(In& in);
  // An ID of a pending entry of the consumer.
  ReadStatus Held(In& in);
  ReadStatus GivenBack(In& in);
  bool TakeGivenBack(StreamId id);
  Sequence& SequenceOf(Part part) noexcept { return sequences_[static_cast<size_t>(part)]; }

  const uint8_t type_;
  const StreamLimits limits_;
  std::unique_ptr<StreamValue> value_;
  Part part_ = Part::kNodes;
  Counted nodes_;
  std::array<Sequence, static_cast<size_t>(Part::kEnd)> sequences_;
  StreamGroup* group_ = nullptr;        // read now
  StreamConsumer* consumer_ = nullptr;  // read now
  size_t held_ = 0;                     // pending entries of group_ with a consumer
  bool refused_ = false;                // then group_ and consumer_ are not used any more
  bool wrong_length_ = false;
};

}  // namespace mayfly::rdb
