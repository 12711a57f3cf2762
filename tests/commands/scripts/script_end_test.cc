// What ends a script: SCRIPT KILL ends each one that has not written, whatever it does with errors and coroutines, and a
// reply ends at a bound.
#include <string>
#include <vector>

#include "base/time/tsc.h"
#include "support/command_test.h"
#include "support/stepped_cycles.h"

namespace mayfly::testing {
namespace {

class ScriptEndTest : public CommandTest {
 public:
  Reply Eval(const std::string& script) { return Run({"EVAL", script, "0"}); }
  // What the loop does in a turn while a script is busy.
  void Slice() {
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 1);
    server().RunWoken();
  }
  // The reply to a script that goes on until SCRIPT KILL.
  Reply ReplyOfKilled(const std::string& script) {
    CHECK(Eval(script) == NoReply());
    Slice();
    CHECK(other_.Run({"GET", "k"}).text.starts_with("BUSY"));
    CHECK(other_.Run({"SCRIPT", "KILL"}) == Ok());
    // Each slice takes some thousand instructions; what goes on for longer than these has not ended.
    constexpr int kSlices = 1000;
    for (int i = 0; i < kSlices && server().sliced_work.waits(); ++i) Slice();
    CHECK_FALSE(server().sliced_work.waits());
    const std::vector<Reply> replies = client().Received();
    return replies.size() == 1 ? replies[0] : NoReply();
  }

 private:
  TestClient& other_ = Connect();
};

constexpr const char* kNested = "local t = 1 for i = 1, 30 do t = {t, t} end ";

}  // namespace

TEST_CASE_METHOD(ScriptEndTest, "an error whose functions never return is ended by SCRIPT KILL") {
  SetOption("busy-reply-threshold", "1");
  for (const std::string script :
       {"error(setmetatable({}, {__index = function() while true do end end}))",
        "error(setmetatable({err = 'x'}, {__index = function() while true do end end}))",
        "error(setmetatable({}, {__newindex = function() while true do end end}))",
        "error(setmetatable({}, {__index = setmetatable({}, {__index = function() while true do end end})}))",
        "pcall(function() error(setmetatable({}, {__index = function() while true do end end})) end)",
        "while true do pcall(error, setmetatable({}, {__index = function() while true do end end})) end"}) {
    CAPTURE(script);
    CHECK(ReplyOfKilled(script).text.starts_with("ERR Script killed by user with SCRIPT KILL..."));
    CHECK(Eval("return 1") == Integer(1));
  }
}

TEST_CASE_METHOD(ScriptEndTest, "the end of a busy script wakes the parts that have waited for it") {
  SetOption("busy-reply-threshold", "1");
  int signals = 0;
  server().server.hubs.wakes.set_turn([&signals] { ++signals; });
  CHECK(Eval("while true do end") == NoReply());
  Slice();
  CHECK(signals == 0);
  CHECK(Connect().Run({"SCRIPT", "KILL"}) == Ok());
  for (int i = 0; i < 1000 && server().sliced_work.waits(); ++i) Slice();
  CHECK(client().Received().size() == 1);
  CHECK(signals == 1);
  server().server.hubs.wakes.set_turn({});
}

TEST_CASE_METHOD(ScriptEndTest, "a handler of xpcall that never returns is ended by SCRIPT KILL") {
  SetOption("busy-reply-threshold", "1");
  const std::string loop = "function() while true do end end";
  for (const std::string& script :
       {"xpcall(function() error('x') end, " + loop + ")", "xpcall(" + loop + ", " + loop + ")",
        "coroutine.wrap(function() xpcall(function() error('x') end, " + loop + ") end)()",
        "coroutine.wrap(function() xpcall(" + loop + ", " + loop + ") end)()",
        "while true do xpcall(" + loop + ", " + loop + ") end",
        "while true do xpcall(function() pcall(" + loop + ") error('x') end, " + loop + ") end",
        "xpcall(function() xpcall(" + loop + ", " + loop + ") end, " + loop + ")"}) {
    CAPTURE(script);
    CHECK(ReplyOfKilled(script).text.starts_with("ERR Script killed by user with SCRIPT KILL..."));
    CHECK(Eval("return 1") == Integer(1));
  }
}

TEST_CASE_METHOD(ScriptEndTest,
                 "a script that keeps the error of its end and goes on is ended all the same") {
  SetOption("busy-reply-threshold", "1");
  const std::string loop = "function() while true do end end";
  for (const std::string& script :
       {"while true do pcall(" + loop + ") end", "while true do pcall(pcall, pcall, " + loop + ") end",
        "while true do coroutine.resume(coroutine.create(" + loop + ")) end",
        "while true do pcall(coroutine.wrap(" + loop + ")) end",
        "local function again() while true do pcall(coroutine.wrap(" + loop +
            ")) end end "
            "while true do pcall(coroutine.wrap(again)) end",
        std::string("local function f(n) while true do pcall(coroutine.wrap(function() f(n + 1) end)) end "
                    "end f(1)")}) {
    CAPTURE(script);
    CHECK(ReplyOfKilled(script).text.starts_with("ERR Script killed by user with SCRIPT KILL..."));
    CHECK(Eval("return 1") == Integer(1));
  }
}

