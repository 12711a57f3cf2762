// Users for the tests of ACL.
#pragma once

#include <string>
#include <vector>

#include "support/command_test.h"

namespace mayfly::testing {

class AclWorld : public CommandTest {
 public:
  Reply SetUser(const std::string& name, const std::vector<std::string>& rules) {
    std::vector<std::string> words = {"ACL", "SETUSER", name};
    words.insert(words.end(), rules.begin(), rules.end());
    return Run(words);
  }
  // A client that is logged in as this user, who needs no password.
  TestClient& As(const std::string& name) {
    TestClient& client = Connect();
    REQUIRE(client.Run({"AUTH", name, "any"}) == Ok());
    return client;
  }
};

}  // namespace mayfly::testing
