#include "snapshot/snapshots.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
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
#include "snapshot/sync_wishes.h"

namespace mayfly {
namespace {

constexpr std::string_view kLoads = "the file is being loaded";
constexpr std::string_view kRefused = "the file was refused, and the server stops";
constexpr std::string_view kNoName = "dbfilename is empty";
// What a start does with rdb-load-damaged yes instead of giving up.
constexpr std::string_view kWithoutFile = "Mayfly starts without it";
constexpr std::string_view kPartOfFile = "what precedes it is loaded";
constexpr std::string_view kRestOfFile = "the rest is loaded, and the file gets a second name";
// A file gets at most this many second names: a server that cannot load all of its file at any start must not fill the disk.
constexpr int kMostKept = 3;

void Keep(std::string& to, const std::string& text) noexcept {
  try {
    to = text;
  } catch (const std::bad_alloc&) {
    to = "out of memory";  // short enough to need none
  }
}

}  // namespace

Snapshots::Snapshots(Server& server, Disk& disk)
    : Alarm(server.hubs.alarms),
      server_(server),
      disk_(disk),
      saver_(std::make_unique<Saver>(server, disk, [this](const SaveResult& result) { Tell(result); })),
      loader_(std::make_unique<Loader>(server, disk, [this](const LoadResult& result) { EndLoad(result); })),
      wishes_(std::make_unique<SyncWishes>(server.hubs.client_ends)),
      last_save_mono_ms_(server.clock.Read().mono_ms) {
  using config::Settings;
  server.options.Follow([this](const Settings&) { RefuseWritesIfUnsaved(); }, &Settings::save,
                        &Settings::stop_writes_on_bgsave_error);
}

Snapshots::~Snapshots() = default;

bool Snapshots::saving() const noexcept { return saver_->running(); }
bool Snapshots::saving_file() const noexcept { return saver_->to_file(); }
bool Snapshots::Cancel() noexcept { return saver_->Cancel(); }
bool Snapshots::cancelling() const noexcept { return saver_->cancelling(); }
bool Snapshots::loading() const noexcept { return loader_->running(); }

void Snapshots::NoteGone(Server& server, const Keyspace& keyspace, std::string_view key) noexcept {
  Snapshots* const snapshots = IfMade(server);
  if (snapshots == nullptr) return;
  if (LoadClaims* const claims = snapshots->loader_->claims()) claims->NoteGone(keyspace, key);
}

void Snapshots::NoteFlushed(const Keyspace& keyspace) noexcept {
  if (LoadClaims* const claims = loader_->claims()) claims->NoteFlushed(keyspace);
}

void Snapshots::NoteNamespaceFlushed(const Namespace& space) {
  if (LoadClaims* const claims = loader_->claims()) claims->NoteNamespaceFlushed(space);
}

void Snapshots::NoteAllFlushed(Now now) {
  const config::Settings& settings = server_.options.settings();
  if (settings.save.empty() || settings.dbfilename.empty() || !refused_.empty()) return;
  replaced_ = loading();
  saver_->EndFile(now);
  outlived_ = true;
  const bool alone = !saving() && !loading();
  if (!(alone ? SaveNow(now, /*whole_log=*/false) : SaveNothingNow(now)).empty()) RemoveFile();
}

std::string Snapshots::SaveNothingNow(Now now) {
  SaveResult result;
  try {
    result = saver_->SaveEmptyNow(now);
  } catch (const std::bad_alloc&) {
    result.problem = "out of memory";
  } catch (const std::system_error&) {
    result.problem = "the system allows no more threads";
  }
  Tell(result);
  return std::move(result.problem);
}

void Snapshots::RemoveFile() {
  const std::string path = Path();
  int error = disk_.Remove(path);
  if (error == 0) error = disk_.SyncFolder(PathIn(server_.options.settings().dir.path, ""));
  if (server_.log == nullptr || error == ENOENT) return;
  if (error == 0)
    server_.log->Warning("removed ", path, ", whose keys were flushed");
  else
    server_.log->Warning("a restart brings flushed keys back: ", path,
                         " can be neither replaced nor removed: ", std::strerror(error));
}

void Snapshots::NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags) {
  if (LoadClaims* const claims = loader_->claims()) claims->NoteInvalidated(keyspace, tags);
}

