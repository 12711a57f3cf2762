#include "snapshot/saver.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <system_error>
#include <utility>

#include "cache/keyspace/databases.h"
#include "cache/keyspace/entry_memory.h"
#include "cache/time/lifetime.h"
#include "config/sources/options.h"
#include "exec/info/identity.h"
#include "exec/memory/memory_meter.h"
#include "server/figures/stats.h"
#include "server/function_libraries.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "snapshot/client_stream.h"
#include "snapshot/event_fields.h"
#include "snapshot/format/types.h"
#include "snapshot/key_terms.h"
#include "snapshot/load_terms.h"
#include "snapshot/slice_time.h"
#include "snapshot/use_order.h"
#include "snapshot/values/function_text.h"
#include "snapshot/values/member_terms.h"
#include "snapshot/values/value_out.h"

namespace mayfly {
namespace {

constexpr unsigned kNoDatabase = ~0U;

// The smallest version that carries all present keys.
unsigned VersionFor(const Databases& databases) noexcept {
  for (unsigned i = 0; i < databases.count(); ++i) {
    if (databases.At(i).lifetimes().deadlines().with_timed_fields() != 0) return rdb::version::kRedis74;
  }
  return rdb::version::kRedis70;
}

}  // namespace

Saver::Saver(Server& server, Disk& disk, std::function<void(const SaveResult&)> ended)
    : HalfSavedHost(server.databases),
      Step(server.sliced_work),
      Listener(server.hubs.wakes),
      server_(server),
      disk_(disk),
      ended_(std::move(ended)),
      account_(server.hubs.accounts, account_bytes_),
      side_(&buffered_bytes) {}

Saver::~Saver() {
  if (walk_ != nullptr) walk_->Abandon();
  for (const auto& value : values_) value->GiveUp();
  while (!UnwindSome(kChunkBytes)) {
  }
}

// ---- one save

void Saver::Prepare(const StreamTerms& terms, uint64_t log_bytes, Now now) {
  assert(!running());
  plain = terms.plain;
  SaveFigures& figures = server_.stats.saves;
  compression =
      server_.options.settings().rdbcompression ? rdb::Compression::kQuickLzf : rdb::Compression::kNone;
  problem_.clear();
  chunk_.clear();
  database_ = kNoDatabase;
  first_begun_ = false;
  idle_steps_ = 0;
  most_aside_bytes_ = MostAside(server_.memory.Used());
  began = now;
  // Due keys are saved at a replica, since its master may still give another deadline, and before a handover.
  const bool keeps_due = server_.databases.expired_keys() == ExpiredKeys::kHidden;
  alive_at = keeps_due ? now.Begin() : now;
  figures.keys_done = 0;
  figures.keys_total = terms.parts.keys ? server_.databases.total_keys() : 0;
  WriteHead(terms, log_bytes, now, chunk_);
  if (terms.parts.keys) WriteTableSizes();
}

void Saver::Start(std::unique_ptr<SaveTarget> target, SaveParts parts, Now now) {
  if (parts.keys)
    walk_ = std::make_unique<SnapshotWalk>(server_.databases, static_cast<SnapshotVisitor&>(*this), alive_at);
  target_ = std::move(target);
  SaveFigures& figures = server_.stats.saves;
  changes_at_begin_ = server_.databases.changes().by_clients();
  figures.running_since_mono_ms = now.mono_ms;
  Announce();
}

FileWriter& Saver::BeginFile(uint64_t log_bytes, Now now) {
  const config::Settings& settings = server_.options.settings();
  Prepare({}, log_bytes, now);
  auto writer = std::make_unique<FileWriter>(disk_,
                                             FileWriter::Target{.folder = settings.dir.path,
                                                                .name = settings.dbfilename,
                                                                .temporary = TemporaryName(server_.run_id),
                                                                .checksum = settings.rdbchecksum},
                                             [&wakes = server_.hubs.wakes] { wakes.Signal(); });
  FileWriter& file = *writer;
  Start(std::move(writer), {}, now);
  return file;
}

void Saver::BeginStream(Session& client, const StreamTerms& terms, Now now) {
  Prepare(terms, kLogBytes, now);
  auto stream =
      std::make_unique<ClientStream>(server_, client, terms, server_.options.settings().rdbchecksum, now);
  const ClientStream* const started = stream.get();
  Start(std::move(stream), terms.parts, now);
  stream_ = started;
  if (terms.parts.keys) return;
  try {
    Finish();
  } catch (const std::bad_alloc&) {
    Fail("out of memory");
  }
}

bool Saver::IsFor(const Session& client) const noexcept {
  return stream_ != nullptr && stream_->IsFor(client);
}

bool Saver::Cancel() noexcept {
  if (target_ == nullptr || !problem_.empty()) return true;
  if (!target_->Abandon()) return false;
  cancelled_ = true;
  Fail("cancelled");
  return true;
}

void Saver::EndFile(Now now) noexcept {
  if (target_ == nullptr || stream_ != nullptr) return;
  static_cast<void>(Cancel());
  target_->Wait();
  ended_(End(now));
}

void Saver::GiveUp(Now now) noexcept {
  if (target_ != nullptr) {
    static_cast<void>(Cancel());
    target_->Wait();
    static_cast<void>(End(now));
  }
  while (!UnwindSome(kChunkBytes)) {
  }
}

SaveResult Saver::SaveNow(uint64_t log_bytes, Now now) {
  GiveUp(now);
  FileWriter& file = BeginFile(log_bytes, now);
  while (walk_ != nullptr && problem_.empty()) {
    SaveSome(kChunkBytes);
    if (disk_bytes() <= kPauseBytes || !problem_.empty()) continue;
    file.WaitForChunks();
    chunk_.reserve(target_->Collect().capacity());
    if (target_->state() == SaveTarget::State::kFailed) Fail(target_->problem());
  }
  while (!UnwindSome(kChunkBytes)) {
  }
  target_->Wait();
  return End(server_.clock.Read());
}

// The file has what outlives a flush: libraries of functions, and the log of removed keys.
SaveResult Saver::SaveEmptyNow(Now now) {
  const config::Settings& settings = server_.options.settings();
  std::string bytes;
  WriteHead({}, kLogBytes, now, bytes);
  bytes.push_back(static_cast<char>(rdb::opcode::kEnd));
  FileWriter file(disk_,
                  {.folder = settings.dir.path,
                   .name = settings.dbfilename,
                   .temporary = TemporaryName(server_.run_id, "empty"),
                   .checksum = settings.rdbchecksum},
                  [] {});
  file.Give(std::move(bytes));
  file.Finish();
  file.Wait();
  static_cast<void>(file.Collect());
  const uint64_t ended_ms = server_.clock.Read().mono_ms;
  SaveResult result{
      .problem = file.problem(), .bytes = file.written_bytes(), .took_ms = ended_ms - now.mono_ms};
  NoteSaved(result, server_.databases.changes().by_clients(), now);
  return result;
}

bool Saver::DoSome(Now now, size_t budget) noexcept {
  const uint64_t start = ReadCycles();
  const bool more = WalkOn(budget);
  NoteSlice(server_, LatencyMonitor::kSave, start, now);
  return more;
}

bool Saver::WalkOn(size_t budget) noexcept {
  if (!problem_.empty() || target_ == nullptr) return !UnwindSome(budget);
  if (walk_ == nullptr) return false;
  if (HalfSaved* const value = NextAside())
    PutAside(*value);
  else if (MayWrite())
    WriteOn(budget);
  CountBytes();
  const bool may_write = MayWrite() || NextAside() != nullptr;
  return walk_ != nullptr && (may_write || !problem_.empty());
}

void Saver::WriteOn(size_t budget) noexcept {
  try {
    SaveSome(budget);
  } catch (const std::bad_alloc&) {
    Fail("out of memory");
  }
}

// A long log of removed keys makes the file's head a chunk that is too long to wait for more.
bool Saver::MayWrite() const noexcept { return disk_bytes() <= kPauseBytes || chunk_.size() >= kChunkBytes; }

void Saver::SaveSome(size_t budget) {
  if (chunk_.size() >= kChunkBytes) return Send();
  if (has_large()) return SaveSomeLarge();
  visited_bytes_ = 0;
  const bool at_end = walk_->Step(budget);
  if (at_end && problem_.empty() && !has_large()) Finish();
}

void Saver::SaveSomeLarge() {
  if (!first_begun_ && !side_.empty()) {
    side_.MoveSome(chunk_);
  } else {
    HalfSaved& first = *values_.front();
    if (!first_begun_) SelectDatabase(first.database(), chunk_);
    first_begun_ = true;
    if (first.Some(chunk_)) {
      values_.pop_front();
      first_begun_ = false;
      ++server_.stats.saves.keys_done;
    }
  }
  if (chunk_.size() >= kChunkBytes) Send();
}

bool Saver::UnwindSome(size_t budget) noexcept {
  for (; !values_.empty(); values_.pop_front()) {
    if (!values_.front()->Unwind(budget)) return false;
  }
  if (walk_ != nullptr && !walk_->Step(budget)) return false;
  walk_.reset();
  return true;
}

// ---- values with waiting requests

// The value moves forward, but not before values of earlier waits. At most one of values_ has come in its turn. The keys in
// their turn keep their order, and the differences of their idle times stay right.
void Saver::OnAwaited(HalfSaved& value) noexcept {
  value.awaited = true;
  Announce();
  if (std::exchange(value.forward, true)) return;
  const auto first = values_.begin() + (first_begun_ ? 1 : 0);
  const auto place = std::find_if(
      first, values_.end(), [&](const auto& other) { return other.get() == &value || !other->forward; });
  const auto from =
      std::find_if(place, values_.end(), [&](const auto& other) { return other.get() == &value; });
  if (from != values_.end()) std::rotate(place, from, from + 1);
}

HalfSaved* Saver::NextAside() const noexcept {
  if (!HasRoomAside()) return nullptr;
  for (const auto& value : values_) {
    if (value->awaited) return value.get();
    if (!value->forward && value != values_.front()) return nullptr;
  }
  return nullptr;
}

// Without memory the writing of the file goes on. The request asks again in a few milliseconds.
void Saver::PutAside(HalfSaved& value) noexcept {
  try {
    value.awaited = !value.PutAside();
  } catch (const std::bad_alloc&) {
    value.awaited = false;
  }
}

void Saver::OnSignal() noexcept {
  if (target_ == nullptr) return;
  std::string room = target_->Collect();
  if (chunk_.empty() && chunk_.capacity() < room.capacity()) chunk_.swap(room);
  CountBytes();
  if (target_->state() == SaveTarget::State::kFailed && problem_.empty()) Fail(target_->problem());
  if (target_->state() != SaveTarget::State::kWriting) return ended_(End(server_.clock.Read()));
  if (walk_ != nullptr && disk_bytes() <= kPauseBytes / 2) Announce();
}

void Saver::Finish() {
  walk_.reset();
  chunk_.push_back(static_cast<char>(rdb::opcode::kEnd));
  Send();
  target_->Finish();
}

void Saver::Fail(std::string_view problem) noexcept {
  if (walk_ != nullptr) walk_->Abandon();
  static_cast<void>(target_->Abandon());
  side_.Clear();
  for (const auto& value : values_) value->GiveUp();
  try {
    problem_ = problem;
  } catch (const std::bad_alloc&) {
    problem_ = "out of memory";  // short enough to need none
  }
  Announce();
}

SaveResult Saver::End(Now now) noexcept {
  SaveFigures& figures = server_.stats.saves;
  SaveResult result{.problem = std::move(problem_),
                    .cancelled = std::exchange(cancelled_, false),
                    .to_client = std::exchange(stream_, nullptr) != nullptr,
                    .keys = figures.keys_done,
                    .took_ms = now.mono_ms - began.mono_ms};
  problem_.clear();
  if (result.problem.empty()) result.problem = target_->problem();
  result.bytes = target_->written_bytes();
  target_.reset();
  chunk_ = {};
  CountBytes();
  figures.running_since_mono_ms = 0;
  if (!result.cancelled && !result.to_client) NoteSaved(result, changes_at_begin_, now);
  return result;
}

void Saver::NoteSaved(const SaveResult& result, uint64_t changes, Now now) noexcept {
  SaveFigures& figures = server_.stats.saves;
  figures.last_ok = result.problem.empty();
  figures.last_took_s = static_cast<int64_t>(result.took_ms / kMsPerSecond);
  if (!figures.last_ok) return;
  ++figures.saves;
  figures.changes_at_save = changes;
  figures.last_save_s = now.wall_ms / kMsPerSecond;
  figures.last_bytes = result.bytes;
  figures.last_keys = result.keys;
}

// ---- what is written

bool Saver::WantsPause() const noexcept {
  return disk_bytes() > kPauseBytes || has_large() || visited_bytes_ > HalfSaved::kLargeBytes;
}

bool Saver::HasRoom() noexcept {
  if (!problem_.empty()) return false;
  if (waiting_bytes() <= kMostWaitingBytes) return true;
  Fail(stream_ != nullptr ? "the client is slower than the changes" : "the disk is slower than the changes");
  return false;
}

void Saver::CountBytes() noexcept {
  uint64_t bytes = waiting_bytes() + kept_bytes;
  for (const auto& value : values_) bytes += value->TextBytes();
  account_bytes_ = bytes;
}

void Saver::WriteHead(const StreamTerms& terms, uint64_t log_bytes, Now now, std::string& bytes) const {
  const SaveParts parts = terms.parts;
  rdb::Out out(bytes, compression);
  const auto field = [&](std::string_view name, std::string_view value) {
    out.Byte(rdb::opcode::kAux);
    out.String(name);
    out.String(value);
  };
  const bool any_deadline = parts.keys && !plain;
  out.FileHead(any_deadline ? VersionFor(server_.databases) : rdb::version::kRedis70);
  field("redis-ver", kRedisVersion);
  field("redis-bits", "64");
  field("ctime", std::to_string(now.wall_ms / kMsPerSecond));
  field("used-mem", std::to_string(server_.memory.Used()));
  field("aof-base", "0");
  field("mayfly-ver", kMayflyVersion);
  if (terms.database) field(kStreamDatabaseField, std::to_string(*terms.database));
  if (parts.keys) WriteEventFields(server_.event_log, log_bytes, bytes);
  const FunctionLibraries* const libraries = parts.functions ? FunctionLibraries::IfMade(server_) : nullptr;
  if (libraries != nullptr)
    libraries->ForEachText([&out](std::string_view text) { rdb::WriteFunction(text, out); });
}

// With them a load makes its tables as large as they will be. Before all keys, since keys of databases come mixed.
void Saver::WriteTableSizes() {
  for (unsigned i = 0; i < server_.databases.count(); ++i) {
    const Keyspace& keyspace = server_.databases.At(i);
    if (keyspace.size() == 0) continue;
    SelectDatabase(i, chunk_);
    rdb::Out out(chunk_);
    out.Byte(rdb::opcode::kTableSizes);
    out.Length(keyspace.size());
    out.Length(keyspace.expiring());
  }
}

void Saver::SelectDatabase(unsigned index, std::string& bytes) {
  if (index == database_) return;
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kDatabase);
  out.Length(index);
  database_ = index;
}

