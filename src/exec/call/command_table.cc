#include "exec/call/command_table.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/text/ascii.h"
#include "base/time/histogram.h"
#include "server/acl/command_catalogue.h"

namespace mayfly {
namespace {

uint64_t Load(const char* from, size_t size) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, from, size);
  return word;
}

bool SameName(std::string_view text, std::string_view lower) noexcept {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return Lower(a) == b; });
}

// Categories derived from a command's flags, as in Redis. A command that runs scripts does not get the category read.
uint32_t ImpliedCategories(const Command& command) noexcept {
  const uint32_t flags = command.flags;
  uint32_t acl = 0;
  if ((flags & kWrite) != 0) acl |= kAclWrite;
  if ((flags & kReadOnly) != 0 && (command.acl & kAclScripting) == 0) acl |= kAclRead;
  if ((flags & kAdmin) != 0) acl |= kAclAdmin | kAclDangerous;
  if ((flags & kPubSub) != 0) acl |= kAclPubSub;
  if ((flags & kBlocking) != 0) acl |= kAclBlocking;
  acl |= (flags & kFast) != 0 ? kAclFast : kAclSlow;
  return acl;
}

struct Name {
  uint32_t bit;
  std::string_view text;
};

constexpr Name kFlagNames[] = {
    {kWrite, "write"},
    {kReadOnly, "readonly"},
    {kDenyOom, "denyoom"},
    {kAdmin, "admin"},
    {kPubSub, "pubsub"},
    {kNoScript, "noscript"},
    {kBlocking, "blocking"},
    {kLoading, "loading"},
    {kStale, "stale"},
    {kSkipMonitor, "skip_monitor"},
    {kSkipSlowlog, "skip_slowlog"},
    {kAsking, "asking"},
    {kFast, "fast"},
    {kNoAuth, "no_auth"},
    {kNoMandatoryKeys, "no_mandatory_keys"},
    {kNoAsyncLoading, "no_async_loading"},
    {kNoMulti, "no_multi"},
    {kMovableKeys, "movablekeys"},
    {kAllowBusy, "allow_busy"},
};

constexpr Name kAclNames[] = {
    {kAclKeyspace, "keyspace"},
    {kAclRead, "read"},
    {kAclWrite, "write"},
    {kAclSet, "set"},
    {kAclSortedSet, "sortedset"},
    {kAclList, "list"},
    {kAclHash, "hash"},
    {kAclString, "string"},
    {kAclBitmap, "bitmap"},
    {kAclHyperLogLog, "hyperloglog"},
    {kAclGeo, "geo"},
    {kAclStream, "stream"},
    {kAclPubSub, "pubsub"},
    {kAclAdmin, "admin"},
    {kAclFast, "fast"},
    {kAclSlow, "slow"},
    {kAclBlocking, "blocking"},
    {kAclDangerous, "dangerous"},
    {kAclConnection, "connection"},
    {kAclTransaction, "transaction"},
    {kAclScripting, "scripting"},
};

template <size_t kCount>
std::vector<std::string_view> NamesOf(const Name (&names)[kCount], uint32_t bits) {
  std::vector<std::string_view> found;
  for (const Name& name : names) {
    if ((bits & name.bit) != 0) found.push_back(name.text);
  }
  return found;
}

}  // namespace

CommandTable::Folded CommandTable::Fold(std::string_view name) noexcept {
  constexpr uint64_t kCaseBits = 0x2020202020202020;
  const char* p = name.data();
  const size_t size = name.size();
  Folded folded{};
  if (size >= 8) {
    folded = {Load(p, 8), Load(p + size - 8, 8)};
  } else if (size >= 4) {
    folded = {Load(p, 4), Load(p + size - 4, 4)};
  } else if (size != 0) {
    folded = {static_cast<unsigned char>(p[0]), static_cast<uint64_t>(static_cast<unsigned char>(p[size / 2]))
                                                        << 8 |
                                                    static_cast<unsigned char>(p[size - 1])};
  }
  return {folded.first | kCaseBits, folded.last | kCaseBits};
}

size_t CommandTable::Folded::Slot(size_t size, size_t mask) const noexcept {
  constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
  const uint64_t mixed = (first ^ std::rotl(last, 23) ^ size) * kMultiplier;
  return static_cast<size_t>(mixed >> 40) & mask;
}

TableRow::TableRow() noexcept = default;
TableRow::~TableRow() = default;

CommandTable::CommandTable() : catalogue_(std::make_unique<CommandCatalogue>()) {
  const auto for_each = [](bool in_container, const auto& add) {
    for (const CommandFamily* family = CommandFamily::First(); family != nullptr; family = family->next()) {
      if (family->container().empty() == in_container) continue;
      for (const Command& command : family->rows()) add(*family, command);
    }
  };
  const auto by_name = [](const TableRow* a, const TableRow* b) { return a->full_name < b->full_name; };
  for_each(false, [this](const CommandFamily& family, const Command& command) {
    rows_.push_back(Add(command, family.group(), nullptr));
  });
  std::sort(rows_.begin(), rows_.end(), by_name);
  for_each(true, [&](const CommandFamily& family, const Command& command) {
    const auto container = std::find_if(rows_.begin(), rows_.end(), [&](const TableRow* row) {
      return row->full_name == family.container();
    });
    assert(container != rows_.end());
    std::vector<TableRow*>& subcommands = (*container)->subcommands;
    subcommands.push_back(Add(command, family.group(), *container));
    std::sort(subcommands.begin(), subcommands.end(), by_name);
  });
  Index();
  FillCatalogue();
}

