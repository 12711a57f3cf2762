// Known faults of Redis and Valkey from 2024 to 2026, by their numbers (R#: a pull request of redis/redis). Each test sends
// what has ended or fooled one of them, and what is of the same kind. Faults of one part have their tests beside the part's
// others, with the number in the name or in a comment: Lua in lua_faults_test.cc, keys that permissions look at in
// acl_keys_test.cc, connections in net/known_faults_test.cc, files in snapshot_foreign_test.cc.
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "differential/row_syntax.h"
#include "exec/call/command_keys.h"
#include "snapshot/format/dump_footer.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class KnownFaultsTest : public SnapshotTest {
 public:
  Reply SetUser(const Words& rules) {
    Words words = {"ACL", "SETUSER", "app"};
    words.insert(words.end(), rules.begin(), rules.end());
    return Run(words);
  }
  TestClient& AsUser() {
    TestClient& user = Connect();
    REQUIRE(user.Run({"AUTH", "app", "any"}) == Ok());
    return user;
  }
  // The value of a key as DUMP writes it, without version and checksum.
  std::string ValueOf(const std::string& key) {
    const std::string payload = Run({"DUMP", key}).text;
    version_ = rdb::CheckDumpFooter(payload).value().version;
    return payload.substr(0, payload.size() - kFooterBytes);
  }
  Reply Restore(const std::string& key, std::string value) {
    rdb::AppendDumpFooter(value, static_cast<uint16_t>(version_));
    return Run({"RESTORE", key, "0", value, "REPLACE"});
  }
  // All rows that can be called.
  std::vector<RowSyntax> Rows() {
    std::vector<RowSyntax> rows;
    const auto add = [&rows](const TableRow& row) {
      if (row.command->handler != nullptr) rows.push_back(ReadRow(row));
    };
    for (const TableRow* row : server().commands.rows()) {
      add(*row);
      for (const TableRow* sub : row->subcommands) add(*sub);
    }
    return rows;
  }

 private:
  static constexpr size_t kFooterBytes = 10;

  unsigned version_ = 9;
};

const Reply kKeyDenied =
    Error("NOPERM this user has no permissions to access one of the keys used as arguments");
const Reply kPayloadRefused = Error("ERR Bad data format");

// Ends, holds up or silences the server or its clients.
bool HoldsUpOthers(std::string_view row) {
  constexpr std::string_view kRough[] = {"shutdown",     "pfselftest",   "replicaof",  "slaveof", "failover",
                                         "quit",         "monitor",      "psync",      "sync",    "reset",
                                         "client|pause", "client|reply", "client|kill"};
  return std::find(std::begin(kRough), std::end(kRough), row) != std::end(kRough) || row.starts_with("debug");
}

}  // namespace

// ---- permissions