void Saver::Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept {
  if (HalfSaved::IsLarge(entry)) return BeginLarge(index, keyspace, entry);
  visited_bytes_ += EntryMemory::OutsideBytes(entry);
  Append([&](std::string& bytes) { WriteKey(index, keyspace, entry, bytes); });
}

void Saver::VisitStale(unsigned index, const Keyspace& keyspace, const Entry& entry,
                       Expiry deadline) noexcept {
  if (plain) return;  // to others an expired key: a replica would keep it until a DEL that never comes
  Append([&](std::string& bytes) { WriteStale(index, keyspace, entry, deadline, bytes); });
}

template <typename Write>
void Saver::Append(Write&& write) noexcept {
  if (!HasRoom()) return;
  const size_t before = chunk_.size();
  try {
    if (has_large()) return side_.Append(write);
    write(chunk_);
    if (chunk_.size() >= kChunkBytes) Send();
  } catch (const std::bad_alloc&) {
    chunk_.resize(std::min(before, chunk_.size()));
    Fail("out of memory");
  }
}

void Saver::BeginLarge(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept {
  if (!HasRoom()) return;
  try {
    std::string facts;
    const uint64_t idle_steps = idle_steps_;
    WriteFacts(keyspace, entry, facts);
    std::unique_ptr<HalfSaved>& value = values_.emplace_back();
    value = HalfSaved::Begin(*this, index, entry, std::move(facts));
    if (value != nullptr) return;
    values_.pop_back();
    idle_steps_ = idle_steps;
  } catch (const std::bad_alloc&) {
    if (!values_.empty() && values_.back() == nullptr) values_.pop_back();
    Fail("out of memory");
  }
}

// A task that DRAIN has let go is due, whatever its deadline is.
Expiry Saver::DeadlineOf(const Keyspace& keyspace, const Entry& entry) const noexcept {
  const Expiry deadline = entry.deadline();
  const bool goes = entry.task() && (entry.ready() || keyspace.tags().IsDrained(entry));
  if (!goes || deadline.Reached(began)) return deadline;
  return {deadline.kind, Expiry::NowOn(deadline.kind, began)};
}

void Saver::WriteFacts(const Keyspace& keyspace, const Entry& entry, std::string& bytes) {
  WriteKeyTerms(keyspace, entry, /*expired=*/false, began, bytes);
  if (entry.expires()) WriteDeadline(DeadlineOf(keyspace, entry), bytes);
  WriteUse(entry, bytes);
}

void Saver::WriteKey(unsigned index, const Keyspace& keyspace, const Entry& entry, std::string& bytes) {
  rdb::ValueForm form = rdb::FormOf(entry, alive_at);
  if (plain) form = rdb::PlainForm(form);
  if (form.members == 0) return;
  SelectDatabase(index, bytes);
  WriteFacts(keyspace, entry, bytes);
  WritePair(entry, form, bytes);
  WriteMemberTerms(entry, alive_at, bytes);
  ++server_.stats.saves.keys_done;
}

// Other servers see an expired key. A value that still belongs to a key, though past the deadline, has not been logged.
void Saver::WriteStale(unsigned index, const Keyspace& keyspace, const Entry& entry, Expiry deadline,
                       std::string& bytes) {
  SelectDatabase(index, bytes);
  const bool logged = entry.deadline().deadline_ms != deadline.deadline_ms;
  WriteKeyTerms(keyspace, entry, logged, began, bytes);
  WriteDeadline(deadline, bytes);
  WritePair(entry, rdb::FormOf(entry, alive_at), bytes);
}

void Saver::WriteDeadline(Expiry deadline, std::string& bytes) const {
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kDeadlineMs);
  out.Millis(static_cast<int64_t>(deadline.On(Expiry::Kind::kWall, began)));
}

