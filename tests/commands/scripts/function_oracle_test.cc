// Functions, beside a real redis-server's.
#include "support/scripts_beside_redis.h"

namespace mayfly::testing {
namespace {

constexpr const char* kLibrary =
    "#!lua name=mylib\n"
    "local n = 0\n"
    "redis.register_function('echo', function(keys, args) return {keys, args} end)\n"
    "redis.register_function{function_name='reader', callback=function(keys) return redis.call('GET', "
    "keys[1]) "
    "end, flags={'no-writes'}, description='reads'}\n"
    "redis.register_function('writer', function(keys, args) return redis.call('SET', keys[1], args[1]) "
    "end)\n"
    "redis.register_function('counter', function() n = n + 1 return n end)\n"
    "redis.register_function('fails', function() error('failed') end)\n"
    "redis.register_function('global', function() x = 1 end)\n"
    "redis.register_function('late', function() redis.register_function('z', function() end) end)\n"
    "redis.register_function('json', function() return cjson.encode({1}) end)\n"
    "redis.register_function('noargs', function() return KEYS end)\n";

std::vector<std::string> Load(const std::string& code) {
  return {"FUNCTION", "LOAD", "#!lua name=x\n" + code};
}

// Its functions answer with the library's name.
std::vector<std::string> LoadOrReplace(const std::string& library,
                                       const std::vector<std::string>& functions) {
  std::string text = "#!lua name=" + library + "\n";
  for (const std::string& function : functions)
    text += "redis.register_function('" + function + "', function() return '" + library + "' end)\n";
  return {"FUNCTION", "LOAD", "REPLACE", text};
}

}  // namespace

TEST_CASE_METHOD(ScriptsBesideRedis, "functions are called and listed as in Redis") {
  for (const int protocol : {2, 3}) {
    Compare({{"FUNCTION", "FLUSH"},
             {"FUNCTION", "STATS"},
             {"FUNCTION", "LIST"},
             {"FUNCTION", "LOAD", kLibrary},
             {"FUNCTION", "LOAD", kLibrary},
             {"FUNCTION", "LOAD", "REPLACE", kLibrary},
             {"FUNCTION", "STATS"},
             {"FCALL", "echo", "1", "k", "a", "b"},
             {"FCALL", "ECHO", "0"},
             {"FCALL", "writer", "1", "k", "v"},
             {"FCALL", "reader", "1", "k"},
             {"FCALL_RO", "reader", "1", "k"},
             {"FCALL_RO", "writer", "1", "k", "v"},
             {"FCALL", "counter", "0"},
             {"FCALL", "counter", "0"},
             {"FCALL", "fails", "0"},
             {"FCALL", "global", "0"},
             {"FCALL", "late", "0"},
             {"FCALL", "json", "0"},
             {"FCALL", "noargs", "0"},
             {"FCALL", "nosuch", "0"},
             {"FCALL", "echo", "x"},
             {"FCALL", "echo", "1"},
             {"FCALL", "echo", "-1"},
             {"FCALL", "echo"},
             {"FUNCTION", "LIST", "LIBRARYNAME", "nosuch"},
             {"FUNCTION", "LIST", "LIBRARYNAME"},
             {"FUNCTION", "LIST", "NOSUCH"},
             {"FUNCTION", "KILL"},
             {"FUNCTION", "FLUSH", "NOSUCH"},
             {"FUNCTION", "FLUSH", "SYNC", "x"},
             {"FUNCTION", "NOSUCH"}},
            protocol);
  }
}

TEST_CASE_METHOD(ScriptsBesideRedis, "libraries are loaded or refused as in Redis") {
  for (const int protocol : {2, 3}) {
    Compare(
        {{"FUNCTION", "FLUSH"},
         {"FUNCTION", "LOAD", kLibrary},
         {"FUNCTION", "LOAD"},
         {"FUNCTION", "LOAD", "REPLACE"},
         {"FUNCTION", "LOAD", "NOSUCH", "x"},
         {"FUNCTION", "LOAD", "return 1"},
         {"FUNCTION", "LOAD", "#!lua name=x"},
         {"FUNCTION", "LOAD", "#!lua\n"},
         {"FUNCTION", "LOAD", "#!js name=x\n"},
         {"FUNCTION", "LOAD", "#!lua name=a name=b\n"},
         {"FUNCTION", "LOAD", "#!lua name=a nosuch=b\n"},
         {"FUNCTION", "LOAD", "#!lua name=b-d\n"},
         {"FUNCTION", "LOAD", "#!lua name=\n"},
         Load(""),
         Load("return +"),
         Load("error('x')"),
         Load("redis.call('GET', 'x')"),
         Load("return redis.call"),
         Load("return math.random()"),
         Load("x = 1"),
         Load("return nosuch"),
         Load("redis.register_function()"),
         Load("redis.register_function('f')"),
         Load("redis.register_function(1, 2, 3)"),
         Load("redis.register_function({}, function() end)"),
         Load("redis.register_function('f', 5)"),
         Load("redis.register_function('b-d', function() end)"),
         Load("redis.register_function('f', function() end) redis.register_function('f', function() end)"),
         Load("redis.register_function('echo', function() end)"),
         Load("redis.register_function{}"),
         Load("redis.register_function{function_name='f'}"),
         Load("redis.register_function{callback=function() end}"),
         Load("redis.register_function{function_name={}, callback=function() end}"),
         Load("redis.register_function{function_name='f', callback=5}"),
         Load("redis.register_function{function_name='f', callback=function() end, flags=5}"),
         Load("redis.register_function{function_name='f', callback=function() end, flags={'nosuch'}}"),
         Load("redis.register_function{function_name='f', callback=function() end, description={}}"),
         Load("redis.register_function{function_name='f', callback=function() end, nosuch=1}"),
         Load("redis.register_function('f', function() return 1 end)"),
         {"FCALL", "f", "0"},
         {"FUNCTION", "DELETE", "x"},
         {"FUNCTION", "DELETE", "x"},
         {"FCALL", "f", "0"},
         {"FUNCTION", "FLUSH"},
         Load("redis.register_function{function_name='f', callback=function() return 1 end, "
              "flags={'no-writes', 'allow-stale'}, description='says one'}"),
         {"FUNCTION", "LIST"},
         {"FUNCTION", "LIST", "WITHCODE", "LIBRARYNAME", "X*"},
         {"FUNCTION", "FLUSH", "ASYNC"}},
        protocol);
  }
}

TEST_CASE_METHOD(ScriptsBesideRedis,
                 "a library that replaces another one may not take a third one's function, as in Redis") {
  const Words list_a = {"FUNCTION", "LIST", "LIBRARYNAME", "a", "WITHCODE"};
  const Words list_b = {"FUNCTION", "LIST", "LIBRARYNAME", "b", "WITHCODE"};
  for (const int protocol : {2, 3}) {
    Compare({{"FUNCTION", "FLUSH"},
             LoadOrReplace("a", {"fa"}),
             LoadOrReplace("b", {"fb"}),
             LoadOrReplace("b", {"fa"}),
             LoadOrReplace("b", {"FA"}),
             LoadOrReplace("b", {"fb", "fa"}),
             LoadOrReplace("c", {"fa"}),
             {"FUNCTION", "STATS"},
             list_a,
             list_b,
             {"FCALL", "fa", "0"},
             {"FCALL", "fb", "0"},
             {"FUNCTION", "DELETE", "b"},
             {"FCALL", "fa", "0"},
             {"FCALL", "fb", "0"}},
            protocol);
  }
}

TEST_CASE_METHOD(ScriptsBesideRedis,
                 "a library that is replaced may name its functions anew, and gives the old names away") {
  for (const int protocol : {2, 3}) {
    Compare({{"FUNCTION", "FLUSH"},
             LoadOrReplace("a", {"fa"}),
             LoadOrReplace("a", {"FA"}),
             {"FUNCTION", "LIST"},
             {"FCALL", "fa", "0"},
             LoadOrReplace("a", {"fx"}),
             {"FUNCTION", "LIST"},
             {"FCALL", "fa", "0"},
             {"FCALL", "fx", "0"},
             LoadOrReplace("b", {"fa"}),
             {"FCALL", "fa", "0"},
             LoadOrReplace("a", {"fa"}),
             {"FUNCTION", "DELETE", "a"},
             {"FCALL", "fa", "0"},
             {"FCALL", "fx", "0"},
             {"FUNCTION", "STATS"}},
            protocol);
  }
}

TEST_CASE_METHOD(
    ScriptsBesideRedis,
    "what a library keeps of redis.register_function registers nothing later, nor after a failed load") {
  const std::string keeps =
      "#!lua name=keeps\nlocal register = redis.register_function\n"
      "register('later', function() return register('more', function() return 1 end) end)";
  for (const int protocol : {2, 3}) {
    Compare({{"FUNCTION", "FLUSH"},
             {"FUNCTION", "LOAD", keeps},
             {"FCALL", "later", "0"},
             {"FUNCTION", "LOAD", "#!lua name=other\nerror('no')"},
             {"FCALL", "later", "0"},
             {"FUNCTION", "LOAD", "#!lua name=other\nreturn +"},
             {"FCALL", "later", "0"},
             {"FUNCTION", "LOAD", "REPLACE", "#!lua name=keeps\nredis.register_function('later', 5)"},
             {"FCALL", "later", "0"},
             {"FCALL", "more", "0"},
             {"FUNCTION", "STATS"}},
            protocol);
  }
}

TEST_CASE_METHOD(ScriptsBesideRedis,
                 "a library that is loaded again begins anew, also with the same text, as in Redis") {
  const std::string counts =
      "#!lua name=counts\nlocal n = 0\nredis.register_function('count', function() n = n + 1 return n end)";
  Compare({{"FUNCTION", "FLUSH"},
           {"FUNCTION", "LOAD", counts},
           {"FCALL", "count", "0"},
           {"FCALL", "count", "0"},
           {"FUNCTION", "LOAD", counts},
           {"FCALL", "count", "0"},
           {"FUNCTION", "LOAD", "REPLACE", counts},
           {"FCALL", "count", "0"},
           {"FUNCTION", "LOAD", "REPLACE", "#!lua name=counts\nerror('no')"},
           {"FCALL", "count", "0"},
           {"FUNCTION", "DELETE", "counts"},
           {"FUNCTION", "LOAD", counts},
           {"FCALL", "count", "0"}},
          2);
}

TEST_CASE_METHOD(ScriptsBesideRedis,
                 "a library that fails while it is loaded leaves the others as they were") {
  const std::string works =
      "#!lua name=works\nredis.register_function('f', function(keys) redis.call('SET', keys[1], 'v') "
      "return {redis.call('GET', keys[1]), redis.sha1hex(''), type(redis.register_function), math.max(1, 2)} "
      "end)";
  for (const std::string fails : {"error('no')", "nothing.x = 1", "redis.call('PING')", "return +"}) {
    CAPTURE(fails);
    for (const int protocol : {2, 3}) {
      Compare({{"FUNCTION", "FLUSH"},
               {"FUNCTION", "LOAD", works},
               {"FCALL", "f", "1", "k"},
               {"FUNCTION", "LOAD", "#!lua name=fails\n" + fails},
               {"FCALL", "f", "1", "k"},
               {"EVAL", "return {redis.call('GET', KEYS[1]), type(redis.register_function)}", "1", "k"},
               {"FUNCTION", "STATS"}},
              protocol);
    }
  }
}

}  // namespace mayfly::testing
