// CLIENT TRACKING, CACHING, TRACKINGINFO, GETREDIR; also beside a redis-server.
#include "server/watch/tracking.h"

#include <memory>

#include "server/hubs/hubs.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;

Reply Invalidate(const std::vector<std::string_view>& keys) {
  return Push({Bulk("invalidate"), Bulks(keys)});
}
const Reply kForgetAll = Push({Bulk("invalidate"), Null()});

class TrackingTest : public CommandTest {
 public:
  TrackingTest() : other_(Connect()) { UseResp3(); }

  TestClient& other() noexcept { return other_; }
  // What the client was told, after a turn of the loop.
  Replies Told() {
    TurnWheels();
    return client().Received();
  }

 private:
  TestClient& other_;
};

}  // namespace

TEST_CASE_METHOD(TrackingTest, "a client is told of the next change of a key that it has read, once") {
  CHECK(Run({"CLIENT", "TRACKING", "ON"}) == Ok());
  other().Run({"SET", "a", "1"});
  Run({"GET", "a"});
  Run({"MGET", "b", "c"});
  CHECK(Told().empty());
  other().Run({"SET", "a", "2"});
  other().Run({"SET", "a", "3"});
  other().Run({"HSET", "c", "f", "v"});  // it was absent
  other().Run({"SET", "unread", "1"});
  CHECK(Told() == Replies{Invalidate({"a"}), Invalidate({"c"})});
  Run({"GET", "a"});
  other().Run({"EXPIRE", "a", "100"});
  CHECK(Told() == Replies{Invalidate({"a"})});
  Run({"GET", "a"});
  other().Run({"DEL", "a"});
  CHECK(Told() == Replies{Invalidate({"a"})});
}

TEST_CASE_METHOD(TrackingTest, "a key that expires is reported at its deadline, one that is evicted then") {
  other().Run({"SET", "k", "v", "PX", "20"});
  Run({"CLIENT", "TRACKING", "ON"});
  Run({"GET", "k"});
  AdvanceTime(19);
  CHECK(Told().empty());
  AdvanceTime(1);
  CHECK(Told() == Replies{Invalidate({"k"})});
  other().Run({"CONFIG", "SET", "maxkeys", "1", "maxmemory-policy", "allkeys-lru"});
  other().Run({"SET", "a", "v"});
  Run({"GET", "a"});
  other().Run({"SET", "b", "v"});
  CHECK(Told() == Replies{Invalidate({"a"})});
}

TEST_CASE_METHOD(TrackingTest, "FLUSHALL and SWAPDB tell clients to forget everything") {
  Run({"CLIENT", "TRACKING", "ON"});
  other().Run({"SET", "a", "1"});
  Run({"GET", "a"});
  other().Run({"FLUSHALL"});
  CHECK(Told() == Replies{kForgetAll});
  other().Run({"SET", "a", "1"});
  CHECK(Told().empty());
  Run({"GET", "a"});
  other().Run({"SWAPDB", "0", "1"});
  CHECK(Told() == Replies{kForgetAll});
}

