#include "exec/batch.h"

#include <new>

#include "base/short_bytes.h"

namespace mayfly {

Batch::Batch(const CommandTable& commands, Databases& databases)
    : commands_(commands), databases_(databases) {}

bool Batch::Plan(std::span<Feed> feeds, size_t max_bulk, bool open_door) {
  count_ = 0;
  args_.Clear();
  limits_.max_bulk = max_bulk;
  open_door_ = open_door;
  departures_ = databases_.departures();
  entries_asked_ = neighbours_asked_ = 0;
  for (Feed& feed : feeds) {
    if (count_ == kRequests) break;
    if (feed.state > Feed::State::kPaused) continue;
    feed.state = feed.session->MayRun() ? Feed::State::kOpen : Feed::State::kDone;
    if (feed.state == Feed::State::kOpen) PlanFrom(feed);
  }
  if (count_ > 1) StepStages(0);
  return count_ != 0;
}

void Batch::PlanFrom(Feed& feed) {
  // A client that has to log in is parsed one request at a time: AUTH lifts its limits.
  limits_.authenticated = open_door_ || feed.session->authenticated;
  Keyspace& keyspace = databases_.At(feed.session->db);
  const std::string_view input = feed.input;
  size_t at = feed.planned;
  feed.state = Feed::State::kPaused;
  try {
    while (count_ < kRequests) {
      resp::Request request;
      const resp::Status status =
          at == input.size()
              ? resp::Status::kNeedMore
              : feed.session->parser.Next({input.data() + at, input.size() - at}, limits_, args_, request);
      if (status != resp::Status::kReady) [[unlikely]] {
        feed.state = status == resp::Status::kError ? Feed::State::kBroken : Feed::State::kDone;
        break;
      }
      at += request.size;
      const bool ends_batch = Add(feed, keyspace, request, at);
      if (ends_batch || !limits_.authenticated) break;
      if (count_ % kStageDistance == 0) StepStages(kStageDistance);
    }
  } catch (const std::bad_alloc&) {
    feed.state = Feed::State::kNoRoom;
  }
  feed.planned = at;
}

// True where nothing behind it may be looked at before it has run.
[[gnu::always_inline]] inline bool Batch::Add(Feed& feed, Keyspace& keyspace, const resp::Request& request,
                                              size_t end) {
  Planned& next = requests_[count_++];
  next.feed = &feed;
  next.keyspace = nullptr;
  next.end = end;
  next.first_arg = static_cast<uint32_t>(request.first_arg);
  next.arg_count = static_cast<uint32_t>(request.arg_count);
  next.row = nullptr;
  next.hash = 0;
  next.guess = {};
  next.small = request.size <= kSmallBytes;
  if (request.arg_count == 0) [[unlikely]]
    return false;
  const std::span arguments(args_.data() + request.first_arg, request.arg_count);
  const TableRow* row = RowOf(arguments, feed.input);
  if (row == nullptr) [[unlikely]]
    return false;
  next.row = row;
  if (const size_t first_key = row->first_key; first_key != 0 && first_key < arguments.size()) [[likely]] {
    next.keyspace = &keyspace;
    next.hash = keyspace.HashOf(arguments[first_key]);
    next.trail = keyspace.PrefetchGroup(next.hash);
  }
  return row->ends_batch;
}

// Clients repeat themselves to the letter, so a name is mostly known by the bytes at its ends.
const TableRow* Batch::RowOf(std::span<const std::string_view> arguments, std::string_view input) noexcept {
  constexpr size_t kBefore = 4;  // so many bytes in front of the name are read, too
  constexpr size_t kLongest = 12;
  constexpr size_t kAround = sizeof(uint64_t);
  const std::string_view name = arguments[0];
  // A name of an inline request may begin the input, end it, or lie elsewhere.
  const size_t at = reinterpret_cast<uintptr_t>(name.data()) - reinterpret_cast<uintptr_t>(input.data());
  const bool within = input.size() >= 2 * kAround && at - kAround <= input.size() - 2 * kAround;
  if (name.size() - 1 >= kLongest || !within) [[unlikely]]
    return commands_.FindCall(arguments);
  const auto front = internal::LoadWord<uint64_t>(name.data() - kBefore);
  const auto back = internal::LoadWord<uint64_t>(name.data() + name.size() - sizeof(uint64_t));
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  Spelling& known = spellings_[(back * kMultiplier) >> 60];
  if (known.front == front && known.back == back) [[likely]]
    return known.row;
  const TableRow* row = commands_.FindCall(arguments);
  if (row != nullptr && row->parent == nullptr && row->subcommands.empty()) known = {front, back, row};
  return row;
}

void Batch::StepStages(size_t distance) noexcept {
  const size_t count = count_;
  size_t at = entries_asked_;
  for (; at + distance < count; ++at) {
    Planned& planned = requests_[at];
    if (planned.keyspace != nullptr) planned.guess = planned.keyspace->PrefetchEntry(planned.trail);
  }
  entries_asked_ = at;
  for (at = neighbours_asked_; at + 2 * distance < count; ++at) {
    Planned& planned = requests_[at];
    if (planned.guess)
      planned.keyspace->PrefetchNeighbours(planned.guess, planned.row->writes);
    else if (planned.keyspace != nullptr)
      planned.guess = planned.keyspace->PrefetchStray(planned.trail, planned.hash);
  }
  neighbours_asked_ = at;
}

}  // namespace mayfly
