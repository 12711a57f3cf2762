#include "snapshot/loader.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <utility>

#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/memory/memory_meter.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "snapshot/format/types.h"
#include "snapshot/value_limits.h"

namespace mayfly {

using rdb::ReadStatus;
using rdb::ValueStatus;

namespace {

// Opcodes are the highest numbers of a byte, and newer servers have given away those from here on.
constexpr uint8_t kLowestOpcode = 242;
// Of Redis: that of 8.4.
constexpr unsigned kNewestVersion = rdb::version::kRedis74;

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
  claims_.emplace(server_.databases);
  value_.emplace(ValueLimitsOf(server_.options.settings()));
  reader_ = std::move(reader);
  path_ = path;
  began_ = now;
  window_.clear();
  window_at_ = 0;
  in_ = rdb::In();
  state_ = State::kHead;
  ours_ = false;
  database_ = 0;
  facts_ = {};
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
    status = Work(server_.clock.Read(), std::numeric_limits<uint32_t>::max());
  }
  return End(server_.clock.Read());
}

LoadResult Loader::Stop() {
  assert(running());
  return End(server_.clock.Read());
}

bool Loader::DoSome(Now now, size_t budget) noexcept {
  if (!running()) return false;
  Status status = Status::kBad;
  try {
    status = Work(now, budget);
  } catch (const std::bad_alloc&) {
    result_.problem = "out of memory";
  }
  ShowProgress();
  if (status == Status::kSpent) return true;
  if (status != Status::kMore) ended_(End(now));
  return false;
}

void Loader::OnSignal() noexcept {
  if (running()) Announce();
}

// ---- reading

Loader::Status Loader::Work(Now now, size_t budget) {
  LookAtMemory();
  for (;;) {
    const Status status = Some(now, budget);
    if (status == Status::kOk) {
      if (budget == 0) return Status::kSpent;
      continue;
    }
    if (status != Status::kMore) return status;
    if (Refill()) continue;
    if (!reader_->AtEnd(result_.problem)) return Status::kMore;
    return result_.problem.empty() ? Damaged("the file ends too early") : Status::kBad;
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
      return ReadRecord(now);
    case State::kValue:
      return ReadValue(now, budget);
    case State::kDeadlines:
      return GiveDeadlines(now, budget);
    case State::kModule:
      return SkipModule(budget);
  }
  return Status::kBad;
}

Loader::Status Loader::ReadHead() {
  const ReadStatus status = in_.FileHead(version_, valkey_);
  if (status == ReadStatus::kMore) return Status::kMore;
  if (status == ReadStatus::kBad) return Damaged("this is no snapshot file");
  const bool known =
      valkey_ ? version_ == rdb::version::kValkey9 : version_ >= 1 && version_ <= kNewestVersion;
  if (!known) {
    result_.ending = kUnknownEnding;
    result_.problem = path_ + " has version " + std::to_string(version_) + ", which is not known";
    return Status::kBad;
  }
  state_ = State::kRecord;
  return Status::kOk;
}

// An incomplete record is read again from its first byte.
Loader::Status Loader::ReadRecord(Now now) {
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
  if (ours_ && name == KeyTerms::kField && !ReadKeyTerms(value, facts_.terms))
    return Damaged("terms of a key that cannot be read");
  if (ours_ && name == MemberTerms::kField && !value.empty()) facts_.members.Add(value);
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
  if (value_->Begin(type, valkey_, home->home(), now)) {
    state_ = State::kValue;
  } else if (type == rdb::type::kModule && server_.options.settings().rdb_skip_unknown) {
    module_ = {};
    state_ = State::kModule;
  } else {
    return Damaged("a value of the unknown type " + std::to_string(type));
  }
  return Status::kOk;
}

Loader::Status Loader::ReadValue(Now now, size_t& budget) {
  const uint64_t read = window_at_ + window_.size();
  value_->SetFollowing(reader_->file_bytes() - std::min(reader_->file_bytes(), read));
  switch (value_->Some(in_, budget)) {
    case ValueStatus::kMore:
      return Status::kMore;
    case ValueStatus::kSpent:
      return Status::kSpent;
    case ValueStatus::kBad:
      return Damaged("a damaged value");
    case ValueStatus::kExpired:
      ++result_.expired;
      break;
    case ValueStatus::kEmpty:
      ++result_.skipped;
      break;
    case ValueStatus::kDone:
      rich_ = value_->TakeRich();
      if (rich_ != nullptr && !facts_.members.empty() &&
          (rich_->type == ValueType::kSet || rich_->type == ValueType::kSortedSet)) {
        state_ = State::kDeadlines;
        return Status::kOk;
      }
      Settle(now);
      break;
  }
  return EndKey(budget);
}

Loader::Status Loader::GiveDeadlines(Now now, size_t& budget) {
  const Keyspace* home = claims_->HomeOf(database_);
  if (home == nullptr) home = &server_.databases.At(0);  // for a value that will be dropped
  if (!facts_.members.GiveSome(*rich_, facts_.terms.wall_members, home->home(), now, budget))
    return Damaged("deadlines of members that cannot be read");
  if (!facts_.members.empty()) return Status::kSpent;
  Settle(now);
  return EndKey(budget);
}

