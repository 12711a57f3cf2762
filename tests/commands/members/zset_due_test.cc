// Sorted sets with more due members than a request takes out of the order: the request waits for the loop, and its reply is
// as if all due members had been gone when it came.
#include <map>
#include <memory>
#include <set>

#include "cache/types/sorted_set_value.h"
#include "exec/values/dataset_digest.h"
#include "exec/values/timed_access.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Words = std::vector<std::string>;

constexpr uint64_t kDueAfterMs = 50;
constexpr uint64_t kLaterMs = 5;  // when a request that waits runs again
constexpr size_t kManyDue = kRankedAtOnce + 500;
constexpr size_t kLasting = 30;

class DueWorld {
 public:
  // The sorted set "k" has members "due:..." and "m0", "m1" ...; "other" has some of the same.
  explicit DueWorld(size_t due = kManyDue) {
    auto set = std::make_unique<SortedSetValue>();
    const MemberHome home = keyspace().home();
    const Now now = server.executor.RefreshNow();
    for (size_t i = 0; i < due; ++i) {
      const std::string name = "due:" + std::to_string(i);
      set->Put(name, static_cast<double>(i * 7919 % 1000), {}, home);
      set->SetDeadline(set->Find(name), name, Expiry::In(kDueAfterMs - i % 3, now), home, now);
    }
    for (size_t i = 0; i < kLasting; ++i)
      set->Put("m" + std::to_string(i), static_cast<double>(i * 100), {}, home);
    keyspace().PutRich(keyspace().KeyOf("k"), nullptr, std::move(set), Expiry::Never(), now, {"zadd"});
    client.Run({"ZADD", "other", "1", "due:1", "2", "m2", "3", "m4", "4", "x"});
    // A member that is due later.
    client.Run({"EXPIREMEMBER", "k", "m7", "100"});
  }

  Keyspace& keyspace() { return server.databases.At(0); }
  SortedSetValue& set() {
    return static_cast<SortedSetValue&>(
        *keyspace().Peek(keyspace().KeyOf("k"), server.executor.now())->rich());
  }
  std::string Digest() { return HexOf(DigestOfAll(server.databases, server.executor.now())); }
  // The members are due, but the wheel has not come to them.
  void BecomeDue() {
    server.clock.AdvanceTime(kDueAfterMs);
    server.executor.RefreshNow();
  }
  // The wheel drops them, and the requests that wait run.
  void Continue() {
    server.TurnWheels();
    server.clock.AdvanceTime(kLaterMs);
    server.TurnWheels();
  }

  TestServer server;
  TestClient client{server};
};

// A page of ZSCAN has no order: its members follow from what the table has gone through.
Reply WithoutOrder(const Words& words, Reply reply) {
  if (words[0] != "ZSCAN") return reply;
  std::vector<Reply>& page = reply.elements[1].elements;
  std::map<std::string, std::string> scores;
  for (size_t i = 0; i + 1 < page.size(); i += 2) scores.emplace(page[i].text, page[i + 1].text);
  CHECK(2 * scores.size() == page.size());
  page.clear();
  for (const auto& [name, score] : scores) page.insert(page.end(), {Bulk(name), Bulk(score)});
  return reply;
}