CommandTable::~CommandTable() = default;

void CommandTable::FillCatalogue() {
  std::vector<std::string_view> categories;
  for (const Name& name : kAclNames) {
    assert(name.bit == uint32_t{1} << categories.size());
    categories.push_back(name.text);
  }
  catalogue_->SetCategories(std::move(categories));
  for (const std::unique_ptr<TableRow>& row : owned_) {
    KnownCommand known{row->full_name, row->parent != nullptr, row->acl, {}};
    for (const TableRow* sub : row->subcommands) known.subcommands.push_back(sub->id);
    catalogue_->Add(std::move(known));
  }
}

TableRow* CommandTable::Add(const Command& command, std::string_view group, TableRow* parent) {
  TableRow* row = owned_.emplace_back(std::make_unique<TableRow>()).get();
  row->command = &command;
  row->id = static_cast<uint32_t>(owned_.size() - 1);
  row->parent = parent;
  row->full_name =
      parent == nullptr ? std::string(command.name) : parent->full_name + "|" + std::string(command.name);
  row->group = group;
  row->acl = command.acl | ImpliedCategories(command);
  Call(*row, command.name);
  row->least_args = static_cast<uint32_t>(std::abs(command.arity));
  if (command.subcommands.empty()) {
    if (command.arity < 0) row->spare_args = UINT32_MAX - row->least_args;
  } else if (row->least_args > 1) {
    row->least_args = UINT32_MAX;  // calls go to the subcommands' own rows
  }
  row->first_key = static_cast<uint16_t>((command.keys.use & kKeyNone) != 0 ? 0 : command.keys.first);
  row->names_one_key = row->first_key != 0 && command.keys.last == command.keys.first &&
                       command.keys.count_at == 0 && command.more_keys.first == 0 &&
                       command.key_after_word.words.empty();
  row->cursor = parent == nullptr ? 1 : 2;
  // A read without mandatory keys is a script, and may take long.
  row->only_reads = (command.flags & (kReadOnly | kNoMandatoryKeys)) == kReadOnly;
  row->writes = (command.flags & (kWrite | kDenyOom)) != 0;
  row->needs_login = (command.flags & kNoAuth) == 0;
  row->ends_batch = (command.flags & (kEndsBatch | kBlocking)) != 0;
  row->constant_time =
      command.complexity == "O(1)" && !row->ends_batch;  // a waiting command's time is not constant
  row->reads_quickly = row->only_reads && row->constant_time;
  for (const Command& sub : command.subcommands) row->subcommands.push_back(Add(sub, group, row));
  return row;
}

void CommandTable::Call(TableRow& row, std::string_view name) {
  row.called = LowerCase(name);
  const Folded folded = Fold(row.called);
  row.folded[0] = folded.first;
  row.folded[1] = folded.last;
  row.folds_exactly =
      row.called.size() <= 2 * sizeof(uint64_t) && std::all_of(row.called.begin(), row.called.end(), IsLower);
}

std::optional<std::string> CommandTable::Rename(std::string_view from, std::string_view to) {
  const TableRow* found = Find(from);
  if (found == nullptr) return "No such command in rename-command";
  if (!to.empty() && Find(to) != nullptr) return "Target command name already exists";
  const auto row = std::find(rows_.begin(), rows_.end(), found);
  to.empty() ? static_cast<void>(rows_.erase(row)) : Call(**row, to);
  Index();
  return std::nullopt;
}

void CommandTable::Index() {
  slots_.assign(std::bit_ceil(std::max<size_t>(rows_.size() * 4, 16)), nullptr);
  const size_t mask = slots_.size() - 1;
  for (TableRow* row : rows_) {
    size_t at = Fold(row->called).Slot(row->called.size(), mask);
    while (slots_[at] != nullptr) at = (at + 1) & mask;
    slots_[at] = row;
  }
}

const TableRow* CommandTable::Find(std::string_view name) const noexcept {
  const size_t mask = slots_.size() - 1;
  const Folded folded = Fold(name);
  for (size_t at = folded.Slot(name.size(), mask); slots_[at] != nullptr; at = (at + 1) & mask) {
    const TableRow& row = *slots_[at];
    if (row.folded[0] != folded.first || row.folded[1] != folded.last) continue;
    if (name.size() != row.called.size()) continue;
    if (row.folds_exactly || SameName(name, row.called)) return &row;
  }
  return nullptr;
}

const TableRow* CommandTable::FindByOwnName(std::string_view name) const noexcept {
  const auto found =
      std::ranges::find_if(owned_, [name](const auto& row) { return SameName(name, row->full_name); });
  return found != owned_.end() ? found->get() : nullptr;
}

const TableRow* CommandTable::FindSubcommand(const TableRow& container, std::string_view name) noexcept {
  for (const TableRow* row : container.subcommands) {
    if (SameName(name, row->command->name)) return row;
  }
  return nullptr;
}

void CommandTable::ResetStats() const noexcept {
  for (const std::unique_ptr<TableRow>& row : owned_) row->calls.Reset();
  ForgetLatencies();
}

void CommandTable::ForgetLatencies() const noexcept {
  for (const std::unique_ptr<TableRow>& row : owned_) row->latency.reset();
}

std::vector<std::string_view> CommandTable::FlagNames(uint32_t flags) { return NamesOf(kFlagNames, flags); }
std::vector<std::string_view> CommandTable::AclNames(uint32_t categories) {
  return NamesOf(kAclNames, categories);
}

}  // namespace mayfly
