// ACL beside a real redis-server: the rules it takes and refuses, what it says of users, what it refuses to them,
// and which commands are in which category.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/beside_redis.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

const std::string kHash = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881";

// Redis tells of single commands in a random order, so no list leads to two of them; and it knows none of Mayfly's
// own commands, so no list has only a part of a category that has some.
const std::vector<Words> kRuleLists = {
    {},
    {"on"},
    {"on", "nopass"},
    {"ON", "off", ">secret"},
    {">a", ">b", ">a"},
    {">a", "<a"},
    {">a", "<b"},
    {"#" + kHash},
    {"#" + kHash, "!" + kHash},
    {"!" + kHash},
    {"#abc"},
    {"!ABC"},
    {"#" + kHash.substr(1) + "A"},
    {">x", "nopass"},
    {"nopass", ">x"},
    {">x", "resetpass"},
    {"sanitize-payload"},
    {"skip-sanitize-payload"},
    {"skip-sanitize-payload", "reset"},
    {"~*", "&*", "+@all"},
    {"allkeys", "allchannels", "allcommands"},
    {"ALLKEYS", "resetkeys", "ALLCHANNELS", "ResetChannels", "+@ALL", "NOCOMMANDS"},
    {"~a", "~b*", "~a"},
    {"%R~a", "%W~b", "%RW~c", "%wr~d"},
    {"%R~a", "%W~a"},
    {"%R~*"},
    {"%R"},
    {"%~a"},
    {"%RR~a"},
    {"%x~a"},
    {"%R~*", "~x"},
    {"~*", "~x"},
    {"&*", "&x"},
    {"~a b"},
    {"&a\tb"},
    {std::string("~a\0b", 4)},
    {"~"},
    {"&"},
    {"&a", "&b*", "&a"},
    {"+get"},
    {"+GET", "+Set", "-gEt"},
    {"+@read"},
    {"+@Write"},
    {"+@all", "-@dangerous"},
    {"+@all", "-@write", "-@admin"},
    {"+@string", "+@hash"},
    {"+@transaction", "+publish"},
    {"+@all", "-get"},
    {"+@all", "-get", "+get"},
    {"+@all", "-@all"},
    {"+config", "-config|set"},
    {"+client|kill"},
    {"+CLIENT|Kill"},
    {"+config|get", "-config|get"},
    {"+config|nosuch"},
    {"-config|nosuch"},
    {"+config|get|x"},
    {"+config|"},
    {"+select|1"},
    {"+select|1", "+select|2", "+SELECT|1"},
    {"+select|1", "+select"},
    {"+select", "+select|1"},
    {"+select|"},
    {"-select|1"},
    {"+get|a|b"},
    {"+nosuch"},
    {"-nosuch"},
    {"+nosuch|x"},
    {"+@nosuch"},
    {"-@nosuch"},
    {"+"},
    {"-"},
    {"+@"},
    {"nosuch"},
    {""},
    {")"},
    {"("},
    {"()"},
    {"(~a +get)"},
    {"(~a", "+get)"},
    {"(~a", "+get"},
    {"on", "(~a", "+get"},
    {"( &c  ~b   -@all +set )"},
    {"(+get)", "(+set)", "clearselectors"},
    {"(+get)", "(%R~x* +@read)"},
    {"(on)"},
    {"(>x)"},
    {"(+nosuch)"},
    {"((~a)"},
    {"( (~a) )"},
    {"(~* ~a)"},
    {"(\"~a\" +get)"},
    {"(\"~a +get)"},
    {"(~'a' '+get')"},
};

