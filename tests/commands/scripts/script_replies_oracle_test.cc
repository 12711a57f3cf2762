// Every kind of reply on its way into a script and out of it, and what its errors count as, beside a real redis-server.
#include <algorithm>
#include <sstream>

#include "support/scripts_beside_redis.h"

namespace mayfly::testing {
namespace {

constexpr const char* kReturned[] = {
    "return {double=1/0}",
    "return {double=-1/0}",
    "return {double=3}",
    "return {double=1e100}",
    "return {double='3'}",
    "return {1, {double=0.25}, {double=-0.5}, {ok='A'}, {err='E x'}, 'last'}",
    "return {big_number='12\\r\\n3\\n'}",
    "return {big_number=12}",
    "return {big_number=''}",
    "return {big_number='not a number'}",
    "return {verbatim_string={string='text', format='markdown'}}",
    "return {verbatim_string={string='text', format='m'}}",
    "return {verbatim_string={string='', format='txt'}}",
    "return {verbatim_string={string='two\\r\\nlines', format='txt'}}",
    "return {verbatim_string={format='txt'}}",
    "return {verbatim_string={string=5, format='txt'}}",
    "return {verbatim_string={string='text', format=5}}",
    "return {verbatim_string='text'}",
    "return {verbatim_string='text', map={a=1}}",
    "return {verbatim_string={string='x'}, [1]='one', [2]='two'}",
    "return {{verbatim_string={string='a', format='txt'}}, {verbatim_string={format='txt'}}, 'last'}",
    "return {map=5}",
    "return {map={[1]='a'}}",
    "return {map={a={map={b={set={c=true}}}}}}",
    "return {map={a=1}, set={b=true}}",
    "return {{map={a=1}}, 'last'}",
    "return {set='x'}",
    "return {set={'a'}}",
    "return {set={[7]=false}}",
    "return {{set={a=true}}, {set={}}, 'last'}",
    "return {ok=5}",
    "return {ok=''}",
    "return {ok='FINE', 1, 2}",
    "return {ok='FINE', err='ERR both'}",
    "return {err=5}",
    "return {err=''}",
    "return {err='-MINE with a dash'}",
    "return {err='MINE text', 1, 2}",
    "return {{ok=5}, {err=5}, 'last'}",
    "return {[2]='second'}",
    "return {1, 2, [4]=4}",
    "return {x=1, 5}",
    "return {true, {true, {false, {nil}}}, 'last'}",
    "return {function() end, 'last'}",
    "return {cjson.null, 'last'}",
    "return cjson.null",
    "return coroutine.create(function() end)",
    "return 9223372036854775807",
    "return -9223372036854775808",
    "return 2^62",
    "return 2^63 - 1024",
    "return 2^63",
    "return -2^63",
    "return -2^63 - 2048",
    "return 1e300",
    "return -0.5",
    "return {2^40, -2^40, 1.999999, -1.999999}",
    "return string.rep('x', 16384)",
    "return {string.rep('x', 16383), string.rep('y', 16384), string.rep('z', 70000), 'last'}",
    "local t = {} for i = 1, 130 do t[i] = i end return t",
    "return 'a\\0b'",
    "return {'a\\0b', 'c\\r\\nd'}",
    "return 1, 2, 3",
    "return setmetatable({}, {__index = function() return 'x' end})",
    "return setmetatable({1}, {__len = function() return 5 end})",
    "redis.setresp(3) return {true, false, 1, 'last'}",
    "redis.setresp(3) return {map={a=true}}",
    "redis.setresp(3) return {set={[true]=true}}",
    "redis.setresp(3) redis.setresp(2) return {true, false, 'last'}",
    "redis.setresp(3) return {double=1/0}",
    "redis.setresp(3) return {big_number='12'}",
    "redis.setresp(3) return {verbatim_string={string='text', format='txt'}}",
    "return redis.setresp()",
    "return redis.setresp(1)",
    "return redis.setresp(4)",
    "return redis.setresp('3')",
    "return redis.setresp('x')",
    "return redis.setresp(3, 3)",
    "return redis.setresp(nil)",
    "return type(redis.setresp(3))",
    "return redis.set_repl()",
    "return redis.set_repl(1, 2)",
    "return redis.set_repl(4)",
    "return redis.set_repl(-1)",
    "return type(redis.set_repl(redis.REPL_ALL))",
    "return type(redis.set_repl(redis.REPL_NONE))",
    "return {redis.REPL_NONE, redis.REPL_AOF, redis.REPL_SLAVE, redis.REPL_REPLICA, redis.REPL_ALL}",
    "return {redis.LOG_DEBUG, redis.LOG_VERBOSE, redis.LOG_NOTICE, redis.LOG_WARNING}",
    "return {redis.replicate_commands(), tostring(redis.breakpoint()), type(redis.debug('x'))}",
    "return redis.log(redis.LOG_NOTICE)",
    "return redis.log(-1, 'x')",
    "return redis.log(4, 'x')",
    "return redis.log('2', 'x')",
    "return redis.log({}, 'x')",
    "return type(redis.log(redis.LOG_DEBUG, 'a', 5, {}, 'b'))",
    "return redis.sha1hex(1, 2)",
    "return redis.sha1hex({})",
    "return redis.sha1hex('a\\0b')",
    "return redis.error_reply('')",
    "return redis.error_reply('-')",
    "return redis.error_reply('-X')",
    "return redis.error_reply('MY two\\r\\n')",
    "return redis.error_reply('\\r\\n')",
    "return redis.error_reply('a', 'b')",
    "return redis.error_reply({})",
    "return redis.status_reply('a', 'b')",
    "return redis.status_reply({})",
    "return redis.status_reply('')",
    "return redis.acl_check_cmd('GET')",
    "return redis.acl_check_cmd('get', 'k')",
    "return redis.acl_check_cmd('CLIENT', 'KILL')",
    "return redis.acl_check_cmd('CLIENT', 'NOSUCH')",
    "return redis.acl_check_cmd('CLIENT')",
    "return redis.acl_check_cmd({})",
    "return redis.acl_check_cmd('GET', nil)",
};

constexpr const char* kErrors[] = {
    "error(setmetatable({}, {__index = function(t, k) return k == 'err' and 'MINE text' or nil end}))",
    R"(error(setmetatable({err = 'MINE text'}, {__newindex = function() end, __index = function(t, k) if k ==
'source' then return 'here' end end})))",
    "error(setmetatable({err = 'MINE text'}, {__newindex = function() end}))",
    R"(error(setmetatable({err = 'MINE text'}, {__newindex = function() end, __index = function(t, k) if k ==
