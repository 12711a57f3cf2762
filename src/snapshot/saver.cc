#include "snapshot/saver.h"

#include <cassert>
#include <new>
#include <system_error>
#include <utility>

#include "cache/keyspace/databases.h"
#include "cache/time/lifetime.h"
#include "config/sources/options.h"
#include "exec/info/identity.h"
#include "exec/memory/memory_meter.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "snapshot/event_fields.h"
#include "snapshot/format/types.h"
#include "snapshot/key_terms.h"
#include "snapshot/member_terms.h"
#include "snapshot/use_order.h"

namespace mayfly {
namespace {

constexpr unsigned kNoDatabase = ~0U;
constexpr size_t kMarkBytes = 8;  // of the run's id, in the temporary file's name

// The smallest version that carries all keys of now.
unsigned VersionFor(const Databases& databases) noexcept {
  for (unsigned i = 0; i < databases.count(); ++i) {
    if (databases.At(i).lifetimes().deadlines().with_timed_fields() != 0) return rdb::version::kRedis74;
  }
  return rdb::version::kRedis70;
}

}  // namespace

Saver::Saver(Server& server, Disk& disk, std::function<void(const SaveResult&)> ended)
    : Step(server.sliced_work),
      Ear(server.hubs.wakes),
      server_(server),
      disk_(disk),
      ended_(std::move(ended)),
      account_(server.hubs.accounts, account_bytes_) {}

Saver::~Saver() = default;

// ---- one save

void Saver::BeginWith(uint64_t log_bytes, Now now) {
  assert(!running());
  const config::Settings& settings = server_.options.settings();
  SaveFigures& figures = server_.stats.saves;
  compression_ = settings.rdbcompression ? rdb::Compression::kLzf : rdb::Compression::kNone;
  problem_.clear();
  chunk_.clear();
  database_ = kNoDatabase;
  idle_steps_ = 0;
  began_ = now;
  figures.keys_done = 0;
  figures.keys_total = server_.databases.total_keys();
  WriteHead(log_bytes, now);
  auto writer = std::make_unique<FileWriter>(
      disk_,
      FileWriter::Target{.folder = settings.dir.path,
                         .name = settings.dbfilename,
                         .temporary = TemporaryName(server_.run_id.substr(0, kMarkBytes)),
                         .checksum = settings.rdbchecksum},
      [&wakes = server_.hubs.wakes] { wakes.Signal(); });
  walk_ = std::make_unique<SnapshotWalk>(server_.databases, static_cast<SnapshotVisitor&>(*this), now);
  writer_ = std::move(writer);
  writes_at_begin_ = figures.writes;
  figures.running_since_mono_ms = now.mono_ms;
  Announce();
}

void Saver::Cancel() noexcept {
  if (writer_ == nullptr || !problem_.empty()) return;
  cancelled_ = true;
  Fail("cancelled");
}

SaveResult Saver::SaveNow(Now now) {
  if (writer_ != nullptr) {
    Cancel();
    writer_->Wait();
    static_cast<void>(End(now));
  }
  FinishWalk();
  BeginWith(kLogBytesAtOnce, now);
  while (walk_ != nullptr && problem_.empty()) {
    if (walk_->Step(kChunkBytes)) {
      Finish();
    } else {
      writer_->WaitForChunks();
      chunk_.reserve(writer_->Collect().capacity());
      if (writer_->state() == FileWriter::State::kFailed) Fail(writer_->problem());
    }
  }
  FinishWalk();
  writer_->Wait();
  return End(server_.clock.Read());
}

void Saver::FinishWalk() noexcept {
  while (walk_ != nullptr && !walk_->Step(kChunkBytes)) {
  }
  walk_.reset();
}

bool Saver::DoSome(Now, size_t budget) noexcept {
  if (walk_ == nullptr) return false;
  const bool at_end = walk_->Step(budget);
  if (!problem_.empty() || writer_ == nullptr) {
    if (at_end) walk_.reset();
    return !at_end;
  }
  try {
    if (at_end) Finish();
  } catch (const std::bad_alloc&) {
    Fail("out of memory");
  }
  CountBytes();
  return walk_ != nullptr && !WantsPause();
}

void Saver::OnSignal() noexcept {
  if (writer_ == nullptr) return;
  std::string room = writer_->Collect();
  if (chunk_.empty() && chunk_.capacity() < room.capacity()) chunk_.swap(room);
  CountBytes();
  if (writer_->state() == FileWriter::State::kFailed && problem_.empty()) Fail(writer_->problem());
  if (writer_->state() != FileWriter::State::kWriting) return ended_(End(server_.clock.Read()));
  if (walk_ != nullptr && waiting_bytes() <= kPauseBytes / 2) Announce();
}

void Saver::Finish() {
  walk_.reset();
  chunk_.push_back(static_cast<char>(rdb::opcode::kEnd));
  Send();
  writer_->Finish();
}

void Saver::Fail(std::string_view problem) noexcept {
  if (walk_ != nullptr) walk_->Abandon();
  writer_->Abandon();
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
                    .keys = figures.keys_done,
                    .took_ms = now.mono_ms - began_.mono_ms};
  problem_.clear();
  if (result.problem.empty()) result.problem = writer_->problem();
  result.bytes = writer_->written_bytes();
  writer_.reset();
  chunk_ = {};
  CountBytes();
  figures.running_since_mono_ms = 0;
  if (result.cancelled) return result;
  figures.last_ok = result.problem.empty();
  figures.last_took_s = static_cast<int64_t>(result.took_ms / kMsPerSecond);
  if (!figures.last_ok) return result;
  ++figures.saves;
  figures.writes_at_save = writes_at_begin_;
  figures.last_save_s = now.wall_ms / kMsPerSecond;
  figures.last_bytes = result.bytes;
  figures.last_keys = result.keys;
  return result;
}

