// What is pending in groups, and who waits: limits, bounds and idle times to the millisecond.
#include <algorithm>

#include "commands/streams/stream_world.h"

namespace mayfly::testing {
namespace {

const std::string kMostId = "18446744073709551615-18446744073709551615";

std::vector<std::string> IdsOf(const Reply& lines) {
  std::vector<std::string> ids;
  for (const Reply& line : lines.elements)
    ids.push_back(line.elements.empty() ? line.text : line.elements[0].text);
  return ids;
}
using Ids = std::vector<std::string>;

// The value after a name.
Reply After(const Reply& map, const std::string& name) {
  for (size_t i = 0; i + 1 < map.elements.size(); i += 2) {
    if (map.elements[i].text == name) return map.elements[i + 1];
  }
  FAIL("no " << name);
  return NullArray();
}

// A group of which consumer "a" has just got the first two entries.
class ClaimTest : public GroupTest {
 public:
  // An entry that XREADGROUP answers with CLAIM: how long it was idle, and how often it had been delivered.
  struct Answered {
    std::string id;
    int64_t idle_ms;
    int64_t count;
  };

  ClaimTest() {
    Run({"XGROUP", "CREATE", "s", "g", "0"});
    Read("a", ">", "2");
  }
  static Reply Claimed(const std::vector<Answered>& all) {
    std::vector<Reply> entries;
    for (const Answered& entry : all)
      entries.push_back(
          Array({Bulk(entry.id), Bulks({"f", entry.id}), Integer(entry.idle_ms), Integer(entry.count)}));
    return Array({Array({Bulk("s"), Array(entries)})});
  }
  // What has been idle for 50 ms, and new entries.
  Reply Claim(const std::string& consumer, const std::string& count) {
    return Run({"XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "CLAIM", "50", "STREAMS", "s", ">"});
  }
};

}  // namespace

TEST_CASE_METHOD(GroupTest, "XPENDING shows what its bounds, count, idle time and consumer leave") {
  Add("4-1", "5-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "2");  // 1-1, 2-1
  AdvanceTime(10);
  Read("b", ">", "2");  // 3-1, 4-1
  AdvanceTime(10);
  Read("a", ">", "1");  // 5-1
  const auto ids = [&](const Words& more) {
    Words words{"XPENDING", "s", "g"};
    words.insert(words.end(), more.begin(), more.end());
    const Reply reply = Run(words);
    REQUIRE(reply.kind == Reply::Kind::kArray);
    return IdsOf(reply);
  };
  const Ids all{"1-1", "2-1", "3-1", "4-1", "5-1"};
  CHECK(ids({"-", "+", "9"}) == all);
  CHECK(ids({"-", "+", "5"}) == all);
  CHECK(ids({"-", "+", "2"}) == Ids{"1-1", "2-1"});
  CHECK(ids({"-", "+", "0"}).empty());
  CHECK(ids({"-", "+", "-1"}).empty());
  CHECK(ids({"2-1", "4-1", "9"}) == Ids{"2-1", "3-1", "4-1"});
  CHECK(ids({"(2-1", "(4-1", "9"}) == Ids{"3-1"});
  CHECK(ids({"2", "3", "9"}) == Ids{"2-1", "3-1"});
  CHECK(ids({"3-1", "3-0", "9"}).empty());
  CHECK(ids({"5-2", "+", "9"}).empty());
  CHECK(ids({"IDLE", "0", "-", "+", "9"}) == all);
  CHECK(ids({"IDLE", "-5", "-", "+", "9"}) == all);
  CHECK(ids({"IDLE", "10", "-", "+", "9"}) == Ids{"1-1", "2-1", "3-1", "4-1"});
  CHECK(ids({"IDLE", "11", "-", "+", "9"}) == Ids{"1-1", "2-1"});
  CHECK(ids({"IDLE", "20", "2-1", "+", "9"}) == Ids{"2-1"});
  CHECK(ids({"IDLE", "21", "-", "+", "9"}).empty());
  CHECK(ids({"idle", "10", "-", "+", "3"}) == Ids{"1-1", "2-1", "3-1"});
  // What is not idle for long enough does not count, and neither does what another consumer holds.
  CHECK(ids({"-", "+", "2", "b"}) == Ids{"3-1", "4-1"});
  CHECK(ids({"-", "+", "9", "a"}) == Ids{"1-1", "2-1", "5-1"});
  CHECK(ids({"2-1", "4-1", "9", "a"}) == Ids{"2-1"});
  CHECK(ids({"IDLE", "11", "-", "+", "1", "a"}) == Ids{"1-1"});
  CHECK(ids({"IDLE", "11", "-", "+", "9", "b"}).empty());
  CHECK(ids({"-", "+", "9", "none"}).empty());
  CHECK(ids({"-", "+", "0", "a"}).empty());
  CHECK(Run({"XPENDING", "s", "g", "IDLE", "11", "(1-1", "+", "9", "a"}) ==
        Array({Pending("2-1", "a", 20, 1)}));
}

TEST_CASE_METHOD(GroupTest, "XINFO STREAM FULL shows the first ones of everything, with their times") {
  Run({"DEL", "s"});
  for (int i = 1; i <= 12; ++i) Add(std::to_string(i) + "-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  const std::string began = UnixMs(0);
  Run({"XGROUP", "CREATECONSUMER", "s", "g", "idle"});
  AdvanceTime(5);
  Read("a", ">", "11");
  const int64_t delivered = WallMs();
  AdvanceTime(5);
  Read("b", ">", "1");
  AdvanceTime(5);
  Read("a", "11-1");  // nothing
  Run({"XCLAIM", "s", "g", "b", "0", "2-1", "TIME", "77", "RETRYCOUNT", "3", "JUSTID"});
  const auto full = [&](const Words& more) {
    Words words{"XINFO", "STREAM", "s", "FULL"};
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  };
  for (const auto& [words, shown] : std::vector<std::pair<Words, size_t>>{{{}, 10},
                                                                          {{"COUNT", "1"}, 1},
                                                                          {{"COUNT", "11"}, 11},
                                                                          {{"COUNT", "0"}, 12},
                                                                          {{"COUNT", "-1"}, 10},
                                                                          {{"count", "13"}, 12}}) {
    CAPTURE(words);
    const Reply info = full(words);
    CHECK(After(info, "entries").elements.size() == shown);
    REQUIRE(After(info, "groups").elements.size() == 1);
    const Reply group = After(info, "groups").elements[0];
    CHECK(group.elements.size() == 14);
    CHECK(After(group, "name") == Bulk("g"));
    CHECK(After(group, "last-delivered-id") == Bulk("12-1"));
    CHECK(After(group, "entries-read") == Integer(12));
    CHECK(After(group, "lag") == Integer(0));
    CHECK(After(group, "pel-count") == Integer(12));
    CHECK(After(group, "pending").elements.size() == shown);
    REQUIRE(After(group, "consumers").elements.size() == 3);
    const Reply a = After(group, "consumers").elements[0];
    CHECK(a.elements.size() == 10);
    CHECK(After(a, "name") == Bulk("a"));
    CHECK(After(a, "seen-time") == Integer(delivered + 10));
    CHECK(After(a, "active-time") == Integer(delivered));
    CHECK(After(a, "pel-count") == Integer(10));
    CHECK(After(a, "pending").elements.size() == std::min<size_t>(shown, 10));
    const Reply b = After(group, "consumers").elements[1];
    CHECK(After(b, "pel-count") == Integer(2));
    CHECK(After(b, "active-time") == Integer(delivered + 10));
    CHECK(After(b, "pending").elements.size() == std::min<size_t>(shown, 2));
    CHECK(After(b, "pending").elements[0] == Array({Bulk("2-1"), Integer(77), Integer(3)}));
    const Reply idle = After(group, "consumers").elements[2];
    CHECK(After(idle, "seen-time") == Integer(std::stoll(began)));
    CHECK(After(idle, "active-time") == Integer(-1));
    CHECK(After(idle, "pel-count") == Integer(0));
    CHECK(After(idle, "pending") == Array({}));
  }
  const Reply pending = After(After(full({"COUNT", "2"}), "groups").elements[0], "pending");
  CHECK(pending == Array({Array({Bulk("1-1"), Bulk("a"), Integer(delivered), Integer(1)}),
                          Array({Bulk("2-1"), Bulk("b"), Integer(77), Integer(3)})}));
}

TEST_CASE_METHOD(GroupTest, "XCLAIM sets the time and the count that it is told, within what is true") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "1");
  AdvanceTime(100);
  struct Case {
    Words options;
    int64_t idle_ms;
    int64_t count;
  };
  const std::string now = UnixMs(0);
  const std::vector<Case> cases{
      {{}, 0, 3},
      {{"JUSTID"}, 0, 2},
      {{"IDLE", "0"}, 0, 3},
      {{"IDLE", "30"}, 30, 3},
      {{"IDLE", now}, std::stoll(now), 3},
      {{"IDLE", UnixMs(1)}, 0, 3},
      {{"IDLE", "-1"}, 0, 3},
      {{"TIME", "0"}, std::stoll(now), 3},
      {{"TIME", now}, 0, 3},
      {{"TIME", UnixMs(-1)}, 1, 3},
      {{"TIME", UnixMs(1)}, 0, 3},
      {{"TIME", "-1"}, 0, 3},
      {{"TIME", UnixMs(-9), "IDLE", "30"}, 30, 3},
      {{"IDLE", "30", "TIME", UnixMs(-9)}, 9, 3},
      {{"RETRYCOUNT", "0"}, 0, 0},
      {{"RETRYCOUNT", "-1"}, 0, 3},
      {{"RETRYCOUNT", "-1", "JUSTID"}, 0, 2},
      {{"RETRYCOUNT", "9", "JUSTID"}, 0, 9},
      {{"JUSTID", "RETRYCOUNT", "9", "IDLE", "7", "FORCE"}, 7, 9},
      {{"RETRYCOUNT", "4294967295"}, 0, 4294967295},
      {{"RETRYCOUNT", "9223372036854775807"}, 0, 4294967295},
  };
  for (const Case& each : cases) {
    CAPTURE(each.options);
    Run({"XCLAIM", "s", "g", "a", "0", "1-1", "RETRYCOUNT", "2", "IDLE", "50", "JUSTID"});
    Words words{"XCLAIM", "s", "g", "b", "50", "1-1"};
    words.insert(words.end(), each.options.begin(), each.options.end());
    const bool ids_only = std::find(words.begin(), words.end(), "JUSTID") != words.end();
    CHECK(Run(words) == (ids_only ? Array({Bulk("1-1")}) : Entries("1-1")));
    CHECK(AllPending() == Array({Pending("1-1", "b", each.idle_ms, each.count)}));
    CHECK(Run({"XCLAIM", "s", "g", "a", std::to_string(each.idle_ms + 1), "1-1"}) == Array({}));
  }
  // The highest count stays.
  Run({"XCLAIM", "s", "g", "a", "0", "1-1", "RETRYCOUNT", "4294967295", "JUSTID"});
  Read("a", "0");
  CHECK(AllPending() == Array({Pending("1-1", "a", 0, 4294967295)}));
  // FORCE: the count begins with the delivery, and no idle time is asked for.
  CHECK(Run({"XCLAIM", "s", "g", "c", "1000", "2-1"}) == Array({}));
  CHECK(Run({"XCLAIM", "s", "g", "c", "1000", "2-1", "FORCE", "JUSTID"}) == Array({Bulk("2-1")}));
  CHECK(Run({"XCLAIM", "s", "g", "c", "1000", "3-1", "FORCE"}) == Entries("3-1"));
  CHECK(Run({"XPENDING", "s", "g", "2", "+", "9"}) ==
        Array({Pending("2-1", "c", 0, 1), Pending("3-1", "c", 0, 2)}));
  CHECK(Run({"XCLAIM", "s", "g", "d", "1", "2-1", "FORCE"}) == Array({}));
}

TEST_CASE_METHOD(GroupTest, "a consumer's list and the group's agree after claims, deletions and removals") {
  Add("4-1", "5-1", "6-1", "7-1", "8-1", "9-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "6");
  Read("b", ">", "2");
  Read("c", ">", "1");
  const auto held = [&](const std::string& consumer) {
    const Ids of_group = IdsOf(Run({"XPENDING", "s", "g", "-", "+", "100", consumer}));
    const Reply info = Run({"XINFO", "STREAM", "s", "FULL", "COUNT", "0"});
    Ids of_consumer;
    for (const Reply& each : After(After(info, "groups").elements[0], "consumers").elements) {
      if (After(each, "name") == Bulk(consumer)) of_consumer = IdsOf(After(each, "pending"));
    }
    CHECK(of_group == of_consumer);
    return of_group;
  };
  CHECK(Run({"XCLAIM", "s", "g", "c", "0", "2-1", "7-1", "JUSTID"}).elements.size() == 2);
  CHECK(held("a") == Ids{"1-1", "3-1", "4-1", "5-1", "6-1"});
  CHECK(held("b") == Ids{"8-1"});
  CHECK(held("c") == Ids{"2-1", "7-1", "9-1"});
  Run({"XDEL", "s", "2-1", "3-1"});
  Run({"XTRIM", "s", "MAXLEN", "5"});  // 5-1 is the first one left
  CHECK(held("a") == Ids{"1-1", "3-1", "4-1", "5-1", "6-1"});
  // Claims drop what has gone: from whoever holds it.
  CHECK(Run({"XCLAIM", "s", "g", "b", "0", "2-1", "4-1", "6-1", "JUSTID"}) == Array({Bulk("6-1")}));
  CHECK(held("a") == Ids{"1-1", "3-1", "5-1"});
  CHECK(held("b") == Ids{"6-1", "8-1"});
  CHECK(held("c") == Ids{"7-1", "9-1"});
  CHECK(Run({"XAUTOCLAIM", "s", "g", "d", "0", "(1-1", "COUNT", "2", "JUSTID"}) ==
        Array({Bulk("6-1"), Array({Bulk("5-1")}), Array({Bulk("3-1")})}));
  CHECK(held("a") == Ids{"1-1"});
  CHECK(held("d") == Ids{"5-1"});
  CHECK(Run({"XTRIM", "s", "MINID", "7", "DELREF"}) == Integer(2));
  for (const std::string consumer : {"a", "d"}) CHECK(held(consumer).empty());
  CHECK(held("b") == Ids{"8-1"});
  CHECK(Run({"XGROUP", "DELCONSUMER", "s", "g", "b"}) == Integer(1));
  CHECK(IdsOf(AllPending()) == Ids{"7-1", "9-1"});
  CHECK(Run({"XGROUP", "DELCONSUMER", "s", "g", "a"}) == Integer(0));
  CHECK(Run({"XDELEX", "s", "DELREF", "IDS", "1", "9-1"}) == Array({Integer(1)}));
  CHECK(held("c") == Ids{"7-1"});
  Read("b", ">", "1");
  CHECK(held("b").empty());
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(GroupTest, "XAUTOCLAIM ends a page where the next one begins") {
  Add("4-1", "5-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  AdvanceTime(10);
  const auto page = [&](const std::string& idle, const std::string& start, const std::string& count) {
    return Run({"XAUTOCLAIM", "s", "g", "b", idle, start, "JUSTID", "COUNT", count});
  };
  const auto claimed = [](const std::string& next, const Ids& ids) {
    return Array({Bulk(next), Bulks({ids.begin(), ids.end()}), Array({})});
  };
  CHECK(page("11", "-", "9") == claimed("0-0", {}));
  CHECK(page("10", "-", "2") == claimed("3-1", {"1-1", "2-1"}));
  CHECK(page("10", "3-1", "2") == claimed("5-1", {"3-1", "4-1"}));
  CHECK(page("10", "5-1", "2") == claimed("0-0", {"5-1"}));
  CHECK(page("0", "(5-1", "2") == claimed("0-0", {}));
  CHECK(page("0", kMostId, "2") == claimed("0-0", {}));
  CHECK(page("0", "-", "5") == claimed("0-0", {"1-1", "2-1", "3-1", "4-1", "5-1"}));
  CHECK(Run({"XAUTOCLAIM", "s", "g", "b", "0", "-"}).elements[1].elements.size() == 5);
  CHECK(IdsOf(AllPending()) == Ids{"1-1", "2-1", "3-1", "4-1", "5-1"});
  // JUSTID left the counts, and the last call did not.
  CHECK(AllPending().elements[0] == Pending("1-1", "b", 0, 2));
  // Without COUNT a hundred are claimed, of a thousand that it looks at.
  Run({"DEL", "s"});
  for (int i = 1; i <= 1102; ++i) Run({"XADD", "s", std::to_string(i), "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "2000");
  AdvanceTime(10);
  Read("a", "1000", "101");  // 1001-0 ... 1101-0 are not idle
  Reply reply = Run({"XAUTOCLAIM", "s", "g", "b", "10", "-"});
  CHECK(reply.elements[0] == Bulk("101-0"));
  CHECK(reply.elements[1].elements.size() == 100);
  Run({"XCLAIM", "s", "g", "a", "0", "1101-0", "IDLE", "10", "JUSTID"});
  reply = Run({"XAUTOCLAIM", "s", "g", "b", "10", "1001"});
  CHECK(reply.elements[0] == Bulk("0-0"));
  CHECK(IdsOf(reply.elements[1]) == Ids{"1101-0", "1102-0"});
}

TEST_CASE_METHOD(GroupTest, "XDELEX and XACKDEL refuse wrong words, and change nothing then") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  const Reply syntax = Error("ERR syntax error");
  const Reply bad_id = Error("ERR Invalid stream ID specified as stream command argument");
  const Reply bad_count = Error("ERR Number of IDs must be a positive integer");
  const Reply few = Error("ERR The `numids` parameter must match the number of arguments");
  const std::vector<std::pair<Words, Reply>> wrong{
      {{"KEEPREF", "DELREF", "IDS", "1", "1-1"}, syntax},
      {{"ACKED", "ACKED", "IDS", "1", "1-1"}, syntax},
      {{"IDS", "1", "1-1", "IDS", "1", "2-1"}, syntax},
      {{"IDS", "1", "1-1", "KEEPREF", "KEEPREF"}, syntax},
      {{"IDS", "1", "1-1", "more"}, syntax},
      {{"ACKED", "1", "1-1", "2-1"}, syntax},
      {{"IDS", "2", "1-1"}, few},
      {{"IDS", "2", "1-1", "x"}, bad_id},
      {{"IDS", "1", "-"}, bad_id},
      {{"IDS", "1", "+", "KEEPREF"}, bad_id},
      {{"IDS", "0", "1-1"}, bad_count},
      {{"IDS", "x", "1-1"}, bad_count},
      {{"IDS", "9223372036854775807", "1-1"}, few},
  };
  for (const auto& [words, error] : wrong) {
    CAPTURE(words);
    for (Words request : {Words{"XDELEX", "s"}, Words{"XACKDEL", "s", "g"}, Words{"XDELEX", "none"},
                          Words{"XACKDEL", "s", "none"}}) {
      if (request.size() == 2 && words.size() < 3) continue;
      request.insert(request.end(), words.begin(), words.end());
      if (request[0] == "XACKDEL" && request.size() < 6) continue;
      CHECK(Run(request) == error);
    }
  }
  CHECK(Run({"XLEN", "s"}) == Integer(3));
  CHECK(AllPending().elements.size() == 3);
  CHECK(Run({"XACKDEL", "s", "none", "IDS", "2", "1-1", "2-1"}) == Array({Integer(-1), Integer(-1)}));
  CHECK(Run({"XDELEX", "s", "ids", "2", "2", "1-1", "delref"}) == Array({Integer(-1), Integer(1)}));
  CHECK(Run({"XDELEX", "s", "IDS", "2", "2-1", "2-1"}) == Array({Integer(1), Integer(-1)}));
  CHECK(IdsOf(AllPending()) == Ids{"2-1", "3-1"});
  Run({"SET", "x", "1"});
  const Reply wrong_type = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  CHECK(Run({"XDELEX", "x", "IDS", "1", "1-1"}) == wrong_type);
  CHECK(Run({"XACKDEL", "x", "g", "IDS", "1", "1-1"}) == wrong_type);
}

// ---- XREADGROUP with CLAIM

TEST_CASE_METHOD(ClaimTest, "what XREADGROUP claims counts for its COUNT, and only the rest of it is new") {
  Add("4-1", "5-1");
  AdvanceTime(50);
  CHECK(Claim("b", "2") == Claimed({{"1-1", 50, 1}, {"2-1", 50, 1}}));
  CHECK(After(Group().elements[0], "last-delivered-id") == Bulk("2-1"));
  CHECK(After(Group().elements[0], "lag") == Integer(3));
  CHECK(AllPending() == Array({Pending("1-1", "b", 0, 2), Pending("2-1", "b", 0, 2)}));
  AdvanceTime(50);
  CHECK(Claim("c", "3") == Claimed({{"1-1", 50, 2}, {"2-1", 50, 2}, {"3-1", 0, 0}}));
  AdvanceTime(50);
  CHECK(Claim("a", "1") == Claimed({{"1-1", 50, 3}}));
  CHECK(IdsOf(AllPending()) == Ids{"1-1", "2-1", "3-1"});
  // No limit.
  CHECK(Claim("a", "0") == Claimed({{"2-1", 50, 3}, {"3-1", 50, 1}, {"4-1", 0, 0}, {"5-1", 0, 0}}));
  CHECK(Claim("a", "2") == NullArray());
}

TEST_CASE_METHOD(ClaimTest,
                 "each stream of a request has its own COUNT, and what is claimed of it counts there") {
  Run({"XADD", "t", "7-0", "f", "7-0"});
  Run({"XADD", "t", "8-0", "f", "8-0"});
  Run({"XGROUP", "CREATE", "t", "g", "0"});
  AdvanceTime(50);
  const Reply reply =
      Run({"XREADGROUP", "GROUP", "g", "b", "COUNT", "2", "CLAIM", "50", "STREAMS", "s", "t", ">", ">"});
  REQUIRE(reply.elements.size() == 2);
  CHECK(IdsOf(reply.elements[0].elements[1]) == Ids{"1-1", "2-1"});
  CHECK(IdsOf(reply.elements[1].elements[1]) == Ids{"7-0", "8-0"});
}

TEST_CASE_METHOD(ClaimTest, "a stream that is named twice is claimed from once, and then gives new entries") {
  Add("4-1", "5-1");
  AdvanceTime(50);
  const Reply reply =
      Run({"XREADGROUP", "GROUP", "g", "b", "COUNT", "2", "CLAIM", "50", "STREAMS", "s", "s", ">", ">"});
  REQUIRE(reply.elements.size() == 2);
  CHECK(IdsOf(reply.elements[0].elements[1]) == Ids{"1-1", "2-1"});
  CHECK(IdsOf(reply.elements[1].elements[1]) == Ids{"3-1", "4-1"});
  CHECK(AllPending() == Array({Pending("1-1", "b", 0, 2), Pending("2-1", "b", 0, 2),
                               Pending("3-1", "b", 0, 1), Pending("4-1", "b", 0, 1)}));
}

TEST_CASE_METHOD(ClaimTest,
                 "an entry is claimed as soon as it has been idle for so long, the idlest one first") {
  Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"});
  AdvanceTime(49);
  CHECK(Claim("b", "9") == NullArray());
  Run({"XCLAIM", "s", "g", "a", "0", "2-1", "IDLE", "49", "RETRYCOUNT", "1", "JUSTID"});
  Run({"XCLAIM", "s", "g", "a", "0", "3-1", "IDLE", "200", "RETRYCOUNT", "7", "JUSTID"});
  AdvanceTime(1);
  CHECK(Claim("b", "2") == Claimed({{"3-1", 201, 7}, {"1-1", 50, 1}}));
  CHECK(Claim("b", "2") == Claimed({{"2-1", 50, 1}}));
}

TEST_CASE_METHOD(ClaimTest, "what is claimed stays pending also with NOACK, and makes its consumer active") {
  AdvanceTime(50);
  CHECK(Run({"XREADGROUP", "GROUP", "g", "b", "NOACK", "CLAIM", "50", "STREAMS", "s", ">"}) ==
        Claimed({{"1-1", 50, 1}, {"2-1", 50, 1}, {"3-1", 0, 0}}));
  CHECK(AllPending() == Array({Pending("1-1", "b", 0, 2), Pending("2-1", "b", 0, 2)}));
  AdvanceTime(60);
  CHECK(Claim("a", "1") == Claimed({{"1-1", 60, 2}}));
  const Reply consumers = Run({"XINFO", "CONSUMERS", "s", "g"});
  CHECK(After(consumers.elements[0], "inactive") == Integer(0));
  CHECK(After(consumers.elements[1], "inactive") == Integer(60));
}

TEST_CASE_METHOD(ClaimTest,
                 "pending entries that the stream has no more are let go, and make room for new ones") {
  Run({"COPY", "s", "t"});
  for (const std::string stream : {"s", "t"}) Run({"XDEL", stream, "1-1"});
  AdvanceTime(50);
  // Who reads what it holds claims nothing.
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "CLAIM", "50", "STREAMS", "s", "0"}) ==
        Array({Array({Bulk("s"), Array({Array({Bulk("1-1"), NullArray()})})})}));
  CHECK(IdsOf(AllPending()) == Ids{"1-1", "2-1"});
  const Reply reply =
      Run({"XREADGROUP", "GROUP", "g", "b", "COUNT", "1", "CLAIM", "50", "STREAMS", "s", "t", ">", ">"});
  REQUIRE(reply.elements.size() == 2);
  for (const Reply& stream : reply.elements) CHECK(IdsOf(stream.elements[1]) == Ids{"3-1"});
  CHECK(AllPending() == Array({Pending("2-1", "a", 50, 1), Pending("3-1", "b", 0, 1)}));
  CHECK(IdsOf(Run({"XPENDING", "t", "g", "-", "+", "9"})) == Ids{"2-1", "3-1"});
  // So they are if nothing is left to be answered.
  Run({"XDEL", "s", "2-1"});
  CHECK(Claim("b", "1") == NullArray());
  CHECK(IdsOf(AllPending()) == Ids{"3-1"});
}

// ---- clients that wait

TEST_CASE_METHOD(GroupTest, "a client that waits reads on from where its stream was, also from + and $") {
  const auto got = [](TestClient& client) {
    std::vector<std::pair<std::string, Ids>> streams;
    for (const Reply& reply : client.Received()) {
      for (const Reply& stream : reply.elements)
        streams.emplace_back(stream.elements[0].text, IdsOf(stream.elements[1]));
    }
    return streams;
  };
  using Got = std::vector<std::pair<std::string, Ids>>;
  Run({"XADD", "empty", "5-0", "f", "v"});
  Run({"XDEL", "empty", "5-0"});
  TestClient& last = Connect();
  last.Run({"XREAD", "BLOCK", "0", "STREAMS", "s", "empty", "none", "$", "+", "$"});
  TestClient& later = Connect();
  later.Run({"XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", "none", "s", "0", "4-1"});
  CHECK(got(last).empty());
  Run({"MULTI"});
  Run({"XADD", "s", "4-1", "f", "v"});
  Run({"XADD", "empty", "6-0", "f", "v"});
  Run({"XADD", "none", "1-0", "f", "v"});
  Run({"XADD", "none", "2-0", "f", "v"});
  Run({"EXEC"});
  CHECK(got(last) == Got{{"s", {"4-1"}}, {"empty", {"6-0"}}, {"none", {"1-0", "2-0"}}});
  CHECK(got(later) == Got{{"none", {"1-0"}}});
  // + is the last entry; without one the client waits for what comes.
  CHECK(Run({"XREAD", "BLOCK", "1", "STREAMS", "s", "+"}) ==
        Array({Array({Bulk("s"), Array({StreamEntryOf("4-1", {"f", "v"})})})}));
  Run({"XSETID", "empty", "8-0"});
  Run({"XDEL", "empty", "6-0"});
  TestClient& third = Connect();
  third.Run({"XREAD", "BLOCK", "0", "STREAMS", "empty", "$"});
  Run({"XADD", "empty", "8-1", "f", "v"});
  CHECK(got(third) == Got{{"empty", {"8-1"}}});
}

TEST_CASE_METHOD(GroupTest, "a wait with CLAIM ends with the stream whose entry is idle first") {
  Run({"XADD", "t", "7-7", "f", "7-7"});
  Run({"XADD", "u", "9-9", "f", "9-9"});
  for (const std::string stream : {"s", "t", "u"}) Run({"XGROUP", "CREATE", stream, "g", "0"});
  Read("a");
  AdvanceTime(10);
  Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "t", ">"});
  Run({"XREADGROUP", "GROUP", "g", "a", "NOACK", "STREAMS", "u", ">"});
  TestClient waits(server());
  waits.Run({"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "CLAIM", "50", "STREAMS", "u", "t", "s", ">", ">",
             ">"});
  AdvanceTime(39);
  CHECK(waits.Received().empty());
  AdvanceTime(1);
  const std::vector<Reply> first = waits.Received();
  REQUIRE(first.size() == 1);
  REQUIRE(first[0].elements.size() == 1);
  CHECK(first[0].elements[0].elements[0] == Bulk("s"));
  CHECK(IdsOf(first[0].elements[0].elements[1]) == Ids{"1-1", "2-1", "3-1"});
  waits.Run({"XREADGROUP", "GROUP", "g", "b", "BLOCK", "30", "CLAIM", "50", "STREAMS", "s", "t", ">", ">"});
  AdvanceTime(10);
  const std::vector<Reply> second = waits.Received();
  REQUIRE(second.size() == 1);
  CHECK(second[0].elements[0].elements[0] == Bulk("t"));
  // What is claimed elsewhere meanwhile makes the client look again later, and never after its own end.
  waits.Run({"XREADGROUP", "GROUP", "g", "c", "BLOCK", "100", "CLAIM", "50", "STREAMS", "t", ">"});
  AdvanceTime(30);
  Run({"XCLAIM", "t", "g", "b", "0", "7-7", "JUSTID"});
  AdvanceTime(49);
  CHECK(waits.Received().empty());
  AdvanceTime(1);
  CHECK(waits.Received() ==
        std::vector{Array({Array(
            {Bulk("t"), Array({Array({Bulk("7-7"), Bulks({"f", "7-7"}), Integer(50), Integer(2)})})})})});
  waits.Run({"XREADGROUP", "GROUP", "g", "c", "BLOCK", "50", "CLAIM", "51", "STREAMS", "t", ">"});
  AdvanceTime(50);
  CHECK(waits.Received() == std::vector{NullArray()});
  CHECK(server().parking.size() == 0);
}

TEST_CASE_METHOD(GroupTest,
                 "in whatever order its streams are named, a wait with CLAIM ends with the idlest") {
  Words streams{"s", "t", "u"};
  do {
    CAPTURE(streams);
    Run({"FLUSHALL"});
    Add("1-1");
    Run({"XADD", "t", "7-7", "f", "7-7"});
    for (const std::string stream : {"s", "t", "u"}) Run({"XGROUP", "CREATE", stream, "g", "0", "MKSTREAM"});
    Read("a");
    AdvanceTime(10);
    Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "t", ">"});  // and in u nothing is pending
    TestClient waits(server());
    waits.Run({"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "CLAIM", "50", "STREAMS", streams[0],
               streams[1], streams[2], ">", ">", ">"});
    AdvanceTime(39);
    CHECK(waits.Received().empty());
    AdvanceTime(1);
    CHECK(waits.Received() ==
          std::vector{Array({Array(
              {Bulk("s"), Array({Array({Bulk("1-1"), Bulks({"f", "1-1"}), Integer(50), Integer(1)})})})})});
  } while (std::next_permutation(streams.begin(), streams.end()));
}