TEST_CASE_METHOD(KnownFaultsTest,
                 "R#15673: EXEC checks the rules of its time, for each command that was queued") {
  struct Change {
    Words rules;
    Words queued;
    std::string denied;  // a part of the reply
  };
  const std::string key = "no permission to touch the specified keys";
  const std::string channel = "no permission to access one of the channels used as arguments";
  const std::string command = "no permission to execute the command or subcommand";
  const std::vector<Change> changes = {
      {{"resetkeys", "~other*"}, {"SET", "a1", "w"}, key},
      {{"resetkeys", "~other*"}, {"GET", "a1"}, key},
      {{"resetkeys", "%R~a*"}, {"SET", "a1", "w"}, key},
      {{"resetkeys", "%W~a*"}, {"GET", "a1"}, key},
      {{"resetkeys", "~a1"}, {"MSET", "a1", "w", "a2", "w"}, key},
      {{"resetkeys", "~a1"}, {"MSETEX", "2", "a1", "w", "a2", "w"}, key},
      {{"resetkeys", "~a1"}, {"SORT", "a1", "STORE", "a1", "STORE", "a2"}, key},
      {{"resetkeys", "~a1"}, {"XREAD", "STREAMS", "a1", "a2", "0", "0"}, key},
      {{"resetkeys", "~a1"}, {"EVAL", "return 1", "2", "a1", "a2"}, key},
      {{"resetkeys", "~a1"},
       {"EVAL", "return redis.call('SET', 'a2', 'w')", "0"},
       "can't access at least one of the keys"},
      {{"resetchannels", "&d"}, {"PUBLISH", "c", "m"}, channel},
      {{"resetchannels", "&d"}, {"SPUBLISH", "c", "m"}, channel},
      {{"-set"}, {"SET", "a1", "w"}, command},
      {{"-@write"}, {"APPEND", "a1", "w"}, command},
      {{"-config|get"}, {"CONFIG", "GET", "port"}, command},
      {{"-@all", "(~other* +@all)"}, {"SET", "a1", "w"}, key},
      {{"off", "-@all"}, {"SET", "a1", "w"}, command},
  };
  for (const Change& change : changes) {
    CAPTURE(change.rules, change.queued);
    Run({"FLUSHALL"});
    Run({"SET", "a1", "v"});
    REQUIRE(SetUser({"reset", "on", "nopass", "+@all", "~a*", "&c"}) == Ok());
    TestClient& user = AsUser();
    CHECK(user.Run({"MULTI"}) == Ok());
    CHECK(user.Run({"PING"}) == Simple("QUEUED"));
    CHECK(user.Run(change.queued) == Simple("QUEUED"));
    Words rules = change.rules;
    rules.emplace_back("+ping");
    rules.emplace_back("+exec");
    REQUIRE(SetUser(rules) == Ok());
    const Reply replies = user.Run({"EXEC"});
    REQUIRE(replies.elements.size() == 2);
    CHECK(replies.elements[0] == Simple("PONG"));
    CHECK(replies.elements[1].kind == Reply::Kind::kError);
    CHECK(replies.elements[1].text.find(change.denied) != std::string::npos);
    CHECK(Run({"GET", "a1"}) == Bulk("v"));
    CHECK(Run({"DBSIZE"}) == Integer(1));
  }
  // A selector that has gone allows nothing more.
  REQUIRE(SetUser({"reset", "on", "nopass", "+@all", "(~b* +@all)"}) == Ok());
  TestClient& selected = AsUser();
  selected.Run({"MULTI"});
  CHECK(selected.Run({"SET", "b1", "w"}) == Simple("QUEUED"));
  REQUIRE(SetUser({"clearselectors"}) == Ok());
  CHECK(selected.Run({"EXEC"}).elements.at(0).text.ends_with(key));
  // And what was not allowed when it was queued is refused then, whatever is allowed later.
  REQUIRE(SetUser({"reset", "on", "nopass", "+@all", "~a*"}) == Ok());
  TestClient& user = AsUser();
  user.Run({"MULTI"});
  CHECK(user.Run({"SET", "b1", "w"}) == kKeyDenied);
  SetUser({"allkeys"});
  CHECK(user.Run({"EXEC"}) == Error("EXECABORT Transaction discarded because of previous errors."));
}

