// The keys that are checked are the keys that are used (R#15478, R#14659, R#14847): calls of every row of the command
// table with keys, drawn from its syntax and then made confusing, by a user who may use some keys only.
//
// Two servers differ in the values of the forbidden keys alone. No call may change such a key, or get another reply
// from one server than from the other. The user may also use keys that are named like the row's option words, so that
// a word which is taken for a key is no help.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "differential/row_syntax.h"
#include "differential/spoiler.h"
#include "differential/syntax_walker.h"
#include "exec/call/command_keys.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kMay = "may:";
constexpr std::string_view kMayNot = "not:";
constexpr std::string_view kSecret = "hush";

// Not sent: DEBUG reaches behind what permissions promise.
std::vector<RowSyntax> RowsWithKeys(const CommandTable& table) {
  std::vector<RowSyntax> rows;
  const auto add = [&rows](const TableRow& row) {
    const std::string_view name = row.full_name;
    const bool sent =
        row.command->handler != nullptr && TakesKeys(*row.command) && !name.starts_with("debug");
    if (sent) rows.push_back(ReadRow(row));
  };
  for (const TableRow* row : table.rows()) {
    add(*row);
    for (const TableRow* sub : row->subcommands) add(*sub);
  }
  return rows;
}

// Its replies depend on chance or on the order of a hash table.
bool RepliesByChance(std::string_view row) {
  return row.find("rand") != std::string_view::npos || row.find("scan") != std::string_view::npos ||
         row == "spop" || row == "dump" || row == "take" || row == "object|encoding";
}

// Needs no right to write, in Redis neither: what a group has read, and an estimate that is kept with the value.
bool ChangesWhatItReads(std::string_view row) { return row == "xreadgroup" || row == "pfcount"; }

void SortAll(Reply& reply) {
  for (Reply& element : reply.elements) SortAll(element);
  std::sort(reply.elements.begin(), reply.elements.end(), [](const Reply& a, const Reply& b) {
    if (a.kind != b.kind) return a.kind < b.kind;
    if (a.integer != b.integer) return a.integer < b.integer;
    if (a.text != b.text) return a.text < b.text;
    return a.elements.size() < b.elements.size();
  });
}

bool Tells(const Reply& reply) {
  return reply.text.find(kSecret) != std::string::npos ||
         std::any_of(reply.elements.begin(), reply.elements.end(), Tells);
}

// A server with keys that the user may use and others, and two clients: an administrator and the user.
class KeysWorld {
 public:
  explicit KeysWorld(std::string secret) : secret_(std::move(secret)), admin_(server_) { Connect(); }

  TestServer& server() noexcept { return server_; }
  Reply Administer(const Words& words) { return admin_.Run(words); }
  Reply Run(const Words& words) { return user_->Run(words); }
  void Connect() {
    user_ = nullptr;  // before another one
    user_ = std::make_unique<TestClient>(server_);
    admin_.Run({"ACL", "SETUSER", "u", "on", "nopass"});
    user_->Run({"AUTH", "u", "any"});
  }
  bool IsGone() const { return user_->session().closes(); }
  void AdvanceTime(uint64_t ms) {
    server_.clock.AdvanceTime(ms);
    server_.TurnWheels();
  }
  // The values of the forbidden keys are other ones in each world.
  void Fill() {
    admin_.Run({"FLUSHALL"});
    admin_.Run({"SELECT", "1"});
    FillWith(kMayNot, secret_);
    admin_.Run({"SELECT", "0"});
    FillWith(kMayNot, secret_);
    FillWith(kMay, "open");
    server_.change_log.Take();
  }

 private:
  void FillWith(std::string_view prefix, const std::string& value) {
    for (const std::string& key : ValuePools::EveryKey()) {
      const std::string name = std::string(prefix) + key;
      const std::string_view type = std::string_view(key).substr(0, key.find(':'));
      if (type == "hash") {
        admin_.Run({"HSET", name, "f", value, value, "1"});
      } else if (type == "set") {
        admin_.Run({"SADD", name, "1", value});
      } else if (type == "zset") {
        admin_.Run({"ZADD", name, "1", value, "2", "two"});
      } else if (type == "geo") {
        admin_.Run({"GEOADD", name, "13", "38", value, "15", "37", "there"});
      } else if (type == "hll") {
        admin_.Run({"PFADD", name, value});
      } else if (type == "stream") {
        admin_.Run({"XADD", name, "1-1", "f", value});
        admin_.Run({"XGROUP", "CREATE", name, "group", "0"});
        admin_.Run({"XGROUP", "CREATE", name, "STREAMS", "0"});
      } else if (key.size() == 1) {
        admin_.Run({"RPUSH", name, "1", "2", value});
      } else {
        admin_.Run({"SET", name, value});
      }
    }
  }

  TestServer server_;
  const std::string secret_;
  TestClient admin_;
  std::unique_ptr<TestClient> user_;
};

