// A real daemon on a free port, in a directory of its own, for as long as a test needs it.
//
// The constructor returns when the daemon answers on its unix socket; waiting is bounded, and a test fails
// where the bound is passed. The destructor ends the process and removes the directory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace mayfly {

// How long any test waits for something that must come.
inline constexpr int kPatienceMs = 20'000;

int64_t NowMs();
void PauseMs(int ms);

// Asks `condition` again and again, with short pauses, until it is true (true) or patience ends (false).
template <typename Condition>
bool Eventually(Condition&& condition) {
  constexpr int kPauseMs = 5;
  for (const int64_t end = NowMs() + kPatienceMs; NowMs() < end; PauseMs(kPauseMs)) {
    if (condition()) return true;
  }
  return condition();
}

// What a program that ended left behind.
struct Ended {
  int exit_code = -1;  // -1: it did not exit by itself in time, or by a signal
  std::string output;  // both streams
};

class Daemon {
 public:
  // `options` as on the command line; port, bind, dir and unixsocket are given unless they are among them.
  // `environment` are "NAME=value" texts besides the test's own.
  explicit Daemon(std::vector<std::string> options = {}, const std::vector<std::string>& environment = {});
  ~Daemon();
  Daemon(const Daemon&) = delete;
  Daemon& operator=(const Daemon&) = delete;

  uint16_t port() const noexcept { return port_; }
  const std::string& directory() const noexcept { return directory_; }
  const std::string& unix_socket() const noexcept { return unix_socket_; }
  std::string log() const;

  void Signal(int number) const;
  // Waits until the process has ended.
  Ended Wait();
  bool Running();

  // Runs the program until it ends by itself: for options that it refuses.
  static Ended RunToEnd(const std::vector<std::string>& options,
                        const std::vector<std::string>& environment = {});

 private:
  bool Ready() const;

  std::string directory_;
  std::string unix_socket_;
  uint16_t port_ = 0;
  pid_t pid_ = -1;
};

// A port that nobody listens on at the moment.
uint16_t FreePort();

}  // namespace mayfly