TEST_CASE_METHOD(KnownFaultsTest, "R#15478: a word that is a value is not taken for an option with keys") {
  Run({"SET", "may", "v"});
  Run({"RPUSH", "not", "1", "2"});
  Run({"GEOADD", "geo", "13", "38", "a"});
  for (const std::string key : {"stream", "secret"}) {
    Run({"XADD", key, "1-1", "f", "v"});
    for (const std::string group : {"g", "STREAMS", "GROUP"}) Run({"XGROUP", "CREATE", key, group, "0"});
  }
  REQUIRE(SetUser({"on", "nopass", "+@all", "~may", "~geo", "~stream", "~STREAMS", "~STORE", "~GROUP",
                   "~COUNT", "~NOACK", "~KEYS", "~g", "~c", "~1"}) == Ok());
  TestClient& user = AsUser();
  const std::vector<Words> calls = {
      {"XREADGROUP", "NOACK", "GROUP", "g", "STREAMS", "STREAMS", "secret", ">"},
      {"XREADGROUP", "COUNT", "1", "GROUP", "g", "STREAMS", "STREAMS", "secret", ">"},
      {"XREADGROUP", "COUNT", "1", "GROUP", "STREAMS", "c", "STREAMS", "secret", ">"},
      {"XREADGROUP", "COUNT", "1", "GROUP", "STREAMS", "STREAMS", "STREAMS", "secret", ">"},
      {"XREADGROUP", "GROUP", "STREAMS", "c", "STREAMS", "secret", ">"},
      {"XREADGROUP", "GROUP", "g", "STREAMS", "STREAMS", "secret", ">"},
      {"XREADGROUP", "GROUP", "g", "STREAMS", "NOACK", "STREAMS", "secret", ">"},
      {"XREADGROUP", "GROUP", "g", "c", "GROUP", "g", "STREAMS", "STREAMS", "secret", ">"},
      {"XREADGROUP", "NOACK", "GROUP", "g", "streams", "STREAMS", "stream", "secret", ">", ">"},
      {"XREADGROUP", "GROUP", "g", "c", "CLAIM", "1", "GROUP", "STREAMS", "GROUP", "STREAMS", "secret", ">"},
      {"XREAD", "COUNT", "1", "STREAMS", "secret", "0"},
      {"XREAD", "STREAMS", "STREAMS", "secret", "0", "0"},
      {"SORT", "geo", "STORE", "may", "STORE", "not"},
      {"SORT", "geo", "STORE", "STORE", "STORE", "not"},
      {"SORT", "geo", "STORE", "BY", "STORE", "not"},
      {"SORT", "geo", "STORE", "GET", "STORE", "not"},
      {"SORT", "geo", "STORE", "LIMIT", "STORE", "not"},
      {"SORT", "geo", "BY", "STORE", "STORE", "not"},
      {"SORT", "geo", "GET", "STORE", "STORE", "not"},
      {"SORT", "geo", "LIMIT", "0", "STORE", "STORE", "not"},
      {"GEORADIUS", "geo", "15", "37", "200", "km", "STORE", "may", "STORE", "not"},
      {"GEORADIUS", "geo", "15", "37", "200", "km", "STORE", "may", "STOREDIST", "not"},
      {"GEORADIUS", "geo", "15", "37", "200", "km", "STORE", "STORE", "STORE", "not"},
      {"GEORADIUS", "absent", "15", "37", "200", "km", "STORE", "may", "STORE", "not"},
      {"GEORADIUSBYMEMBER", "geo", "a", "200", "km", "STOREDIST", "may", "STORE", "not"},
      {"GEORADIUSBYMEMBER", "geo", "STORE", "200", "km", "STORE", "not"},
      {"MIGRATE", "h", "1", "", "0", "1", "AUTH", "KEYS", "KEYS", "not"},
      {"MIGRATE", "h", "1", "", "0", "1", "AUTH2", "KEYS", "KEYS", "KEYS", "not"},
      {"MIGRATE", "h", "1", "", "0", "1", "KEYS", "KEYS", "not"},
  };
  TakeChanges();
  for (const Words& call : calls) {
    CAPTURE(call);
    const Reply reply = user.Run(call);
    CHECK(reply.kind == Reply::Kind::kError);
    if (!reply.text.starts_with("ERR")) CHECK(reply == kKeyDenied);
    CHECK(TakeChanges() == Words{});
  }
  CHECK(
      user.Run({"XREADGROUP", "NOACK", "GROUP", "g", "STREAMS", "STREAMS", "stream", ">"}).elements.size() ==
      1);
}

