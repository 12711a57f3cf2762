#include "server/acl/command_rights.h"

#include <algorithm>
#include <optional>

#include "base/text/ascii.h"

namespace mayfly {

void CommandRights::PutAll(bool allow) {
  std::fill(allowed_.begin(), allowed_.end(), allow);
  commands_to_come_ = allow;
  first_arguments_.clear();
}

void CommandRights::Put(uint32_t id, bool allow) {
  allowed_[id] = allow;
  first_arguments_.erase(id);
  for (const uint32_t sub : catalogue_->commands()[id].subcommands) allowed_[sub] = allow;
}

void CommandRights::PutCategory(uint32_t category, bool allow) {
  const std::vector<KnownCommand>& commands = catalogue_->commands();
  for (uint32_t id = 0; id < commands.size(); ++id) {
    if ((commands[id].categories & category) != 0) Put(id, allow);
  }
}

// "get", "client|kill", or "select|0" with a first argument.
RuleError CommandRights::AllowNamed(std::string_view name) {
  const size_t bar = name.rfind('|');
  if (bar == std::string_view::npos) {
    const std::optional<uint32_t> id = catalogue_->Find(name);
    if (!id) return RuleError::kUnknownCommand;
    return Put(*id, true), RuleError::kNone;
  }
  const std::optional<uint32_t> id = catalogue_->Find(name.substr(0, bar));
  if (!id) return RuleError::kUnknownCommand;
  const KnownCommand& command = catalogue_->commands()[*id];
  if (command.is_subcommand) return RuleError::kSubcommandArgument;
  const std::string_view word = name.substr(bar + 1);
  if (word.empty()) return RuleError::kSyntax;
  if (!command.subcommands.empty()) {
    const std::optional<uint32_t> sub = catalogue_->Find(name);
    if (!sub) return RuleError::kUnknownCommand;
    return Put(*sub, true), RuleError::kNone;
  }
  if (HasSpaces(word)) return RuleError::kSyntax;  // Describe's text would be wrong (Redis accepts the rule)
  if (allowed_[*id]) return RuleError::kNone;      // allowed with any argument
  std::vector<std::string>& words = first_arguments_[*id];
  const auto same = [&](const std::string& other) { return SameIgnoringCase(other, word); };
  if (std::none_of(words.begin(), words.end(), same)) words.emplace_back(word);
  return RuleError::kNone;
}

RuleError CommandRights::Apply(std::string_view rule) {
  if (SameIgnoringCase(rule, "allcommands") || SameIgnoringCase(rule, "+@all"))
    return PutAll(true), RuleError::kNone;
  if (SameIgnoringCase(rule, "nocommands") || SameIgnoringCase(rule, "-@all"))
    return PutAll(false), RuleError::kNone;
  if (rule.empty() || (rule[0] != '+' && rule[0] != '-')) return RuleError::kSyntax;
  const bool allow = rule[0] == '+';
  const std::string_view name = rule.substr(1);
  if (name.starts_with('@')) {
    const uint32_t category = catalogue_->CategoryOf(name.substr(1));
    if (category == 0) return RuleError::kUnknownCommand;
    return PutCategory(category, allow), RuleError::kNone;
  }
  if (allow) return AllowNamed(name);
  const std::optional<uint32_t> id = catalogue_->Find(name);
  if (!id) return RuleError::kUnknownCommand;
  return Put(*id, false), RuleError::kNone;
}

bool CommandRights::AllowsFirst(uint32_t id, std::string_view argument) const noexcept {
  const auto found = first_arguments_.find(id);
  if (found == first_arguments_.end()) return false;
  const auto same = [&](const std::string& word) { return SameIgnoringCase(word, argument); };
  return std::any_of(found->second.begin(), found->second.end(), same);
}

bool CommandRights::AllowsAll() const noexcept {
  return std::all_of(allowed_.begin(), allowed_.end(), [](bool allowed) { return allowed; });
}

std::vector<CommandRights::Share> CommandRights::Shares() const {
  const std::vector<KnownCommand>& commands = catalogue_->commands();
  std::vector<Share> shares(catalogue_->categories().size());
  for (uint32_t id = 0; id < commands.size(); ++id) {
    for (size_t i = 0; i < shares.size(); ++i) {
      if ((commands[id].categories >> i & 1) != 0) ++(allowed_[id] ? shares[i].allowed : shares[i].denied);
    }
  }
  return shares;
}

// In each round takes the category that fits best to the remaining difference: most of its commands differ from the
// beginning, and fewer other commands would be wrong than with any other category.
void CommandRights::DescribeCategories(std::string& text, CommandRights& described) const {
  const bool adds = !commands_to_come_;
  CommandRights left = *this;
  std::vector<bool> used(catalogue_->categories().size());
  for (;;) {
    const std::vector<Share> shares = left.Shares();
    std::optional<size_t> best;
    size_t least_wrong = 0;
    size_t most_right = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      const size_t wrong = adds ? shares[i].denied : shares[i].allowed;
      const size_t right = adds ? shares[i].allowed : shares[i].denied;
      if (used[i] || right <= wrong) continue;
      if (best && (wrong > least_wrong || (wrong == least_wrong && right <= most_right))) continue;
      best = i;
      least_wrong = wrong;
      most_right = right;
    }
    if (!best) return;
    used[*best] = true;
    described.PutCategory(uint32_t{1} << *best, adds);
    left.PutCategory(uint32_t{1} << *best, !adds);
    text.append(adds ? " +@" : " -@").append(catalogue_->categories()[*best]);
  }
}

std::string CommandRights::Describe() const {
  std::string text = commands_to_come_ ? "+@all" : "-@all";
  CommandRights described(*catalogue_);
  described.PutAll(commands_to_come_);
  DescribeCategories(text, described);
  const std::vector<KnownCommand>& commands = catalogue_->commands();
  const auto add = [&](uint32_t id) {
    if (allowed_[id] == described.allowed_[id]) return;
    described.Put(id, allowed_[id]);
    text.append(allowed_[id] ? " +" : " -").append(commands[id].name);
  };
  // A container comes before its subcommands, because the container's rule would change the subcommands.
  for (uint32_t id = 0; id < commands.size(); ++id) {
    if (!commands[id].is_subcommand) add(id);
  }
  for (uint32_t id = 0; id < commands.size(); ++id) add(id);
  for (const auto& [id, words] : first_arguments_) {
    for (const std::string& word : words)
      text.append(" +").append(commands[id].name).append("|").append(word);
  }
  return text;
}

}  // namespace mayfly
