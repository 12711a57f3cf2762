// Whatever several clients send, in any order, while time passes, limits change and allocations fail: every reply is
// whole, and afterwards all that the server says of its keys agrees, with what it holds and with itself.
//
// A test case is a program. Its first byte chooses one of two:
//  - every command of the table, with arguments drawn from its syntax (tests/differential/syntax_walker.h), between
//    steps of both clocks, options that change, clients that leave, and allocations that fail;
//  - requests on strings and deadlines, in pipelines, whose every reply a model predicts (string_model.h).
// `fuzz_command_table --seeds=DIR` writes seeds.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "../differential/row_syntax.h"
#include "../differential/syntax_walker.h"
#include "../support/loopless_server.h"
#include "../support/memory_disk.h"
#include "../support/reply.h"
#include "../support/request_text.h"
#include "guest.h"
#include "inspector.h"
#include "seed_files.h"
#include "snapshot/snapshots.h"
#include "string_model.h"

namespace mayfly::testing {
namespace {

// ---- every command

// Not sent: what ends the server, what takes long whatever the arguments are, and what shows only the table itself.
bool IsSent(const TableRow& row) {
  static constexpr std::string_view kNot[] = {"shutdown", "replicaof", "slaveof", "pfselftest",
                                              "lolwut",   "debug",     "command", "config|rewrite"};
  const std::string_view name = row.full_name;
  return std::none_of(std::begin(kNot), std::end(kNot),
                      [&](std::string_view other) { return name == other; }) &&
         (row.parent == nullptr || row.parent->full_name != "command");
}

// The rows that are sent; read once, since that takes longer than a test case.
const std::vector<RowSyntax>& SentRows() {
  static const CommandTable kTable;
  static const std::vector<RowSyntax> kRows = [] {
    std::vector<RowSyntax> rows;
    const auto add = [&rows](const TableRow& row) {
      if (row.command->handler != nullptr && IsSent(row)) rows.push_back(ReadRow(row));
    };
    for (const TableRow* row : kTable.rows()) {
      add(*row);
      for (const TableRow* sub : row->subcommands) add(*sub);
    }
    return rows;
  }();
  return kRows;
}

// Words for arguments that mean something only here; empty: for others.
std::string Special(Dice& dice, const SyntaxArgument& argument, int64_t wall_ms) {
  const std::string_view name = argument.name;
  const auto one = [&](std::initializer_list<std::string_view> words) {
    return std::string(words.begin()[dice.Below(words.size())]);
  };
  if (name == "seconds") return dice.OneIn(2) ? std::to_string(dice.Between(0, 3)) : "";
  if (name == "milliseconds" || name == "to-ms" || name == "from-ms" || name == "delay")
    return dice.OneIn(2) ? std::to_string(dice.Between(0, 2000)) : "";
  if (name == "unix-time-seconds")
    return dice.OneIn(2) ? std::to_string(wall_ms / 1000 + dice.Between(0, 3)) : "";
  if (name == "unix-time-milliseconds")
    return dice.OneIn(2) ? std::to_string(wall_ms + dice.Between(0, 2000)) : "";
  if (name == "timeout" || name == "timeout-seconds") return one({"0.01", "0", "1", "-1", "x"});
  if (name == "tag") return one({"t", "u", "a long tag of more than twenty-three letters", ""});
  if (name.ends_with("channel")) return one({"news", "new*", "__keyevent@0__:expired"});
  if (name == "parameter") return one({"max*", "*", "hz"});
  if (name == "client-id") return std::to_string(dice.Below(6));
  if (name == "protover") return one({"2", "3", "4"});
  if (name == "script")
    return one({"return 1", "return redis.call('SET', KEYS[1], ARGV[1])",
                "return redis.pcall('INCR', KEYS[1])", "local t = {} for i = 1, 100 do t[i] = i end return t",
                "return redis.call('KEYS', '*')", "redis.call('DEL', 'a') error('x')",
                "return cjson.decode(ARGV[1] or '{}')", "x", ""});
  if (name == "function-code")
    return one(
        {"#!lua name=l\nredis.register_function('f', function(k, a) return redis.call('GET', k[1]) end)",
         "#!lua name=m\nredis.register_function{function_name='g', callback=function() return 1 end, "
         "flags={'no-writes'}}",
         "x"});
  if (name == "function") return one({"f", "g", "h"});
  if (name == "sha1") return one({"e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "x"});
  return "";
}

constexpr std::array<std::array<std::string_view, 2>, 43> kChanges = {{
    {"maxmemory", "0"},
    {"maxmemory", "20000"},
    {"maxmemory", "200000"},
    {"maxmemory", "2000000"},
    {"maxkeys", "0"},
    {"maxkeys", "1"},
    {"maxkeys", "7"},
    {"maxmemory-policy", "noeviction"},
    {"maxmemory-policy", "allkeys-lru"},
    {"maxmemory-policy", "volatile-lru"},
    {"maxmemory-policy", "allkeys-lfu"},
    {"maxmemory-policy", "volatile-lfu"},
    {"maxmemory-policy", "allkeys-random"},
    {"maxmemory-policy", "volatile-random"},
    {"maxmemory-policy", "volatile-ttl"},
    {"maxmemory-policy", "allkeys-sieve"},
    {"maxmemory-policy", "allkeys-s3fifo"},
    {"maxmemory-policy", "volatile-s3fifo"},
    {"namespace", ""},
    {"namespace", "few prefix s: maxkeys 1 plain prefix k: maxmemory 2kb maxkeys 3 default-ttl 100ms"},
    {"namespace", "tiny prefix hash:: maxmemory 1 ordered prefix z: maxmemory 10kb"},
    {"namespace", "all prefix a: maxkeys 1 most prefix k: maxmemory 1mb some prefix h: maxkeys 2"},
    {"hash-max-listpack-entries", "0"},
    {"hash-max-listpack-entries", "4"},
    {"hash-max-listpack-value", "10"},
    {"set-max-intset-entries", "2"},
    {"set-max-listpack-entries", "2"},
    {"zset-max-listpack-entries", "2"},
    {"list-max-listpack-size", "2"},
    {"list-max-listpack-size", "-2"},
    {"stream-node-max-entries", "2"},
    {"hll-sparse-max-bytes", "0"},
    {"shadow-list", "yes"},
    {"shadow-list", "no"},
    {"miss-ring-entries", "0"},
    {"miss-ring-entries", "64"},
    {"default-ttl", "50ms"},
    {"default-ttl", "0"},
    {"max-ttl", "1s"},
    {"max-ttl", "0"},
    {"expire-log-size", "10000"},
    {"expire-log-size", "0"},
    {"notify-keyspace-events", "KEA"},
}};

void Set(LooplessServer& server, std::string_view name, std::string_view value) {
  const config::NameValue pair{std::string(name), std::string(value)};
  std::vector<std::string> warnings;
  if (const config::Problem problem = server.options.Set({&pair, 1}, warnings))
    Fail(std::string(name) + ": " + *problem);
}

class Everything {
 public:
  explicit Everything(Dice& dice)
      : dice_(dice), values_(dice, server_.clock.Read().wall_ms / 1000), walker_(values_, dice) {
    Set(server_, "proto-max-bulk-len", "1mb");  // no value grows without end
    server_.server.snapshots = std::make_unique<Snapshots>(server_.server, disk_);
    for (auto& guest : guests_) guest = std::make_unique<Guest>(server_);
  }

  void Run() {
    constexpr size_t kMostSteps = 300;
    for (size_t steps = 0; steps < kMostSteps && !dice_.Done(); ++steps) Step();
    ComeToRest();
    Inspector(server_).Inspect();
    ValidateAll(server_);
  }

 private:
  void Step() {
    Guest& guest = *guests_[dice_.Below(guests_.size())];
    switch (dice_.Below(16)) {
      case 0:
        server_.clock.AdvanceTime(kTimesMs[dice_.Below(kTimesMs.size())]);
        return;  // the loop is held up
      case 1:
      case 2:
        server_.clock.AdvanceTime(kTimesMs[dice_.Below(kTimesMs.size())]);
        return FinishTurn();
      case 3:
        if (dice_.OneIn(4)) server_.clock.StepWall(dice_.Between(-100'000, 100'000));
        return FinishTurn();
      case 4: {
        const auto& change = kChanges[dice_.Below(kChanges.size())];
        return Set(server_, change[0], change[1]);
      }
      case 5:
        return SendWithoutMemory(guest);
      case 6:
        if (dice_.OneIn(4)) Leave(guest);
        return FinishTurn();
      default:
        return Send(guest);
    }
  }

  Words Draw() {
    const RowSyntax& syntax = SentRows()[dice_.Below(SentRows().size())];
    Words words = syntax.Name();
    const int64_t wall_ms = server_.clock.Read().wall_ms;
    for (DrawnWord& word : walker_.Walk(syntax, "")) {
      std::string special;
      if (!word.is_token) special = Special(dice_, *word.argument, wall_ms);
      words.push_back(special.empty() ? std::move(word.text) : std::move(special));
    }
    if (dice_.OneIn(30)) words.pop_back();
    return words;
  }

  void Send(Guest& guest) {
    std::string bytes;
    for (size_t count = 1 + dice_.Below(3); count != 0; --count) AppendRequest(bytes, Draw());
    guest.Send(bytes);
    guest.Serve();
    FinishTurn();
  }

  // The nth allocation of this request fails.
  void SendWithoutMemory(Guest& guest) {
    std::string bytes;
    AppendRequest(bytes, Draw());
    guest.Send(bytes);
    guest.Serve(1 + dice_.Below(40));
    ValidateAll(server_);
    FinishTurn();
  }

  void Leave(const Guest& guest) {
    for (auto& slot : guests_) {
      if (slot.get() == &guest) slot = std::make_unique<Guest>(server_);
    }
  }

  // As the loop does it: what is due, who was woken, and the replies.
  void FinishTurn() {
    server_.FreeDue();
    server_.executor.RunWoken([this](const Session& session) {
      for (const auto& guest : guests_) {
        if (&guest->session == &session) guest->Serve();
      }
    });
    server_.executor.EndTurn();
    static_cast<void>(server_.sessions.TakeDirty());
    for (const auto& guest : guests_) {
      const std::string output = guest->TakeOutput();
      if (guest->session.Has(Mode::kDropped)) {
        Leave(*guest);  // its last reply may have been cut off
        continue;
      }
      try {
        TakeReplies(output);
      } catch (const std::runtime_error& broken) {
        Fail(broken.what());
      }
      if (guest->session.closes()) Leave(*guest);
    }
  }

  void ComeToRest() {
    server_.parking.Unpause();
    for (auto& guest : guests_) guest = std::make_unique<Guest>(server_);
    FinishTurn();
    for (const auto& [name, value] :
         {std::pair("maxmemory", "0"), std::pair("maxkeys", "0"), std::pair("default-ttl", "0"),
          std::pair("max-ttl", "0"), std::pair("notify-keyspace-events", "")})
      Set(server_, name, value);
    FinishTurn();
  }

  static constexpr std::array<uint64_t, 6> kTimesMs = {1, 10, 400, 1000, 100'000, 86'400'000};

  Dice& dice_;
  MemoryDisk disk_;
  LooplessServer server_;
  ValuePools values_;
  SyntaxWalker walker_;
  std::array<std::unique_ptr<Guest>, 3> guests_;
};

// ---- strings, beside the model

class BesideModel {
 public:
  explicit BesideModel(Dice& dice) : dice_(dice), model_(dice), guest_(server_) {
    Set(server_, "maxmemory", "0");
  }

  void Run() {
    constexpr size_t kMostSteps = 300;
    for (size_t steps = 0; steps < kMostSteps && !dice_.Done(); ++steps) {
      if (dice_.OneIn(4)) {
        server_.clock.AdvanceTime(dice_.Below(200));
        all_freed_ = !dice_.OneIn(3);
        if (all_freed_) server_.FreeDue();
      }
      SendSome();
    }
    ValidateAll(server_);
    server_.FreeDue();
    ValidateAll(server_);
  }

 private:
  void SendSome() {
    std::string bytes;
    std::string expected;
    std::string shown;
    const int64_t now_ms = server_.clock.Read().wall_ms;
    for (size_t count = 1 + dice_.Below(dice_.OneIn(4) ? 30 : 4); count != 0; --count) {
      const StringModel::Exchange exchange = model_.Next(now_ms, all_freed_);
      AppendRequest(bytes, exchange.request);
      expected += exchange.reply;
      shown += Shown(exchange.request) + "\n";
    }
    guest_.Send(bytes);
    guest_.Serve();
    const std::string got = guest_.TakeOutput();
    if (got != expected)
      Fail(shown + "expected: " + expected.substr(0, 2000) + "\ngot: " + got.substr(0, 2000));
  }

  Dice& dice_;
  StringModel model_;
  LooplessServer server_;
  Guest guest_;
  bool all_freed_ = true;
};

void WriteSeeds(const std::string& folder) {
  for (int number = 0; number < 64; ++number) {
    std::ofstream seed(folder + "/random-" + std::to_string(number), std::ios::binary);
    seed.put(static_cast<char>(number));
    PutRandomBytes(seed, number, 100 + 20 * number);
  }
}

}  // namespace
}  // namespace mayfly::testing

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, mayfly::testing::WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mayfly::testing;
  Dice dice(std::span<const uint8_t>(data, size));
  if (dice.OneIn(4))
    BesideModel(dice).Run();
  else
    Everything(dice).Run();
  return 0;
}
