#include "cache/types/stream/stream_group.h"

#include <algorithm>
#include <cassert>

#include "base/memory/heap.h"

namespace mayfly {
namespace {

// A node of a map by name: three pointers and a colour, the name's view, the pointer.
constexpr uint64_t kNodeBytes = Heap::SizeClass(4 * sizeof(void*) + sizeof(std::string_view) + sizeof(void*));

// A short text lies within its object.
uint64_t TextBytes(const std::string& text) noexcept {
  return text.capacity() < sizeof(std::string) / 2 ? 0 : Heap::SizeClass(text.capacity() + 1);
}

// A consumer with more than one in so many of the group's entries goes in a walk through the group.
constexpr size_t kMuch = 8;

}  // namespace

class StreamGroup::Recount {
 public:
  explicit Recount(StreamGroup& group, const StreamConsumer& consumer) noexcept
      : group_(group), consumer_(consumer), before_(Bytes()) {}
  ~Recount() { group_.Count(Bytes() - before_); }
  Recount(const Recount&) = delete;
  Recount& operator=(const Recount&) = delete;

 private:
  uint64_t Bytes() const noexcept { return group_.pending_.Bytes() + consumer_.pending_.Bytes(); }

  StreamGroup& group_;
  const StreamConsumer& consumer_;
  const uint64_t before_;
};

StreamGroup::StreamGroup(std::string_view its_name, StreamId last, int64_t read, uint64_t& account)
    : name(its_name), last_id(last), entries_read(read), account_(&account) {
  Count(kNodeBytes + Heap::SizeClass(sizeof(StreamGroup)) + TextBytes(name));
}

uint64_t StreamGroup::BytesOf(const StreamConsumer& consumer) noexcept {
  return kNodeBytes + Heap::SizeClass(sizeof(StreamConsumer)) + TextBytes(consumer.name) +
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

StreamConsumer& StreamGroup::AddConsumer(std::string_view consumer, int64_t now_ms) {
  const auto free = std::find(numbers_.begin(), numbers_.end(), nullptr);
  const auto number = static_cast<uint32_t>(free - numbers_.begin());
  auto made = std::make_unique<StreamConsumer>(consumer, number, now_ms);
  if (free == numbers_.end()) numbers_.push_back(nullptr);
  StreamConsumer& added = *made;
  consumers_.emplace(added.name, std::move(made));
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

std::unique_ptr<StreamGroup> StreamGroup::Clone(uint64_t& account) const {
  auto copy = std::make_unique<StreamGroup>(name, last_id, entries_read, account);
  copy->pending_ = pending_.Clone();
  copy->Count(copy->pending_.Bytes());
  copy->numbers_.resize(numbers_.size());
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

void StreamGroup::MoveTo(uint64_t& account) noexcept {
  *account_ -= bytes_;
  account_ = &account;
  *account_ += bytes_;
}

bool StreamGroup::FreeSome(size_t budget) noexcept {
  const uint64_t before = pending_.Bytes();
  const bool all = pending_.FreeSome(budget);
  Count(pending_.Bytes() - before);
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
  uint64_t bytes = kNodeBytes + Heap::SizeClass(sizeof(StreamGroup)) + TextBytes(name) + pending_.Bytes();
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
  const auto used =
      static_cast<size_t>(numbers_.size() - std::count(numbers_.begin(), numbers_.end(), nullptr));
  return valid && bytes == bytes_ && pending == pending_.size() && used == consumers_.size();
}

}  // namespace mayfly
