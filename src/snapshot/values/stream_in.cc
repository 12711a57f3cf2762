#include "snapshot/values/stream_in.h"

#include <algorithm>

#include "cache/types/stream/stream_groups.h"
#include "snapshot/format/types.h"
#include "snapshot/values/stream_node_in.h"

namespace mayfly::rdb {
namespace {

constexpr uint64_t kStreamIdBytes = 16;

// Entries of a listpack that have the same fields have them once. Here an entry that is too large for a node with others has
// them for itself: so the texts of a listpack's entries may take many times as much memory as the listpack.
constexpr size_t kMostGrowth = 16;
constexpr size_t kLeastRoom = size_t{64} << 20;

ReadStatus ReadId(In& in, StreamId& id) {
  const ReadStatus status = in.Length(id.ms);
  return status == ReadStatus::kOk ? in.Length(id.sequence) : status;
}

}  // namespace

bool StreamIn::Knows(uint8_t type) noexcept {
  return type == type::kStream || type == type::kStream2 || type == type::kStream3 ||
         type == type::kStream4 || type == type::kStream5;
}

ReadStatus StreamIn::Node(In& in, size_t& budget) {
  std::string_view key;
  std::string_view listpack;
  ReadStatus status = in.String(key);
  Then(status, [&] { return in.String(listpack); });
  if (status == ReadStatus::kOk) refused_ = refused_ || !TakeNode(key, listpack, budget);
  return status;
}

bool StreamIn::TakeNode(std::string_view key, std::string_view listpack, size_t& budget) {
  StreamId first;
  if (key.size() != kStreamIdBytes || In(key).StreamId(first.ms, first.sequence) != ReadStatus::kOk)
    return false;
  StreamNodeIn node(first, listpack);
  StreamNodeEntry entry;
  size_t room = std::max(kLeastRoom, kMostGrowth * listpack.size());
  for (ItemStatus status = node.Next(entry); status != ItemStatus::kEnd; status = node.Next(entry)) {
    if (status == ItemStatus::kBad) return false;
    Spend(budget, 1);
    if (entry.deleted) continue;  // XSETID can let entries with lower IDs follow
    if (entry.id <= value_->last_id()) return false;
    for (const std::string_view text : entry.pairs) {
      if (text.size() > room) return false;
      room -= text.size();
    }
    value_->Append(entry.id, entry.pairs, limits_);
  }
  return true;
}

ReadStatus StreamIn::Totals(In& in) {
  uint64_t length = 0;
  StreamId last;
  ReadStatus status = in.Length(length);
  Then(status, [&] { return ReadId(in, last); });
  uint64_t added = value_->length();
  StreamId max_deleted;
  if (type_ != type::kStream) {
    StreamId first;  // the stream itself knows
    Then(status, [&] { return ReadId(in, first); });
    Then(status, [&] { return ReadId(in, max_deleted); });
    Then(status, [&] { return in.Length(added); });
  }
  if (status != ReadStatus::kOk) return status;
  wrong_length_ = length != value_->length();
  refused_ = refused_ || last < value_->last_id();
  if (!refused_) {
    value_->SetLastId(last);
    value_->SetMaxDeletedId(max_deleted);
    value_->SetAdded(added);
  }
  part_ = Part::kGroups;
  return status;
}

ReadStatus StreamIn::GroupHead(In& in) {
  std::string_view name;
  StreamId last_delivered;
  uint64_t entries_read = static_cast<uint64_t>(StreamGroup::kUnknown);
  ReadStatus status = in.String(name);
  Then(status, [&] { return ReadId(in, last_delivered); });
  if (type_ != type::kStream) Then(status, [&] { return in.Length(entries_read); });
  if (status != ReadStatus::kOk || refused_) return status;
  StreamGroups& groups = value_->EditGroups();
  refused_ = groups.Find(name) != nullptr;
  if (refused_) return status;
  group_ = &groups.Add(name, last_delivered, static_cast<int64_t>(entries_read));
  held_ = 0;
  return status;
}

ReadStatus StreamIn::Pending(In& in) {
  StreamId id;
  int64_t ms = 0;
  uint64_t deliveries = 0;
  ReadStatus status = in.StreamId(id.ms, id.sequence);
  Then(status, [&] { return in.Millis(ms); });
  Then(status, [&] { return in.Length(deliveries); });
  if (status != ReadStatus::kOk || refused_) return status;
  const auto count = static_cast<uint32_t>(std::min<uint64_t>(deliveries, UINT32_MAX));
  const bool ascends = group_->pending() == 0 || id > group_->deliveries().Last();
  refused_ = !ascends || !group_->AddPending(id, ms, count);
  return status;
}

// A consumer has the time when it was seen, and since Redis 7.2 the time when it was active.
ReadStatus StreamIn::ConsumerHead(In& in) {
  std::string_view name;
  int64_t seen_ms = 0;
  ReadStatus status = in.String(name);
  Then(status, [&] { return in.Millis(seen_ms); });
  int64_t active_ms = seen_ms;
  if (type_ >= type::kStream3) Then(status, [&] { return in.Millis(active_ms); });
  if (status != ReadStatus::kOk || refused_) return status;
  refused_ = group_->FindConsumer(name) != nullptr;
  if (refused_) return status;
  consumer_ = &group_->AddConsumer(name, seen_ms);
  consumer_->active_ms = active_ms;
  return status;
}

ReadStatus StreamIn::Held(In& in) {
  StreamId id;
  const ReadStatus status = in.StreamId(id.ms, id.sequence);
  if (status != ReadStatus::kOk || refused_) return status;
  const bool ascends = consumer_->pending() == 0 || id > consumer_->ids().Last();
  ++held_;
  refused_ = !ascends || !group_->Assign(id, *consumer_);
  return status;
}

ReadStatus StreamIn::GivenBack(In& in) {
  StreamId id;
  const ReadStatus status = in.StreamId(id.ms, id.sequence);
  if (status == ReadStatus::kOk) refused_ = refused_ || !TakeGivenBack(id);
  return status;
}

bool StreamIn::TakeGivenBack(StreamId id) {
  consumer_ = group_->FindConsumer(kGivenBack);
  if (consumer_ == nullptr) consumer_ = &group_->AddConsumer(kGivenBack, 0);
  if (!group_->Assign(id, *consumer_)) return false;
  group_->Deliver(id, *consumer_, 0, group_->Find(id)->count);
  ++held_;
  return true;
}

ReadStatus StreamIn::Element(In& in) {
  switch (part_) {
    case Part::kGroups:
      return GroupHead(in);
    case Part::kPending:
      return Pending(in);
    case Part::kConsumers:
      return ConsumerHead(in);
    case Part::kConsumerPending:
      return Held(in);
    case Part::kGivenBack:
      return GivenBack(in);
    case Part::kProducerIds: {
      StreamId entry;
      ReadStatus status = in.SkipString();
      Then(status, [&] { return ReadId(in, entry); });
      return status;
    }
    default:
      return in.SkipString();  // a producer
  }
}

// The sequence of groups goes on after the last part of a group, that of consumers after the pending entries of a consumer,
// and that of producers after the IDs of a producer.
StreamIn::Part StreamIn::AfterPart() const noexcept {
  switch (part_) {
    case Part::kGroups:
      return type_ >= type::kStream4 ? Part::kProducerRules : Part::kEnd;
    case Part::kPending:
    case Part::kConsumerPending:
      return Part::kConsumers;
    case Part::kConsumers:
      return type_ >= type::kStream5 ? Part::kGivenBack : Part::kGroups;
    case Part::kGivenBack:
      return Part::kGroups;
    case Part::kProducerIds:
      return Part::kProducers;
    default:
      return Part::kProducerTotals;
  }
}

ReadStatus StreamIn::Step(In& in) {
  if (part_ == Part::kTotals) return ReadWhole(in, [&] { return Totals(in); });
  if (part_ == Part::kProducerRules || part_ == Part::kProducerTotals) {
    StreamId pair;  // as long as an ID: two lengths
    const ReadStatus status = ReadWhole(in, [&] { return ReadId(in, pair); });
    if (status == ReadStatus::kOk) part_ = part_ == Part::kProducerRules ? Part::kProducers : Part::kEnd;
    return status;
  }
  Sequence& sequence = SequenceOf(part_);
  if (!sequence.open) {
    const ReadStatus status = in.Length(sequence.left);
    sequence.open = status == ReadStatus::kOk;
    return status;
  }
  if (sequence.left == 0) {
    sequence.open = false;
    const bool of_group = part_ == Part::kConsumers || part_ == Part::kGivenBack;
    part_ = AfterPart();
    // Every pending entry of a group has a consumer.
    if (of_group && part_ == Part::kGroups) refused_ = refused_ || held_ != group_->pending();
    return ReadStatus::kOk;
  }
  const ReadStatus status = ReadWhole(in, [&] { return Element(in); });
  if (status != ReadStatus::kOk) return status;
  --sequence.left;
  if (part_ == Part::kGroups) part_ = Part::kPending;
  if (part_ == Part::kConsumers) part_ = Part::kConsumerPending;
  if (part_ == Part::kProducers) part_ = Part::kProducerIds;
  return status;
}

ValueStatus StreamIn::Some(In& in, size_t& budget) {
  if (part_ == Part::kNodes) {
    const ValueStatus status = nodes_.Continue(in, budget, [&] { return Node(in, budget); });
    if (status != ValueStatus::kDone) return status;
    part_ = Part::kTotals;
  }
  while (part_ != Part::kEnd) {
    if (budget == 0) return ValueStatus::kSpent;
    if (const ReadStatus status = Step(in); status != ReadStatus::kOk) return NotOk(status);
    Spend(budget, 1);
  }
  return refused_ ? ValueStatus::kRefused : ValueStatus::kDone;
}

}  // namespace mayfly::rdb
