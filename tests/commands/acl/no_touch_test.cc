// CLIENT NO-TOUCH and every command of the table: whatever such a client sends, no access of it counts but by TOUCH.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "differential/dice.h"
#include "differential/row_syntax.h"
#include "differential/syntax_walker.h"
#include "differential/value_pools.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// Rows whose calls access keys. Not those that give a key the history of another one, or take all keys away.
std::vector<RowSyntax> AccessingRows(const CommandTable& table) {
  static constexpr std::string_view kNot[] = {"rename",   "renamenx", "move",      "copy",
                                              "flushall", "flushdb",  "swapdb",    "touch",
                                              "nsflush",  "pfdebug",  "pfselftest"};
  std::vector<RowSyntax> rows;
  for (const TableRow* row : table.rows()) {
    const Command& command = *row->command;
    const bool accesses = (command.flags & (kReadOnly | kWrite)) != 0 && row->subcommands.empty();
    if (accesses && std::find(std::begin(kNot), std::end(kNot), command.name) == std::end(kNot))
      rows.push_back(ReadRow(*row));
  }
  return rows;
}

class NoTouchTest : public CommandTest {
 public:
  NoTouchTest() : values(dice, WallMs() / 1000), walker(values, dice) {}

  Words Draw(const RowSyntax& syntax) {
    values.SetGroup(syntax.row->group);
    Words words = syntax.Name();
    for (DrawnWord& word : walker.Walk(syntax, "")) words.push_back(std::move(word.text));
    return words;
  }
  // What the keys' accesses have left.
  std::map<std::string, uint32_t> Stamps() {
    std::map<std::string, uint32_t> stamps;
    for (const std::string& key : ValuePools::EveryKey()) {
      const Entry* const entry = keyspace().LookAt(key, server().clock.Read());
      if (entry != nullptr) stamps[key] = entry->stamp();
    }
    return stamps;
  }
  // Sends the request alone, in a transaction or by a script.
  void Send(const RowSyntax& syntax, const Words& words, size_t way) {
    const uint32_t flags = syntax.row->command->flags;
    if (way == 0 && (flags & kBlocking) == 0) {
      Run(words);
    } else if (way == 1 && (flags & kNoScript) == 0) {
      Words call = {"EVAL", "return redis.pcall(unpack(ARGV))", "0"};
      call.insert(call.end(), words.begin(), words.end());
      Run(call);
    } else {
      Run({"MULTI"});
      Run(words);
      Run({"EXEC"});
    }
  }

  Dice dice{20251126};
  ValuePools values;
  SyntaxWalker walker;
};

}  // namespace

TEST_CASE_METHOD(NoTouchTest, "no command of a client with NO-TOUCH counts as an access") {
  SetOption("proto-max-bulk-len", "1mb");
  const std::vector<RowSyntax> rows = AccessingRows(server().commands);
  REQUIRE(rows.size() > 150);
  TestClient& other = Connect();
  Run({"CLIENT", "NO-TOUCH", "ON"});
  for (const char* policy : {"allkeys-lru", "allkeys-lfu", "allkeys-sieve"}) {
    SetOption("maxmemory-policy", policy);
    for (size_t turn = 0; turn < 5; ++turn) {
      for (const RowSyntax& syntax : rows) {
        // Others fill the keys.
        const RowSyntax& any = rows[dice.Below(rows.size())];
        for (const RowSyntax* row : {&any, &syntax}) {
          if ((row->row->command->flags & kBlocking) == 0) other.Run(Draw(*row));
        }
        AdvanceTime(10'000);
        TakeChanges();
        const auto before = Stamps();
        const Words words = Draw(syntax);
        Send(syntax, words, turn % 3);
        const std::vector<std::string> changes = TakeChanges();
        for (const auto& [key, stamp] : Stamps()) {
          const auto found = before.find(key);
          const auto told = [&changes, name = key](const char* event) {
            return std::find(changes.begin(), changes.end(), event + name) != changes.end();
          };
          if (found == before.end() || told("new ") || told("restore ")) continue;
          CAPTURE(policy, words, key);
          REQUIRE(stamp == found->second);
        }
      }
    }
  }
}

TEST_CASE_METHOD(CommandTest,
                 "what a client with NO-TOUCH does moves no deadline that slides, but TOUCH does") {
  Run({"CLIENT", "NO-TOUCH", "ON"});
  Run({"SET", "k", "1", "EX", "100", "SLIDE"});
  AdvanceTime(10'000);
  const std::vector<std::vector<std::string>> accesses = {{"GET", "k"},
                                                          {"GETEX", "k"},
                                                          {"SET", "k", "2", "NX"},
                                                          {"SETNX", "k", "2"},
                                                          {"INCR", "k"},
                                                          {"APPEND", "k", "1"},
                                                          {"BITFIELD", "k", "GET", "u8", "0"},
                                                          {"COPY", "k", "copy"},
                                                          {"SORT", "l", "BY", "k"},
                                                          {"EVAL", "return redis.call('GET', 'k')", "0"},
                                                          {"EVAL", "return redis.call('INCR', 'k')", "0"}};
  for (const auto& access : accesses) {
    CAPTURE(access);
    Run(access);
    CHECK(Run({"TTL", "k"}) == Integer(90));
    CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(10));
  }
  CHECK(Run({"EVAL", "return redis.call('TOUCH', 'k')", "0"}) == Integer(1));
  CHECK(Run({"TTL", "k"}) == Integer(100));
  CHECK(Run({"OBJECT", "IDLETIME", "k"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "the writes of a client with NO-TOUCH evict by the order of accesses") {
  for (const char* policy :
       {"allkeys-lfu", "allkeys-lru", "allkeys-sieve", "allkeys-s3fifo", "volatile-ttl"}) {
    SetOption("maxmemory-policy", policy);
    SetOption("maxkeys", "3");
    TestClient& shy = Connect();
    shy.Run({"CLIENT", "NO-TOUCH", "ON"});
    for (int i = 0; i < 20; ++i) {
      const std::string key = "k" + std::to_string(i);
      CHECK(shy.Run({"SET", key, "v", "EX", "1000"}) == Ok());
      shy.Run({"MULTI"});
      shy.Run({"SET", key, "w", "EX", "1000"});
      shy.Run({"GETEX", key});
      CHECK(shy.Run({"EXEC"}).elements.size() == 2);
      CHECK(shy.Run({"EVAL", "return redis.call('SET', KEYS[1], 'x')", "1", key}) == Ok());
    }
    CHECK(Run({"DBSIZE"}) == Integer(3));
  }
}

}  // namespace mayfly::testing
