// What deletions and trims of a stream's entries leave with consumer groups, and what the stream knows of entries that are gone.
#include <algorithm>

#include "commands/streams/stream_world.h"

namespace mayfly::testing {

TEST_CASE_METHOD(GroupTest, "XDELEX and XACKDEL say what a deletion means to groups") {
  const auto answers = [](const std::vector<int64_t>& numbers) {
    std::vector<Reply> replies;
    for (const int64_t number : numbers) replies.push_back(Integer(number));
    return Array(replies);
  };
  const auto refill = [&] {
    Run({"DEL", "s"});
    Add("1-1", "2-1", "3-1");
    for (const std::string group : {"g", "h"}) {
      Run({"XGROUP", "CREATE", "s", group, "0"});
      Run({"XREADGROUP", "GROUP", group, "a", "COUNT", "2", "STREAMS", "s", ">"});
    }
  };
  const auto pending = [&](const std::string& group) { return Run({"XPENDING", "s", group}).elements[0]; };
  refill();
  CHECK(Run({"XDELEX", "s", "KEEPREF", "IDS", "2", "1-1", "9-9"}) == answers({1, -1}));
  CHECK(pending("g") == Integer(2));
  CHECK(Run({"XDELEX", "s", "DELREF", "IDS", "2", "1-1", "2-1"}) == answers({-1, 1}));
  CHECK(pending("g") == Integer(0));
  CHECK(pending("h") == Integer(0));
  refill();
  Run({"XACK", "s", "g", "1-1"});
  CHECK(Run({"XDELEX", "s", "ACKED", "IDS", "4", "1-1", "2-1", "3-1", "9-9"}) == answers({2, 2, 2, -1}));
  Run({"XACK", "s", "h", "1-1"});
  CHECK(Run({"XDELEX", "s", "IDS", "1", "1-1", "ACKED"}) == answers({1}));
  CHECK(Run({"XLEN", "s"}) == Integer(2));
  refill();
  CHECK(Run({"XACKDEL", "s", "g", "ACKED", "IDS", "3", "1-1", "2-1", "3-1"}) == answers({2, 2, -1}));
  CHECK(Run({"XACKDEL", "s", "h", "ACKED", "IDS", "1", "1-1"}) == answers({1}));
  CHECK(Run({"XACKDEL", "s", "h", "IDS", "1", "2-1"}) == answers({1}));
  CHECK(Run({"XRANGE", "s", "-", "+"}) == Entries("3-1"));
  refill();
  CHECK(Run({"XACKDEL", "s", "g", "IDS", "1", "1-1"}) == answers({1}));
  CHECK(pending("h") == Integer(2));
  CHECK(Run({"XACKDEL", "s", "g", "DELREF", "IDS", "1", "2-1"}) == answers({1}));
  CHECK(pending("h") == Integer(1));
  CHECK(Run({"XACKDEL", "s", "h", "IDS", "1", "1-1"}) == answers({1}));
  CHECK(Run({"XACKDEL", "s", "none", "IDS", "2", "1-1", "2-1"}) == answers({-1, -1}));
  CHECK(Run({"XDELEX", "none", "IDS", "1", "1-1"}) == answers({-1}));
  for (const std::string wrong : {"0", "-5", "abc"})
    CHECK(Run({"XDELEX", "s", "IDS", wrong, "1-1"}) == Error("ERR Number of IDs must be a positive integer"));
  CHECK(Run({"XDELEX", "s", "IDS", "3", "1-1", "2-2"}) ==
        Error("ERR The `numids` parameter must match the number of arguments"));
  CHECK(Run({"XDELEX", "s", "IDS", "1", "1-1", "2-2"}) == Error("ERR syntax error"));
  CHECK(Run({"XDELEX", "s", "KEEPREF", "ACKED", "IDS", "1", "1-1"}) == Error("ERR syntax error"));
}

TEST_CASE_METHOD(GroupTest, "a trim leaves what groups need, or takes it from them") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "2");
  Run({"XACK", "s", "g", "2-1"});
  CHECK(Run({"XTRIM", "s", "MAXLEN", "0", "ACKED"}) == Integer(1));
  CHECK(Run({"XRANGE", "s", "-", "+"}) == Entries("1-1", "3-1"));
  CHECK(Run({"XADD", "s", "ACKED", "MAXLEN", "1", "4-1", "f", "4-1"}) == Bulk("4-1"));
  CHECK(Run({"XRANGE", "s", "-", "+"}) == Entries("1-1", "3-1", "4-1"));
  CHECK(Run({"XTRIM", "s", "MINID", "3", "KEEPREF"}) == Integer(1));
  CHECK(AllPending() == Array({Pending("1-1", "a", 0, 1)}));
  Read("a");
  CHECK(Run({"XTRIM", "s", "MAXLEN", "1", "DELREF"}) == Integer(1));
  CHECK(AllPending() == Array({Pending("4-1", "a", 0, 1)}));
  CHECK(Run({"XTRIM", "s", "MAXLEN", "1", "DELREF", "ACKED"}) == Error("ERR syntax error"));
  // By whole nodes: the first one has an entry that is pending.
  Run({"CONFIG", "SET", "stream-node-max-entries", "10"});
  Run({"DEL", "s"});
  for (int i = 1; i <= 40; ++i) Add(std::to_string(i) + "-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  for (int i = 2; i <= 40; ++i) Run({"XACK", "s", "g", std::to_string(i) + "-1"});
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "0", "LIMIT", "25", "ACKED"}) == Integer(20));
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "0", "ACKED"}) == Integer(10));
  CHECK(Run({"XLEN", "s"}) == Integer(10));
  CHECK(Run({"XTRIM", "s", "MINID", "8", "ACKED"}) == Integer(6));
  CHECK(Run({"XRANGE", "s", "-", "+"}) == Entries("1-1", "8-1", "9-1", "10-1"));
}

