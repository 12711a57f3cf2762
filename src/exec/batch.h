// From bytes to planned requests whose memory is on its way: what an Executor runs next.
//
//   feeds (one for each client that sent something) --parse--> requests of many clients, at most kRequests
//     hash ..... the group of the table is asked for
//     kStageDistance requests later: the group is there; the entry that it names is asked for
//     kStageDistance requests later: the entry is there; its neighbours in list and wheel are asked for
//
// So the cache misses of a batch overlap with each other and with parsing, whether the requests come from one
// pipeline or from many clients with one request each. Look-ahead hands on guesses only: a guess is void once
// its entry has left (cache/stale_guesses.h), and every guess is checked against the key.
//
// Each client's requests keep their order; clients take turns. A batch takes nothing of a client behind a
// request that changes what its next bytes mean (kEndsBatch), may park it (kBlocking), or while it has to log
// in; and nothing of anybody behind one that changes what all clients may do (kEndsTurn). Views into the
// feeds: they die with the feeds' bytes. Loop thread only.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "cache/databases.h"
#include "exec/command_table.h"
#include "resp/parser.h"
#include "server/session.h"

namespace mayfly {

// What one client has sent.
struct Feed {
  enum class State : uint8_t {
    kOpen,    // more may be planned
    kPaused,  // not in this batch
    kBroken,  // the client broke the protocol behind what is planned
    kNoRoom,  // there was no memory to parse it
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
  const TableRow* row;    // null: unknown
  size_t end;             // offset behind it in the feed's input
  size_t arg_count;       // of the batch's arguments, behind those of the request before; 0: nothing to run
  Keyspace* keyspace;     // where the first key would be now; null: no key
  uint64_t hash;          // of the first key; 0 where there is none
  Keyspace::Trail trail;  // where to look for it; only with a keyspace
  HeapRef guess;          // its entry, perhaps
  bool small;             // so few bytes that they do not matter to how long it takes
};

class Batch {
 public:
  static constexpr size_t kRequests = 64;
  static constexpr size_t kSmallBytes = 1024;

  Batch(const CommandTable& commands, Databases& databases);

  struct Limits {
    size_t max_bulk;     // the longest argument that is taken
    size_t most_output;  // of a client that is logged in; see OutputChain::set_limit
    bool open_door;      // nobody has to log in
  };
  // Forgets the last batch and plans the next one. False when the feeds hold no further request that can be
  // planned.
  bool Plan(std::span<Feed> feeds, const Limits& limits);

  std::span<const Planned> requests() const noexcept { return {requests_.data(), count()}; }
  const resp::ArgList& args() const noexcept { return args_; }

 private:
  static constexpr size_t kStageDistance = 8;

  size_t count() const noexcept { return static_cast<size_t>(next_ - requests_.data()); }

  void PlanFrom(Feed& feed);
  void ForgetUnplanned() noexcept;
  // In args_, for as many known heads as the batch can still take. Throws std::bad_alloc.
  void MakeRoomForHeads() {
    args_.Reserve(static_cast<size_t>(requests_.end() - next_) * resp::Head::kMostArgs);
  }
  bool Add(Feed& feed, Keyspace& keyspace, const resp::Request& request, const TableRow* row, size_t end);
  // Brings all but the last `distance` requests a stage further, and all but the last two distances by two.
  void StepStages(size_t distance) noexcept;

  // The beginning of a request, as clients send it again and again. All zeros matches none.
  struct alignas(32) KnownHead {  // found by a shift
    resp::Head head;
    const TableRow* row = nullptr;
  };
  static constexpr size_t kKnownHeads = 16;

  // `may_guess`: the parser is idle and the client need not log in. A head that is known is not parsed again:
  // args_ always have room for as many of them as the batch can still take.
  resp::Status Next(resp::Parser& parser, std::string_view input, bool may_guess, resp::Request& request,
                    const TableRow*& row);
  // As Next, the thorough way. `known`: where to note the head; null where it cannot be noted.
  resp::Status NextUnknown(resp::Parser& parser, std::string_view input, resp::Request& request,
                           const TableRow*& row, KnownHead* known);

  const CommandTable& commands_;
  Databases& databases_;
  resp::ArgList args_;
  resp::Limits limits_;
  std::array<Planned, kRequests> requests_;
  Planned* next_ = requests_.data();  // behind the last planned one
  Planned* full_ = nullptr;           // where next_ may go no further; earlier where a request ends the turn
  Planned* stage_at_ = nullptr;       // where the next step of the stages is due
  size_t entries_asked_ = 0;          // so many requests are through the second stage
  size_t neighbours_asked_ = 0;       // and so many through the third
  size_t most_output_ = SIZE_MAX;
  bool open_door_ = false;
  std::array<KnownHead, kKnownHeads> heads_;
};

}  // namespace mayfly
