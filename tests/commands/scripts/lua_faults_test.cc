// The known faults of Lua 5.1 and of the libraries that come with it, one by one: what a script may try, and that it
// gets an answer or an error. And functions in C++ that take long: the loop turns meanwhile, and SCRIPT KILL ends them.
#include <string>
#include <vector>

#include "base/time/tsc.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class LuaFaultsTest : public CommandTest {
 public:
  Reply Eval(const std::string& script) { return Run({"EVAL", script, "0"}); }
  bool Fails(const std::string& script, const std::string& why) {
    const Reply reply = Eval(script);
    CAPTURE(script, reply.text);
    return reply.kind == Reply::Kind::kError && reply.text.find(why) != std::string::npos &&
           Eval("return 'alive'") == Bulk("alive");
  }
  // A script that runs for long stops between two steps, and SCRIPT KILL ends it.
  void CheckCanBeKilled(const std::string& script) {
    CAPTURE(script);
    SetOption("busy-reply-threshold", "1");
    TestClient& other = Connect();
    CHECK(Eval(script) == NoReply());
    CHECK(other.Run({"GET", "k"}).text.starts_with("BUSY"));
    CHECK(other.Run({"SCRIPT", "KILL"}) == Ok());
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 1);
    server().RunWoken();
    const std::vector<Reply> replies = client().Received();
    REQUIRE(replies.size() == 1);
    CHECK(replies[0].text.find("Script killed by user with SCRIPT KILL...") != std::string::npos);
    CHECK(Eval("return 1") == Integer(1));
  }
};

}  // namespace

TEST_CASE_METHOD(LuaFaultsTest, "CVE-2025-46817: unpack of more values than an int counts is an error") {
  for (const char* const range : {"-2147483647,2147483646", "0,2147483647", "-2147483648,2147483647",
                                  "-2147483648,-1", "1,2147483647", "-1,2147483646", "1,8001"}) {
    CHECK(Fails("return {unpack({1, 2}," + std::string(range) + ")}", "too many results to unpack"));
    CHECK(Fails("return select('#', unpack({1, 2}," + std::string(range) + "))", "too many results"));
  }
  CHECK(Fails("return {unpack({1, 2, 3}, 2147483648, 2)}", "too many results"));  // -2^31, as in Redis
  CHECK(Eval("return {unpack({1, 2, 3}, 2)}") == Array({Integer(2), Integer(3)}));
}

TEST_CASE_METHOD(LuaFaultsTest,
                 "CVE-2025-49844: the name of a chunk outlives the collections while it is parsed") {
  CHECK(Eval("for i = 1, 50 do "
             "local n = 0 local f = load(function() n = n + 1 collectgarbage() "
             "if n < 20 then return 'local a' .. n .. ' = ' .. n .. ' ' end end, 'name ' .. i .. "
             "('x'):rep(100)) "
             "assert(f) f() end return 1") == Integer(1));
  CHECK(Eval("local f = loadstring(('local a = {} '):rep(150), 'na\\0me' .. ('x'):rep(1000)) f() return 1") ==
        Integer(1));
  CHECK(Eval("local f, e = loadstring('x =', '=na\\0me') return e").text.starts_with("na:1:"));
}

TEST_CASE_METHOD(LuaFaultsTest, "CVE-2025-46818: the metatables of basic types are out of a script's reach") {
  for (const char* const value : {"''", "1", "true", "nil", "print_or_nil", "redis.call"}) {
    Eval("getmetatable(" + std::string(value) + ").__index = function() return 'planted' end");
    Eval("setmetatable(" + std::string(value) + ", {__index = function() return 'planted' end})");
    Eval("rawset(getmetatable(" + std::string(value) + "), '__index', {planted = 1})");
  }
  CHECK(Fails("return (1).planted", "attempt to index"));
  CHECK(Eval("return ('').planted") == Null());
}

TEST_CASE_METHOD(LuaFaultsTest,
                 "CVE-2025-46819: a bracket of any length is read, or is too large for the memory") {
  SetOption("busy-reply-threshold", "0");
  CHECK(Eval("local e = ('='):rep(100000) return #loadstring('return [' .. e .. '[abc]' .. e .. ']')()") ==
        Integer(3));
  CHECK(Fails("return loadstring('return [' .. ('='):rep(100000))()", "attempt to call"));
  CHECK(
      Fails("local p = ('='):rep(1e6) local n = 0 "
            "return load(function() n = n + 1 return n == 1 and '[' or p end)()",
            ""));
}

