// The language of EXPLOG's tests: a server whose log is on, and its events.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/watch/event_log.h"
#include "support/command_test.h"

namespace mayfly::testing {

inline constexpr std::string_view kExpLogIsOff =
    "ERR the log is off, expire-log-size says how large it may be";

class ExpLogTest : public CommandTest {
 public:
  ExpLogTest() {
    SetOption("expire-log-size", "1mb");
    first = Info("next-seq");
  }
  ~ExpLogTest() { CHECK(server().event_log.ring().Validate()); }

  // The event `at` after the first one.
  Reply Event(int64_t at, int64_t wall_ms, std::string_view kind, std::string_view key,
              int64_t db = 0) const {
    return Array({Integer(first + at), Integer(wall_ms), Bulk(kind), Integer(db), Bulk(key)});
  }
  static Reply With(Reply event, const Reply& value) {
    event.elements.push_back(value);
    return event;
  }
  // READ from the event `at` after the first one.
  Reply Read(int64_t at, std::vector<std::string> more = {}) { return ReadBy(client(), at, std::move(more)); }
  Reply ReadBy(TestClient& reader, int64_t at, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"EXPLOG", "READ", std::to_string(first + at)};
    words.insert(words.end(), more.begin(), more.end());
    return reader.Run(words);
  }
  Reply Ack(int64_t at) { return Run({"EXPLOG", "ACK", std::to_string(first + at)}); }
  int64_t Info(std::string_view name) {
    const Reply info = Run({"EXPLOG", "INFO"});
    for (size_t i = 0; i < info.elements.size(); i += 2) {
      if (info.elements[i].text == name) return info.elements[i + 1].integer;
    }
    FAIL("INFO has no " << name);
    return 0;
  }

  int64_t first = 0;
};

}  // namespace mayfly::testing
