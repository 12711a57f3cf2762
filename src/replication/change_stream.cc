#include "replication/change_stream.h"

#include <algorithm>
#include <array>
#include <new>

#include "base/text/numbers.h"
#include "cache/entry/entry.h"
#include "cache/keyspace/databases.h"
#include "cache/time/lifetime.h"
#include "exec/dispatch/executor.h"
#include "replication/backlog.h"
#include "replication/facts.h"
#include "resp/request_text.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "snapshot/dump_payload.h"

namespace mayfly {
namespace {

constexpr std::string_view kExec = "*1\r\n$4\r\nEXEC\r\n";
constexpr std::string_view kSet = "*3\r\n$3\r\nSET\r\n";
constexpr std::string_view kSetWithDeadline = "*5\r\n$3\r\nSET\r\n";
static_assert(kSet.size() == kSetWithDeadline.size());
// The room around the key and the value.
constexpr size_t kTextCommandRoom = kSet.size() + 2 * resp::kMostAroundWord + DeadlineWords::kRoom;

// A number as a word.
class NumberText {
 public:
  explicit NumberText(int64_t number) noexcept : size_(FormatInteger(number, text_.data())) {}
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  std::array<char, kMaxIntegerText> text_;
  size_t size_;
};

// The wall clock minus the monotonic clock.
int64_t DistanceMs(Now now) noexcept { return now.wall_ms - static_cast<int64_t>(now.mono_ms); }

// REQUIRES: the entry expires.
[[gnu::always_inline]] inline int64_t UnixMsOf(const Entry& entry, int64_t distance_ms) noexcept {
  const Expiry deadline = entry.deadline();
  return static_cast<int64_t>(deadline.deadline_ms) +
         (deadline.kind == Expiry::Kind::kRelative ? distance_ms : 0);
}
int64_t UnixMsOf(const Entry& entry, Now now) noexcept { return UnixMsOf(entry, DistanceMs(now)); }

bool Removes(ChangeReason reason) noexcept {
  switch (reason) {
    case ChangeReason::kDeleted:
    case ChangeReason::kExpired:
    case ChangeReason::kEvicted:
    case ChangeReason::kInvalidated:
    case ChangeReason::kFreed:
      return true;
    default:
      return false;
  }
}

}  // namespace

void ChangeStream::Start(bool anew) {
  const int64_t distance_ms = DistanceMs(server_.executor->now());
  if (anew || !told_clock_distance_ms_) {
    told_clock_distance_ms_ = distance_ms;
    exact_ = true;
  }
  exact_ = exact_ && distance_ms == *told_clock_distance_ms_;
  cutoff_ms_ = 0;
  server_.databases.changes().Listen(*this,
                                     {.reasons = ChangeHub::kEverything, .unnamed = true, .effects = true});
  running_ = true;
}

void ChangeStream::Stop() noexcept {
  if (!running_) return;
  server_.databases.changes().Unlisten(*this);
  running_ = false;
  incomplete_ = false;
  uses_cutoffs_ = false;
  cutoff_ms_ = 0;
  Clear();
  selected_ = kNone;
}

void ChangeStream::Clear() noexcept {
  keys_.Clear();
  commands_.Drop();
  recent_.Clear();
  last_ = nullptr;
  command_count_ = 0;
  has_expiries_ = false;
  swapped_.reset();
  renamed_.reset();
}

// ---- what has changed

[[gnu::always_inline]] inline void ChangeStream::FollowClock(int64_t distance_ms) {
  if (exact_ && distance_ms != *told_clock_distance_ms_) [[unlikely]]
    LoseExactness();
}

void ChangeStream::OnChange(const Change& change) {
  server_.hubs.turn_ends.Ask();
  const int64_t distance_ms = DistanceMs(server_.executor->now());
  try {
    FollowClock(distance_ms);
    if (!WriteAtOnce(change, distance_ms)) Note(change);
  } catch (const std::bad_alloc&) {
    incomplete_ = true;
  }
}

[[gnu::always_inline]] inline char* ChangeStream::BeginText(const Change& change, std::string_view set,
                                                            std::string_view key, std::string_view text) {
  if (change.entry == last_) {  // replaces the entry's last value
    commands_.CutTo(last_at_);
    --command_count_;
  } else if (!recent_.Add(key)) {
    return nullptr;
  }
  if (change.database != selected_) [[unlikely]]
    Select(change.database);
  char* out = commands_.Reserve(kTextCommandRoom + key.size() + text.size());
  last_ = change.entry;
  last_at_ = commands_.size();
  ++command_count_;
  CopyBytes(out, set.data(), kSet.size());
  out = resp::WriteWord(out + kSet.size(), key);
  return resp::WriteWord(out, text);
}

[[gnu::always_inline]] inline bool ChangeStream::WriteTextAtOnce(const Change& change, std::string_view text,
                                                                 int64_t distance_ms) {
  const Entry& entry = *change.entry;
  if (text.size() >= kLongText || renamed_) return false;
  if (!entry.expires()) {
    char* const out = BeginText(change, kSet, entry.key(), text);
    if (out != nullptr) commands_.Commit(out);
    return out != nullptr;
  }
  const int64_t deadline = UnixMsOf(entry, distance_ms);
  if (deadline <= cutoff_ms_) return false;  // cut off already: replicas do not get the value
  char* const out = BeginText(change, kSetWithDeadline, entry.key(), text);
  if (out != nullptr) commands_.Commit(deadline_words_.Write(out, deadline));
  return out != nullptr;
}

[[gnu::noinline]] bool ChangeStream::WriteNumberAtOnce(const Change& change, int64_t distance_ms) {
  if (change.entry->encoding() != Encoding::kInteger) return false;
  char digits[kMaxIntegerText];
  return WriteTextAtOnce(change, {digits, FormatInteger(change.entry->integer(), digits)}, distance_ms);
}

[[gnu::always_inline]] inline bool ChangeStream::WriteAtOnce(const Change& change, int64_t distance_ms) {
  if (change.reason > ChangeReason::kValueChanged || change.entry == nullptr) return false;
  const Entry& entry = *change.entry;
  if (entry.Has(EntryFlag::kExtra)) return false;
  if (entry.encoding() < Encoding::kInteger) return WriteTextAtOnce(change, entry.stored(), distance_ms);
  return WriteNumberAtOnce(change, distance_ms);
}

[[gnu::noinline]] void ChangeStream::Note(const Change& change) {
  switch (change.reason) {
    case ChangeReason::kFlushed:
      keys_.Forget(change.keyspace);
      return Add(change.database, {"FLUSHDB", "ASYNC"});
    case ChangeReason::kSwapped:
      if (!swapped_) {
        swapped_ = change.database;
        return;
      }
      Add(change.database, {"SWAPDB", NumberText(*swapped_).view(), NumberText(change.database).view()});
      return swapped_.reset();
    case ChangeReason::kNamespaceFlushed:  // each key is reported as kFreed
      return;
    case ChangeReason::kRenamed:
      return NoteRename(change);
    default:
      break;
  }
  if (renamed_ && FinishRename(change)) return;
  if (change.reason == ChangeReason::kExpired && uses_cutoffs_ && TellByCutoff(change)) return;
  if (change.entry != nullptr) NoteKey(change);
}

void ChangeStream::NoteKey(const Change& change) {
  using Left = TurnChanges::Left;
  last_ = nullptr;
  TurnChanges::Item& item = keys_.Of(change.keyspace, change.keyspace.KeyOf(change.key));
  if (item.left == Left::kValue) return;
  const bool expiry_alone =
      change.reason == ChangeReason::kExpiryChanged || change.reason == ChangeReason::kSlid;
  if (expiry_alone) {
    item.left = Left::kExpiry;
    item.persisted = item.persisted || !change.entry->expires();
    has_expiries_ = true;
    return;
  }
  if (Removes(change.reason) || !IsWorthACommand(change, item)) {
    item.left = Left::kValue;
    return;
  }
  if (item.commands != UINT8_MAX) ++item.commands;
  // The rules may have given the key a TTL.
  if (change.keyspace.lifetimes().ruled()) {
    item.left = Left::kExpiry;
    has_expiries_ = true;
  }
  for (const Effect* part = change.event.effect; part != nullptr; part = part->next) AddPart(change, *part);
}

void ChangeStream::AddPart(const Change& change, const Effect& effect) {
  if (effect.of_deadlines) {
    std::string message(1, kFactsCommand);
    const std::string_view first[] = {effect.command, change.key};
    resp::AppendRequest(message, first, effect.arguments);
    return Add(change.database, {"PUBLISH", kFactsChannel, message});
  }
  if (effect.subcommand.empty()) {
    const std::string_view first[] = {effect.command, change.key};
    return Add(change.database, first, effect.arguments);
  }
  const std::string_view first[] = {effect.command, effect.subcommand, change.key};
  Add(change.database, first, effect.arguments);
}

bool ChangeStream::IsWorthACommand(const Change& change, const TurnChanges::Item& item) noexcept {
  if (change.event.effect == nullptr) return false;
  const Entry& entry = *change.entry;
  if (entry.encoding() != Encoding::kRich) return entry.TextLength() >= kLongText;
  return item.commands < kManyCommands || entry.rich()->Bytes() > kSmallValue;
}

// A rename costs nothing here, whatever the value's length: replicas must not get the value again.
void ChangeStream::NoteRename(const Change& change) {
  const Entry& entry = *change.entry;
  last_ = nullptr;
  TurnChanges::Item& item = keys_.Of(change.keyspace, change.keyspace.KeyOf(change.key));
  const size_t bytes = entry.encoding() == Encoding::kRich ? entry.rich()->Bytes() : entry.TextLength();
  if (item.left == TurnChanges::Left::kNothing && bytes > kLongToRename)
    renamed_ = Renamed{std::string(change.key), change.database};
  else
    item.left = TurnChanges::Left::kValue;
}

bool ChangeStream::FinishRename(const Change& change) {
  const bool is_moved = change.event.name == events::kMoveTo.name;
  if (!is_moved && change.event.name != events::kRenameTo.name) return false;
  const Renamed from = std::move(*renamed_);
  renamed_.reset();
  TurnChanges::Item& item = keys_.Of(change.keyspace, change.keyspace.KeyOf(change.key));
  // A key with the new name was removed in this turn, without a DEL yet. MOVE does not replace a key.
  if (is_moved && item.left == TurnChanges::Left::kValue) Add(change.database, {"DEL", change.key});
  const bool ruled = change.keyspace.lifetimes().ruled();
  item.left = ruled ? TurnChanges::Left::kExpiry : TurnChanges::Left::kNothing;
  has_expiries_ = has_expiries_ || ruled;
  if (is_moved)
    Add(from.database, {"MOVE", from.name, NumberText(change.database).view()});
  else
    Add(from.database, {"RENAME", from.name, change.key});
  return true;
}

void ChangeStream::Add(unsigned database, std::span<const std::string_view> first,
                       std::span<const std::string_view> then) {
  if (database != selected_) Select(database);
  commands_.Append(first, then);
  ++command_count_;
  last_ = nullptr;
}

[[gnu::noinline]] void ChangeStream::Select(unsigned database) {
  const NumberText number(database);
  const std::string_view select[] = {"SELECT", number.view()};
  commands_.Append(select);
  selected_ = database;
}

void ChangeStream::Send(unsigned database, std::span<const std::string_view> words) noexcept {
  server_.hubs.turn_ends.Ask();
  try {
    Add(database, words);
  } catch (const std::bad_alloc&) {
    incomplete_ = true;
  }
}

// ---- cutoffs

Now ChangeStream::cutoff() const noexcept {
  if (cutoff_ms_ == 0) return {};
  // A deadline may lie before the begin of the monotonic clock.
  const int64_t mono_ms = std::max<int64_t>(cutoff_ms_ - *told_clock_distance_ms_, 0);
  return {.mono_ms = static_cast<uint64_t>(mono_ms), .wall_ms = cutoff_ms_};
}

[[gnu::noinline]] void ChangeStream::LoseExactness() {
  exact_ = uses_cutoffs_ = false;
  if (std::exchange(cutoff_ms_, 0) != 0) AddNoCutoff();
}

bool ChangeStream::TellByCutoff(const Change& change) {
  const Entry& entry = *change.entry;
  const Now now = server_.executor->now();
  const bool timed_members =
      entry.encoding() == Encoding::kRich && entry.rich()->NextDeadline().kind != Expiry::Kind::kNever;
  if (!entry.expires() || entry.task() || timed_members || entry.terms().slide_ms != 0) return false;
  const TurnChanges::Item* const item = keys_.Find(change.keyspace, change.keyspace.KeyOf(change.key));
  if (item != nullptr && item->left != TurnChanges::Left::kNothing) return false;
  const int64_t deadline = UnixMsOf(entry, now);
  if (deadline > now.wall_ms) return false;
  last_ = nullptr;
  if (deadline <= cutoff_ms_) return true;
  TellExpiries(now);
  const NumberText number(deadline);
  std::string message(1, kFactsCutoff);
  message.append(number.view());
  const std::string_view words[] = {"PUBLISH", kFactsChannel, message};
  commands_.Append(words);
  ++command_count_;
  cutoff_ms_ = deadline;
  wrote_cutoff_ = true;
  return true;
}

void ChangeStream::TellExpiries(Now now) {
  if (!std::exchange(has_expiries_, false)) return;
  for (TurnChanges::Item& item : keys_.items()) {
    if (item.left != TurnChanges::Left::kExpiry) continue;
    const unsigned database = item.keyspace->database();
    const std::string_view name = keys_.NameOf(item);
    const Entry* const entry = TheirsOf(item, now);
    if (entry == nullptr)
      Add(database, {"DEL", name});
    else if (item.persisted || !entry->expires())
      Add(database, {"PERSIST", name});
    if (entry != nullptr && entry->expires())
      Add(database, {"PEXPIREAT", name, NumberText(UnixMsOf(*entry, now)).view()});
    const std::string facts = entry != nullptr ? FactsOf(*item.keyspace, *entry, now.Begin()) : "";
    if (!facts.empty()) Add(database, {"PUBLISH", kFactsChannel, facts});
    item.left = TurnChanges::Left::kNothing;
    item.persisted = false;
  }
}

void ChangeStream::AddNoCutoff() {
  const std::string message = std::string(1, kFactsCommand) + resp::RequestText({"REPLCONF", kNoCutoff});
  const std::string_view words[] = {"PUBLISH", kFactsChannel, message};
  commands_.Append(words);
  ++command_count_;
  last_ = nullptr;
}

void ChangeStream::SendNoCutoff() noexcept {
  server_.hubs.turn_ends.Ask();
  try {
    AddNoCutoff();
  } catch (const std::bad_alloc&) {
    incomplete_ = true;
  }
}

// ---- the stream

void ChangeStream::SendAlone(std::initializer_list<std::string_view> words, Now now) {
  Flush(now);
  WriteWords(words);
}

void ChangeStream::Flush(Now now) {
  if (incomplete_) throw std::bad_alloc();
  if (running_) FollowClock(DistanceMs(now));
  if (empty()) return;
  const auto left = std::ranges::count_if(
      keys_.items(), [](const TurnChanges::Item& item) { return item.left != TurnChanges::Left::kNothing; });
  const bool many = command_count_ + static_cast<size_t>(left) > 1;
  commands_.Publish(/*transaction=*/many);
  for (const TurnChanges::Item& item : keys_.items()) {
    if (item.left != TurnChanges::Left::kNothing) Write(item, now);
  }
  if (many) backlog_.Append(kExec);
  Clear();
}

// A due key or member that is not freed yet is sent, too. If a replica becomes the master before this server frees the key, the
// new master's stream frees it here.
const Entry* ChangeStream::TheirsOf(const TurnChanges::Item& item, Now now) const noexcept {
  const Entry* const entry = item.keyspace->LookAt(Key{keys_.NameOf(item), item.hash}, now.Begin());
  if (entry == nullptr || (cutoff_ms_ != 0 && IsCutOff(*entry, cutoff()))) return nullptr;
  return entry;
}

void ChangeStream::WriteWords(std::initializer_list<std::string_view> words) {
  char* const begin = backlog_.Reserve(resp::kMostAroundWord + resp::MostWordBytes(words));
  char* end = resp::PutHeader(begin, '*', static_cast<int64_t>(words.size()));
  for (const std::string_view word : words) end = resp::WriteWord(end, word);
  backlog_.Commit(static_cast<size_t>(end - begin));
}

void ChangeStream::Write(const TurnChanges::Item& item, Now now) {
  const unsigned database = item.keyspace->database();
  if (database != selected_) WriteWords({"SELECT", NumberText(database).view()});
  selected_ = database;
  const std::string_view name = keys_.NameOf(item);
  const Entry* const entry = TheirsOf(item, now);
  if (entry == nullptr) return WriteWords({"DEL", name});
  if (item.left == TurnChanges::Left::kExpiry) {
    if (item.persisted || !entry->expires()) WriteWords({"PERSIST", name});
    if (entry->expires()) WriteWords({"PEXPIREAT", name, NumberText(UnixMsOf(*entry, now)).view()});
    return WriteFacts(*item.keyspace, *entry, now);
  }
  if (entry->encoding() == Encoding::kRich) {
    const std::string payload = PlainPayloadOf(*entry, now.Begin());
    if (payload.empty()) return WriteWords({"DEL", name});
    const NumberText deadline = NumberText(entry->expires() ? UnixMsOf(*entry, now) : 0);
    WriteWords({"RESTORE", name, deadline.view(), payload, "REPLACE", "ABSTTL"});
  } else {
    WriteText(name, *entry, now);
  }
  WriteFacts(*item.keyspace, *entry, now);
}

void ChangeStream::WriteFacts(const Keyspace& keyspace, const Entry& entry, Now now) {
  const std::string facts = FactsOf(keyspace, entry, now.Begin());
  if (!facts.empty()) WriteWords({"PUBLISH", kFactsChannel, facts});
}

void ChangeStream::WriteText(std::string_view name, const Entry& entry, Now now) {
  const bool is_number = entry.encoding() == Encoding::kInteger;
  const NumberText number(is_number ? entry.integer() : 0);
  const std::string_view text = is_number ? number.view() : entry.text();
  if (entry.expires())
    return WriteWords({"SET", name, text, "PXAT", NumberText(UnixMsOf(entry, now)).view()});
  WriteWords({"SET", name, text});
}

}  // namespace mayfly
