#include "net/process/shards.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>

#include "base/bits/key_slot.h"
#include "net/process/process.h"
#include "net/process/restarts.h"
#include "net/process/service_manager.h"
#include "net/process/shard_rules.h"
#include "net/socket/ready_socket.h"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

namespace mayfly::net {
namespace {

using config::Problem;

constexpr const char* kProgram = "/proc/self/exe";
// A shard with a shorter life and without a fatal signal has a lasting problem at its start, such as a port in use.
constexpr uint64_t kStartMs = 5'000;

uint64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

std::string ErrorText() { return std::strerror(errno); }

// A file without a name; the daemons inherit the file and read the path /proc/self/fd/N.
class SharedFile {
 public:
  ~SharedFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  Problem Write(const std::string& text) {
    fd_ = ::memfd_create("mayfly-shards", 0);
    if (fd_ < 0 || ::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
      return "cannot write the cluster's file: " + ErrorText();
    return std::nullopt;
  }
  std::string Path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_ = -1;
};

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The processors allowed to this process, in order.
std::vector<int> Processors() {
  cpu_set_t set;
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) processors.push_back(cpu);
  }
  return processors;
}

sigset_t Watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) sigaddset(&set, number);
  return set;
}

struct Shard {
  unsigned index = 0;
  unsigned port = 0;
  std::vector<std::string> words;  // argv
  int processor = -1;              // -1: any
  pid_t pid = -1;                  // -1: not running
  uint64_t started_ms = 0;
  uint64_t start_again_ms = 0;  // 0: never
  bool started_before = false;
  bool has_served = false;
  Restarts restarts;
};

// The port by which clients find the first daemon.
int64_t FirstPort(const config::Settings& settings) noexcept {
  return settings.port != 0 ? settings.port : settings.tls_port;
}

class Shards {
 public:
  Shards(const StartFolder& start, ServiceManager& manager, Log& log)
      : start_(start), manager_(manager), log_(log) {}
  ~Shards() {
    if (signals_ >= 0) ::close(signals_);
  }
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  void Add(const config::Settings& settings, const std::vector<std::string>& words, const std::string& file) {
    const std::vector<int> processors = Processors();
    const auto count = static_cast<unsigned>(settings.shards);
    for (unsigned i = 0; i < count; ++i) {
      Shard& shard = shards_.emplace_back();
      shard.index = i;
      shard.port = static_cast<unsigned>(FirstPort(settings)) + i;
      shard.words = {"mayfly"};
      shard.words.insert(shard.words.end(), words.begin(), words.end());
      for (std::string& word : ShardOptions(settings, i, file)) shard.words.push_back(std::move(word));
      if (!processors.empty()) shard.processor = processors[i % processors.size()];
    }
    if (processors.size() < count)
      log_.Warning("there are ", processors.size(), " processors for ", count, " shards: some share one");
  }