// With different uses of their keys and channels.
const std::vector<Words> kCalls = {{"GET", "r"},
                                   {"GET", "w"},
                                   {"GET", "b"},
                                   {"GET", "x"},
                                   {"SET", "r", "1"},
                                   {"SET", "w", "1"},
                                   {"SET", "w", "1", "GET"},
                                   {"SET", "b", "1", "GET"},
                                   {"APPEND", "w", "1"},
                                   {"EXISTS", "r", "w", "x"},
                                   {"EXISTS", "r", "w"},
                                   {"DEL", "w", "r"},
                                   {"DEL", "w"},
                                   {"COPY", "r", "w"},
                                   {"COPY", "w", "r"},
                                   {"RENAME", "b", "w"},
                                   {"RENAME", "w", "w"},
                                   {"RENAME", "r", "w"},
                                   {"MGET", "r", "b", "x"},
                                   {"MSET", "w", "1", "x", "2"},
                                   {"MSET", "w", "1", "b", "2"},
                                   {"GETDEL", "r"},
                                   {"GETDEL", "b"},
                                   {"SORT", "r"},
                                   {"SORT", "r", "STORE", "w"},
                                   {"SORT", "r", "STORE", "r"},
                                   {"ZUNIONSTORE", "w", "2", "r", "r1"},
                                   {"ZUNIONSTORE", "w", "2", "r", "x"},
                                   {"ZUNIONSTORE", "r", "1", "r"},
                                   {"SINTERSTORE", "w", "r", "w"},
                                   {"LMOVE", "b", "w", "LEFT", "LEFT"},
                                   {"LMOVE", "r", "w", "LEFT", "LEFT"},
                                   {"BITOP", "NOT", "w", "r"},
                                   {"EVAL", "x", "1", "b"},
                                   {"EVAL", "x", "1", "r"},
                                   {"EVAL", "x", "0"},
                                   {"EVAL_RO", "x", "1", "r"},
                                   {"XREAD", "STREAMS", "r", "0"},
                                   {"XREAD", "COUNT", "1", "STREAMS", "r", "x", "0", "0"},
                                   {"GEORADIUS", "r", "1", "2", "3", "m", "STORE", "w"},
                                   {"GEORADIUS", "r", "1", "2", "3", "m", "STORE", "x"},
                                   {"BITFIELD", "r", "GET", "u8", "0"},
                                   {"BITFIELD", "r", "SET", "u8", "0", "1"},
                                   {"TOUCH", "w"},
                                   {"EXPIRE", "r", "1"},
                                   {"TTL", "w"},
                                   {"TYPE", "x"},
                                   {"OBJECT", "ENCODING", "x"},
                                   {"OBJECT", "ENCODING", "w"},
                                   {"PFCOUNT", "r", "b"},
                                   {"PFMERGE", "w", "r"},
                                   {"LMPOP", "2", "b", "x", "LEFT"},
                                   {"WATCH", "w"},
                                   {"PUBLISH", "c1", "x"},
                                   {"PUBLISH", "x", "c"},
                                   {"SPUBLISH", "d", "x"},
                                   {"SUBSCRIBE", "c1", "c2"},
                                   {"SUBSCRIBE", "c1", "x"},
                                   {"SUBSCRIBE", "d1"},
                                   {"PSUBSCRIBE", "c*"},
                                   {"PSUBSCRIBE", "c1"},
                                   {"SSUBSCRIBE", "c", "x"},
                                   {"UNSUBSCRIBE", "x"},
                                   {"PING"},
                                   {"KEYS", "*"},
                                   {"FLUSHALL"},
                                   {"SCAN", "0"},
                                   {"AUTH", "x"},
                                   {"QUIT"},
                                   {"CONFIG"},
                                   {"CONFIG", "NOSUCH"},
                                   {"GET"},
                                   {"NOSUCH"},
                                   {"get", "x"}};

class AclOracleTest : public BesideRedis {};

class RenamedBesideRedis : public BesideRedis {
 public:
  RenamedBesideRedis() : BesideRedis({"--rename-command", "get", "g"}) {
    REQUIRE(server().commands.Rename("get", "g") == std::nullopt);
  }
};

class CategoryTest : public CommandTest {
 public:
  using Names = std::set<std::string>;

  std::map<std::string, Names> Here(const std::vector<std::string>& categories) {
    std::map<std::string, Names> found;
    for (const std::string& name : categories) found[name] = NamesIn(Run({"ACL", "CAT", name}));
    return found;
  }
  std::map<std::string, Names> InRedis(const std::vector<std::string>& categories) {
    std::map<std::string, Names> found;
    for (const std::string& name : categories) found[name] = NamesIn(Ask({"ACL", "CAT", name}));
    return found;
  }
  Reply Ask(const Words& request) { return TakeReplies(oracle_.Ask(EncodeRequest(request), 1)[0]).at(0); }