TEST_CASE_METHOD(KnownFaultsTest,
                 "R#14847: a number of keys is not believed when permissions are looked at") {
  REQUIRE(SetUser({"on", "nopass", "+@all", "~may"}) == Ok());
  for (const std::string numkeys :
       {"", "x", "-1", "0", "1", "2", "3", "2147483647", "4294967295", "4294967297", "9223372036854775807",
        "-9223372036854775808", "99999999999999999999"}) {
    for (const std::string command :
         {"EVAL", "EVALSHA", "EVAL_RO", "FCALL", "FCALL_RO", "ZUNION", "ZUNIONSTORE", "SINTERCARD", "LMPOP",
          "ZMPOP", "BLMPOP", "BZMPOP", "MSETEX", "ZINTERCARD", "ZDIFF"}) {
      for (size_t words = 1; words <= 5; ++words) {
        Words call = {command, numkeys, numkeys, "may", "not"};
        call.resize(words);
        CAPTURE(call);
        Words dry = {"ACL", "DRYRUN", "app"};
        dry.insert(dry.end(), call.begin(), call.end());
        CHECK(Run(dry).kind != Reply::Kind::kNone);
        Words keys = {"COMMAND", "GETKEYS"};
        keys.insert(keys.end(), call.begin(), call.end());
        CHECK(Run(keys).kind != Reply::Kind::kNone);
        Words script = {"EVAL", "return redis.acl_check_cmd(unpack(ARGV))", "0"};
        script.insert(script.end(), call.begin(), call.end());
        CHECK(Run(script).kind != Reply::Kind::kNone);
      }
    }
  }
}

TEST_CASE_METHOD(KnownFaultsTest,
                 "CVE-2024-51741: a malformed selector is an error, and the user stays as it was") {
  REQUIRE(SetUser({"on", "nopass", "~a", "+get", "(~b +set)"}) == Ok());
  const Reply before = Run({"ACL", "GETUSER", "app"});
  const std::vector<Words> malformed = {
      {"("},
      {")"},
      {"(~x"},
      {"((~x))"},
      {"(~x", "(~y)"},
      {"(%)"},
      {"(%~)"},
      {"(%~x)"},
      {"(%Q~x)"},
      {"(%R~"},
      {"%"},
      {"%~x"},
      {"(+)"},
      {"(-)"},
      {"(+@)"},
      {"(+@nosuch)"},
      {"(+nosuch)"},
      {"(on)"},
      {"(>pass)"},
      {"(nopass)"},
      {"(reset)"},
      {"(+get|)"},
      {"(|)"},
      {"(+|get)"},
      {"(sanitize-payload)"},
      {"(+config|get|x)"},
      {"(~x", "+set", "%R~y", "+get"},
      {std::string("(%\0~x)", 6)},
      {"(%R~x", "%)"},
  };
  for (const Words& rules : malformed) {
    CAPTURE(rules);
    CHECK(SetUser(rules).kind == Reply::Kind::kError);
    CHECK(Run({"ACL", "GETUSER", "app"}) == before);
  }
}

// ---- what goes into the protocol and into files

TEST_CASE_METHOD(KnownFaultsTest,
                 "CVE-2025-67733: no argument of any command puts a reply of its own into the output") {
  const std::string evil = "x\r\n+INJECTED\r\n$3\r\nabc\r\n";
  constexpr size_t kMostArguments = 6;
  for (const RowSyntax& row : Rows()) {
    if (HoldsUpOthers(row.row->full_name)) continue;
    for (size_t arguments = 0; arguments <= kMostArguments; ++arguments) {
      TestClient client(server());
      Words call = row.Name();
      for (size_t i = 0; i < arguments; ++i) call.push_back(evil);
      CAPTURE(row.row->full_name, arguments);
      const std::vector<Reply> replies = TakeReplies(client.RunRaw(EncodeRequest(call)));
      CHECK(std::count(replies.begin(), replies.end(), Simple("INJECTED")) == 0);
      if (row.row->full_name.find("subscribe") == std::string::npos) CHECK(replies.size() <= 1);
    }
    for (const std::string& token : row.tokens) {  // and where an option's value is expected
      TestClient client(server());
      Words call = row.Name();
      for (const std::string& word : {evil, evil, token, evil, evil}) call.push_back(word);
      CAPTURE(row.row->full_name, token);
      const std::vector<Reply> replies = TakeReplies(client.RunRaw(EncodeRequest(call)));
      CHECK(std::count(replies.begin(), replies.end(), Simple("INJECTED")) == 0);
    }
  }
  CHECK(TakeReplies(RunRaw(EncodeRequest({evil, evil}))).size() == 1);  // a command that nobody knows
  CHECK(TakeReplies(RunRaw(EncodeRequest({"CONFIG", evil, evil}))).size() == 1);
}