  Problem Run(const std::vector<std::string>& environment) {
    if (Problem problem = ready_.Open()) return problem;
    environment_ = ShardEnvironment(environment, ::getpid(), ready_.name());
    const sigset_t watched = Watched();
    signals_ = ::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signals_ < 0) return "cannot wait for signals: " + ErrorText();
    ::signal(SIGCHLD, SIG_DFL);  // otherwise the end of a shard could not be read
    ::sigprocmask(SIG_BLOCK, &watched, &mask_before_);
    for (Shard& shard : shards_) {
      if (Problem problem = Start(shard)) {
        Fail(std::move(*problem));
        break;
      }
    }
    while (AnyLeft()) {
      StartThoseDue();
      Wait();
      TakeReady();
      TakeSignals();
    }
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    return problem_;
  }

 private:
  bool AnyLeft() const {
    return std::any_of(shards_.begin(), shards_.end(),
                       [](const Shard& shard) { return shard.pid > 0 || shard.start_again_ms != 0; });
  }

  Problem Start(Shard& shard) {
    shard.start_again_ms = 0;
    shard.started_ms = NowMs();
    const std::vector<char*> argv = Pointers(shard.words);
    const std::vector<char*> environment = Pointers(environment_);
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) return "cannot start a shard: " + ErrorText();
    if (pid == 0) Become(shard, argv.data(), environment.data(), parent);
    shard.pid = pid;
    log_.Notice("shard ", shard.index + 1, " starts on port ", shard.port, " as process ", pid);
    return std::nullopt;
  }

  // Runs in the new process. Its signals come from the parent alone: a terminal's signals would come twice.
  [[noreturn]] void Become(const Shard& shard, char* const* argv, char* const* environment,
                           pid_t parent) const noexcept {
    ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (shard.processor >= 0) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<size_t>(shard.processor), &set);
      ::sched_setaffinity(0, sizeof set, &set);  // not allowed everywhere, and not necessary
    }
    std::signal(SIGHUP, SIG_IGN);  // until the daemon listens for it: the parent may pass one on before
    ::sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    if (::getppid() == parent && start_.Enter()) ::execve(kProgram, argv, environment);
    ::_exit(1);
  }

  void StartThoseDue() {
    const uint64_t now_ms = NowMs();
    for (Shard& shard : shards_) {
      if (shard.start_again_ms == 0 || shard.start_again_ms > now_ms) continue;
      if (const Problem problem = Start(shard)) {
        log_.Warning(*problem);
        shard.start_again_ms = now_ms + shard.restarts.NextMs(0);
      }
    }
  }

  // Waits for a signal, for a shard's message, or until the next start of a shard.
  void Wait() {
    constexpr uint64_t kLongMs = 3'600'000;
    const uint64_t now_ms = NowMs();
    uint64_t until_ms = now_ms + (manager_.watchdog_ms() != 0 ? manager_.watchdog_ms() : kLongMs);
    if (manager_.watchdog_ms() != 0) manager_.StillAlive();
    for (const Shard& shard : shards_) {
      if (shard.start_again_ms != 0) until_ms = std::min(until_ms, std::max(shard.start_again_ms, now_ms));
    }
    pollfd waiting[] = {{signals_, POLLIN, 0}, {ready_.descriptor(), POLLIN, 0}};
    ::poll(waiting, std::size(waiting), static_cast<int>(std::min(until_ms - now_ms, kLongMs)));
  }

  void TakeReady() {
    for (pid_t pid = ready_.Take(); pid >= 0; pid = ready_.Take()) {
      for (Shard& shard : shards_) shard.has_served |= pid != 0 && shard.pid == pid;
    }
    TellIfReady();
  }

  // Shards that were told to end meanwhile do not count.
  void TellIfReady() {
    const auto waits = [](const Shard& shard) { return !shard.has_served; };
    if (told_ready_ || stopping_ || std::any_of(shards_.begin(), shards_.end(), waits)) return;
    told_ready_ = true;
    log_.Notice("all ", shards_.size(), " shards serve");
    manager_.Ready();
  }

  void TakeSignals() {
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) == static_cast<ssize_t>(sizeof signal)) {
      const auto number = static_cast<int>(signal.ssi_signo);
      if (number == SIGCHLD) {
        Reap();
        continue;
      }
      if (number != SIGHUP) Stop(number);
      for (const Shard& shard : shards_) {
        if (shard.pid > 0) ::kill(shard.pid, number);
      }
    }
  }

  void Stop(int number) {
    if (!stopping_) {
      log_.Notice("received ", number == SIGINT ? "SIGINT" : "SIGTERM", ", stopping all shards");
      manager_.SavingAtEnd();  // perhaps: a shard's request for more time is not passed on
      manager_.Stopping();
    }
    stopping_ = true;
    for (Shard& shard : shards_) shard.start_again_ms = 0;
  }

  void Fail(std::string&& problem) {
    if (!problem_) problem_ = std::move(problem);
    stopping_ = true;
    for (Shard& shard : shards_) {
      shard.start_again_ms = 0;
      if (shard.pid > 0) ::kill(shard.pid, SIGTERM);
    }
  }

  void Reap() {
    int status = 0;
    for (pid_t pid = ::waitpid(-1, &status, WNOHANG); pid > 0; pid = ::waitpid(-1, &status, WNOHANG)) {
      const auto shard =
          std::find_if(shards_.begin(), shards_.end(), [pid](const Shard& s) { return s.pid == pid; });
      if (shard != shards_.end()) OnEnd(*shard, status);
    }
  }

  void OnEnd(Shard& shard, int status) {
    const uint64_t ran_ms = NowMs() - shard.started_ms;
    const bool first = !shard.started_before;
    shard.pid = -1;
    shard.started_before = true;
    const bool exited = WIFEXITED(status);
    const std::string how = (exited ? "with exit code " : "by signal ") +
                            std::to_string(exited ? WEXITSTATUS(status) : WTERMSIG(status));
    const std::string name =
        "shard " + std::to_string(shard.index + 1) + ", port " + std::to_string(shard.port);
    if (stopping_) return;
    if (exited && WEXITSTATUS(status) == 0) {
      log_.Notice(name, ", was told to end");
      shard.has_served = true;
      return TellIfReady();
    }
    if (first && exited && ran_ms < kStartMs) return Fail(name + " ended " + how + " at its start");
    const uint64_t wait_ms = shard.restarts.NextMs(ran_ms);
    shard.start_again_ms = NowMs() + wait_ms;
    log_.Warning(name, ", ended ", how, ": it starts again in ", wait_ms, " ms");
  }

  const StartFolder& start_;
  ServiceManager& manager_;
  Log& log_;
  std::vector<Shard> shards_;
  sigset_t mask_before_{};
  ReadySocket ready_;
  int signals_ = -1;                      // a descriptor
  std::vector<std::string> environment_;  // of the daemons
  bool stopping_ = false;
  bool told_ready_ = false;
  Problem problem_;
};

}  // namespace