  static Names NamesIn(const Reply& reply) {
    Names names;
    for (const Reply& element : reply.elements) names.insert(element.text);
    return names;
  }

 private:
  Oracle oracle_;
};

// What a log says but for times and clients.
Reply WithoutClients(Reply log) {
  constexpr size_t kAge = 11;
  constexpr size_t kClient = 13;
  for (Reply& entry : log.elements) {
    REQUIRE(entry.elements.size() >= kClient + 1);
    entry.elements.resize(kClient + 1);  // those that follow are of Redis 7.2
    entry.elements[kAge] = entry.elements[kClient] = Null();
  }
  return log;
}

}  // namespace

TEST_CASE_METHOD(AclOracleTest, "rules are taken, refused and described as by Redis") {
  for (const int protocol : {2, 3}) {
    for (const Words& rules : kRuleLists) {
      Words set = {"ACL", "SETUSER", "t"};
      set.insert(set.end(), rules.begin(), rules.end());
      Compare({{"ACL", "DELUSER", "t"},
               set,
               {"ACL", "LIST"},
               {"ACL", "GETUSER", "t"},
               {"ACL", "DRYRUN", "t", "GET", "a"},
               {"ACL", "DRYRUN", "t", "SET", "x1", "b"},
               {"ACL", "DRYRUN", "t", "CLIENT", "KILL", "a:1"},
               {"ACL", "DRYRUN", "t", "SELECT", "1"}},
              protocol);
    }
  }
}

TEST_CASE_METHOD(AclOracleTest,
                 "a dry run tells of the command, the key or the channel, by what a command does to its "
                 "keys") {  // long: one table
  const std::vector<Words> rules = {{"+@all", "%R~r*", "%W~w*", "~b*", "&c*"},
                                    {"+@all", "~b*", "(+get %R~r*)", "(+publish &c*)", "(+subscribe &d*)"},
                                    {"+@all", "~r*", "(+@all ~w* ~b*)", "(+@all &c*)"},
                                    {"+@all", "~w*", "(+@all ~r* ~b*)", "(+@all ~r ~w)"},
                                    {"+@all", "-@write", "~*", "(+@all ~w*)", "(+@all allchannels)"},
                                    {"+@read", "%R~*", "(+@write %W~w*)", "(+@pubsub &c* &d)"},
                                    {"+@all", "%W~*", "(+@all %R~r*)", "(+mget +exists ~b ~r)"}};
  for (const Words& list : rules) {
    Words set = {"ACL", "SETUSER", "t", "reset"};
    set.insert(set.end(), list.begin(), list.end());
    std::vector<Words> requests = {set};
    for (const Words& call : kCalls) {
      requests.push_back({"ACL", "DRYRUN", "t"});
      requests.back().insert(requests.back().end(), call.begin(), call.end());
    }
    Compare(requests, 2);
  }
}

