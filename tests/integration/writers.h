// A client that writes while servers are replicated: with commands of all kinds, as fast as its server answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "integration/client.h"

namespace mayfly {

// Writes until it is destroyed.
class Writers {
 public:
  explicit Writers(uint16_t port) : thread_([this, port] { Write(Client::ToPort(port)); }) {}
  Writers(const Writers&) = delete;
  Writers& operator=(const Writers&) = delete;
  ~Writers() { Stop(); }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  size_t requests() const noexcept { return requests_; }

 private:
  void Write(Client client) {
    for (size_t i = 0; !stop_; ++i) {
      const std::string n = std::to_string(i % 500);
      const std::string more = std::to_string(i);
      const std::vector<std::vector<std::string>> requests = {
          {"SET", "s:" + n, more},
          {"SET", "t:" + n, more, "PX", std::to_string(1 + i % 200)},
          {"INCR", "c:" + n},
          {"HSET", "h:" + n, "f" + std::to_string(i % 700), more},
          {"SADD", "u:" + n, "m" + more},
          {"SPOP", "u:" + std::to_string((i * 7) % 500)},
          {"ZADD", "z:" + n, more, "m" + std::to_string(i % 300)},
          {"RPUSH", "l:" + n, more},
          {"LPOP", "l:" + std::to_string((i * 3) % 500)},
          {"XADD", "x:" + n, "MAXLEN", "~", "100", "*", "f", more},
          {"EXPIRE", "h:" + std::to_string((i * 11) % 500), "100"},
          {"PEXPIRE", "s:" + std::to_string((i * 13) % 500), "50"},
          {"DEL", "z:" + std::to_string((i * 17) % 500)},
          {"MULTI"},
          {"INCRBY", "c:a", "2"},
          {"APPEND", "a:" + n, "x"},
          {"EXEC"},
          {"EVAL",
           "redis.call('SET', KEYS[1], redis.call('TIME')[2]) return redis.call('LPUSH', KEYS[2], '1')", "2",
           "e:" + n, "l:" + n},
      };
      for (const std::vector<std::string>& request : requests) client.Queue(request);
      for (size_t k = 0; k != requests.size(); ++k) client.Next();
      requests_ += requests.size();
    }
  }

  std::atomic<bool> stop_ = false;
  std::atomic<size_t> requests_ = 0;
  std::thread thread_;
};

}  // namespace mayfly
