// Keyspace notifications: which events are published, and when. That their names are Redis's is shown in events_test.cc.
#include <algorithm>

#include "server/watch/notifier.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

class NotificationsTest : public CommandTest {
 public:
  NotificationsTest() : listener_(Connect()) { listener_.Run({"PSUBSCRIBE", "__key*"}); }

  // The messages since the last call: "__keyspace@0__:k set".
  std::vector<std::string> Heard() {
    std::vector<std::string> lines;
    for (const Reply& message : listener_.Received())
      lines.push_back(message.elements.at(2).text + " " + message.elements.at(3).text);
    return lines;
  }

 private:
  TestClient& listener_;
};

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(NotificationsTest, "a change is published by its key and by its event, as the option says") {
  Run({"SET", "k", "v"});
  CHECK(Heard().empty());
  CHECK(Run({"CONFIG", "SET", "notify-keyspace-events", "KEA"}) == Ok());
  CHECK(Run({"CONFIG", "GET", "notify-keyspace-events"}) == Bulks({"notify-keyspace-events", "AKE"}));
  Run({"SET", "k", "v", "EX", "100"});
  CHECK(Heard() == Lines{"__keyspace@0__:k set", "__keyevent@0__:set k", "__keyspace@0__:k expire",
                         "__keyevent@0__:expire k"});
  Run({"CONFIG", "SET", "notify-keyspace-events", "K$"});
  Run({"SET", "k", "v", "EX", "100"});
  Run({"DEL", "k"});
  CHECK(Heard() == Lines{"__keyspace@0__:k set"});
  Run({"CONFIG", "SET", "notify-keyspace-events", "Eg"});
  Run({"SELECT", "3"});
  Run({"LPUSH", "l", "v"});
  Run({"LPOP", "l"});
  CHECK(Heard() == Lines{"__keyevent@3__:del l"});
  Run({"CONFIG", "SET", "notify-keyspace-events", ""});
  Run({"SET", "k", "v"});
  CHECK(Heard().empty());
}

TEST_CASE_METHOD(NotificationsTest,
                 "expired is published at the deadline, without anybody looking at the key") {
  Run({"CONFIG", "SET", "notify-keyspace-events", "Ex"});
  Run({"SET", "a", "v", "PX", "20"});
  Run({"SET", "b", "v", "PX", "30"});
  AdvanceTime(19);
  CHECK(Heard().empty());
  AdvanceTime(1);
  CHECK(Heard() == Lines{"__keyevent@0__:expired a"});
  LetTimePass(10);
  CHECK(Run({"EXISTS", "b"}) == Integer(0));  // also if it is looked at before it is freed
  CHECK(Heard() == Lines{"__keyevent@0__:expired b"});
  TurnWheels();
  CHECK(Heard().empty());
}

TEST_CASE_METHOD(NotificationsTest, "a key that goes with its last member in time is published as in Redis") {
  Run({"CONFIG", "SET", "notify-keyspace-events", "Ehxg"});
  Run({"HSETEX", "h", "PX", "20", "FIELDS", "1", "f", "v"});
  Heard();
  AdvanceTime(20);
  CHECK(Heard() == Lines{"__keyevent@0__:hexpired h", "__keyevent@0__:del h"});
}

