// Consumer groups of streams: what is delivered to whom, until it is acknowledged.
#include <map>

#include "commands/streams/stream_world.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kWrongType = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
const Reply kNoKey = Error(
    "ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the "
    "MKSTREAM option to "
    "create an empty stream automatically.");

}  // namespace

TEST_CASE_METHOD(GroupTest, "each entry is delivered to one consumer, and pending until it is acknowledged") {
  CHECK(Run({"XGROUP", "CREATE", "s", "g", "0"}) == Ok());
  CHECK(Read("a", ">", "2") == Delivered("1-1", "2-1"));
  AdvanceTime(50);
  CHECK(Read("b") == Delivered("3-1"));
  CHECK(Read("b") == NullArray());
  CHECK(AllPending() ==
        Array({Pending("1-1", "a", 50, 1), Pending("2-1", "a", 50, 1), Pending("3-1", "b", 0, 1)}));
  CHECK(Run({"XPENDING", "s", "g"}) ==
        Array({Integer(3), Bulk("1-1"), Bulk("3-1"),
               Array({Array({Bulk("a"), Bulk("2")}), Array({Bulk("b"), Bulk("1")})})}));
  CHECK(Run({"XACK", "s", "g", "1-1", "1-1", "3-1", "9-9"}) == Integer(2));
  CHECK(AllPending() == Array({Pending("2-1", "a", 50, 1)}));
  CHECK(Run({"XACK", "s", "g", "2-1"}) == Integer(1));
  CHECK(Run({"XPENDING", "s", "g"}) == Array({Integer(0), Null(), Null(), NullArray()}));
  CHECK(Run({"XACK", "s", "none", "1-1"}) == Integer(0));
  CHECK(Run({"XACK", "none", "g", "no ID"}) == Integer(0));
  CHECK(Run({"XLEN", "s"}) == Integer(3));
}

TEST_CASE_METHOD(GroupTest, "a consumer reads again what it holds, and each reading counts") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "2");
  AdvanceTime(10);
  CHECK(Read("a", "0") == Delivered("1-1", "2-1"));
  CHECK(Read("a", "1-1") == Delivered("2-1"));
  CHECK(Read("b", "0") == Delivered());
  CHECK(AllPending() == Array({Pending("1-1", "a", 0, 2), Pending("2-1", "a", 0, 3)}));
  // An entry that has gone is pending still, and is read as null.
  Run({"XDEL", "s", "1-1"});
  CHECK(Read("a", "0") == Array({Array({Bulk("s"), Array({Array({Bulk("1-1"), NullArray()}),
                                                          StreamEntryOf("2-1", {"f", "2-1"})})})}));
  CHECK(AllPending() == Array({Pending("1-1", "a", 0, 2), Pending("2-1", "a", 0, 4)}));
}

TEST_CASE_METHOD(GroupTest, "with NOACK nothing is pending") {
  Run({"XGROUP", "CREATE", "s", "g", "1-1"});
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "NOACK", "STREAMS", "s", ">"}) == Delivered("2-1", "3-1"));
  CHECK(Run({"XPENDING", "s", "g"}) == Array({Integer(0), Null(), Null(), NullArray()}));
  CHECK(Read("a") == NullArray());
}

TEST_CASE_METHOD(GroupTest,
                 "several streams are read at once, and one that is named twice gives its entries once") {
  Run({"XADD", "t", "5-5", "g", "w"});
  for (const std::string stream : {"s", "t"}) Run({"XGROUP", "CREATE", stream, "g", "0"});
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "STREAMS", "s", "t", ">", "0"}) ==
        Array({Array({Bulk("s"), Entries("1-1")}), Array({Bulk("t"), Array({})})}));
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", "s", ">", ">"}) == Delivered("2-1", "3-1"));
  UseResp3();
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "t", "s", ">", ">"}) ==
        Map({Bulk("t"), Array({StreamEntryOf("5-5", {"g", "w"})})}));
}

TEST_CASE_METHOD(CommandTest, "a group at the highest id gets nothing new, and what it claims only once") {
  Run({"XADD", "s", "18446744073709551615-18446744073709551615", "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"});
  const Reply claimed = Run({"XREADGROUP", "GROUP", "g", "b", "CLAIM", "0", "STREAMS", "s", ">"});
  REQUIRE(claimed.elements.size() == 1);
  CHECK(claimed.elements[0].elements[1].elements.size() == 1);
  CHECK(Run({"XREADGROUP", "GROUP", "g", "b", "STREAMS", "s", ">"}) == NullArray());
}