'line' then return 7 end end})))",
    "error(setmetatable({}, {__index = {err = 'MINE text'}}))",
    "error({err = 5})",
    "error({err = 'MINE text', ignore_error_stats_update = true})",
    "error(false)",
    "error(1.5)",
    "error('')",
    "error('two\\r\\nlines')",
    "error({err = 'MINE two\\r\\nlines'})",
    "return error('tail')",
    "return redis.call('NOSUCH')",
    "return (redis.call('NOSUCH'))",
    "local e = redis.pcall('NOSUCH') error(e)",
    "local e = redis.pcall('NOSUCH') return {e, e.ignore_error_stats_update, 'last'}",
    "local e = redis.pcall('INCR', 'text') e.err = 'MINE text' return e",
    "local e = redis.pcall('INCR', 'text') return {e, e}",
    "local ok, e = pcall(error, {err = 'MINE text'}) return {type(e), e}",
    "local ok, e = pcall(error, {err = 5}) return {type(e), e}",
    "local ok, e = pcall(error, {err = {}}) return type(e)",
    "return {pcall(5)}",
    "return {pcall(function() return 1, nil, 3 end)}",
    "return select('#', pcall(function() return 1, nil, nil end))",
    "return xpcall()",
    "return xpcall(function() end)",
    "return {xpcall(function() return 1, 2 end, function() end)}",
    "return {xpcall(function(a) return tostring(a) end, function() end, 5)}",
    "return {xpcall(function() error('x') end, 5)}",
    "return {xpcall(function() error({err = 'MINE x'}) end, function(e) return e.err end)}",
    "return {xpcall(function() error('x') end, function(...) return select('#', ...) end)}",
    "return {coroutine.resume(coroutine.create(function(a, b) return a + b end), 1, 2)}",
    "local c = coroutine.wrap(function() error('in it') end) return c()",
    "local c = coroutine.wrap(function() return 1 end) c() return c()",
    "return coroutine.wrap(5)",
    "return {coroutine.status(coroutine.create(function() end))}",
    R"(local f = coroutine.wrap(function(a) while true do a = coroutine.yield(a * 2) end end) return {f(1),
