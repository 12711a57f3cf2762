// A stream "s" with three entries, and what a consumer group answers of it.
#pragma once

#include <string>
#include <vector>

#include "support/command_test.h"

namespace mayfly::testing {

inline Reply StreamEntryOf(const std::string& id, const Words& pairs) {
  return Array({Bulk(id), Bulks({pairs.begin(), pairs.end()})});
}

class GroupTest : public CommandTest {
 public:
  GroupTest() { Add("1-1", "2-1", "3-1"); }

  // Entries whose field f has their ID as its value.
  template <typename... Ids>
  void Add(const Ids&... ids) {
    for (const std::string& id : std::vector<std::string>{ids...})
      REQUIRE(Run({"XADD", "s", id, "f", id}) == Bulk(id));
  }
  template <typename... Ids>
  static Reply Entries(const Ids&... ids) {
    std::vector<Reply> entries;
    for (const std::string& id : std::vector<std::string>{ids...})
      entries.push_back(StreamEntryOf(id, {"f", id}));
    return Array(entries);
  }
  // The reply of XREADGROUP.
  template <typename... Ids>
  static Reply Delivered(const Ids&... ids) {
    return Array({Array({Bulk("s"), Entries(ids...)})});
  }
  Reply Read(const std::string& consumer, const std::string& id = ">", const std::string& count = "100") {
    return Run({"XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "STREAMS", "s", id});
  }
  // A line of XPENDING.
  static Reply Pending(const std::string& id, const std::string& consumer, int64_t idle_ms, int64_t count) {
    return Array({Bulk(id), Bulk(consumer), Integer(idle_ms), Integer(count)});
  }
  Reply AllPending() { return Run({"XPENDING", "s", "g", "-", "+", "100"}); }
  Reply Group() { return Run({"XINFO", "GROUPS", "s"}); }
};

}  // namespace mayfly::testing
