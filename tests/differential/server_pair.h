// Mayfly and a real redis-server side by side, each with one client that is asked the same.
//
// Mayfly's clock follows the real one, and stands still while it answers a batch. Both refuse arguments over
// 1 MB, so that no value grows without end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "differential/case.h"
#include "differential/real_time.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {

class ServerPair {
 public:
  // `program`: of the oracle.
  explicit ServerPair(const std::string& program = Oracle::kProgram);

  struct Replies {
    std::vector<std::string> redis;
    std::vector<std::string> mayfly;  // fewer where a request was not answered
  };
  // Redis gets all of it in one piece, Mayfly `piece` requests at a time: 1 is a client that waits for each
  // reply, more show the look-ahead.
  // kTimePasses is sent to nobody: once what stands before it has run, both clocks go on by kPassMs at least.
  Replies Ask(const std::vector<Words>& requests, size_t piece);
  static const Words kTimePasses;
  static constexpr int64_t kPassMs = 3;

  // One server's reply alone.
  std::string AskRedis(const Words& request) { return oracle_.Ask(EncodeRequest(request), 1)[0]; }
  std::string AskMayfly(const Words& request) {
    FollowRealTime();
    return mayfly_.RunRaw(EncodeRequest(request));
  }
  // The oracle's replies over a connection of its own.
  std::vector<std::string> AskRedisAlone(const std::vector<Words>& requests);
  // By how much Mayfly has read its clock later than the oracle at most, so far.
  int64_t late_ms() const noexcept { return late_ms_; }

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
  void AskSome(std::span<const Words> requests, size_t piece, Replies& replies);
  void LetTimePass();

  Oracle oracle_;
  CommandTest mayfly_;
  int64_t late_ms_ = 0;
};

}  // namespace mayfly::testing