TEST_CASE_METHOD(GroupTest,
                 "XCLAIM gives idle entries to another consumer, and forgets those that have gone") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  AdvanceTime(100);
  CHECK(Run({"XCLAIM", "s", "g", "b", "101", "1-1"}) == Array({}));
  CHECK(Run({"XCLAIM", "s", "g", "b", "100", "1-1", "9-9"}) == Entries("1-1"));
  CHECK(Run({"XCLAIM", "s", "g", "b", "0", "2-1", "JUSTID"}) == Array({Bulk("2-1")}));
  CHECK(AllPending() ==
        Array({Pending("1-1", "b", 0, 2), Pending("2-1", "b", 0, 1), Pending("3-1", "a", 100, 1)}));
  CHECK(Run({"XCLAIM", "s", "g", "b", "0", "3-1", "IDLE", "70", "RETRYCOUNT", "9"}) == Entries("3-1"));
  CHECK(Run({"XPENDING", "s", "g", "IDLE", "70", "-", "+", "9"}) == Array({Pending("3-1", "b", 70, 9)}));
  CHECK(Run({"XCLAIM", "s", "g", "b", "0", "3-1", "TIME", UnixMs(-30)}) == Entries("3-1"));
  CHECK(Run({"XPENDING", "s", "g", "3-1", "3-1", "9", "b"}) == Array({Pending("3-1", "b", 30, 10)}));
  Run({"XDEL", "s", "3-1"});
  CHECK(Run({"XCLAIM", "s", "g", "b", "0", "3-1"}) == Array({}));
  CHECK(Run({"XPENDING", "s", "g", "3-1", "3-1", "9"}) == Array({}));
  // FORCE makes an entry pending that was not.
  Run({"XACK", "s", "g", "1-1"});
  CHECK(Run({"XCLAIM", "s", "g", "c", "0", "1-1"}) == Array({}));
  CHECK(Run({"XCLAIM", "s", "g", "c", "0", "1-1", "3-1", "FORCE"}) == Entries("1-1"));
  CHECK(AllPending() == Array({Pending("1-1", "c", 0, 2), Pending("2-1", "b", 0, 1)}));
  CHECK(Run({"XCLAIM", "s", "g", "c", "0", "1-1", "LASTID", "7-7", "JUSTID"}) == Array({Bulk("1-1")}));
  CHECK(Run({"XINFO", "GROUPS", "s"}).elements[0].elements[7] == Bulk("7-7"));
}

TEST_CASE_METHOD(GroupTest, "XAUTOCLAIM goes through what is pending, page by page") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  AdvanceTime(100);
  Run({"XDEL", "s", "2-1"});
  CHECK(Run({"XAUTOCLAIM", "s", "g", "b", "101", "0"}) ==
        Array({Bulk("0-0"), Array({}), Array({Bulk("2-1")})}));
  CHECK(Run({"XAUTOCLAIM", "s", "g", "b", "100", "0", "COUNT", "1"}) ==
        Array({Bulk("3-1"), Entries("1-1"), Array({})}));
  CHECK(Run({"XAUTOCLAIM", "s", "g", "b", "100", "3-1", "COUNT", "1", "JUSTID"}) ==
        Array({Bulk("0-0"), Array({Bulk("3-1")}), Array({})}));
  CHECK(AllPending() == Array({Pending("1-1", "b", 0, 2), Pending("3-1", "b", 0, 1)}));
  // It looks at ten times as many entries as it may claim.
  for (int i = 10; i < 50; ++i) Add(std::to_string(i) + "-0");
  Read("a");
  CHECK(Run({"XAUTOCLAIM", "s", "g", "b", "5", "10", "COUNT", "2"}) ==
        Array({Bulk("30-0"), Array({}), Array({})}));
}