TEST_CASE_METHOD(AclOracleTest, "what is refused to a user is refused in Redis's words and order") {
  const Words limited = {"ACL",   "SETUSER",     "t",     "reset", "on",  "nopass",
                         "+@all", "-@scripting", "+eval", "~a*",   "&c*", "-mget"};
  for (const int protocol : {2, 3}) {
    Compare({limited,
             {"AUTH", "t", "any"},
             {"ACL", "WHOAMI"},
             {"GET", "b"},
             {"GET"},
             {"NOSUCH"},
             {"CONFIG", "NOSUCH"},
             {"SET", "a1", "v"},
             {"MSET", "a", "1", "b", "2"},
             {"MGET", "a"},
             {"MGET"},
             {"PUBLISH", "x", "m"},
             {"SPUBLISH", "x", "m"},
             {"PUBLISH", "c", "m"},
             {"EVALSHA", "x", "0"},
             {"SORT", "a", "BY", "b*", "GET", "a*"},
             {"SORT", "a2", "BY", "nosort", "GET", "#"},
             {"SORT", "a2", "BY", "b"},
             {"SORT_RO", "a2", "GET", "#"},
             {"SORT", "b", "BY", "b*"},
             {"MULTI"},
             {"GET", "b"},
             {"GET", "a1"},
             {"EXEC"},
             {"MULTI"},
             {"SET", "a1", "w"},
             {"GET", "a1"},
             {"PUBLISH", "c", "m"},
             {"MGET", "a1"},
             {"EXEC"},
             {"MULTI"},
             {"SET", "a1", "x"},
             {"GET", "a1"},
             {"PUBLISH", "c", "m"},
             {"ACL", "SETUSER", "t", "resetkeys", "resetchannels", "-set"},
             {"SET", "a1", "x"},
             {"GET", "a1"},
             {"PUBLISH", "c", "m"},
             {"EXEC"},
             {"ACL", "SETUSER", "t", "~a*", "&c*", "+set"},
             {"MULTI"},
             {"ACL", "SETUSER", "t", "resetkeys", "resetchannels", "-set"},
             {"SET", "a1", "x"},
             {"GET", "a1"},
             {"PUBLISH", "c", "m"},
             {"EXEC"},
             {"AUTH", "t", "any", "more"},
             {"AUTH", "nobody", "x"},
             {"AUTH", "default", "x"},
             {"ACL", "WHOAMI"}},
            protocol);
  }
}

TEST_CASE_METHOD(AclOracleTest, "a script may do what its user may") {
  Compare({{"ACL", "SETUSER", "t", "reset", "on", "nopass", "+@all", "~a*", "&c*", "-mget"},
           {"AUTH", "t", "any"},
           {"EVAL", "return redis.call('get', 'a1')", "0"},
           {"EVAL", "return redis.call('get', 'b')", "0"},
           {"EVAL", "return redis.pcall('mget', 'a1')", "0"},
           {"EVAL", "return redis.pcall('publish', 'x', 'm')", "0"},
           {"EVAL", "return 1", "1", "b"},
           {"EVAL",
            "return {redis.acl_check_cmd('get','a'), redis.acl_check_cmd('get','b'), "
            "redis.acl_check_cmd('publish','c','m'), redis.acl_check_cmd('publish','x','m'), "
            "redis.acl_check_cmd('mget','a'), redis.acl_check_cmd('get')}",
            "0"},
           {"EVAL", "return redis.acl_check_cmd('nosuch')", "0"},
           {"AUTH", "default", "x"}},
          2);
}

TEST_CASE_METHOD(AclOracleTest, "a call with an allowed first argument runs until a later rule ends that") {
  std::vector<Words> requests = {
      {"ACL", "SETUSER", "t", "reset", "on", "nopass", "+auth", "+select|1", "+select|TWO", "+object|freq"},
      {"AUTH", "t", "any"}};
  const std::vector<Words> calls = {
      {"SELECT", "1"}, {"SELECT", "0"},         {"SELECT", "01"}, {"SELECT", "two"}, {"SELECT", "1", "2"},
      {"SELECT"},      {"OBJECT", "FREQ", "k"}, {"OBJECT"},       {"AUTH", "x"},     {"GET", "1"}};
  for (const Words& rules : std::vector<Words>{{},
                                               {"-select"},
                                               {"+select|1", "-@connection"},
                                               {"+select|1", "+@connection", "+select|0", "-select"},
                                               {"+select|0", "(+select|1)"},
                                               {"reset", "on", "nopass"}}) {
    Words set = {"ACL", "SETUSER", "t"};
    set.insert(set.end(), rules.begin(), rules.end());
    requests.push_back({"AUTH", "default", "x"});
    requests.push_back(set);
    requests.push_back({"AUTH", "t", "any"});
    requests.insert(requests.end(), calls.begin(), calls.end());
  }
  requests.push_back({"AUTH", "default", "x"});
  requests.push_back({"SELECT", "0"});
  for (const int protocol : {2, 3}) Compare(requests, protocol);
}