std::vector<Words> DueRequests() {  // long: one table
  return {
      {"ZADD", "k", "5", "due:3", "6", "m3", "7", "new"},
      {"ZADD", "k", "XX", "CH", "5", "due:3", "6", "m3"},
      {"ZADD", "k", "INCR", "5", "due:3"},
      {"ZINCRBY", "k", "5", "due:3"},
      {"ZCARD", "k"},
      {"ZCOUNT", "k", "-inf", "500"},
      {"ZLEXCOUNT", "k", "-", "+"},
      {"ZRANK", "k", "m5"},
      {"ZRANK", "k", "due:5", "WITHSCORE"},
      {"ZREVRANK", "k", "m5", "WITHSCORE"},
      {"ZSCORE", "k", "due:5"},
      {"ZSCORE", "k", "m5"},
      {"ZMSCORE", "k", "due:5", "m5"},
      {"ZREM", "k", "due:5", "m5"},
      {"ZRANGE", "k", "0", "-1", "WITHSCORES"},
      {"ZRANGE", "k", "3", "9", "REV"},
      {"ZRANGE", "k", "0", "900", "BYSCORE", "LIMIT", "2", "5"},
      {"ZRANGE", "k", "-", "+", "BYLEX"},
      {"ZREVRANGE", "k", "0", "4"},
      {"ZRANGEBYSCORE", "k", "100", "(900"},
      {"ZREVRANGEBYSCORE", "k", "900", "100"},
      {"ZRANGEBYLEX", "k", "[m", "(n"},
      {"ZREVRANGEBYLEX", "k", "(n", "[m"},
      {"ZRANGESTORE", "new", "k", "0", "10"},
      {"ZRANGESTORE", "k", "k", "0", "10"},
      {"ZREMRANGEBYRANK", "k", "0", "3"},
      {"ZREMRANGEBYSCORE", "k", "0", "900"},
      {"ZREMRANGEBYLEX", "k", "-", "(m2"},
      {"ZPOPMIN", "k"},
      {"ZPOPMAX", "k", "3"},
      {"ZMPOP", "2", "absent", "k", "MIN", "COUNT", "5"},
      {"BZPOPMIN", "absent", "k", "1"},
      {"BZPOPMAX", "k", "0"},
      {"BZMPOP", "1", "2", "absent", "k", "MAX", "COUNT", "3"},
      {"ZUNION", "2", "other", "k", "WITHSCORES"},
      {"ZINTER", "2", "other", "k"},
      {"ZDIFF", "2", "other", "k"},
      {"ZINTERCARD", "2", "k", "other"},
      {"ZUNIONSTORE", "k", "2", "other", "k"},
      {"ZINTERSTORE", "new", "2", "other", "k"},
      {"ZDIFFSTORE", "k", "2", "other", "k"},
      {"ZRANDMEMBER", "k"},
      {"ZRANDMEMBER", "k", "-9", "WITHSCORES"},
      {"ZSCAN", "k", "0", "COUNT", "5000"},
      {"GEOADD", "k", "13", "38", "due:5", "14", "39", "m5"},
      {"GEOPOS", "k", "due:5", "m5"},
      {"GEODIST", "k", "m4", "due:5"},
      {"GEOHASH", "k", "due:5", "m5"},
      {"GEOSEARCH", "k", "FROMLONLAT", "-179", "-85", "BYRADIUS", "9000", "km"},
      {"GEOSEARCHSTORE", "new", "k", "FROMLONLAT", "-179", "-85", "BYRADIUS", "9000", "km"},
      {"GEORADIUS", "k", "-179", "-85", "9000", "km"},
      {"GEORADIUS_RO", "k", "-179", "-85", "9000", "km"},
      {"GEORADIUSBYMEMBER", "k", "m1", "9000", "km"},
      {"GEORADIUSBYMEMBER_RO", "k", "m1", "9000", "km"},
      {"EXPIREMEMBER", "k", "due:5", "100"},
      {"EXPIREMEMBER", "k", "m5", "100"},
      {"FIELDTTL", "k", "due:5"},
      {"FIELDTTL", "k", "m7"},
      {"SORT", "k", "ALPHA", "DESC"},
      {"SORT_RO", "k", "ALPHA", "LIMIT", "0", "5"},
      {"SMOVE", "k", "other", "m1"},
  };
}

}  // namespace

TEST_CASE("the requests that wait for due members are all that use a sorted set") {
  std::set<std::string> listed;
  for (const Words& words : DueRequests()) listed.insert(words[0]);
  const CommandTable table;
  for (const TableRow* row : table.rows()) {
    if ((row->command->acl & (kAclSortedSet | kAclGeo)) == 0) continue;
    INFO(row->full_name);
    CHECK(listed.contains(UpperCase(row->full_name)));
  }
}

TEST_CASE(
    "a request on a sorted set with many due members waits, and its reply is as if they had been gone") {
  for (const Words& words : DueRequests()) {
    INFO(words[0] << " " << words[1] << " " << (words.size() > 2 ? words[2] : ""));
    DueWorld calm;
    calm.BecomeDue();
    calm.server.TurnWheels();
    calm.server.clock.AdvanceTime(kLaterMs);
    const Reply reply = WithoutOrder(words, calm.client.Run(words));
    CHECK(reply != NoReply());

    DueWorld world;
    world.BecomeDue();
    const uint64_t commands = world.client.session().commands;
    CHECK(world.client.Run(words) == NoReply());
    CHECK(world.client.session().commands == commands);
    CHECK(world.set().DueInOrder(world.server.executor.now()) == kManyDue);
    world.Continue();
    const std::vector<Reply> replies = world.client.Received();
    REQUIRE(replies.size() == 1);
    CHECK(WithoutOrder(words, replies[0]) == reply);
    CHECK(world.client.session().commands == commands + 1);
    calm.Continue();
    CHECK(world.Digest() == calm.Digest());
  }
}

