// Plans the next requests of an Executor: parses the bytes of clients and prefetches memory for the requests.
//
//   feeds (one for each client with input) --parse--> requests of many clients, at most kRequests
//     at once: the key is hashed; the key's group of the hash table is prefetched
//     kStageDistance requests later: the group has arrived; the guessed entry in the group is prefetched
//     kStageDistance requests later: the entry has arrived; its neighbours in list and wheel are prefetched,
//       and its value if rich
//     kStageDistance requests later: the rich value has arrived; the members named by the request are prefetched
//
// The cache misses of a batch thus overlap with each other and with parsing, whether the requests come from one pipeline or
// from many clients with one request each. The entry found while planning is only a guess, because an earlier request of the
// batch may change or remove the entry: the guess is void once the entry is gone (cache/gone/void_guesses.h), and the
// command compares the key.
//
// Each client's requests keep their order; clients take turns. The batch takes no further request of a client after a
// request that may change the reading of the client's next bytes (kEndsBatch) or may block the client (kBlocking), and after
// each request before the login. The batch takes no further request of any client after a request that may change the rights
// of every client (kEndsTurn). Arguments are views into the feeds' bytes. Loop thread only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "cache/keyspace/databases.h"
#include "exec/call/command_table.h"
#include "exec/call/in_flight.h"
#include "resp/args.h"
#include "resp/limits.h"
#include "resp/parser.h"
#include "server/acl/known_heads.h"
#include "server/clients/sessions.h"

namespace mayfly {

// The input of one client.
struct Feed {
  enum class State : uint8_t {
    kOpen,    // more may be planned
    kPaused,  // not in this batch
    kBroken,  // the bytes after the planned requests break the protocol
    kNoRoom,  // there was no memory to parse the requests
    kDone,
  };
  Session* session;
  std::string_view input;
  size_t consumed = 0;  // bytes at the front of `input` of requests that have run
  size_t planned = 0;   // parsed bytes at the front
  State state = State::kOpen;
};

struct Planned {
  Feed* feed;
  const TableRow* row;  // null: unknown
  size_t end;           // the offset of the request's end in the feed's input
  size_t arg_count;     // the arguments follow the arguments of the previous request; 0: nothing to run
  Keyspace* keyspace;   // of the first key; null: no key
  uint64_t hash;        // of the first key; 0: no key
  Keyspace::Table::Trail trail;  // the key's places in the table; only with a keyspace
  HeapRef guess;                 // the key's entry, perhaps
  bool small;                    // the arguments' size does not matter for the duration (Limits::small_bytes)
  bool plain;  // the command is known, and allowed to the user unless a mode of the session forbids it
};

class Batch {
 public:
  static constexpr size_t kRequests = 64;
  static constexpr size_t kSmallBytes = 1024;

  Batch(const CommandTable& commands, Databases& databases);

  struct Limits {
    size_t max_bulk;  // the longest accepted argument
    OutputLimits output = {};
    size_t small_bytes = kSmallBytes;  // a longer request is not small; 0: no request is
  };
  // Discards the last batch and plans the next. False if the feeds hold no further request to plan.
  bool Plan(std::span<Feed> feeds, const Limits& limits);
  // Discards the last batch: its feeds may go.
  void Clear() noexcept { next_ = requests_.data(); }

  std::span<const Planned> requests() const noexcept { return {requests_.data(), count()}; }
  const resp::ArgList& args() const noexcept { return args_; }
  // The request of the batch that has begun last.
  Begun LastBegun() const noexcept;

 private:
  static constexpr size_t kStageDistance = 8;

  size_t count() const noexcept { return static_cast<size_t>(next_ - requests_.data()); }

  void PlanFrom(Feed& feed);
  void ForgetUnplanned() noexcept;
  // Reserves room in args_ for a rest of the batch made of known heads only. Throws std::bad_alloc.
  void MakeRoomForHeads() {
    args_.Reserve(static_cast<size_t>(requests_.end() - next_) * resp::Head::kMostArgs);
  }
  // Plans the request whose row Next has set.
  bool Add(Feed& feed, Keyspace& keyspace, const resp::Request& request, size_t end);
  // Does the second stage for all but the last `distance` requests, the third for all but the last 2 * `distance`, and the
  // fourth for all but the last 3 * `distance`.
  void StepStages(size_t distance) noexcept;
  // The second stage.
  void AskForEntries(Planned* end) noexcept;
  void AskForMembers(const Planned* end) noexcept;
  // The end of all requests but the last `left`.
  Planned* AllBut(size_t left) noexcept { return count() > left ? next_ - left : requests_.data(); }

  // Parses the next request; a request with a known head of its user skips the parsing of the head, and the test of the
  // user's rules. Sets `row` and `plain` of *next_. `may_guess`: the parser is idle and there is a user. REQUIRES:
  // MakeRoomForHeads.
  resp::Status Next(resp::Parser& parser, std::string_view input, const User* user, bool may_guess,
                    resp::Request& request);
  // Like Next, for a request without a known head. `known`: the place to store the head; null: none.
  resp::Status NextUnknown(resp::Parser& parser, std::string_view input, const User* user,
                           resp::Request& request, KnownHead* known);

  const CommandTable& commands_;
  Databases& databases_;
  resp::ArgList args_;
  resp::Limits limits_;
  std::array<Planned, kRequests> requests_;
  Planned* next_ = requests_.data();     // after the last planned request
  Planned* full_ = nullptr;              // next_ in a full batch; lowered to end the turn
  Planned* stage_at_ = nullptr;          // next_ when StepStages is due, at the latest in a full batch
  Planned* entries_asked_ = nullptr;     // after the last request that has passed the second stage
  Planned* neighbours_asked_ = nullptr;  // the third stage
  Planned* members_asked_ = nullptr;     // the fourth stage, omitted until there is a rich value
  size_t member_args_ = 0;               // the first argument of the next request for the fourth stage
  bool has_rich_ = false;
  const Limits* batch_limits_ = nullptr;  // of Plan
};

}  // namespace mayfly