Problem CheckShards(const config::Settings& settings) {
  constexpr int64_t kPortMax = 65'535;
  const int64_t highest = std::max({settings.port, settings.tls_port, settings.metrics_port});
  if (FirstPort(settings) == 0)
    return "shards needs a port or a tls-port: from it on, each daemon has one of its own";
  if (highest + settings.shards - 1 > kPortMax)
    return "shards needs a port for each daemon, from the option port on (and from tls-port and metrics-port "
           "on)";
  if (settings.cluster_mode == config::ClusterMode::kEmulated || settings.cluster_enabled)
    return "shards makes a cluster of its own: leave out cluster-enabled and cluster-mode";
  return std::nullopt;
}

std::string ShardsFile(unsigned shards, unsigned first_port, unsigned first_tls_port) {
  std::string text;
  for (unsigned i = 0; i < shards; ++i) {
    const size_t first = kSlots * i / shards;
    const size_t last = kSlots * (i + 1) / shards - 1;
    const std::string tls =
        first_tls_port != 0 ? "tls-port=" + std::to_string(first_tls_port + i) + ' ' : std::string();
    text += "node shard-" + std::to_string(i + 1) + " *:" + std::to_string(first_port + i) + ' ' + tls +
            std::to_string(first) + '-' + std::to_string(last) + '\n';
  }
  return text;
}

std::vector<std::string> ShardOptions(const config::Settings& settings, unsigned index,
                                      const std::string& cluster_file) {
  const std::string own = std::to_string(FirstPort(settings) + index);
  const std::string port = settings.port != 0 ? own : "0";  // 0: TLS only
  std::vector<std::string> words{"--shards",
                                 "0",
                                 "--port",
                                 port,
                                 "--cluster-enabled",
                                 "yes",
                                 "--cluster-config-file",
                                 cluster_file,
                                 "--cluster-announce-human-nodename",
                                 "shard-" + std::to_string(index + 1),
                                 "--supervised",
                                 "systemd",
                                 "--pidfile",
                                 ""};
  const auto add = [&words](const char* name, std::string value) {
    words.emplace_back(name);
    words.push_back(std::move(value));
  };
  if (!settings.dbfilename.empty()) add("--dbfilename", settings.dbfilename + '.' + own);
  if (!settings.unixsocket.empty()) add("--unixsocket", settings.unixsocket + '.' + own);
  if (settings.tls_port != 0) add("--tls-port", std::to_string(settings.tls_port + index));
  if (settings.metrics_port != 0) add("--metrics-port", std::to_string(settings.metrics_port + index));
  const config::MaxMemory& memory = settings.maxmemory;
  if (memory.request != config::MaxMemory::Request::kBytes && memory.bytes != 0)
    add("--maxmemory", std::to_string(memory.bytes / static_cast<uint64_t>(settings.shards)));
  return words;
}

std::vector<std::string> ShardEnvironment(std::vector<std::string> environment, pid_t parent,
                                          const std::string& ready_socket) {
  std::erase_if(environment, [](const std::string& variable) {
    const auto is = [&](std::string_view name) { return variable.starts_with(name); };
    return is("NOTIFY_SOCKET=") || is("WATCHDOG_USEC=") || is("WATCHDOG_PID=") || is(kShardMark);
  });
  environment.push_back("NOTIFY_SOCKET=" + ready_socket);
  environment.push_back(std::string(kShardMark) + std::to_string(parent));
  return environment;
}

StartFolder::StartFolder() noexcept : fd_(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {}
StartFolder::~StartFolder() {
  if (fd_ >= 0) ::close(fd_);
}
bool StartFolder::Enter() const noexcept { return fd_ >= 0 && ::fchdir(fd_) == 0; }

namespace {

// With fewer shards than before, the files of the others stay, and so do their keys.
void WarnOfOtherFiles(const config::Settings& settings, Log& log) {
  constexpr int64_t kMostLooked = 128;
  if (settings.dbfilename.empty()) return;
  for (int64_t i = settings.shards; i < settings.shards + kMostLooked; ++i) {
    const int64_t port = FirstPort(settings) + i;
    const std::string path = settings.dir.path + '/' + settings.dbfilename + '.' + std::to_string(port);
    std::error_code error;
    if (std::filesystem::exists(path, error))
      log.Warning("the keys of ", path, " are not loaded: with shards ", settings.shards,
                  " no shard has the port ", port);
  }
}

}  // namespace

Problem RunShards(const config::Options& options, const std::vector<std::string>& words,
                  const std::vector<std::string>& environment, const StartFolder& start, Log& log) {
  const config::Settings& settings = options.settings();
  if (Problem problem = CheckShards(settings)) return problem;
  if (!words.empty() && words.front() == "-")
    return "shards: the daemons cannot read their options from standard input, too";
  SharedFile file;
  const std::string text =
      ShardsFile(static_cast<unsigned>(settings.shards), static_cast<unsigned>(FirstPort(settings)),
                 static_cast<unsigned>(settings.tls_port));
  if (Problem problem = file.Write(text)) return problem;
  PidFile pid_file(settings.pidfile);
  if (const Problem problem = pid_file.Write()) log.Warning(*problem);
  ServiceManager manager(settings.supervised, environment, ::getpid(), log);
  Shards shards(start, manager, log);
  WarnOfOtherFiles(settings, log);
  shards.Add(settings, words, file.Path());
  return shards.Run(environment);
}

}  // namespace mayfly::net
