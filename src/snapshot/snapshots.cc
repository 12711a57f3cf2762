#include "snapshot/snapshots.h"

#include <algorithm>
#include <csignal>
#include <memory>
#include <new>
#include <system_error>
#include <utility>

#include "base/log/log.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "server/clients/session.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "snapshot/disk/disk.h"
#include "snapshot/loader.h"
#include "snapshot/saver.h"

namespace mayfly {
namespace {

constexpr std::string_view kLoads = "the file is being loaded";
constexpr std::string_view kNoName = "dbfilename is empty";

}  // namespace

Snapshots::Snapshots(Server& server, Disk& disk)
    : Alarm(server.hubs.alarms),
      server_(server),
      disk_(disk),
      saver_(std::make_unique<Saver>(server, disk, [this](const SaveResult& result) { Tell(result); })),
      loader_(std::make_unique<Loader>(server, disk, [this](const LoadResult& result) { Tell(result); })),
      last_save_mono_ms_(server.clock.Read().mono_ms) {
  using config::Settings;
  server.options.Follow([this](const Settings&) { RefuseWritesIfUnsaved(); }, &Settings::save,
                        &Settings::stop_writes_on_bgsave_error);
}

Snapshots::~Snapshots() = default;

bool Snapshots::saving() const noexcept { return saver_->running(); }
void Snapshots::Cancel() noexcept { saver_->Cancel(); }
bool Snapshots::loading() const noexcept { return loader_->running(); }

void Snapshots::NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags) {
  if (LoadClaims* const claims = loader_->claims()) claims->NoteInvalidated(keyspace, tags);
}

Snapshots& Snapshots::Of(Server& server) {
  if (server.snapshots == nullptr) server.snapshots = std::make_unique<Snapshots>(server, Disk::Real());
  return *IfMade(server);
}

std::string_view Snapshots::SaveSoon(Now now) {
  if (loading()) return kLoads;
  if (server_.options.settings().dbfilename.empty()) return kNoName;
  try {
    saver_->Begin(now);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::system_error&) {
    return "the system allows no more threads";
  }
  if (server_.log != nullptr) server_.log->Notice("saving ", server_.stats.saves.keys_total, " keys");
  return {};
}

std::string Snapshots::SaveNow(Now now) {
  if (loading()) return std::string(kLoads);
  if (server_.options.settings().dbfilename.empty()) return std::string(kNoName);
  SaveResult result;
  try {
    result = saver_->SaveNow(now);
  } catch (const std::bad_alloc&) {
    saver_->Cancel();  // if it has begun
    result.problem = "out of memory";
  } catch (const std::system_error&) {
    result.problem = "the system allows no more threads";
  }
  Tell(result);
  return std::move(result.problem);
}

void Snapshots::RefuseWritesIfUnsaved() noexcept {
  const config::Settings& settings = server_.options.settings();
  const bool refuse =
      !server_.stats.saves.last_ok && settings.stop_writes_on_bgsave_error && !settings.save.empty();
  server_.modes = (server_.modes & ~BitOf(Mode::kUnsaved)) | (refuse ? BitOf(Mode::kUnsaved) : 0);
}

void Snapshots::Tell(const SaveResult& result) noexcept {
  RefuseWritesIfUnsaved();
  const uint64_t now = server_.clock.Read().mono_ms;
  if (result.cancelled) {
    if (server_.log != nullptr) server_.log->Notice("the save was cancelled");
    return;
  }
  if (!result.problem.empty()) {
    retry_mono_ms_ = now + kRetryMs;
    if (server_.log != nullptr) server_.log->Warning("the save has failed: ", result.problem);
    return;
  }
  last_save_mono_ms_ = now;
  if (server_.log != nullptr)
    server_.log->Notice("saved ", result.keys, " keys, ", result.bytes, " bytes, in ", result.took_ms, " ms");
}

// ---- the end

bool Snapshots::SavesAtEnd() const noexcept {
  const config::Settings& settings = server_.options.settings();
  const config::ShutdownFlags& flags =
      server_.stop_signal == SIGINT ? settings.shutdown_on_sigint : settings.shutdown_on_sigterm;
  return !loading() && !server_.shutdown_requested && !flags.nosave && (flags.save || !settings.save.empty());
}

std::string Snapshots::End() {
  std::string problem;
  if (SavesAtEnd()) problem = SaveNow(server_.clock.Read());
  if (loading()) StopLoad();  // and the file stays what it is
  if (server_.log == nullptr) return problem;
  const size_t keys = server_.databases.total_keys();
  const SaveFigures& saves = server_.stats.saves;
  const uint64_t unsaved = saves.writes - saves.writes_at_save;
  if (unsaved == 0) return problem;
  if (keys != 0 && saves.last_save_s == 0) {
    server_.log->Notice("dropping ", keys, " keys: nothing was saved");
  } else if (saves.last_save_s != 0) {
    server_.log->Notice("dropping what ", unsaved, " requests have written since the last save");
  }
  return problem;
}