TEST_CASE_METHOD(LuaFaultsTest,
                 "CVE-2024-46981: nothing of a script runs when its state is collected or closed") {
  CHECK(Fails("return newproxy(true)", "nonexistent global variable 'newproxy'"));
  CHECK(Eval("setmetatable({}, {__gc = function() redis.call('SET', 'k', 'v') end}) collectgarbage() return "
             "1") == Integer(1));
  CHECK(Run({"SCRIPT", "FLUSH"}) == Ok());
  CHECK(Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(LuaFaultsTest, "CVE-2024-31449 and its kin: bit.tohex takes any number of digits") {
  CHECK(Eval("return {bit.tohex(65535, -2147483648), bit.tohex(-1, 2147483647), bit.tohex(5, 0/0)}")
            .elements[0] == Bulk("0000FFFF"));
}

TEST_CASE_METHOD(LuaFaultsTest,
                 "CVE-2018-11219, CVE-2020-14147: sizes in formats of struct do not overflow") {
  for (const char* const format :
       {"c2147483648", "i2147483648", "I4294967298", "!2147483648i", "c99999999999999999999"}) {
    CHECK(Fails("return struct.pack('" + std::string(format) + "', 'x')", ""));
    CHECK(Fails("return struct.unpack('" + std::string(format) + "', 'xxxxxxxx')", ""));
    CHECK(Fails("return struct.size('" + std::string(format) + "')", ""));
  }
  CHECK(Fails("return struct.unpack('c0', 'x')", "needs a previous size"));
  CHECK(Fails("return struct.unpack('dc0', struct.pack('d', -1) .. 'x')", "too short"));
  CHECK(Fails("return struct.unpack('i', 'xxxx', 2^31)", "too short"));
}

TEST_CASE_METHOD(LuaFaultsTest,
                 "CVE-2018-11218, CVE-2022-24834: cmsgpack and cjson stay within their memory") {
  CHECK(Fails("return cmsgpack.unpack('\\221\\255\\255\\255\\255')", "Missing bytes"));
  CHECK(Fails("return cmsgpack.unpack('\\219\\255\\255\\255\\255')", "Missing bytes"));
  CHECK(Fails("return cmsgpack.unpack(('\\145'):rep(100000))", ""));
  CHECK(Fails("local s = ('\\1'):rep(5e7) return cjson.encode({s, s})", "not enough memory"));
  CHECK(Fails(
      "local t = {} for i = 1, 10000 do t[i] = 1 end return cmsgpack.unpack(cmsgpack.pack(unpack(t)))", ""));
}

TEST_CASE_METHOD(LuaFaultsTest, "numbers beyond int do no harm in functions of tables and strings") {
  CHECK(Fails("return table.concat({1}, '', -2147483648, 2147483647)", "invalid value (nil) at index"));
  CHECK(Fails("return table.concat({1}, '', 2147483647, 2147483647)", "invalid value (nil) at index"));
  CHECK(Eval("local t = {1} table.insert(t, 2147483647, 5) return t[2147483647]") == Integer(5));
  CHECK(Eval("return {table.remove({1, 2}, -2147483648), table.remove({1, 2}, 2147483647)}") == Array({}));
  CHECK(Eval("return table.maxn({[2147483648] = 1})") == Integer(2147483648));
  CHECK(Eval("return ('abc'):sub(-2^63, 2^62)") == Bulk("abc"));
  CHECK(Eval("return {('abc'):byte(-2^53, 2^53)}") == Array({Integer(97), Integer(98), Integer(99)}));
  CHECK(Eval("return ('abc'):find('c', -2^53)") == Integer(3));
  CHECK(Eval("return #(''):rep(2147483647)") == Integer(0));
  CHECK(Fails("return ('x'):rep(2147483647)", "not enough memory"));
  CHECK(Fails("return ('xyz'):rep(2147483647)", "not enough memory"));
  CHECK(Fails("return string.format('%100d', 1)", "invalid format"));
  CHECK(Eval("return #string.format('%99.99f', 1e308)") == Integer(409));
  CHECK(Fails("return select(-2147483648, 1)", "index out of range"));
  CHECK(Fails("return ('x'):rep(9000):byte(1, -1)", "stack overflow"));
}

TEST_CASE_METHOD(LuaFaultsTest, "recursion of patterns, the parser and coroutines is bounded") {
  CHECK(Fails("return (('a'):rep(1e5)):find(('a?'):rep(1e5) .. 'b')", "pattern too complex"));
  CHECK(Fails("return ('x'):find(('('):rep(33))", "too many captures"));
  CHECK(Fails("return loadstring(('('):rep(1e5))()", "attempt to call"));
  CHECK(Fails("local function f() return coroutine.wrap(f)() end return f()", "C stack overflow"));
  CHECK(Fails("local function f() return (('x'):gsub('x', f)) end return f()", "stack overflow"));
  CHECK(Fails("local t = {} for i = 1, 100 do t[i] = 100 - i end table.sort(t, function() return true end)",
              "invalid order function"));
}

TEST_CASE_METHOD(LuaFaultsTest, "SCRIPT KILL ends a pattern that tries many ways") {
  CheckCanBeKilled("return (('a'):rep(200000)):find(('.-'):rep(20) .. 'b')");
  CheckCanBeKilled("return (('a'):rep(40)):gsub(('a?'):rep(30) .. ('a'):rep(41), '')");
  CheckCanBeKilled("return (('a'):rep(200000)):match(('.*'):rep(20) .. 'b')");
  CheckCanBeKilled("for w in (('a'):rep(200000)):gmatch(('.-'):rep(20) .. 'b') do end");
}

TEST_CASE_METHOD(LuaFaultsTest, "SCRIPT KILL ends one call that moves many elements") {
  CheckCanBeKilled("table.insert({1}, -2^31, 1)");
  CheckCanBeKilled("local t = {} for i = 1, 3e5 do t[i] = i % 1000 end for i = 1, 1e9 do table.sort(t) end");
}

TEST_CASE_METHOD(LuaFaultsTest, "a loop of calls that each take long looks at the time after few of them") {
  Run({"SETBIT", "bits", "80000000", "1"});
  const std::vector<std::string> loops = {
      "local s = ('x'):rep(1e6) for i = 1, 5000 do s:upper() end",
      "local s = ('x'):rep(1e6) for i = 1, 5000 do s:reverse() end",
      "local s = ('x'):rep(1e6) for i = 1, 20000 do s:sub(2) end",
      "local s = ('x'):rep(1e6) for i = 1, 20000 do s:find('y', 1, true) end",
      "for i = 1, 20000 do ('x'):rep(1e6) end",
      "local t = {} for i = 1, 1e5 do table.insert(t, 1, i) end",
      "local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e5 do table.remove(t, 1) end",
      "local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e5 do table.concat(t) end",
      "local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e5 do table.maxn(t) end",
      "local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e5 do table.foreach(t, type) end",
      "for i = 1, 1e5 do redis.call('BITCOUNT', 'bits') end",
      "local t = {} for i = 1, 1e5 do t[i] = {} end for i = 1, 1e5 do collectgarbage() end",
      "local s = ('1'):rep(1e6) for i = 1, 1e5 do tonumber(s) end",
      "local s = ('x'):rep(1e7) for i = 1, 2000 do local joined = s .. i end",
      "local s = ('x'):rep(1e6) for i = 1, 1e5 do redis.sha1hex(s) end",
      "local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e5 do cjson.encode(t) end",
      "local t = {} for i = 1, 1e5 do t[i] = i end for i = 1, 1e5 do cmsgpack.pack(t) end",
      "local t = {} for i = 1, 1e5 do t['k' .. i] = i end for i = 1, 1e5 do cjson.encode(t) end",
      ("local t = {} for i = 1, 1e6 do t[i] = i end for i = 1, 1e6 - 1 do t[i] = nil end "
       "for i = 1, 1e9 do next(t) end"),
  };
  for (const std::string& loop : loops) CheckCanBeKilled(loop);
}

}  // namespace mayfly::testing
