// DUMP payloads of real redis-servers, in every encoding, and ours: each server restores what the other has dumped.
#include <iostream>
#include <map>
#include <set>

#include "base/text/numbers.h"
#include "differential/real_time.h"
#include "support/command_test.h"
#include "support/oracle.h"
#include "support/words.h"

namespace mayfly::testing {
namespace {

// A value is made at the key "k". `numbers` are requests with a member for each number: "%" is replaced.
struct Made {
  const char* about;
  std::vector<Words> requests;
};

std::string Long(char letter, size_t size = 100) { return std::string(size, letter); }

Words Numbered(Words request, int count, const std::vector<std::string>& patterns) {
  for (int i = 0; i < count; ++i) {
    for (std::string word : patterns) {
      const size_t at = word.find('%');
      if (at != std::string::npos) word.replace(at, 1, std::to_string(i));
      request.push_back(word);
    }
  }
  return request;
}

std::vector<Made> Values() {
  return {
      {"a text", {{"SET", "k", "text"}}},
      {"an empty text", {{"SET", "k", ""}}},
      {"a long text", {{"SET", "k", Long('x', 50'000)}}},
      {"a long text that cannot be compressed", {{"SET", "k", "0123456789abcdefghijklmnopqrstuvwxyz"}}},
      {"an integer of 8 bits", {{"SET", "k", "-100"}}},
      {"an integer of 16 bits", {{"SET", "k", "30000"}}},
      {"an integer of 32 bits", {{"SET", "k", "-2000000000"}}},
      {"an integer of 64 bits", {{"SET", "k", "9223372036854775807"}}},
      {"a text that was edited", {{"SET", "k", "12"}, {"APPEND", "k", "3"}}},
      {"a short list", {{"RPUSH", "k", "a", "", "1", "-70000", "9223372036854775807", Long('e')}}},
      {"a list of one element", {{"RPUSH", "k", ""}}},
      {"a list of many elements", {Numbered({"RPUSH", "k"}, 3000, {"%", "element%"})}},
      {"a list with large elements", {{"RPUSH", "k", "a", Long('b', 20'000), "c", Long('d', 70'000), "e"}}},
      {"a set of small integers", {{"SADD", "k", "1", "-2", "300"}}},
      {"a set of integers of 32 bits", {{"SADD", "k", "1", "70000"}}},
      {"a set of integers of 64 bits", {{"SADD", "k", "1", "-9223372036854775808"}}},
      {"a set of many integers", {Numbered({"SADD", "k"}, 1000, {"%"})}},
      {"a set of few texts", {{"SADD", "k", "a", "1", ""}}},
      {"a set with a long text", {{"SADD", "k", "a", "1", Long('m')}}},
      {"a set of many texts", {Numbered({"SADD", "k"}, 600, {"m%"})}},
      {"a small hash", {{"HSET", "k", "f", "v", "1", "-5", "", "", "g", "100000"}}},
      {"a hash with a long value", {{"HSET", "k", "f", Long('v'), "g", "1"}}},
      {"a hash of many fields", {Numbered({"HSET", "k"}, 1000, {"f%", "%"})}},
      {"a small sorted set",
       {{"ZADD", "k", "1", "a", "1", "b", "-2.5", "c", "inf", "d", "-inf", "7", "1e300", "f", "3", ""}}},
      {"a sorted set with fractions",
       {{"ZADD", "k", "0.1", "a", "3.3333333333333335", "b", "-1e-7", "c", "5e-324", "d"}}},
      {"a sorted set with a long member", {{"ZADD", "k", "0.1", Long('m'), "2", "b"}}},
      {"a sorted set of many members", {Numbered({"ZADD", "k"}, 1000, {"%", "m%"})}},
      {"a stream",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "17", "g", ""},
        {"XADD", "k", "9-0", "f", "w"}}},
      {"a stream with deleted entries",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "9-0", "f", "x"},
        {"XDEL", "k", "5-2"}}},
      {"a stream whose first and last entries are deleted",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "9-0", "f", "x"},
        {"XDEL", "k", "5-1", "9-0"}}},
      {"a stream without entries", {{"XADD", "k", "5-1", "f", "v"}, {"XDEL", "k", "5-1"}}},
      {"a stream of many entries",
       {{"EVAL",
         "for i = 1, 300 do redis.call('XADD', KEYS[1], i .. '-' .. 1000 - i, 'f', i, 'g', 'text') end", "1",
         "k"}}},
      {"a trimmed stream",
       {{"EVAL", "for i = 1, 300 do redis.call('XADD', KEYS[1], i .. '-1', 'f', i) end", "1", "k"},
        {"XTRIM", "k", "MAXLEN", "250"}}},
      {"a stream with groups",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XGROUP", "CREATE", "k", "g", "0"},
        {"XGROUP", "CREATE", "k", "h", "$"},
        {"XREADGROUP", "GROUP", "g", "one", "COUNT", "1", "STREAMS", "k", ">"},
        {"XREADGROUP", "GROUP", "g", "two", "STREAMS", "k", ">"},
        {"XGROUP", "CREATECONSUMER", "k", "h", "three"}}},
  };
}