TEST_CASE_METHOD(GroupTest, "with DELREF a trim takes from groups what was deleted before, too") {
  const auto refill = [&] {
    Run({"DEL", "s"});
    Add("1-1", "2-1", "3-1", "4-1", "5-1");
    Run({"XGROUP", "CREATE", "s", "g", "0"});
    Run({"XGROUP", "CREATE", "s", "h", "0"});
    for (const std::string group : {"g", "h"}) Run({"XREADGROUP", "GROUP", group, "a", "STREAMS", "s", ">"});
  };
  const auto ids = [&](const std::string& group) {
    std::vector<std::string> found;
    for (const Reply& line : Run({"XPENDING", "s", group, "-", "+", "100"}).elements)
      found.push_back(line.elements[0].text);
    return found;
  };
  using Found = std::vector<std::string>;
  for (const std::string group : {"g", "h"}) {
    CAPTURE(group);
    refill();
    Run({"XDEL", "s", "2-1", "4-1"});
    CHECK(Run({"XTRIM", "s", "MAXLEN", "1", "DELREF"}) == Integer(2));
    CHECK(ids(group) == Found{"5-1"});
    refill();
    Run({"XDEL", "s", "2-1"});
    CHECK(Run({"XADD", "s", "DELREF", "MINID", "4", "6-1", "f", "6-1"}) == Bulk("6-1"));
    CHECK(ids(group) == Found{"4-1", "5-1"});
    // Nothing is left to be trimmed but what groups hold.
    refill();
    Run({"XDEL", "s", "1-1", "2-1"});
    CHECK(Run({"XTRIM", "s", "MINID", "3", "DELREF"}) == Integer(0));
    CHECK(ids(group) == Found{"3-1", "4-1", "5-1"});
    refill();
    Run({"XDEL", "s", "1-1"});
    CHECK(Run({"XADD", "s", "DELREF", "MINID", "2", "6-1", "f", "6-1"}) == Bulk("6-1"));
    CHECK(ids(group) == Found{"2-1", "3-1", "4-1", "5-1"});
    refill();
    CHECK(Run({"XTRIM", "s", "MAXLEN", "0", "DELREF"}) == Integer(5));
    CHECK(ids(group).empty());
    // A trim that has nothing to do takes nothing, and neither does one that keeps references.
    refill();
    Run({"XDEL", "s", "1-1", "2-1"});
    CHECK(Run({"XTRIM", "s", "MAXLEN", "3", "DELREF"}) == Integer(0));
    CHECK(Run({"XTRIM", "s", "MINID", "4", "KEEPREF"}) == Integer(1));
    CHECK(ids(group).size() == 5);
  }
  // By whole nodes.
  Run({"CONFIG", "SET", "stream-node-max-entries", "10"});
  Run({"DEL", "s"});
  for (int i = 1; i <= 40; ++i) Add(std::to_string(i) + "-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  Run({"XDEL", "s", "7-1", "15-1"});
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "25", "DELREF"}) == Integer(9));
  CHECK(ids("g").size() == 30);
  CHECK(ids("g").front() == "11-1");
  CHECK(Run({"XTRIM", "s", "MINID", "~", "25", "DELREF"}) == Integer(9));
  CHECK(ids("g").front() == "21-1");
}

