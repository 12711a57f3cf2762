// What servers say of streams, in a form that can be compared.
#pragma once

#include <set>
#include <string>

#include "support/reply.h"

namespace mayfly::testing {

// XINFO STREAM FULL without what each server has in its own way. Mayfly's files and payloads do not say when a consumer was
// active, as those of Redis 7.0.
inline Reply WithoutOwn(const Reply& info) {
  static const std::set<std::string> kOwn{"radix-tree-keys", "radix-tree-nodes", "active-time"};
  Reply kept = info;
  kept.elements.clear();
  for (size_t i = 0; i < info.elements.size(); ++i) {
    if (kOwn.contains(info.elements[i].text))
      ++i;
    else
      kept.elements.push_back(WithoutOwn(info.elements[i]));
  }
  return kept;
}

}  // namespace mayfly::testing
