#include "replication/master_commands.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "base/log/log.h"
#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "cache/keyspace/databases.h"
#include "config/words.h"
#include "exec/dispatch/executor.h"
#include "replication/facts.h"
#include "replication/replicas.h"
#include "resp/whole_requests.h"
#include "server/figures/link_figures.h"

namespace mayfly {
namespace {

constexpr int kProtocol = 2;

// As in Redis, proto-max-bulk-len is a limit of clients: the master has the value already.
constexpr resp::Limits kLimits{.max_bulk = INT64_MAX};

// Shows expired keys to the master's commands, and suspends the rules for TTLs.
class MasterView {
 public:
  explicit MasterView(Databases& databases) noexcept
      : databases_(databases), shown_(databases), ruled_(databases.ttl_rules().Suspend()) {
    databases_.SetClient(0);
  }
  MasterView(const MasterView&) = delete;
  MasterView& operator=(const MasterView&) = delete;
  ~MasterView() { databases_.ttl_rules().Resume(ruled_); }

 private:
  Databases& databases_;
  const ShownExpired shown_;
  const bool ruled_;
};

bool Is(std::string_view word, std::string_view name) noexcept { return EqualsIgnoringCase(word, name); }

// A master of Redis sends the effects of scripts, not the scripts.
bool IsOfMaster(const TableRow& row) noexcept {
  const uint32_t flags = row.command->flags;
  const bool is_message = (flags & kMayReplicate) != 0 && (flags & kNoScript) == 0;
  return (flags & kWrite) != 0 || is_message || row.full_name == "select";
}

bool DependsOnDatabase(const TableRow& row) noexcept {
  return row.first_key != 0 || row.full_name == "flushdb";
}

}  // namespace

MasterCommands::MasterCommands(Server& server)
    : server_(server), session_(chunks_), replies_(chunks_, kProtocol), cutoff_(server) {
  session_.modes = 0;
  session_.peer = "master";
}

MasterCommands::~MasterCommands() = default;

void MasterCommands::Begin(int64_t offset, unsigned database) noexcept {
  Cut();
  homeless_ = database >= server_.databases.count();
  session_.db = homeless_ ? 0 : database;
  offset_ = offset;
}

void MasterCommands::Cut() noexcept {
  session_.commands = 0;
  parser_ = resp::Parser();
  input_ = {};
  parsed_ = 0;
  in_transaction_ = false;
  transaction_.clear();
}

bool MasterCommands::Feed(std::string_view bytes, Now now) {
  const MasterView view(server_.databases);
  input_.append(bytes);
  resp::Status status = resp::Status::kReady;
  while (status == resp::Status::kReady) {
    args_.Clear();
    resp::Request request{};
    status = parser_.Next(std::string_view(input_).substr(parsed_), kLimits, args_, request);
    if (status != resp::Status::kReady) break;
    const Range range{parsed_, request.size};
    parsed_ += request.size;
    Take({args_.data() + request.first_arg, request.arg_count}, range, now);
  }
  args_.Clear();
  if (!in_transaction_) {
    input_.erase(0, parsed_);
    parsed_ = 0;
  }
  return status != resp::Status::kError;
}

void MasterCommands::Take(std::span<const std::string_view> words, Range range, Now now) {
  if (in_transaction_) {
    if (words.empty() || !Is(words[0], "EXEC")) return transaction_.push_back(range);
    RunTransaction(now);
    return;
  }
  if (!words.empty() && Is(words[0], "MULTI")) {
    in_transaction_ = true;
    transaction_.clear();
    // Only the requests before MULTI have taken effect.
    input_.erase(0, range.begin);
    parsed_ = range.size;
    return;
  }
  if (!words.empty()) Run(words, now);
  Pass(std::string_view(input_).substr(range.begin, range.size));
}

void MasterCommands::Pass(std::string_view bytes) noexcept {
  offset_ += static_cast<int64_t>(bytes.size());
  const bool has_cutoff = std::exchange(ran_cutoff_, false);
  if (Replicas* const replicas = Replicas::IfMade(server_)) replicas->Relay(bytes, session_.db, has_cutoff);
}

void MasterCommands::RunTransaction(Now now) {
  for (const Range& range : std::exchange(transaction_, {})) {
    resp::Parser parser;
    resp::ArgList args;
    resp::Request request{};
    const std::string_view text = std::string_view(input_).substr(range.begin, range.size);
    if (parser.Next(text, kLimits, args, request) != resp::Status::kReady || request.arg_count == 0) continue;
    Run({args.data() + request.first_arg, request.arg_count}, now);
  }
  in_transaction_ = false;
  Pass(std::string_view(input_).substr(0, parsed_));
  input_.erase(0, parsed_);
  parsed_ = 0;
}

void MasterCommands::Run(std::span<const std::string_view> words, Now now) {
  if (Is(words[0], "PING")) return;
  if (Is(words[0], "REPLCONF")) {
    wish_ = wish_ || (words.size() > 1 && Is(words[1], "GETACK"));
    if (words.size() > 1 && Is(words[1], kNoCutoff)) cutoff_.End(now);
    return;
  }
  if (Is(words[0], "PUBLISH") && words.size() == 3 && words[1] == kFactsChannel) {
    if (trusts_facts_) RunFacts(words, now);
    return;
  }
  Executor& executor = *server_.executor;
  const TableRow* row = executor.RowOf(words);
  if (row == nullptr) row = server_.commands.FindByOwnName(words[0]);  // it is renamed or removed for clients
  if (row != nullptr && !IsOfMaster(*row)) return NoteFailure(words, "a master sends no such command");
  if (row != nullptr && homeless_ && DependsOnDatabase(*row))
    return NoteFailure(words, "its database does not exist here");
  if (row != nullptr) cutoff_.DropKeysOf(*row, words, session_.db);
  replies_.Clear();
  if (row != nullptr) session_.last_command = &row->full_name;
  ++session_.commands;
  const Outcome outcome = executor.MakeCall({session_, replies_.writer(), now, Origin::kMaster, words, row});
  if (row != nullptr && row->full_name == "select") homeless_ = outcome.errors != 0;
  if (outcome.errors != 0) NoteFailure(words, replies_.Text());
  replies_.Clear();
}

void MasterCommands::RunFacts(std::span<const std::string_view> words, Now now) {
  const std::string_view message = words[2];
  const char kind = message.empty() ? '\0' : message[0];
  if (kind == kFactsCutoff && TakeCutoff(message.substr(1), now)) return;
  bool good = homeless_;  // the database does not exist here
  if (!good && kind == kFactsOfKey)
    good = TakeFacts(server_.databases.At(session_.db), message.substr(1), now);
  if (!good && kind == kFactsCommand) {
    resp::Parser parser;
    resp::ArgList args;
    resp::Request request{};
    good = parser.Next(message.substr(1), kLimits, args, request) == resp::Status::kReady &&
           request.arg_count > 1 && !Is(args.data()[request.first_arg], "PUBLISH");
    if (good) Run({args.data() + request.first_arg, request.arg_count}, now);
  }
  if (!good) NoteFailure(words, "these are no facts of a key");
}

bool MasterCommands::TakeCutoff(std::string_view text, Now now) {
  const std::optional<int64_t> unix_ms = ParseInteger(text);
  if (!unix_ms || *unix_ms <= 0) return false;
  ran_cutoff_ = true;
  cutoff_.MoveTo(*unix_ms, Replicas::Of(server_).told_clock_distance_ms().value_or(*unix_ms), now);
  return true;
}

void MasterCommands::NoteFailure(std::span<const std::string_view> words, std::string_view reply) noexcept {
  ++server_.link.failures;
  if (server_.log == nullptr || failures_told_++ >= kFailuresTold) return;
  reply = reply.substr(0, reply.find('\r'));
  server_.log->Warning("a command of the master has failed, so keys may differ from the master's: ",
                       config::Printable(words[0]), " ", words.size() > 1 ? config::Printable(words[1]) : "",
                       ": ", reply);
}

}  // namespace mayfly