class AclKeysTest {
 public:
  AclKeysTest() : values_(dice_, 1'700'000'000), walker_(values_, dice_), spoiler_(walker_, values_, dice_) {}

  // `pattern`: "~", or "%R~" and the like.
  void SendAll(const std::string& pattern, size_t calls_per_row) {
    for (const RowSyntax& row : RowsWithKeys(open_.server().commands)) {
      Words user = {"ACL",         "SETUSER",     "u",     "reset",
                    "on",          "nopass",      "+@all", pattern + std::string(kMay) + "*",
                    pattern + "?", pattern + "??"};
      for (const std::string& token : row.tokens) {
        if (token.find_first_of("*?[") == std::string::npos) user.push_back(pattern + token);
      }
      for (KeysWorld* const world : {&open_, &other_}) {
        REQUIRE(world->Administer(user) == Ok());
        world->Fill();
        world->Connect();
      }
      // Where keys follow a word there is more to confuse.
      const size_t factor = row.row->command->key_after_word.words.empty() ? 1 : 40;
      for (size_t call = 0; call < factor * calls_per_row; ++call) Send(row, pattern, Draw(row));
    }
  }
  size_t granted() const noexcept { return granted_; }
  size_t refused() const noexcept { return refused_; }

 private:
  Words Draw(const RowSyntax& row) {
    values_.SetGroup(row.row->group);
    std::vector<DrawnWord> drawn = walker_.Walk(row, "");
    for (size_t i = dice_.Below(3); i > 0; --i) InsertOption(row, drawn);
    if (dice_.OneIn(6)) spoiler_.Spoil(row, "", drawn);
    Words words = row.Name();
    const Words& keys = ValuePools::EveryKey();
    for (DrawnWord& word : drawn) {
      if (word.is_token || word.argument == nullptr) {
        words.push_back(std::move(word.text));
      } else if (word.argument->type == ArgumentType::kKey ||
                 std::find(keys.begin(), keys.end(), word.text) != keys.end()) {
        words.push_back(std::string(dice_.OneIn(4) ? kMayNot : kMay) + word.text);
      } else if (dice_.OneIn(5)) {
        words.push_back(Confusing(row));
      } else {
        words.push_back(std::move(word.text));
      }
    }
    return words;
  }
  // Another option before, within or after the options that are there.
  void InsertOption(const RowSyntax& row, std::vector<DrawnWord>& drawn) {
    const std::vector<DrawnWord> option = walker_.WalkOne(row);
    const auto at = drawn.begin() + static_cast<std::ptrdiff_t>(dice_.Below(drawn.size() + 1));
    drawn.insert(at, option.begin(), option.end());
  }
  std::string Confusing(const RowSyntax& row) {
    if (!row.tokens.empty() && !dice_.OneIn(4)) return dice_.Any(row.tokens);
    return std::string(dice_.OneIn(2) ? kMayNot : kMay) + values_.Key();
  }

  void Send(const RowSyntax& row, const std::string& pattern, const Words& words) {
    Reply shown = Array({});
    for (const std::string& word : words) shown.elements.push_back(Bulk(word));
    CAPTURE(pattern, shown);
    Reply one = open_.Run(words);
    Reply two = other_.Run(words);
    (one.text.starts_with("NOPERM") ? refused_ : granted_) += 1;
    const bool waits = one.kind == Reply::Kind::kNone;
    SortAll(one);
    SortAll(two);
    if (!RepliesByChance(row.row->full_name) && one != two) CHECK(one == two);
    if (Tells(one)) CHECK(one == Error("nothing of a key that the user may not read"));
    if (dice_.OneIn(8)) {
      open_.AdvanceTime(2000);
      other_.AdvanceTime(2000);
    }
    for (KeysWorld* const world : {&open_, &other_}) {
      CheckChanges(*world, row, pattern);
      if (waits || world->IsGone()) world->Connect();
    }
    if (dice_.OneIn(40)) {
      open_.Fill();
      other_.Fill();
    }
  }
  void CheckChanges(KeysWorld& world, const RowSyntax& row, const std::string& pattern) {
    for (const std::string& change : world.server().change_log.Take()) {
      const std::string_view key = std::string_view(change).substr(change.find(' ') + 1);
      const bool reads_only = pattern == "%R~" && !ChangesWhatItReads(row.row->full_name);
      if (key.starts_with(kMayNot) || reads_only) CHECK(change == "no change");
    }
  }

  Dice dice_{20261129};
  ValuePools values_;
  SyntaxWalker walker_;
  Spoiler spoiler_;
  KeysWorld open_{"hush one"};
  KeysWorld other_{"hush, the second"};
  size_t granted_ = 0;
  size_t refused_ = 0;
};

}  // namespace

TEST_CASE_METHOD(AclKeysTest,
                 "R#15478: no call changes a key, or tells of a key, that its user may not use") {
  SendAll("~", 100);
  CHECK(granted() > 5'000);
  CHECK(refused() > 5'000);
}

TEST_CASE_METHOD(AclKeysTest, "no call changes a key that its user may only read") {
  SendAll("%R~", 30);
  CHECK(granted() > 1'000);
}

}  // namespace mayfly::testing
