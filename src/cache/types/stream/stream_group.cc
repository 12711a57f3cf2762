#include "cache/types/stream/stream_group.h"

#include <algorithm>
#include <cassert>

#include "base/memory/heap.h"

namespace mayfly {
namespace {

// A node of a map by name: three pointers and a colour, the name's view, the pointer.
constexpr uint64_t kNodeBytes = MallocSizeClass(4 * sizeof(void*) + sizeof(std::string_view) + sizeof(void*));

// A short text lies within its object.
uint64_t TextBytes(const std::string& text) noexcept {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : MallocSizeClass(text.capacity() + 1);
}

// A consumer with more than one in so many of the group's entries goes in a walk through the group.
constexpr size_t kMuch = 8;

}  // namespace

class StreamGroup::Recount {
 public:
  explicit Recount(StreamGroup& group, const StreamConsumer& consumer) noexcept
      : group_(group), consumer_(consumer), before_(Bytes()), pending_before_(group.pending()) {}
  ~Recount() {
    group_.Count(Bytes() - before_);
    group_.account_->pending += group_.pending() - pending_before_;
  }
  Recount(const Recount&) = delete;
  Recount& operator=(const Recount&) = delete;

 private:
  uint64_t Bytes() const noexcept { return group_.pending_.Bytes() + consumer_.pending_.Bytes(); }

