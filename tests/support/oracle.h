// A real redis-server of its own for a test: what Mayfly's replies are compared with.
//
// It listens on a unix socket in a fresh directory, keeps nothing on disk, and dies with this object (or with
// the test program). Starting waits until it says that it is ready.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace mayfly::testing {

class Oracle {
 public:
  // Throws std::runtime_error where redis-server is missing or does not start.
  explicit Oracle(const std::vector<std::string>& options = {});
  Oracle(const Oracle&) = delete;
  Oracle& operator=(const Oracle&) = delete;
  ~Oracle();

  // Sends requests and gives the raw bytes of as many replies. Throws std::runtime_error where the server
  // hangs up.
  std::vector<std::string> Ask(std::string_view requests, size_t count);

 private:
  void Start(const std::vector<std::string>& options);
  void WaitUntilReady();
  void Connect();
  void Stop() noexcept;
  std::string SocketPath() const { return directory_ + "/redis.sock"; }

  std::string directory_;
  pid_t process_ = -1;
  int log_ = -1;
  int socket_ = -1;
  std::string received_;
};

}  // namespace mayfly::testing