TEST_CASE(
    "a request that waits for due members is followed by the client's next ones, and holds up nobody else") {
  DueWorld world;
  world.BecomeDue();
  TestClient other(world.server);
  CHECK(world.client.RunRaw("ZCARD k\r\nPING\r\n").empty());
  CHECK(other.Run({"ZCARD", "other"}) == Integer(4));
  CHECK(other.Run({"CLIENT", "UNBLOCK", std::to_string(world.client.session().id)}) == Integer(0));
  CHECK(other.Run({"ZRANK", "k", "m1"}) == NoReply());
  // It looks again, but the wheel has done nothing yet.
  world.server.clock.AdvanceTime(kLaterMs);
  world.server.executor.RefreshNow();
  world.server.hubs.alarms.Wake(world.server.executor.now(), nullptr);
  world.server.RunWoken();
  CHECK(world.client.Received().empty());
  world.Continue();
  CHECK(world.client.Received() == std::vector<Reply>{Integer(kLasting), Simple("PONG")});
  CHECK(other.Received() == std::vector<Reply>{Integer(1)});
}

TEST_CASE("a transaction or a script waits for due members of the keys that it names before it begins") {
  DueWorld world;
  Reply reply = Integer(kLasting);
  Words words = {"EVAL", "redis.call('SET', 'ran', '1') return redis.call('ZCARD', KEYS[1])", "1", "k"};
  SECTION("a transaction") {
    reply = Array({Ok(), Integer(kLasting), Integer(1)});
    words = {"EXEC"};
    world.client.Run({"MULTI"});
    world.client.Run({"SET", "ran", "1"});
    world.client.Run({"ZCARD", "k"});
    world.client.Run({"ZRANK", "k", "m1"});
  }
  SECTION("a script") {}
  SECTION("a cached script") {
    words = {"EVALSHA", world.client.Run({"SCRIPT", "LOAD", words[1]}).text, "1", "k"};
  }
  SECTION("a function") {
    world.client.Run(
        {"FUNCTION", "LOAD",
         "#!lua name=lib\nredis.register_function('f', function(keys) redis.call('SET', 'ran', '1') "
         "return redis.call('ZCARD', keys[1]) end)"});
    words = {"FCALL", "f", "1", "k"};
  }
  world.BecomeDue();
  TestClient other(world.server);
  CHECK(world.client.Run(words) == NoReply());
  CHECK(other.Run({"EXISTS", "ran"}) == Integer(0));
  world.Continue();
  CHECK(world.client.Received() == std::vector<Reply>{reply});
  CHECK(other.Run({"EXISTS", "ran"}) == Integer(1));
}

TEST_CASE("what cannot wait sees a sorted set without its due members at once") {
  DueWorld world;
  world.BecomeDue();
  SECTION("a script that does not name the key") {
    CHECK(world.client.Run({"EVAL", "return redis.call('ZCARD', 'k')", "0"}) == Integer(kLasting));
  }
  SECTION("a request while expiry is stopped") {
    world.server.databases.SetActiveExpiry(false);
    CHECK(world.client.Run({"ZCARD", "k"}) == Integer(kLasting));
  }
  // What is left has only to be freed.
  CHECK(world.set().DueInOrder(world.server.executor.now()) == 0);
  CHECK(world.client.Run({"ZCARD", "k"}) == Integer(kLasting));
}

TEST_CASE("few due members are dropped at once") {
  DueWorld world(kRankedAtOnce);
  world.BecomeDue();
  CHECK(world.client.Run({"ZCARD", "k"}) == Integer(kLasting));
  CHECK(world.set().Size() == kLasting);
}

TEST_CASE("no turn takes more than a slice of a million due members") {
  constexpr size_t kMillion = 1'000'000;
  constexpr size_t kSlice = 1000;
  DueWorld world(kMillion);
  world.BecomeDue();
  const Now now = world.server.executor.now();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (const Words& words : {Words{"ZCARD", "k"}, Words{"ZRANK", "k", "m1"}, Words{"ZSCORE", "k", "m1"}}) {
    clients.push_back(std::make_unique<TestClient>(world.server));
    CHECK(clients.back()->Run(words) == NoReply());
  }
  SortedSetValue& set = world.set();
  CHECK(set.DueInOrder(now) == kMillion);
  size_t slices = 0;
  for (size_t left = set.Size(); left != kLasting; ++slices) {
    world.server.databases.Advance(now, kSlice);
    const size_t dropped = left - set.Size();
    CHECK((dropped != 0 && dropped <= kSlice + 1));
    if (dropped == 0) break;
    left = set.Size();
  }
  CHECK(slices >= kMillion / (kSlice + 1));
  world.Continue();
  CHECK(clients[0]->Received() == std::vector<Reply>{Integer(kLasting)});
  CHECK(clients[1]->Received() == std::vector<Reply>{Integer(1)});
  CHECK(clients[2]->Received() == std::vector<Reply>{Bulk("100")});
}

}  // namespace mayfly::testing
