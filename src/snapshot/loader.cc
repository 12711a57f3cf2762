#include "snapshot/loader.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/text/numbers.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/memory/memory_meter.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "server/watch/event_log.h"
#include "snapshot/event_fields.h"
#include "snapshot/format/types.h"
#include "snapshot/value_limits.h"

namespace mayfly {

using rdb::ReadStatus;
using rdb::ValueStatus;

namespace {

// Opcodes are the highest numbers of a byte, and newer servers have given away those from here on.
constexpr uint8_t kLowestOpcode = 242;
constexpr uint64_t kSlots = 16384;  // of a cluster

bool IsOk(ReadStatus status) noexcept { return status == ReadStatus::kOk; }

}  // namespace

Loader::Loader(Server& server, Disk& disk, std::function<void(const LoadResult&)> ended)
    : Step(server.sliced_work),
      Ear(server.hubs.wakes),
      server_(server),
      disk_(disk),
      ended_(std::move(ended)),
      account_(server.hubs.accounts, account_bytes_) {}

Loader::~Loader() = default;

std::string Loader::Begin(const std::string& path, Now now) {
  assert(!running());
  std::string problem;
  auto reader = std::make_unique<FileReader>(
      disk_, path, [&wakes = server_.hubs.wakes] { wakes.Signal(); }, problem);
  if (!problem.empty()) return problem;
  path_ = path;
  claims_.emplace(server_.databases);
  value_.emplace(ValueLimitsOf(server_.options.settings()));
  reader_ = std::move(reader);
  began_ = now;
  window_.clear();
  window_at_ = 0;
  in_ = rdb::In();
  state_ = State::kHead;
  ours_ = false;
  database_ = 0;
  facts_ = {};
  rich_.reset();
  idle_steps_ = 0;
  early_ = {};
  result_ = {};
  SaveFigures& figures = server_.stats.saves;
  figures.loading = true;
  figures.load_began_mono_ms = now.mono_ms;
  figures.load_file_bytes = reader_->file_bytes();
  ShowProgress();
  Announce();
  return {};
}

LoadResult Loader::LoadNow() {
  assert(running());
  Status status = Status::kSpent;
  while (status == Status::kSpent || status == Status::kMore) {
    if (status == Status::kMore) reader_->Wait();
    status = WorkSafely(server_.clock.Read(), std::numeric_limits<uint32_t>::max());
  }
  return End(server_.clock.Read());
}

LoadResult Loader::Stop() {
  assert(running());
  return End(server_.clock.Read());
}

bool Loader::DoSome(Now now, size_t budget) noexcept {
  if (!running()) return false;
  const Status status = WorkSafely(now, budget);
  ShowProgress();
  if (status == Status::kSpent) return true;
  if (status != Status::kMore) ended_(End(now));
  return false;
}

void Loader::OnSignal() noexcept {
  if (running()) Announce();
}

// ---- reading

Loader::Status Loader::WorkSafely(Now now, size_t budget) noexcept {
  try {
    return Work(now, budget);
  } catch (const std::bad_alloc&) {
    result_.problem = "out of memory";  // short enough to need none
    return Status::kBad;
  }
}

Loader::Status Loader::Work(Now now, size_t budget) {
  for (;;) {
    const Status status = Some(now, budget);
    if (status == Status::kOk) {
      if (budget == 0) return Status::kSpent;
      continue;
    }
    if (status == Status::kMore) {
      if (Refill()) continue;
      if (!reader_->AtEnd(result_.problem)) return Status::kMore;
      if (result_.problem.empty()) static_cast<void>(Damaged("the file ends too early"));
    } else if (status != Status::kBad) {
      return status;
    }
    static_cast<void>(EndReading());
  }
}

bool Loader::Refill() {
  if (!reader_->Take(chunk_)) return false;
  window_at_ += in_.at();
  window_.erase(0, in_.at());
  window_.append(chunk_);
  in_.SetWindow(window_);
  return true;
}

Loader::Status Loader::Some(Now now, size_t& budget) {
  switch (state_) {
    case State::kHead:
      return ReadHead();
    case State::kRecord:
      return ReadRecord(now, budget);
    case State::kValue:
      return ReadValue(now, budget);
    case State::kMembers:
      return ReadMembers(now, budget);
    case State::kModule:
      return SkipModule(budget);
    case State::kTail:
      idle_steps_ = UINT64_MAX;
      return MoveEarly(now, budget) ? Status::kEnd : Status::kSpent;
  }
  return Status::kEnd;
}

Loader::Status Loader::EndReading() noexcept {
  state_ = State::kTail;
  return Status::kOk;
}

bool Loader::MoveEarly(Now now, size_t& budget) {
  return early_.MoveThoseBefore(idle_steps_, *claims_, now, budget);
}

Loader::Status Loader::ReadHead() {
  const ReadStatus status = in_.FileHead(version_, valkey_);
  if (status == ReadStatus::kMore) return Status::kMore;
  if (status == ReadStatus::kBad) return Damaged("this is no snapshot file");
  const bool known =
      valkey_ ? version_ == rdb::version::kValkey9 : version_ >= 1 && version_ <= rdb::version::kNewest;
  if (!known) {
    result_.ending = kUnknownEnding;
    result_.problem = path_ + " has version " + std::to_string(version_) + ", which is not known";
    return Status::kBad;
  }
  state_ = State::kRecord;
  return Status::kOk;
}

// An incomplete record is read again from its first byte.
Loader::Status Loader::ReadRecord(Now now, size_t& budget) {
  if (early_.AnyBefore(idle_steps_) && !MoveEarly(now, budget)) return Status::kSpent;
  const size_t start = in_.at();
  uint8_t code = 0;
  if (in_.Byte(code) != ReadStatus::kOk) return Status::kMore;
  const Status status = code >= kLowestOpcode ? ReadOpcode(code) : ReadKey(code, now);
  if (status == Status::kMore) in_.Rewind(start);
  return status;
}

Loader::Status Loader::ReadOpcode(uint8_t opcode) {
  ReadStatus status = ReadStatus::kBad;
  uint64_t number = 0;
  int64_t time = 0;
  uint8_t byte = 0;
  switch (opcode) {
    case rdb::opcode::kEnd:
      return ReadEnd();
    case rdb::opcode::kAux:
      return ReadAux();
    case rdb::opcode::kDatabase:
      status = in_.Length(database_);
      break;
    case rdb::opcode::kTableSizes:
      status = in_.Length(number);
      if (IsOk(status)) status = in_.Length(number);
      break;
    case rdb::opcode::kSlotInfo:
      for (int i = 0; i < 3 && (i == 0 || IsOk(status)); ++i) status = in_.Length(number);
      break;
    case rdb::opcode::kDeadlineMs:
      status = in_.Millis(time);
      if (IsOk(status)) facts_.deadline_unix_ms = time;
      break;
    case rdb::opcode::kDeadlineS:
      status = in_.Seconds(time);
      if (IsOk(status)) facts_.deadline_unix_ms = time * kMsPerSecond;
      break;
    case rdb::opcode::kIdle:
      status = in_.Length(number);
      if (IsOk(status)) facts_.idle_s = number;
      break;
    case rdb::opcode::kFrequency:
      status = in_.Byte(byte);
      if (IsOk(status)) facts_.frequency = byte;
      break;
    case rdb::opcode::kKeyMetaOrImport:
      return valkey_ ? SkipImport() : BeginSkip(rdb::ModuleSkip::Kind::kMetadata, opcode);
    case rdb::opcode::kModuleAux:
      return BeginSkip(rdb::ModuleSkip::Kind::kValue, opcode);
    case rdb::opcode::kFunction:
      status = in_.SkipString();
      if (IsOk(status)) ++result_.functions;
      break;
    default:
      return Damaged("a record of the unknown kind " + std::to_string(opcode));
  }
  if (status == ReadStatus::kMore) return Status::kMore;
  return IsOk(status) ? Status::kOk : Damaged("a record that cannot be read");
}

Loader::Status Loader::ReadAux() {
  std::string_view name;
  std::string_view value;
  ReadStatus status = in_.String(name);
  if (IsOk(status)) status = in_.String(value);
  if (status == ReadStatus::kMore) return Status::kMore;
  if (!IsOk(status)) return Damaged("a field that cannot be read");
  if (name == "mayfly-ver") ours_ = true;
  if (ours_ && !ReadOwnField(name, value)) return Damaged("a field of a key that cannot be read");
  return Status::kOk;
}

bool Loader::ReadOwnField(std::string_view name, std::string_view value) {
  if (name == KeyTerms::kField) return ReadKeyTerms(value, facts_.terms);
  if (name == kIdleField || name == kEarlyField) return ReadIdle(name, value);
  if (name == EventFields::kNext) return ReadNextEvent(value, server_.event_log);
  if (name == EventFields::kRecords) return ReadEvents(value, server_.event_log);
  return true;
}

bool Loader::ReadIdle(std::string_view name, std::string_view value) {
  const std::optional<int64_t> steps = ParseInteger(value);
  if (!steps || std::abs(*steps) > int64_t{Entry::kTimeMask}) return false;
  const int64_t idle = *steps + (name == kIdleField ? static_cast<int64_t>(idle_steps_) : 0);
  if (idle < 0 || idle > int64_t{Entry::kTimeMask}) return false;
  if (name == kEarlyField)
    facts_.early_steps = static_cast<uint64_t>(idle);
  else
    idle_steps_ = static_cast<uint64_t>(idle);
  return true;
}

// The job of an import, and its ranges of slots.
Loader::Status Loader::SkipImport() {
  uint64_t ranges = 0;
  uint64_t slot = 0;
  ReadStatus status = in_.SkipString();
  if (IsOk(status)) status = in_.Length(ranges);
  if (IsOk(status) && ranges > kSlots) status = ReadStatus::kBad;
  for (uint64_t i = 0; i < 2 * ranges && IsOk(status); ++i) status = in_.Length(slot);
  if (status == ReadStatus::kMore) return Status::kMore;
  return IsOk(status) ? Status::kOk : Damaged("a record that cannot be read");
}

Loader::Status Loader::BeginSkip(rdb::ModuleSkip::Kind kind, uint8_t code) {
  if (!server_.options.settings().rdb_skip_unknown)
    return Damaged("a record of a module, number " + std::to_string(code) + ", and rdb-skip-unknown is no");
  module_ = rdb::ModuleSkip(kind);
  skips_value_ = false;
  state_ = State::kModule;
  return Status::kOk;
}

Loader::Status Loader::ReadKey(uint8_t type, Now now) {
  std::string_view key;
  const ReadStatus status = in_.String(key);
  if (status == ReadStatus::kMore) return Status::kMore;
  if (!IsOk(status)) return Damaged("a key that cannot be read");
  key_ = key;
  const Keyspace* home = claims_->HomeOf(database_);
  if (home == nullptr) home = &server_.databases.At(0);  // for a value that will be dropped
  state_ = State::kValue;
  const bool ttls = ours_ && !facts_.terms.wall_members;
  if (value_->Begin(type, {.home = home->home(), .now = now, .valkey = valkey_, .ttls = ttls}))
    return Status::kOk;
  if (type != rdb::type::kModule) return Damaged("a value of the unknown type " + std::to_string(type));
  const Status begun = BeginSkip(rdb::ModuleSkip::Kind::kValue, type);
  skips_value_ = true;
  return begun;
}

Loader::Status Loader::ReadValue(Now now, size_t& budget) {
  switch (value_->Some(in_, budget)) {
    case ValueStatus::kMore:
      return Status::kMore;
    case ValueStatus::kSpent:
      return Status::kSpent;
    case ValueStatus::kBad:
      return Damaged("a damaged value");
    case ValueStatus::kExpired:
      ++result_.expired;
      if (const Keyspace* const home = claims_->HomeOf(database_)) LogExpired(*home, now.wall_ms);
      break;
    case ValueStatus::kEmpty:
      ++result_.empty;
      break;
    case ValueStatus::kDone:
      if (!value_->is_string()) rich_ = value_->TakeRich();
      if (ours_ && rich_ && (rich_->type == ValueType::kSet || rich_->type == ValueType::kSortedSet)) {
        state_ = State::kMembers;
        return Status::kOk;
      }
      Settle(now);
      break;
  }
  return EndKey(budget);
}

// What is no deadline of members is left for ReadRecord.
Loader::Status Loader::ReadMembers(Now now, size_t& budget) {
  const size_t start = in_.at();
  uint8_t code = 0;
  std::string_view name;
  std::string_view value;
  ReadStatus status = in_.Byte(code);
  if (IsOk(status) && code == rdb::opcode::kAux) {
    status = in_.String(name);
    if (IsOk(status)) status = in_.String(value);
  }
  if (status == ReadStatus::kMore) {
    in_.Rewind(start);
    return Status::kMore;
  }
  if (IsOk(status) && name == kMemberTermsField) {
    const Keyspace* home = claims_->HomeOf(database_);
    if (home == nullptr) return Status::kOk;
    if (!GiveMemberTerms(*rich_, value, facts_.terms.wall_members, home->home(), now))
      return Damaged("deadlines of members that cannot be read");
    budget -= budget != 0 ? 1 : 0;
    return Status::kOk;
  }
  in_.Rewind(start);
  Settle(now);
  return EndKey(budget);
}

Loader::Status Loader::EndKey(size_t& budget) {
  budget -= budget != 0 ? 1 : 0;
  result_.groups += value_->dropped_groups();
  rich_.reset();
  state_ = State::kRecord;
  facts_ = {};
  if (claims_->AllFlushed()) return EndReading();
  if (!IsFull()) return Status::kOk;
  result_.full = true;
  return EndReading();
}

Loader::Status Loader::SkipModule(size_t& budget) {
  switch (module_.Some(in_, budget)) {
    case ValueStatus::kMore:
      return Status::kMore;
    case ValueStatus::kSpent:
      return Status::kSpent;
    case ValueStatus::kDone:
      break;
    default:
      return Damaged("a damaged record of a module");
  }
  ++(skips_value_ ? result_.modules : result_.extras);
  if (skips_value_) facts_ = {};
  state_ = State::kRecord;
  return Status::kOk;
}

// Versions before the checksum end here. The reader is at its end when it has read the checksum.
Loader::Status Loader::ReadEnd() {
  if (!valkey_ && version_ < rdb::version::kChecksum) return EndReading();
  uint64_t wanted = 0;
  if (in_.Checksum(wanted) != ReadStatus::kOk) return Status::kMore;
  std::string rest;
  while (reader_->Take(rest)) {
  }
  if (!reader_->AtEnd(result_.problem)) return Status::kMore;
  if (!result_.problem.empty()) return Status::kBad;
  if (wanted != 0 && wanted != reader_->crc()) return Damaged("the checksum is wrong");
  return EndReading();
}

Loader::Status Loader::Damaged(std::string_view what) {
  result_.ending = kDamagedEnding;
  result_.problem = path_ + " is damaged at byte " + std::to_string(window_at_ + in_.at());
  if (state_ == State::kValue || state_ == State::kMembers || (state_ == State::kModule && skips_value_))
    result_.problem += ", key " + config::Printable(key_);
  result_.problem += ": ";
  result_.problem += what;
  return Status::kBad;
}

// ---- keys

void Loader::Settle(Now now) {
  Keyspace* const home = claims_->HomeOf(database_);
  if (home == nullptr) {
    ++(database_ < server_.databases.count() ? result_.overtaken : result_.homeless);
    return;
  }
  try {
    if (facts_.deadline_unix_ms && *facts_.deadline_unix_ms <= now.wall_ms) return SettleExpired(*home, now);
    if (rich_ && rich_->Size() == 0) {  // the deadlines of all members are over
      ++result_.expired;
      return LogExpired(*home, now.wall_ms);
    }
    const Key key = home->KeyOf(key_);
    if (!MayCome(*home, key, now)) {
      ++result_.overtaken;
      return;
    }
    Adopt(*home, key, now);
    ++result_.keys;
  } catch (const OwnersExhausted&) {
    ++result_.empty;
  }
}

bool Loader::MayCome(Keyspace& home, const Key& key, Now now) const {
  return home.Peek(key, now) == nullptr && claims_->MayCome(home, key, facts_.terms.tags);
}

// REQUIRES: the deadline is over.
void Loader::SettleExpired(Keyspace& home, Now now) {
  const int64_t deadline = *facts_.deadline_unix_ms;
  const KeyTerms& terms = facts_.terms;
  if (!terms.expired) {
    ++result_.expired;
    LogExpired(home, deadline);
  }
  const auto gone_ms = static_cast<uint64_t>(now.wall_ms) - static_cast<uint64_t>(deadline);
  if (!value_->is_string() || terms.stale_ms <= gone_ms) return;
  const Key key = home.KeyOf(key_);
  if (!MayCome(home, key, now)) return;
  const std::vector<std::string_view> tags(terms.tags.begin(), terms.tags.end());
  const Expiry::Kind clock = terms.wall ? Expiry::Kind::kWall : Expiry::Kind::kRelative;
  home.stale().Drop(key);
  result_.stale += home.AdoptStale(key, value_->TakeString(),
                                   {.expiry = {clock, Expiry::NowOn(clock, now)},
                                    .terms = {.stale_ms = terms.stale_ms - gone_ms},
                                    .tags = tags},
                                   now);
}

void Loader::LogExpired(const Keyspace& home, int64_t unix_ms) {
  const std::optional<std::string_view> value =
      value_->is_string() ? std::optional(value_->text()) : std::nullopt;
  server_.event_log.NoteExpired(home.database(), key_, unix_ms, value);
}

// REQUIRES: the deadline is not over.
Expiry Loader::ExpiryOf(Now now) const noexcept {
  if (!facts_.deadline_unix_ms) return Expiry::Never();
  if (facts_.terms.wall || !ours_) return Expiry::At(*facts_.deadline_unix_ms);
  return Expiry::In(static_cast<uint64_t>(*facts_.deadline_unix_ms - now.wall_ms), now);
}

uint64_t Loader::IdleSteps() const noexcept {
  if (facts_.early_steps) return *facts_.early_steps;
  if (ours_) return idle_steps_;
  constexpr uint64_t kMostS = uint64_t{Entry::kTimeMask} * Entry::kStampMs / kMsPerSecond;
  return std::min(facts_.idle_s.value_or(0), kMostS) * kMsPerSecond / Entry::kStampMs;
}

void Loader::Adopt(Keyspace& home, const Key& key, Now now) {
  const KeyTerms& terms = facts_.terms;
  Adoption as{.expiry = ExpiryOf(now)};
  as.terms.stale_ms = terms.stale_ms;
  if (as.expiry.kind == Expiry::Kind::kRelative) as.terms.slide_ms = terms.slide_ms;
  if (terms.slide_until_unix_ms > now.wall_ms)
    as.terms.slide_until_ms = now.mono_ms + static_cast<uint64_t>(terms.slide_until_unix_ms - now.wall_ms);
  if (as.expiry.kind == Expiry::Kind::kNever) as.terms = {};
  as.stamp = (Entry::StampOf(now.mono_ms) - static_cast<uint32_t>(IdleSteps())) & Entry::kTimeMask;
  if (facts_.frequency) as.stamp = Entry::CountedStamp(*facts_.frequency, now.mono_ms);
  const std::vector<std::string_view> tags(terms.tags.begin(), terms.tags.end());
  as.tags = tags;
  if (rich_)
    home.Adopt(key, StringValue::Text(""), std::move(rich_), as, now);
  else
    home.Adopt(key, value_->TakeString(), nullptr, as, now);
  if (facts_.early_steps && server_.databases.access_effect() == AccessEffect::kRecency)
    early_.Add(database_, key_, *facts_.early_steps, as.stamp);
}

bool Loader::IsFull() const noexcept {
  const config::Settings& settings = server_.options.settings();
  const auto maxkeys = static_cast<uint64_t>(settings.maxkeys);
  if (claims_->Overwhelmed() || (maxkeys != 0 && server_.databases.total_keys() >= maxkeys)) return true;
  return settings.maxmemory.bytes != 0 && server_.memory.Data() >= settings.maxmemory.bytes;
}

void Loader::ShowProgress() noexcept {
  SaveFigures& figures = server_.stats.saves;
  figures.load_done_bytes = window_at_ + in_.at();
  figures.load_keys = result_.keys;
  figures.load_expired = result_.expired;
  figures.load_skipped = result_.empty + result_.modules + result_.homeless;
  account_bytes_ = 0;
  if (running())
    account_bytes_ = window_.capacity() + early_.bytes() + FileReader::kAhead * FileReader::kChunkBytes;
}

LoadResult Loader::End(Now now) noexcept {
  ShowProgress();
  result_.bytes = window_at_ + in_.at();
  result_.took_ms = now.mono_ms - began_.mono_ms;
  reader_.reset();
  claims_.reset();
  value_.reset();
  rich_.reset();
  early_ = {};
  window_ = {};
  in_ = rdb::In();
  window_at_ = 0;
  account_bytes_ = 0;
  server_.stats.saves.loading = false;
  return std::exchange(result_, {});
}

}  // namespace mayfly