f(5)})",
    "local function f(n) if n == 0 then error('deep') end f(n - 1) end f(3)",
    "local f = loadstring('error(\\'in a chunk\\')', 'a chunk') f()",
    "local f = loadstring('error(\\'in a chunk\\')', '=name') f()",
    "local f = loadstring('return nosuch') return f()",
    "string.rep()",
    "('x'):rep({})",
    "redis.call({})",
    "return redis.call(function() end)",
    "return redis.call('GET', cjson.null)",
    "return redis.pcall({}, 'x')",
};

// With DEBUG PROTOCOL, which answers any kind of reply.
constexpr const char* kKinds[] = {"string", "integer", "double", "bignum",   "null", "array",
                                  "set",    "map",     "attrib", "verbatim", "true", "false"};
constexpr const char* kLooks[] = {
    "return redis.call('DEBUG', 'PROTOCOL', '?')",
    "redis.setresp(3) return redis.call('DEBUG', 'PROTOCOL', '?')",
    "local r = redis.call('DEBUG', 'PROTOCOL', '?') return type(r)",
    "redis.setresp(3) local r = redis.call('DEBUG', 'PROTOCOL', '?') return type(r)",
    "redis.setresp(3) return {redis.call('DEBUG', 'PROTOCOL', '?'), 'last'}",
    R"(redis.setresp(3) local r = redis.call('DEBUG', 'PROTOCOL', '?') if type(r) ~= 'table' then return 0 end
local t = {} for k, v in pairs(r) do t[#t + 1] = tostring(k) .. ':' .. type(v) end table.sort(t) return
t)",
    R"(redis.setresp(3) local r = redis.call('DEBUG', 'PROTOCOL', '?') if type(r) ~= 'table' then return 0 end
r = r.map or r.set or r.verbatim_string or {} local t = {} for k, v in pairs(r) do t[#t + 1] =
tostring(k) .. ':' .. tostring(v) end table.sort(t) return t)",
};

class EveryKind : public BesideRedis {
 public:
  EveryKind() : BesideRedis({"--enable-debug-command", "yes"}) { StartWith("enable-debug-command", "yes"); }
};

}  // namespace

TEST_CASE_METHOD(ScriptsBesideRedis, "what a script returns, however odd, is answered as in Redis") {
  CompareScripts(kReturned);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "errors of every form are told as in Redis") { CompareScripts(kErrors); }

// redis-server 7.0 ends itself at these.
TEST_CASE_METHOD(CommandTest, "an error that is a table without a text is told as unknown") {
  for (const char* error : {"{}", "{1, 2}", "{err = {}}", "{ok = 'FINE'}", "setmetatable({}, {})"}) {
    CAPTURE(error);
    const std::string script = "error(" + std::string(error) + ")";
    const std::string sha = Run({"SCRIPT", "LOAD", script}).text;
    CHECK(Run({"EVAL", script, "0"}) == Error("ERR unknown error script: " + sha + ", on @user_script:1."));
  }
}

TEST_CASE_METHOD(CommandTest, "an error of any other kind is told as tostring tells it") {
  for (const char* error :
       {"redis.call", "function() end", "coroutine.create(function() end)", "cjson.null"}) {
    CAPTURE(error);
    const Reply reply = Run({"EVAL", "error(" + std::string(error) + ")", "0"});
    const std::string type = Run({"EVAL", "return type(" + std::string(error) + ")", "0"}).text;
    CHECK(reply.text.starts_with("ERR " + type + ": "));
    CHECK(reply.text.find(", on @user_script:1.") != std::string::npos);
  }
  CHECK(Run({"EVAL", "return {pcall(error, cjson.null)}", "0"}) == Array({Null(), Null()}));
}

