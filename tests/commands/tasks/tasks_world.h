// What tasks leave in their streams, and what INFO and TIMERS tell of them.
#pragma once

#include <string>
#include <vector>

#include "support/command_test.h"
#include "support/words.h"

namespace mayfly::testing {

// The keys of the tasks in a reply of XRANGE, in order.
inline Words KeysOfTasks(const Reply& range) {
  Words keys;
  for (const Reply& entry : range.elements) keys.push_back(entry.elements[1].elements[1].text);
  return keys;
}

class TasksTest : public CommandTest {
 public:
  // The entries of a stream: each as "id field value field value ...".
  std::vector<std::string> Entries(const std::string& stream) {
    std::vector<std::string> lines;
    for (const Reply& entry : Run({"XRANGE", stream, "-", "+"}).elements) {
      std::string line = entry.elements[0].text;
      for (const Reply& word : entry.elements[1].elements) line += " " + word.text;
      lines.push_back(line);
    }
    return lines;
  }
  // What a task's entry looks like, with the id and the time of its deadline.
  static std::string EntryOf(const std::string& key, const std::string& value, int64_t due) {
    return std::to_string(due) + "-0 key " + key + " value " + value + " due " + std::to_string(due);
  }
  int64_t Info(const std::string& field) {
    const std::string text = Run({"INFO", "expiry"}).text;
    const size_t at = text.find(field + ":");
    REQUIRE(at != std::string::npos);
    return std::stoll(text.substr(at + field.size() + 1));
  }
  // The keys that TIMERS shows, on all pages.
  Words Timers(const std::string& stream, Words more = {}) {
    Words keys;
    std::string cursor = "0";
    do {
      Words words = {"TIMERS", stream, "CURSOR", cursor};
      words.insert(words.end(), more.begin(), more.end());
      const Reply page = Run(words);
      cursor = page.elements[0].text;
      for (size_t i = 0; i < page.elements[1].elements.size(); i += 2)
        keys.push_back(page.elements[1].elements[i].text);
    } while (cursor != "0");
    return keys;
  }
};

}  // namespace mayfly::testing
