// Clients that wait for streams: who gets an entry, what ends a wait, and what a stream without new entries is for them.
#include <string>
#include <vector>

#include "commands/streams/stream_world.h"

namespace mayfly::testing {

TEST_CASE_METHOD(GroupTest, "a client that has looked in vain for idle entries keeps its place in the line") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  TestClient first(server());
  TestClient second(server());
  first.Run({"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "CLAIM", "50", "STREAMS", "s", ">"});
  second.Run({"XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"});
  AdvanceTime(40);
  Run({"XCLAIM", "s", "g", "a", "0", "1-1", "2-1", "3-1", "JUSTID"});
  AdvanceTime(10);  // the first client looks
  CHECK(first.Received().empty());
  Add("4-1");
  CHECK(first.Received() ==
        std::vector{Array({Array(
            {Bulk("s"), Array({Array({Bulk("4-1"), Bulks({"f", "4-1"}), Integer(0), Integer(0)})})})})});
  CHECK(second.Received().empty());
  Add("5-1");
  CHECK(second.Received() == std::vector{Delivered("5-1")});
}

TEST_CASE_METHOD(GroupTest, "a group that goes back gives its entries to a client that waits, at once") {
  Run({"XGROUP", "CREATE", "s", "g", "$"});
  TestClient waits(server());
  waits.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "s", ">"});
  Run({"XGROUP", "SETID", "s", "g", "3-1"});
  CHECK(waits.Received().empty());
  Run({"XGROUP", "SETID", "s", "g", "1-1"});
  CHECK(waits.Received() == std::vector{Delivered("2-1", "3-1")});
}

TEST_CASE_METHOD(GroupTest, "CLIENT UNBLOCK with ERROR ends a wait for idle entries, and each other one") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  for (const Words& request : std::vector<Words>{
           {"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "CLAIM", "50", "STREAMS", "s", ">"},
           {"XREADGROUP", "GROUP", "g", "b", "BLOCK", "30", "CLAIM", "50", "STREAMS", "s", ">"},
           {"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "STREAMS", "s", ">"},
           {"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}}) {
    CAPTURE(request);
    TestClient waits(server());
    CHECK(waits.Run(request) == NoReply());
    CHECK(Run({"CLIENT", "UNBLOCK", std::to_string(waits.session().id), "ERROR"}) == Integer(1));
    AdvanceTime(0);
    CHECK(waits.Received() == std::vector{Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")});
    CHECK(server().parking.size() == 0);
  }
  CHECK(AllPending().elements.size() == 3);
}

TEST_CASE_METHOD(GroupTest,
                 "a key that gets another type refuses XREAD what comes to another one, as in Redis 8") {
  TestClient& waits = Connect();
  const std::string after = GENERATE("$", "9000000000000-0");  // later than the entry that comes
  for (const Words& keys : {Words{"first", "s"}, Words{"s", "first"}}) {
    Run({"DEL", "first"});
    waits.Run({"XREAD", "BLOCK", "0", "STREAMS", keys[0], keys[1], after, after});
    Run({"SET", "first", "text"});
    CHECK(waits.Received().empty());
    Run({"XADD", "s", "*", "f", "v"});
    CHECK(waits.Received() ==
          std::vector<Reply>{Error("WRONGTYPE Operation against a key holding the wrong kind of value")});
  }
}

TEST_CASE_METHOD(GroupTest, "a client waits for a stream whose newest entries are deleted") {
  Run({"XGROUP", "CREATE", "s", "g", "1-1"});
  Run({"XDEL", "s", "2-1", "3-1"});
  TestClient reads(server());
  TestClient works(server());
  CHECK(reads.Run({"XREAD", "BLOCK", "0", "STREAMS", "s", "1-1"}) == NoReply());
  CHECK(works.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "s", ">"}) == NoReply());
  Add("4-1");
  CHECK(reads.Received() == std::vector{Delivered("4-1")});
  CHECK(works.Received() == std::vector{Delivered("4-1")});
}

TEST_CASE_METHOD(GroupTest, "+ is the last entry that is left, though a later ID was given out") {
  Run({"XDEL", "s", "3-1"});
  CHECK(Run({"XREAD", "STREAMS", "s", "+"}) == Delivered("2-1"));
  CHECK(Run({"XREAD", "BLOCK", "10", "STREAMS", "s", "+"}) == Delivered("2-1"));
  Run({"XSETID", "s", "9-9"});
  CHECK(Run({"XREAD", "COUNT", "5", "STREAMS", "s", "+"}) == Delivered("2-1"));
}

TEST_CASE_METHOD(GroupTest, "who watches an absent stream hears of the group that makes it, and of no more") {
  TestClient watcher(server());
  const auto exec = [&] {
    watcher.Run({"MULTI"});
    watcher.Run({"PING"});
    return watcher.Run({"EXEC"});
  };
  watcher.Run({"WATCH", "new"});
  Run({"XGROUP", "CREATE", "new", "g", "$", "MKSTREAM"});
  CHECK(exec() == NullArray());
  watcher.Run({"WATCH", "new"});
  Run({"XGROUP", "CREATE", "new", "h", "$", "MKSTREAM"});
  CHECK(exec() == Array({Simple("PONG")}));
}

TEST_CASE_METHOD(GroupTest, "a stream that XGROUP makes has the TTL that options give to new keys") {
  SetOption("default-ttl", "100");
  CHECK(Run({"XGROUP", "CREATE", "new", "g", "$", "MKSTREAM"}) == Ok());
  CHECK(Run({"TTL", "new"}) == Integer(100));
  SetOption("default-ttl", "0");
  SetOption("ttl-required", "yes");
  CHECK(Run({"XGROUP", "CREATE", "other", "g", "$", "MKSTREAM"}).kind == Reply::Kind::kError);
  CHECK(Run({"EXISTS", "other"}) == Integer(0));
}

TEST_CASE_METHOD(GroupTest, "a stream from a payload has nodes as long as the options say now") {
  for (const std::string id : {"4-1", "5-1", "6-1"}) Add(id);
  const std::string payload = Run({"DUMP", "s"}).text;
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "3"}) == Integer(0));
  SetOption("stream-node-max-entries", "2");
  CHECK(Run({"RESTORE", "s", "0", payload, "REPLACE"}) == Ok());
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "3"}) == Integer(2));
  SetOption("stream-node-max-entries", "100");
  SetOption("stream-node-max-bytes", "1");
  CHECK(Run({"RESTORE", "s", "0", payload, "REPLACE"}) == Ok());
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "3"}) == Integer(3));
}

}  // namespace mayfly::testing