TEST_CASE_METHOD(AclOracleTest, "arguments of ACL are refused in Redis's words") {
  Compare({{"ACL"},
           {"ACL", "NOSUCH"},
           {"ACL", "SETUSER"},
           {"ACL", "GETUSER"},
           {"ACL", "GETUSER", "nobody"},
           {"ACL", "SETUSER", "a b", "on"},
           {"ACL", "SETUSER", ""},
           {"ACL", "USERS"},
           {"ACL", "LIST"},
           {"ACL", "DELUSER", "", "default"},
           {"ACL", "USERS"},
           {"ACL", "DELUSER", "", "nobody"},
           {"ACL", "USERS"},
           {"ACL", "GENPASS", "0"},
           {"ACL", "GENPASS", "4097"},
           {"ACL", "GENPASS", "x"},
           {"ACL", "GENPASS", "1", "2"},
           {"ACL", "LOAD"},
           {"ACL", "SAVE"},
           {"ACL", "CAT"},
           {"ACL", "CAT", "nosuch"},
           {"ACL", "CAT", "a", "b"},
           {"ACL", "LOG", "x"},
           {"ACL", "LOG", "1", "2"},
           {"ACL", "LOG", "-1"},
           {"ACL", "LOG", "RESET"},
           {"ACL", "DRYRUN", "nobody", "GET", "k"},
           {"ACL", "DRYRUN", "default"},
           {"ACL", "WHOAMI"},
           {"CONFIG", "SET", "acl-pubsub-default", "allchannels"},
           {"ACL", "SETUSER", "new"},
           {"ACL", "SETUSER", "new", "(+get)"},
           {"ACL", "LIST"},
           {"ACL", "SETUSER", "new", "reset"},
           {"ACL", "LIST"},
           {"CONFIG", "SET", "acl-pubsub-default", "x"},
           {"CONFIG", "SET", "acllog-max-len", "-1"},
           {"CONFIG", "SET", "aclfile", "x"},
           {"CONFIG", "GET", "acllog-max-len"},
           {"CONFIG", "GET", "acl-pubsub-default"},
           {"CONFIG", "GET", "aclfile"},
           {"CONFIG", "SET", "requirepass", "secret"},
           {"ACL", "GETUSER", "default"},
           {"AUTH", "wrong"},
           {"AUTH", "secret"},
           {"ACL", "SETUSER", "default", "nopass"},
           {"CONFIG", "GET", "requirepass"},
           {"AUTH", "secret"},
           {"CONFIG", "SET", "requirepass", ""},
           {"ACL", "LIST"}},
          2);
}

TEST_CASE_METHOD(CategoryTest, "a command is in the categories in which Redis has it") {
  std::vector<std::string> categories;
  for (const Reply& name : Run({"ACL", "CAT"}).elements) categories.push_back(name.text);
  CHECK(categories.size() == 21);
  const std::map<std::string, Names> here = Here(categories);
  const std::map<std::string, Names> redis = InRedis(categories);
  Names known;  // to Redis: each command is fast or slow
  known.insert(redis.at("fast").begin(), redis.at("fast").end());
  known.insert(redis.at("slow").begin(), redis.at("slow").end());
  Names ours = here.at("fast");
  ours.insert(here.at("slow").begin(), here.at("slow").end());
  size_t compared = 0;
  for (const std::string& category : categories) {
    for (const std::string& name : ours) {
      if (!known.contains(name) || name == "wait") continue;  // which is blocking since 7.2
      CAPTURE(category, name);
      CHECK(here.at(category).contains(name) == redis.at(category).contains(name));
      ++compared;
    }
  }
  CHECK(compared > 21 * 200);
}

TEST_CASE_METHOD(CategoryTest, "the log tells of the same refusals as Redis's") {
  const std::vector<Words> requests = {
      {"ACL", "SETUSER", "t", "reset", "on", "nopass", "+@all", "-mget", "~a*", "&c*"},
      {"AUTH", "nobody", "x"},
      {"HELLO", "2", "AUTH", "nobody", "x"},
      {"AUTH", "t", "any"},
      {"GET", "b"},
      {"MGET", "a"},
      {"SET", "b", "1"},
      {"PUBLISH", "x", "m"},
      {"MSET", "a", "1", "b", "2"},
      {"EVAL", "return redis.pcall('get', 'b')", "0"},
      {"MULTI"},
      {"GET", "b"},
      {"DISCARD"},
      {"GET", "c"}};
  for (const Words& request : requests) {
    Run(request);
    Ask(request);
  }
  CHECK(WithoutClients(Run({"ACL", "LOG"})) == WithoutClients(Ask({"ACL", "LOG"})));
  CHECK(WithoutClients(Run({"ACL", "LOG", "2"})) == WithoutClients(Ask({"ACL", "LOG", "2"})));
}

