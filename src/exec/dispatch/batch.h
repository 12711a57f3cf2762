// Plans the next requests of an Executor: parses the bytes of clients and prefetches memory for the requests.
//
//   feeds (one for each client that sent something) --parse--> requests of many clients, at most kRequests
//     at once: the key is hashed; its group of the hash table is prefetched
//     kStageDistance requests later: the group has arrived; the entry that it names is prefetched
//     kStageDistance requests later: the entry has arrived; its neighbours in list and wheel are prefetched,
//       and its value if that is rich
//     kStageDistance requests later: the rich value has arrived; the members that the request names are prefetched
//
// So the cache misses of a batch overlap with each other and with parsing, whether the requests come from one
// pipeline or from many clients with one request each. The entry found while planning is only a guess, since
// an earlier request of the batch may change or remove it: a guess is dropped once its entry is gone
// (cache/gone/stale_guesses.h), and the command compares the key.
//
// Each client's requests keep their order; clients take turns. After a request that may change how the
// client's next bytes are read (kEndsBatch) or may block it (kBlocking), and after each request of a client
// that has yet to log in, the batch takes no more from this client. After one that may change what every
// client may do (kEndsTurn), it takes no more from anybody. Arguments are views into the feeds' bytes. Loop
// thread only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "cache/keyspace/databases.h"
#include "exec/call/command_table.h"
#include "exec/call/in_flight.h"
#include "resp/parser.h"
#include "server/acl/known_heads.h"
#include "server/clients/sessions.h"

namespace mayfly {

// What one client has sent.
struct Feed {
  enum class State : uint8_t {
    kOpen,    // more may be planned
    kPaused,  // not in this batch
    kBroken,  // the bytes after what is planned break the protocol
    kNoRoom,  // there was no memory to parse them
    kDone,
  };
  Session* session;
  std::string_view input;
  size_t consumed = 0;  // bytes at the front of `input` whose requests have run
  size_t planned = 0;   // bytes at the front that are parsed
  State state = State::kOpen;
};

struct Planned {
  Feed* feed;
  const TableRow* row;           // null: unknown
  size_t end;                    // the offset in the feed's input at which it ends
  size_t arg_count;              // its arguments follow those of the request before; 0: nothing to run
  Keyspace* keyspace;            // of its first key; null: no key
  uint64_t hash;                 // of the first key; 0 if there is none
  Keyspace::Table::Trail trail;  // where to look for it; only with a keyspace
  HeapRef guess;                 // its entry, perhaps
  const RichValue* value;  // of that entry, if it is rich; only while planning, and only if there is a guess
  bool small;              // the arguments' size does not matter for the time it takes (Limits::small_bytes)
  bool plain;  // the command is known, and its user may call it unless a mode of the session says otherwise
};

class Batch {
 public:
  static constexpr size_t kRequests = 64;
  static constexpr size_t kSmallBytes = 1024;

  Batch(const CommandTable& commands, Databases& databases);

  struct Limits {
    size_t max_bulk;  // the longest argument that is accepted
    OutputLimits output = {};
    size_t small_bytes = kSmallBytes;  // a longer request is not small; 0: no request is
  };
  // Discards the last batch and plans the next one. False if the feeds hold no further request that can be
  // planned.
  bool Plan(std::span<Feed> feeds, const Limits& limits);

  std::span<const Planned> requests() const noexcept { return {requests_.data(), count()}; }
  const resp::ArgList& args() const noexcept { return args_; }
  // Of its requests, the one that has begun last.
  Begun LastBegun() const noexcept;

 private:
  static constexpr size_t kStageDistance = 8;

  size_t count() const noexcept { return static_cast<size_t>(next_ - requests_.data()); }

  void PlanFrom(Feed& feed);
  void ForgetUnplanned() noexcept;
  // Reserves what is needed in args_ if all the rest of the batch has known heads. Throws std::bad_alloc.
  void MakeRoomForHeads() {
    args_.Reserve(static_cast<size_t>(requests_.end() - next_) * resp::Head::kMostArgs);
  }
  // Plans the request of which Next has set the row.
  bool Add(Feed& feed, Keyspace& keyspace, const resp::Request& request, size_t end);
  // Does the second stage for all but the last `distance` requests, the third for all but the last 2 * `distance`,
  // and the fourth for all but the last 3 * `distance`.
  void StepStages(size_t distance) noexcept;
  void AskForMembers(size_t end) noexcept;

  // Parses the next request; one that begins with a head that is known for its user skips the parsing of that, and the
  // look at the user's rules. Sets `row` and `plain` of *next_. `may_guess`: the parser is idle and there is a user.
  // REQUIRES: MakeRoomForHeads.
  resp::Status Next(resp::Parser& parser, std::string_view input, const User* user, bool may_guess,
                    resp::Request& request);
  // As Next, for a request whose head is not known. `known`: where to store the head; null: nowhere.
  resp::Status NextUnknown(resp::Parser& parser, std::string_view input, const User* user,
                           resp::Request& request, KnownHead* known);

  const CommandTable& commands_;
  Databases& databases_;
  resp::ArgList args_;
  resp::Limits limits_;
  std::array<Planned, kRequests> requests_;
  Planned* next_ = requests_.data();  // after the last planned one
  Planned* full_ = nullptr;           // the batch is full when next_ is here; lowered to end the turn
  Planned* stage_at_ = nullptr;       // StepStages is due when next_ is here
  size_t entries_asked_ = 0;          // requests that have passed the second stage
  size_t neighbours_asked_ = 0;       // and the third
  size_t members_asked_ = 0;          // and the fourth, which is left out until there is a rich value
  size_t member_args_ = 0;            // where the arguments of the next request for it begin
  bool has_rich_ = false;
  Limits batch_limits_{};
};

}  // namespace mayfly
