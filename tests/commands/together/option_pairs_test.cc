// What each option of SET promises holds beside every other one, and however the SET comes: as a request, in a
// transaction, from a script, under every eviction policy, and while others are told of changes.
//
// A promise is looked at in a world of its own, after a SET that names two options. Options of one group exclude
// each other, and so does what they want to find: NX no key, XX one.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Request = std::vector<std::string>;

constexpr int64_t kTtlMs = 60'000;
constexpr int64_t kJitterMs = kTtlMs / 20;  // JITTER 5
constexpr int64_t kStaleMs = 30'000;

// How a request comes to the server.
enum class Way { kRequest, kTransaction, kScript };

class PairsWorld : public CommandTest {
 public:
  explicit PairsWorld(Way way) : way_(way), writer_(Connect()) {}

  Reply Send(const Request& request) {
    if (way_ == Way::kRequest) return writer_.Run(request);
    if (way_ == Way::kScript) {
      Request script{"EVAL", "return redis.call(unpack(ARGV))", "0"};
      script.insert(script.end(), request.begin(), request.end());
      return writer_.Run(script);
    }
    REQUIRE(writer_.Run({"MULTI"}) == Ok());
    REQUIRE(writer_.Run(request) == Simple("QUEUED"));
    const Reply replies = writer_.Run({"EXEC"});
    REQUIRE(replies.elements.size() == 1);
    return replies.elements[0];
  }
  int64_t Pttl() { return Run({"PTTL", "k"}).integer; }
  bool Exists() { return Run({"EXISTS", "k"}) == Integer(1); }
  // TAKE, which alone sees stale values.
  Reply Take() { return Run({"TAKE", "k", "LEASE", "1000"}); }

  std::string token = "0000000000000000";  // of the lease on k, for IFLEASE

 private:
  Way way_;
  TestClient& writer_;
};

enum class Group { kExpiry, kCondition, kReply, kOther };
enum class Wants { kAnything, kNoKey, kKey };

struct Promise {
  const char* name;
  Group group;
  Wants wants;
  bool needs_expiry;  // is a syntax error without one
  std::function<Request(PairsWorld&)> words;
  // After a SET that was carried out. The key has the value "new".
  std::function<void(PairsWorld&)> kept;
};

void ExpiresOnTime(PairsWorld& world) {
  world.AdvanceTime(kTtlMs - kJitterMs - 1);
  CHECK(world.Exists());
  world.AdvanceTime(2 * kJitterMs + 1);
  CHECK_FALSE(world.Exists());
}

void SlidesOn(PairsWorld& world) {
  const int64_t ttl = world.Pttl();
  world.AdvanceTime(kTtlMs / 2);
  CHECK(world.Pttl() == ttl - kTtlMs / 2);
  CHECK(world.Run({"GET", "k"}) == Bulk("new"));
  CHECK(world.Pttl() == ttl);
}

void IsStaleForAWhile(PairsWorld& world) {
  const auto ttl = static_cast<uint64_t>(world.Pttl());
  world.AdvanceTime(ttl);
  CHECK_FALSE(world.Exists());
  const Reply lease = world.Take();
  CHECK(lease.elements.at(0) == Bulk("LEASE"));
  CHECK(lease.elements.at(1) == Bulk("new"));
  const Reply stale = world.Take();
  CHECK(stale.elements.at(0) == Bulk("STALE"));
  CHECK(stale.elements.at(1) == Bulk("new"));
  CHECK(stale.elements.at(2) == Null());
  world.AdvanceTime(kStaleMs);
  CHECK(world.Take().elements.at(1) == Null());
}

void GoesWithItsTags(PairsWorld& world) {
  CHECK(Sorted(world.Run({"TAGS", "k"})) == Array({Bulk("t"), Bulk("u")}));
  CHECK(world.Run({"INVALIDATE", "u"}) == Integer(1));
  CHECK_FALSE(world.Exists());
  CHECK(world.Take().elements.at(1) == Null());
}

void IsThere(PairsWorld& world) { CHECK(world.Run({"PEEK", "k"}) == Bulk("new")); }

Request ToRequest(std::initializer_list<std::string> words) { return words; }

