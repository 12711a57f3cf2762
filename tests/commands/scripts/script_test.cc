// EVAL and its kin, as sessions: what scripts may do, and that nothing that one does reaches the next.
#include <string>
#include <utility>
#include <vector>

#include "base/time/tsc.h"
#include "exec/call/reply_buffer.h"
#include "support/command_test.h"
#include "support/stepped_cycles.h"

namespace mayfly::testing {
namespace {

class ScriptTest : public CommandTest {
 public:
  Reply Eval(const std::string& script, const std::vector<std::string>& words = {"0"}) {
    std::vector<std::string> request = {"EVAL", script};
    request.insert(request.end(), words.begin(), words.end());
    return Run(request);
  }
  // The SHA-1 of the script, which is in the cache from now on.
  std::string Load(const std::string& script) { return Run({"SCRIPT", "LOAD", script}).text; }
  // What the loop does in a turn while a script is busy.
  void Slice() {
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 1);
    server().RunWoken();
  }
  void SliceToEnd() {
    while (server().sliced_work.waits()) Slice();
  }
  Reply TakeReply() {
    const std::vector<Reply> replies = client().Received();
    return replies.size() == 1 ? replies[0] : NoReply();
  }
  std::string InfoField(const std::string& name) {
    const std::string text = "\n" + Run({"INFO", "everything"}).text;
    const size_t at = text.find("\n" + name + ":");
    if (at == std::string::npos) return "";
    const size_t begin = at + name.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
};

// A look at the time is always 10 ms after the last one: what has been looked at once is a long script.
class LongScriptTest : public ScriptTest {
 public:
  LongScriptTest() {
    SetOption("busy-reply-threshold", "1");
    SteppedCycles::AdvanceEachLook(server().server.cycle_rate.ToCycles(10'000));
  }
  static inline const std::string kLong = " for i = 1, 1e5 do end ";

 private:
  SteppedCycles cycles_;
};

}  // namespace

TEST_CASE_METHOD(ScriptTest, "a lock is released by its owner alone, in one step") {
  const std::string release = Load(
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end");
  Run({"SET", "lock", "token", "NX", "PX", "5000"});
  CHECK(Run({"EVALSHA", release, "1", "lock", "another"}) == Integer(0));
  CHECK(Run({"EVALSHA", release, "1", "lock", "token"}) == Integer(1));
  CHECK(Run({"EVALSHA", release, "1", "lock", "token"}) == Integer(0));
  CHECK(TakeChanges() == std::vector<std::string>{"new lock", "set lock", "expire lock", "del lock"});
}

TEST_CASE_METHOD(ScriptTest, "server is another name of redis, and tells the version that HELLO tells") {
  CHECK(Eval("return server.call('PING')") == Simple("PONG"));
  CHECK(Eval("return {redis.REDIS_VERSION, server.REDIS_VERSION_NUM}") ==
        Array({Bulk("7.4.0"), Integer(0x70400)}));
  CHECK(Eval("return redis == server") == Integer(1));
}

TEST_CASE_METHOD(ScriptTest, "numbers are sent to commands in the shortest text that reads back") {
  CHECK(Eval("return redis.call('ECHO', 0.1)") == Bulk("0.1"));
  CHECK(Eval("return redis.call('ECHO', 3.0)") == Bulk("3"));
  CHECK(Eval("return redis.call('ECHO', 2^53)") == Bulk("9007199254740992"));
  CHECK(Eval("return redis.call('ECHO', 1e21)") == Bulk("1e+21"));
}

TEST_CASE_METHOD(ScriptTest, "time stands still while a script runs") {
  CHECK(Eval("redis.call('SET', 'k', 'v', 'PX', 10) return redis.call('PTTL', 'k')") == Integer(10));
  CHECK(Eval("local a = redis.call('TIME') for i = 1, 1e5 do end local b = redis.call('TIME') "
             "return a[1] == b[1] and a[2] == b[2]") == Integer(1));
  CHECK(Eval("return type(os.clock())") == Bulk("number"));
  CHECK(Eval("return os.time") == Null());
}

TEST_CASE_METHOD(ScriptTest, "a script cannot change what the next one finds") {
  const std::vector<std::string> attempts = {
      "string.format = 1",
      "rawset(string, 'format', 1)",
      "rawset(_G, 'tostring', 1)",
      "_G.tostring = 1",
      "setmetatable(_G, {__index = function() return 1 end})",
      "getmetatable('').__index = {format = 1}",
      "getmetatable(_G).__index = nil",
      "table.insert(string, 1, 'planted')",
      "table.insert(_G, 'planted')",
      "for k in pairs(string) do string[k] = nil end",
      "table.foreach(string, function(k) string[k] = nil end)",
      "redis.call = nil",
      "cjson.null = 1",
      "coroutine.wrap(function() string.format = 1 end)()",
      "loadstring('tostring = 1')()",
      "collectgarbage('stop')",
  };
  const std::string before =
      "return string.format('%s %s', tostring(5), type(redis.call)) .. tostring(string[1])";
  for (const std::string& attempt : attempts) {
    CAPTURE(attempt);
    Eval(attempt);
    CHECK(Eval(before) == Bulk("5 functionnil"));
    CHECK(
        Eval("return nosuch").text.starts_with("ERR user_script:1: Script attempted to access nonexistent"));
    CHECK(Eval("return ('x'):upper()") == Bulk("X"));
  }
}

TEST_CASE_METHOD(ScriptTest, "files, modules and binary chunks are out of reach") {
  for (const char* name : {"io", "package", "require", "dofile", "loadfile", "module", "debug", "print",
                           "newproxy", "getfenv", "setfenv"}) {
    CAPTURE(name);
    CHECK(Eval(std::string("return ") + name).kind == Reply::Kind::kError);
  }
  CHECK(Eval("return os.execute") == Null());
  CHECK(Eval("return loadstring(string.dump(function() return 1 end))") == Null());
  CHECK(Eval("local s = string.dump(function() return 1 end) return load(function() local r = s s = nil "
             "return r end)") == Null());
}

TEST_CASE_METHOD(ScriptTest,
                 "a script that takes too much memory or stack gets an error, and the next one runs") {
  SetOption("busy-reply-threshold", "0");
  const std::vector<std::string> greedy = {
      "local s = string.rep('x', 1e8) local t = {} for i = 1, 1e9 do t[i] = {i} end",
      "return string.rep('x', 1e9)",
      "local s = 'x' while true do s = s .. s end",
      "local function f() return f() + 1 end return f()",
      "local t = {} for i = 1, 100 do t[i] = string.rep('x', 1e7) end return 1",
      "local s = string.rep('\\1', 5e7) return cjson.encode({s, s, s, s, s, s})",
      "local s = string.rep('x', 5e7) return cmsgpack.pack({s, s, s, s, s, s})",
      "return string.find(string.rep('a', 3e5), string.rep('a?', 3e5) .. string.rep('a', 3e5))",
      "local t = {} for i = 1, 2e5 do t = {t} end return t",
      "return cjson.decode(string.rep('[', 1e6))",
      "return cmsgpack.unpack(string.rep('\\145', 1e6))",
      "return loadstring(string.rep('(', 1e6))()",
  };
  for (const std::string& script : greedy) {
    CAPTURE(script);
    Eval(script);
    CHECK(Eval("return 'alive'") == Bulk("alive"));
  }
  CHECK(stats().scripts.eval_heap_bytes < 1'000'000);
}

TEST_CASE_METHOD(ScriptTest, "a deep table is answered as far as the stack reaches") {
  const Reply reply = Eval("local t = {} for i = 1, 100 do t = {t} end return t");
  const Reply* inner = &reply;
  int depth = 0;
  for (; !inner->elements.empty(); inner = &inner->elements[0]) ++depth;
  CHECK(depth == 100);
}

TEST_CASE_METHOD(ScriptTest, "INFO tells the memory of Lua and how many scripts there are") {
  CHECK(InfoField("used_memory_vm_eval") == "0");
  Load("return 1");
  Eval("return 2");
  CHECK(InfoField("number_of_cached_scripts") == "2");
  CHECK(std::stoi(InfoField("used_memory_vm_eval")) > 10'000);
  CHECK(InfoField("used_memory_lua") == InfoField("used_memory_vm_eval"));
  CHECK(std::stoi(InfoField("used_memory_scripts")) > 0);
  CHECK(std::stoi(InfoField("mem_not_counted_for_evict")) >= std::stoi(InfoField("used_memory_vm_eval")));
  Run({"SCRIPT", "FLUSH"});
  CHECK(InfoField("used_memory_vm_eval") == "0");
  CHECK(InfoField("number_of_cached_scripts") == "0");
}

TEST_CASE_METHOD(ScriptTest, "scripts that only EVAL brought are forgotten when 500 others were used since") {
  const std::string loaded = Load("return 'loaded'");
  Eval("return 'used'");
  for (int i = 0; i < 499; ++i) Eval("return " + std::to_string(i));
  Eval("return 'used'");
  for (int i = 499; i < 600; ++i) Eval("return " + std::to_string(i));
  CHECK(InfoField("number_of_cached_scripts") == "501");
  CHECK(Run({"EVALSHA", loaded, "0"}) == Bulk("loaded"));
  const std::string used = Run({"EVAL", "return redis.sha1hex(ARGV[1])", "0", "return 'used'"}).text;
  const std::string old = Run({"EVAL", "return redis.sha1hex(ARGV[1])", "0", "return 7"}).text;
  CHECK(Run({"SCRIPT", "EXISTS", used, old}) == Array({Integer(1), Integer(0)}));
}

TEST_CASE_METHOD(ScriptTest, "SCRIPT SHOW answers with a script's text") {
  const std::string sha = Load("return 1");
  CHECK(Run({"SCRIPT", "SHOW", sha}) == Bulk("return 1"));
  CHECK(Run({"SCRIPT", "SHOW", "nosuch"}) == Error("NOSCRIPT No matching script. Please use EVAL."));
}

TEST_CASE_METHOD(ScriptTest, "a script runs within a transaction's call") {
  ChunkPool pool;
  ReplyBuffer reply(pool, 2);
  const std::string_view words[] = {"EVAL", "return redis.call('INCR', KEYS[1])", "1", "n"};
  Executor& executor = server().executor;
  executor.MakeCall({client().session(), reply.writer(), executor.now(), Origin::kTransaction, words,
                     executor.RowOf(words)});
  CHECK(reply.Text() == ":1\r\n");
}

TEST_CASE_METHOD(ScriptTest, "a script uses its caller's database and leaves it as it was") {
  Run({"SELECT", "2"});
  Run({"SET", "k", "two"});
  CHECK(Eval("local before = redis.call('GET', 'k') redis.call('SELECT', 3) redis.call('SET', 'k', 'three') "
             "return before") == Bulk("two"));
  CHECK(Run({"GET", "k"}) == Bulk("two"));
  CHECK(Eval("return redis.call('GET', 'k')") == Bulk("two"));
}

TEST_CASE_METHOD(ScriptTest, "an error of a call is counted once, and a script's own error once") {
  Run({"CONFIG", "RESETSTAT"});
  Eval("return redis.call('INCR', 'k', 'x')");
  CHECK(InfoField("errorstat_ERR") == "count=1");
  Run({"SET", "s", "text"});
  Eval("redis.pcall('HGET', 's', 'f') return 1");
  CHECK(InfoField("errorstat_WRONGTYPE") == "count=1");
  Eval("return redis.error_reply('MINE text')");
  CHECK(InfoField("errorstat_MINE") == "count=1");
}

TEST_CASE_METHOD(ScriptTest,
                 "under noeviction a script is refused its first write, but not one after it has written") {
  // More than clients and scripts take, which no limit is for.
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(2000, 'x')});
  Run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  Run({"CONFIG", "SET", "maxmemory", "1"});
  CHECK(Eval("return redis.call('SET', 'a', 1)").text.starts_with("OOM command not allowed"));
  CHECK(Eval("return redis.call('GET', 'a')") == Null());
  CHECK(Eval("redis.call('DEL', 'k1') return redis.call('SET', 'a', 1)") == Ok());
  CHECK(Eval("#!lua flags=allow-oom\nreturn redis.call('SET', 'b', 1)") == Ok());
  CHECK(Eval("#!lua\nreturn 1").text.starts_with("OOM command not allowed"));
  CHECK(Eval("#!lua flags=no-writes,allow-oom\nreturn 1") == Integer(1));
}

TEST_CASE_METHOD(ScriptTest, "a long script lets others in, who get BUSY, and SCRIPT KILL ends it") {
  SetOption("busy-reply-threshold", "1");
  TestClient& other = Connect();
  CHECK(Eval("while true do pcall(function() while true do end end) end") == NoReply());
  CHECK(other.Run({"GET", "k"}).text.starts_with("BUSY Redis is busy running a script."));
  CHECK(other.Run({"EVAL", "return 1", "0"}).text.starts_with("BUSY"));
  CHECK(other.Run({"FUNCTION", "KILL"}).text.starts_with("BUSY"));
  CHECK(other.Run({"FUNCTION", "STATS"}).text.starts_with("BUSY"));
  Slice();
  CHECK(client().Received().empty());
  CHECK(other.Run({"SCRIPT", "KILL"}) == Ok());
  Slice();
  CHECK(TakeReply().text.starts_with("ERR Script killed by user with SCRIPT KILL... script: "));
  CHECK(other.Run({"SCRIPT", "KILL"}) == Error("NOTBUSY No scripts in execution right now."));
  CHECK(other.Run({"GET", "k"}) == Null());
  CHECK(Eval("return 1") == Integer(1));
}

TEST_CASE_METHOD(ScriptTest,
                 "one call of a function that takes long lets others in, too: strings that collide in Lua") {
  SetOption("busy-reply-threshold", "1");
  TestClient& other = Connect();
  // Lua's hash of a string of 64 bytes looks at every third of them.
  std::string json = "{";
  std::vector<std::string> members = {"SADD", "set"};
  for (unsigned i = 0; i < 10'000; ++i) {
    std::string name(64, 'x');
    for (size_t bit = 0; bit < 14; ++bit) name[3 * bit + 1] = (i >> bit & 1) != 0 ? '1' : '0';
    json += (i == 0 ? "\"" : ",\"") + name + "\":1";
    members.push_back(name);
  }
  Run({"SET", "json", json + "}"});
  CHECK(Run(members) == Integer(10'000));
  for (const std::string script :
       {"return #redis.call('SMEMBERS', 'set')",
        "local n = 0 for _ in pairs(cjson.decode(redis.call('GET', 'json'))) do n = n + 1 end return n",
        "return #cmsgpack.unpack(cmsgpack.pack(redis.call('SMEMBERS', 'set')))"}) {
    CHECK(Eval(script) == NoReply());
    CHECK(other.Run({"GET", "k"}).text.starts_with("BUSY"));
    SliceToEnd();
    CHECK(TakeReply() == Integer(10'000));
  }
  CHECK(Eval("return #redis.call('SMEMBERS', 'set')") == NoReply());
  CHECK(other.Run({"SCRIPT", "KILL"}) == Ok());
  Slice();
  CHECK(TakeReply().text.starts_with("ERR Script killed by user with SCRIPT KILL..."));
}

TEST_CASE_METHOD(ScriptTest,
                 "a long script that has written goes on to its end and sees one moment of time") {
  SetOption("busy-reply-threshold", "1");
  TestClient& other = Connect();
  Run({"SET", "short", "v", "PX", "5"});
  const std::string script =
      "redis.call('SET', 'k', 'begun') for i = 1, 3e7 do end "
      "redis.call('RPUSH', 'queue', redis.call('GET', 'short')) return {redis.call('PTTL', 'short'), 'done'}";
  CHECK(other.Run({"BLPOP", "queue", "0"}) == NoReply());
  CHECK(Eval(script) == NoReply());
  CHECK(Connect().Run({"SCRIPT", "KILL"}).text.starts_with("UNKILLABLE"));
  LetTimePass(100);
  server().RunWoken();
  SliceToEnd();
  CHECK(TakeReply() == Array({Integer(5), Bulk("done")}));
  CHECK(other.Received() == std::vector<Reply>{Bulks({"queue", "v"})});
  CHECK(Run({"GET", "k"}) == Bulk("begun"));
}

TEST_CASE_METHOD(ScriptTest, "requests that came with a long script wait for it or get BUSY") {
  SetOption("busy-reply-threshold", "1");
  CHECK(RunRaw(EncodeRequest({"EVAL", "for i = 1, 3e7 do end return 1", "0"}) + EncodeRequest({"PING"}))
            .empty());
  SliceToEnd();
  CHECK(client().Received() == std::vector<Reply>{Integer(1), Simple("PONG")});
}

TEST_CASE_METHOD(LongScriptTest,
                 "what a long script writes after others have run is still its caller's change") {
  const bool broadcast = GENERATE(false, true);
  CAPTURE(broadcast);
  std::vector<std::string> track = {"CLIENT", "TRACKING", "ON", "NOLOOP"};
  if (broadcast) track.emplace_back("BCAST");
  TestClient& other = Connect();
  for (TestClient* const each : {&client(), &other}) {
    each->UseResp3();
    CHECK(each->Run(track) == Ok());
    each->Run({"GET", "k"});
  }
  CHECK(Eval("redis.call('GET', 'k')" + kLong + "return redis.call('SET', 'k', 'v')") == NoReply());
  CHECK(other.Run({"HELLO", "3"}).kind == Reply::Kind::kMap);  // one of the few requests that run meanwhile
  SliceToEnd();
  TurnWheels();
  CHECK(client().Received() == std::vector<Reply>{Ok()});
  CHECK(other.Received() == std::vector<Reply>{Push({Bulk("invalidate"), Bulks({"k"})})});
}

TEST_CASE_METHOD(LongScriptTest, "a client tracks what its long script reads, also after others have run") {
  TestClient& other = Connect();
  UseResp3();
  CHECK(Run({"CLIENT", "TRACKING", "ON"}) == Ok());
  CHECK(Eval("redis.call('GET', 'early')" + kLong + "return redis.call('GET', 'late')") == NoReply());
  CHECK(other.Run({"HELLO", "2"}).kind == Reply::Kind::kArray);
  SliceToEnd();
  CHECK(TakeReply() == Null());
  other.Run({"MSET", "early", "1", "late", "1"});
  CHECK(client().Received() == std::vector<Reply>{Push({Bulk("invalidate"), Bulks({"early"})}),
                                                  Push({Bulk("invalidate"), Bulks({"late"})})});
}

TEST_CASE_METHOD(LongScriptTest,
                 "CLIENT CACHING holds for all that a long script reads, and for no request after it") {
  TestClient& other = Connect();
  UseResp3();
  const auto read_both = "redis.call('GET', 'early')" + kLong + "return redis.call('GET', 'late')";
  for (const std::string mode : {"OPTIN", "OPTOUT"}) {
    CAPTURE(mode);
    const bool opt_in = mode == "OPTIN";
    Run({"CLIENT", "TRACKING", "OFF"});
    CHECK(Run({"CLIENT", "TRACKING", "ON", mode}) == Ok());
    CHECK(Run({"CLIENT", "CACHING", opt_in ? "YES" : "NO"}) == Ok());
    CHECK(Eval(read_both) == NoReply());
    CHECK(other.Run({"HELLO", "2"}).kind == Reply::Kind::kArray);
    SliceToEnd();
    TakeReply();
    Run({"GET", "after"});
    other.Run({"MSET", "early", "1", "late", "1", "after", "1"});
    const std::vector<Reply> all = {Push({Bulk("invalidate"), Bulks({"early"})}),
                                    Push({Bulk("invalidate"), Bulks({"late"})})};
    const std::vector<Reply> rest = {Push({Bulk("invalidate"), Bulks({"after"})})};
    CHECK(client().Received() == (opt_in ? all : rest));
    other.Run({"DEL", "early", "late", "after"});
  }
}

TEST_CASE_METHOD(LongScriptTest, "the reply of a long script is in the protocol of its client") {
  UseResp3();
  CHECK(Eval(kLong + "return {double = 1.5}") == NoReply());
  SliceToEnd();
  CHECK(TakeReply() == Double("1.5"));
  UseResp2();
  CHECK(Eval("redis.setresp(3)" + kLong + "return {double = 1.5}") == NoReply());
  SliceToEnd();
  CHECK(TakeReply() == Bulk("1.5"));
}

TEST_CASE_METHOD(
    LongScriptTest,
    "an error that a call of a long script raises is counted once; the call and the script have failed") {
  Run({"SET", "text", "v"});
  for (const bool is_long : {false, true}) {
    CAPTURE(is_long);
    SteppedCycles::AdvanceEachLook(is_long ? server().server.cycle_rate.ToCycles(10'000) : 0);
    Run({"CONFIG", "RESETSTAT"});
    const Reply at_once = Eval(kLong + "redis.call('HGET', 'text', 'f')");
    CHECK((at_once == NoReply()) == is_long);
    SliceToEnd();
    CHECK((is_long ? TakeReply() : at_once).text.starts_with("WRONGTYPE"));
    CHECK(InfoField("cmdstat_eval").ends_with("failed_calls=1"));
    CHECK(InfoField("cmdstat_hget").ends_with("failed_calls=1"));
    CHECK(InfoField("errorstat_WRONGTYPE") == "count=1");
    CHECK(InfoField("total_error_replies") == "1");
  }
}

// The client that waited for the queue is served before the first script's caller, and sends a script itself.
TEST_CASE_METHOD(ScriptTest,
                 "a reply of a long script outlasts another long script that begins before it is given") {
  SetOption("busy-reply-threshold", "1");
  TestClient& other = Connect();
  CHECK(other
            .RunRaw(EncodeRequest({"BLPOP", "queue", "0"}) +
                    EncodeRequest({"EVAL", "for i = 1, 3e7 do end return 'second'", "0"}))
            .empty());
  CHECK(Eval("for i = 1, 3e7 do end redis.call('RPUSH', 'queue', 'v') return 'first'") == NoReply());
  SliceToEnd();
  CHECK(other.Received() == std::vector<Reply>{Bulks({"queue", "v"}), Bulk("second")});
  CHECK(TakeReply() == Bulk("first"));
}

TEST_CASE_METHOD(ScriptTest, "CLIENT UNBLOCK does not end the wait for a script, nor lose its reply") {
  SetOption("busy-reply-threshold", "1");
  CHECK(Eval("for i = 1, 3e7 do end return 'all'") == NoReply());
  server().parking.Wake(*client().session().parked, WakeReason::kUnblocked);
  SliceToEnd();
  CHECK(TakeReply() == Bulk("all"));
}

TEST_CASE_METHOD(ScriptTest, "a client that leaves takes nothing along; its script goes on to its end") {
  SetOption("busy-reply-threshold", "1");
  {
    TestClient leaving(server());
    CHECK(leaving.Run({"EVAL", "for i = 1, 3e7 do end redis.call('SET', 'k', 'v')", "0"}) == NoReply());
  }
  SliceToEnd();
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(ScriptTest,
                 "who waits for what a long script brings is served also if its client has left") {
  SetOption("busy-reply-threshold", "1");
  TestClient& waiting = Connect();
  CHECK(waiting.Run({"BLPOP", "queue", "0"}) == NoReply());
  {
    TestClient leaving(server());
    CHECK(leaving.Run({"EVAL", "for i = 1, 3e7 do end redis.call('RPUSH', 'queue', 'v')", "0"}) == NoReply());
  }
  SliceToEnd();
  CHECK(waiting.Received() == std::vector<Reply>{Bulks({"queue", "v"})});
}

TEST_CASE_METHOD(ScriptTest, "a long function is told by FUNCTION STATS and ended by FUNCTION KILL") {
  SetOption("busy-reply-threshold", "1");
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() while true do end end)"});
  TestClient& other = Connect();
  CHECK(Run({"FCALL", "f", "1", "k", "a"}) == NoReply());
  const Reply stats = other.Run({"FUNCTION", "STATS"});
  REQUIRE(stats.elements.size() == 4);
  REQUIRE(stats.elements[1].elements.size() == 6);
  CHECK(stats.elements[1].elements[1] == Bulk("f"));
  CHECK(stats.elements[1].elements[3] == Bulks({"FCALL", "f", "1", "k", "a"}));
  CHECK(other.Run({"SCRIPT", "KILL"}).text.starts_with("BUSY"));
  CHECK(other.Run({"GET", "k"}) ==
        Error("BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE."));
  CHECK(other.Run({"FUNCTION", "KILL"}) == Ok());
  Slice();
  CHECK(TakeReply().text.starts_with("ERR Script killed by user"));
}

TEST_CASE_METHOD(ScriptTest, "a function that has written is ended by no KILL and goes on to its end") {
  SetOption("busy-reply-threshold", "1");
  Run({"FUNCTION", "LOAD",
       "#!lua name=l\nredis.register_function('f', function() redis.call('SET', 'k', 'begun') "
       "for i = 1, 3e7 do end redis.call('SET', 'k', 'ended') return 'done' end)"});
  TestClient& other = Connect();
  CHECK(Run({"FCALL", "f", "0"}) == NoReply());
  for (const char* container : {"FUNCTION", "SCRIPT"}) {
    CHECK(other.Run({container, "KILL"}) ==
          Error("UNKILLABLE Sorry the script already executed write commands against the dataset. You can "
                "either wait the script termination or kill the server in a hard way using the SHUTDOWN "
                "NOSAVE command."));
  }
  SliceToEnd();
  CHECK(TakeReply() == Bulk("done"));
  CHECK(Run({"GET", "k"}) == Bulk("ended"));
  CHECK(other.Run({"FUNCTION", "KILL"}) == Error("NOTBUSY No scripts in execution right now."));
}

// What counts is the command, as in Redis: what it has changed nobody asks.
TEST_CASE_METHOD(ScriptTest, "a script or function can be ended until it has run a command that writes") {
  SetOption("busy-reply-threshold", "1");
  Run({"SET", "text", "t"});
  const auto [call, can_be_ended] =
      GENERATE(std::pair<std::string, bool>{"redis.call('GET', 'text')", true},
               std::pair<std::string, bool>{"redis.call('PUBLISH', 'c', 'm')", true},
               std::pair<std::string, bool>{"redis.call('PFCOUNT', 'h')", true},
               std::pair<std::string, bool>{"redis.pcall('SET', 'k')", true},
               std::pair<std::string, bool>{"redis.pcall('NOSUCH')", true},
               std::pair<std::string, bool>{"redis.call('DEL', 'absent')", false},
               std::pair<std::string, bool>{"redis.call('SORT', 'absent')", false},
               std::pair<std::string, bool>{"redis.pcall('INCR', 'text')", false});
  CAPTURE(call);
  const std::string body = call + " for i = 1, 3e7 do end return 1";
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() " + body + " end)"});
  TestClient& other = Connect();
  for (const bool is_function : {false, true}) {
    CHECK((is_function ? Run({"FCALL", "f", "0"}) : Eval(body)) == NoReply());
    const Reply ended = other.Run({is_function ? "FUNCTION" : "SCRIPT", "KILL"});
    CHECK((can_be_ended ? ended == Ok() : ended.text.starts_with("UNKILLABLE")));
    SliceToEnd();
    const Reply reply = TakeReply();
    CHECK((can_be_ended ? reply.text.starts_with("ERR Script killed by user") : reply == Integer(1)));
  }
}

TEST_CASE_METHOD(ScriptTest, "a script whose only write found no memory can be ended") {
  SetOption("busy-reply-threshold", "1");
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(2000, 'x')});
  Run({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
  Run({"CONFIG", "SET", "maxmemory", "1"});
  CHECK(Eval("redis.pcall('SET', 'a', 1) for i = 1, 3e7 do end return 1") == NoReply());
  CHECK(Connect().Run({"SCRIPT", "KILL"}) == Ok());
  SliceToEnd();
  CHECK(TakeReply().text.starts_with("ERR Script killed by user"));
}

TEST_CASE_METHOD(ScriptTest, "others are told how to end what is busy now, whatever has been busy before") {
  SetOption("busy-reply-threshold", "1");
  const auto told = [](const std::string& way) {
    return Error("BUSY Redis is busy running a script. You can only call " + way + " or SHUTDOWN NOSAVE.");
  };
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() while true do end end)"});
  TestClient& other = Connect();
  for (int round = 0; round < 2; ++round) {
    CAPTURE(round);
    CHECK(Run({"FCALL", "f", "0"}) == NoReply());
    CHECK(other.Run({"GET", "k"}) == told("FUNCTION KILL"));
    CHECK(other.Run({"SCRIPT", "KILL"}) == told("FUNCTION KILL"));
    CHECK(other.Run({"FUNCTION", "KILL"}) == Ok());
    SliceToEnd();
    CHECK(TakeReply().text.starts_with("ERR Script killed by user"));
    CHECK(Eval("while true do end") == NoReply());
    CHECK(other.Run({"GET", "k"}) == told("SCRIPT KILL"));
    CHECK(other.Run({"FUNCTION", "KILL"}) == told("SCRIPT KILL"));
    CHECK(other.Run({"SCRIPT", "KILL"}) == Ok());
    SliceToEnd();
    CHECK(TakeReply().text.starts_with("ERR Script killed by user"));
    CHECK(other.Run({"GET", "k"}) == Null());
  }
}

TEST_CASE_METHOD(ScriptTest, "a server may end while a script is busy") {
  SetOption("busy-reply-threshold", "1");
  CHECK(Eval("while true do end") == NoReply());
}

TEST_CASE_METHOD(ScriptTest, "within a transaction's call a long script is stopped") {
  SetOption("busy-reply-threshold", "1");
  ChunkPool pool;
  ReplyBuffer reply(pool, 2);
  const std::string_view words[] = {"EVAL", "while true do end", "0"};
  Executor& executor = server().executor;
  executor.MakeCall({client().session(), reply.writer(), executor.now(), Origin::kTransaction, words,
                     executor.RowOf(words)});
  CHECK(reply.Text().starts_with("-ERR Script stopped: it has been running for longer"));
  CHECK(Eval("return 1") == Integer(1));
}

TEST_CASE_METHOD(ScriptTest,
                 "functions are forgotten with their library, and a replaced one is the new one") {
  const auto code = [](int n) {
    return "#!lua name=lib\nredis.register_function('f', function() return " + std::to_string(n) + " end)";
  };
  CHECK(Run({"FUNCTION", "LOAD", code(1)}) == Bulk("lib"));
  CHECK(Run({"FCALL", "f", "0"}) == Integer(1));
  CHECK(Run({"FUNCTION", "LOAD", "REPLACE", code(2)}) == Bulk("lib"));
  CHECK(Run({"FCALL", "f", "0"}) == Integer(2));
  CHECK(Run({"FUNCTION", "LOAD", "REPLACE", "#!lua name=lib\nerror('no')"}).kind == Reply::Kind::kError);
  CHECK(Run({"FCALL_RO", "f", "0"}).kind == Reply::Kind::kError);
  CHECK(Run({"FCALL", "f", "0"}) == Integer(2));
  CHECK(InfoField("number_of_functions") == "1");
  CHECK(InfoField("number_of_libraries") == "1");
  CHECK(Run({"FUNCTION", "DELETE", "lib"}) == Ok());
  CHECK(Run({"FCALL", "f", "0"}) == Error("ERR Function not found"));
  CHECK(InfoField("number_of_functions") == "0");
  CHECK(Run({"FUNCTION", "KILL"}) == Error("NOTBUSY No scripts in execution right now."));
}

TEST_CASE_METHOD(ScriptTest, "the help of SCRIPT and FUNCTION lists their subcommands") {
  CHECK(Run({"SCRIPT", "HELP"}).elements.size() > 10);
  CHECK(Run({"FUNCTION", "HELP"}).elements.size() > 10);
}

TEST_CASE_METHOD(CommandTest, "what a script has put into KEYS or ARGV goes with its run") {
  // Takes all memory of scripts: in large texts first, then in small tables.
  const std::string fill =
      "local t = ARGV local i = 0 for _, n in ipairs({5000000, 1000000, 100000, 10000, 1000, 0}) do "
      "collectgarbage() pcall(function() while true do i = i + 1 "
      "t.text = n > 0 and string.rep('x', n + i) or nil t.next = {} t = t.next end end) end return 1";
  CHECK(Run({"EVAL", fill, "0"}) == Integer(1));
  CHECK(Run({"EVAL", "return 'another script'", "0"}) == Bulk("another script"));
  CHECK(Run({"EVAL", "return {#KEYS, KEYS[1], ARGV[1]}", "1", "k", "v"}) ==
        Array({Integer(1), Bulk("k"), Bulk("v")}));
}

TEST_CASE_METHOD(ScriptTest,
                 "negative numbers are sent to commands like positive ones, whole ones without a fraction") {
  const std::vector<std::pair<std::string, std::string>> sent = {{"-1", "-1"},
                                                                 {"-0.5", "-0.5"},
                                                                 {"-2^53", "-9007199254740992"},
                                                                 {"-1e15", "-1000000000000000"},
                                                                 {"-1e21", "-1e+21"},
                                                                 {"-1e300", "-1e+300"},
                                                                 {"1e300", "1e+300"},
                                                                 {"1/0", "inf"},
                                                                 {"-1/0", "-inf"}};
  for (const auto& [number, text] : sent) {
    CAPTURE(number);
    CHECK(Eval("return redis.call('ECHO', " + number + ")") == Bulk(text));
  }
  Run({"SET", "n", "10"});
  CHECK(Eval("return redis.call('INCRBY', 'n', -3)") == Integer(7));
  CHECK(Eval("return redis.call('INCRBY', 'n', -0.5)").text.starts_with("ERR value is not an integer"));
}

}  // namespace mayfly::testing