std::vector<Made> ValuesWithFieldDeadlines(int64_t now_ms) {
  const std::string soon = std::to_string(now_ms + 1'000'000);
  const std::string late = std::to_string(now_ms + 9'000'000'000);
  return {
      {"a small hash with a deadline",
       {{"HSET", "k", "f", "v", "g", "2", "h", ""}, {"HPEXPIREAT", "k", late, "FIELDS", "1", "g"}}},
      {"a small hash with several deadlines",
       {{"HSET", "k", "f", "v", "g", "2", "h", ""},
        {"HPEXPIREAT", "k", late, "FIELDS", "1", "g"},
        {"HPEXPIREAT", "k", soon, "FIELDS", "2", "f", "h"}}},
      {"a large hash with deadlines",
       {Numbered({"HSET", "k"}, 1000, {"f%", "%"}),
        {"HPEXPIREAT", "k", late, "FIELDS", "3", "f1", "f2", "f3"},
        {"HPEXPIREAT", "k", soon, "FIELDS", "2", "f7", "f8"}}},
      {"a hash that had a deadline",
       {{"HSET", "k", "f", "v", "g", "2"},
        {"HPEXPIREAT", "k", late, "FIELDS", "1", "g"},
        {"HPERSIST", "k", "FIELDS", "1", "g"}}},
  };
}

// What clients see of the value, whatever its order.
std::vector<Words> LooksAt(const std::string& type, const std::string& key) {
  static const std::map<std::string, std::vector<Words>> kLooks{
      {"string", {{"GET", ""}}},
      {"list", {{"LRANGE", "", "0", "-1"}}},
      {"set", {{"SMEMBERS", ""}}},
      {"hash", {{"HGETALL", ""}}},
      {"zset", {{"ZRANGE", "", "0", "-1", "WITHSCORES"}}},
      {"stream", {{"XRANGE", "", "-", "+"}, {"XREVRANGE", "", "+", "-"}, {"XLEN", ""}}}};
  std::vector<Words> all = kLooks.at(type);
  for (Words& look : all) look[1] = key;
  all.push_back({"TYPE", key});
  return all;
}

// The fields of XINFO STREAM that say what the stream remembers.
Reply Remembered(const Reply& info) {
  Reply kept = Array({});
  for (size_t i = 0; i + 1 < info.elements.size(); i += 2) {
    const std::string& name = info.elements[i].text;
    if (name != "last-generated-id" && name != "max-deleted-entry-id" && name != "entries-added") continue;
    kept.elements.push_back(info.elements[i]);
    kept.elements.push_back(info.elements[i + 1]);
  }
  return kept;
}

// The reply in an order and in digits that do not depend on the server: redis-server 7.0 shows scores with 17 digits.
Reply InOrder(const Words& look, Reply reply) {
  if (look[0] == "ZRANGE") {
    for (size_t i = 1; i < reply.elements.size(); i += 2)
      reply.elements[i].text = FormatDouble(ParseDouble(reply.elements[i].text).value());
  }
  if (look[0] == "SMEMBERS") return Sorted(reply);
  if (look[0] != "HGETALL") return reply;
  std::map<std::string, std::string> pairs;
  for (size_t i = 0; i + 1 < reply.elements.size(); i += 2)
    pairs[reply.elements[i].text] = reply.elements[i + 1].text;
  Reply sorted = Array({});
  for (const auto& [field, value] : pairs) {
    sorted.elements.push_back(Bulk(field));
    sorted.elements.push_back(Bulk(value));
  }
  return sorted;
}

class DumpBesideRedis : public CommandTest {
 public:
  DumpBesideRedis() { StepWallClock(RealMs() - WallMs()); }

  // Makes each value at the redis-server, lets both servers dump and restore it, and compares what they show.
  void Exchange(Oracle& oracle, const std::vector<Made>& values) {
    for (const Made& made : values) {
      INFO(made.about);
      Run({"FLUSHALL"});
      Redis(oracle, {"FLUSHALL"});
      for (const Words& request : made.requests) REQUIRE(Redis(oracle, request).kind != Reply::Kind::kError);
      const std::string type = Redis(oracle, {"TYPE", "k"}).text;
      encodings.insert(Redis(oracle, {"OBJECT", "ENCODING", "k"}).text);
      const Reply payload = Redis(oracle, {"DUMP", "k"});
      types.insert(int{static_cast<uint8_t>(payload.text.at(0))});
      REQUIRE(Run({"RESTORE", "k", "0", payload.text}) == Ok());
      const Reply ours = Run({"DUMP", "k"});
      REQUIRE(Redis(oracle, {"RESTORE", "back", "0", ours.text}) == Ok());
      REQUIRE(Run({"RESTORE", "back", "0", ours.text}) == Ok());
      Compare(oracle, type, made);
    }
  }

  std::set<std::string> encodings;  // of the redis-server's values
  std::set<int> types;              // of its payloads

 private:
  static Reply Redis(Oracle& oracle, const Words& request) {
    return TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0);
  }

  void Compare(Oracle& oracle, const std::string& type, const Made& made) {
    for (const Words& look : LooksAt(type, "k")) {
      INFO(look[0]);
      const Reply wanted = InOrder(look, Redis(oracle, look));
      CHECK(InOrder(look, Run(look)) == wanted);
      Words other = look;
      other[1] = "back";
      CHECK(InOrder(look, Redis(oracle, other)) == wanted);
      CHECK(InOrder(look, Run(other)) == wanted);
    }
    if (type == "stream") {
      const Reply wanted = Remembered(Redis(oracle, {"XINFO", "STREAM", "k"}));
      CHECK(Remembered(Run({"XINFO", "STREAM", "k"})) == wanted);
      CHECK(Remembered(Redis(oracle, {"XINFO", "STREAM", "back"})) == wanted);
      CHECK(Remembered(Run({"XINFO", "STREAM", "back"})) == wanted);
    }
    if (made.requests.back()[0].starts_with("HP")) {
      const Words names{"f", "g", "h", "f1", "f2", "f7", "f9"};
      const auto look = [&](const std::string& key) {
        Words request{"HPEXPIRETIME", key, "FIELDS", std::to_string(names.size())};
        request.insert(request.end(), names.begin(), names.end());
        return request;
      };
      const Reply wanted = Redis(oracle, look("k"));
      CHECK(Run(look("k")) == wanted);
      CHECK(Redis(oracle, look("back")) == wanted);
    }
  }
};