const std::vector<Promise>& Promises() {  // long: one table
  static const std::vector<Promise> kPromises = {
      {"EX", Group::kExpiry, Wants::kAnything, false, [](PairsWorld&) { return ToRequest({"EX", "60"}); },
       ExpiresOnTime},
      {"PX", Group::kExpiry, Wants::kAnything, false, [](PairsWorld&) { return ToRequest({"PX", "60000"}); },
       ExpiresOnTime},
      {"EXAT", Group::kExpiry, Wants::kAnything, false,
       [](PairsWorld& world) { return ToRequest({"EXAT", world.UnixSeconds(60)}); },
       [](PairsWorld& world) {
         const auto ttl = static_cast<uint64_t>(world.Pttl());
         CHECK(ttl > kTtlMs - 1000);  // in whole seconds of the clock's
         CHECK(ttl <= kTtlMs);
         world.AdvanceTime(ttl - 1);
         CHECK(world.Exists());
         world.AdvanceTime(1);
         CHECK_FALSE(world.Exists());
       }},
      {"PXAT", Group::kExpiry, Wants::kAnything, false,
       [](PairsWorld& world) { return ToRequest({"PXAT", world.UnixMs(kTtlMs)}); },
       [](PairsWorld& world) {
         CHECK(world.Pttl() == kTtlMs);
         ExpiresOnTime(world);
       }},
      {"KEEPTTL", Group::kExpiry, Wants::kKey, false, [](PairsWorld&) { return ToRequest({"KEEPTTL"}); },
       [](PairsWorld& world) { CHECK(world.Pttl() == kTtlMs); }},
      {"NX", Group::kCondition, Wants::kNoKey, false, [](PairsWorld&) { return ToRequest({"NX"}); }, IsThere},
      {"XX", Group::kCondition, Wants::kKey, false, [](PairsWorld&) { return ToRequest({"XX"}); }, IsThere},
      {"IFEQ", Group::kCondition, Wants::kKey, false, [](PairsWorld&) { return ToRequest({"IFEQ", "old"}); },
       IsThere},
      {"IFNE", Group::kCondition, Wants::kAnything, false,
       [](PairsWorld&) { return ToRequest({"IFNE", "x"}); }, IsThere},
      {"GET", Group::kReply, Wants::kAnything, false, [](PairsWorld&) { return ToRequest({"GET"}); },
       IsThere},
      {"IFLEASE", Group::kOther, Wants::kAnything, false,
       [](PairsWorld& world) { return ToRequest({"IFLEASE", world.token}); },
       [](PairsWorld& world) {
         CHECK(world.Run({"UNLEASE", "k", world.token}) == Integer(0));
         CHECK(world.Take().elements.at(0) == Bulk("HIT"));
       }},
      {"JITTER", Group::kOther, Wants::kAnything, true,
       [](PairsWorld&) { return ToRequest({"JITTER", "5"}); },
       [](PairsWorld& world) {
         CHECK(world.Pttl() >= kTtlMs - kJitterMs);
         CHECK(world.Pttl() <= kTtlMs + kJitterMs);
       }},
      {"SLIDE", Group::kOther, Wants::kAnything, true, [](PairsWorld&) { return ToRequest({"SLIDE"}); },
       SlidesOn},
      {"STALE", Group::kOther, Wants::kAnything, true, [](PairsWorld&) { return ToRequest({"STALE", "30"}); },
       IsStaleForAWhile},
      {"TAGS", Group::kOther, Wants::kAnything, false,
       [](PairsWorld&) { return ToRequest({"TAGS", "2", "t", "u"}); }, GoesWithItsTags},
  };
  return kPromises;
}

// What the world is like before the SET: a key with the value "old" and a TTL, or none; and a lease on it.
void Prepare(PairsWorld& world, Wants wants, bool leased) {
  if (wants == Wants::kKey) REQUIRE(world.Run({"SET", "k", "old", "PX", std::to_string(kTtlMs)}) == Ok());
  if (!leased) return;
  const Reply lease = world.Run({"TAKE", "k", "LEASE", "100000", "EARLY", std::to_string(kTtlMs)});
  REQUIRE(lease.elements.at(0) == Bulk("LEASE"));
  world.token = lease.elements.at(2).text;
}

struct Pair {
  const Promise* first;
  const Promise* second;

