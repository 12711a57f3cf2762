// The row of a command: everything the server knows of the command. COMMAND, COMMAND DOCS, permissions, look-ahead and
// docs/commands.md are made from these rows.
//
// A family file in src/commands ends with its rows and one registrar:
//   static constexpr Command kRows[] = {{.name = "get", .arity = 2, .flags = kReadOnly | kFast, ...}};
//   static const CommandFamily family("string", kRows);
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mayfly {

struct Context;
class Args;

using Handler = void (*)(Context&, Args&);

// Flags shown by COMMAND, and Mayfly's own flags for dispatch, hidden from COMMAND.
enum CommandFlag : uint32_t {
  kWrite = 1 << 0,     // may change keys
  kReadOnly = 1 << 1,  // reads keys only
  kDenyOom = 1 << 2,   // refused while over maxmemory with nothing to evict
  kAdmin = 1 << 3,
  kPubSub = 1 << 4,
  kNoScript = 1 << 5,
  kBlocking = 1 << 6,
  kLoading = 1 << 7,  // allowed while a snapshot loads
  kStale = 1 << 8,
  kSkipMonitor = 1 << 9,
  kSkipSlowlog = 1 << 10,
  kAsking = 1 << 11,
  kFast = 1 << 12,    // O(1) or O(log n)
  kNoAuth = 1 << 13,  // allowed before AUTH
  kMayReplicate = 1 << 14,
  kSentinel = 1 << 15,
  kOnlySentinel = 1 << 16,
  kNoMandatoryKeys = 1 << 17,
  kProtected = 1 << 18,
  kNoAsyncLoading = 1 << 19,
  kNoMulti = 1 << 20,
  kMovableKeys = 1 << 21,
  kAllowBusy = 1 << 22,
  kEndsBatch = 1 << 23,        // ours: changes session state, so look-ahead stops after it
  kUntouched = 1 << 24,        // ours: reads keys without counting as an access
  kEndsTurn = 1 << 25,         // ours: with kEndsBatch, changes what other clients' requests may do
  kUnpaused = 1 << 26,         // ours: CLIENT PAUSE does not hold the command back
  kTouches = 1 << 27,          // ours: counts as an access even for a client with NO-TOUCH
  kWhileSubscribed = 1 << 28,  // ours: allowed in RESP2's subscriber mode
  kUnqueued = 1 << 29,         // ours: runs at once, even between MULTI and EXEC
  kRunsQueue = 1 << 30,        // ours: EXEC, with the effects of all queued commands
};

// ACL categories that do not follow from the flags (write, read, fast, slow, admin, dangerous, blocking, pubsub do).
enum AclCategory : uint32_t {
  kAclKeyspace = 1 << 0,
  kAclRead = 1 << 1,
  kAclWrite = 1 << 2,
  kAclSet = 1 << 3,
  kAclSortedSet = 1 << 4,
  kAclList = 1 << 5,
  kAclHash = 1 << 6,
  kAclString = 1 << 7,
  kAclBitmap = 1 << 8,
  kAclHyperLogLog = 1 << 9,
  kAclGeo = 1 << 10,
  kAclStream = 1 << 11,
  kAclPubSub = 1 << 12,
  kAclAdmin = 1 << 13,
  kAclFast = 1 << 14,
  kAclSlow = 1 << 15,
  kAclBlocking = 1 << 16,
  kAclDangerous = 1 << 17,
  kAclConnection = 1 << 18,
  kAclTransaction = 1 << 19,
  kAclScripting = 1 << 20,
};

// Which arguments are keys: first, last (negative: from the end) and step, as COMMAND shows them; and the command's use of
// the keys, as in the key specs of Redis 7.
enum KeyUse : uint16_t {
  kKeyRO = 1 << 0,
  kKeyRW = 1 << 1,
  kKeyOW = 1 << 2,
  kKeyRM = 1 << 3,
  kKeyAccess = 1 << 4,
  kKeyUpdate = 1 << 5,
  kKeyInsert = 1 << 6,
  kKeyDelete = 1 << 7,
  kKeyVariableFlags = 1 << 8,
  kKeyNone = 1 << 9,         // not a key, though treated as a key in a cluster: a shard channel
  kKeyIncomplete = 1 << 10,  // the spec alone does not find all keys
};
struct KeySpec {
  int16_t first = 0;  // 0: no keys; or, with a use, keys at places unknown from the arguments
  int16_t last = 0;
  int16_t step = 0;
  uint16_t use = 0;
  std::string_view notes = {};
  // The argument with the number of keys from `first` on; `last` is not used then. 0: no such argument.
  int16_t count_at = 0;
};

// A key after a word, such as the key after SORT's STORE.
struct KeyAfterWord {
  // A word with arguments, which may look like any other word.
  struct Skipped {
    std::string_view word;  // upper case
    size_t arguments;
  };
  std::span<const std::string_view> words = {};  // upper case; empty: no such key
  size_t from = 0;                               // the first argument that may be one of the words
  uint16_t use = 0;
  std::span<const Skipped> skipped = {};
  bool every = false;  // every word counts, as for GEORADIUS; otherwise only the last word
  // The first half of all arguments after the first word are keys, as for XREAD.
  bool half = false;
  // All arguments after the first word are keys, with the use of Command::keys, whose own key must be empty then: MIGRATE.
  bool rest = false;
};

// Which arguments are channels to publish to or to subscribe to.
struct ChannelSpec {
  int16_t first = 0;  // 0: no channels
  bool all = false;   // all later arguments, too
  bool patterns = false;
};

struct Command {
  std::string_view name;  // lower case; for a subcommand the second word
  int arity = 0;          // with the name; negative: the least number
  uint32_t flags = 0;
  KeySpec keys = {};
  KeySpec more_keys = {};  // keys after the first keys, with another use
  KeyAfterWord key_after_word = {};
  ChannelSpec channels = {};
  // The use of a call's keys, if the use depends on the arguments (kKeyVariableFlags).
  uint16_t (*key_use)(std::span<const std::string_view> call) = nullptr;
  // True if argument `index` of a call is a secret, hidden from SLOWLOG and MONITOR; null: no secrets.
  bool (*is_secret)(std::span<const std::string_view> call, size_t index) = nullptr;
  uint32_t acl = 0;
  Handler handler = nullptr;  // null for a container that needs a subcommand
  std::string_view since = {};
  std::string_view complexity = {};
  std::string_view summary = {};  // our words
  std::string_view syntax = {};   // the arguments: "key value [NX|XX] [EX seconds|PX milliseconds]"
  std::span<const Command> subcommands = {};
  // Facts for COMMAND DOCS about arguments beyond the syntax: "word=name@since", space separated. The word is the argument's
  // token, or without a token the name in the syntax; see exec/docs/command_docs.h.
  std::string_view argument_notes = {};
  std::string_view doc_flags = {};  // "deprecated" or "syscmd"
  std::string_view deprecated_since = {};
  std::string_view replaced_by = {};
  std::string_view tips = {};   // command tips of COMMAND, space separated
  std::string_view notes = {};  // Mayfly's differences, or additions of later versions; may be empty
};

// Registers a family's rows when the program starts. `group` is the group in COMMAND DOCS: "string", "generic" ...
class CommandFamily {
 public:
  // `container`: the rows are further subcommands of this command.
  CommandFamily(std::string_view group, std::span<const Command> rows,
                std::string_view container = {}) noexcept
      : group_(group), container_(container), rows_(rows), next_(First()) {
    First() = this;
  }
  std::string_view group() const noexcept { return group_; }
  std::string_view container() const noexcept { return container_; }
  std::span<const Command> rows() const noexcept { return rows_; }
  const CommandFamily* next() const noexcept { return next_; }
  // The chain of all families linked into this program; complete before main begins and constant afterwards.
  static const CommandFamily*& First() noexcept {
    static const CommandFamily* first = nullptr;
    return first;
  }

 private:
  std::string_view group_;
  std::string_view container_;
  std::span<const Command> rows_;
  const CommandFamily* next_;
};

}  // namespace mayfly
