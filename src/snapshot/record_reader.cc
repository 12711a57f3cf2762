#include "snapshot/record_reader.h"

#include <algorithm>
#include <utility>

#include "base/text/numbers.h"
#include "cache/entry/entry.h"
#include "config/words.h"
#include "snapshot/event_fields.h"
#include "snapshot/format/types.h"
#include "snapshot/load_terms.h"
#include "snapshot/use_order.h"
#include "snapshot/values/function_text.h"

namespace mayfly {

using rdb::ReadStatus;
using rdb::ValueStatus;

namespace {

// Opcodes are the highest numbers of a byte. Newer servers have given away the numbers from here on.
constexpr uint8_t kLowestOpcode = 242;

// A cluster has 16,384 slots.
constexpr uint64_t kMostSlotRanges = 16384;

// A hostile file may have millions of unknown fields before a key.
constexpr size_t kMostLeftOutBytes = 200;

constexpr std::string_view kDamagedValue = "a damaged value";

bool IsOwnField(std::string_view name) noexcept {
  return name == KeyTerms::kField || name == MemberTerms::kField || name == kIdleField || name == kEarlyField;
}

bool IsEventField(std::string_view name) noexcept {
  return name == EventFields::kNext || name == EventFields::kRecords;
}

// True for the fields about the file that this Mayfly, an earlier one or Redis writes.
bool IsFileField(std::string_view name) noexcept {
  constexpr std::string_view kNames[] = {"redis-ver",   "redis-bits",        "ctime",      "used-mem",
                                         "aof-base",    "aof-preamble",      "mayfly-ver", "repl-id",
                                         "repl-offset", kStreamDatabaseField};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

// A field about a key, for people.
std::string_view WordsFor(std::string_view own_field) noexcept {
  if (own_field == KeyTerms::kField) return "terms";
  return own_field == MemberTerms::kField ? "deadlines of members" : "the time of use";
}

bool IsOk(ReadStatus status) noexcept { return status == ReadStatus::kOk; }

// Skips a fact about the next key.
bool SkipsFact(rdb::In& in, uint8_t opcode) noexcept {
  uint64_t number = 0;
  switch (opcode) {
    case rdb::opcode::kAux:
      return IsOk(in.SkipString()) && IsOk(in.SkipString());
    case rdb::opcode::kDeadlineMs:
      return IsOk(in.Skip(sizeof(int64_t)));
    case rdb::opcode::kIdle:
      return IsOk(in.Length(number));
    case rdb::opcode::kFrequency:
      return IsOk(in.Skip(1));
    default:
      return false;
  }
}

}  // namespace

RecordReader::RecordReader(FileReader& file, std::string path, RecordSink& sink,
                           const rdb::ValueLimits& limits, Rules rules)
    : file_(file), path_(std::move(path)), sink_(sink), rules_(rules), value_(limits) {}

RecordReader::~RecordReader() {
  sink_.Drop(value_.TakeRich());
  sink_.Drop(std::move(rich_));
}

RecordReader::Status RecordReader::Some(Now now, size_t budget) {
  for (bool ended = false;;) {
    switch (Once(now, budget)) {
      case Step::kOk:
        if (budget == 0) return Status::kSpent;
        continue;
      case Step::kSpent:
        return Status::kSpent;
      case Step::kEnd:
        return Status::kEnd;
      case Step::kBad:
        return Status::kBad;
      case Step::kMore:
        break;
    }
    if (Refill()) continue;
    if (!file_.AtEnd(problem_)) return Status::kMore;
    if (!problem_.empty()) {
      trouble_ = Trouble::kDisk;
      return Status::kBad;
    }
    // The file's thread may have ended after the step looked. One more step then sees the end of the file.
    if (!std::exchange(ended, true)) continue;
    Damaged(state_ == State::kHead ? "this is no snapshot file" : "the file ends too early");
    return Status::kBad;
  }
}

bool RecordReader::Refill() {
  if (!file_.Take(chunk_)) return false;
  window_at_ += in_.at();
  window_.erase(0, in_.at());
  window_.append(chunk_);
  in_.SetWindow(window_);
  return true;
}

RecordReader::Step RecordReader::Once(Now now, size_t& budget) {
  switch (state_) {
    case State::kHead:
      return ReadHead();
    case State::kRecord:
      return ReadRecord(now, budget);
    case State::kValue:
      return ReadOn(now, budget);
    case State::kMembers:
      return ReadMembers(now, budget);
    case State::kModule:
      return SkipModule(now, budget);
  }
  return Step::kBad;
}

RecordReader::Step RecordReader::ReadHead() {
  const ReadStatus status = in_.FileHead(version_, valkey_);
  if (status == ReadStatus::kMore) return Step::kMore;
  if (status == ReadStatus::kBad) return Damaged("this is no snapshot file");
  const bool known =
      valkey_ ? version_ == rdb::version::kValkey9 : version_ >= 1 && version_ <= rdb::version::kNewest;
  if (!known) {
    problem_ = path_ + " has version " + std::to_string(version_) + ", which is not known";
    trouble_ = Trouble::kUnknownVersion;
    return Step::kBad;
  }
  sink_.TakeVersion(version_, valkey_);
  state_ = State::kRecord;
  return Step::kOk;
}

// An incomplete record is read again from the first byte.
RecordReader::Step RecordReader::ReadRecord(Now now, size_t& budget) {
  if (!sink_.ReadyFor(key_.idle_steps, now, budget)) return Step::kSpent;
  const size_t start = in_.at();
  const uint64_t text_before = in_.text_bytes();
  uint8_t code = 0;
  if (in_.Byte(code) != ReadStatus::kOk) return Step::kMore;
  const bool begins_value = code < kLowestOpcode;
  const Step step = begins_value ? ReadKey(code, now) : ReadOpcode(code);
  rdb::Spend(budget, (begins_value ? 0 : 1) + (in_.text_bytes() - text_before) / rdb::kBytesOfElement);
  if (step == Step::kMore) in_.Rewind(start);
  return step;
}

RecordReader::Step RecordReader::ReadOpcode(uint8_t opcode) {
  ReadStatus status = ReadStatus::kBad;
  uint64_t number = 0;
  uint64_t expiring = 0;
  int64_t time = 0;
  uint8_t byte = 0;
  switch (opcode) {
    case rdb::opcode::kEnd:
      return ReadEnd();
    case rdb::opcode::kAux:
      return ReadField();
    case rdb::opcode::kFunction:
    case rdb::opcode::kFunctionOld:
      return ReadFunction(opcode);
    case rdb::opcode::kDatabase:
      status = in_.Length(key_.database);
      if (!IsOk(status)) break;
      in_head_ = false;
      if (const std::string why = sink_.TakeDatabase(key_.database); !why.empty()) return Unusable(why);
      break;
    case rdb::opcode::kTableSizes:
      status = in_.Length(number);
      if (IsOk(status)) status = in_.Length(expiring);
      if (IsOk(status)) sink_.Expect(key_.database, number);
      break;
    case rdb::opcode::kSlotInfo:
      for (int i = 0; i < 3 && (i == 0 || IsOk(status)); ++i) status = in_.Length(number);
      break;
    case rdb::opcode::kDeadlineMs:
      status = in_.Millis(time);
      if (IsOk(status)) key_.deadline_unix_ms = time;
      break;
    case rdb::opcode::kDeadlineS:
      status = in_.Seconds(time);
      if (IsOk(status)) key_.deadline_unix_ms = time * kMsPerSecond;
      break;
    case rdb::opcode::kIdle:
      status = in_.Length(number);
      if (IsOk(status)) key_.idle_s = number;
      break;
    case rdb::opcode::kFrequency:
      status = in_.Byte(byte);
      if (IsOk(status)) key_.frequency = byte;
      break;
    case rdb::opcode::kKeyMetaOrImport:
      return valkey_ ? SkipImport() : BeginSkip(rdb::ModuleSkip::Kind::kMetadata, opcode);
    case rdb::opcode::kModuleAux:
      return BeginSkip(rdb::ModuleSkip::Kind::kValue, opcode);
    default:
      return NotKnown("a record of the unknown kind " + std::to_string(opcode));
  }
  if (status == ReadStatus::kMore) return Step::kMore;
  return IsOk(status) ? Step::kOk : Damaged("a record that cannot be read");
}

RecordReader::Step RecordReader::ReadField() {
  std::string_view name;
  std::string_view value;
  ReadStatus status = in_.String(name);
  if (IsOk(status)) status = in_.String(value);
  if (status == ReadStatus::kMore) return Step::kMore;
  if (!IsOk(status)) return Damaged("a field that cannot be read");
  if (ours_ && IsOwnField(name)) {
    if (!ReadOwnField(name, value)) LeaveOut(WordsFor(name));
    return Step::kOk;
  }
  if (name == "mayfly-ver") ours_ = true;
  sink_.TakeField(name, value);
  if (ours_) ReadFileField(name, value);
  return Step::kOk;
}

// An unknown field between keys is one of the next key's, as most of Mayfly's are.
void RecordReader::ReadFileField(std::string_view name, std::string_view value) {
  const bool good = IsEventField(name) ? sink_.TakeEvents(name, value) : IsFileField(name);
  if (good) return;
  in_head_ ? sink_.TakeLostField(config::Printable(name)) : LeaveOut(config::Printable(name));
}

void RecordReader::LeaveOut(std::string_view what) {
  std::string& all = key_.left_out;
  if (all.size() < kMostLeftOutBytes) all.append(all.empty() ? "" : ", ").append(what);
}

bool RecordReader::ReadOwnField(std::string_view name, std::string_view value) {
  if (name == KeyTerms::kField) {
    const bool good = ReadKeyTerms(value, key_.terms);
    if (!good) key_.terms = {};
    return good;
  }
  if (name == MemberTerms::kField) return true;  // of a value that does not exist
  return ReadIdle(name, value);
}

bool RecordReader::ReadIdle(std::string_view name, std::string_view value) {
  const std::optional<int64_t> steps = ParseInteger(value);
  constexpr auto kMost = int64_t{Entry::kTimeMask};
  if (!steps || *steps < -kMost || *steps > kMost) return false;
  const int64_t idle = *steps + (name == kIdleField ? static_cast<int64_t>(key_.idle_steps) : 0);
  if (idle < 0 || idle > kMost) return false;
  if (name == kEarlyField)
    key_.early_steps = static_cast<uint64_t>(idle);
  else
    key_.idle_steps = static_cast<uint64_t>(idle);
  return true;
}

// Skips the job of an import, and the job's ranges of slots.
RecordReader::Step RecordReader::SkipImport() {
  uint64_t ranges = 0;
  uint64_t slot = 0;
  ReadStatus status = in_.SkipString();
  if (IsOk(status)) status = in_.Length(ranges);
  if (IsOk(status) && ranges > kMostSlotRanges) status = ReadStatus::kBad;
  for (uint64_t i = 0; i < 2 * ranges && IsOk(status); ++i) status = in_.Length(slot);
  if (status == ReadStatus::kMore) return Step::kMore;
  return IsOk(status) ? Step::kOk : Damaged("a record that cannot be read");
}

RecordReader::Step RecordReader::BeginSkip(rdb::ModuleSkip::Kind kind, uint8_t code) {
  if (!rules_.skips_unknown)
    return NotKnown("a record of a module, number " + std::to_string(code) + ", and rdb-skip-unknown is no");
  module_ = rdb::ModuleSkip(kind);
  skips_value_ = false;
  state_ = State::kModule;
  return Step::kOk;
}

RecordReader::Step RecordReader::ReadFunction(uint8_t opcode) {
  std::string text;
  std::string_view part;
  const ReadStatus status = rdb::ReadFunction(in_, opcode, text, part);
  if (status == ReadStatus::kMore) return Step::kMore;
  if (!IsOk(status)) return Damaged("a library of functions that cannot be read");
  sink_.TakeFunction(text);
  return Step::kSpent;  // to run a library may take as long as many elements
}

RecordReader::Step RecordReader::ReadKey(uint8_t type, Now now) {
  std::string_view name;
  if (!sink_.WantsKey()) return Step::kEnd;
  const ReadStatus status = in_.String(name);
  if (status == ReadStatus::kMore) return Step::kMore;
  if (!IsOk(status)) return Damaged("a key that cannot be read");
  key_.name = name;
  in_head_ = false;
  state_ = State::kValue;
  const bool ttls = ours_ && !HasWallMembers();
  if (value_.Begin(type, {.home = sink_.HomeOf(key_.database),
                          .now = now,
                          .valkey = valkey_,
                          .ttls = ttls,
                          .keeps_due = rules_.keeps_due}))
    return Step::kOk;
  if (type != rdb::type::kModule) return NotKnown("a value of the unknown type " + std::to_string(type));
  const Step begun = BeginSkip(rdb::ModuleSkip::Kind::kValue, type);
  skips_value_ = true;
  return begun;
}

RecordReader::Step RecordReader::ReadOn(Now now, size_t& budget) {
  const uint64_t read = window_at_ + window_.size();
  value_.SetFollowing(file_.file_bytes() - std::min(file_.file_bytes(), read));
  const ValueStatus status = value_.Some(in_, budget);
  if (status == ValueStatus::kMore) return Step::kMore;
  if (status == ValueStatus::kSpent) return Step::kSpent;
  if (status == ValueStatus::kBad) return Damaged(kDamagedValue);
  budget -= budget != 0 ? 1 : 0;
  if (status == ValueStatus::kRefused) return Refuse(kDamagedValue);
  if (status == ValueStatus::kDone) rich_ = value_.TakeRich();
  const bool may_be_timed =
      ours_ && rich_ != nullptr && (rich_->type == ValueType::kSet || rich_->type == ValueType::kSortedSet);
  if (!may_be_timed) return Hand(status, now);
  state_ = State::kMembers;
  return Step::kOk;
}

// Leaves all records except deadlines of members to ReadRecord.
RecordReader::Step RecordReader::ReadMembers(Now now, size_t& budget) {
  if (!members_.done()) {
    if (!members_.GiveSome(
            *rich_,
            {.wall = HasWallMembers(), .keeps_due = rules_.keeps_due, .home = sink_.HomeOf(key_.database)},
            now, budget)) {
      LeaveOut(WordsFor(MemberTerms::kField));
      members_ = {};
    }
    return members_.done() ? Step::kOk : Step::kSpent;
  }
  const size_t start = in_.at();
  uint8_t code = 0;
  std::string_view name;
  std::string_view value;
  ReadStatus status = in_.Byte(code);
  if (IsOk(status) && code == rdb::opcode::kAux) {
    status = in_.String(name);
    if (IsOk(status)) status = in_.String(value);
  }
  if (IsOk(status) && name == MemberTerms::kField) {
    members_.Begin(value);
    return Step::kOk;
  }
  in_.Rewind(start);
  return status == ReadStatus::kMore ? Step::kMore : Hand(ValueStatus::kDone, now);
}

RecordReader::Step RecordReader::SkipModule(Now now, size_t& budget) {
  const ValueStatus status = module_.Some(in_, budget);
  if (status == ValueStatus::kMore) return Step::kMore;
  if (status == ValueStatus::kSpent) return Step::kSpent;
  if (status != ValueStatus::kDone) return Damaged("a damaged record of a module");
  if (skips_value_) return Hand(ValueStatus::kEmpty, now);
  state_ = State::kRecord;
  sink_.TakeModuleRecord();
  return Step::kOk;
}

void RecordReader::LookAhead() noexcept {
  constexpr int kMostFacts = 3;  // nearly all keys have fewer facts before them
  rdb::In next(in_.rest());
  rdb::StringHead head;
  std::string_view name;
  uint8_t code = 0;
  for (int i = 0; i <= kMostFacts; ++i) {
    if (!IsOk(next.Byte(code))) return;
    if (code < kLowestOpcode) break;
    if (!SkipsFact(next, code)) return;
  }
  const bool is_there = code < kLowestOpcode && IsOk(next.HeadOfString(head)) &&
                        head.kind == rdb::StringHead::Kind::kRaw && IsOk(next.Bytes(head.stored, name));
  if (is_there) sink_.PrefetchKey(key_.database, name);
}

RecordReader::Step RecordReader::Hand(ValueStatus status, Now now) {
  LookAhead();
  const bool of_module = state_ == State::kModule;
  state_ = State::kRecord;
  const RecordSink::Answer answer = sink_.TakeKey(
      key_, {.status = status, .of_module = of_module, .reader = value_, .rich = std::move(rich_)}, now);
  sink_.Drop(value_.TakeRich());  // of an incomplete value
  ForgetKey();
  return answer == RecordSink::Answer::kNext ? Step::kOk : Step::kEnd;
}

void RecordReader::ForgetKey() {
  const FileKey last = std::exchange(key_, {});
  key_.database = last.database;
  key_.idle_steps = last.idle_steps;
}

RecordReader::Step RecordReader::Refuse(std::string_view what) {
  const std::string located = Located(what);
  if (first_refused_.empty()) first_refused_ = located;
  state_ = State::kRecord;
  sink_.TakeRefused(located);
  sink_.Drop(value_.TakeRich());
  sink_.Drop(std::move(rich_));
  ForgetKey();
  return Step::kOk;
}

// The reader is at the end after the checksum. A file and a second one after it have the checksum of one file together.
RecordReader::Step RecordReader::ReadEnd() {
  const bool has_checksum = valkey_ || version_ >= rdb::version::kChecksum;
  uint64_t wanted = 0;
  if (has_checksum && in_.Checksum(wanted) != ReadStatus::kOk) return Step::kMore;
  goes_on_ = goes_on_ || !in_.rest().empty();
  for (std::string rest; file_.Take(rest);) goes_on_ = goes_on_ || !rest.empty();
  if (!file_.AtEnd(problem_)) return Step::kMore;
  if (!problem_.empty()) {
    trouble_ = Trouble::kDisk;
    return Step::kBad;
  }
  if (goes_on_) return Damaged("bytes follow its end");
  summed_ = wanted != 0;
  const bool right = summed_ && wanted == file_.crc();
  if (summed_ && !right && rules_.verifies) return Damaged("the checksum is wrong");
  if (!key_.left_out.empty()) sink_.TakeLostField(key_.left_out);  // no key follows
  return first_refused_.empty() || right ? Step::kEnd : Damaged({});
}

// The first refused key, if there is one, was the first damage.
RecordReader::Step RecordReader::Damaged(std::string_view what) {
  problem_ = path_ + " is damaged at " + (first_refused_.empty() ? Located(what) : first_refused_);
  trouble_ = Trouble::kDamaged;
  return Step::kBad;
}

RecordReader::Step RecordReader::NotKnown(const std::string& what) {
  Damaged(what);
  trouble_ = Trouble::kUnknownKind;
  return Step::kBad;
}

std::string RecordReader::Located(std::string_view what) const {
  std::string located = "byte " + std::to_string(read_bytes());
  if (state_ == State::kValue || state_ == State::kMembers || (state_ == State::kModule && skips_value_))
    located += ", key " + config::Printable(key_.name);
  return located.append(": ").append(what);
}

RecordReader::Step RecordReader::Unusable(std::string_view why) {
  problem_ = path_ + ' ' + std::string(why);
  trouble_ = Trouble::kUnusable;
  return Step::kBad;
}

}  // namespace mayfly
