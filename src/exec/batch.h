// From bytes to planned requests whose memory is on its way: what an Executor runs next.
//
//   feeds (one for each client that sent something) --parse--> requests of many clients, at most kRequests
//     hash ..... the group of the table is asked for
//     kStageDistance requests later: the group is there; the entry that it names is asked for
//     kStageDistance requests later: the entry is there; its neighbours in list and wheel are asked for
//
// So the cache misses of a batch overlap with each other and with parsing, whether the requests come from one
// pipeline or from many clients with one request each. Look-ahead hands on guesses only: a guess is void once
// any entry has left its keyspace (Databases::departures), and every guess is checked against the key.
//
// Each client's requests keep their order; clients take turns. A batch takes nothing of a client behind a
// request that changes what its next bytes mean (kEndsBatch), may park it (kBlocking), or while it has to log
// in. Views into the feeds: they die with the feeds' bytes. Loop thread only.
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
  uint32_t first_arg;     // in the batch's arguments
  uint32_t arg_count;     // 0: nothing to run
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

  // Forgets the last batch and plans the next one. False when the feeds hold no further request that can be
  // planned. `max_bulk`: the longest argument that is taken. `open_door`: nobody has to log in.
  bool Plan(std::span<Feed> feeds, size_t max_bulk, bool open_door);

  std::span<const Planned> requests() const noexcept { return {requests_.data(), count_}; }
  const resp::ArgList& args() const noexcept { return args_; }
  // Of Databases, when this batch was planned.
  uint64_t departures() const noexcept { return departures_; }

 private:
  static constexpr size_t kStageDistance = 8;

  void PlanFrom(Feed& feed);
  bool Add(Feed& feed, Keyspace& keyspace, const resp::Request& request, size_t end);
  const TableRow* RowOf(std::span<const std::string_view> arguments, std::string_view input) noexcept;
  // Brings all but the last `distance` requests a stage further, and all but the last two distances by two.
  void StepStages(size_t distance) noexcept;

  // A name as clients send it again and again: its first bytes with the four before them, and its last.
  struct Spelling {
    uint64_t front = 0;
    uint64_t back = 0;
    const TableRow* row = nullptr;
  };
  static constexpr size_t kSpellings = 16;

  const CommandTable& commands_;
  Databases& databases_;
  resp::ArgList args_;
  resp::Limits limits_;
  std::array<Planned, kRequests> requests_;
  size_t count_ = 0;
  size_t entries_asked_ = 0;     // so many requests are through the second stage
  size_t neighbours_asked_ = 0;  // and so many through the third
  uint64_t departures_ = 0;
  bool open_door_ = false;
  std::array<Spelling, kSpellings> spellings_;
};

}  // namespace mayfly
