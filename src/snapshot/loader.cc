#include "snapshot/loader.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "base/bits/key_slot.h"
#include "base/log/log.h"
#include "base/text/numbers.h"
#include "cache/keyspace/adopter.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/memory/memory_meter.h"
#include "server/cluster/cluster.h"
#include "server/figures/stats.h"
#include "server/function_libraries.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "server/watch/event_log.h"
#include "snapshot/event_fields.h"
#include "snapshot/slice_time.h"
#include "snapshot/value_limits.h"

namespace mayfly {

using rdb::ValueStatus;

using Status = RecordReader::Status;

namespace {

// A hostile file may have millions of bad libraries, values, lengths or fields.
constexpr uint64_t kMostRefusalsTold = 10;

std::string_view EndingOf(RecordReader::Trouble trouble) noexcept {
  switch (trouble) {
    case RecordReader::Trouble::kDamaged:
    case RecordReader::Trouble::kUnknownKind:
      return kDamagedEnding;
    case RecordReader::Trouble::kUnknownVersion:
      return kUnknownEnding;
    case RecordReader::Trouble::kUnusable:
      return {};
    default:
      return kUnreadEnding;  // the disk's fault, or no memory
  }
}

}  // namespace

Loader::Loader(Server& server, Disk& disk, std::function<void(const LoadResult&)> ended)
    : Step(server.sliced_work),
      Listener(server.hubs.wakes),
      server_(server),
      disk_(disk),
      ended_(std::move(ended)),
      account_(server.hubs.accounts, account_bytes_) {}

Loader::~Loader() = default;

std::string Loader::Begin(const std::string& path, LoadTerms terms, Now now) {
  assert(!running());
  std::string problem;
  auto file =
      std::make_unique<FileReader>(disk_, path, [&wakes = server_.hubs.wakes] { wakes.Signal(); }, problem);
  if (!problem.empty()) return problem;
  const config::Settings& settings = server_.options.settings();
  FunctionLibraries* const libraries = FunctionLibraries::Of(server_);
  reader_.emplace(*file, path, static_cast<RecordSink&>(*this), ValueLimitsOf(settings),
                  RecordReader::Rules{.skips_unknown = settings.rdb_skip_unknown,
                                      .verifies = settings.rdbchecksum,
                                      .keeps_due = terms.from_master,
                                      .wall_members = terms.from_master});
  if (terms.flush) server_.databases.FlushAll(now);
  if (terms.flush && libraries != nullptr) libraries->Flush();
  claims_.emplace(server_.databases, /*of_keys=*/!terms.file_wins);
  if (terms.from_master) old_keys_.emplace(server_.databases);
  server_.databases.HoldTasks();
  libraries_ = libraries;
  if (libraries_ != nullptr) libraries_->BeginLoad();
  file_ = std::move(file);
  terms_ = terms;
  began_ = now;
  early_ = {};
  read_ = false;
  has_room_ = true;
  wrong_lengths_ = 0;
  result_ = {};
  SaveFigures& figures = server_.stats.saves;
  figures.loading = true;
  figures.load_began_mono_ms = now.mono_ms;
  figures.load_file_bytes = file_->file_bytes();
  ShowProgress();
  Announce();
  return {};
}

LoadResult Loader::LoadNow() {
  assert(running());
  Status status = Status::kSpent;
  while (status == Status::kSpent || status == Status::kMore) {
    if (status == Status::kMore) file_->Wait();
    status = Work(server_.clock.Read(), std::numeric_limits<uint32_t>::max());
  }
  return End(server_.clock.Read());
}

LoadResult Loader::Stop() {
  assert(running());
  return End(server_.clock.Read());
}

Log* Loader::log() const noexcept { return terms_.quiet ? nullptr : server_.log; }

bool Loader::DoSome(Now now, size_t budget) noexcept {
  if (!running()) return false;
  if (server_.Busy()) return false;  // the script's end is signalled
  const uint64_t began = ReadCycles();
  const Status status = Work(now, budget);
  NoteSlice(server_, LatencyMonitor::kLoad, began, now);
  ShowProgress();
  if (status == Status::kSpent) return true;
  if (status != Status::kMore) ended_(End(now));
  return false;
}

// Early keys that are left are moved at the end, whatever the reason for the end.
RecordReader::Status Loader::Work(Now now, size_t budget) noexcept {
  LookAtMemory();
  try {
    if (!read_) {
      const Status status = reader_->Some(now, budget);
      if (status == Status::kSpent || status == Status::kMore) return status;
      read_ = true;
    }
    if (!ReadyFor(UINT64_MAX, now, budget)) return Status::kSpent;
    const bool whole = reader_->trouble() == RecordReader::Trouble::kNone;
    if (whole && old_keys_ && !old_keys_->RemoveSome(now, budget)) return Status::kSpent;
    return Status::kEnd;
  } catch (const std::bad_alloc&) {
    result_.problem = "out of memory";  // short enough to need none
    return Status::kBad;
  }
}

void Loader::OnSignal() noexcept {
  if (running()) Announce();
}

// ---- what the file has

// A master's libraries take the place of the present ones, if the file is of use.
void Loader::TakeVersion(unsigned, bool) {
  if (libraries_ == nullptr || !terms_.from_master) return;
  libraries_->EndLoad();
  libraries_->Flush();
  libraries_->BeginLoad();
}

void Loader::TakeField(std::string_view name, std::string_view value) {
  if (name == kStreamDatabaseField) {
    const std::optional<uint64_t> database = ParseUnsigned(value);
    if (database && *database <= UINT32_MAX) result_.stream_database = static_cast<unsigned>(*database);
  }
}

bool Loader::TakeEvents(std::string_view name, std::string_view value) {
  const bool good = name == EventFields::kNext ? ReadNextEvent(value, server_.event_log)
                                               : ReadEvents(value, server_.event_log);
  result_.outlives_flush |= good;
  return good;
}

void Loader::NoteLost(std::string_view what, std::string_view key) noexcept {
  if (++result_.lost > kMostRefusalsTold || log() == nullptr) return;
  try {
    log()->Warning("a field of the snapshot file is left out, for it cannot be read: ", what,
                   key.empty() ? "" : ", of the key ", config::Printable(key));
  } catch (const std::bad_alloc&) {  // the line is left out, too
  }
}

// As in Redis, a database counts even if it has no keys. A master's keys are not lost if they are left out.
std::string Loader::TakeDatabase(uint64_t database) {
  const unsigned count = server_.databases.count();
  if (database < count || terms_.from_master) return {};
  return "has keys of database " + std::to_string(database) + ", and the option databases is " +
         std::to_string(count) + ", too small for this file";
}

void Loader::TakeRefused(std::string_view what) {
  ++result_.refused_values;
  if (log() != nullptr && result_.refused_values <= kMostRefusalsTold)
    log()->Warning("a key of the file is left out: ", what);
}

bool Loader::ReadyFor(uint64_t idle_steps, Now now, size_t& budget) {
  return !early_.AnyBefore(idle_steps) || early_.MoveThoseBefore(idle_steps, *claims_, now, budget);
}

void Loader::TakeFunction(std::string_view text) {
  std::string problem = "this server has no scripts";
  const auto adoption = libraries_ != nullptr ? libraries_->Adopt(text, terms_.file_wins, problem)
                                              : FunctionLibraries::Adoption::kRefused;
  switch (adoption) {
    case FunctionLibraries::Adoption::kLoaded:
      ++result_.libraries;
      result_.outlives_flush = true;
      break;
    case FunctionLibraries::Adoption::kOvertaken:
      ++result_.overtaken;
      break;
    case FunctionLibraries::Adoption::kRefused:
      ++result_.refused;
      if (log() != nullptr && result_.refused <= kMostRefusalsTold)
        log()->Warning("a library of functions is left out: ", config::Printable(problem));
      break;
  }
}

// Any home will do for a value that will be dropped.
MemberHome Loader::HomeOf(uint64_t database) noexcept {
  Keyspace* const home = claims_->HomeOf(database);
  return home != nullptr ? home->home() : server_.databases.At(0).home();
}

// A file of few bytes cannot have many keys, whatever it says; and no more come than there is room for.
void Loader::Expect(uint64_t database, uint64_t keys) noexcept {
  constexpr uint64_t kFileBytesOfKey = 16;
  constexpr uint64_t kEntryBytes = 40;  // beside key and value
  const config::Settings& settings = server_.options.settings();
  Keyspace* const home = claims_->HomeOf(database);
  const uint64_t bytes = file_->file_bytes();
  keys = std::min(keys, bytes / kFileBytesOfKey);
  if (home == nullptr || keys == 0) return;
  if (settings.maxkeys != 0) keys = std::min(keys, static_cast<uint64_t>(settings.maxkeys));
  if (const uint64_t most = settings.maxmemory.bytes; most != 0)
    keys = std::min(keys, most / (bytes / keys + kEntryBytes));
  Adopter(*home).Expect(keys);
}

void Loader::PrefetchKey(uint64_t database, std::string_view key) noexcept {
  if (Keyspace* const home = claims_->HomeOf(database)) Adopter(*home).Prefetch(key);
}

RecordSink::Answer Loader::TakeKey(const FileKey& key, ReadValue value, Now now) {
  if (!key.left_out.empty()) NoteLost(key.left_out, key.name);
  switch (value.status) {
    case ValueStatus::kExpired:
      ++result_.expired;
      if (const Keyspace* const home = claims_->HomeOf(key.database))
        LogExpired(*home, key, value.reader, now.wall_ms);
      break;
    case ValueStatus::kDone:
      if (value.reader.wrong_length() && log() != nullptr && ++wrong_lengths_ <= kMostRefusalsTold)
        log()->Warning("the stream ", config::Printable(key.name),
                       " says a wrong length in the file; its true length counts");
      AdoptKey(key, value, now);
      Drop(std::move(value.rich));
      break;
    default:
      ++(value.of_module ? result_.modules : result_.empty);
      break;
  }
  if (claims_->AllFlushed()) return Answer::kEnough;
  has_room_ = !IsFull();
  return Answer::kNext;
}

bool Loader::WantsKey() noexcept {
  result_.full = !has_room_;
  return has_room_ && !Overwhelmed();
}

void Loader::AdoptKey(const FileKey& from, ReadValue& value, Now now) {
  Keyspace* const home = claims_->HomeOf(from.database);
  if (home == nullptr) {
    ++(from.database < server_.databases.count() ? result_.overtaken : result_.homeless);
    return;
  }
  const bool may_be_elsewhere = server_.cluster != nullptr && !terms_.from_master;
  if (may_be_elsewhere && !server_.cluster->map().Holds(SlotOf(from.name))) {
    ++result_.homeless;
    return;
  }
  try {
    // A task that came due meanwhile is delivered when the load has ended.
    const bool expires = !from.terms.IsTask() && (!terms_.from_master || from.terms.expired);
    if (expires && from.deadline_unix_ms && *from.deadline_unix_ms <= now.wall_ms)
      return AdoptExpired(*home, from, value, now);
    if (value.rich != nullptr && value.rich->Size() == 0) {  // the deadlines of all members are over
      ++result_.expired;
      return LogExpired(*home, from, value.reader, now.wall_ms);
    }
    const Key key = home->KeyOf(from.name);
    if (!MayCome(*home, key, from, now)) {
      ++result_.overtaken;
      return;
    }
    Adopt(*home, key, from, value, now);
    ++result_.keys;
  } catch (const OwnersExhausted&) {
    ++result_.shareless;
  }
}

bool Loader::MayCome(Keyspace& home, const Key& key, const FileKey& from, Now now) {
  const ShownExpired shown(server_.databases);
  Entry* const existing = home.Peek(key, now);
  if (!terms_.file_wins) return existing == nullptr && claims_->MayCome(home, key, from.terms.tags);
  if (existing != nullptr) Adopter(home).GiveWay(key, *existing);
  return true;
}

// REQUIRES: the deadline is over.
void Loader::AdoptExpired(Keyspace& home, const FileKey& from, ReadValue& value, Now now) {
  const int64_t deadline = *from.deadline_unix_ms;
  const KeyTerms& terms = from.terms;
  if (!terms.expired) {
    ++result_.expired;
    LogExpired(home, from, value.reader, deadline);
  }
  const auto gone_ms = static_cast<uint64_t>(now.wall_ms) - static_cast<uint64_t>(deadline);
  if (!value.reader.is_string() || terms.stale_ms <= gone_ms) return;
  const Key key = home.KeyOf(from.name);
  if (!MayCome(home, key, from, now)) return;
  const std::vector<std::string_view> tags(terms.tags.begin(), terms.tags.end());
  const Expiry::Kind clock = terms.wall ? Expiry::Kind::kWall : Expiry::Kind::kRelative;
  home.stale().Drop(key);
  result_.stale += Adopter(home).PutStale(key, value.reader.TakeString(),
                                          {.expiry = {clock, Expiry::NowOn(clock, now)},
                                           .terms = {.stale_ms = terms.stale_ms - gone_ms},
                                           .tags = tags},
                                          now);
}

void Loader::LogExpired(const Keyspace& home, const FileKey& key, const rdb::ValueIn& value,
                        int64_t unix_ms) {
  const std::optional<std::string_view> text = value.is_string() ? std::optional(value.text()) : std::nullopt;
  server_.event_log.NoteExpired(home.database(), key.name, unix_ms, text);
}

// A past deadline may lie before the monotonic clock's begin. A master reports expiry in Unix time (replication/cutoff.h):
// deadlines of a master's keys stay Unix times. Only a TTL slides: a deadline with SLIDE becomes a TTL.
Expiry Loader::ExpiryOf(const FileKey& key, Now now) const noexcept {
  if (!key.deadline_unix_ms) return Expiry::Never();
  const Expiry wall = Expiry::At(std::max<int64_t>(*key.deadline_unix_ms, 0));
  if (terms_.from_master)
    return key.terms.slide_ms == 0 ? wall
                                   : Expiry(Expiry::Kind::kRelative, wall.On(Expiry::Kind::kRelative, now));
  if (key.terms.wall || !reader_->ours() || *key.deadline_unix_ms <= now.wall_ms) return wall;
  return Expiry::In(static_cast<uint64_t>(*key.deadline_unix_ms - now.wall_ms), now);
}

uint64_t Loader::IdleSteps(const FileKey& key) const noexcept {
  if (key.early_steps) return *key.early_steps;
  if (reader_->ours()) return key.idle_steps;
  constexpr uint64_t kMostS = uint64_t{Entry::kTimeMask} * Entry::kStampMs / kMsPerSecond;
  return std::min(key.idle_s.value_or(0), kMostS) * kMsPerSecond / Entry::kStampMs;
}

void Loader::Adopt(Keyspace& home, const Key& key, const FileKey& from, ReadValue& value, Now now) {
  const KeyTerms& terms = from.terms;
  Adoption as{.expiry = ExpiryOf(from, now)};
  if (value.rich == nullptr) as.terms.stale_ms = terms.stale_ms;  // only a string has a window
  if (as.expiry.kind == Expiry::Kind::kRelative) as.terms.slide_ms = terms.slide_ms;
  if (terms.slide_until_unix_ms > now.wall_ms)
    as.terms.slide_until_ms = now.mono_ms + static_cast<uint64_t>(terms.slide_until_unix_ms - now.wall_ms);
  if (as.expiry.kind == Expiry::Kind::kNever) as.terms = {};
  as.stamp = (Entry::StampOf(now.mono_ms) - static_cast<uint32_t>(IdleSteps(from))) & Entry::kTimeMask;
  if (from.frequency) as.stamp = Entry::CountedStamp(*from.frequency, now.mono_ms);
  const std::vector<std::string_view> tags(terms.tags.begin(), terms.tags.end());
  as.tags = tags;
  if (old_keys_) old_keys_->Keep(home, key.hash);
  if (value.rich != nullptr)
    Adopter(home).Put(key, StringValue::Text(""), std::move(value.rich), as, now);
  else
    Adopter(home).Put(key, value.reader.TakeString(), nullptr, as, now);
  if (from.early_steps && server_.databases.access_effect() == AccessEffect::kRecency)
    early_.Add(from.database, from.name, *from.early_steps, as.stamp);
}

void Loader::Drop(std::unique_ptr<RichValue> value) noexcept {
  if (value != nullptr) server_.databases.Bury(std::move(value));
}

// Once a slice: the sum over the accounts takes longer than loading a small key.
void Loader::LookAtMemory() noexcept {
  const uint64_t maxmemory = server_.options.settings().maxmemory.bytes;
  all_if_full_ = maxmemory != 0 ? server_.memory.AllWith(maxmemory) : UINT64_MAX;
}

bool Loader::IsFull() const noexcept {
  if (terms_.from_master) return false;
  const auto maxkeys = static_cast<uint64_t>(server_.options.settings().maxkeys);
  if (maxkeys != 0 && server_.databases.total_keys() >= maxkeys) return true;
  return server_.memory.All() >= all_if_full_;
}

void Loader::ShowProgress() noexcept {
  SaveFigures& figures = server_.stats.saves;
  figures.load_done_bytes = reader_->read_bytes();
  figures.load_keys = result_.keys;
  figures.load_expired = result_.expired;
  figures.load_skipped =
      result_.empty + result_.modules + result_.homeless + result_.refused_values + result_.shareless;
  account_bytes_ = reader_->window_bytes() + early_.bytes() + FileReader::kAhead * FileReader::kChunkBytes;
  if (claims_) account_bytes_ += claims_->bytes();
  if (old_keys_) account_bytes_ += old_keys_->bytes();
}

LoadResult Loader::End(Now now) noexcept {
  ShowProgress();
  result_.bytes = reader_->read_bytes();
  result_.took_ms = now.mono_ms - began_.mono_ms;
  if (std::string problem = reader_->TakeProblem(); result_.problem.empty())
    result_.problem = std::move(problem);
  if (!result_.problem.empty()) result_.ending = EndingOf(reader_->trouble());
  result_.overwhelmed = Overwhelmed();
  result_.unusable = reader_->trouble() == RecordReader::Trouble::kUnusable;
  result_.not_known = reader_->trouble() == RecordReader::Trouble::kUnknownVersion ||
                      reader_->trouble() == RecordReader::Trouble::kUnknownKind;
  if (libraries_ != nullptr) libraries_->EndLoad();
  libraries_ = nullptr;
  for (unsigned i = 0; i < server_.databases.count(); ++i) Adopter(server_.databases.At(i)).Expect(0);
  reader_.reset();
  file_.reset();
  claims_.reset();
  old_keys_.reset();
  server_.databases.ReleaseTasks(now);
  early_ = {};
  account_bytes_ = 0;
  server_.stats.saves.loading = false;
  return std::exchange(result_, {});
}

}  // namespace mayfly