  StreamGroup& group_;
  const StreamConsumer& consumer_;
  const uint64_t before_;
  const size_t pending_before_;
};

StreamGroup::StreamGroup(std::string_view its_name, StreamId last, int64_t read, Account& account)
    : name(its_name), last_id(last), entries_read(read), account_(&account) {
  Count(kNodeBytes + MallocSizeClass(sizeof(StreamGroup)) + TextBytes(name));
}

uint64_t StreamGroup::BytesOf(const StreamConsumer& consumer) noexcept {
  return kNodeBytes + MallocSizeClass(sizeof(StreamConsumer)) + TextBytes(consumer.name) +
         consumer.pending_.Bytes();
}

StreamConsumer* StreamGroup::FindConsumer(std::string_view consumer) noexcept {
  const auto found = consumers_.find(consumer);
  return found != consumers_.end() ? found->second.get() : nullptr;
}

const StreamConsumer* StreamGroup::FindConsumer(std::string_view consumer) const noexcept {
  const auto found = consumers_.find(consumer);
  return found != consumers_.end() ? found->second.get() : nullptr;
}

const StreamConsumer* StreamGroup::ConsumerAfter(const StreamConsumer* before) const noexcept {
  const auto found = before == nullptr ? consumers_.begin() : consumers_.upper_bound(before->name);
  return found != consumers_.end() ? found->second.get() : nullptr;
}

uint64_t StreamGroup::BytesOfNumbers() const noexcept {
  const size_t room = numbers_.capacity();
  return room == 0
             ? 0
             : MallocSizeClass(room * sizeof(StreamConsumer*)) + MallocSizeClass(room * sizeof(uint32_t));
}

void StreamGroup::MakeFreeNumber() {
  if (!free_numbers_.empty()) return;
  if (const size_t size = numbers_.size(); size == numbers_.capacity()) {
    const uint64_t before = BytesOfNumbers();
    free_numbers_.reserve(std::max<size_t>(2 * size, 1));
    numbers_.reserve(std::max<size_t>(2 * size, 1));
    Count(BytesOfNumbers() - before);
  }
  free_numbers_.push_back(static_cast<uint32_t>(numbers_.size()));
  numbers_.push_back(nullptr);
}

StreamConsumer& StreamGroup::AddConsumer(std::string_view consumer, int64_t now_ms) {
  MakeFreeNumber();
  const uint32_t number = free_numbers_.back();
  auto made = std::make_unique<StreamConsumer>(consumer, number, now_ms);
  StreamConsumer& added = *made;
  consumers_.emplace(added.name, std::move(made));
  free_numbers_.pop_back();
  numbers_[number] = &added;
  Count(BytesOf(added));
  return added;
}

size_t StreamGroup::RemoveConsumer(StreamConsumer& consumer) noexcept {
  const size_t count = consumer.pending();
  {
    const Recount recount(*this, consumer);
    if (count > pending() / kMuch) {
      pending_.EraseIf([number = consumer.number](StreamId, const Delivery& delivery) {
        return delivery.consumer == number;
      });
    } else {
      consumer.pending_.ForFrom({}, [this](StreamId id, const auto&) { return pending_.Erase(id); });
    }
  }
  Count(0 - BytesOf(consumer));
  numbers_[consumer.number] = nullptr;
  free_numbers_.push_back(consumer.number);
  consumers_.erase(consumer.name);
  return count;
}

void StreamGroup::Deliver(StreamId id, StreamConsumer& to, int64_t ms, uint32_t count) {
  const Delivery delivery{ms, count, to.number};
  const Recount recount(*this, to);
  const Delivery* const found = pending_.Find(id);
  if (found == nullptr || found->consumer != to.number) to.pending_.Insert(id);
  if (found != nullptr) {
    StreamConsumer& before = *numbers_[found->consumer];
    pending_.Update(id, delivery);
    if (&before == &to) return;
    const Recount of_other(*this, before);
    before.pending_.Erase(id);
    return;
  }
  try {
    pending_.Insert(id, delivery);
  } catch (...) {
    to.pending_.Erase(id);
    throw;
  }
}

bool StreamGroup::Acknowledge(StreamId id) noexcept {
  const Delivery* const found = pending_.Find(id);
  if (found == nullptr) return false;
  StreamConsumer& consumer = *numbers_[found->consumer];
  const Recount recount(*this, consumer);
  consumer.pending_.Erase(id);
  pending_.Erase(id);
  return true;
}

bool StreamGroup::AddPending(StreamId id, int64_t ms, uint32_t count) {
  if (pending_.Find(id) != nullptr) return false;
  const uint64_t before = pending_.Bytes();
  pending_.Insert(id, {ms, count, Delivery::kNobody});
  Count(pending_.Bytes() - before);
  ++account_->pending;
  return true;
}

bool StreamGroup::Assign(StreamId id, StreamConsumer& to) {
  const Delivery* const found = pending_.Find(id);
  if (found == nullptr || found->consumer != Delivery::kNobody) return false;
  const Recount recount(*this, to);
  to.pending_.Insert(id);
  pending_.Update(id, {found->ms, found->count, to.number});
  return true;
}

std::unique_ptr<StreamGroup> StreamGroup::Clone(Account& account) const {
  auto copy = std::make_unique<StreamGroup>(name, last_id, entries_read, account);
  copy->pending_ = pending_.Clone();
  copy->Count(copy->pending_.Bytes());
  account.pending += copy->pending();
  copy->numbers_.resize(numbers_.size());
  copy->free_numbers_.reserve(copy->numbers_.capacity());
  copy->free_numbers_ = free_numbers_;
  copy->Count(copy->BytesOfNumbers());
  for (const auto& [its_name, consumer] : consumers_) {
    auto made = std::make_unique<StreamConsumer>(its_name, consumer->number, consumer->seen_ms);
    made->active_ms = consumer->active_ms;
    made->pending_ = consumer->pending_.Clone();
    StreamConsumer& own = *made;
    copy->consumers_.emplace(own.name, std::move(made));
    copy->numbers_[own.number] = &own;
    copy->Count(BytesOf(own));
  }
  return copy;
}

void StreamGroup::MoveTo(Account& account) noexcept {
  Leave();
  account_ = &account;
  account_->bytes += bytes_;
  account_->pending += pending();
}

bool StreamGroup::FreeSome(size_t budget) noexcept {
  const uint64_t before = pending_.Bytes();
  const size_t pending_before = pending();
  const bool all = pending_.FreeSome(budget);
  Count(pending_.Bytes() - before);
  account_->pending += pending() - pending_before;
  if (!all) return false;
  for (size_t freed = 0; !consumers_.empty() && freed < budget; ++freed) {
    StreamConsumer& consumer = *consumers_.begin()->second;
    {
      const Recount recount(*this, consumer);
      if (!consumer.pending_.FreeSome(budget)) return false;
    }
    Count(0 - BytesOf(consumer));
    consumers_.erase(consumers_.begin());
  }
  return consumers_.empty();
}

bool StreamGroup::Validate() const {
  uint64_t bytes = kNodeBytes + MallocSizeClass(sizeof(StreamGroup)) + TextBytes(name) + pending_.Bytes() +
                   BytesOfNumbers();
  size_t pending = 0;
  bool valid = pending_.Validate();
  for (const auto& [its_name, consumer] : consumers_) {
    bytes += BytesOf(*consumer);
    pending += consumer->pending();
    valid = valid && its_name == consumer->name && numbers_[consumer->number] == consumer.get() &&
            consumer->pending_.Validate();
    consumer->pending_.ForFrom({}, [&, number = consumer->number](StreamId id, const auto&) {
      const Delivery* const found = pending_.Find(id);
      valid = valid && found != nullptr && found->consumer == number;
      return valid;
    });
  }
  for (const uint32_t free : free_numbers_) valid = valid && numbers_[free] == nullptr;
  return valid && bytes == bytes_ && pending == pending_.size() &&
         consumers_.size() + free_numbers_.size() == numbers_.size();
}

}  // namespace mayfly
