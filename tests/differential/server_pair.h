// Mayfly and a real redis-server side by side, each with one client that is asked the same.
//
// Mayfly's clock follows the real one. Both refuse arguments over 1 MB, so that no value grows without end.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "differential/case.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {

class ServerPair {
 public:
  ServerPair();

  struct Replies {
    std::vector<std::string> redis;
    std::vector<std::string> mayfly;  // fewer where a request was not answered
  };
  // Redis gets all of it in one piece, Mayfly `piece` requests at a time: 1 is a client that waits for each
  // reply, more show the look-ahead.
  Replies Ask(const std::vector<Words>& requests, size_t piece);

  // The oracle's reply alone.
  std::string AskRedis(const Words& request) { return oracle_.Ask(EncodeRequest(request), 1)[0]; }

  // What a client of its own gets, and who was cut off by it.
  struct Outcome {
    std::string bytes;
    bool ended = false;        // the client that asked
    bool other_ended = false;  // one that only looked on
  };
  struct Outcomes {
    Outcome redis;
    Outcome mayfly;
  };
  // Sends bytes over new connections that end with the call. `last` is what the last reply ends with.
  Outcomes AskAlone(const std::string& bytes, std::string_view last);

  // Empty, and as if the client had just come.
  void Reset();

  const CommandTable& table() { return mayfly_.server().commands; }

 private:
  void FollowRealTime();

  Oracle oracle_;
  CommandTest mayfly_;
};

// Unix time of this machine.
int64_t RealMs();

}  // namespace mayfly::testing
