// The replies that a client must get: its requests run on a server without a loop, one at a time, each of them
// whole.
#pragma once

#include <string>
#include <string_view>

#include "support/loopless_server.h"

namespace mayfly::sim {

class ModelClient {
 public:
  explicit ModelClient(testing::LooplessServer& server);
  ModelClient(const ModelClient&) = delete;
  ModelClient& operator=(const ModelClient&) = delete;
  ~ModelClient();

  // The reply to `request`. REQUIRES: it is one whole request, or one that breaks the protocol.
  std::string Answer(std::string_view request);
  // The connection is closed after the last reply.
  bool closed() const noexcept { return session_.Has(Mode::kEnding); }

 private:
  testing::LooplessServer& server_;
  Session session_;
};

}  // namespace mayfly::sim