TEST_CASE_METHOD(NotificationsTest, "evicted, new and keymiss have their classes") {
  Run({"CONFIG", "SET", "notify-keyspace-events", "Eenm"});
  Run({"SET", "k", "v"});
  CHECK(Heard() == Lines{"__keyevent@0__:new k"});
  Run({"SET", "k", "w"});
  Run({"GET", "absent"});
  Run({"TTL", "absent"});
  CHECK(Heard() == Lines{"__keyevent@0__:keymiss absent", "__keyevent@0__:keymiss absent"});
  Run({"CONFIG", "SET", "maxkeys", "1"});
  Run({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
  Run({"SET", "l", "v"});
  CHECK(Heard() == Lines{"__keyevent@0__:new l", "__keyevent@0__:evicted k"});
}

TEST_CASE_METHOD(NotificationsTest, "a key that RESTORE replaces is a new one") {
  Run({"CONFIG", "SET", "notify-keyspace-events", "EAn"});
  Run({"SET", "k", "v"});
  Heard();
  const std::string payload = Run({"DUMP", "k"}).text;
  Run({"RESTORE", "k", "0", payload, "REPLACE"});
  CHECK(Heard() == Lines{"__keyevent@0__:new k", "__keyevent@0__:restore k"});
}

TEST_CASE_METHOD(NotificationsTest,
                 "without an event that is wanted, and without a subscriber, nothing is looked at") {
  server().changes.Unlisten(server().change_log);
  CHECK_FALSE(server().changes.Wants(ChangeReason::kValueChanged));
  for (const char* classes : {"", "A", "K", "Em"}) {
    Run({"CONFIG", "SET", "notify-keyspace-events", classes});
    CHECK_FALSE(server().changes.Wants(ChangeReason::kExpired));
    CHECK(server().notifier.tells_misses() == (std::string(classes) == "Em"));
  }
}

namespace {

// One key each, so that the order of the messages is that of the events.
const std::vector<std::vector<std::string>> kRequestsWithEvents = {
    {"SET", "s", "1"},
    {"INCR", "s"},
    {"APPEND", "s", "x"},
    {"SETBIT", "s", "1", "1"},
    {"EXPIRE", "s", "100"},
    {"PERSIST", "s"},
    {"GETDEL", "s"},
    {"PFADD", "p", "a"},
    {"LPUSH", "l", "a", "b"},
    {"LMOVE", "l", "l", "LEFT", "RIGHT"},
    {"SORT", "l", "ALPHA", "STORE", "l"},
    {"LTRIM", "l", "5", "6"},
    {"HSET", "h", "f", "1"},
    {"HINCRBY", "h", "f", "1"},
    {"HDEL", "h", "f"},
    {"SADD", "t", "a"},
    {"SPOP", "t"},
    {"ZADD", "z", "1", "a"},
    {"ZINCRBY", "z", "1", "a"},
    {"GEOADD", "z", "1", "1", "b"},
    {"ZREMRANGEBYRANK", "z", "0", "-1"},
    {"XADD", "x", "1-1", "f", "v"},
    {"XTRIM", "x", "MAXLEN", "0"},
    {"DEL", "x"},
    {"SET", "r", "1", "PXAT", "1"},
    {"SET", "r", "1"},
    {"RENAME", "r", "r2"},
    {"COPY", "r2", "r3"},
    {"MOVE", "r3", "1"},
    {"GET", "absent"},
    {"EXISTS", "absent"},
    {"TYPE", "absent"},
    {"OBJECT", "ENCODING", "absent"},
    {"DEL", "absent"},
};

}  // namespace

TEST_CASE_METHOD(NotificationsTest, "each class has the events that it has in a redis-server") {
  const std::string all = "g$lshzxetdnm";
  for (const char letter : all) {
    CAPTURE(letter);
    const std::string classes = std::string("E") + letter;
    Oracle redis({"--notify-keyspace-events", classes, "--databases", "16"});
    OracleClient theirs(redis);
    theirs.AskUntil(EncodeRequest({"PSUBSCRIBE", "__key*"}), ":1\r\n");
    Run({"FLUSHALL"});
    Run({"CONFIG", "SET", "notify-keyspace-events", classes});
    Heard();
    for (const auto& request : kRequestsWithEvents) {
      Run(request);
      redis.Ask(EncodeRequest(request), 1);
    }
    redis.Ask(EncodeRequest({"PUBLISH", "__key", "end"}), 1);
    Lines expected;
    for (const Reply& message : TakeReplies(theirs.AskUntil("", "$3\r\nend\r\n")))
      expected.push_back(message.elements.at(2).text + " " + message.elements.at(3).text);
    expected.pop_back();
    CHECK(Heard() == expected);
  }
}

}  // namespace mayfly::testing
