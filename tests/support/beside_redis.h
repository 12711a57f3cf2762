// Requests that a real redis-server gets as well: the bytes of the replies must be the same.
#pragma once

#include <string>
#include <vector>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {

class BesideRedis : public CommandTest {
 public:
  // `options` are those of the redis-server.
  explicit BesideRedis(const std::vector<std::string>& options = {}) : oracle_(options) {}
  const Oracle& oracle() const noexcept { return oracle_; }

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

 private:
  Oracle oracle_;
};

}  // namespace mayfly::testing