// ---- the load

std::string Snapshots::Path() const {
  const config::Settings& settings = server_.options.settings();
  return PathIn(settings.dir.path, settings.dbfilename);
}

bool Snapshots::Rename(std::string_view ending) noexcept {
  try {
    const std::string path = Path();
    return disk_.Rename(path, path + std::string(ending)) == 0;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void Snapshots::LoadSoon(Now now) {
  if (server_.options.settings().dbfilename.empty()) return;
  const std::string problem = BeginLoad(/*needed=*/false, now);
  if (!problem.empty() && server_.log != nullptr) server_.log->Warning("nothing is loaded: ", problem);
  if (loading() && server_.options.settings().load_mode == config::LoadMode::kWait)
    server_.modes |= BitOf(Mode::kLoading);
}

std::string Snapshots::BeginLoad(bool needed, Now now) {
  try {
    const std::string path = Path();
    if (!needed && !disk_.Exists(path)) return {};
    std::string problem = loader_->Begin(path, now);
    if (problem.empty() && server_.log != nullptr) server_.log->Notice("loading ", path);
    return problem;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::system_error&) {
    return "the system allows no more threads";
  }
}

std::string Snapshots::LoadNow(Now now) {
  std::string problem = BeginLoad(/*needed=*/true, now);
  if (!problem.empty()) return problem;
  LoadResult result = loader_->LoadNow();
  Tell(result);
  return std::move(result.problem);
}

void Snapshots::StopLoad() noexcept { Tell(loader_->Stop()); }

void Snapshots::Tell(const LoadResult& result) noexcept {
  server_.modes &= ~BitOf(Mode::kLoading);
  const bool renamed = !result.ending.empty() && Rename(result.ending);
  if (server_.log == nullptr) return;
  Log& log = *server_.log;
  if (!result.problem.empty()) log.Warning("the load has ended early: ", result.problem);
  if (renamed) log.Warning("the file's name ends with ", result.ending, " now");
  log.Notice("loaded ", result.keys, " keys of ", result.bytes, " bytes in ", result.took_ms, " ms; ",
             result.expired, " had expired, ", result.overtaken,
             " were changed or flushed by clients meanwhile");
  if (result.full)
    log.Notice("the load has ended before the end of the file: maxmemory or maxkeys is reached");
  if (result.homeless != 0)
    log.Warning("left out ", result.homeless, " keys of databases that do not exist here");
  if (result.stale != 0) log.Notice("loaded ", result.stale, " stale values");
  if (result.modules != 0) log.Warning("skipped ", result.modules, " keys with values of modules");
  if (result.extras != 0) log.Warning("skipped ", result.extras, " records of modules");
  if (result.empty != 0) log.Warning("skipped ", result.empty, " keys without members");
  if (result.groups != 0) log.Warning("left out ", result.groups, " consumer groups of streams");
  if (result.functions != 0) log.Warning("left out ", result.functions, " libraries of functions");
}

// ---- save points
//
// A point is due when enough was written, and long enough ago was the last save.
uint64_t Snapshots::NextWake() const noexcept {
  const std::vector<config::SavePoint>& points = server_.options.settings().save;
  if (points.empty() || saver_->running() || loading()) return Alarms::kNever;
  const SaveFigures& figures = server_.stats.saves;
  const uint64_t written = figures.writes - figures.writes_at_save;
  uint64_t next = Alarms::kNever;
  for (const config::SavePoint& point : points) {
    constexpr uint64_t kMostS = UINT64_MAX / kMsPerSecond / 2;  // no point comes that late
    const uint64_t seconds = std::min(static_cast<uint64_t>(point.seconds), kMostS);
    if (written != 0 && written >= static_cast<uint64_t>(point.changes))
      next = std::min(next, last_save_mono_ms_ + seconds * kMsPerSecond);
  }
  return next == Alarms::kNever ? next : std::max(next, retry_mono_ms_);
}

void Snapshots::OnWake(Now now, Log* log) {
  if (NextWake() > now.mono_ms) return;
  const std::string_view problem = SaveSoon(now);
  if (problem.empty()) return;
  retry_mono_ms_ = now.mono_ms + kRetryMs;
  if (log != nullptr) log->Warning("the save has failed: ", problem);
}

}  // namespace mayfly