Words With(Words options, const Words& more) {
  options.insert(options.end(), more.begin(), more.end());
  return options;
}

const Words kStrict{"--sanitize-dump-payload", "yes"};
const Words kLargeForms{
    "--hash-max-listpack-entries", "0", "--list-max-listpack-size",  "2", "--set-max-intset-entries", "0",
    "--zset-max-listpack-entries", "0", "--stream-node-max-entries", "3", "--rdbcompression",         "no"};

}  // namespace

TEST_CASE_METHOD(DumpBesideRedis,
                 "redis-server and we restore each other's values, in all encodings of 7.0") {
  Oracle small(kStrict);
  Exchange(small, Values());
  Oracle large(With(kStrict, kLargeForms));
  Exchange(large, Values());
  // Every element of a list is a node of its own.
  Oracle plain(With(kStrict, {"--enable-debug-command", "yes"}));
  plain.Ask(EncodeRequest({"DEBUG", "QUICKLIST-PACKED-THRESHOLD", "1b"}), 1);
  Exchange(plain, {{"a list of plain nodes", {{"RPUSH", "k", "a", "12", Long('x')}}}});
  CHECK(encodings == std::set<std::string>{"embstr", "hashtable", "int", "intset", "listpack", "quicklist",
                                           "raw", "skiplist", "stream"});
  CHECK(types == std::set<int>{0, 2, 4, 5, 11, 16, 17, 18, 19});
}

TEST_CASE_METHOD(DumpBesideRedis,
                 "redis-server 8 and we restore each other's values, with deadlines of fields") {
  if (!Oracle::Exists(Oracle::kNewerProgram)) {
    std::cout << "left out: there is no " << Oracle::kNewerProgram << " to compare with" << std::endl;
    return;
  }
  for (const Words& options :
       {kStrict, With(kStrict, With(kLargeForms, {"--set-max-listpack-entries", "0"}))}) {
    Oracle oracle(options, Oracle::kNewerProgram);
    Exchange(oracle, Values());
    Exchange(oracle, ValuesWithFieldDeadlines(RealMs()));
  }
  CHECK(encodings.contains("listpackex"));
  CHECK(types == std::set<int>{0, 2, 4, 5, 11, 16, 17, 18, 20, 21, 24, 25});
}

}  // namespace mayfly::testing
