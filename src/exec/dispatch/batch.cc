#include "exec/dispatch/batch.h"

#include <algorithm>
#include <cassert>
#include <new>

#include "cache/keyspace/look_ahead.h"
#include "cache/types/look_ahead.h"
#include "resp/whole_requests.h"
#include "server/acl/user.h"
#include "server/clients/output_pool.h"

namespace mayfly {

Batch::Batch(const CommandTable& commands, Databases& databases)
    : commands_(commands), databases_(databases) {}

bool Batch::Plan(std::span<Feed> feeds, const Limits& limits) {
  next_ = requests_.data();
  full_ = requests_.end();
  args_.Clear();
  limits_.max_bulk = limits.max_bulk;
  batch_limits_ = &limits;
  databases_.ForgetGuesses();
  entries_asked_ = neighbours_asked_ = members_asked_ = next_;
  member_args_ = 0;
  has_rich_ = false;
  stage_at_ = next_ + kStageDistance;
  for (Feed& feed : feeds) {
    if (next_ == full_) break;
    if (feed.state > Feed::State::kPaused) continue;
    feed.state = feed.session->MayRun() ? Feed::State::kOpen : Feed::State::kDone;
    if (feed.state == Feed::State::kOpen) PlanFrom(feed);
  }
  // A request on its own has no other work to overlap its misses with: its entry is found where its group is, and no more.
  count() > 1 ? StepStages(0) : AskForEntries(next_);
  return next_ != requests_.data();
}

void Batch::PlanFrom(Feed& feed) {
  // A client without a login gets one parsed request at a time, because AUTH lifts the client's limits.
  const User* const user = feed.session->user();
  limits_.authenticated = user != nullptr;
  feed.session->output.set_limit(limits_.authenticated ? batch_limits_->output.Of(*feed.session)
                                                       : OutputPool::kBeforeLoginBytes);
  Keyspace& keyspace = databases_.At(feed.session->db);
  const std::string_view input = feed.input;
  size_t at = feed.planned;
  feed.state = Feed::State::kPaused;
  // After a complete request the parser is idle.
  bool may_guess = limits_.authenticated && feed.session->parser.idle();
  try {
    MakeRoomForHeads();
    for (;;) {
      resp::Request request;
      const std::string_view left(input.data() + at, input.size() - at);
      const resp::Status status = Next(feed.session->parser, left, user, may_guess, request);
      if (status != resp::Status::kReady) [[unlikely]] {
        feed.state = status == resp::Status::kError ? Feed::State::kBroken : Feed::State::kDone;
        break;
      }
      may_guess = true;
      at += request.size;
      const bool ends_batch = Add(feed, keyspace, request, at);
      if (ends_batch || !limits_.authenticated) {
        if (ends_batch && (next_[-1].row->command->flags & kEndsTurn) != 0) full_ = next_;
        break;
      }
      if (next_ >= stage_at_) {
        StepStages(kStageDistance);
        if (next_ == requests_.end()) break;
      }
    }
  } catch (const std::bad_alloc&) {
    feed.state = Feed::State::kNoRoom;
    ForgetUnplanned();
  }
  feed.planned = at;
}

// Only the number of arguments separates two requests: args_ must hold no argument of an unplanned request.
void Batch::ForgetUnplanned() noexcept {
  size_t planned = 0;
  for (const Planned& request : requests()) planned += request.arg_count;
  args_.Truncate(planned);
}

// Returns true if the bytes after the request must not be parsed before the request has run.
[[gnu::always_inline]] inline bool Batch::Add(Feed& feed, Keyspace& keyspace, const resp::Request& request,
                                              size_t end) {
  Planned& next = *next_++;
  const TableRow* const row = next.row;
  next.feed = &feed;
  next.end = end;
  next.arg_count = request.arg_count;
  next.guess = {};
  next.small = request.size <= batch_limits_->small_bytes;
  const size_t first_key = row != nullptr ? row->first_key : 0;
  if (first_key - 1 >= request.arg_count - 1) [[unlikely]] {
    next.keyspace = nullptr;
    next.hash = 0;
    return row != nullptr && row->ends_batch;
  }
  const uint64_t hash = keyspace.HashOf((args_.end() - request.arg_count)[first_key]);
  next.keyspace = &keyspace;
  next.hash = hash;
  next.trail = LookAhead(keyspace).Group(hash);
  return row->ends_batch;
}

[[gnu::always_inline]] inline resp::Status Batch::Next(resp::Parser& parser, std::string_view input,
                                                       const User* user, bool may_guess,
                                                       resp::Request& request) {
  assert(!may_guess || (parser.idle() && limits_.authenticated));
  resp::Head head;
  KnownHead* known = nullptr;
  if (may_guess && resp::Head::Read(input, head)) [[likely]] {
    known = &user->known_heads().PlaceOf(head);
    if (known->head == head && resp::Parser::NextAfter(head, input, limits_, args_, request)) [[likely]] {
      next_->row = known->row;
      next_->plain = true;
      return resp::Status::kReady;
    }
  }
  return NextUnknown(parser, input, user, request, known);
}

resp::Status Batch::NextUnknown(resp::Parser& parser, std::string_view input, const User* user,
                                resp::Request& request, KnownHead* known) {
  next_->row = nullptr;
  next_->plain = false;
  if (input.empty()) return resp::Status::kNeedMore;
  const resp::Status status = parser.Next(input, limits_, args_, request);
  MakeRoomForHeads();
  if (status != resp::Status::kReady || request.arg_count == 0) return status;
  const TableRow* const row = commands_.FindCall({args_.data() + request.first_arg, request.arg_count});
  next_->row = row;
  next_->plain = row != nullptr && (user == nullptr || user->tests_keys() || user->MayFreely(row->id));
  resp::Head head;
  if (next_->plain && row->parent == nullptr && row->subcommands.empty() && known != nullptr &&
      resp::Head::Read(input, head) && head.IsPlain())
    *known = {head, row};
  return status;
}

[[gnu::always_inline]] inline void Batch::AskForEntries(Planned* end) noexcept {
  Planned* at = entries_asked_;
  for (; at < end; ++at) {
    if (at->keyspace != nullptr) at->guess = LookAhead(*at->keyspace).Candidate(at->trail);
  }
  entries_asked_ = at;
}

void Batch::StepStages(size_t distance) noexcept {
  const size_t left = static_cast<size_t>(requests_.end() - next_);
  stage_at_ = next_ + std::min(kStageDistance, left);
  AskForEntries(AllBut(distance));
  Planned* at = neighbours_asked_;
  for (Planned* const end = AllBut(2 * distance); at < end; ++at) {
    if (at->guess) {
      const LookAhead look_ahead(*at->keyspace);
      look_ahead.Neighbours(at->guess, at->row->writes);
      if (look_ahead.PrefetchRich(at->guess)) [[unlikely]]
        has_rich_ = true;
    } else if (at->keyspace != nullptr) {
      at->guess = LookAhead(*at->keyspace).Stray(at->trail, at->hash);
    }
  }
  neighbours_asked_ = at;
  if (has_rich_) AskForMembers(AllBut(3 * distance));
}

// No entry is freed while a batch is planned: all values exist.
void Batch::AskForMembers(const Planned* end) noexcept {
  for (; members_asked_ < end; ++members_asked_) {
    const Planned& planned = *members_asked_;
    const RichValue* const value = planned.guess ? LookAhead(*planned.keyspace).Rich(planned.guess) : nullptr;
    if (value != nullptr) {
      const size_t after_key = planned.row->first_key + 1U;
      const std::span all(args_.data() + member_args_, planned.arg_count);
      PrefetchMembers(*value, all.subspan(std::min(after_key, all.size())));
    }
    member_args_ += planned.arg_count;
  }
}

Begun Batch::LastBegun() const noexcept {
  Begun last;
  const std::string_view* first_argument = args_.data();
  for (const Planned& planned : requests()) {
    if (planned.end <= planned.feed->consumed)
      last = {planned.feed->session, planned.row, {first_argument, planned.arg_count}};
    first_argument += planned.arg_count;
  }
  return last;
}

}  // namespace mayfly