TEST_CASE_METHOD(GroupTest, "groups and consumers are made and removed by name") {
  CHECK(Run({"XGROUP", "CREATE", "none", "g", "0"}) == kNoKey);
  CHECK(Run({"XGROUP", "CREATE", "new", "g", "$", "MKSTREAM"}) == Ok());
  CHECK(Run({"XLEN", "new"}) == Integer(0));
  CHECK(Run({"XGROUP", "CREATE", "s", "g", "$"}) == Ok());
  CHECK(Run({"XGROUP", "CREATE", "s", "g", "0"}) == Error("BUSYGROUP Consumer Group name already exists"));
  CHECK(Read("a") == NullArray());
  CHECK(Run({"XGROUP", "SETID", "s", "g", "1-1"}) == Ok());
  CHECK(Read("a") == Delivered("2-1", "3-1"));
  CHECK(Run({"XGROUP", "CREATECONSUMER", "s", "g", "a"}) == Integer(0));
  CHECK(Run({"XGROUP", "CREATECONSUMER", "s", "g", "b"}) == Integer(1));
  CHECK(Run({"XGROUP", "DELCONSUMER", "s", "g", "b"}) == Integer(0));
  CHECK(Run({"XGROUP", "DELCONSUMER", "s", "g", "a"}) == Integer(2));
  CHECK(Run({"XPENDING", "s", "g"}) == Array({Integer(0), Null(), Null(), NullArray()}));
  const Reply no_group = Error("NOGROUP No such consumer group 'x' for key name 's'");
  CHECK(Run({"XGROUP", "SETID", "s", "x", "0"}) == no_group);
  CHECK(Run({"XGROUP", "CREATECONSUMER", "s", "x", "a"}) == no_group);
  CHECK(Run({"XGROUP", "DELCONSUMER", "s", "x", "a"}) == no_group);
  CHECK(Run({"XGROUP", "DESTROY", "s", "x"}) == Integer(0));
  CHECK(Run({"XGROUP", "DESTROY", "s", "g"}) == Integer(1));
  CHECK(Group() == Array({}));
  CHECK(Read("a") == Error("NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option"));
  CHECK(Run({"XGROUP", "HELP"}).elements.size() > 5);
  Run({"SET", "text", "x"});
  CHECK(Run({"XGROUP", "CREATE", "text", "g", "0", "MKSTREAM"}) == kWrongType);
}

TEST_CASE_METHOD(GroupTest, "XINFO tells how far a group has come") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  const auto group = [](int64_t consumers, int64_t pending, const std::string& last, Reply read, Reply lag) {
    return Array({Array({Bulk("name"), Bulk("g"), Bulk("consumers"), Integer(consumers), Bulk("pending"),
                         Integer(pending), Bulk("last-delivered-id"), Bulk(last), Bulk("entries-read"),
                         std::move(read), Bulk("lag"), std::move(lag)})});
  };
  CHECK(Group() == group(0, 0, "0-0", Null(), Integer(3)));
  Read("a", ">", "1");
  CHECK(Group() == group(1, 1, "1-1", Integer(1), Integer(2)));
  Read("b", ">", "1");
  CHECK(Group() == group(2, 2, "2-1", Integer(2), Integer(1)));
  Run({"XDEL", "s", "3-1"});
  CHECK(Group() == group(2, 2, "2-1", Integer(2), Null()));
  Add("4-1");
  Read("a");
  CHECK(Group() == group(2, 3, "4-1", Integer(4), Integer(0)));
  AdvanceTime(30);
  CHECK(Run({"XINFO", "CONSUMERS", "s", "g"}) ==
        Array({Array({Bulk("name"), Bulk("a"), Bulk("pending"), Integer(2), Bulk("idle"), Integer(30),
                      Bulk("inactive"), Integer(30)}),
               Array({Bulk("name"), Bulk("b"), Bulk("pending"), Integer(1), Bulk("idle"), Integer(30),
                      Bulk("inactive"), Integer(30)})}));
  CHECK(Run({"XINFO", "CONSUMERS", "s", "x"}) ==
        Error("NOGROUP No such consumer group 'x' for key name 's'"));
  CHECK(Run({"XINFO", "CONSUMERS", "none", "x"}) == Error("ERR no such key"));
}

TEST_CASE_METHOD(GroupTest, "a group's lag is known beside a deleted entry that the group has passed") {
  Add("4-1", "5-1");
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "3");
  Run({"XDEL", "s", "2-1"});
  CHECK(Group().elements[0].elements[9] == Integer(3));  // entries-read
  CHECK(Group().elements[0].elements[11] == Integer(2));
  Run({"XDEL", "s", "4-1"});
  CHECK(Group().elements[0].elements[11] == Null());
}

