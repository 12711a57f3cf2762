#include "integration/daemon.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

#include "support/free_port.h"

#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#ifdef __linux__
#include <linux/capability.h>
#include <sys/prctl.h>
#endif

namespace mayfly {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string MakeDirectory() {
  std::string path = (std::filesystem::temp_directory_path() / "mayfly-test-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary directory");
  return path;
}

// In the child: what it is to find. Descriptors of the test's own sockets are not left to it.
void Arrange(const Surroundings& surroundings, const std::string& output) {
  constexpr int kDescriptors = 4096;
  constexpr int kFirstInherited = STDERR_FILENO + 1;
  const int end = kFirstInherited + static_cast<int>(surroundings.inherited.size());
  // First out of the way of each other.
  std::vector<int> inherited;
  for (const int descriptor : surroundings.inherited) inherited.push_back(fcntl(descriptor, F_DUPFD, end));
  for (int i = kFirstInherited; i < end; ++i) dup2(inherited[static_cast<size_t>(i - kFirstInherited)], i);
  for (int descriptor = end; descriptor < kDescriptors; ++descriptor) close(descriptor);
  const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
  close(file);
  for (const int stream : surroundings.closed_streams) close(stream);
  for (const auto& [resource, most] : surroundings.limits) {
    const rlimit limit{.rlim_cur = most, .rlim_max = most};
    setrlimit(static_cast<decltype(RLIMIT_NOFILE)>(resource), &limit);
  }
#ifdef __linux__
  // Root could raise its limits again.
  if (!surroundings.limits.empty()) prctl(PR_CAPBSET_DROP, CAP_SYS_RESOURCE, 0, 0, 0);
#endif
}

// Starts the daemon with both streams going to the file `output`.
pid_t Start(const std::vector<std::string>& options, const Surroundings& surroundings,
            const std::string& output) {
  std::vector<std::string> words = {DaemonProgram()};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  for (const std::string& variable : surroundings.environment)
    variables.push_back(const_cast<char*>(variable.c_str()));
  std::string count = "LISTEN_FDS=" + std::to_string(surroundings.inherited.size());
  std::string whom = "LISTEN_PID=";
  if (!surroundings.inherited.empty()) variables.insert(variables.begin(), {count.data(), nullptr});
  variables.push_back(nullptr);

  const pid_t pid = fork();
  if (pid != 0) return pid;
  whom += std::to_string(getpid());
  if (!surroundings.inherited.empty()) variables[1] = whom.data();
  Arrange(surroundings, output);
  execve(arguments[0], arguments.data(), variables.data());
  _exit(127);
}

Ended WaitFor(pid_t pid, const std::string& output) {
  int status = 0;
  const bool ended = Eventually([&] { return waitpid(pid, &status, WNOHANG) == pid; });
  if (!ended) {
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
  }
  return {.exit_code = ended && WIFEXITED(status) ? WEXITSTATUS(status) : -1,
          .signal = ended && WIFSIGNALED(status) ? WTERMSIG(status) : 0,
          .output = ReadAll(output)};
}

}  // namespace

std::string DaemonProgram() {
  const char* const other = std::getenv("DAEMON_UNDER_TEST");
  return other != nullptr ? other : MAYFLY_DAEMON;
}

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void PauseMs(int ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(ms));  // polls: what the daemon does next
}

Daemon::Daemon(std::vector<std::string> options, const Surroundings& surroundings)
    : directory_(MakeDirectory()), port_(FreePort()) {
  // Adds the option unless it is given; returns the value that it has then.
  const auto give = [&](const std::string& flag, const std::string& value) -> std::string {
    const auto named = std::find(options.begin(), options.end(), flag);
    if (named != options.end()) return *(named + 1);
    options.insert(options.end(), {flag, value});
    return value;
  };
  port_ = static_cast<uint16_t>(std::stoi(give("--port", std::to_string(port_))));
  unix_socket_ = give("--unixsocket", directory_ + "/mayfly.sock");
  if (std::find(options.begin(), options.end(), "--shards") != options.end())
    unix_socket_ += "." + std::to_string(port_);  // the first shard's
  give("--bind", "127.0.0.1");
  give("--dir", directory_);
  pid_ = Start(options, surroundings, directory_ + "/log");
  if (!Eventually([this] { return Ready() || !Running(); }) || !Running())
    throw std::runtime_error("the daemon does not start:\n" + log());
}

Daemon::~Daemon() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

// The daemon opens the unix socket after all other listeners. Reads to the end, so that no test finds this
// connection among its clients.
bool Daemon::Ready() const {
  const int probe = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  unix_socket_.copy(address.sun_path, sizeof address.sun_path - 1);
  const timeval patience{.tv_sec = kPatienceMs / 1000, .tv_usec = 0};
  setsockopt(probe, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const bool answers = connect(probe, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  if (answers) {
    shutdown(probe, SHUT_WR);
    for (char bytes[256]; read(probe, bytes, sizeof bytes) > 0;) {
    }
  }
  close(probe);
  return answers;
}

std::string Daemon::log() const { return ReadAll(directory_ + "/log"); }

void Daemon::Signal(int number) const { kill(pid_, number); }

Ended Daemon::Wait() {
  Ended ended = WaitFor(pid_, directory_ + "/log");
  pid_ = -1;
  return ended;
}

bool Daemon::Running() {
  if (pid_ > 0 && waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ > 0;
}

Ended Daemon::RunToEnd(const std::vector<std::string>& options, const Surroundings& surroundings) {
  const std::string directory = MakeDirectory();
  const std::string output = directory + "/log";
  Ended ended = WaitFor(Start(options, surroundings, output), output);
  std::filesystem::remove_all(directory);
  return ended;
}

}  // namespace mayfly
