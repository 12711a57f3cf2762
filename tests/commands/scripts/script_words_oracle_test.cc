// First lines of scripts and libraries, what redis.register_function takes, and the words of FUNCTION and SCRIPT, beside a real
// redis-server.
#include "support/scripts_beside_redis.h"

namespace mayfly::testing {
namespace {

constexpr const char* kFirstLines[] = {
    "#!lua",
    "#!lua ",
    "#!lua  ",
    "#!LUA",
    "#! lua",
    "#!",
    "#! ",
    "#",
    " #!lua",
    "#!lua name=x",
    "#!lua flags",
    "#!lua flags=",
    "#!lua FLAGS=no-writes",
    "#!lua flags=no-writes",
    "#!lua flags=NO-WRITES",
    "#!lua flags=no-writes ",
    "#!lua  flags=no-writes  ",
    "#!lua flags=no-writes,",
    "#!lua flags=,no-writes",
    "#!lua flags=,",
    "#!lua flags=no-writes,allow-oom,allow-stale,no-cluster,allow-cross-slot-keys",
    "#!lua flags=no-writes,no-writes",
    "#!lua flags=no-writes, allow-oom",
    "#!lua flags=allow-oom flags=no-writes",
    "#!lua flags=no-writes flags=allow-oom",
    "#!lua flags=no-writes flags=",
    "#!lua flags=nosuch,no-writes",
    "#!lua flags=no-writes,nosuch",
    "#!lua nosuch flags=no-writes",
    "#!lua flags=no-writes nosuch",
    "#!lua flags=no-write",
    "#!lua flags=no-writess",
    "#!luaflags=no-writes",
    "#!js flags=nosuch",
};

constexpr const char* kHeadings[] = {
    "#!lua name=x",
    "#!LUA name=x",
    "#!Lua NAME=x",
    "#!lua name='x'",
    "#!lua name=\"x\"",
    "#!lua name=\"x\\x79\"",
    "#!lua name=\"x",
    "#!lua \"name=x\"",
    "#!lua name=x ",
    "#!lua  name=x",
    "#!lua\tname=x",
    "#!lua name=x\r",
    "#!lua name=x flags=no-writes",
    "#!lua flags=no-writes name=x",
    "#!lua name=x name=x",
    "#!lua name",
    "#!lua nam=x",
    "#!lua name=_",
    "#!lua name=X9_z",
    "#!lua name=x.y",
    "#!lua name=\xC3\xA4",
    "#!lua name=x y",
    "#! lua name=x",
    "#!",
    "#! ",
    "#!name=x",
    "# !lua name=x",
    "\n#!lua name=x",
    "#!lua name=x -- comment",
};

constexpr const char* kLibraries[] = {
    "redis.register_function('F', function() return 1 end)",
    "redis.register_function(5, function() return 1 end)",
    "redis.register_function('', function() return 1 end)",
    "redis.register_function('a b', function() return 1 end)",
    "redis.register_function('a-b', function() return 1 end)",
    "redis.register_function('_', function() return 1 end)",
    "redis.register_function(nil, function() return 1 end)",
    "redis.register_function('f', {})",
    "redis.register_function('f', nil)",
    "redis.register_function(function() end, 'f')",
    "redis.register_function('f')",
    "redis.register_function(nil)",
    "redis.register_function(function() end)",
    "redis.register_function('f', function() return redis.call('PING') end)",
    "server = nil",
    "redis.nosuch = 1",
    "redis.register_function = nil",
    "return redis.nosuch",
    "return redis.call('PING')",
    "return redis.setresp(3)",
    "return redis.sha1hex('')",
    "return redis.error_reply('x')",
    "return tostring(1)",
    "local f = function() return 1 end redis.register_function('f', f) error('at the end')",
    "redis.register_function('f', function() return 1 end) redis.nosuch()",
    "error({err = 'MINE text'})",
    "error({err = 5})",
    "error('plain', 0)",
    "error(5)",
    "error()",
    "return 1 +",
    "'",
    "redis.register_function{function_name='f', callback=function() return 1 end}",
    "redis.register_function{FUNCTION_NAME='f', CallBack=function() return 1 end, Flags={}, DESCRIPTION='d'}",
    "redis.register_function{function_name=7, callback=function() return 1 end, description=8}",
    "redis.register_function{function_name='f', callback=function() return 1 end, description=''}",
    "redis.register_function{function_name='f', callback=function() end, description='two\\r\\nlines'}",
    "redis.register_function{function_name='f', callback=function() return 1 end, [1]='x'}",
    "redis.register_function{function_name='f', callback=function() return 1 end, flags={}}",
    "redis.register_function{function_name='f', callback=function() return 1 end, flags={'NO-WRITES'}}",
    "redis.register_function{function_name='f', callback=function() end, flags={'no-writes', 'no-writes'}}",
    "redis.register_function{function_name='f', callback=function() return 1 end, flags={5}}",
    "redis.register_function{function_name='f', callback=function() return 1 end, flags={{}}}",
    "redis.register_function{function_name='f', callback=function() return 1 end, flags={x='nosuch'}}",
    "redis.register_function{function_name='f', callback=function() end, flags={'no-writes', nil, 'nosuch'}}",
    "redis.register_function{function_name='f', callback=function() return 1 end, flags='no-writes'}",
    "redis.register_function{function_name='f', callback=function() return 1 end, flags={'raw'}}",
    "redis.register_function{function_name='f', callback=function() end, flags={'allow-oom', 'no-cluster'}}",
    "redis.register_function{function_name='a.b', callback=function() return 1 end}",
    "redis.register_function{function_name='', callback=function() return 1 end}",
    "redis.register_function{function_name='f', callback='f'}",
    "redis.register_function{function_name='f', callback={}}",
    "redis.register_function{{function_name='f'}}",
};

constexpr const char* kFlags[] = {"no-writes", "allow-oom", "allow-stale", "no-cluster",
                                  "allow-cross-slot-keys"};

}  // namespace

TEST_CASE_METHOD(ScriptsBesideRedis, "first lines of scripts are read as Redis reads them") {
  std::vector<Words> requests;
  for (const std::string line : kFirstLines) {
    const std::string script = line + "\nreturn redis.call('SET', 'k', 'v')";
    requests.push_back({"EVAL", script, "0"});
    requests.push_back({"EVAL_RO", script, "0"});
    requests.push_back({"SCRIPT", "LOAD", script});
    requests.push_back({"EVAL", line, "0"});
    requests.push_back({"EVAL", line + "\n", "0"});
    requests.push_back({"EVAL", line + "\n\nnosuch()", "0"});
  }
  Compare(requests, 2);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "first lines of libraries are read as Redis reads them") {
  std::vector<Words> requests;
  for (const std::string line : kHeadings) {
    requests.push_back({"FUNCTION", "FLUSH"});
    requests.push_back(
        {"FUNCTION", "LOAD", line + "\nredis.register_function('f', function() return 1 end)"});
    requests.push_back({"FUNCTION", "LIST", "WITHCODE"});
    requests.push_back({"FUNCTION", "LOAD", line});
    requests.push_back({"FUNCTION", "LOAD", "REPLACE", line + "\n\nerror('on the third line')"});
  }
  Compare(requests, 3);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "redis.register_function takes what it takes in Redis") {
  for (const int protocol : {2, 3}) {
    std::vector<Words> requests;
    for (const std::string code : kLibraries) {
      requests.push_back({"FUNCTION", "FLUSH"});
      requests.push_back({"FUNCTION", "LOAD", "#!lua name=x\n" + code});
      requests.push_back({"FUNCTION", "LIST", "WITHCODE"});
      requests.push_back({"FUNCTION", "STATS"});
      for (const char* name : {"f", "F", "5", "7", "_"}) requests.push_back({"FCALL", name, "0"});
    }
    Compare(requests, protocol);
  }
}

TEST_CASE_METHOD(ScriptsBesideRedis, "the flags of a function are listed, and hold, as in Redis") {
  for (const int protocol : {2, 3}) {
    std::vector<Words> requests;
    for (size_t mask = 0; mask < size_t{1} << std::size(kFlags); ++mask) {
      std::string flags;
      for (size_t i = 0; i < std::size(kFlags); ++i) {
        if ((mask >> i & 1) != 0) flags += std::string(flags.empty() ? "'" : ", '") + kFlags[i] + "'";
      }
      requests.push_back(
          {"FUNCTION", "LOAD", "REPLACE",
           "#!lua name=x\nredis.register_function{function_name='f', callback=function() return "
           "redis.pcall('SET', 'k', 'v') end, flags={" +
               flags + "}}"});
      requests.push_back({"FUNCTION", "LIST"});
      requests.push_back({"FCALL", "f", "0"});
      requests.push_back({"FCALL_RO", "f", "0"});
    }
    Compare(requests, protocol);
  }
}

TEST_CASE_METHOD(ScriptsBesideRedis, "the words of FUNCTION and SCRIPT are taken or refused as in Redis") {
  const std::string code =
      "#!lua name=lib\nredis.register_function('f', function(keys, args) return {keys, args} end)";
  for (const int protocol : {2, 3}) {
    Compare({{"FUNCTION", "FLUSH"},
             {"FUNCTION", "LOAD", code},
             {"FUNCTION", "LOAD", "replace", code},
             {"FUNCTION", "LOAD", "REPLACE", "REPLACE", code},
             {"FUNCTION", "LOAD", code, "REPLACE"},
             {"FUNCTION", "LOAD", "REPLACE", "NOSUCH", code},
             {"FUNCTION", "LIST", "WITHCODE"},
             {"FUNCTION", "LIST", "withcode", "WITHCODE"},
             {"FUNCTION", "LIST", "LIBRARYNAME", "lib", "LIBRARYNAME", "lib"},
             {"FUNCTION", "LIST", "LIBRARYNAME", "lib", "WITHCODE"},
             {"FUNCTION", "LIST", "WITHCODE", "LIBRARYNAME"},
             {"FUNCTION", "LIST", "LIBRARYNAME", "WITHCODE"},
             {"FUNCTION", "LIST", "LIBRARYNAME", "*"},
             {"FUNCTION", "LIST", "LIBRARYNAME", "LI?"},
             {"FUNCTION", "LIST", "LIBRARYNAME", "l[!i]b"},
             {"FUNCTION", "LIST", "LIBRARYNAME", ""},
             {"FUNCTION", "LIST", "WITHCODE", "x"},
             {"FUNCTION", "DELETE", "LIB"},
             {"FUNCTION", "DELETE"},
             {"FUNCTION", "DELETE", "lib", "lib"},
             {"FUNCTION", "DUMP", "x"},
             {"FUNCTION", "STATS", "x"},
             {"FUNCTION", "KILL", "x"},
             {"FUNCTION", "FLUSH", "x"},
             {"FUNCTION", "FLUSH", "ASYNC", "SYNC"},
             {"FUNCTION", "FLUSH", "SYNC", "x", "y"},
             {"FCALL", "f", "2", "a", "b", "c"},
             {"FCALL", "f", "3", "a", "b", "c"},
             {"FCALL", "f", "4", "a", "b", "c"},
             {"FCALL", "f", "0x1", "a"},
             {"FCALL", "f", "", "a"},
             {"FCALL", "f", "99999999999999999999", "a"},
             {"FCALL_RO", "f", "0"},
             {"FCALL_RO", "f", "-1"},
             {"FCALL_RO", "f", "x"},
             {"FCALL_RO", "f", "2", "a"},
             {"FCALL_RO", "f"},
             {"FUNCTION", "FLUSH", "sync"},
             {"FUNCTION", "LIST"},
             {"SCRIPT", "FLUSH", "SYNC"},
             {"SCRIPT", "LOAD"},
             {"SCRIPT", "LOAD", "return 1", "x"},
             {"SCRIPT", "LOAD", ""},
             {"EVAL", "", "0"},
             {"SCRIPT", "KILL", "x"},
             {"SCRIPT", "FLUSH", "x", "y"},
             {"EVAL", "return {KEYS, ARGV}", "2", "a", "b", "c"},
             {"EVAL", "return {KEYS, ARGV}", "3", "a", "b", "c"},
             {"EVAL", "return {KEYS, ARGV}", "4", "a", "b", "c"},
             {"EVAL", "return 1", "99999999999999999999"},
             {"EVAL_RO", "return {KEYS, ARGV}", "1", "a", "b"},
             {"EVAL_RO", "return 1", "2", "b"},
             {"EVAL_RO", "return 1", "-1"},
             {"EVAL_RO", "return 1", "x"},
             {"EVALSHA_RO", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "x"},
             {"EVALSHA_RO", "e0e1f9fabfc9d4800c877a703b823ac0578ff8d", "x"},
             {"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "-1"},
             {"EVALSHA", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db", "1"}},
            protocol);
  }
}

}  // namespace mayfly::testing