Loader::Status Loader::EndKey(size_t& budget) {
  budget -= budget != 0 ? 1 : 0;
  Drop(value_->TakeRich());
  Drop(std::move(rich_));
  result_.groups += value_->dropped_groups();
  state_ = State::kRecord;
  facts_ = {};
  if (claims_->AllFlushed()) return Status::kEnd;
  if (!IsFull()) return Status::kOk;
  result_.full = true;
  return Status::kEnd;
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
      return Damaged("a damaged value of a module");
  }
  ++result_.skipped;
  state_ = State::kRecord;
  facts_ = {};
  return Status::kOk;
}

// Versions before the checksum end here. The reader is at its end when it has read the checksum.
Loader::Status Loader::ReadEnd() {
  if (!valkey_ && version_ < rdb::version::kChecksum) return Status::kEnd;
  uint64_t wanted = 0;
  if (in_.Checksum(wanted) != ReadStatus::kOk) return Status::kMore;
  std::string rest;
  while (reader_->Take(rest)) {
  }
  if (!reader_->AtEnd(result_.problem)) return Status::kMore;
  if (!result_.problem.empty()) return Status::kBad;
  if (wanted != 0 && wanted != reader_->crc()) return Damaged("the checksum is wrong");
  return Status::kEnd;
}

Loader::Status Loader::Damaged(std::string_view what) {
  result_.ending = kDamagedEnding;
  result_.problem = path_ + " is damaged at byte " + std::to_string(window_at_ + in_.at());
  if (state_ == State::kValue) result_.problem += ", key " + config::Printable(key_);
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
  if (facts_.deadline_unix_ms && *facts_.deadline_unix_ms <= now.wall_ms) {
    ++result_.expired;
    return;
  }
  const Key key = home->KeyOf(key_);
  if (home->Peek(key, now) != nullptr || !claims_->MayCome(*home, key, facts_.terms.tags)) {
    ++result_.overtaken;
    return;
  }
  try {
    ++(Adopt(now) ? result_.keys : result_.expired);
  } catch (const OwnersExhausted&) {
    ++result_.skipped;
  }
}

// REQUIRES: the deadline is not over.
Expiry Loader::ExpiryOf(Now now) const noexcept {
  if (!facts_.deadline_unix_ms) return Expiry::Never();
  if (facts_.terms.wall || !ours_) return Expiry::At(*facts_.deadline_unix_ms);
  return Expiry::In(static_cast<uint64_t>(*facts_.deadline_unix_ms - now.wall_ms), now);
}

bool Loader::Adopt(Now now) {
  Keyspace& home = *claims_->HomeOf(database_);
  const KeyTerms& terms = facts_.terms;
  Adoption as{.expiry = ExpiryOf(now)};
  as.terms.stale_ms = terms.stale_ms;
  if (as.expiry.kind == Expiry::Kind::kRelative) as.terms.slide_ms = terms.slide_ms;
  if (terms.slide_until_unix_ms > now.wall_ms)
    as.terms.slide_until_ms = now.mono_ms + static_cast<uint64_t>(terms.slide_until_unix_ms - now.wall_ms);
  if (as.expiry.kind == Expiry::Kind::kNever) as.terms = {};
  as.stamp = Entry::StampOf(now.mono_ms - facts_.idle_s.value_or(0) * kMsPerSecond);
  if (facts_.frequency) as.stamp = Entry::CountedStamp(*facts_.frequency, now.mono_ms);
  const std::vector<std::string_view> tags(terms.tags.begin(), terms.tags.end());
  as.tags = tags;
  const Key key = home.KeyOf(key_);
  if (value_->is_string()) return home.Adopt(key, value_->TakeString(), nullptr, as, now), true;
  if (rich_->Size() == 0) return false;
  home.Adopt(key, StringValue::Text(""), std::move(rich_), as, now);
  return true;
}

void Loader::Drop(std::unique_ptr<RichValue> value) noexcept {
  if (value != nullptr) server_.databases.Bury(std::move(value));
}

// For every key, the sum over the accounts would take longer than loading a small key.
void Loader::LookAtMemory() noexcept {
  const uint64_t maxmemory = server_.options.settings().maxmemory.bytes;
  all_if_full_ = maxmemory != 0 ? server_.memory.AllWith(maxmemory) : UINT64_MAX;
}

bool Loader::IsFull() const noexcept {
  const auto maxkeys = static_cast<uint64_t>(server_.options.settings().maxkeys);
  if (claims_->Overwhelmed() || (maxkeys != 0 && server_.databases.total_keys() >= maxkeys)) return true;
  return server_.memory.All() >= all_if_full_;
}

void Loader::ShowProgress() noexcept {
  SaveFigures& figures = server_.stats.saves;
  figures.load_done_bytes = window_at_ + in_.at();
  figures.load_keys = result_.keys;
  figures.load_expired = result_.expired;
  figures.load_skipped = result_.skipped + result_.homeless;
  account_bytes_ = running() ? window_.capacity() + FileReader::kAhead * FileReader::kChunkBytes : 0;
}

LoadResult Loader::End(Now now) noexcept {
  ShowProgress();
  result_.bytes = window_at_ + in_.at();
  result_.took_ms = now.mono_ms - began_.mono_ms;
  reader_.reset();
  claims_.reset();
  Drop(value_->TakeRich());
  Drop(std::move(rich_));
  value_.reset();
  facts_ = {};
  window_ = {};
  in_ = rdb::In();
  window_at_ = 0;
  account_bytes_ = 0;
  server_.stats.saves.loading = false;
  return std::exchange(result_, {});
}

}  // namespace mayfly
