// A consumer group of a stream: which entries were delivered to which consumer, and were not acknowledged yet.
//
//   StreamGroup: last delivered ID, pending_: ID -> Delivery (time, count, consumer)
//     consumers_ --name--> StreamConsumer: the IDs of the same deliveries that are this consumer's
//
// A pending entry takes some 33 bytes (id_chunks.h). An ID may be pending although the stream has no such entry any more: it was
// deleted or trimmed.
//
// Invariants (see Validate): each pending ID of the group is a pending ID of its consumer, and of no other. A group adds what it
// takes, itself and its name included, to the account of its owner.
//
// If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only. Times are Unix ms.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/types/stream/id_chunks.h"
#include "cache/types/stream/stream_id.h"

namespace mayfly {

class StreamConsumer {
 public:
  struct Nothing {};
  static constexpr int64_t kNever = -1;

  StreamConsumer(std::string_view its_name, uint32_t its_number, int64_t now_ms)
      : name(its_name), number(its_number), seen_ms(now_ms) {}

  const std::string name;
  const uint32_t number;       // within the group
  int64_t seen_ms;             // the last request of the consumer
  int64_t active_ms = kNever;  // the last one that gave it an entry
  size_t pending() const noexcept { return pending_.size(); }
  const IdChunks<Nothing>& ids() const noexcept { return pending_; }

 private:
  friend class StreamGroup;
  IdChunks<Nothing> pending_;
};

// A delivery that was not acknowledged.
struct Delivery {
  static constexpr uint32_t kNobody = UINT32_MAX;

  int64_t ms;         // the last time
  uint32_t count;     // how often; UINT32_MAX: that often or more
  uint32_t consumer;  // StreamConsumer::number; kNobody only between AddPending and Assign

  int64_t Rank() const noexcept { return ms; }
  // How often it will have been after one more.
  uint32_t CountOfNext() const noexcept { return count + (count != UINT32_MAX ? 1 : 0); }
};

class StreamGroup {
 public:
  // The sums of several groups.
  struct Account {
    uint64_t bytes = 0;
    uint64_t pending = 0;  // entries
  };
  static constexpr int64_t kUnknown = -1;

  // Borrows `account`.
  StreamGroup(std::string_view its_name, StreamId last, int64_t read, Account& account);
  ~StreamGroup() { Leave(); }
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  const std::string name;
  StreamId last_id;      // delivered
  int64_t entries_read;  // entries of the stream up to last_id, deleted ones too; kUnknown

  size_t pending() const noexcept { return pending_.size(); }
  const IdChunks<Delivery>& deliveries() const noexcept { return pending_; }
  const Delivery* Find(StreamId id) const noexcept { return pending_.Find(id); }

  size_t consumers() const noexcept { return consumers_.size(); }
  // Null if there is no such consumer.
  StreamConsumer* FindConsumer(std::string_view consumer) noexcept;
  const StreamConsumer* FindConsumer(std::string_view consumer) const noexcept;
  // REQUIRES: there is no such consumer.
  StreamConsumer& AddConsumer(std::string_view consumer, int64_t now_ms);
  const StreamConsumer& ConsumerOf(const Delivery& delivery) const noexcept {
    return *numbers_[delivery.consumer];
  }
  // Removes the consumer and its deliveries. Returns how many there were.
  size_t RemoveConsumer(StreamConsumer& consumer) noexcept;
  // Calls fn(const StreamConsumer&) in the order of the names.
  template <typename Fn>
  void ForEachConsumer(Fn&& fn) const {
    for (const auto& [consumer_name, consumer] : consumers_) fn(*consumer);
  }
  // The next consumer in this order, the first one after null; null at the end.
  const StreamConsumer* ConsumerAfter(const StreamConsumer* before) const noexcept;

  // The entry is the consumer's from now on, whether it was pending or not.
  void Deliver(StreamId id, StreamConsumer& to, int64_t ms, uint32_t count);
  // Returns false if the entry is not pending.
  bool Acknowledge(StreamId id) noexcept;

  // For who builds a group from a file, in this order: each pending entry, then whose each is. Both return false if the ID is
  // there already, or is not pending without a consumer.
  bool AddPending(StreamId id, int64_t ms, uint32_t count);
  bool Assign(StreamId id, StreamConsumer& to);

  uint64_t Bytes() const noexcept { return bytes_; }
  // Throws std::bad_alloc.
  std::unique_ptr<StreamGroup> Clone(Account& account) const;
  // From now on the group counts in another account.
  void MoveTo(Account& account) noexcept;
  // Frees at most about `budget` pending entries or consumers. Returns true when none is left.
  // REQUIRES: the group is no longer in use.
  bool FreeSome(size_t budget) noexcept;
  // For tests.
  bool Validate() const;

 private:
  // Counts what a change of pending_ or of a consumer's IDs has made of the bytes and of the pending entries.
  class Recount;

  static uint64_t BytesOf(const StreamConsumer& consumer) noexcept;
  uint64_t BytesOfNumbers() const noexcept;
  // Makes sure that there is a free number. Throws std::bad_alloc without a change.
  void MakeFreeNumber();
  void Count(uint64_t more) noexcept {
    bytes_ += more;
    account_->bytes += more;
  }
  void Leave() noexcept {
    account_->bytes -= bytes_;
    account_->pending -= pending();
  }

  IdChunks<Delivery> pending_;
  std::map<std::string_view, std::unique_ptr<StreamConsumer>> consumers_;  // by their own names
  std::vector<StreamConsumer*> numbers_;                                   // null: free
  std::vector<uint32_t> free_numbers_;                                     // with room for all
  uint64_t bytes_ = 0;
  Account* account_;
};

}  // namespace mayfly
