// Counts what a run has shown of every row and option word: how often the oracle took it, and how often the
// oracle refused it. A case counts as valid where it was drawn so and taken, as invalid where it was spoilt
// and refused; other outcomes show something else and count for nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "differential/case.h"
#include "differential/dice.h"
#include "differential/gaps.h"
#include "exec/call/command_table.h"

namespace mayfly::testing {

class Coverage {
 public:
  static constexpr uint64_t kLeastCases = 50;
  static constexpr uint64_t kLeastCasesOfNewer = 10;  // which gets fewer requests
  // Which server the requests are compared with, and which rows are drawn for it: all but those of GapKind::kNewer; or only those, with
  // the rest of their groups.
  enum class Oracle : uint8_t { kOlder, kNewer };

  struct Goal {
    const RowSyntax* syntax;
    std::string token;  // empty: the row itself
    Form form;
    uint64_t least;
    uint64_t count = 0;
  };

  // All rows but those that only tests have and those that cannot be sent.
  Coverage(const CommandTable& table, Oracle oracle);

  const CommandTable& table() const noexcept { return table_; }
  const std::vector<std::unique_ptr<RowSyntax>>& rows() const noexcept { return rows_; }
  // True if the row is drawn.
  bool Draws(const TableRow& row) const noexcept;
  // Null where the table does not have it, or it is not sent.
  const RowSyntax* Find(std::string_view full_name) const noexcept;

  void Count(const Case& sent, bool refused);
  // One of the goals that are not reached; null when all are.
  const Goal* Missing(Dice& dice);
  // Goals that are not reached and lines of gaps.h that are not true, as sentences. Empty: all is covered.
  std::vector<std::string> Complaints() const;

 private:
  void AddRow(const TableRow& row);
  // True if the row or option is left out.
  bool Leaves(GapKind kind) const noexcept;
  // How many cases of each form of the row have to be seen.
  uint64_t LeastCasesOf(const TableRow& row) const noexcept;
  void AddGoal(const RowSyntax& syntax, const std::string& token, Form form);
  void AddGoals(const RowSyntax& syntax, const std::string& token);
  void CountFor(const RowSyntax& syntax, const std::string& token, Form form, bool refused);
  void ComplainOfGaps(std::vector<std::string>& complaints) const;

  struct Outcomes {
    const RowSyntax* syntax;
    std::string token;
    uint64_t taken = 0;
    uint64_t refused = 0;
  };

  const CommandTable& table_;
  const Oracle oracle_;
  std::vector<std::unique_ptr<RowSyntax>> rows_;
  std::vector<Goal> goals_;
  std::unordered_map<const RowSyntax*, std::vector<size_t>> goals_of_;  // indices of goals_
  std::vector<size_t> missing_;     // indices of goals_, some of them reached meanwhile
  std::vector<Outcomes> outcomes_;  // of what gaps.h says that it never occurs
};

}  // namespace mayfly::testing