TEST_CASE_METHOD(GroupTest,
                 "a group that a trim has overtaken has read what went, with the next entry that it reads") {
  const auto progress = [&] {
    const std::vector<Reply> group = Group().elements.at(0).elements;
    return Array({group[9], group[11]});  // entries-read, lag
  };
  Add("4-1", "5-1");
  Run({"XGROUP", "CREATE", "s", "g", "0", "ENTRIESREAD", "0"});
  CHECK(progress() == Array({Integer(0), Integer(5)}));
  Run({"XTRIM", "s", "MAXLEN", "2"});
  CHECK(progress() == Array({Integer(0), Integer(2)}));
  CHECK(Read("a", ">", "1") == Delivered("4-1"));
  CHECK(progress() == Array({Integer(4), Integer(1)}));
  CHECK(Read("a", ">", "1") == Delivered("5-1"));
  CHECK(progress() == Array({Integer(5), Integer(0)}));
  // Also a group that has read some of what went.
  Run({"XGROUP", "SETID", "s", "g", "2-1", "ENTRIESREAD", "2"});
  Add("6-1");
  CHECK(Read("a", ">", "2") == Delivered("4-1", "5-1"));
  CHECK(progress() == Array({Integer(5), Integer(1)}));
}

TEST_CASE_METHOD(GroupTest, "a client waits for entries that nobody of its group has got") {
  Run({"XGROUP", "CREATE", "s", "g", "$"});
  TestClient first(server());
  TestClient second(server());
  first.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "s", ">"});
  second.Run({"XREADGROUP", "GROUP", "g", "b", "BLOCK", "40", "STREAMS", "s", ">"});
  CHECK(first.Received().empty());
  Add("4-1");
  CHECK(first.Received() == std::vector{Delivered("4-1")});
  CHECK(second.Received().empty());
  AdvanceTime(40);
  CHECK(second.Received() == std::vector{NullArray()});
}

TEST_CASE_METHOD(
    GroupTest,
    "with CLAIM a consumer gets what has been idle for long, the longest first, and then what is new") {
  const auto entry = [](const std::string& id, int64_t idle_ms, int64_t count) {
    return Array({Bulk(id), Bulks({"f", id}), Integer(idle_ms), Integer(count)});
  };
  const auto claim = [&](const std::string& consumer, const std::string& count = "100") {
    return Run({"XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "CLAIM", "50", "STREAMS", "s", ">"});
  };
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "1");
  AdvanceTime(30);
  Read("b", ">", "1");
  AdvanceTime(20);
  Read("a", "0");  // 1-1 is not idle any more
  AdvanceTime(30);
  CHECK(claim("c") == Array({Array({Bulk("s"), Array({entry("2-1", 50, 1), entry("3-1", 0, 0)})})}));
  AdvanceTime(20);
  CHECK(AllPending() ==
        Array({Pending("1-1", "a", 50, 2), Pending("2-1", "c", 20, 2), Pending("3-1", "c", 20, 1)}));
  AdvanceTime(50);
  CHECK(claim("d", "2") == Array({Array({Bulk("s"), Array({entry("1-1", 100, 2), entry("2-1", 70, 2)})})}));
  CHECK(claim("d", "2") == Array({Array({Bulk("s"), Array({entry("3-1", 70, 1)})})}));
  CHECK(claim("d") == NullArray());
  // NOACK does not take claimed entries from the group, and an ID in the place of > ignores CLAIM.
  AdvanceTime(50);
  CHECK(Run({"XREADGROUP", "GROUP", "g", "e", "COUNT", "1", "NOACK", "CLAIM", "50", "STREAMS", "s", ">"}) ==
        Array({Array({Bulk("s"), Array({entry("1-1", 50, 3)})})}));
  CHECK(Run({"XREADGROUP", "GROUP", "g", "e", "CLAIM", "0", "STREAMS", "s", "0"}) == Delivered("1-1"));
  // Entries that have gone are pending no more.
  Run({"XDEL", "s", "2-1"});
  CHECK(claim("f") == Array({Array({Bulk("s"), Array({entry("3-1", 50, 2)})})}));
  CHECK(AllPending() == Array({Pending("1-1", "e", 0, 5), Pending("3-1", "f", 0, 3)}));
  for (const std::string wrong : {"x", "1.5", "+1"})
    CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "CLAIM", wrong, "STREAMS", "s", ">"}) ==
          Error("ERR min-idle-time is not an integer"));
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "CLAIM", "-1", "STREAMS", "s", ">"}) ==
        Error("ERR min-idle-time must be a positive integer"));
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "CLAIM", "9223372036854775807", "STREAMS", "s", ">"}) ==
        NullArray());
}

