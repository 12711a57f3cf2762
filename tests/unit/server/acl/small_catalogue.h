// A few commands for tests of the rules: enough for containers, categories, and one that is in two of them.
#pragma once

#include "server/acl/command_catalogue.h"

namespace mayfly::testing {

enum : uint32_t { kRead = 1, kWrite = 2, kFast = 4 };

inline CommandCatalogue SmallCatalogue() {
  CommandCatalogue catalogue;
  catalogue.SetCategories({"read", "write", "fast"});
  catalogue.Add({"get", false, kRead | kFast, {}});
  catalogue.Add({"keys", false, kRead, {}});
  catalogue.Add({"set", false, kWrite, {}});
  catalogue.Add({"config", false, 0, {4, 5}});
  catalogue.Add({"config|get", true, kRead, {}});
  catalogue.Add({"config|set", true, kWrite, {}});
  catalogue.Add({"select", false, kFast, {}});
  return catalogue;
}

}  // namespace mayfly::testing
