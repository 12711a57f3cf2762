// What redis-server 7.0 lacks, beside a redis-server of version 8: the same requests get the same replies.
#include <iostream>

#include "support/command_test.h"
#include "support/oracle.h"
#include "support/request_text.h"

namespace mayfly::testing {
namespace {

using Words = std::vector<std::string>;

struct Talk {
  std::string about;
  std::vector<Words> requests;
};

// Deadlines are far from now, or at times that both are told: the two clocks differ a little.
const std::vector<Talk> kTalks = {
    {"MULTI-word options of later versions",
     {{"SET", "k", "v"},
      {"SET", "k", "w", "NX", "GET"},
      {"GETEX", "k", "PXAT", "9000000000000"},
      {"EXPIRETIME", "k"}}},
};

}  // namespace

TEST_CASE_METHOD(CommandTest, "what redis-server 8 has beyond 7.0 gets the same replies here") {
  if (!Oracle::Exists(Oracle::kNewerProgram)) {
    std::cout << "left out: there is no " << Oracle::kNewerProgram << " to compare with" << std::endl;
    return;
  }
  Oracle oracle({}, Oracle::kNewerProgram);
  for (const int protocol : {2, 3}) {
    const Words hello{"HELLO", std::to_string(protocol)};
    oracle.Ask(EncodeRequest(hello), 1);
    Run(hello);
    for (const Talk& talk : kTalks) {
      INFO(talk.about);
      oracle.Ask(EncodeRequest({"FLUSHALL"}), 1);
      Run({"FLUSHALL"});
      for (const Words& request : talk.requests) {
        std::string line;
        for (const std::string& word : request) line += word + ' ';
        INFO(line);
        const std::string bytes = EncodeRequest(request);
        const std::string wanted = oracle.Ask(bytes, 1).front();
        CHECK(RunRaw(bytes) == wanted);
      }
    }
  }
}

}  // namespace mayfly::testing
