// Taking members from the ends of sorted sets, and waiting for them.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;

class PopTest : public CommandTest {
 public:
  TestClient& a = Connect();
  TestClient& b = Connect();
};

}  // namespace

TEST_CASE_METHOD(PopTest, "ZPOPMIN and ZPOPMAX take from an end, one or several") {
  Run({"ZADD", "z", "1", "a", "2", "b", "3", "c", "4", "d"});
  CHECK(Run({"ZPOPMIN", "z"}) == Bulks({"a", "1"}));
  CHECK(Run({"ZPOPMAX", "z", "2"}) == Bulks({"d", "4", "c", "3"}));
  CHECK(Run({"ZPOPMAX", "z", "0"}) == Array({}));
  TakeChanges();
  CHECK(Run({"ZPOPMIN", "z", "9"}) == Bulks({"b", "2"}));
  CHECK(TakeChanges() == std::vector<std::string>{"zpopmin z", "del z"});
  CHECK(Run({"ZPOPMIN", "z"}) == Array({}));
  CHECK(Run({"ZPOPMIN", "z", "-1"}) == Error("ERR value is out of range, must be positive"));
}

TEST_CASE_METHOD(PopTest, "ZMPOP takes from the first key that is there") {
  Run({"ZADD", "z", "1", "a", "2", "b"});
  CHECK(Run({"ZMPOP", "2", "none", "z", "MAX"}) ==
        Array({Bulk("z"), Array({Array({Bulk("b"), Bulk("2")})})}));
  CHECK(Run({"ZMPOP", "1", "z", "MIN", "COUNT", "5"}) ==
        Array({Bulk("z"), Array({Array({Bulk("a"), Bulk("1")})})}));
  CHECK(Run({"ZMPOP", "1", "z", "MIN"}) == NullArray());
}

TEST_CASE_METHOD(PopTest,
                 "who waits for a sorted set is served before the next request, in order of arrival") {
  CHECK(a.Run({"BZPOPMIN", "other", "z", "0"}) == NoReply());
  CHECK(b.Run({"BZPOPMAX", "z", "0"}) == NoReply());
  CHECK(RunRaw("ZADD z 1 a 2 b 3 c\r\nZCARD z\r\n") == ":3\r\n:1\r\n");
  CHECK(a.Received() == Replies{Bulks({"z", "a", "1"})});
  CHECK(b.Received() == Replies{Bulks({"z", "c", "3"})});
  CHECK(a.Run({"BZMPOP", "0", "1", "none", "MIN", "COUNT", "2"}) == NoReply());
  Run({"RENAME", "z", "none"});
  CHECK(a.Received() == Replies{Array({Bulk("none"), Array({Array({Bulk("b"), Bulk("2")})})})});
}

TEST_CASE_METHOD(PopTest, "a wait ends at its time limit, by an operator, or not at all for another type") {
  CHECK(a.Run({"BZPOPMIN", "z", "0.05"}) == NoReply());
  CHECK(b.Run({"BZMPOP", "0", "1", "z", "MAX"}) == NoReply());
  Run({"SET", "z", "a string"});
  Run({"DEL", "z"});
  AdvanceTime(49);
  CHECK(a.Received().empty());
  AdvanceTime(1);
  CHECK(a.Received() == Replies{NullArray()});
  Run({"CLIENT", "UNBLOCK", std::to_string(b.session().id), "ERROR"});
  b.Serve();
  server().RunWoken();
  CHECK(b.Received() == Replies{Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")});
}

TEST_CASE_METHOD(PopTest, "a key that has got another type refuses what comes after it, as in Redis 8") {
  for (const Words& request :
       {Words{"BZPOPMIN", "first", "z", "0"}, Words{"BZMPOP", "0", "2", "first", "z", "MIN"}}) {
    Run({"DEL", "first"});
    CHECK(a.Run(request) == NoReply());
    Run({"SET", "first", "a string"});
    CHECK(a.Received().empty());
    Run({"ZADD", "z", "1", "m"});
    CHECK(a.Received() ==
          Replies{Error("WRONGTYPE Operation against a key holding the wrong kind of value")});
    CHECK(Run({"ZPOPMIN", "z"}) == Bulks({"m", "1"}));
  }
}

TEST_CASE_METHOD(PopTest, "a member that is there is taken without a wait") {
  Run({"ZADD", "z", "1", "a", "2", "b", "3", "c"});
  CHECK(Run({"BZPOPMIN", "z", "0"}) == Bulks({"z", "a", "1"}));
  UseResp3();
  CHECK(Run({"BZPOPMAX", "none", "z", "0"}) == Array({Bulk("z"), Bulk("c"), Double("3")}));
  CHECK(Run({"BZPOPMAX", "z", "-1"}) == Error("ERR timeout is negative"));
  CHECK(Run({"BZPOPMAX", "z", "1e400"}) == Error("ERR timeout is out of range"));
}

TEST_CASE_METHOD(PopTest, "the timeout of BZMPOP is the last of its arguments to be refused") {
  CHECK(Run({"BZMPOP", "-1", "0", "z", "MIN"}) == Error("ERR numkeys should be greater than 0"));
  CHECK(Run({"BZMPOP", "-1", "1", "z", "LEFT"}) == Error("ERR syntax error"));
  CHECK(Run({"BZMPOP", "-1", "1", "z", "MIN", "COUNT", "0"}) == Error("ERR count should be greater than 0"));
  CHECK(Run({"BZMPOP", "-1", "1", "z", "MIN", "COUNT", "1"}) == Error("ERR timeout is negative"));
}

}  // namespace mayfly::testing
