// A real redis-server of its own for a test: what Mayfly's replies are compared with.
//
// It listens on a unix socket in a fresh directory, keeps nothing on disk, and dies with this object (or with
// the test program). Starting waits until it says that it is ready.
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
  // Throws std::runtime_error where there is no way in.
  explicit OracleClient(const Oracle& oracle);
  OracleClient(const OracleClient&) = delete;
  OracleClient& operator=(const OracleClient&) = delete;
  ~OracleClient();

  // Sends requests and gives the raw bytes of as many replies. Throws std::runtime_error where the server
  // hangs up.
  std::vector<std::string> Ask(std::string_view requests, size_t count);
  // Sends bytes and gives what comes back until it ends with `last`, or the server hangs up. Throws
  // std::runtime_error where neither happens in time.
  std::string AskUntil(std::string_view requests, std::string_view last);
  // The server has hung up.
  bool ended() const noexcept { return ended_; }

 private:
  // Sends what there is room for and receives what is there.
  void Turn(std::string_view& requests);

  int socket_ = -1;
  std::string received_;
  bool ended_ = false;
};

class Oracle {
 public:
  // Throws std::runtime_error where redis-server is missing or does not start.
  explicit Oracle(const std::vector<std::string>& options = {});
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;
  ~Oracle();

  // By a connection that lives as long as this object.
  std::vector<std::string> Ask(std::string_view requests, size_t count) {
    return client_->Ask(requests, count);
  }
  std::string SocketPath() const { return directory_ + "/redis.sock"; }

 private:
  void Start(const std::vector<std::string>& options);
  void WaitUntilReady();
  void Stop() noexcept;

  std::string directory_;
  pid_t process_ = -1;
  int log_ = -1;
  std::unique_ptr<OracleClient> client_;
};

}  // namespace mayfly::testing
