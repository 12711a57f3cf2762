// What streams seldom meet, beside a real redis-server: IDs at the end of a millisecond and in odd forms, entries that are gone,
// entries that a group delivers once more, and where one node ends and the next one begins.
#include <string>
#include <vector>

#include "support/beside_redis.h"

namespace mayfly::testing {
namespace {

class StreamEdgesTest : public BesideRedis {
 public:
  void CompareInBoth(std::vector<Words> requests) {
    requests.insert(requests.begin(), {"FLUSHALL"});
    for (const int protocol : {2, 3}) Compare(requests, protocol);
  }
  // Requests that add entries with these IDs.
  static std::vector<Words> Added(const std::string& key, const std::vector<std::string>& ids,
                                  const std::string& value = "v") {
    std::vector<Words> requests;
    for (const std::string& id : ids) requests.push_back({"XADD", key, id, "f", value});
    return requests;
  }
  static std::vector<Words> Joined(std::vector<Words> first, const std::vector<Words>& more) {
    first.insert(first.end(), more.begin(), more.end());
    return first;
  }
};

}  // namespace

TEST_CASE_METHOD(StreamEdgesTest,
                 "after the last sequence of a millisecond that is still to come, * begins the next one") {
  const std::string last = "18446744073709551615";
  CompareInBoth({{"XADD", "s", "99999999999999-" + last, "f", "v"},
                 {"XADD", "s", "*", "f", "v"},
                 {"XADD", "s", "100000000000000-*", "f", "v"},
                 {"XADD", "s", "100000000000000-" + last, "f", "v"},
                 {"XADD", "s", "*", "f", "v"},
                 {"XRANGE", "s", "-", "+"},
                 {"XINFO", "STREAM", "s"}});
}

TEST_CASE_METHOD(StreamEdgesTest, "IDs are read in all the forms that redis-server reads, and in no other") {
  const auto zeros = [](size_t count) { return std::string(count, '0'); };
  const std::vector<std::string> texts = {"007-001",
                                          " 7-1",
                                          "7- 1",
                                          "+7-1",
                                          "7-+1",
                                          "7-1 ",
                                          "7 -1",
                                          "-7-1",
                                          "7--1",
                                          "\t7-1",
                                          std::string("7-1\0x", 5),
                                          std::string("7\0-1", 4),
                                          std::string("\0", 1),
                                          "",
                                          "7-0x1",
                                          "7-1e0",
                                          zeros(124) + "7-1",
                                          zeros(125) + "7-1",
                                          zeros(126) + "7-1",
                                          "7-" + zeros(20) + "1",
                                          "18446744073709551615-18446744073709551616",
                                          "9223372036854775808-1",
                                          std::string("-\0x", 3),
                                          std::string("+\0", 2)};
  for (const std::string& text : texts) {
    CAPTURE(text);
    CompareInBoth({{"XADD", "s", "6-1", "f", "v"},
                   {"XADD", "s", text, "f", "v"},
                   {"XADD", "s", "9999999999999999-1", "f", "v"},
                   {"XRANGE", "s", text, "+"},
                   {"XRANGE", "s", "-", "(" + text},
                   {"XREAD", "STREAMS", "s", text},
                   {"XGROUP", "CREATE", "s", "g", text},
                   {"XGROUP", "CREATE", "s", "h", "0"},
                   {"XGROUP", "SETID", "s", "h", text},
                   {"XACK", "s", "h", text},
                   {"XCLAIM", "s", "h", "a", "0", text, "FORCE", "JUSTID"},
                   {"XDEL", "s", text},
                   {"XINFO", "GROUPS", "s"},
                   {"XRANGE", "s", "-", "+"}});
  }
}

TEST_CASE_METHOD(StreamEdgesTest, "$ is the last ID that a stream has given out, though its entry is gone") {
  const std::vector<Words> added = Added("s", {"1-1", "2-1", "3-1"});
  for (const Words& removal :
       {Words{"XDEL", "s", "3-1"}, Words{"XTRIM", "s", "MAXLEN", "0"}, Words{"XSETID", "s", "9-0"}}) {
    CAPTURE(removal);
    CompareInBoth(Joined(added, {removal,
                                 {"XGROUP", "CREATE", "s", "begins", "$"},
                                 {"XGROUP", "CREATE", "s", "goes-on", "0"},
                                 {"XGROUP", "SETID", "s", "goes-on", "$"},
                                 {"XINFO", "GROUPS", "s"},
                                 {"XREADGROUP", "GROUP", "begins", "a", "STREAMS", "s", ">"},
                                 {"XREAD", "STREAMS", "s", "$"}}));
  }
}

TEST_CASE_METHOD(StreamEdgesTest,
                 "an entry that a group delivers once more is the new consumer's, for the first time") {
  // Without the times since the deliveries.
  const Words pending = {"EVAL",
                         "local lines = {} "
                         "for _, line in ipairs(redis.call('XPENDING', KEYS[1], 'g', '-', '+', 9)) do "
                         "table.insert(lines, {line[1], line[2], line[4]}) end "
                         "return lines",
                         "1", "s"};
  const auto read = [](const std::string& consumer, const std::string& id) {
    return Words{"XREADGROUP", "GROUP", "g", consumer, "COUNT", "2", "STREAMS", "s", id};
  };
  CompareInBoth(Joined(Added("s", {"1-1", "2-1", "3-1"}), {{"XGROUP", "CREATE", "s", "g", "0"},
                                                           read("a", ">"),
                                                           read("a", "0"),
                                                           read("a", "1-1"),
                                                           pending,
                                                           {"XGROUP", "SETID", "s", "g", "1-1"},
                                                           read("b", ">"),
                                                           pending,
                                                           {"XPENDING", "s", "g"},
                                                           {"XGROUP", "SETID", "s", "g", "0"},
                                                           read("b", ">"),
                                                           pending,
                                                           read("a", "0"),
                                                           {"XGROUP", "DELCONSUMER", "s", "g", "b"},
                                                           {"XPENDING", "s", "g"}}));
}

TEST_CASE_METHOD(StreamEdgesTest,
                 "XCLAIM lets go of a pending entry that has gone, for however short a time it was idle") {
  CompareInBoth(Joined(Added("s", {"1-1", "2-1", "3-1"}),
                       {{"XGROUP", "CREATE", "s", "g", "0"},
                        {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"},
                        {"XDEL", "s", "1-1"},
                        {"XTRIM", "s", "MAXLEN", "1"},
                        {"XCLAIM", "s", "g", "b", "100000000", "1-1", "3-1"},
                        {"XPENDING", "s", "g"},
                        {"XCLAIM", "s", "g", "b", "100000000", "2-1", "JUSTID", "FORCE"},
                        {"XPENDING", "s", "g"}}));
}

TEST_CASE_METHOD(StreamEdgesTest, "entries that are deleted count for the length of their node") {
  CompareInBoth(
      Joined(Joined({{"CONFIG", "SET", "stream-node-max-entries", "3"}}, Added("s", {"1-1", "2-1", "3-1"})),
             {{"XDEL", "s", "2-1", "3-1"},
              {"XADD", "s", "4-1", "f", "v"},
              {"XTRIM", "s", "MAXLEN", "~", "1"},
              {"XRANGE", "s", "-", "+"},
              {"XADD", "s", "5-1", "f", "v"},
              {"XDEL", "s", "5-1"},
              {"XADD", "s", "6-1", "f", "v"},
              {"XADD", "s", "7-1", "f", "v"},
              {"XTRIM", "s", "MINID", "~", "7"},
              {"XRANGE", "s", "-", "+"},
              {"CONFIG", "SET", "stream-node-max-entries", "100"}}));
}

TEST_CASE_METHOD(StreamEdgesTest, "0 entries or 0 bytes are no limit for a node") {
  std::vector<std::string> ids;
  for (int i = 1; i <= 50; ++i) ids.push_back(std::to_string(i) + "-1");
  CompareInBoth(Joined(Joined({{"CONFIG", "SET", "stream-node-max-entries", "0"}}, Added("s", ids)),
                       {{"XTRIM", "s", "MAXLEN", "~", "1"},
                        {"XADD", "s", "MAXLEN", "~", "1", "51-1", "f", "v"},
                        {"XTRIM", "s", "MINID", "~", "60"},
                        {"XLEN", "s"},
                        {"CONFIG", "SET", "stream-node-max-entries", "100"}}));
  CompareInBoth(Joined(Joined({{"CONFIG", "SET", "stream-node-max-bytes", "0"}},
                              Added("s", {"1-1", "2-1", "3-1"}, std::string(5000, 'v'))),
                       {{"XTRIM", "s", "MAXLEN", "~", "1"},
                        {"XLEN", "s"},
                        {"CONFIG", "SET", "stream-node-max-bytes", "4096"}}));
}

TEST_CASE_METHOD(StreamEdgesTest, "COUNT of XREAD is for each stream") {
  CompareInBoth(Joined(Joined(Added("s", {"1-1", "2-1", "3-1"}), Added("t", {"1-1", "2-1", "3-1"})),
                       {{"XREAD", "COUNT", "2", "STREAMS", "s", "t", "0", "0"},
                        {"XREAD", "COUNT", "2", "STREAMS", "s", "s", "t", "0", "2-1", "1-1"},
                        {"XGROUP", "CREATE", "s", "g", "0"},
                        {"XGROUP", "CREATE", "t", "g", "0"},
                        {"XREADGROUP", "GROUP", "g", "a", "COUNT", "2", "STREAMS", "s", "t", ">", ">"},
                        {"XREADGROUP", "GROUP", "g", "a", "COUNT", "2", "STREAMS", "s", "t", "0", ">"}}));
}

TEST_CASE_METHOD(StreamEdgesTest, "a stream whose newest entries are deleted has nothing new") {
  CompareInBoth(
      Joined(Added("s", {"1-1", "2-1", "3-1"}), {{"XGROUP", "CREATE", "s", "g", "1-1"},
                                                 {"XDEL", "s", "2-1", "3-1"},
                                                 {"XREAD", "STREAMS", "s", "1-1"},
                                                 {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"}}));
}

}  // namespace mayfly::testing