TEST_CASE_METHOD(GroupTest, "a client that waits from + gets all that comes at once, and not only the last") {
  Run({"XADD", "emptied", "5-0", "f", "v"});
  Run({"XDEL", "emptied", "5-0"});
  for (const std::string stream : {"absent", "emptied"}) {
    CAPTURE(stream);
    const auto got = [&](const Ids& ids) {
      std::vector<Reply> entries;
      for (const std::string& id : ids) entries.push_back(StreamEntryOf(id, {"f", "v"}));
      return std::vector{Array({Array({Bulk(stream), Array(entries)})})};
    };
    TestClient waits(server());
    TestClient waits_for_one(server());
    waits.Run({"XREAD", "BLOCK", "0", "STREAMS", stream, "+"});
    waits_for_one.Run({"XREAD", "COUNT", "1", "BLOCK", "0", "STREAMS", stream, "+"});
    Run({"MULTI"});
    for (const std::string id : {"6-0", "7-0", "8-0"}) Run({"XADD", stream, id, "f", "v"});
    Run({"EXEC"});
    CHECK(waits.Received() == got({"6-0", "7-0", "8-0"}));
    CHECK(waits_for_one.Received() == got({"6-0"}));
    // Now there is a last entry.
    waits.Run({"XREAD", "BLOCK", "0", "STREAMS", stream, "+"});
    CHECK(waits.Received().empty());
  }
}

}  // namespace mayfly::testing