// As in Redis, the seconds are written only under an LRU policy, and the counter only under an LFU policy. Redis takes a key
// without seconds as used just now. A large value that begins in its turn is the next in the file. A key that no policy evicts
// counts as used just now, since the walk has these keys first.
void Saver::WriteUse(const Entry& entry, std::string& bytes) {
  rdb::Out out(bytes);
  if (databases.access_effect() == AccessEffect::kFrequency) {
    out.Byte(rdb::opcode::kFrequency);
    out.Byte(static_cast<uint8_t>(LfuCount(entry.stamp(), began.mono_ms, databases.lfu_rules())));
    return;
  }
  const uint64_t idle_ms = !entry.evictable() ? 0 : Entry::IdleMs(entry.stamp(), began.mono_ms);
  const uint64_t steps = idle_ms / Entry::kStampMs;
  if (walk_->early()) {
    WriteIdleField(kEarlyField, static_cast<int64_t>(steps), bytes);
  } else if (steps != idle_steps_) {
    WriteIdleField(kIdleField, static_cast<int64_t>(steps - idle_steps_), bytes);
    idle_steps_ = steps;
  }
  const EvictionPolicy policy = server_.options.settings().maxmemory_policy;
  const bool lru = policy == EvictionPolicy::kVolatileLru || policy == EvictionPolicy::kAllKeysLru;
  if (!lru || idle_ms < kMsPerSecond) return;
  out.Byte(rdb::opcode::kIdle);
  out.Length(idle_ms / kMsPerSecond);
}

void Saver::WritePair(const Entry& entry, const rdb::ValueForm& form, std::string& bytes) const {
  rdb::Out out(bytes, compression);
  out.Byte(form.type);
  out.String(entry.key());
  rdb::WriteValue(entry, form, alive_at, compression, bytes);
}

void Saver::Send() {
  if (chunk_.empty()) return;
  target_->Give(std::move(chunk_));
  chunk_ = target_->Collect();
  if (chunk_.capacity() < kChunkBytes) chunk_.reserve(kChunkBytes + kChunkBytes / 4);
}

}  // namespace mayfly