TEST_CASE_METHOD(EveryKind, "every kind of reply becomes the value of Lua that Redis makes of it") {
  for (const int protocol : {2, 3}) {
    std::vector<Words> requests = {{"EVAL", "return redis.call('DEBUG', 'PROTOCOL', 'string')", "0"},
                                   {"DEBUG", "SET-DISABLE-DENY-SCRIPTS", "1"}};
    for (const char* kind : kKinds) {
      // In Redis, a table made of a map or a set has another order.
      const bool in_no_order = std::string_view(kind) == "map" || std::string_view(kind) == "set";
      for (std::string script : kLooks) {
        if (in_no_order && script.find("setresp(3)") != std::string::npos &&
            script.find("type(r)") == std::string::npos)
          continue;
        script.replace(script.find('?'), 1, kind);
        requests.push_back({"EVAL", script, "0"});
      }
    }
    requests.push_back({"DEBUG", "SET-DISABLE-DENY-SCRIPTS", "0"});
    requests.push_back({"EVAL", "return redis.call('DEBUG', 'PROTOCOL', 'string')", "0"});
    Compare(requests, protocol);
  }
}

TEST_CASE_METHOD(ScriptsBesideRedis, "errors of scripts are counted where Redis counts them") {
  std::vector<std::string> scripts(std::begin(kErrors), std::end(kErrors));
  for (const char* more :
       {"return {err='MINE x'}", "return {1, {err='MINE x'}}", "return {{err='MINE x'}, {err='MINE y'}}",
        "return {map={a={err='MINE x'}}}", "return redis.pcall('NOSUCH')",
        "redis.pcall('NOSUCH') redis.pcall('GET') redis.pcall('HGET', 'text', 'f') return 1",
        "return {redis.pcall('GET'), {err='MINE x'}, {err='OTHER x'}, redis.pcall('HGET', 'text', 'f')}",
        "return {map={a=redis.pcall('GET')}, ok={err='MINE x'}}", "return redis.error_reply('MINE x')",
        "redis.error_reply('MINE x') return 1", "return redis.call('GET')", "return redis.call('AUTH', 'x')",
        "return redis.call('HGET', 'text', 'f')", "#!lua flags=no-writes\nreturn redis.call('SET', 'a', 'b')",
        "#!lua flags=no-writes\nredis.pcall('SET', 'a', 'b') return 1", "return 1 +", "#!lua nosuch\n",
        "redis.pcall({}) return 1", "return redis.setresp(9)"})
    scripts.emplace_back(more);
  const auto counted = [](const std::string& info) {
    std::vector<std::string> lines;
    std::istringstream text(info);
    for (std::string line; std::getline(text, line);) {
      if (line.starts_with("cmdstat_info") || line.starts_with("cmdstat_config")) continue;
      const size_t calls = line.find("calls=");
      const size_t usec = line.find(",usec");
      const size_t rejected = line.find(",rejected_calls");
      if (calls != std::string::npos && usec != std::string::npos && rejected != std::string::npos)
        line = line.substr(0, usec) + line.substr(rejected);
      lines.push_back(line);
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  OracleClient redis(oracle());
  const auto both = [&](const Words& request) {
    return std::pair(Run(request).text, TakeReplies(redis.Ask(EncodeRequest(request), 1)[0]).at(0).text);
  };
  both({"SET", "text", "value"});
  for (const std::string& script : scripts) {
    CAPTURE(script);
    both({"CONFIG", "RESETSTAT"});
    both({"EVAL", script, "0"});
    for (const char* section : {"commandstats", "errorstats", "stats"}) {
      CAPTURE(section);
      const auto [ours, theirs] = both({"INFO", section});
      if (std::string_view(section) == "stats") {
        const auto errors_of = [](const std::string& text) {
          const size_t at = text.find("total_error_replies:");
          return text.substr(at, text.find('\r', at) - at);
        };
        CHECK(errors_of(ours) == errors_of(theirs));
        continue;
      }
      CHECK(counted(ours) == counted(theirs));
    }
  }
}

}  // namespace mayfly::testing
