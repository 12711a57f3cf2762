// What each command on a stream tells replicas, listeners and the save points, and what it leaves untold.
#include "commands/replicas/master_world.h"
#include "support/stream_info.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

struct Told {
  std::string request;  // words with blanks between them
  Heard effects;
  Lines events;
};

// Beyond one effect, they come as a transaction.
Heard AsSent(Heard effects) {
  if (effects.size() < 2) return effects;
  effects.insert(effects.begin(), "MULTI");
  effects.emplace_back("EXEC");
  return effects;
}

Words WordsOf(const std::string& line) {
  Words words(1);
  for (const char letter : line) {
    if (letter == ' ')
      words.emplace_back();
    else
      words.back() += letter;
  }
  return words;
}

class StreamEffectsTest : public MasterTest {
 public:
  void Fill(int entries) {
    for (int i = 1; i <= entries; ++i) Run({"XADD", "s", std::to_string(i) + "-1", "f", "v"});
  }
  uint64_t changes() { return server().changes.by_clients(); }
  // One request after the other: the effects, the events, and changes for the save points if there is an effect.
  void CheckAll(FakeReplica& replica, const std::vector<Told>& all) {
    for (const auto& [request, effects, events] : all) {
      CAPTURE(request);
      replica.Take();
      TakeChanges();
      const uint64_t before = changes();
      CHECK(Run(WordsOf(request)).kind != Reply::Kind::kError);
      CHECK(replica.Take() == AsSent(effects));
      CHECK(TakeChanges() == events);
      CHECK((changes() == before) == effects.empty());
    }
  }
};

const std::string kAll = "RESTORE s 0 ... REPLACE ABSTTL";

}  // namespace

TEST_CASE_METHOD(StreamEffectsTest, "additions, deletions and trims are told as what they did") {
  FakeReplica& replica = Follow();
  Run({"CONFIG", "SET", "stream-node-max-entries", "3"});
  Fill(9);
  CheckAll(replica,
           {
               {"XADD s 10-* f v", {"XADD s 10-0 f v"}, {"xadd s"}},
               {"XADD s NOMKSTREAM MAXLEN 100 11-1 f v", {"XADD s 11-1 f v"}, {"xadd s"}},
               {"XADD none NOMKSTREAM 11-1 f v", {}, {}},
               {"XADD s MAXLEN ~ 10 12-1 f v", {"XADD s 12-1 f v"}, {"xadd s"}},
               {"XADD s MINID = 3 13-1 f v", {"XADD s MAXLEN = 11 13-1 f v"}, {"xadd s", "xtrim s"}},
               {"XADD s MAXLEN ~ 8 KEEPREF 14-1 f v", {"XADD s MAXLEN = 8 14-1 f v"}, {"xadd s", "xtrim s"}},
               {"XDEL s 99-9 1-1", {}, {}},
               {"XDEL s 8-1 99-9", {"XDEL s 8-1 99-9"}, {"xdel s"}},
               {"XTRIM s MAXLEN 100", {}, {}},
               {"XTRIM s MINID 8 KEEPREF", {"XTRIM s MAXLEN = 6"}, {"xtrim s"}},
               {"XTRIM s MAXLEN ~ 3 LIMIT 1", {"XTRIM s MAXLEN = 5"}, {"xtrim s"}},
               {"XTRIM s MAXLEN 4 DELREF", {kAll}, {"xtrim s"}},
               {"XTRIM s MAXLEN 3 ACKED", {kAll}, {"xtrim s"}},
               {"XTRIM s MAXLEN 3 ACKED", {}, {}},
               {"XTRIM none MAXLEN 3", {}, {}},
               {"XADD s DELREF MAXLEN 9 15-1 f v", {"XADD s 15-1 f v"}, {"xadd s"}},
               {"XADD s ACKED MAXLEN 4 16-1 f v", {kAll}, {"xadd s", "xtrim s"}},
               {"XSETID s 20-1", {"XSETID s 20-1"}, {"xsetid s"}},
               {"XSETID s 21-1 ENTRIESADDED 50 MAXDELETEDID 19-1",
                {"XSETID s 21-1 ENTRIESADDED 50 MAXDELETEDID 19-1"},
                {"xsetid s"}},
               {"XTRIM s MAXLEN 0", {"XTRIM s MAXLEN = 0"}, {"xtrim s"}},
               {"XADD s MAXLEN 0 22-1 f v", {"XADD s MAXLEN = 0 22-1 f v"}, {"xadd s", "xtrim s"}},
           });
}

