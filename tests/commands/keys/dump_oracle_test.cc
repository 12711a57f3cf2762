// DUMP payloads of real redis-servers, in every encoding, and ours: each server restores what the other has dumped.
#include <iostream>
#include <map>
#include <set>

#include "base/text/numbers.h"
#include "differential/real_time.h"
#include "support/command_test.h"
#include "support/made_values.h"
#include "support/oracle.h"
#include "support/stream_info.h"
#include "support/words.h"

namespace mayfly::testing {
namespace {

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
      const Reply wanted = WithoutOwn(Redis(oracle, {"XINFO", "STREAM", "k", "FULL", "COUNT", "0"}));
      CHECK(WithoutOwn(Run({"XINFO", "STREAM", "k", "FULL", "COUNT", "0"})) == wanted);
      CHECK(WithoutOwn(Redis(oracle, {"XINFO", "STREAM", "back", "FULL", "COUNT", "0"})) == wanted);
      CHECK(WithoutOwn(Run({"XINFO", "STREAM", "back", "FULL", "COUNT", "0"})) == wanted);
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

}  // namespace

TEST_CASE_METHOD(DumpBesideRedis,
                 "redis-server and we restore each other's values, in all encodings of 7.0") {
  Oracle small(kStrict);
  Exchange(small, Values());
  Oracle large(With(kStrict, LargeForms()));
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
       {kStrict, With(kStrict, With(LargeForms(), {"--set-max-listpack-entries", "0"}))}) {
    Oracle oracle(options, Oracle::kNewerProgram);
    Exchange(oracle, Values());
    Exchange(oracle, ValuesWithFieldDeadlines(RealMs()));
  }
  CHECK(encodings.contains("listpackex"));
  CHECK(types == std::set<int>{0, 2, 4, 5, 11, 16, 17, 18, 20, 21, 24, 25});
}

TEST_CASE_METHOD(DumpBesideRedis, "valkey-server and we restore each other's values, in all encodings") {
  for (const Words& options :
       {kStrict, With(kStrict, With(LargeForms(), {"--set-max-listpack-entries", "0"}))}) {
    Oracle oracle(options, Oracle::kValkey);
    Exchange(oracle, Values());
  }
  CHECK(types == std::set<int>{0, 2, 4, 5, 11, 16, 17, 18, 20, 21});
}

}  // namespace mayfly::testing