TEST_CASE_METHOD(TrackingTest, "one's own changes are reported after the reply, and with NOLOOP not at all") {
  Run({"CLIENT", "TRACKING", "ON"});
  Run({"GET", "k"});
  CHECK(RunRaw("SET k v\r\n") == "+OK\r\n>2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
  Run({"GET", "k"});
  CHECK(RunRaw("MULTI\r\nPING\r\nDEL k\r\nPING\r\nEXEC\r\n") ==
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*3\r\n+PONG\r\n:1\r\n+PONG\r\n"
        ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
  Run({"CLIENT", "TRACKING", "ON", "NOLOOP"});
  Run({"GET", "k"});
  CHECK(RunRaw("SET k v\r\n") == "+OK\r\n");
  other().Run({"SET", "k", "v"});  // it was forgotten all the same
  CHECK(Told().empty());
}

TEST_CASE_METHOD(TrackingTest,
                 "what is remembered takes at most a quarter of what clients' unread replies may take") {
  SetOption("maxmemory", "8gb");  // of which 16 MB are left for replies
  Run({"CLIENT", "TRACKING", "ON"});
  const std::string name(10'000, 'n');
  for (int i = 0; i < 1000; ++i) RunRaw(EncodeRequest({"GET", name + std::to_string(i)}));
  CHECK(server().tracking.bytes() <= size_t{4} << 20);
  CHECK(server().tracking.bytes() > size_t{3} << 20);
  CHECK(Told().empty());
}

TEST_CASE_METHOD(TrackingTest,
                 "with OPTIN only what follows CLIENT CACHING YES is remembered, a whole transaction too") {
  Run({"CLIENT", "TRACKING", "ON", "OPTIN"});
  Run({"GET", "a"});
  Run({"CLIENT", "CACHING", "YES"});
  Run({"GET", "b"});
  Run({"GET", "c"});
  Run({"CLIENT", "CACHING", "YES"});
  RunRaw("MULTI\r\nGET d\r\nGET e\r\nEXEC\r\nGET f\r\n");
  other().Run({"MSET", "a", "1", "b", "1", "c", "1", "d", "1", "e", "1", "f", "1"});
  CHECK(Told() == Replies{Invalidate({"b"}), Invalidate({"d"}), Invalidate({"e"})});
}

TEST_CASE_METHOD(TrackingTest,
                 "what a client's script reads is remembered, but not the keys that it is called with") {
  Run({"CLIENT", "TRACKING", "ON"});
  Run({"EVAL_RO", "return redis.call('get', 'read')", "1", "named"});
  RunRaw("MULTI\r\nEVAL \"redis.call('mget', 'a', 'b')\" 0\r\nEXEC\r\n");
  other().Run({"MSET", "named", "1", "read", "1", "a", "1", "b", "1"});
  CHECK(Told() == Replies{Invalidate({"read"}), Invalidate({"a"}), Invalidate({"b"})});
}

TEST_CASE_METHOD(TrackingTest, "with OPTOUT all is remembered but what follows CLIENT CACHING NO") {
  Run({"CLIENT", "TRACKING", "ON", "OPTOUT"});
  Run({"GET", "a"});
  Run({"CLIENT", "CACHING", "NO"});
  Run({"GET", "b"});
  Run({"GET", "c"});
  other().Run({"MSET", "a", "1", "b", "1", "c", "1"});
  CHECK(Told() == Replies{Invalidate({"a"}), Invalidate({"c"})});
}

TEST_CASE_METHOD(TrackingTest,
                 "in broadcast mode clients are told of all keys with their prefixes, once in a turn") {
  Run({"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "user:", "PREFIX", "x"});
  other().RunRaw("SET user:1 a\r\nSET user:1 b\r\nSET use c\r\nSET y d\r\n");
  CHECK(client().Received() == Replies{Invalidate({"user:1"})});
  other().RunRaw("SET user:2 a PX 20\r\nDEL x\r\n");
  CHECK(client().Received() == Replies{Invalidate({"user:2"})});
  AdvanceTime(20);
  CHECK(Told() == Replies{Invalidate({"user:2"})});
  RunRaw("SET user:3 a\r\n");
  CHECK(Told().size() <= 1);
  Run({"CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP"});
  Told();
  RunRaw("SET user:3 a\r\n");
  CHECK(Told().empty());
  Run({"CLIENT", "TRACKING", "OFF"});
  other().RunRaw("SET user:1 b\r\n");
  CHECK(Told().empty());
  CHECK(server().tracking.prefixes() == 0);
}

TEST_CASE_METHOD(TrackingTest,
                 "a RESP2 client redirects its messages to a subscriber of __redis__:invalidate") {
  UseResp2();
  TestClient& target = Connect();
  target.Run({"SUBSCRIBE", "__redis__:invalidate"});
  const std::string id = std::to_string(target.session().id);
  CHECK(Run({"CLIENT", "TRACKING", "ON", "REDIRECT", id}) == Ok());
  CHECK(Run({"CLIENT", "GETREDIR"}) == Integer(static_cast<int64_t>(target.session().id)));
  Run({"GET", "k"});
  other().Run({"SET", "k", "v"});
  CHECK(target.Received() == Replies{Array({Bulk("message"), Bulk("__redis__:invalidate"), Bulks({"k"})})});
  other().Run({"FLUSHALL"});
  CHECK(target.Received() == Replies{Array({Bulk("message"), Bulk("__redis__:invalidate"), Null()})});
  CHECK(client().Received().empty());
}

TEST_CASE_METHOD(TrackingTest, "a client whose messages go to one that is gone is told so") {
  {
    TestClient target(server());
    Run({"CLIENT", "TRACKING", "ON", "REDIRECT", std::to_string(target.session().id)});
  }
  Run({"GET", "k"});
  other().Run({"SET", "k", "v"});
  const Replies told = Told();
  REQUIRE(told.size() == 1);
  CHECK(told[0].elements.at(0) == Bulk("tracking-redir-broken"));
  const Reply info = Run({"CLIENT", "TRACKINGINFO"});
  CHECK(info.elements.at(1).elements.back() == Bulk("broken_redirect"));
  CHECK(Run({"CLIENT", "LIST"}).text.find(" flags=tR ") != std::string::npos);
}

TEST_CASE_METHOD(TrackingTest, "beyond the limit clients are told to forget keys that have not changed") {
  other().Run({"CONFIG", "SET", "tracking-table-max-keys", "10"});
  Run({"CLIENT", "TRACKING", "ON"});
  for (int i = 0; i < 100; ++i) RunRaw(EncodeRequest({"GET", "k" + std::to_string(i)}));
  CHECK(server().tracking.keys() == 10);
  CHECK(server().tracking.items() == 10);
  for (int i = 0; i < 100; ++i) other().Run({"SET", "k" + std::to_string(i), "v"});
  CHECK(server().tracking.keys() == 0);
  CHECK(server().tracking.bytes() == 0);
}

TEST_CASE_METHOD(TrackingTest, "a flush tells the client at once, and frees in slices what it had read") {
  for (const std::vector<std::string>& flush : std::vector<std::vector<std::string>>{
           {"FLUSHALL"}, {"FLUSHALL", "ASYNC"}, {"FLUSHDB"}, {"SWAPDB", "0", "1"}}) {
    other().RunRaw(EncodeRequest({"SET", "k0", "v"}));  // a flush of nothing is no change
    Run({"CLIENT", "TRACKING", "ON"});
    for (int i = 0; i < 2000; ++i) RunRaw(EncodeRequest({"GET", "k" + std::to_string(i)}));
    const size_t bytes = server().tracking.bytes();
    other().RunRaw(EncodeRequest({flush.begin(), flush.end()}));
    CHECK(client().Received() == Replies{kForgetAll});
    CHECK(server().tracking.keys() == 0);
    CHECK(server().tracking.items() == 0);
    CHECK(server().tracking.bytes() == bytes);
    // What it reads from now on is not touched by what is left to do.
    RunRaw(EncodeRequest({"GET", "k1"}));
    CHECK(server().tracking.FreeSome(100));
    CHECK(server().tracking.bytes() < bytes);
    CHECK(server().tracking.bytes() > bytes / 2);
    CHECK(Told().empty());
    CHECK_FALSE(server().tracking.MayFreeSome());
    CHECK(server().tracking.keys() == 1);
    other().RunRaw(EncodeRequest({"SET", "k1", "v"}));
    CHECK(Told() == Replies{Invalidate({"k1"})});
    CHECK(server().tracking.bytes() == 0);
    other().RunRaw(EncodeRequest({"DEL", "k1"}));
    Run({"CLIENT", "TRACKING", "OFF"});
    Told();
  }
}

TEST_CASE_METHOD(TrackingTest, "what the last client that tracks had read is freed in slices when it stops") {
  Run({"CLIENT", "TRACKING", "ON"});
  for (int i = 0; i < 2000; ++i) RunRaw(EncodeRequest({"GET", "k" + std::to_string(i)}));
  Run({"CLIENT", "TRACKING", "OFF"});
  CHECK(server().tracking.keys() == 0);
  CHECK(server().tracking.MayFreeSome());
  Run({"CLIENT", "TRACKING", "ON"});
  RunRaw(EncodeRequest({"GET", "k1"}));
  TurnWheels();
  CHECK_FALSE(server().tracking.MayFreeSome());
  CHECK(server().tracking.keys() == 1);
}

TEST_CASE_METHOD(TrackingTest,
                 "a limit that is lowered has clients forget the keys that are too many, in slices") {
  Run({"CLIENT", "TRACKING", "ON"});
  for (int i = 0; i < 2000; ++i) RunRaw(EncodeRequest({"GET", "k" + std::to_string(i)}));
  other().RunRaw(EncodeRequest({"CONFIG", "SET", "tracking-table-max-keys", "10"}));
  CHECK(server().tracking.keys() > 1000);
  CHECK(server().tracking.MayFreeSome());
  CHECK(Told().size() == 1990);
  CHECK(server().tracking.keys() == 10);
  for (int i = 0; i < 2000; ++i) other().RunRaw(EncodeRequest({"SET", "k" + std::to_string(i), "v"}));
  CHECK(server().tracking.bytes() == 0);
}

TEST_CASE_METHOD(TrackingTest, "what is remembered is counted apart from the data") {
  Run({"CLIENT", "TRACKING", "ON"});
  for (int i = 0; i < 1000; ++i) Run({"GET", "absent-key-number-" + std::to_string(i)});
  CHECK(server().tracking.bytes() > 100'000);
  CHECK(server().hubs.accounts.Sum() >= server().tracking.bytes());
}

TEST_CASE_METHOD(TrackingTest, "without a key that was read, other clients' changes are not looked at") {
  server().changes.Unlisten(server().change_log);
  Run({"CLIENT", "TRACKING", "ON"});
  other().Run({"SET", "k", "v"});
  Run({"GET", "k"});
  CHECK_FALSE(server().changes.WantsUnlistened(ChangeReason::kValueChanged));
  CHECK_FALSE(server().changes.WantsUnlistened(ChangeReason::kCreated));
  Run({"GET", "absent"});
  CHECK(server().changes.WantsUnlistened(ChangeReason::kCreated));
  other().Run({"SET", "absent", "v"});
  CHECK_FALSE(server().changes.WantsUnlistened(ChangeReason::kCreated));
  Told();
  Run({"CLIENT", "TRACKING", "OFF"});
  CHECK_FALSE(server().changes.Wants(ChangeReason::kValueChanged));
}

TEST_CASE_METHOD(TrackingTest,
                 "INFO and CLIENT LIST tell of tracking; RESET and a client that leaves end it") {
  {
    TestClient leaving(server());
    leaving.Run({"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a", "PREFIX", "b"});
    Run({"CLIENT", "TRACKING", "ON"});
    Run({"MGET", "k", "l"});
    CHECK(other().Run({"INFO", "clients"}).text.find("tracking_clients:2\r\n") != std::string::npos);
    CHECK(
        other()
            .Run({"INFO", "stats"})
            .text.find("tracking_total_keys:2\r\ntracking_total_items:2\r\ntracking_total_prefixes:2\r\n") !=
        std::string::npos);
    const std::string lines = other().Run({"CLIENT", "LIST"}).text;
    CHECK(lines.find(" flags=t ") != std::string::npos);
    CHECK(lines.find(" flags=tB ") != std::string::npos);
  }
  CHECK(server().tracking.clients() == 1);
  Run({"RESET"});
  CHECK(server().tracking.clients() == 0);
  CHECK(server().tracking.keys() == 0);
}

namespace {

using Scene = std::vector<std::vector<std::string>>;

const std::vector<Scene> kScenes = {
    {{"CLIENT", "TRACKING", "MAYBE"},
     {"CLIENT", "TRACKING", "ON", "x"},
     {"CLIENT", "TRACKING", "OFF", "x"},
     {"CLIENT", "TRACKING"},
     {"CLIENT", "TRACKING", "ON", "REDIRECT"},
     {"CLIENT", "TRACKING", "ON", "REDIRECT", "x"},
     {"CLIENT", "TRACKING", "ON", "REDIRECT", "999999"},
     {"CLIENT", "TRACKING", "ON", "REDIRECT", "0"},
     {"CLIENT", "TRACKING", "ON", "PREFIX", "a"},
     {"CLIENT", "TRACKING", "ON", "BCAST", "OPTIN"},
     {"CLIENT", "TRACKING", "ON", "OPTIN", "OPTOUT"},
     {"CLIENT", "CACHING", "YES"},
     {"CLIENT", "CACHING"},
     {"CLIENT", "GETREDIR"},
     {"CLIENT", "TRACKINGINFO"},
     {"CLIENT", "TRACKING", "OFF"}},
    {{"CLIENT", "TRACKING", "on"},
     {"CLIENT", "TRACKINGINFO"},
     {"CLIENT", "GETREDIR"},
     {"CLIENT", "CACHING", "YES"},
     {"CLIENT", "CACHING", "NO"},
     {"CLIENT", "CACHING", "x"},
     {"CLIENT", "TRACKING", "ON", "BCAST"},
     {"CLIENT", "TRACKING", "ON", "OPTIN"},
     {"CLIENT", "CACHING", "NO"},
     {"CLIENT", "CACHING", "YES"},
     {"CLIENT", "TRACKINGINFO"},
     {"GET", "k"},
     {"CLIENT", "TRACKINGINFO"},
     {"CLIENT", "TRACKING", "ON", "OPTOUT"},
     {"CLIENT", "TRACKING", "OFF"},
     {"CLIENT", "TRACKING", "ON", "OPTOUT", "NOLOOP"},
     {"CLIENT", "CACHING", "YES"},
     {"CLIENT", "CACHING", "no"},
     {"CLIENT", "TRACKINGINFO"}},
    {{"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a", "PREFIX", "ab"},
     {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "x", "PREFIX", "m", "PREFIX", "x"},
     {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "b", "PREFIX", "a"},
     {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "x1", "PREFIX", "x", "PREFIX", "bcd"},
     {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "abc"},
     {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "c"},
     {"CLIENT", "TRACKING", "ON"},
     {"CLIENT", "TRACKINGINFO"},
     {"RESET"},
     {"CLIENT", "TRACKINGINFO"}},
    {{"CLIENT", "TRACKING", "ON", "BCAST"},
     {"CLIENT", "TRACKINGINFO"},
     {"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "a"},
     {"CLIENT", "TRACKINGINFO"}},
};

}  // namespace

TEST_CASE("CLIENT TRACKING and its kin are answered as by a redis-server, under RESP2 and RESP3") {
  Oracle redis;
  for (const int version : {2, 3}) {
    for (const Scene& scene : kScenes) {
      CommandTest mayfly;
      OracleClient theirs(redis);
      if (version == 3) {
        mayfly.UseResp3();
        theirs.Ask(EncodeRequest({"HELLO", "3"}), 1);
      }
      for (const auto& words : scene) {
        std::string said;
        for (const std::string& word : words) said += word + " ";
        INFO("RESP" << version << ": " << said);
        CHECK(mayfly.RunRaw(EncodeRequest(words)) == theirs.Ask(EncodeRequest(words), 1).front());
      }
    }
  }
}

TEST_CASE_METHOD(TrackingTest, "who begins to track after a flush is told of the next one") {
  Run({"CLIENT", "TRACKING", "ON"});
  other().Run({"SET", "a", "1"});
  Run({"GET", "a"});
  other().Run({"FLUSHALL"});
  CHECK(Told() == Replies{kForgetAll});
  other().Run({"SET", "k", "1"});
  Run({"CLIENT", "TRACKING", "OFF"});
  Run({"CLIENT", "TRACKING", "ON", "BCAST"});
  Run({"GET", "k"});
  other().Run({"FLUSHALL"});
  CHECK(Told() == Replies{kForgetAll});
}

TEST_CASE_METHOD(TrackingTest, "BCAST without a prefix means all keys, whatever prefixes the client has") {
  Run({"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "foo"});
  CHECK(Run({"CLIENT", "TRACKING", "ON", "BCAST"}) == Ok());
  other().Run({"SET", "other", "1"});
  CHECK(Told() == Replies{Invalidate({"other"})});
  CHECK(Run({"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "x"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(TrackingTest, "CLIENT CACHING counts for the next request, even for a refused one") {
  Run({"CLIENT", "TRACKING", "ON", "OPTOUT"});
  other().Run({"SET", "k", "1"});
  for (const std::vector<std::string>& refused :
       std::vector<std::vector<std::string>>{{"GET"}, {"UNKNOWN"}}) {
    Run({"CLIENT", "CACHING", "NO"});
    CHECK(Run(refused).kind == Reply::Kind::kError);
    Run({"GET", "k"});
    other().Run({"SET", "k", "2"});
    CHECK(Told() == Replies{Invalidate({"k"})});
  }
}

}  // namespace mayfly::testing