// long: a row for each request.
TEST_CASE_METHOD(StreamEffectsTest, "what is done to groups is told in requests with the same result") {
  FakeReplica& replica = Follow();
  Fill(9);
  const std::string now = UnixMs(0);
  const auto claim = [&](const std::string& consumer, const std::string& ids, const std::string& count,
                         const std::string& at) {
    return "XCLAIM s g " + consumer + " 0 " + ids + " TIME " + at + " RETRYCOUNT " + count + " FORCE JUSTID";
  };
  const std::string made = "xgroup-createconsumer s";
  CheckAll(
      replica,
      {
          {"XGROUP CREATE new g $ MKSTREAM",
           {"RESTORE new 0 ... REPLACE ABSTTL"},
           {"new new", "xgroup-create new"}},
          {"XGROUP CREATE s g 0 ENTRIESREAD 0", {"XGROUP CREATE s g 0 ENTRIESREAD 0"}, {"xgroup-create s"}},
          {"XGROUP CREATE s h $", {"XGROUP CREATE s h $"}, {"xgroup-create s"}},
          {"XGROUP SETID s h 1-1 ENTRIESREAD 1", {"XGROUP SETID s h 1-1 ENTRIESREAD 1"}, {"xgroup-setid s"}},
          {"XGROUP CREATE s polled $", {"XGROUP CREATE s polled $"}, {"xgroup-create s"}},
          {"XREADGROUP GROUP polled z STREAMS s >", {"XGROUP CREATECONSUMER s polled z"}, {made}},
          {"XREADGROUP GROUP polled z STREAMS s >", {}, {}},
          {"XGROUP DESTROY s polled", {"XGROUP DESTROY s polled"}, {"xgroup-destroy s"}},
          {"XGROUP CREATECONSUMER s g a", {"XGROUP CREATECONSUMER s g a"}, {made}},
          {"XGROUP CREATECONSUMER s g a", {}, {}},
          {"XREADGROUP GROUP g a COUNT 3 STREAMS s >",
           {claim("a", "1-1 2-1 3-1", "1", now), "XGROUP SETID s g 3-1 ENTRIESREAD 3"},
           {}},
          {"XREADGROUP GROUP g b COUNT 1 STREAMS s >",
           {"XGROUP CREATECONSUMER s g b", claim("b", "4-1", "1", now), "XGROUP SETID s g 4-1 ENTRIESREAD 4"},
           {made}},
          {"XREADGROUP GROUP g a STREAMS s 1-1", {claim("a", "2-1 3-1", "2", now)}, {}},
          {"XREADGROUP GROUP g a STREAMS s 0",
           {claim("a", "1-1", "2", now), claim("a", "2-1 3-1", "3", now)},
           {}},
          {"XREADGROUP GROUP g b STREAMS s 4-1", {}, {}},
          {"XREADGROUP GROUP g c STREAMS s 0", {"XGROUP CREATECONSUMER s g c"}, {made}},
          {"XREADGROUP GROUP g c NOACK COUNT 1 STREAMS s >", {"XGROUP SETID s g 5-1 ENTRIESREAD 5"}, {}},
          {"XREADGROUP GROUP h d NOACK COUNT 1 STREAMS s >",
           {"XGROUP CREATECONSUMER s h d", "XGROUP SETID s h 2-1 ENTRIESREAD 2"},
           {made}},
          {"XCLAIM s g b 0 1-1 2-1", {claim("b", "1-1", "3", now), claim("b", "2-1", "4", now)}, {}},
          {"XCLAIM s g b 0 1-1 JUSTID", {claim("b", "1-1", "3", now)}, {}},
          {"XCLAIM s g b 0 1-1 2-1 RETRYCOUNT 9 TIME 1234 JUSTID", {claim("b", "1-1 2-1", "9", "1234")}, {}},
          {"XCLAIM s g a 0 1-1 RETRYCOUNT 0 IDLE 5", {claim("a", "1-1", "0", UnixMs(-5))}, {}},
          {"XCLAIM s g a 1000000 3-1", {}, {}},
          {"XCLAIM s g a 0 99-9", {}, {}},
          {"XCLAIM s g e 1000000 3-1", {"XGROUP CREATECONSUMER s g e"}, {made}},
          {"XCLAIM s g e 0 8-1 FORCE JUSTID", {claim("e", "8-1", "1", now)}, {}},
          {"XCLAIM s g e 0 99-9 LASTID 6-1", {"XGROUP SETID s g 6-1 ENTRIESREAD 5"}, {}},
          {"XCLAIM s g e 0 99-9 LASTID 6-1", {}, {}},
          {"XCLAIM s g e 0 99-9 LASTID 1-1", {}, {}},
          {"XCLAIM s g f 0 8-1 RETRYCOUNT 2 LASTID 6-2",
           {"XGROUP CREATECONSUMER s g f", claim("f", "8-1", "2", now), "XGROUP SETID s g 6-2 ENTRIESREAD 5"},
           {made}},
          {"XAUTOCLAIM s g f 0 3-1 COUNT 1 JUSTID", {claim("f", "3-1", "3", now)}, {}},
          {"XAUTOCLAIM s g i 0 8-1", {"XGROUP CREATECONSUMER s g i", claim("i", "8-1", "3", now)}, {made}},
          {"XAUTOCLAIM s g i 1000000000000000 0", {}, {}},
          {"XAUTOCLAIM s g j 1000000000000000 0", {"XGROUP CREATECONSUMER s g j"}, {made}},
          {"XACK s g 99-9", {}, {}},
          {"XACK s g 2-1 99-9", {"XACK s g 2-1 99-9"}, {}},
          {"XDEL s 1-1 3-1 4-1", {"XDEL s 1-1 3-1 4-1"}, {"xdel s"}},
          {"XREADGROUP GROUP g a STREAMS s 0", {}, {}},
          {"XCLAIM s g f 0 1-1 8-1 JUSTID", {claim("f", "8-1", "3", now), "XACK s g 1-1"}, {}},
          {"XAUTOCLAIM s g k 0 0 COUNT 1", {"XGROUP CREATECONSUMER s g k", "XACK s g 3-1"}, {made}},
          {"XREADGROUP GROUP g k COUNT 1 CLAIM 0 STREAMS s >",
           {"XACK s g 4-1", claim("k", "7-1", "1", now), "XGROUP SETID s g 7-1 ENTRIESREAD 6"},
           {}},
          {"XGROUP DELCONSUMER s g none", {}, {}},
          {"XGROUP DELCONSUMER s g k", {"XGROUP DELCONSUMER s g k"}, {"xgroup-delconsumer s"}},
          {"XGROUP DESTROY s none", {}, {}},
          {"XGROUP DESTROY s h", {"XGROUP DESTROY s h"}, {"xgroup-destroy s"}},
          {"XGROUP DESTROY s g", {"XGROUP DESTROY s g"}, {"xgroup-destroy s"}},
      });
}

