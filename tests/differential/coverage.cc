#include "differential/coverage.h"

#include <algorithm>

namespace mayfly::testing {
namespace {

// Where tests register rows of their own.
constexpr std::string_view kTestGroup = "test";

std::string NameOf(const RowSyntax& syntax, const std::string& token) {
  return syntax.row->full_name + (token.empty() ? "" : " " + token);
}

// The row of the table by "client|id"; null where there is none.
const TableRow* FindRow(const CommandTable& table, std::string_view full_name) {
  const size_t bar = full_name.find('|');
  const TableRow* row = table.Find(full_name.substr(0, bar));
  if (row == nullptr || bar == std::string_view::npos) return row;
  return CommandTable::FindSubcommand(*row, full_name.substr(bar + 1));
}

}  // namespace

Coverage::Coverage(const CommandTable& table, Oracle oracle) : table_(table), oracle_(oracle) {
  for (const TableRow* row : table.rows()) {
    if (row->group == kTestGroup) continue;
    AddRow(*row);
    for (const TableRow* sub : row->subcommands) AddRow(*sub);
  }
  for (size_t i = 0; i < goals_.size(); ++i) missing_.push_back(i);
}

void Coverage::AddRow(const TableRow& row) {
  const Gap* gap = FindGap(row.full_name, "");
  if (gap != nullptr && Leaves(gap->kind)) return;
  RowSyntax syntax = ReadRow(row);
  for (const Gap& cut : Gaps()) {
    if (cut.row != row.full_name || cut.token.empty()) continue;
    if (!Leaves(cut.kind)) continue;
    CutToken(syntax.arguments, cut.token);
    std::erase(syntax.tokens, cut.token);
  }
  rows_.push_back(std::make_unique<RowSyntax>(std::move(syntax)));
  if (!Draws(row)) return;
  AddGoals(*rows_.back(), "");
  for (const std::string& token : rows_.back()->tokens) AddGoals(*rows_.back(), token);
}

bool Coverage::Leaves(GapKind kind) const noexcept {
  return kind == GapKind::kUnknown || kind == GapKind::kNotSent ||
         (kind == GapKind::kNewer && oracle_ == Oracle::kOlder);
}

bool Coverage::Draws(const TableRow& row) const noexcept {
  if (oracle_ == Oracle::kOlder) return true;
  static constexpr std::string_view kOthers[] = {"del", "copy", "rename"};
  return row.group == "stream" || row.group == "geo" ||
         std::find(std::begin(kOthers), std::end(kOthers), row.full_name) != std::end(kOthers);
}

uint64_t Coverage::LeastCasesOf(const TableRow& row) const noexcept {
  if (row.full_name == "pfselftest") return 2;  // the oracle needs a second for each
  return oracle_ == Oracle::kNewer ? kLeastCasesOfNewer : kLeastCases;
}

void Coverage::AddGoal(const RowSyntax& syntax, const std::string& token, Form form) {
  goals_of_[&syntax].push_back(goals_.size());
  goals_.push_back({.syntax = &syntax, .token = token, .form = form, .least = LeastCasesOf(*syntax.row)});
}

void Coverage::AddGoals(const RowSyntax& syntax, const std::string& token) {
  const Gap* gap = FindGap(syntax.row->full_name, token);
  if (gap == nullptr) gap = FindGap(syntax.row->full_name, "");
  if (gap != nullptr && gap->kind == GapKind::kNewer) gap = nullptr;
  if (gap != nullptr) outcomes_.push_back({&syntax, token});
  if (gap == nullptr || gap->kind != GapKind::kNeverAccepted) AddGoal(syntax, token, Form::kValid);
  if (gap == nullptr || gap->kind != GapKind::kNeverRefused) AddGoal(syntax, token, Form::kInvalid);
}

const RowSyntax* Coverage::Find(std::string_view full_name) const noexcept {
  for (const std::unique_ptr<RowSyntax>& syntax : rows_) {
    if (syntax->row->full_name == full_name) return syntax.get();
  }
  return nullptr;
}

void Coverage::Count(const Case& sent, bool refused) {
  if (sent.syntax == nullptr) return;
  CountFor(*sent.syntax, "", sent.form, refused);
  for (const std::string& token : sent.tokens) CountFor(*sent.syntax, token, sent.form, refused);
  const TableRow* parent = sent.syntax->row->parent;
  if (parent != nullptr && parent->command->handler == nullptr && sent.form == Form::kValid)
    CountFor(*Find(parent->full_name), "", sent.form, refused);
}

void Coverage::CountFor(const RowSyntax& syntax, const std::string& token, Form form, bool refused) {
  for (const size_t at : goals_of_[&syntax]) {
    Goal& goal = goals_[at];
    if (goal.token == token && goal.form == form && refused == (form == Form::kInvalid)) ++goal.count;
  }
  for (Outcomes& outcome : outcomes_) {
    if (outcome.syntax == &syntax && outcome.token == token) ++(refused ? outcome.refused : outcome.taken);
  }
}

const Coverage::Goal* Coverage::Missing(Dice& dice) {
  while (!missing_.empty()) {
    const size_t at = dice.Below(missing_.size());
    const Goal& goal = goals_[missing_[at]];
    if (goal.count < goal.least) return &goal;
    missing_[at] = missing_.back();
    missing_.pop_back();
  }
  return nullptr;
}

std::vector<std::string> Coverage::Complaints() const {
  std::vector<std::string> complaints;
  for (const Goal& goal : goals_) {
    if (goal.count >= goal.least) continue;
    complaints.push_back(NameOf(*goal.syntax, goal.token) + ": only " + std::to_string(goal.count) +
                         " cases in " +
                         (goal.form == Form::kValid ? "valid form were taken" : "invalid form were refused"));
  }
  ComplainOfGaps(complaints);
  return complaints;
}

void Coverage::ComplainOfGaps(std::vector<std::string>& complaints) const {
  for (const Gap& gap : Gaps()) {
    const TableRow* row = FindRow(table_, gap.row);
    const std::string name = std::string(gap.row) + (gap.token.empty() ? "" : " ") + std::string(gap.token);
    if (row == nullptr) {
      complaints.push_back("gaps.h names " + name + ", which the table does not have");
      continue;
    }
    const std::vector<std::string> tokens = ReadRow(*row).tokens;
    if (!gap.token.empty() && std::find(tokens.begin(), tokens.end(), gap.token) == tokens.end())
      complaints.push_back("gaps.h names " + name + ", an option that the syntax does not have");
  }
  for (const RoughRow& rough : RoughRows()) {
    if (FindRow(table_, rough.row) == nullptr)
      complaints.push_back("gaps.h names " + std::string(rough.row) + ", which the table does not have");
  }
  for (const Outcomes& outcome : outcomes_) {
    const Gap* gap = FindGap(outcome.syntax->row->full_name, outcome.token);
    if (gap == nullptr) gap = FindGap(outcome.syntax->row->full_name, "");
    const bool never_taken = gap->kind == GapKind::kNeverAccepted;
    const uint64_t count = never_taken ? outcome.taken : outcome.refused;
    if (count != 0)
      complaints.push_back("gaps.h says that " + NameOf(*outcome.syntax, outcome.token) + " is never " +
                           (never_taken ? "taken" : "refused") + ", but " + std::to_string(count) + " were");
  }
}

}  // namespace mayfly::testing