TEST_CASE_METHOD(AclOracleTest, "SORT may follow patterns if one selector allows both SORT and all keys") {
  for (const int protocol : {2, 3}) {
    Compare({{"ACL", "SETUSER", "t", "reset", "on", "nopass", "+sort", "+sort_ro", "~a*", "(+get ~*)",
              "(+sort %W~*)"},
             {"AUTH", "t", "any"},
             {"SORT", "a"},
             {"SORT", "a", "BY", "b*"},
             {"SORT", "a", "GET", "b*"},
             {"SORT_RO", "a", "BY", "b*"},
             {"AUTH", "default", "x"},
             {"ACL", "SETUSER", "t", "(+sort %R~*)"},
             {"AUTH", "t", "any"},
             {"SORT", "a", "BY", "b*"},
             {"SORT", "a", "GET", "b*"},
             {"SORT_RO", "a", "BY", "b*"},
             {"AUTH", "default", "x"}},
            protocol);
  }
}

TEST_CASE_METHOD(CategoryTest, "the log tells what a transaction was refused when it ran, as Redis's") {
  const std::vector<Words> requests = {
      {"ACL", "SETUSER", "t", "reset", "on", "nopass", "+@all", "~a*", "&c*"},
      {"AUTH", "t", "any"},
      {"MULTI"},
      {"EVAL", "return redis.pcall('get', 'b')", "0"},
      {"ACL", "SETUSER", "t", "resetkeys", "resetchannels", "-set"},
      {"SET", "a1", "x"},
      {"GET", "a1"},
      {"PUBLISH", "c", "m"},
      {"EXEC"}};
  for (const Words& request : requests) {
    const Reply here = Run(request);
    CHECK(here == Ask(request));
  }
  CHECK(WithoutClients(Run({"ACL", "LOG"})) == WithoutClients(Ask({"ACL", "LOG"})));
}

TEST_CASE_METHOD(RenamedBesideRedis, "rules name a renamed command as before, and calls by its new name") {
  for (const int protocol : {2, 3}) {
    Compare({{"ACL", "SETUSER", "t", "reset", "on", "nopass", "+@all", "-get", "-set", "~a*"},
             {"ACL", "SETUSER", "t", "+g"},
             {"ACL", "SETUSER", "t", "-g"},
             {"ACL", "DRYRUN", "t", "g", "a"},
             {"ACL", "DRYRUN", "t", "get", "a"},
             {"AUTH", "t", "any"},
             {"g", "a"},
             {"get", "a"},
             {"ACL", "SETUSER", "t", "+get"},
             {"ACL", "GETUSER", "t"},
             {"g", "a"},
             {"g", "b"},
             {"get", "a"},
             {"ACL", "DRYRUN", "t", "g", "a"},
             {"ACL", "DRYRUN", "t", "g", "b"},
             {"EVAL", "return redis.pcall('g', 'a')", "0"},
             {"AUTH", "default", "x"}},
            protocol);
  }
}

TEST_CASE_METHOD(CategoryTest, "the log tells of logins that fail within a transaction as Redis's does") {
  for (const Words& request : std::vector<Words>{{"MULTI"},
                                                 {"AUTH", "nobody", "x"},
                                                 {"HELLO", "2", "AUTH", "somebody", "x"},
                                                 {"EXEC"},
                                                 {"AUTH", "nobody", "x"}}) {
    Run(request);
    Ask(request);
  }
  CHECK(Run({"ACL", "LOG"}).elements.size() == 3);
  CHECK(WithoutClients(Run({"ACL", "LOG"})) == WithoutClients(Ask({"ACL", "LOG"})));
}

}  // namespace mayfly::testing