TEST_CASE_METHOD(StreamEffectsTest, "XDELEX and XACKDEL are told by what they deleted and acknowledged") {
  FakeReplica& replica = Follow();
  Fill(9);
  for (const std::string group : {"g", "h"}) {
    Run({"XGROUP", "CREATE", "s", group, "0"});
    Run({"XREADGROUP", "GROUP", group, "a", "COUNT", "7", "STREAMS", "s", ">"});
  }
  CheckAll(replica, {
                        {"XDELEX s IDS 2 99-9 1-1", {"XDEL s 1-1"}, {"xdel s"}},
                        {"XDELEX s KEEPREF IDS 1 1-1", {}, {}},
                        {"XDELEX s ACKED IDS 2 2-1 9-1", {}, {}},
                        {"XDELEX s DELREF IDS 1 99-9", {}, {}},
                        {"XDELEX s DELREF IDS 1 1-1", {kAll}, {}},
                        {"XDELEX s DELREF IDS 1 2-1", {kAll}, {"xdel s"}},
                        {"XDELEX s DELREF IDS 1 8-1", {kAll}, {"xdel s"}},
                        {"XDELEX none IDS 1 1-1", {}, {}},
                        {"XACKDEL s g IDS 2 99-9 3-1", {"XACK s g 3-1", "XDEL s 3-1"}, {"xdel s"}},
                        {"XACKDEL s h KEEPREF IDS 1 3-1", {"XACK s h 3-1"}, {}},
                        {"XACKDEL s h IDS 1 3-1", {}, {}},
                        {"XACKDEL s g ACKED IDS 1 4-1", {"XACK s g 4-1"}, {}},
                        {"XACKDEL s h ACKED IDS 1 4-1", {"XACK s h 4-1", "XDEL s 4-1"}, {"xdel s"}},
                        {"XACKDEL s g DELREF IDS 1 5-1", {kAll}, {"xdel s"}},
                        {"XACKDEL s none IDS 1 6-1", {}, {}},
                        {"XACKDEL none g IDS 1 6-1", {}, {}},
                        {"XACKDEL s g IDS 2 6-1 7-1", {"XACK s g 6-1 7-1", "XDEL s 6-1 7-1"}, {"xdel s"}},
                    });
  CHECK(Run({"XLEN", "s"}) == Integer(1));
}