TEST_CASE_METHOD(KnownFaultsTest,
                 "CVE-2025-67733: nothing that a script answers puts a reply of its own into the output") {
  const std::string evil = R"('x\r\n+INJECTED\r\n$3\r\nabc\r\n')";
  const std::vector<std::string> scripts = {
      "return redis.error_reply(" + evil + ")",
      "return redis.status_reply(" + evil + ")",
      "return {err = " + evil + "}",
      "return {ok = " + evil + "}",
      "return {{err = " + evil + "}, {ok = " + evil + "}, " + evil + "}",
      "error(" + evil + ")",
      "error({err = " + evil + "})",
      "error({err = 'E', extra = " + evil + "})",
      "return redis.pcall(" + evil + ")",
      "return redis.call(" + evil + ")",
      "return redis.call('GET', " + evil + ", 'x')",
      "return redis.pcall('CONFIG', " + evil + ")",
      "local e = redis.pcall('GET') e.err = " + evil + " return e",
      "return {double = " + evil + "}",
      "return {map = {[{ok = " + evil + "}] = 1}}",
      "return {verbatim_string = {format = " + evil + ", string = 'x'}}",
      "return {verbatim_string = {format = 'txt', string = " + evil + "}}",
      "return {big_number = " + evil + "}",
      "redis.setresp(3) return {set = {[" + evil + "] = true}}",
      "return loadstring(" + evil + ")",
      "return nosuch[" + evil + "]",
      "#!lua flags=a\\r\\n+INJECTED\\r\\n\nreturn 1",
      "#!lua name=a\r\n+INJECTED\r\n",
      "#!x\\r\\n+INJECTED\\r\\n\nreturn 1",
      "#!lua flags=\"a\\r\\n+INJECTED\\r\\n\"\nreturn 1",
  };
  for (const bool newer : {false, true}) {
    newer ? UseResp3() : UseResp2();
    for (const std::string& script : scripts) {
      CAPTURE(newer, script);
      for (const Words& call :
           {Words{"EVAL", script, "0"}, Words{"SCRIPT", "LOAD", script}, Words{"FUNCTION", "LOAD", script},
            Words{"FUNCTION", "LOAD", "#!lua name=a\n" + script}}) {
        const std::vector<Reply> replies = TakeReplies(RunRaw(EncodeRequest(call)));
        REQUIRE(replies.size() == 1);
        CHECK_FALSE(replies[0] == Simple("INJECTED"));
      }
    }
  }
}

TEST_CASE_METHOD(KnownFaultsTest, "R#14970: a user's name that would be two lines or two words is refused") {
  for (const std::string& name :
       {std::string("a\nuser b on nopass ~* +@all"), std::string("a\r"), std::string("a b"),
        std::string("a\0b", 3), std::string("a\tb"), std::string("\n")}) {
    CHECK(Run({"ACL", "SETUSER", name, "on"}).kind == Reply::Kind::kError);
  }
  CHECK(Run({"ACL", "USERS"}) == Bulks({"default"}));
  for (const std::string& rule :
       {std::string("~x\nuser b on nopass"), std::string("&x\nb"), std::string("~x\ry")})
    CHECK(Run({"ACL", "SETUSER", "a", rule}).kind == Reply::Kind::kError);
  CHECK(Run({"ACL", "USERS"}) == Bulks({"default"}));
}