TEST_CASE_METHOD(GroupTest, "the highest ID that was deleted goes along, and says that a lag is unknown") {
  const auto deleted = [&](const std::string& key) { return Run({"XINFO", "STREAM", key}).elements[9].text; };
  const auto lag = [&](const std::string& key) {
    return Run({"XINFO", "GROUPS", key}).elements[0].elements[11];
  };
  REQUIRE(Run({"XINFO", "STREAM", "s"}).elements[8] == Bulk("max-deleted-entry-id"));
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "1");
  Run({"XDEL", "s", "2-1"});
  CHECK(lag("s") == Null());
  Run({"COPY", "s", "copy"});
  Run({"RESTORE", "restored", "0", Run({"DUMP", "s"}).text});
  Run({"RENAME", "s", "renamed"});
  for (const std::string key : {"copy", "restored", "renamed"}) {
    CAPTURE(key);
    CHECK(deleted(key) == "2-1");
    CHECK(lag(key) == Null());
    for (const char* field : {"length", "last-generated-id", "entries-added"}) {
      CAPTURE(field);
      const auto value = [&](const std::string& of) {
        const std::vector<Reply> all = Run({"XINFO", "STREAM", of}).elements;
        return *(std::find(all.begin(), all.end(), Bulk(field)) + 1);
      };
      CHECK(value(key) == value("renamed"));
    }
  }
}

TEST_CASE_METHOD(GroupTest, "a stream that begins anew with its first ID is read from its new entries") {
  const std::string long_text(200, 'x');
  Run({"DEL", "s"});
  for (const std::string id : {"5-1", "6-1", "7-1", "8-1", "9-1"}) Run({"XADD", "s", id, "f", long_text});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "4");
  CHECK(Run({"XTRIM", "s", "MAXLEN", "0"}) == Integer(5));
  CHECK(Run({"XSETID", "s", "4-0"}) == Ok());
  CHECK(Run({"XGROUP", "SETID", "s", "g", "8-1"}) == Ok());
  Add("5-1", "6-1", "7-1", "8-1", "9-1", "10-1");
  CHECK(Read("a") == Delivered("9-1", "10-1"));
  CHECK(Run({"XRANGE", "s", "9", "+"}) == Entries("9-1", "10-1"));
}

TEST_CASE_METHOD(GroupTest, "an entry that ACKED deletes behind others counts as deleted") {
  const auto deleted = [&] { return Run({"XINFO", "STREAM", "s"}).elements[9].text; };
  const auto lag = [&] { return Run({"XINFO", "GROUPS", "s"}).elements[1].elements[11]; };
  const std::vector<Words> trims{{"XTRIM", "s", "MAXLEN", "1", "ACKED"},
                                 {"XADD", "s", "ACKED", "MAXLEN", "2", "9-1", "f", "v"},
                                 {"XTRIM", "s", "MINID", "3", "ACKED"},
                                 {"XDELEX", "s", "ACKED", "IDS", "1", "2-1"},
                                 {"XACKDEL", "s", "g", "IDS", "1", "2-1"}};
  for (const Words& trim : trims) {
    CAPTURE(trim);
    Run({"DEL", "s"});
    Add("1-1", "2-1", "3-1");
    Run({"XGROUP", "CREATE", "s", "g", "0"});
    Run({"XGROUP", "CREATE", "s", "h", "2-1", "ENTRIESREAD", "2"});
    Read("a", ">", "2");
    if (trim[0] != "XACKDEL") Run({"XACK", "s", "g", "2-1"});
    Run(trim);
    CHECK(Run({"XRANGE", "s", "1", "3"}) == Entries("1-1", "3-1"));
    CHECK(deleted() == "2-1");
    CHECK(lag() == Null());
  }
  // Whole nodes go behind one that stays.
  Run({"CONFIG", "SET", "stream-node-max-entries", "10"});
  Run({"DEL", "s"});
  for (int i = 1; i <= 40; ++i) Add(std::to_string(i) + "-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XGROUP", "CREATE", "s", "h", "20-1", "ENTRIESREAD", "20"});
  Read("a", ">", "20");
  for (int i = 2; i <= 20; ++i) Run({"XACK", "s", "g", std::to_string(i) + "-1"});
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "0", "ACKED"}) == Integer(10));
  CHECK(deleted() == "20-1");
  CHECK(lag() == Null());
}

}  // namespace mayfly::testing