TEST_CASE_METHOD(StreamEffectsTest, "of two streams that one request reads each tells its own") {
  FakeReplica& replica = Follow();
  Fill(1);
  Run({"XADD", "t", "5-5", "f", "v"});
  for (const std::string stream : {"s", "t"}) Run({"XGROUP", "CREATE", stream, "g", "0"});
  const std::string at = " TIME " + UnixMs(0) + " RETRYCOUNT 1 FORCE JUSTID";
  CheckAll(replica,
           {{"XREADGROUP GROUP g a STREAMS s t > >",
             {"XGROUP CREATECONSUMER s g a", "XCLAIM s g a 0 1-1" + at, "XGROUP SETID s g 1-1 ENTRIESREAD 1",
              "XGROUP CREATECONSUMER t g a", "XCLAIM t g a 0 5-5" + at, "XGROUP SETID t g 5-5 ENTRIESREAD 1"},
             {"xgroup-createconsumer s", "xgroup-createconsumer t"}}});
}

// Every counter of a stream, after each command, is in the file and in a payload.
TEST_CASE_METHOD(StreamEffectsTest,
                 "after each command a save, a load and a payload bring back all that XINFO tells") {
  Run({"CONFIG", "SET", "stream-node-max-entries", "3"});
  const std::vector<std::string> requests{
      "XADD s 0-1 f v",
      "XADD s 5-5 f v g w",
      "XDEL s 5-5",
      "XDEL s 0-1",
      "XADD s 6-0 f v",
      "XADD s 18446744073709551615-18446744073709551614 f v",
      "XDEL s 18446744073709551615-18446744073709551614",
      "DEL s",
      "XGROUP CREATE s g 0 MKSTREAM",
      "XGROUP CREATE s h $ ENTRIESREAD 0",
      "XADD s 1-1 f v",
      "XADD s 2-1 f v",
      "XADD s 3-1 f v",
      "XADD s 4-1 f v",
      "XGROUP SETID s h 2-1",
      "XREADGROUP GROUP g a COUNT 3 STREAMS s >",
      "XREADGROUP GROUP h b COUNT 1 STREAMS s >",
      "XGROUP CREATECONSUMER s h idle",
      "XCLAIM s g b 0 1-1 IDLE 500 RETRYCOUNT 7",
      "XCLAIM s g c 0 2-1 JUSTID LASTID 3-5",
      "XDEL s 2-1",
      "XACK s h 3-1",
      "XTRIM s MINID 3",
      "XSETID s 9-9 ENTRIESADDED 20 MAXDELETEDID 8-8",
      "XGROUP SETID s h 7-7 ENTRIESREAD 11",
      "XGROUP DELCONSUMER s g a",
      "XTRIM s MAXLEN 0",
      "XGROUP DESTROY s g",
      "XGROUP DESTROY s h",
  };
  for (const std::string& request : requests) {
    CAPTURE(request);
    REQUIRE(Run(WordsOf(request)).kind != Reply::Kind::kError);
    AdvanceTime(7);
    if (request == "DEL s") continue;
    const auto look = [&](const std::string& key) {
      return std::vector{WithoutOwn(Run({"XINFO", "STREAM", key, "FULL", "COUNT", "0"})),
                         Run({"XINFO", "GROUPS", key}), Run({"XRANGE", key, "-", "+"})};
    };
    const std::vector<Reply> before = look("s");
    Reload();
    CHECK(look("s") == before);
    CHECK(Run({"RESTORE", "t", "0", Run({"DUMP", "s"}).text, "REPLACE"}) == Ok());
    CHECK(look("t") == before);
    CHECK(Run({"COPY", "s", "u", "REPLACE"}) == Integer(1));
    CHECK(look("u") == before);
    CHECK(keyspace().Validate());
  }
}

}  // namespace mayfly::testing