  bool Has(std::string_view name) const { return first->name == name || second->name == name; }
  bool HasGroup(Group group) const { return first->group == group || second->group == group; }
  bool OneGroup() const { return first->group == second->group && first->group != Group::kOther; }
  bool Contradicts() const {
    return (first->wants == Wants::kKey && second->wants == Wants::kNoKey) ||
           (first->wants == Wants::kNoKey && second->wants == Wants::kKey);
  }
  // If they contradict each other, there is a key, and NX refuses.
  Wants wants() const {
    if (first->wants == Wants::kKey || second->wants == Wants::kKey) return Wants::kKey;
    return first->wants != Wants::kAnything ? first->wants : second->wants;
  }
};

// SET k new with both options, and with a TTL if one of them needs it.
Request SetOf(PairsWorld& world, const Pair& pair) {
  Request set{"SET", "k", "new"};
  for (const Promise* promise : {pair.first, pair.second}) {
    const Request words = promise->words(world);
    set.insert(set.end(), words.begin(), words.end());
  }
  if ((pair.first->needs_expiry || pair.second->needs_expiry) && !pair.HasGroup(Group::kExpiry))
    set.insert(set.end(), {"PX", std::to_string(kTtlMs)});
  return set;
}

template <typename Fn>
void ForEachPair(Fn&& fn) {
  const std::vector<Promise>& promises = Promises();
  for (const Promise& first : promises) {
    for (const Promise& second : promises) {
      if (&first != &second) fn(Pair{&first, &second});
    }
  }
}

// Whether the pair is refused as a syntax error, as the manual says.
bool IsRefused(const Pair& pair) {
  if (pair.OneGroup()) return true;
  const bool is_absolute = pair.Has("EXAT") || pair.Has("PXAT");
  return (pair.Has("JITTER") && (is_absolute || pair.Has("KEEPTTL"))) ||
         (pair.Has("SLIDE") && (is_absolute || pair.Has("KEEPTTL")));
}

void CheckPair(PairsWorld& world, const Pair& pair, const Promise& promise) {
  Prepare(world, pair.wants(), pair.Has("IFLEASE"));
  const Request set = SetOf(world, pair);
  const Reply reply = world.Send(set);
  const bool had_key = pair.wants() == Wants::kKey;
  if (IsRefused(pair)) {
    CHECK(reply.kind == Reply::Kind::kError);
    CHECK(world.Run({"PEEK", "k"}) == (had_key ? Bulk("old") : Null()));
    return;
  }
  if (pair.Contradicts()) {
    CHECK(reply == Null());
    return;
  }
  CHECK(reply == (!pair.Has("GET") ? Ok() : had_key ? Bulk("old") : Null()));
  CHECK(world.Run({"PEEK", "k"}) == Bulk("new"));
  promise.kept(world);
}

void CheckAllPairs(Way way, const std::function<void(PairsWorld&)>& arrange = [](PairsWorld&) {}) {
  ForEachPair([&](const Pair& pair) {
    for (const Promise* promise : {pair.first, pair.second}) {
      INFO(pair.first->name << " beside " << pair.second->name << ": " << promise->name);
      PairsWorld world(way);
      arrange(world);
      CheckPair(world, pair, *promise);
    }
  });
}

}  // namespace

TEST_CASE("each option of SET keeps its promise beside every other") { CheckAllPairs(Way::kRequest); }

TEST_CASE("each option of SET keeps its promise beside every other in a transaction") {
  CheckAllPairs(Way::kTransaction);
}

TEST_CASE("each option of SET keeps its promise beside every other in a script") {
  CheckAllPairs(Way::kScript);
}

TEST_CASE("each option of SET keeps its promise beside every other under any eviction policy") {
  for (const char* policy : {"allkeys-sieve", "allkeys-lfu", "volatile-ttl", "allkeys-random"}) {
    CheckAllPairs(Way::kRequest, [&](PairsWorld& world) {
      world.SetOption("maxmemory", "1gb");
      world.SetOption("maxmemory-policy", policy);
    });
  }
}

TEST_CASE("each option of SET keeps its promise beside every other while clients listen and track") {
  CheckAllPairs(Way::kRequest, [](PairsWorld& world) {
    world.SetOption("notify-keyspace-events", "KEA");
    TestClient& listener = world.Connect();
    listener.UseResp3();
    listener.Run({"PSUBSCRIBE", "__key*"});
    listener.Run({"CLIENT", "TRACKING", "ON", "BCAST"});
  });
}

}  // namespace mayfly::testing
