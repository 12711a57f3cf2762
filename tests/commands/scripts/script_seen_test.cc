// What others see of a script's calls: the slow log, the log of refusals, the counts of INFO, clients that watch or cache.
#include <string>
#include <vector>

#include "commands/acl/acl_world.h"
#include "support/beside_redis.h"

namespace mayfly::testing {
namespace {

const std::string kSeenLibrary =
    "#!lua name=seen\nredis.register_function('reads', function(keys) return redis.call('GET', keys[1]) "
    "end)\n"
    "redis.register_function{function_name = 'looks', callback = function(keys) return redis.call('GET', "
    "keys[1]) "
    "end, flags = {'no-writes'}}\n"
    "redis.register_function('writes', function(keys) return redis.call('SET', keys[1], 'v') end)";

class ScriptSeenBesideRedis : public BesideRedis {
 public:
  // Sends a request to both servers. The answers may differ.
  std::pair<Reply, Reply> Both(const Words& request) {
    return {Run(request), TakeReplies(redis_.Ask(EncodeRequest(request), 1)[0]).at(0)};
  }
  // What an entry of SLOWLOG has beside its number and its times. A client's own address is its own.
  static std::vector<Words> Shown(const Reply& log) {
    std::vector<Words> shown;
    for (const Reply& entry : log.elements) {
      Words words;
      for (const Reply& word : entry.elements.at(3).elements) words.push_back(word.text);
      words.push_back(entry.elements.at(4).text == "?:0" ? "nobody's address" : "an address");
      words.push_back(entry.elements.at(5).text);
      shown.push_back(words);
    }
    return shown;
  }
  static int64_t Number(const Reply& info, const std::string& field) {
    const size_t at = info.text.find(field + ":");
    REQUIRE(at != std::string::npos);
    return std::stoll(info.text.substr(at + field.size() + 1));
  }