// ---- what is written

bool Saver::WantsPause() const noexcept { return waiting_bytes() > kPauseBytes; }

void Saver::WriteHead(uint64_t log_bytes, Now now) {
  rdb::Out out(chunk_);
  const auto field = [&](std::string_view name, std::string_view value) {
    out.Byte(rdb::opcode::kAux);
    out.String(name);
    out.String(value);
  };
  out.FileHead(VersionFor(server_.databases));
  field("redis-ver", kRedisVersion);
  field("redis-bits", "64");
  field("ctime", std::to_string(now.wall_ms / kMsPerSecond));
  field("used-mem", std::to_string(server_.memory.Used()));
  field("aof-base", "0");
  field("mayfly-ver", kMayflyVersion);
  WriteEventFields(server_.event_log, log_bytes, chunk_);
}

void Saver::SelectDatabase(unsigned index) {
  if (index == database_) return;
  rdb::Out out(chunk_);
  out.Byte(rdb::opcode::kDatabase);
  out.Length(index);
  database_ = index;
}

void Saver::Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept {
  Append([&] { WriteKey(index, keyspace, entry); });
}

void Saver::VisitStale(unsigned index, const Keyspace& keyspace, const Entry& entry,
                       Expiry deadline) noexcept {
  Append([&] { WriteStale(index, keyspace, entry, deadline); });
}

template <typename Write>
void Saver::Append(Write&& write) noexcept {
  if (!problem_.empty()) return;
  if (waiting_bytes() > kMostWaitingBytes) return Fail("the disk is slower than the changes");
  const size_t before = chunk_.size();
  try {
    write();
    if (chunk_.size() >= kChunkBytes) Send();
  } catch (const std::bad_alloc&) {
    chunk_.resize(before);
    Fail("out of memory");
  }
}

void Saver::WriteKey(unsigned index, const Keyspace& keyspace, const Entry& entry) {
  const rdb::ValueForm form = rdb::FormOf(entry, began_);
  if (form.members == 0) return;
  SelectDatabase(index);
  WriteKeyTerms(keyspace, entry, /*expired=*/false, began_, chunk_);
  if (entry.expires()) WriteDeadline(entry.deadline());
  WriteUse(entry);
  WritePair(entry, form);
  WriteMemberTerms(entry, began_, chunk_);
  ++server_.stats.saves.keys_done;
}

// Other servers see a key that has expired. A value that is still a key's, though its deadline is over, has not been logged.
void Saver::WriteStale(unsigned index, const Keyspace& keyspace, const Entry& entry, Expiry deadline) {
  SelectDatabase(index);
  const bool logged = entry.deadline().deadline_ms != deadline.deadline_ms;
  WriteKeyTerms(keyspace, entry, logged, began_, chunk_);
  WriteDeadline(deadline);
  WritePair(entry, rdb::FormOf(entry, began_));
}

void Saver::WriteDeadline(Expiry deadline) {
  rdb::Out out(chunk_);
  out.Byte(rdb::opcode::kDeadlineMs);
  out.Millis(static_cast<int64_t>(deadline.On(Expiry::Kind::kWall, began_)));
}

// As Redis, the seconds only under an LRU policy, and the counter only under an LFU policy. A key without seconds was used just
// now for Redis.
void Saver::WriteUse(const Entry& entry) {
  rdb::Out out(chunk_);
  if (server_.databases.access_effect() == AccessEffect::kFrequency) {
    out.Byte(rdb::opcode::kFrequency);
    out.Byte(static_cast<uint8_t>(LfuCount(entry.stamp(), began_.mono_ms, server_.databases.lfu_rules())));
    return;
  }
  const uint64_t idle_ms = Entry::IdleMs(entry.stamp(), began_.mono_ms);
  const uint64_t steps = idle_ms / Entry::kStampMs;
  if (walk_->early()) {
    WriteIdleField(kEarlyField, static_cast<int64_t>(steps), chunk_);
  } else if (steps != idle_steps_) {
    WriteIdleField(kIdleField, static_cast<int64_t>(steps - idle_steps_), chunk_);
    idle_steps_ = steps;
  }
  const EvictionPolicy policy = server_.options.settings().maxmemory_policy;
  const bool lru = policy == EvictionPolicy::kVolatileLru || policy == EvictionPolicy::kAllKeysLru;
  if (!lru || idle_ms < kMsPerSecond) return;
  out.Byte(rdb::opcode::kIdle);
  out.Length(idle_ms / kMsPerSecond);
}

void Saver::WritePair(const Entry& entry, const rdb::ValueForm& form) {
  rdb::Out out(chunk_, compression_);
  out.Byte(form.type);
  out.String(entry.key());
  rdb::WriteValue(entry, form, began_, compression_, chunk_);
}

void Saver::Send() {
  if (chunk_.empty()) return;
  writer_->Give(std::move(chunk_));
  chunk_ = writer_->Collect();
  if (chunk_.capacity() < kChunkBytes) chunk_.reserve(kChunkBytes + kChunkBytes / 4);
}

}  // namespace mayfly