TEST_CASE_METHOD(GroupTest,
                 "a client that waits with CLAIM gets an entry when it has been idle for long enough") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a");
  AdvanceTime(10);
  TestClient waits(server());
  waits.Run(
      {"XREADGROUP", "GROUP", "g", "b", "COUNT", "1", "BLOCK", "200", "CLAIM", "50", "STREAMS", "s", ">"});
  AdvanceTime(39);
  CHECK(waits.Received().empty());
  AdvanceTime(1);
  CHECK(waits.Received() ==
        std::vector{Array({Array(
            {Bulk("s"), Array({Array({Bulk("1-1"), Bulks({"f", "1-1"}), Integer(50), Integer(1)})})})})});
  // Acknowledged meanwhile: the client waits on, until its own end.
  waits.Run({"XREADGROUP", "GROUP", "g", "b", "BLOCK", "200", "CLAIM", "80", "STREAMS", "s", ">"});
  Run({"XACK", "s", "g", "1-1", "2-1", "3-1"});
  AdvanceTime(199);
  CHECK(waits.Received().empty());
  AdvanceTime(1);
  CHECK(waits.Received() == std::vector{NullArray()});
  CHECK(server().parking.size() == 0);
}

TEST_CASE_METHOD(
    GroupTest,
    "a client that waits with CLAIM gets an entry as soon as XCLAIM says that it was idle for long") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  for (const std::vector<Words>& requests : std::vector<std::vector<Words>>{
           {{"XCLAIM", "s", "g", "a", "0", "1-1", "IDLE", "50"}},
           {{"XCLAIM", "s", "g", "a", "0", "1-1", "IDLE", "50", "JUSTID"}},
           {{"XCLAIM", "s", "g", "new", "0", "1-1", "TIME", std::to_string(WallMs() - 50)}},
           {{"XACK", "s", "g", "1-1", "2-1", "3-1"},
            {"XCLAIM", "s", "g", "a", "0", "1-1", "IDLE", "50", "FORCE"}},
           {{"MULTI"}, {"XCLAIM", "s", "g", "a", "0", "1-1", "IDLE", "50"}, {"EXEC"}},
           {{"EVAL", "redis.call('XCLAIM', 's', 'g', 'a', '0', '1-1', 'IDLE', '50')", "0"}}}) {
    CAPTURE(requests);
    Run({"XGROUP", "SETID", "s", "g", "0"});
    Run({"XGROUP", "DELCONSUMER", "s", "g", "b"});
    Read("a");
    TestClient waits(server());
    waits.Run({"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "CLAIM", "50", "STREAMS", "s", ">"});
    REQUIRE(waits.Received().empty());
    for (const Words& request : requests) Run(request);
    const std::vector<Reply> replies = waits.Received();
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].elements[0].elements[1].elements[0].elements[0] == Bulk("1-1"));
    CHECK(replies[0].elements[0].elements[1].elements[0].elements[2] == Integer(50));
  }
}

TEST_CASE_METHOD(GroupTest, "a client that waits with CLAIM learns when an entry will be idle for long") {
  Run({"XGROUP", "CREATE", "s", "g", "$"});
  TestClient waits(server());
  const Words words{"XREADGROUP", "GROUP", "g", "b", "BLOCK", "0", "CLAIM", "50", "STREAMS", "s", ">"};
  waits.Run(words);
  AdvanceTime(100);
  Run({"XCLAIM", "s", "g", "a", "0", "1-1", "FORCE", "JUSTID"});  // nothing was pending before
  AdvanceTime(49);
  CHECK(waits.Received().empty());
  AdvanceTime(1);
  CHECK(waits.Received().size() == 1);
  waits.Run(words);
  AdvanceTime(10);
  Run({"XCLAIM", "s", "g", "a", "0", "1-1", "IDLE", "30"});
  AdvanceTime(19);
  CHECK(waits.Received().empty());
  AdvanceTime(1);
  CHECK(waits.Received().size() == 1);
  waits.Run(words);
  AdvanceTime(30);
  Run({"XCLAIM", "s", "g", "a", "0", "1-1"});  // later than before
  AdvanceTime(49);
  CHECK(waits.Received().empty());
  AdvanceTime(1);
  CHECK(waits.Received().size() == 1);
}

