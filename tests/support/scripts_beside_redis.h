// Requests that a real redis-server gets as well: the bytes of the replies must be the same, in both protocols.
#pragma once

#include <string>
#include <vector>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {

class ScriptsBesideRedis : public CommandTest {
 public:
  using Words = std::vector<std::string>;

  // Sends the requests to both servers, in one protocol.
  void Compare(const std::vector<Words>& requests, int protocol) {
    protocol == 3 ? UseResp3() : UseResp2();
    std::string bytes = EncodeRequest({"HELLO", std::to_string(protocol)});
    for (const Words& request : requests) bytes += EncodeRequest(request);
    const std::vector<std::string> redis = oracle_.Ask(bytes, requests.size() + 1);
    for (size_t i = 0; i < requests.size(); ++i) {
      Reply shown = Array({});
      for (const std::string& word : requests[i]) shown.elements.push_back(Bulk(word));
      CAPTURE(protocol, i, shown);
      CHECK(Bulk(RunRaw(EncodeRequest(requests[i]))) == Bulk(redis[i + 1]));
    }
  }
  // Each script with two keys and two arguments, after a few keys were set.
  template <size_t kCount>
  void CompareScripts(const char* const (&scripts)[kCount]) {
    for (const int protocol : {2, 3}) {
      std::vector<Words> requests = {{"FLUSHALL"},
                                     {"SET", "text", "value"},
                                     {"SET", "number", "10"},
                                     {"HSET", "hash", "a", "1", "b", "2"},
                                     {"RPUSH", "list", "x", "y", "z"},
                                     {"SADD", "set", "only"},
                                     {"ZADD", "zset", "1.5", "m"}};
      for (const char* script : scripts)
        requests.push_back({"EVAL", script, "2", "text", "number", "one", "2"});
      Compare(requests, protocol);
    }
  }

 private:
  Oracle oracle_;
};

}  // namespace mayfly::testing
