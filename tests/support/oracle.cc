#include "support/oracle.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "support/reply.h"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

namespace mayfly::testing {
namespace {

// A server that does not answer for that long has stopped, or waits for something that nobody sends.
constexpr int kPatienceMs = 30'000;

[[noreturn]] void Fail(const std::string& what) {
  throw std::runtime_error("redis-server: " + what + ": " + std::strerror(errno));
}

}  // namespace

Oracle::Oracle(const std::vector<std::string>& options, const std::string& program) {
  std::string pattern = (std::filesystem::temp_directory_path() / "mayfly-oracle-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) Fail("no directory for its socket");
  directory_ = pattern;
  try {
    Start(options, program);
    WaitUntilReady();
    client_ = std::make_unique<OracleClient>(*this);
  } catch (...) {
    Stop();
    throw;
  }
}

Oracle::~Oracle() { Stop(); }

bool Oracle::Exists(const std::string& program) {
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + '/' + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

void Oracle::Start(const std::vector<std::string>& options, const std::string& program) {
  std::vector<std::string> words{program,    "--port",    "0", "--unixsocket", SocketPath(), "--dir",
                                 directory_, "--save",    "",  "--daemonize",  "no",         "--appendonly",
                                 "no",       "--logfile", ""};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) Fail("no pipe for its log");
  log_ = pipe_ends[0];
  process_ = fork();
  if (process_ < 0) Fail("cannot be forked");
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);  // why it does not start
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(pipe_ends[1]);
}

void Oracle::WaitUntilReady() {
  std::string log;
  std::array<char, 4096> piece;
  while (log.find("eady to accept connections") == std::string::npos) {
    const ssize_t size = read(log_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) throw std::runtime_error("redis-server is missing or does not start: " + log);
    log.append(piece.data(), static_cast<size_t>(size));
  }
  // Nobody reads the log from now on: a full pipe would stop the server. It ignores SIGPIPE.
  close(std::exchange(log_, -1));
}

void Oracle::Stop() noexcept {
  client_.reset();
  if (process_ > 0) {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  if (log_ >= 0) close(log_);
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

OracleClient::OracleClient(const Oracle& oracle) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = oracle.SocketPath();
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("too long for a socket: " + path);
  path.copy(address.sun_path, path.size());
  socket_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return;
  close(socket_);
  Fail("no connection");
}

OracleClient::~OracleClient() { close(socket_); }

// Sends and receives at the same time, since a server stops reading requests if nobody reads its replies.
void OracleClient::Turn(std::string_view& requests) {
  std::array<char, 65536> piece;
  pollfd wait{socket_, static_cast<short>(requests.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  const int ready = poll(&wait, 1, kPatienceMs);
  if (ready < 0 && errno != EINTR) Fail("poll");
  if (ready == 0) throw std::runtime_error("redis-server does not answer");
  if ((wait.revents & POLLOUT) != 0) {
    const ssize_t sent = send(socket_, requests.data(), requests.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) requests.remove_prefix(static_cast<size_t>(sent));
    if (sent < 0 && errno == EPIPE) requests = {};
  }
  if ((wait.revents & (POLLIN | POLLHUP)) != 0) {
    const ssize_t size = recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno == ECONNRESET)) ended_ = true;
    if (size > 0) received_.append(piece.data(), static_cast<size_t>(size));
  }
}

std::vector<std::string> OracleClient::Ask(std::string_view requests, size_t count) {
  std::vector<std::string> replies;
  while (true) {
    std::string_view rest = received_;
    while (replies.size() < count) {
      const std::string_view before = rest;
      if (!TakeReply(rest)) break;
      replies.emplace_back(before.substr(0, before.size() - rest.size()));
    }
    received_.erase(0, received_.size() - rest.size());
    if (replies.size() == count && requests.empty()) return replies;
    if (ended_) throw std::runtime_error("redis-server hung up");
    Turn(requests);
  }
}

std::string OracleClient::AskUntil(std::string_view requests, std::string_view last) {
  while (!ended_ && !received_.ends_with(last)) Turn(requests);
  return std::exchange(received_, {});
}

}  // namespace mayfly::testing
