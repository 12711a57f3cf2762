// A real redis-server for one test: Mayfly's replies are compared with its replies.
//
// It listens on a unix socket in a new directory, writes nothing to disk, and ends with this object (or with
// the test program). The constructor waits until the server is ready.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace mayfly::testing {

class Oracle;

// One connection to it.
class OracleClient {
 public:
  // Throws std::runtime_error if it cannot connect.
  explicit OracleClient(const Oracle& oracle);
  OracleClient(const OracleClient&) = delete;
  OracleClient& operator=(const OracleClient&) = delete;
  ~OracleClient();

  // Sends requests and returns the raw bytes of as many replies. Throws std::runtime_error if the server
  // hangs up.
  std::vector<std::string> Ask(std::string_view requests, size_t count);
  // Sends bytes and returns what comes back until that ends with `last` or the server hangs up. Throws
  // std::runtime_error if neither happens in time.
  std::string AskUntil(std::string_view requests, std::string_view last);
  // The server has hung up.
  bool ended() const noexcept { return ended_; }

 private:
  // Sends what the socket takes and receives what has arrived.
  void Turn(std::string_view& requests);

  int socket_ = -1;
  std::string received_;
  bool ended_ = false;
};

class Oracle {
 public:
  static constexpr const char* kProgram = "redis-server";
  // A newer one, for what the first lacks; not on every machine.
  static constexpr const char* kNewerProgram = "redis-server-8";
  static constexpr const char* kValkey = "valkey-server";

  // Throws std::runtime_error if the program is missing or does not start.
  explicit Oracle(const std::vector<std::string>& options = {}, const std::string& program = kProgram);
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;
  ~Oracle();

  // Over a connection that stays open as long as this object exists.
  std::vector<std::string> Ask(std::string_view requests, size_t count) {
    return client_->Ask(requests, count);
  }
  // Whether it can be started.
  static bool Exists(const std::string& program);
  std::string SocketPath() const { return directory_ + "/redis.sock"; }

 private:
  void Start(const std::vector<std::string>& options, const std::string& program);
  void WaitUntilReady();
  void Stop() noexcept;

  std::string directory_;
  pid_t process_ = -1;
  int log_ = -1;
  std::unique_ptr<OracleClient> client_;
};

}  // namespace mayfly::testing
