// Namespaces and their figures for tests.
#pragma once

#include <string>

#include "support/command_test.h"

namespace mayfly::testing {

class NamespacesWorld : public CommandTest {
 public:
  void Have(const std::string& namespaces) {
    REQUIRE(Run({"CONFIG", "SET", "namespace", namespaces}) == Ok());
  }
  // A member of a namespace's line in INFO.
  std::string Figure(const std::string& name, const std::string& member) {
    const std::string info = Run({"INFO", "namespaces"}).text;
    const size_t line = info.find("\r\nns_" + name + ":");
    REQUIRE(line != std::string::npos);
    std::string rest = "," + info.substr(line + name.size() + 6);
    rest = rest.substr(0, rest.find('\r'));
    const size_t at = rest.find("," + member + "=");
    REQUIRE(at != std::string::npos);
    const size_t begin = at + member.size() + 2;
    return rest.substr(begin, rest.find(',', begin) - begin);
  }
};

}  // namespace mayfly::testing