Snapshots& Snapshots::Of(Server& server) {
  if (server.snapshots == nullptr) server.snapshots = std::make_unique<Snapshots>(server, Disk::Real());
  return *IfMade(server);
}

std::string_view Snapshots::SaveSoon(Now now) { return SaveSoon(Saver::kLogBytes, now); }

std::string_view Snapshots::SaveSoon(uint64_t log_bytes, Now now) {
  if (loading()) return kLoads;
  if (!refused_.empty()) return kRefused;
  if (server_.options.settings().dbfilename.empty()) return kNoName;
  try {
    saver_->Begin(log_bytes, now);
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::system_error&) {
    return "the system allows no more threads";
  }
  if (server_.log != nullptr) server_.log->Notice("saving ", server_.stats.saves.keys_total, " keys");
  return {};
}

std::string_view Snapshots::SendSoon(Session& client, const StreamTerms& terms, Now now) {
  if (loading()) return kLoads;
  saver_->BeginStream(client, terms, now);
  if (server_.log != nullptr) server_.log->Notice("sending a snapshot to ", client.peer);
  return {};
}

bool Snapshots::IsSentTo(const Session& client) const noexcept { return saver_->IsFor(client); }

std::string Snapshots::SaveNow(Now now, bool whole_log) {
  if (loading()) return std::string(kLoads);
  if (!refused_.empty()) return std::string(kRefused);
  if (server_.options.settings().dbfilename.empty()) return std::string(kNoName);
  SaveResult result;
  try {
    result = saver_->SaveNow(whole_log ? Saver::kLogBytesAtOnce : Saver::kLogBytes, now);
  } catch (const std::bad_alloc&) {
    static_cast<void>(saver_->Cancel());  // if begun
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
  if (result.to_client) return TellOfStream(result);
  if (stop_save_ == StopSave::kRuns)
    stop_save_ = result.cancelled         ? StopSave::kCancelled
                 : result.problem.empty() ? StopSave::kDone
                                          : StopSave::kFailed;
  RefuseWritesIfUnsaved();
  const uint64_t now = server_.clock.Read().mono_ms;
  if (result.cancelled) {
    if (server_.log != nullptr) server_.log->Notice("the save was cancelled");
    return;
  }
  Keep(server_.stats.saves.last_problem, result.problem);
  if (!result.problem.empty()) {
    retry_mono_ms_ = now + kRetryMs;
    if (server_.log != nullptr) server_.log->Warning("the save has failed: ", result.problem);
    return;
  }
  last_save_mono_ms_ = now;
  outlived_ = false;
  server_.stats.saves.last_took_ms = result.took_ms;
  if (server_.log != nullptr)
    server_.log->Notice("saved ", result.keys, " keys, ", result.bytes, " bytes, in ", result.took_ms, " ms");
}

void Snapshots::TellOfStream(const SaveResult& result) noexcept {
  if (server_.log == nullptr) return;
  if (!result.problem.empty()) return server_.log->Warning("no snapshot was sent: ", result.problem);
  server_.log->Notice("sent a snapshot of ", result.keys, " keys, ", result.bytes, " bytes, in ",
                      result.took_ms, " ms");
}

// ---- the end

bool Snapshots::SavesToStop(const config::ShutdownFlags& words) const noexcept {
  if (loading() || !refused_.empty() || words.nosave) return false;
  return words.save || !server_.options.settings().save.empty();
}

bool Snapshots::ReadyToStop(const config::ShutdownFlags& words) {
  return !SavesToStop(words) || StopsAfter(SaveNow(server_.clock.Read()).empty(), words);
}

void Snapshots::SaveToStop(Now now) noexcept {
  if (saving() && server_.log != nullptr)
    server_.log->Notice("a running save is given up: the server saves to stop");
  saver_->GiveUp(now);
  const std::string_view problem = SaveSoon(Saver::kLogBytesAtOnce, now);
  stop_save_ = problem.empty() ? StopSave::kRuns : StopSave::kFailed;
  if (!problem.empty() && server_.log != nullptr) server_.log->Warning("the save has failed: ", problem);
}

bool Snapshots::StopsAfter(bool saved, const config::ShutdownFlags& words) const noexcept {
  if (saved) return true;
  if (server_.log != nullptr)
    server_.log->Warning(words.force ? "stopping without the save (force)"
                                     : "not stopping, because the save has failed: SHUTDOWN NOSAVE, or the "
                                       "word force, stops without it");
  return words.force;
}

config::ShutdownFlags Snapshots::WordsOfSignal() const noexcept {
  const config::Settings& settings = server_.options.settings();
  if (server_.shutdown_requested) return {.nosave = true};
  return server_.stop_signal == SIGINT ? settings.shutdown_on_sigint : settings.shutdown_on_sigterm;
}

void Snapshots::End() noexcept {
  const bool was_loading = loading();
  if (was_loading) Tell(loader_->Stop());
  if (server_.log == nullptr) return;
  if (was_loading) server_.log->Notice("nothing is saved during a load: the file stays what it is");
  const size_t keys = server_.databases.total_keys();
  const SaveFigures& saves = server_.stats.saves;
  const uint64_t unsaved = Unsaved();
  if (unsaved == 0) return;
  if (saves.last_save_s == 0 && !loaded_) {
    if (keys != 0) server_.log->Notice("dropping ", keys, " keys: nothing was saved");
  } else {
    server_.log->Notice("dropping ", unsaved, " changes since the file was ",
                        saves.last_save_s != 0 ? "saved" : "loaded", "; there are ", keys, " keys");
  }
}

// ---- the load

std::string Snapshots::Path() const {
  const config::Settings& settings = server_.options.settings();
  return PathIn(settings.dir.path, settings.dbfilename);
}

void Snapshots::TellOfSavePoints() {
  const config::Settings& settings = server_.options.settings();
  if (server_.log == nullptr) return;
  if (settings.save.empty() && !SavesToStop(WordsOfSignal()))
    server_.log->Notice(
        "nothing will be saved: there are no save points. The keys go with this process, unless a client "
        "sends SAVE, BGSAVE or SHUTDOWN SAVE");
  if (settings.save.empty()) return;
  const int error = disk_.MayWriteInto(settings.dir.path);
  if (error == 0) return;
  const std::string folder = PathIn(settings.dir.path, "");
  server_.log->Warning("nothing can be saved: the user ", geteuid(), " of this process cannot write into ",
                       folder, ": ", std::strerror(error),
                       "; give it that folder, name another by dir, or set save \"\"");
}

// Each save removes leftovers, too, but perhaps no save follows.
void Snapshots::RemoveLeftovers() {
  const std::string folder = PathIn(server_.options.settings().dir.path, "");
  const size_t removed = disk_.RemoveLeftovers(folder, TemporaryName(server_.run_id));
  if (removed == 0 || server_.log == nullptr) return;
  server_.log->Notice("removed ", removed, removed == 1 ? " file" : " files", " from ", folder,
                      " that killed processes have left: temp-<pid>-<run>.rdb");
}

void Snapshots::LoadSoon(Now now) {
  const config::Settings& settings = server_.options.settings();
  if (settings.dbfilename.empty()) return;
  const std::string problem = BeginLoad(/*needed=*/false, {}, now);
  if (!problem.empty()) {
    if (!settings.rdb_load_damaged) return Refuse(problem, kWithoutFile);
    if (server_.log != nullptr) server_.log->Warning("nothing is loaded: ", problem);
    PutAsideUnopened();
  }
  if (loading() && settings.load_mode == config::LoadMode::kWait) server_.modes |= BitOf(Mode::kLoading);
}

std::string Snapshots::BeginLoad(bool needed, LoadTerms terms, Now now) {
  try {
    const std::string path = Path();
    if (!needed && !disk_.Exists(path)) return {};
    std::string problem = loader_->Begin(path, terms, now);
    replaced_ = false;
    if (problem.empty() && server_.log != nullptr)
      server_.log->Notice("loading ", path, ", ", server_.stats.saves.load_file_bytes, " bytes");
    return problem;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::system_error&) {
    return "the system allows no more threads";
  }
}

std::string Snapshots::LoadNow(LoadTerms terms, Now now) {
  if (server_.options.settings().dbfilename.empty()) return std::string(kNoName);
  std::string problem = BeginLoad(/*needed=*/true, terms, now);
  if (!problem.empty()) return problem;
  LoadResult result = loader_->LoadNow();
  Tell(result);
  if (!result.ending.empty()) PutAside(result.ending);
  if (result.problem.empty() && (result.leaves_out() || result.overwhelmed)) KeepFile();
  return std::move(result.problem);
}

std::string Snapshots::LoadReceived(const std::string& path, bool quiet,
                                    std::function<void(const LoadResult&)> done, Now now) {
  if (loading()) StopLoad();
  if (saving_file()) static_cast<void>(Cancel());
  try {
    std::string problem = loader_->Begin(path, {.file_wins = true, .from_master = true, .quiet = quiet}, now);
    if (problem.empty()) received_ = std::move(done);
    return problem;
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::system_error&) {
    return "the system allows no more threads";
  }
}

void Snapshots::StopLoad() noexcept {
  received_ = nullptr;
  Tell(loader_->Stop());
}

// The load of the start, or of a master's file, has ended.
void Snapshots::EndLoad(const LoadResult& result) noexcept {
  Tell(result);
  if (received_) return std::exchange(received_, nullptr)(result);
  if (replaced_) {  // its keys were flushed, and the new file may lack what came afterwards
    outlived_ = outlived_ || result.outlives_flush;
    return;
  }
  if (result.unusable) return Refuse(result.problem, {});
  // The server has served for long, and goes on.
  if (result.problem.empty() && result.overwhelmed) return KeepFile();
  if (result.problem.empty() && result.leaves_out()) {
    if (server_.options.settings().rdb_load_damaged) return KeepFile();
    try {
      return Refuse(Path() + " has more than can be loaded here: the log says what", kRestOfFile);
    } catch (const std::bad_alloc&) {
      return Refuse("out of memory", kRestOfFile);
    }
  }
  if (!result.problem.empty() && !server_.options.settings().rdb_load_damaged)
    return Refuse(result.problem, result.ending == kUnknownEnding ? kWithoutFile : kPartOfFile);
  if (!result.ending.empty()) PutAside(result.ending);
}

// Only a file needs another name: a save replaces nothing else.
void Snapshots::PutAsideUnopened() noexcept {
  try {
    if (disk_.IsFile(Path())) PutAside(kUnreadEnding);
  } catch (const std::bad_alloc&) {  // the file keeps its name
  }
}

void Snapshots::KeepFile() noexcept {
  int error = EEXIST;
  try {
    const std::string path = Path();
    for (int i = 1; error == EEXIST && i <= kMostKept; ++i) {
      const std::string second =
          path + std::string(kLeftOutEnding) + (i > 1 ? "-" + std::to_string(i) : std::string());
      error = disk_.AreSame(path, second) ? 0 : disk_.Link(path, second);
      if (error == 0 && server_.log != nullptr)
        server_.log->Warning(
            "something of the file was left out, and the next save takes its place: it is kept as ", second,
            ", too");
    }
  } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  if (error == 0 || server_.log == nullptr) return;
  server_.log->Warning(
      "something of the file was left out, and the next save takes its place: it cannot be kept under "
      "another name: ",
      error == EEXIST ? "there are such files already" : std::strerror(error));
}

void Snapshots::PutAside(std::string_view ending) noexcept {
  int error = ENOMEM;
  try {
    const std::string path = Path();
    error = disk_.Rename(path, path + std::string(ending));
  } catch (const std::bad_alloc&) {  // the file keeps its name
  }
  if (server_.log == nullptr) return;
  if (error == 0)
    server_.log->Warning("the file's name ends with ", ending, " now");
  else
    server_.log->Warning("the file keeps its name, so that the next save takes its place: ",
                         std::strerror(error));
}

// The loop stops at the end of the turn.
void Snapshots::Refuse(std::string_view problem, std::string_view otherwise) noexcept {
  server_.shutdown_requested = true;
  try {
    refused_.assign(problem);
    if (!otherwise.empty()) refused_.append("; with rdb-load-damaged yes, ").append(otherwise);
  } catch (const std::bad_alloc&) {
    refused_ = "out of memory";  // short enough to need none
  }
}

void Snapshots::Tell(const LoadResult& result) noexcept {
  server_.modes &= ~BitOf(Mode::kLoading);
  loaded_ = true;
  server_.stats.saves.load_took_ms = result.took_ms;
  Keep(server_.stats.saves.load_problem, result.problem);
  if (server_.log != nullptr && !(received_ && result.not_known)) TellOfKeys(result, *server_.log);
}

void Snapshots::TellOfKeys(const LoadResult& result, Log& log) noexcept {
  if (!result.problem.empty()) log.Warning("the load has ended early: ", result.problem);
  log.Notice("loaded ", result.keys, " keys of ", result.bytes, " bytes in ", result.took_ms, " ms; ",
             result.expired, " had expired, ", result.overtaken,
             " were changed or flushed by clients meanwhile, or come twice in the file");
  if (result.full)
    log.Notice("the load has ended before the end of the file: maxmemory or maxkeys is reached");
  if (result.overwhelmed)
    log.Warning(
        "the load has ended before the end of the file: clients have removed more keys and tags than ",
        LoadClaims::kMostNames, ", or there was no memory to note one");
  if (result.homeless != 0)
    log.Warning("left out ", result.homeless,
                " keys of databases that do not exist here, or of other nodes' slots");
  if (result.stale != 0) log.Notice("loaded ", result.stale, " stale values");
  if (result.modules != 0) log.Warning("skipped ", result.modules, " keys with values of modules");
  if (result.extras != 0) log.Warning("skipped ", result.extras, " records of modules");
  if (result.refused_values != 0)
    log.Warning("left out ", result.refused_values, " keys with values that cannot be read");
  if (result.shareless != 0)
    log.Warning("left out ", result.shareless, " keys: there are too many namespaces for them");
  if (result.empty != 0) log.Warning("skipped ", result.empty, " keys without members");
  if (result.libraries != 0) log.Notice("loaded ", result.libraries, " libraries of functions");
  if (result.refused != 0)
    log.Warning("left out ", result.refused, " libraries of functions that cannot be loaded");
  if (result.lost != 0)
    log.Warning("left out what this version cannot read of ", result.lost, " keys, or of the file itself");
}

// ---- save points
//
// A point is due after enough changes and enough time since the last save. After a failed save no point has to be due: writes
// may be refused until a save succeeds, and nothing more would change.

uint64_t Snapshots::Unsaved() const noexcept {
  return server_.databases.changes().by_clients() - server_.stats.saves.changes_at_save;
}

uint64_t Snapshots::NextWake() const noexcept {
  const std::vector<config::SavePoint>& points = server_.options.settings().save;
  if (saver_->running() || loading()) return Alarms::kNever;
  if (server_.Busy()) return Alarms::kNever;  // the file would have a part of what the script writes
  if (scheduled_) return 0;
  if (points.empty()) return Alarms::kNever;
  if (outlived_ || !server_.stats.saves.last_ok) return retry_mono_ms_;
  const uint64_t changes = Unsaved();
  uint64_t next = Alarms::kNever;
  for (const config::SavePoint& point : points) {
    constexpr uint64_t kMostS = UINT64_MAX / kMsPerSecond / 2;  // no point comes that late
    const uint64_t seconds = std::min(static_cast<uint64_t>(point.seconds), kMostS);
    if (changes != 0 && changes >= static_cast<uint64_t>(point.changes))
      next = std::min(next, last_save_mono_ms_ + seconds * kMsPerSecond);
  }
  return next == Alarms::kNever ? next : std::max(next, retry_mono_ms_);
}

void Snapshots::OnWake(Now now, Log* log) {
  if (NextWake() > now.mono_ms) return;
  scheduled_ = false;
  const std::string_view problem = SaveSoon(now);
  if (problem.empty()) return;
  retry_mono_ms_ = now.mono_ms + kRetryMs;
  if (log != nullptr) log->Warning("the save has failed: ", problem);
}

}  // namespace mayfly