TEST_CASE_METHOD(ScriptEndTest, "within a transaction such a script ends by itself") {
  SetOption("busy-reply-threshold", "1");
  Run({"MULTI"});
  Run({"EVAL", "error(setmetatable({}, {__index = function() while true do end end}))", "0"});
  Run({"EVAL", "local function f() while true do end end xpcall(f, f)", "0"});
  Run({"EVAL", std::string(kNested) + "return t", "0"});
  const Reply replies = Run({"EXEC"});
  REQUIRE(replies.elements.size() == 3);
  for (const Reply& reply : replies.elements)
    CHECK(reply.text.starts_with("ERR Script stopped: it has been running for longer"));
  CHECK(Eval("return 1") == Integer(1));
}

// Only redis can be reached then: no pcall, no metatables.
TEST_CASE_METHOD(ScriptEndTest, "a library that never ends while it is loaded is refused") {
  for (const std::string text : {"while true do end", "local function f() while true do end end f()"}) {
    CAPTURE(text);
    CHECK(Run({"FUNCTION", "LOAD", "#!lua name=lib\n" + text}) ==
          Error("ERR Error registering functions: ERR FUNCTION LOAD timeout"));
  }
}

TEST_CASE_METHOD(ScriptEndTest, "a library may take half a second of the server's time while it is loaded") {
  const SteppedCycles cycles;
  const CycleRate rate = server().server.cycle_rate;
  SteppedCycles::AdvanceEachLook(rate.ToCycles(10'000));
  const uint64_t began = ReadCycles();
  CHECK(Run({"FUNCTION", "LOAD", "#!lua name=lib\nwhile true do end"}) ==
        Error("ERR Error registering functions: ERR FUNCTION LOAD timeout"));
  const uint64_t took_us = rate.ToUs(ReadCycles() - began);
  CHECK(took_us > 500'000);
  CHECK(took_us < 600'000);
}

TEST_CASE_METHOD(ScriptEndTest, "a coroutine that a library keeps works after a call of it was ended") {
  SetOption("busy-reply-threshold", "1");
  Run({"FUNCTION", "LOAD",
       "#!lua name=lib\nlocal kept\nlocal function co() kept = kept or coroutine.wrap(function() local n = 0 "
       "while true do n = n + 1 "
       "coroutine.yield(n) end end) return kept() end\n"
       "redis.register_function('next', function() return co() end)\n"
       "redis.register_function('stuck', function() while true do co() end end)"});
  CHECK(Run({"FCALL", "next", "0"}) == Integer(1));
  CHECK(Run({"FCALL", "stuck", "0"}) == NoReply());
  CHECK(Connect().Run({"FUNCTION", "KILL"}) == Ok());
  for (int i = 0; i < 10 && server().sliced_work.waits(); ++i) Slice();
  CHECK(client().Received().at(0).text.starts_with("ERR Script killed by user"));
  CHECK(Run({"FCALL", "next", "0"}).kind != Reply::Kind::kNone);
}

TEST_CASE_METHOD(ScriptEndTest,
                 "a reply of tables that hold each other a billion times is ended by SCRIPT KILL") {
  SetOption("busy-reply-threshold", "1");
  CHECK(ReplyOfKilled(std::string(kNested) + "return t").text.starts_with("ERR Script killed by user"));
  CHECK(ReplyOfKilled(std::string(kNested) +
                      "return cmsgpack.pack({t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t,"
                      "t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t, t})")
            .kind != Reply::Kind::kNone);
}

TEST_CASE_METHOD(ScriptEndTest, "a reply larger than the replies of all clients may be is an error instead") {
  SetOption("busy-reply-threshold", "0");
  SetOption("maxmemory", "8gb");  // of which nothing is left for replies but the least, 16 MB
  for (const std::string& script :
       {std::string(kNested) + "return t", std::string(kNested) + "return {map = {a = t, b = t}}",
        std::string(kNested) + "return {t, {err = 'MINE x'}}",
        std::string("local s = string.rep('x', 2^20) local t = {} for i = 1, 1e5 do t[i] = s end return t"),
        std::string(
            "redis.setresp(3) local t = {set = {a = true}} for i = 1, 40 do t = {map = {[1] = t, [2] = t}} "
            "end return t")}) {
    CAPTURE(script);
    CHECK(Eval(script).text.starts_with("ERR the reply of the script is larger than"));
    CHECK(Eval("return {1, {2}}") == Array({Integer(1), Array({Integer(2)})}));
  }
}

TEST_CASE_METHOD(ScriptEndTest, "a script that was suspended while its reply was made gives all of it") {
  SetOption("busy-reply-threshold", "1");
  CHECK(Eval("local t = {} for i = 1, 3e5 do t[i] = 1 end return {t, {err = 'MINE x'}}") == NoReply());
  for (int i = 0; i < 1'000'000 && server().sliced_work.waits(); ++i) Slice();
  const std::vector<Reply> replies = client().Received();
  REQUIRE(replies.size() == 1);
  REQUIRE(replies[0].elements.size() == 2);
  CHECK(replies[0].elements[0].elements.size() == 300'000);
  CHECK(replies[0].elements[1] == Error("MINE x"));
  CHECK(Run({"INFO", "errorstats"}).text.find("errorstat_MINE:count=1") != std::string::npos);
}

TEST_CASE_METHOD(ScriptEndTest, "calls that take long are looked at after each one") {
  SetOption("busy-reply-threshold", "1");
  Run({"SET", "big", std::string(1 << 20, 'x')});
  CHECK(Eval("for i = 1, 100 do redis.call('BITCOUNT', 'big') "
             "redis.call('SETRANGE', 'other', 4e6, 'x') redis.call('GET', 'other') end") == NoReply());
  for (int i = 0; i < 10'000 && server().sliced_work.waits(); ++i) Slice();
}

}  // namespace mayfly::testing