TEST_CASE_METHOD(GroupTest, "a client that waits is told when its group or its stream goes") {
  const Reply gone = Error("NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option");
  const Reply& no_group = gone;
  const std::vector<std::pair<Words, Reply>> ends{
      {{"DEL", "s"}, gone},
      {{"UNLINK", "s"}, gone},
      {{"EXPIRE", "s", "0"}, gone},
      {{"XGROUP", "DESTROY", "s", "g"}, no_group},
      {{"SET", "s", "text"}, kWrongType},
      {{"COPY", "text", "s", "REPLACE"}, kWrongType},
      {{"RENAME", "text", "s"}, kWrongType},
      {{"RENAME", "s", "t"}, gone},
      {{"RENAME", "other", "s"}, no_group},
      {{"FLUSHALL"}, gone},
      {{"SWAPDB", "0", "1"}, gone},
      {{"MOVE", "s", "1"}, gone},
  };
  for (const auto& [words, reply] : ends) {
    CAPTURE(words);
    Run({"FLUSHALL"});
    Run({"XADD", "other", "1-1", "f", "v"});
    Run({"SET", "text", "x"});
    Run({"XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"});
    TestClient waits(server());
    waits.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "s", ">"});
    Run(words);
    AdvanceTime(0);
    CHECK(waits.Received() == std::vector{reply});
  }
  Run({"FLUSHALL"});
  Run({"XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"});
  TestClient waits(server());
  waits.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "s", ">"});
  Run({"PEXPIRE", "s", "30"});
  CHECK(waits.Received().empty());
  AdvanceTime(30);
  CHECK(waits.Received() == std::vector{gone});
  CHECK(server().parking.keys().size() == 0);
}

TEST_CASE_METHOD(GroupTest, "of several streams that are gone, a client that waits is told of the first") {
  const Reply no_t = Error("NOGROUP No such key 't' or consumer group 'g' in XREADGROUP with GROUP option");
  for (const std::string stream : {"s", "t"}) Run({"XGROUP", "CREATE", stream, "g", "$", "MKSTREAM"});
  TestClient waits(server());
  waits.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "t", "s", ">", ">"});
  Run({"MULTI"});
  Run({"DEL", "s"});
  Run({"DEL", "t"});
  Run({"EXEC"});
  CHECK(waits.Received() == std::vector{no_t});
}

TEST_CASE_METHOD(GroupTest, "a consumer is made, and idle no more, by each of its requests") {
  const auto consumers = [&] {
    std::vector<std::pair<std::string, int64_t>> found;  // and for how long they have been idle
    for (const Reply& line : Run({"XINFO", "CONSUMERS", "s", "g"}).elements) {
      CHECK(line.elements[7] == Integer(-1));  // no entry was delivered
      found.emplace_back(line.elements[1].text, line.elements[5].integer);
    }
    return found;
  };
  using Found = std::vector<std::pair<std::string, int64_t>>;
  Run({"XGROUP", "CREATE", "s", "g", "$"});
  const std::vector<Words> requests{
      {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"},
      {"XREADGROUP", "GROUP", "g", "a", "NOACK", "STREAMS", "s", ">"},
      {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", "0"},
      {"XREADGROUP", "GROUP", "g", "a", "CLAIM", "5", "STREAMS", "s", ">"},
      {"XCLAIM", "s", "g", "a", "0", "1-1"},
      {"XCLAIM", "s", "g", "a", "0", "1-1", "LASTID", "9-9"},
      {"XAUTOCLAIM", "s", "g", "a", "0", "0"},
  };
  for (const Words& request : requests) {
    CAPTURE(request);
    Run(request);
    CHECK(consumers() == Found{{"a", 0}});
    AdvanceTime(50);
    CHECK(consumers() == Found{{"a", 50}});
    Run(request);
    CHECK(consumers() == Found{{"a", 0}});
    AdvanceTime(5);
    CHECK(Run({"XGROUP", "DELCONSUMER", "s", "g", "a"}) == Integer(0));
  }
  // A wait begins with a request. Its end is none.
  TestClient waits(server());
  waits.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "40", "STREAMS", "s", ">"});
  CHECK(consumers() == Found{{"a", 0}});
  AdvanceTime(40);
  CHECK(waits.Received() == std::vector{NullArray()});
  CHECK(consumers() == Found{{"a", 40}});
  // What is not there is no request.
  Run({"XREADGROUP", "GROUP", "g", "b", "STREAMS", "s", "none", ">", ">"});
  Run({"XPENDING", "s", "g", "-", "+", "9", "b"});
  Run({"XACK", "s", "g", "1-1"});
  CHECK(consumers() == Found{{"a", 40}});
}

