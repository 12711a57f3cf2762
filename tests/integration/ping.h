// What `mayfly --ping` says.
#pragma once

#include <string>
#include <vector>

#include "integration/daemon.h"
#include "support/catch.h"

namespace mayfly {

inline Ended Ping(std::vector<std::string> words, const std::vector<std::string>& environment = {}) {
  words.insert(words.begin(), "--ping");
  return Daemon::RunToEnd(words, {.environment = environment});
}

inline void CheckPong(const Ended& ended) {
  CHECK(ended.output == "PONG\n");
  CHECK(ended.exit_code == 0);
}

inline void CheckFails(const Ended& ended, const std::string& why) {
  INFO(ended.output);
  CHECK(ended.output.starts_with("mayfly: "));
  CHECK(ended.output.find(why) != std::string::npos);
  CHECK(ended.exit_code == 1);
}

}  // namespace mayfly
