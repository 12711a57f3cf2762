// A hiredis connection whose replies are short texts, so that tests read as a script.
//   "OK"  ":3"  "(nil)"  "value" as it is  "-ERR ..." for errors  "[a b]" for arrays  "(gone)": no connection
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "integration/daemon.h"

struct redisContext;  // NOLINT(readability-identifier-naming): the name is of hiredis

namespace mayfly {

class Client {
 public:
  explicit Client(const Daemon& daemon);
  // Of any server on this machine.
  static Client ToPort(uint16_t port);
  static Client OverUnixSocket(const Daemon& daemon);
  Client(Client&& other) noexcept;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Sends one request and waits for its reply.
  std::string Run(const std::vector<std::string>& words);
  // Queues a request; Next sends what is queued and reads one reply.
  void Queue(const std::vector<std::string>& words);
  std::string Next();
  // One field of INFO.
  std::string Info(const std::string& field);
  int64_t InfoNumber(const std::string& field);

 private:
  explicit Client(redisContext* context);
  redisContext* context_;
};

}  // namespace mayfly