// ---- requests

TEST_CASE("CVE-2026-27623: requests without a word leave nothing behind, wherever the bytes are split") {
  const std::string empties[] = {"*0\r\n", "*-1\r\n", "\r\n", "\n", "   \r\n", "*-5\r\n"};
  const std::string pings[] = {"PING\r\n", "*1\r\n$4\r\nPING\r\n"};
  for (const std::string& one : empties) {
    for (const std::string& two : empties) {
      for (const std::string& ping : pings) {
        for (const std::string& last : pings) {
          const std::string bytes = one + two + ping + two + last;
          KnownFaultsTest whole;
          const std::string expected = whole.RunRaw(bytes);
          CAPTURE(bytes);
          CHECK(expected == "+PONG\r\n+PONG\r\n");
          KnownFaultsTest single;
          std::string got;
          for (const char c : bytes) got += single.RunRaw(std::string(1, c));
          CHECK(got == expected);
        }
      }
    }
  }
}

TEST_CASE_METHOD(KnownFaultsTest, "CVE-2025-62507: any number of IDs may be named in one call") {
  constexpr int kIds = 20'000;
  Words ids;
  for (int i = 1; i <= kIds; ++i) ids.push_back(std::to_string(i) + "-1");
  const auto call = [&](Words words, const Words& more = {}) {
    words.insert(words.end(), ids.begin(), ids.end());
    words.insert(words.end(), more.begin(), more.end());
    return Run(words);
  };
  const std::string count = std::to_string(kIds);
  for (const std::string key : {"s", "t", "u"}) {
    Run({"XADD", key, "1-1", "f", "v"});
    Run({"XADD", key, "20000-1", "f", "v"});
    Run({"XGROUP", "CREATE", key, "g", "0"});
    Run({"XREADGROUP", "GROUP", "g", "c", "STREAMS", key, ">"});
  }
  CHECK(call({"XCLAIM", "s", "g", "d", "0"}).elements.size() == 2);
  const Reply both = call({"XACKDEL", "s", "g", "KEEPREF", "IDS", count});
  REQUIRE(both.elements.size() == kIds);
  CHECK(both.elements[0] == Integer(1));
  CHECK(both.elements[1] == Integer(-1));
  CHECK(call({"XDELEX", "t", "DELREF", "IDS", count}).elements.size() == kIds);
  CHECK(call({"XACK", "u", "g"}) == Integer(2));
  CHECK(call({"XDEL", "u"}) == Integer(2));
  CHECK(call({"XACKDEL", "s", "g", "IDS", "20001"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(KnownFaultsTest,
                 "R#15021, R#14982: a count of any size is an error or is obeyed, for every command") {
  Run({"HSET", "hash:a", "f", "v"});
  Run({"SADD", "set:a", "m", "n"});
  Run({"ZADD", "zset:a", "1", "m"});
  Run({"RPUSH", "a", "1", "2"});
  Run({"SET", "key:1", "v"});
  Run({"XADD", "stream:a", "1-1", "f", "v"});
  const auto key_of = [](const RowSyntax& row) -> std::string {
    const std::string_view group = row.row->group;
    return group == "hash"         ? "hash:a"
           : group == "set"        ? "set:a"
           : group == "sorted-set" ? "zset:a"
           : group == "stream"     ? "stream:a"
           : group == "list"       ? "a"
                                   : "key:1";
  };
  size_t sent = 0;
  const auto send = [&](const RowSyntax& row, const Words& arguments) {
    TestClient client(server());
    Words call = row.Name();
    call.insert(call.end(), arguments.begin(), arguments.end());
    CAPTURE(call);
    client.RunRaw(EncodeRequest(call));
    ++sent;
  };
  for (const RowSyntax& row : Rows()) {
    if (HoldsUpOthers(row.row->full_name)) continue;
    const std::string key = key_of(row);
    for (const std::string count : {"9223372036854775807", "4611686018427387904", "2147483648", "4294967297",
                                    "-1", "-9223372036854775808", "18446744073709551615"}) {
      send(row, {key, count});
      send(row, {key, count, count});
      for (const std::string& token : row.tokens) {
        send(row, {key, "10", token, count, "f"});
        send(row, {key, token, count, "f"});
        send(row, {"0", token, count});
      }
    }
  }
  CHECK(sent > 10'000);
  CHECK(Run({"PING"}) == Simple("PONG"));
  CHECK(Run({"HEXPIRE", "hash:a", "10", "FIELDS", "9223372036854775807", "f"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(KnownFaultsTest,
                 "HGETEX and its like without a number of fields, or without fields, are errors") {
  Run({"HSET", "h", "f", "v"});
  for (const Words& call : std::vector<Words>{{"HGETEX", "h", "FIELDS"},
                                              {"HGETEX", "h", "FIELDS", "1"},
                                              {"HGETEX", "h", "EX", "10", "FIELDS"},
                                              {"HGETEX", "h", "PERSIST", "FIELDS"},
                                              {"HGETEX", "h", "EX"},
                                              {"HGETDEL", "h", "FIELDS"},
                                              {"HGETDEL", "h", "FIELDS", "1"},
                                              {"HSETEX", "h", "FIELDS"},
                                              {"HSETEX", "h", "FIELDS", "1"},
                                              {"HSETEX", "h", "FIELDS", "1", "f"},
                                              {"HSETEX", "h", "EX", "10", "FIELDS"},
                                              {"HEXPIRE", "h", "10", "FIELDS"},
                                              {"HEXPIRE", "h", "10", "FIELDS", "1"},
                                              {"HPERSIST", "h", "FIELDS"},
                                              {"HPTTL", "h", "FIELDS"},
                                              {"HPTTL", "h", "FIELDS", "1"}}) {
    CAPTURE(call);
    CHECK(Run(call).kind == Reply::Kind::kError);
  }
  CHECK(Run({"HGETALL", "h"}) == Bulks({"f", "v"}));
}

// ---- payloads

TEST_CASE_METHOD(
    KnownFaultsTest,
    "CVE-2026-63639, R#15095: a pending entry of two consumers, twice one's, or nobody's is refused") {
  Run({"XADD", "s", "1-0", "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XREADGROUP", "GROUP", "g", "owner", "STREAMS", "s", ">"});
  std::string id(16, '\0');
  id[7] = 1;
  const std::string one = ValueOf("s");
  REQUIRE(one.ends_with("\x01" + id));
  const std::string head = one.substr(0, one.size() - id.size() - 1);
  CHECK(Restore("t", one) == Ok());
  CHECK(Restore("t", head + "\x02" + id + id) == kPayloadRefused);
  CHECK(Restore("t", head + std::string(1, '\0')) == kPayloadRefused);

  Run({"XGROUP", "CREATECONSUMER", "s", "g", "zz"});
  const std::string two = ValueOf("s");
  REQUIRE(two.ends_with('\0'));
  CHECK(Restore("t", two) == Ok());
  CHECK(Restore("t", two.substr(0, two.size() - 1) + "\x01" + id) == kPayloadRefused);
  CHECK(Run({"XACK", "t", "g", "1-0"}) == Integer(1));
  CHECK(Run({"XGROUP", "DELCONSUMER", "t", "g", "owner"}) == Integer(0));
  CHECK(Run({"XGROUP", "DELCONSUMER", "t", "g", "zz"}) == Integer(0));
}

TEST_CASE_METHOD(KnownFaultsTest,
                 "R#15124: a stream whose length is not its entries' is refused, or has its true length") {
  for (int i = 1; i <= 3; ++i) Run({"XADD", "s", std::to_string(i) + "-0", "f", "v"});
  Run({"XDEL", "s", "2-0"});
  const std::string value = ValueOf("s");
  size_t restored = 0;
  for (size_t at = 1; at < value.size(); ++at) {
    for (const char byte : {'\0', '\x01', '\x03', '\x3f', '\x7f', '\xff'}) {
      std::string changed = value;
      changed[at] = byte;
      if (Restore("t", changed) != Ok()) continue;
      ++restored;
      CAPTURE(at, int{byte});
      const Reply entries = Run({"XRANGE", "t", "-", "+"});
      CHECK(Run({"XLEN", "t"}) == Integer(static_cast<int64_t>(entries.elements.size())));
      Run({"XSETID", "t", "9-0"});
      Run({"XADD", "t", "*", "f", "v"});
      Run({"XGROUP", "CREATE", "t", "g", "0"});
      Run({"XREADGROUP", "GROUP", "g", "c", "STREAMS", "t", ">"});
      Run({"XTRIM", "t", "MAXLEN", "1"});
      Run({"DEL", "t"});
    }
  }
  CHECK(restored > 0);
}

TEST_CASE_METHOD(KnownFaultsTest,
                 "CVE-2026-25243: the lengths of an old packed hash are followed as they are written") {
  const auto hash = [](const std::string& zipmap) {
    return std::string("\x09") + static_cast<char>(zipmap.size()) + zipmap;
  };
  // A short length in the long form is one that Redis's reader took for another size.
  const std::string long_form(
      "\x01\xfe\x01\x00\x00\x00"
      "f\xfe\x01\x00\x00\x00\x00v\xff",
      15);
  const Reply taken = Restore("h", hash(long_form));
  if (taken == Ok()) CHECK(Run({"HGETALL", "h"}) == Bulks({"f", "v"}));
  if (taken != Ok()) CHECK(taken == kPayloadRefused);
  for (size_t size = 0; size < long_form.size(); ++size)
    CHECK(Restore("h", hash(long_form.substr(0, size))) == kPayloadRefused);
  for (size_t at = 0; at < long_form.size(); ++at) {
    for (const char byte : {'\x02', '\x7f', '\xfd', '\xfe', '\xff'}) {
      std::string changed = long_form;
      changed[at] = byte;
      if (Restore("h", hash(changed)) == Ok()) CHECK(Run({"HLEN", "h"}).integer > 0);
    }
  }
}

// CVE-2026-25588, CVE-2026-25589, CVE-2026-62356: values of modules, such as sketches and time series.
TEST_CASE_METHOD(KnownFaultsTest,
                 "CVE-2026-25588: a payload of a module's value is refused, whatever it says") {
  for (const char type : {'\x06', '\x07'}) {
    for (const std::string& rest :
         {std::string(), std::string("\x00", 1), std::string(9, '\xff'), std::string(100, '\x02')})
      CHECK(Restore("k", std::string(1, type) + rest) == kPayloadRefused);
  }
}

// ---- clients

TEST_CASE_METHOD(KnownFaultsTest,
                 "R#15094: a client with shard channels is killed within another one's EXEC or script") {
  TestClient& subscriber = Connect();
  subscriber.Run({"SSUBSCRIBE", "channel0"});
  const std::string id = std::to_string(subscriber.session().id);
  CHECK(Run({"PUBSUB", "SHARDNUMSUB", "channel0"}) == Array({Bulk("channel0"), Integer(1)}));
  Run({"MULTI"});
  Run({"SET", "k", "v"});
  Run({"CLIENT", "KILL", "ID", id});
  Run({"SPUBLISH", "channel0", "m"});
  CHECK(Run({"EXEC"}).elements.size() == 3);
  CHECK(subscriber.session().closes());
}

}  // namespace mayfly::testing
