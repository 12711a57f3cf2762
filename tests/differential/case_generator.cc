#include "differential/case_generator.h"

#include <algorithm>
#include <iterator>

#include "differential/gaps.h"
#include "differential/words.h"

namespace mayfly::testing {
namespace {

struct Weight {
  std::string_view name;
  size_t weight;
};

// Rows by name, else by group. What empties a database comes seldom, and what tells long lists only as often
// as it must.
constexpr Weight kRowWeights[] = {
    {"set", 60},           {"setex", 15},     {"psetex", 15},        {"mset", 15},        {"get", 30},
    {"append", 15},        {"flushall", 1},   {"flushdb", 1},        {"swapdb", 1},       {"select", 2},
    {"pfselftest", 0},     {"command", 0},    {"command|docs", 0},   {"command|info", 0}, {"command|list", 0},
    {"info", 0},           {"config|get", 1}, {"xgroup|create", 60}, {"xadd", 30},        {"xreadgroup", 20},
    {"xgroup|destroy", 2},
};
constexpr Weight kGroupWeights[] = {{"string", 10}, {"bitmap", 10},     {"generic", 8},
                                    {"set", 8},     {"hyperloglog", 4}, {"list", 8},
                                    {"stream", 8},  {"sorted-set", 10}, {"geo", 5}};
constexpr size_t kOtherWeight = 1;

size_t WeightOf(const TableRow& row) {
  if (IsRough(row.full_name)) return 0;
  for (const Weight& weight : kRowWeights) {
    if (weight.name == row.full_name) return weight.weight;
  }
  for (const Weight& weight : kGroupWeights) {
    if (weight.name == row.group) return weight.weight;
  }
  return kOtherWeight;
}

}  // namespace

CaseGenerator::CaseGenerator(Coverage& coverage, Dice& dice, int64_t now_s)
    : coverage_(coverage),
      dice_(dice),
      values_(dice, now_s),
      walker_(values_, dice),
      spoiler_(walker_, values_, dice) {
  for (const std::unique_ptr<RowSyntax>& syntax : coverage.rows()) {
    weights_.push_back(coverage.Draws(*syntax->row) ? WeightOf(*syntax->row) : 0);
    weight_sum_ += weights_.back();
  }
}

Case CaseGenerator::Next() {
  for (;;) {
    if (dice_.OneIn(100)) return UnknownCommand();
    const Coverage::Goal* goal = dice_.OneIn(2) ? coverage_.Missing(dice_) : nullptr;
    Case drawn = goal != nullptr ? Draw(*goal->syntax, goal->token, goal->form)
                                 : Draw(AnyRow(), "", dice_.OneIn(4) ? Form::kInvalid : Form::kValid);
    if (MaySend(drawn)) return drawn;
  }
}

Case CaseGenerator::Brief() {
  struct Way {
    std::string_view row;
    std::string_view token;
  };
  static constexpr Way kWays[] = {{"set", "PX"},   {"set", "PXAT"},   {"psetex", ""},   {"pexpire", ""},
                                  {"getex", "PX"}, {"getex", "PXAT"}, {"pexpireat", ""}};
  const Way& way = kWays[dice_.Below(std::size(kWays))];
  values_.SetBrief(true);
  Case drawn = Draw(*coverage_.Find(way.row), way.token, Form::kValid);
  values_.SetBrief(false);
  return drawn;
}

std::optional<Case> CaseGenerator::SameDeadline(const Case& drawn) {
  constexpr size_t kWithoutConditions = 3;
  const std::string name = UpperCase(drawn.words[0]);
  if ((name != "EXPIREAT" && name != "PEXPIREAT") || drawn.words.size() <= kWithoutConditions) return {};
  if (!dice_.OneIn(3)) return {};
  return Case{.words = {drawn.words.begin(), drawn.words.begin() + kWithoutConditions},
              .syntax = drawn.syntax};
}

Case CaseGenerator::KeysOfAnother(const RowSyntax& syntax) {
  Case made{.words = syntax.Name(), .syntax = &syntax};
  const Case another = Draw(AnyRow(), "", dice_.OneIn(3) ? Form::kInvalid : Form::kValid);
  made.words.insert(made.words.end(), another.words.begin(), another.words.end());
  return made;
}

const RowSyntax& CaseGenerator::AnyRow() {
  size_t drawn = dice_.Below(weight_sum_);
  size_t at = 0;
  for (; drawn >= weights_[at]; ++at) drawn -= weights_[at];
  return *coverage_.rows()[at];
}

Case CaseGenerator::Draw(const RowSyntax& syntax, std::string_view token, Form form) {
  const TableRow* parent = syntax.row->parent;
  if (syntax.IsContainer()) {
    if (form == Form::kInvalid) return UnknownSubcommand(syntax);
    const TableRow& sub = *syntax.row->subcommands[dice_.Below(syntax.row->subcommands.size())];
    const RowSyntax* below = coverage_.Find(sub.full_name);
    return below != nullptr ? Draw(*below, "", form) : UnknownSubcommand(syntax);
  }
  const bool shows_keys = parent != nullptr && syntax.row->command->name.starts_with("getkeys");
  if (shows_keys && form == Form::kValid && dice_.OneIn(2)) return KeysOfAnother(syntax);
  if (parent != nullptr && form == Form::kInvalid && token.empty() && dice_.OneIn(20)) {
    if (const RowSyntax* container = coverage_.Find(parent->full_name)) return UnknownSubcommand(*container);
  }
  std::vector<DrawnWord> drawn = walker_.Walk(syntax, token);
  if (form == Form::kInvalid) spoiler_.Spoil(syntax, token, drawn);

  Case made{.words = syntax.Name(), .syntax = &syntax, .form = form};
  for (std::string& word : made.words) MixCase(word);
  for (DrawnWord& word : drawn) {
    if (word.is_token) {
      if (std::find(made.tokens.begin(), made.tokens.end(), word.text) == made.tokens.end())
        made.tokens.push_back(word.text);
      MixCase(word.text);
    }
    made.words.push_back(std::move(word.text));
  }
  return made;
}

Case CaseGenerator::UnknownCommand() {
  static constexpr std::string_view kNames[] = {"GETS", "FOO\r\nBAR", "", "set ", "nosuch"};
  Case made{.words = {dice_.Pick(kNames)}, .form = Form::kInvalid};
  for (size_t words = dice_.Below(4); words > 0; --words) {
    made.words.push_back(dice_.OneIn(2) ? values_.Key() : values_.Value());
  }
  return made;
}

Case CaseGenerator::UnknownSubcommand(const RowSyntax& container) {
  Case made{.words = container.Name(), .syntax = &container, .form = Form::kInvalid};
  MixCase(made.words[0]);
  if (dice_.OneIn(10)) return made;
  std::string sub(container.row->subcommands[dice_.Below(container.row->subcommands.size())]->command->name);
  spoiler_.Misspell(sub);
  made.words.push_back(std::move(sub));
  for (size_t words = dice_.Below(4); words > 0; --words) made.words.push_back(values_.Key());
  return made;
}

void CaseGenerator::MixCase(std::string& word) {
  if (!dice_.OneIn(4)) return;
  const bool upper = dice_.OneIn(2);
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z' && (!upper || dice_.OneIn(2))) c = static_cast<char>(c + 32);
    if (c >= 'a' && c <= 'z' && upper && dice_.OneIn(2)) c = static_cast<char>(c - 32);
  }
}

}  // namespace mayfly::testing
