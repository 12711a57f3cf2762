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
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "snapshot/format/types.h"
#include "snapshot/key_terms.h"
#include "snapshot/values/member_terms.h"
#include "snapshot/values/value_out.h"

namespace mayfly {
namespace {

constexpr unsigned kNoDatabase = ~0U;
constexpr size_t kMarkBytes = 8;  // of the run's id, in the temporary file's name

// The smallest version that carries all keys of now.
unsigned VersionFor(const Databases& databases) noexcept {
  for (unsigned i = 0; i < databases.count(); ++i) {
    if (databases.At(i).lifetimes().deadlines().with_timed_members() != 0) return rdb::version::kRedis74;
  }
  return rdb::version::kRedis70;
}

}  // namespace

Saver::Saver(Server& server, Disk& disk, std::function<void(const SaveResult&)> ended)
    : SaveHome(server.databases),
      Step(server.sliced_work),
      Ear(server.hubs.wakes),
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

void Saver::Begin(Now now) {
  assert(!running());
  const config::Settings& settings = server_.options.settings();
  SaveFigures& figures = server_.stats.saves;
  compression = settings.rdbcompression ? rdb::Compression::kShortLzf : rdb::Compression::kNone;
  problem_.clear();
  chunk_.clear();
  database_ = kNoDatabase;
  first_begun_ = false;
  began = now;
  figures.keys_done = 0;
  figures.keys_total = server_.databases.total_keys();
  WriteHead(now);
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
  while (!UnwindSome(kChunkBytes)) {
  }
  Begin(now);
  while (walk_ != nullptr && problem_.empty()) {
    SaveSome(kChunkBytes);
    if (disk_bytes() <= kPauseBytes || !problem_.empty()) continue;
    writer_->WaitForChunks();
    chunk_.reserve(writer_->Collect().capacity());
    if (writer_->state() == FileWriter::State::kFailed) Fail(writer_->problem());
  }
  while (!UnwindSome(kChunkBytes)) {
  }
  writer_->Wait();
  return End(server_.clock.Read());
}

bool Saver::DoSome(Now, size_t budget) noexcept {
  if (!problem_.empty() || writer_ == nullptr) return !UnwindSome(budget);
  if (walk_ == nullptr) return false;
  try {
    SaveSome(budget);
  } catch (const std::bad_alloc&) {
    Fail("out of memory");
  }
  CountBytes();
  return walk_ != nullptr && (disk_bytes() <= kPauseBytes || !problem_.empty());
}

void Saver::SaveSome(size_t budget) {
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

void Saver::OnSignal() noexcept {
  if (writer_ == nullptr) return;
  std::string room = writer_->Collect();
  if (chunk_.empty() && chunk_.capacity() < room.capacity()) chunk_.swap(room);
  CountBytes();
  if (writer_->state() == FileWriter::State::kFailed && problem_.empty()) Fail(writer_->problem());
  if (writer_->state() != FileWriter::State::kWriting) return ended_(End(server_.clock.Read()));
  if (walk_ != nullptr && disk_bytes() <= kPauseBytes / 2) Announce();
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
                    .keys = figures.keys_done,
                    .took_ms = now.mono_ms - began.mono_ms};
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

bool Saver::WantsPause() const noexcept {
  return disk_bytes() > kPauseBytes || has_large() || visited_bytes_ > HalfSaved::kLargeBytes;
}

bool Saver::HasRoom() noexcept {
  if (!problem_.empty()) return false;
  if (waiting_bytes() <= kMostWaitingBytes) return true;
  Fail("the disk is slower than the changes");
  return false;
}

void Saver::CountBytes() noexcept {
  uint64_t bytes = waiting_bytes() + kept_bytes;
  for (const auto& value : values_) bytes += value->TextBytes();
  account_bytes_ = bytes;
}

void Saver::WriteHead(Now now) {
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
}

void Saver::SelectDatabase(unsigned index, std::string& bytes) {
  if (index == database_) return;
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kDatabase);
  out.Length(index);
  database_ = index;
}

void Saver::Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept {
  if (!HasRoom()) return;
  const size_t before = chunk_.size();
  visited_bytes_ += EntryMemory::OutsideBytes(entry);
  try {
    if (HalfSaved::IsLarge(entry)) return BeginLarge(index, keyspace, entry);
    if (has_large())
      return side_.Append([&](std::string& bytes) { WriteKey(index, keyspace, entry, bytes); });
    WriteKey(index, keyspace, entry, chunk_);
    if (chunk_.size() >= kChunkBytes) Send();
  } catch (const std::bad_alloc&) {
    chunk_.resize(std::min(before, chunk_.size()));
    Fail("out of memory");
  }
}

void Saver::BeginLarge(unsigned index, const Keyspace& keyspace, const Entry& entry) {
  std::string facts;
  WriteFacts(keyspace, entry, facts);
  values_.emplace_back();
  try {
    values_.back() = HalfSaved::Begin(*this, index, entry, std::move(facts));
  } catch (...) {
    values_.pop_back();
    throw;
  }
  if (values_.back() == nullptr) values_.pop_back();
}

void Saver::WriteFacts(const Keyspace& keyspace, const Entry& entry, std::string& bytes) {
  rdb::Out out(bytes);
  WriteKeyTerms(keyspace, entry, began, bytes);
  if (entry.expires()) {
    out.Byte(rdb::opcode::kDeadlineMs);
    out.Millis(UnixDeadlineMs(entry, began));
  }
  if (databases.access_effect() == AccessEffect::kFrequency) {
    out.Byte(rdb::opcode::kFrequency);
    out.Byte(static_cast<uint8_t>(LfuCount(entry.stamp(), began.mono_ms, databases.lfu_rules())));
  } else {
    out.Byte(rdb::opcode::kIdle);
    out.Length(Entry::IdleMs(entry.stamp(), began.mono_ms) / kMsPerSecond);
  }
}

void Saver::WriteKey(unsigned index, const Keyspace& keyspace, const Entry& entry, std::string& bytes) {
  const rdb::ValueForm form = rdb::FormOf(entry, began);
  if (form.members == 0) return;
  SelectDatabase(index, bytes);
  WriteMemberTerms(entry, began, bytes);
  WriteFacts(keyspace, entry, bytes);
  rdb::Out out(bytes, compression);
  out.Byte(form.type);
  out.String(entry.key());
  rdb::WriteValue(entry, form, began, compression, bytes);
  ++server_.stats.saves.keys_done;
}

void Saver::Send() {
  if (chunk_.empty()) return;
  writer_->Give(std::move(chunk_));
  chunk_ = writer_->Collect();
  if (chunk_.capacity() < kChunkBytes) chunk_.reserve(kChunkBytes + kChunkBytes / 4);
}

}  // namespace mayfly