 private:
  OracleClient redis_{oracle()};
};

class ScriptRefusalTest : public AclWorld {
 public:
  // A field of the newest entry of ACL LOG, "" if there is no entry.
  std::string LastRefusal(const std::string& field) {
    const Reply log = Run({"ACL", "LOG", "1"});
    if (log.elements.empty()) return "";
    const std::vector<Reply>& entry = log.elements[0].elements;
    for (size_t i = 0; i + 1 < entry.size(); i += 2) {
      if (entry[i].text == field) return entry[i + 1].text;
    }
    return "";
  }
};

}  // namespace

TEST_CASE_METHOD(ScriptSeenBesideRedis, "the slow log has a script and each of its calls, as in Redis") {
  Both({"FUNCTION", "LOAD", kSeenLibrary});
  Both({"CLIENT", "SETNAME", "worker"});
  const std::vector<std::vector<Words>> sessions = {
      {{"EVAL", "redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1])", "1", "k", "v"}},
      {{"EVAL", "redis.pcall('HGET', 'k', 'f') redis.pcall('NOSUCH') redis.pcall('GET') return 1", "0"}},
      {{"EVAL_RO", "return redis.call('GET', 'k')", "0"}},
      {{"EVAL", "return 1", "0"}},
      {{"FCALL", "writes", "1", "k"}},
      {{"FCALL_RO", "looks", "1", "k"}},
      {{"FCALL", "nosuch", "0"}},
      {{"MULTI"}, {"EVAL", "return redis.call('GET', 'k')", "0"}, {"EXEC"}}};
  for (const std::vector<Words>& session : sessions) {
    CAPTURE(session);
    Both({"CONFIG", "SET", "slowlog-log-slower-than", "0"});
    Both({"SLOWLOG", "RESET"});
    for (const Words& request : session) Both(request);
    Both({"CONFIG", "SET", "slowlog-log-slower-than", "-1"});
    const auto [ours, theirs] = Both({"SLOWLOG", "GET", "-1"});
    CHECK(Shown(ours) == Shown(theirs));
  }
}

TEST_CASE_METHOD(ScriptSeenBesideRedis,
                 "INFO counts the calls of scripts and their errors as Redis counts them") {
  Both({"FUNCTION", "LOAD", kSeenLibrary});
  Both({"SET", "text", "v"});
  for (const Words& request : std::vector<Words>{
           {"EVAL", "for i = 1, 5 do redis.call('INCR', 'n') end return 1", "0"},
           {"EVAL", "redis.call('GET', 'text') redis.call('GET', 'absent') return 1", "0"},
           {"EVAL", "return redis.pcall('HGET', 'text', 'f').err", "0"},
           {"EVAL", "redis.pcall('NOSUCH') redis.pcall('GET') return 1", "0"},
           {"EVAL", "redis.call('SET', 'gone', 'v', 'PX', 1) redis.call('DEL', 'text') return 1", "0"},
           {"FCALL", "reads", "1", "absent"},
           {"FCALL_RO", "looks", "1", "n"},
           {"FCALL", "writes", "1", "k"}}) {
    CAPTURE(request);
    const auto [ours_before, theirs_before] = Both({"INFO", "stats"});
    Both(request);
    const auto [ours, theirs] = Both({"INFO", "stats"});
    for (const char* field :
         {"total_commands_processed", "keyspace_hits", "keyspace_misses", "total_error_replies"}) {
      CAPTURE(field);
      CHECK(Number(ours, field) - Number(ours_before, field) ==
            Number(theirs, field) - Number(theirs_before, field));
    }
  }
}

TEST_CASE_METHOD(BesideRedis, "within a transaction scripts come and go, and answer, as in Redis") {
  const std::string sha = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";  // of "return 1"
  for (const int protocol : {2, 3}) {
    Compare({{"FLUSHALL"},
             {"SCRIPT", "FLUSH"},
             {"FUNCTION", "FLUSH"},
             {"SET", "text", "v"},
             {"MULTI"},
             {"EVALSHA", sha, "0"},
             {"SCRIPT", "LOAD", "return 1"},
             {"EVALSHA", sha, "0"},
             {"SCRIPT", "EXISTS", sha},
             {"SCRIPT", "FLUSH"},
             {"EVALSHA", sha, "0"},
             {"EVAL", "return redis.call('HGET', 'text', 'f')", "0"},
             {"EVAL", "error({err = 'MINE text'})", "0"},
             {"EVAL", "redis.setresp(3) return {double = 1.5}", "0"},
             {"EVAL", "return {true, false, {map = {a = 1}}, {err = 'MINE x'}}", "0"},
             {"EVAL", "return not Lua", "0"},
             {"EVAL", "redis.call('SELECT', 3) return redis.call('SET', 'there', 'v')", "0"},
             {"EXISTS", "there"},
             {"FUNCTION", "LOAD", kSeenLibrary},
             {"FCALL", "writes", "1", "k"},
             {"FCALL_RO", "looks", "1", "k"},
             {"FUNCTION", "DELETE", "seen"},
             {"FCALL", "writes", "1", "k"},
             {"EXEC"},
             {"MULTI"},
             {"EVAL", "return 1", "x"},
             {"EVAL", "return 1"},
             {"EXEC"},
             {"MULTI"},
             {"FCALL", "nosuch", "0"},
             {"SCRIPT", "NOSUCH"},
             {"EXEC"},
             {"SELECT", "3"},
             {"EXISTS", "there"},
             {"SELECT", "0"}},
            protocol);
  }
}

TEST_CASE_METHOD(ScriptRefusalTest, "a call that a script may not make is logged with the script's client") {
  SetUser("app", {"on", "nopass", "+@all", "~a*", "&c*", "-mget"});
  Run({"FUNCTION", "LOAD", kSeenLibrary});
  TestClient& client = As("app");
  client.Run({"CLIENT", "SETNAME", "worker"});
  for (const auto& [call, command] : std::vector<std::pair<Words, std::string>>{
           {{"EVAL", "return redis.call('GET', 'k')", "0"}, "eval"},
           {{"EVAL_RO", "return redis.pcall('MGET', 'a')", "0"}, "eval_ro"},
           {{"EVAL", "return redis.call('PUBLISH', 'x', 'm')", "0"}, "eval"}}) {
    CAPTURE(call);
    Run({"ACL", "LOG", "RESET"});
    CHECK(client.Run(call).kind == Reply::Kind::kError);
    CHECK(LastRefusal("context") == "lua");
    const std::string who = LastRefusal("client-info");
    CHECK(who.find(" name=worker ") != std::string::npos);
    CHECK(who.find(" user=app ") != std::string::npos);
    CHECK(who.find(" cmd=" + command + " ") != std::string::npos);
  }
}

TEST_CASE_METHOD(ScriptRefusalTest,
                 "what a script only asks for (acl_check_cmd) is no refusal, and in no log") {
  SetUser("app", {"on", "nopass", "+@all", "~a*", "&c*", "-mget"});
  TestClient& client = As("app");
  for (const char* call : {"'GET', 'k'", "'MGET', 'a'", "'PUBLISH', 'x', 'm'"}) {
    CAPTURE(call);
    CHECK(client.Run({"EVAL", "return tostring(redis.acl_check_cmd(" + std::string(call) + "))", "0"}) ==
          Bulk("false"));
  }
  CHECK(Run({"ACL", "LOG"}) == Array({}));
  for (const char* count : {"acl_access_denied_cmd", "acl_access_denied_key", "acl_access_denied_channel"})
    CHECK(Run({"INFO", "stats"}).text.find(std::string(count) + ":0\r") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest,
                 "a client tracks what its functions read, and is told when a function writes it") {
  Run({"FUNCTION", "LOAD", kSeenLibrary});
  UseResp3();
  CHECK(Run({"CLIENT", "TRACKING", "ON"}) == Ok());
  Run({"FCALL", "reads", "1", "a"});
  Run({"FCALL_RO", "looks", "1", "b"});
  RunRaw("MULTI\r\nFCALL reads 1 c\r\nEXEC\r\n");
  Run({"FCALL", "writes", "1", "not read"});
  TestClient& other = Connect();
  for (const char* key : {"a", "b", "c", "d", "not read"}) other.Run({"FCALL", "writes", "1", key});
  const auto told = [](const char* key) { return Push({Bulk("invalidate"), Bulks({key})}); };
  CHECK(client().Received() == std::vector<Reply>{told("a"), told("b"), told("c")});
}

}  // namespace mayfly::testing
