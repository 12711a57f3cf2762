#include "exec/acl/permission.h"

#include <algorithm>
#include <vector>

#include "exec/call/command_keys.h"

namespace mayfly {
namespace {

uint8_t AccessOf(uint16_t use) noexcept {
  uint8_t access = 0;
  if ((use & kKeyAccess) != 0) access |= kReadsKey;
  if ((use & (kKeyUpdate | kKeyInsert | kKeyDelete)) != 0) access |= kWritesKey;
  return access;
}

bool AllowsCommand(const Selector& selector, const TableRow& row,
                   std::span<const std::string_view> call) noexcept {
  if (!row.needs_login || selector.commands().Allows(row.id)) return true;
  return call.size() > row.cursor && selector.commands().AllowsFirst(row.id, call[row.cursor]);
}

// The index of the first key with a denied use; 0: none.
size_t DeniedKey(const Selector& selector, const TableRow& row, std::span<const std::string_view> call) {
  if (selector.all_keys() || !row.Takes(call.size())) return 0;
  size_t denied = 0;
  ForEachKey(*row.command, call, [&](const FoundKey& key) {
    if (denied == 0 && !selector.MayUseKey(key.text, AccessOf(key.use))) denied = key.index;
  });
  return denied;
}

size_t DeniedChannel(const Selector& selector, const TableRow& row,
                     std::span<const std::string_view> call) noexcept {
  const ChannelSpec& channels = row.command->channels;
  if (channels.first == 0 || selector.all_channels() || !row.Takes(call.size())) return 0;
  const auto first = static_cast<size_t>(channels.first);
  const size_t end = channels.all ? call.size() : first + 1;
  for (size_t i = first; i < end; ++i) {
    if (!selector.MayUseChannel(call[i], channels.patterns)) return i;
  }
  return 0;
}

Permission PermissionBy(const Selector& selector, const TableRow& row,
                        std::span<const std::string_view> call) {
  if (!AllowsCommand(selector, row, call)) return {Denial::kCommand};
  if (const size_t key = DeniedKey(selector, row, call); key != 0) return {Denial::kKey, key};
  if (const size_t channel = DeniedChannel(selector, row, call); channel != 0)
    return {Denial::kChannel, channel};
  return {};
}

// True if the row's only key is argument `first_key`, always used in one way.
bool HasOneKey(const TableRow& row) noexcept {
  const Command& command = *row.command;
  return row.first_key != 0 && row.first_key < row.least_args && command.keys.last == command.keys.first &&
         command.keys.count_at == 0 && command.more_keys.first == 0 && command.key_after_word.words.empty() &&
         command.key_use == nullptr;
}

QuickRights::Answer AnswerOf(const User& user, const TableRow& row) {
  const bool has_channels = row.command->channels.first != 0;
  const auto may_run = [&](const Selector& selector) {
    return (!row.needs_login || selector.commands().Allows(row.id)) &&
           (!has_channels || selector.all_channels());
  };
  const bool freely = std::any_of(user.selectors().begin(), user.selectors().end(), [&](const Selector& s) {
    return may_run(s) && (s.all_keys() || !TakesKeys(*row.command));
  });
  if (freely) return QuickRights::Answer::kFreely;
  if (!may_run(user.selectors()[0]) || !HasOneKey(row)) return QuickRights::Answer::kReadRules;
  return QuickRights::ByPrefix(AccessOf(row.command->keys.use));
}

// True if the pattern is a prefix and a star.
bool IsPrefix(std::string_view pattern) noexcept {
  return pattern.size() > 1 && pattern.find_first_of("*?[\\") == pattern.size() - 1 && pattern.ends_with('*');
}

}  // namespace

Permission FindPermission(const User& user, const TableRow& row, std::span<const std::string_view> call) {
  Permission told{Denial::kCommand};
  for (const Selector& selector : user.selectors()) {
    const Permission permission = PermissionBy(selector, row, call);
    if (permission.granted()) return permission;
    if (permission.denial > told.denial ||
        (permission.denial == told.denial && permission.index > told.index))
      told = permission;
  }
  return told;
}

bool MayUseAnyKey(const User& user, const TableRow& row, std::span<const std::string_view> call,
                  uint16_t use) {
  return std::any_of(user.selectors().begin(), user.selectors().end(), [&](const Selector& selector) {
    return selector.MayUseAnyKey(AccessOf(use)) && PermissionBy(selector, row, call).granted();
  });
}

bool MayAlsoWrite(const User& user, const TableRow& row, std::span<const std::string_view> call,
                  std::string_view key) {
  return std::any_of(user.selectors().begin(), user.selectors().end(), [&](const Selector& selector) {
    return selector.MayUseKey(key, kWritesKey) && PermissionBy(selector, row, call).granted();
  });
}

QuickRights QuickRightsOf(const User& user, const CommandTable& commands) {
  QuickRights quick;
  std::vector<QuickRights::Answer> answers;
  answers.reserve(commands.size());
  for (uint32_t id = 0; id < commands.size(); ++id) answers.push_back(AnswerOf(user, commands.row(id)));
  quick.SetAnswers(std::move(answers));
  const std::vector<KeyPattern>& patterns = user.selectors()[0].keys();
  for (uint8_t access = 0; access <= (kReadsKey | kWritesKey); ++access) {
    const auto found = std::find_if(patterns.begin(), patterns.end(), [&](const KeyPattern& pattern) {
      return (pattern.access & access) == access && IsPrefix(pattern.text);
    });
    if (found != patterns.end()) quick.SetPrefix(access, found->text.substr(0, found->text.size() - 1));
  }
  return quick;
}

}  // namespace mayfly