TEST_CASE_METHOD(GroupTest, "a consumer is idle since its last request, and inactive since its last entry") {
  // And whether it brings an entry.
  const std::vector<std::pair<Words, bool>> requests{
      {{"XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "STREAMS", "s", ">"}, true},
      {{"XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "NOACK", "STREAMS", "s", ">"}, true},
      {{"XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "CLAIM", "50", "STREAMS", "s", ">"}, true},
      {{"XREADGROUP", "GROUP", "g", "a", "CLAIM", "51", "STREAMS", "none", "s", ">", "0"}, false},
      {{"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", "0"}, false},
      {{"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", "1-1"}, false},
      {{"XCLAIM", "s", "g", "a", "50", "2-1"}, true},
      {{"XCLAIM", "s", "g", "a", "51", "2-1"}, false},
      {{"XAUTOCLAIM", "s", "g", "a", "50", "0"}, true},
      {{"XAUTOCLAIM", "s", "g", "a", "51", "0"}, false},
  };
  using Times = std::map<std::string, std::pair<int64_t, int64_t>>;  // idle and inactive
  const auto times = [&] {
    Times found;
    for (const Reply& line : Run({"XINFO", "CONSUMERS", "s", "g"}).elements)
      found[line.elements[1].text] = {line.elements[5].integer, line.elements[7].integer};
    return found;
  };
  Run({"XGROUP", "CREATE", "none", "g", "0", "MKSTREAM"});
  for (const auto& [request, brings] : requests) {
    CAPTURE(request);
    Run({"XGROUP", "CREATE", "s", "g", "0"});
    Read("a", ">", "1");
    Read("b", ">", "1");
    AdvanceTime(50);
    Run(request);
    const int64_t inactive = brings ? 0 : 50;
    CHECK(times() == Times{{"a", {0, inactive}}, {"b", {50, 50}}});
    AdvanceTime(7);
    CHECK(times() == Times{{"a", {7, inactive + 7}}, {"b", {57, 57}}});
    Run({"XGROUP", "DESTROY", "s", "g"});
  }
}

TEST_CASE_METHOD(GroupTest, "of several streams each one's group sees the consumer") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XGROUP", "CREATE", "t", "g", "0", "MKSTREAM"});
  CHECK(Run({"XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "STREAMS", "t", "s", ">", ">"}) ==
        Delivered("1-1"));
  CHECK(Run({"XGROUP", "CREATECONSUMER", "t", "g", "a"}) == Integer(0));
  CHECK(Run({"XGROUP", "CREATECONSUMER", "s", "g", "a"}) == Integer(0));
}

TEST_CASE_METHOD(GroupTest, "a poll without an entry is a change only if it makes the consumer") {
  Run({"XGROUP", "CREATE", "s", "g", "$"});
  const auto changes = [&] { return server().changes.by_clients(); };
  const uint64_t before = changes();
  Read("a");
  CHECK(changes() == before + 1);
  Read("a");
  Run({"XAUTOCLAIM", "s", "g", "a", "0", "0"});
  CHECK(changes() == before + 1);
}

TEST_CASE_METHOD(GroupTest, "a client that waits for a group is not disturbed by changes of others") {
  Run({"XGROUP", "CREATE", "s", "g", "$"});
  Run({"XGROUP", "CREATE", "s", "h", "$"});
  TestClient waits(server());
  waits.Run({"XREADGROUP", "GROUP", "g", "a", "BLOCK", "0", "STREAMS", "s", ">"});
  Run({"XGROUP", "DESTROY", "s", "h"});
  Run({"XDEL", "s", "1-1"});
  Run({"SET", "t", "x"});
  Run({"DEL", "t"});
  CHECK(waits.Received().empty());
  // Nobody sees the moment between.
  Run({"MULTI"});
  Run({"DEL", "s"});
  Run({"XGROUP", "CREATE", "s", "g", "0", "MKSTREAM"});
  Run({"XADD", "s", "9-1", "f", "9-1"});
  Run({"EXEC"});
  CHECK(waits.Received() == std::vector{Delivered("9-1")});
}

TEST_CASE_METHOD(GroupTest, "listeners hear of groups, and who watches the key does not") {
  TestClient watcher(server());
  watcher.Run({"WATCH", "s"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  TakeChanges();
  Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"});
  Run({"XACK", "s", "g", "1-1"});
  Run({"XCLAIM", "s", "g", "b", "0", "2-1"});
  Run({"XAUTOCLAIM", "s", "g", "c", "0", "0"});
  Run({"XGROUP", "CREATECONSUMER", "s", "g", "d"});
  Run({"XGROUP", "DELCONSUMER", "s", "g", "d"});
  Run({"XGROUP", "SETID", "s", "g", "0"});
  Run({"XGROUP", "DESTROY", "s", "g"});
  CHECK(TakeChanges() == Lines{"xgroup-createconsumer s", "xgroup-createconsumer s",
                               "xgroup-createconsumer s", "xgroup-createconsumer s", "xgroup-delconsumer s",
                               "xgroup-setid s", "xgroup-destroy s"});
  watcher.Run({"MULTI"});
  watcher.Run({"PING"});
  CHECK(watcher.Run({"EXEC"}) == Array({Simple("PONG")}));
}

TEST_CASE_METHOD(GroupTest, "every delivery and acknowledgement counts as a change for the save points") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  const auto changes = [&] { return server().changes.by_clients(); };
  uint64_t before = changes();
  Read("a", ">", "1");
  CHECK(changes() == before + 1);
  before = changes();
  Read("a", "0");
  CHECK(changes() == before + 1);
  before = changes();
  Run({"XACK", "s", "g", "1-1"});
  CHECK(changes() == before + 1);
  before = changes();
  Run({"XACK", "s", "g", "1-1"});
  Run({"XPENDING", "s", "g"});
  CHECK(changes() == before);
}

TEST_CASE_METHOD(GroupTest,
                 "a claim that two sources of one stream find is delivered once, by both protocols") {
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Read("a", ">", "2");
  AdvanceTime(50);
  const Words twice{"XREADGROUP", "GROUP", "g", "b", "CLAIM", "50", "STREAMS", "s", "s", ">", ">"};
  const auto entry = [](const std::string& id, int64_t idle_ms, int64_t count) {
    return Array({Bulk(id), Bulks({"f", id}), Integer(idle_ms), Integer(count)});
  };
  CHECK(Run(twice) ==
        Array({Array({Bulk("s"), Array({entry("1-1", 50, 1), entry("2-1", 50, 1), entry("3-1", 0, 0)})}),
               Array({Bulk("s"), Array({})})}));
  CHECK(AllPending() ==
        Array({Pending("1-1", "b", 0, 2), Pending("2-1", "b", 0, 2), Pending("3-1", "b", 0, 1)}));
}

TEST_CASE_METHOD(GroupTest, "COPY, RENAME, DUMP and RESTORE take groups along") {
  Run({"XGROUP", "CREATE", "s", "g", "0", "ENTRIESREAD", "0"});
  Read("a", ">", "1");
  Read("b", ">", "1");
  Run({"XGROUP", "CREATE", "s", "empty", "5-5"});
  const Reply full = Run({"XINFO", "STREAM", "s", "FULL"});
  Run({"COPY", "s", "copy"});
  CHECK(Run({"XINFO", "STREAM", "copy", "FULL"}) == full);
  CHECK(Run({"RESTORE", "restored", "0", Run({"DUMP", "s"}).text}) == Ok());
  CHECK(Run({"XINFO", "STREAM", "restored", "FULL"}) == full);
  // The copy is one of its own.
  Run({"XACK", "copy", "g", "1-1"});
  CHECK(Run({"XINFO", "STREAM", "s", "FULL"}) == full);
  Run({"RENAME", "s", "t"});
  CHECK(Run({"XINFO", "STREAM", "t", "FULL"}) == full);
}

TEST_CASE_METHOD(GroupTest, "a group's count wraps at 2^63, as Redis's does") {
  Run({"XGROUP", "CREATE", "s", "g", "1-1", "ENTRIESREAD", "9223372036854775807"});
  Read("a", ">", "1");
  const std::vector<Reply> group = Run({"XINFO", "GROUPS", "s"}).elements[0].elements;
  CHECK(group[9] == Integer(INT64_MIN));
  CHECK(group[11] == Integer(INT64_MIN + 3));
  Run({"XSETID", "s", "3-1", "ENTRIESADDED", "9223372036854775807"});
  Add("4-1");
  const std::vector<Reply> same = Run({"XINFO", "GROUPS", "s"}).elements[0].elements;
  CHECK(same[9] == Integer(INT64_MIN));
  CHECK(same[11] == Integer(0));
}

TEST_CASE_METHOD(GroupTest, "what was delivered takes memory until it is acknowledged") {
  for (int i = 10; i < 3000; ++i) Run({"XADD", "s", std::to_string(i), "f", "v"});
  const int64_t before = Run({"MEMORY", "USAGE", "s"}).integer;
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  CHECK(Read("a", ">", "5000").elements[0].elements[1].elements.size() == 2993);
  CHECK(Run({"MEMORY", "USAGE", "s"}).integer > before + 2993 * 24);
  CHECK(Run({"XGROUP", "DELCONSUMER", "s", "g", "a"}) == Integer(2993));
  CHECK(Run({"XGROUP", "DESTROY", "s", "g"}) == Integer(1));
  CHECK(Run({"MEMORY", "USAGE", "s"}).integer < before + 200);
}

}  // namespace mayfly::testing
