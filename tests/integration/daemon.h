// A real daemon on a free port, in a directory of its own, for as long as a test needs it.
//
// The constructor returns when the daemon answers on its unix socket. Waits are limited, and a test whose
// limit is exceeded fails. The destructor ends the process and removes the directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mayfly {

// How long any test waits for something that must happen.
inline constexpr int kPatienceMs = 20'000;

// The path of the daemon: DAEMON_UNDER_TEST if it is set, or the one of the tests' own build tree.
std::string DaemonProgram();

int64_t NowMs();
void PauseMs(int ms);

// Evaluates `condition` again and again, with short pauses. True once it is true; false if that takes too
// long.
template <typename Condition>
bool Eventually(Condition&& condition) {
  constexpr int kPauseMs = 5;
  for (const int64_t end = NowMs() + kPatienceMs; NowMs() < end; PauseMs(kPauseMs)) {
    if (condition()) return true;
  }
  return condition();
}

// How a program ended, and what it printed.
struct Ended {
  int exit_code = -1;  // -1: it did not exit in time, or was ended by a signal
  int signal = 0;      // that ended it; 0: none
  std::string output;  // both streams
};

// What a program finds when it starts, where it is not what the test program has.
struct Surroundings {
  std::vector<std::string> environment = {};  // further "NAME=value" texts
  std::vector<int> closed_streams = {};       // of the descriptors 0 to 2
  std::map<int, uint64_t> limits = {};  // RLIMIT_...: the soft and the hard limit, which it cannot raise
  // Descriptors that it finds from 3 on, as from systemd's socket activation, with LISTEN_PID and LISTEN_FDS.
  std::vector<int> inherited = {};
};

class Daemon {
 public:
  // `options` as on the command line; port, bind, dir and unixsocket are given unless they are among them.
  explicit Daemon(std::vector<std::string> options = {}, const Surroundings& surroundings = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  uint16_t port() const noexcept { return port_; }
  const std::string& directory() const noexcept { return directory_; }
  const std::string& unix_socket() const noexcept { return unix_socket_; }
  std::string log() const;

  pid_t pid() const noexcept { return pid_; }
  void Signal(int number) const;
  // Waits until the process has ended.
  Ended Wait();
  bool Running();

  // Runs the program until it ends by itself: for options that it refuses.
  static Ended RunToEnd(const std::vector<std::string>& options, const Surroundings& surroundings = {});

 private:
  bool Ready() const;

  std::string directory_;
  std::string unix_socket_;
  uint16_t port_ = 0;
  pid_t pid_ = -1;
};

}  // namespace mayfly
