// Wiring only: options, then the parts in the order of their dependencies, then the loop.
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.h"
#include "base/log/syslog.h"
#include "base/memory/memory_limit.h"
#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "config/sources/check.h"
#include "config/sources/options.h"
#include "config/words.h"
#include "exec/acl/user_store.h"
#include "exec/memory/memory_warnings.h"
#include "exec/observe/crash_scene.h"
#include "exec/parts.h"
#include "net/client/listener.h"
#include "net/process/inherited_sockets.h"
#include "net/process/ping.h"
#include "net/process/process.h"
#include "net/process/service_manager.h"
#include "net/process/shard_rules.h"
#include "net/process/shards.h"
#include "net/process/stop_deadline.h"
#include "net/server_loop.h"
#include "net/socket/descriptor.h"
#include "net/socket/limits.h"
#include "net/tls/tls_transports.h"
#include "replication/replication_start.h"
#include "server/cluster/cluster.h"
#include "snapshot/disk/disk.h"
#include "snapshot/file_check.h"
#include "snapshot/snapshots.h"

namespace mayfly {

extern const char kBuildId[];  // CMake makes it (src/build_id.cmake)

namespace {

int Complain(const std::string& problem) {
  std::fprintf(stderr, "mayfly: %s\n", problem.c_str());
  return 1;
}

std::string DrawRunId() {
  constexpr size_t kDigits = 40;
  std::random_device device;
  std::uniform_int_distribution<size_t> digit(0, 15);
  std::string id;
  while (id.size() < kDigits) id += "0123456789abcdef"[digit(device)];
  return id;
}

// Lowers maxclients if the system does not allow as many open files.
config::Problem FitFileLimit(config::Options& options, Log& log) {
  const auto wanted = static_cast<uint64_t>(options.settings().maxclients);
  const uint64_t fits = net::RaiseFileLimit(wanted);
  if (fits == wanted) return std::nullopt;
  if (fits == 0)
    return "the limit of open files (ulimit -n) is " + std::to_string(net::FileLimit()) + ", and " +
           std::to_string(net::kReservedFiles) + " of them are reserved: there is none for a client";
  options.LowerMaxClients(fits);
  log.Warning("maxclients is ", fits, " instead of ", wanted,
              ": the limit of open files (ulimit -n) allows no more");
  return std::nullopt;
}

void WarnOfBacklog(const config::Settings& settings, Log& log) {
  const uint64_t most = net::LongestBacklog();
  if (most == 0 || most >= static_cast<uint64_t>(settings.tcp_backlog)) return;
  log.Warning("tcp-backlog is ", settings.tcp_backlog, ", but the kernel allows ", most,
              " (net.core.somaxconn): more clients that connect at one time have to try again");
}

// A problem has a line for each wrong renaming.
config::Problem RenameCommands(const config::Settings& settings, CommandTable& commands) {
  std::string lines;
  for (const config::Renaming& renaming : settings.renamings) {
    const config::Problem problem = commands.Rename(renaming.from, renaming.to);
    if (!problem) continue;
    const std::string to = renaming.to.empty() ? "\"\"" : config::Printable(renaming.to);
    lines.append(lines.empty() ? "" : "\n");
    lines.append(renaming.blame + ' ' + config::Printable(renaming.from) + ' ' + to + ": " + *problem);
  }
  if (lines.empty()) return std::nullopt;
  return lines;
}

void TellOfStart(Server& server, const net::ServerLoop& loop, net::ServiceManager& manager, Log& log) {
  const config::Settings& settings = server.options.settings();
  log.Notice(DescribeMaxMemory(settings.maxmemory, server.options.memory_bytes()));
  WarnOfMemory(server);
  if (server.databases.heap().huge_pages() == HugePages::kRefused)
    log.Notice("no huge pages: the kernel does not allow them (/sys/kernel/mm/transparent_hugepage/enabled)");
  WarnOfBacklog(settings, log);
  for (const std::string& name : loop.listening_on()) log.Notice("listening on ", name);
  log.Notice("Ready to accept connections");
  manager.Ready();
}

// Makes the daemon a part of the cluster named by the options; `cluster` stays null without a cluster.
config::Problem JoinCluster(Server& server, ChangeHub& changes, const config::Files& files,
                            std::unique_ptr<Cluster>& cluster) {
  const config::Settings& settings = server.options.settings();
  std::optional<ClusterMap> map;
  if (config::Problem problem = FormCluster(settings, files, server.run_id, map)) return problem;
  if (!map) return std::nullopt;
  const bool emulated = settings.cluster_mode == config::ClusterMode::kEmulated;
  cluster = std::make_unique<Cluster>(std::move(*map), emulated, changes);
  server.executor->Join(*cluster);
  server.log->Notice(cluster->Describe());
  for (const std::string& warning : cluster->Warnings()) server.log->Warning(warning);
  return std::nullopt;
}

// Runs until a signal or a client stops the loop. A problem is the reason for a failed begin.
config::Problem RunLoop(Server& server, Executor& executor, net::ServiceManager& manager,
                        const CrashDetails& details, net::StopDeadline& deadline,
                        std::vector<net::InheritedSocket>&& inherited, Log& log) {
  const auto loop = std::make_unique<net::ServerLoop>(server, executor, log);  // too big for the stack
  if (config::Problem problem = loop->Listen(std::move(inherited))) return problem;
  net::PidFile pid_file(server.options.settings().pidfile);
  if (const config::Problem problem = pid_file.Write()) log.Warning(*problem);  // as Redis: no reason to end
  loop->ReportTo(manager);
  TellOfStart(server, *loop, manager, log);
  net::ReserveStack();  // beyond the stack in use by now
  deadline.Watch(details);
  Snapshots& snapshots = Snapshots::Of(server);
  snapshots.TellOfSavePoints();
  snapshots.RemoveLeftovers();
  snapshots.LoadSoon(server.clock.Read());
  StartReplication(server);
  loop->BeforeStop([&] {
    const config::ShutdownFlags words = snapshots.WordsOfSignal();
    const auto stop = [&] {
      deadline.Restart();
      loop->Stop();
    };
    const auto given_up = [&] {
      deadline.Hold();
      deadline.Continue();
      manager.ServingAgain();
    };
    const auto turns = [&](bool loop_turns) { loop_turns ? deadline.Restart() : deadline.Hold(); };
    const bool may = MayStop(server, words, {.stop = stop, .given_up = given_up, .turns = turns});
    may ? deadline.Restart() : deadline.Hold();
    if (!may && snapshots.SavesToStop(words)) manager.SavingAtEnd();
    return may;
  });
  const auto saves_at_end = [&] {
    return !IsReadyToStop(server) && snapshots.SavesToStop(snapshots.WordsOfSignal());
  };
  loop->BeforeEnd({.is_due = saves_at_end, .run = [&] {
                     deadline.Hold();
                     manager.SavingAtEnd();
                     const bool ready = snapshots.ReadyToStop(snapshots.WordsOfSignal());
                     if (!ready) manager.ServingAgain();
                     deadline.Continue();
                     return ready;
                   }});
  loop->Run();
  snapshots.End();
  deadline.Continue();
  deadline.Begin();  // a suspended script has to end, too
  log.Notice("bye");
  if (!snapshots.refused().empty()) return snapshots.refused();
  return std::nullopt;
}

// The process ends. To free millions of keys one by one takes seconds, in which the next daemon cannot start; the kernel takes
// all memory back at once. The threads of snapshots end here, and remove what is half written. What uses the parts may be
// destroyed after this call.
void LeaveToKernel(std::unique_ptr<Parts>& parts) {
  parts->server.failover.reset();
  parts->server.stop_wait.reset();
  parts->server.replicas.reset();
  parts->server.master_link.reset();
  parts->server.snapshots.reset();
#ifndef MAYFLY_SANITIZE  // whose builds look for what is not freed
  static_cast<void>(parts.release());
#endif
}

// Makes the parts, and calls then(server, executor, details) to run the loop.
template <typename Then>
config::Problem Serve(const MemoryLimitFiles& limit_files, const config::Files& files,
                      config::Options& options, CommandTable& commands, SystemClock& clock, Log& log,
                      Then&& then) {
  auto parts = std::make_unique<Parts>(Outside{.clock = clock,
                                               .options = options,
                                               .commands = commands,
                                               .hasher = Hasher(),
                                               .random_seed = std::random_device{}(),
                                               .cycle_rate = CycleRate::Measure(),
                                               .run_id = DrawRunId(),
                                               .build_id = kBuildId,
                                               .log = &log,
                                               .limit_files = &limit_files});
  CrashScene crash_scene(parts->server, parts->executor);
  std::unique_ptr<Cluster> cluster;
  if (config::Problem problem = JoinCluster(parts->server, parts->changes, files, cluster)) return problem;
  if (config::Problem problem = LoadUsersAtStart(parts->server)) return problem;
  config::Problem problem = then(parts->server, parts->executor, crash_scene);
  LeaveToKernel(parts);
  return problem;
}

config::Problem Run(const MemoryLimitFiles& limit_files, const config::Files& files, config::Options& options,
                    const std::vector<std::string>& warnings, const std::vector<std::string>& environment,
                    std::vector<net::InheritedSocket>&& inherited, const std::string& conf_file,
                    SystemClock& clock, Log& log) {
  CommandTable commands;
  if (config::Problem problem = RenameCommands(options.settings(), commands)) return problem;
  log.Notice("Mayfly " MAYFLY_VERSION " starts");
  log.Notice(conf_file.empty() ? "no conf file was given" : "the conf file is ", conf_file);
  for (const std::string& warning : warnings) log.Warning(warning);
  if (config::Problem problem = FitFileLimit(options, log)) return problem;
  net::ServiceManager manager(options.settings().supervised, environment, getpid(), log);
  const config::Settings& settings = options.settings();
  net::StopDeadline deadline(settings.logfile, settings.shutdown_timeout_s);
  options.Follow(
      [&deadline](const config::Settings& changed) { deadline.set_seconds(changed.shutdown_timeout_s); },
      &config::Settings::shutdown_timeout_s);
  const auto run_loop = [&](Server& server, Executor& executor, const CrashDetails& details) {
    return RunLoop(server, executor, manager, details, deadline, std::move(inherited), log);
  };
  return Serve(limit_files, files, options, commands, clock, log, run_loop);
}

// Checks that a start could open the logfile, or make it in its folder. Does neither.
config::Problem CheckLogfile(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path();
  const bool known = path.empty() || access(path.c_str(), W_OK) == 0 ||
                     (errno == ENOENT && access(parent.empty() ? "." : parent.c_str(), W_OK | X_OK) == 0);
  return known ? config::Problem() : "cannot write the logfile " + path;
}

// Finds the problems of a start beyond the values of single options: renamed commands, users, certificates, addresses, the
// logfile. Opens nothing. `warnings`: also the warnings that a start would log.
void TryOut(const config::Files& files, config::Options& options, std::vector<std::string>& problems,
            std::vector<std::string>& warnings) {
  const config::Settings& settings = options.settings();
  const auto note = [&problems](const config::Problem& problem) {
    if (problem) problems.push_back(*problem);
  };
  CommandTable commands;
  note(RenameCommands(settings, commands));
  const config::Problem elsewhere = net::ChangeDirectory(settings.dir.path);
  elsewhere ? note(elsewhere) : note(CheckLogfile(settings.logfile));
  note(net::CheckAddresses(settings));
  if (settings.shards != 0) note(net::CheckShards(settings));
  SystemClock clock;
  Log log(clock, Log::Level::kNothing, "");
  const auto look = [&warnings](Server& server, Executor&, const CrashDetails&) -> config::Problem {
    for (std::string& line : WarningsOf(server)) warnings.push_back(std::move(line));
    return std::nullopt;
  };
  note(Serve(MemoryLimitFiles(), files, options, commands, clock, log, look));
  note(net::TlsTransports::Check(settings));
}

// Prints every problem of a conf file; returns 0 if there is none.
int CheckConfig(const std::string& path, const config::Files& files, uint64_t memory_bytes) {
  config::CheckedFile checked = config::CheckFile(path, files);
  config::Options options(memory_bytes, files);
  config::LoadResult loaded = options.Load(checked.sound);
  for (std::string& warning : loaded.warnings) checked.warnings.push_back(std::move(warning));
  loaded.error ? checked.problems.push_back(*loaded.error)
               : TryOut(files, options, checked.problems, checked.warnings);
  for (const std::string& warning : checked.warnings) std::printf("warning: %s\n", warning.c_str());
  std::fflush(stdout);  // the problems come last, also where both streams are one
  for (const std::string& problem : checked.problems) std::fprintf(stderr, "%s\n", problem.c_str());
  if (checked.problems.empty()) std::printf("%s: no problems\n", config::Printable(path).c_str());
  return checked.problems.empty() ? 0 : 1;
}

// Prints what a snapshot file has; returns 0 if a load would read it whole.
int CheckRdb(const std::string& path) {
  const auto print = [](const std::string& line) { std::printf("%s\n", line.c_str()); };
  const std::string problem = CheckSnapshotFile(Disk::Real(), path, SystemClock().Read(), print);
  std::fflush(stdout);  // so that the problem is the last line
  if (!problem.empty()) return Complain(problem);
  print(config::Printable(path) + ": no problems");
  return 0;
}

int Main(const std::vector<std::string>& words, std::vector<std::string> environment) {
  const bool is_shard = net::TakeShardMark(environment, getppid());
  const config::Files files = config::SystemFiles();
  if (net::AsksForPing(words)) return net::RunPing(words, environment, files);
  const MemoryLimitFiles limit_files;
  const uint64_t memory_bytes = limit_files.Read().value_or(MemoryLimit{}).Smaller().value_or(0);
  std::string to_check;
  config::Problem misused;
  if (config::AsksForCheck(words, config::kCheckRdb, to_check, misused))
    return misused ? Complain(*misused) : CheckRdb(to_check);
  if (config::AsksForCheck(words, config::kCheckConfig, to_check, misused))
    return misused ? Complain(*misused) : CheckConfig(to_check, files, memory_bytes);
  config::Options options(memory_bytes, files);
  const config::LoadResult loaded = options.Load(words, environment);
  if (loaded.error) return Complain(*loaded.error);
  if (loaded.answer) {
    std::fputs(loaded.answer->c_str(), stdout);
    return 0;
  }
  if (is_shard) net::LeaveToShards(options);
  const config::Settings& settings = options.settings();
  std::vector<net::InheritedSocket> inherited;
  if (const config::Problem problem = net::TakeInheritedSockets(environment, getpid(), inherited))
    return Complain(*problem);
  if (settings.shards != 0 && !inherited.empty())
    return Complain("shards: the daemons open ports of their own, and cannot take the inherited socket " +
                    inherited.front().name() + " (LISTEN_FDS)");
  const net::StartFolder start;
  if (const config::Problem problem = net::ChangeDirectory(settings.dir.path)) return Complain(*problem);
  SystemClock clock;
  Log log(clock, net::LevelOf(settings.loglevel), settings.logfile);
  Syslog syslog(settings.syslog_ident, net::FacilityOf(settings.syslog_facility));
  if (settings.syslog_enabled) log.AlsoTo(syslog);
  if (!log.Writable()) return Complain("cannot write the logfile " + settings.logfile);
  if (settings.syslog_enabled && !syslog.Reaches())
    log.Warning(
        "syslog-enabled: nobody listens at /dev/log; until somebody does, the system's log has no lines");
  const bool from_input = !words.empty() && words[0] == "-";
  const std::string conf_file = from_input ? "standard input" : options.conf_file();
  config::Problem problem;
  try {
    problem = settings.shards != 0 ? net::RunShards(options, words, environment, start, log)
                                   : Run(limit_files, files, options, loaded.warnings, environment,
                                         std::move(inherited), conf_file, clock, log);
  } catch (const std::exception& error) {
    problem = error.what();
  }
  if (!problem) return 0;
  // Reports on the terminal, or to a service manager, and where an operator looks later.
  if (!settings.logfile.empty()) log.Warning("the daemon ends: ", *problem);
  return Complain(*problem);
}

}  // namespace
}  // namespace mayfly

int main(int argc, char** argv) {
  if (!mayfly::net::OpenStandardStreams()) return mayfly::Complain("cannot open /dev/null");
  std::signal(SIGHUP,
              SIG_IGN);  // until the loop listens for it: a daemon that starts is not ended by a reload
  std::signal(SIGXFSZ, SIG_IGN);  // the result of a write reports the limit of a file's size (ulimit -f)
  try {
    std::vector<std::string> environment;
    for (char** variable = environ; *variable != nullptr; ++variable) environment.emplace_back(*variable);
    return mayfly::Main(std::vector<std::string>(argv + 1, argv + argc), environment);
  } catch (const std::exception& error) {
    return mayfly::Complain(error.what());
  }
}
