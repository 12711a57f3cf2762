// SUBSCRIBE and its kin, PUBLISH, PUBSUB; also beside a redis-server.
#include "server/watch/pubsub.h"

#include <algorithm>
#include <memory>
#include <random>

#include "base/text/glob.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;

Reply Message(const std::string& channel, const std::string& text) {
  return Bulks({"message", channel, text});
}
Reply PatternMessage(const std::string& pattern, const std::string& channel, const std::string& text) {
  return Bulks({"pmessage", pattern, channel, text});
}
Reply Confirmation(const std::string& word, const std::string& name, int64_t count) {
  return Array({Bulk(word), Bulk(name), Integer(count)});
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "a message goes to all who have subscribed to its channel") {
  TestClient& a = Connect();
  TestClient& b = Connect();
  CHECK(a.RunRaw("SUBSCRIBE news sport\r\n") ==
        "*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$5\r\nsport\r\n:2\r\n");
  CHECK(b.Run({"SUBSCRIBE", "news"}) == Confirmation("subscribe", "news", 1));
  CHECK(Run({"PUBLISH", "news", "hello"}) == Integer(2));
  CHECK(Run({"PUBLISH", "sport", "goal"}) == Integer(1));
  CHECK(Run({"PUBLISH", "weather", "rain"}) == Integer(0));
  CHECK(a.Received() == Replies{Message("news", "hello"), Message("sport", "goal")});
  CHECK(b.Received() == Replies{Message("news", "hello")});
  CHECK(a.Run({"UNSUBSCRIBE", "news"}) == Confirmation("unsubscribe", "news", 1));
  CHECK(Run({"PUBLISH", "news", "again"}) == Integer(1));
  CHECK(a.Received().empty());
}

TEST_CASE_METHOD(CommandTest,
                 "a message goes to all whose pattern its channel matches, once for each pattern") {
  TestClient& a = Connect();
  a.RunRaw("PSUBSCRIBE news.* * n?ws.* [mn]ews.art news.art\\* new\r\n");
  a.Run({"SUBSCRIBE", "news.art"});
  CHECK(Run({"PUBLISH", "news.art", "x"}) == Integer(5));
  Replies got = a.Received();
  REQUIRE(got.size() == 5);
  CHECK(got[0] == Message("news.art", "x"));
  for (const char* pattern : {"news.*", "*", "n?ws.*", "[mn]ews.art"})
    CHECK(std::count(got.begin(), got.end(), PatternMessage(pattern, "news.art", "x")) == 1);
  CHECK(Run({"PUBLISH", "news.", "x"}) == Integer(3));
  CHECK(Run({"PUBLISH", "news.art*", "x"}) == Integer(4));
  CHECK(Run({"PUBLISH", "new", "x"}) == Integer(2));
  CHECK(Run({"PUBLISH", "ne", "x"}) == Integer(1));
  CHECK(Run({"PUBLISH", "", "x"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "shard channels are apart from channels") {
  TestClient& a = Connect();
  CHECK(a.Run({"SSUBSCRIBE", "c"}) == Confirmation("ssubscribe", "c", 1));
  CHECK(a.Run({"SUBSCRIBE", "c"}) == Confirmation("subscribe", "c", 1));
  CHECK(Run({"SPUBLISH", "c", "s"}) == Integer(1));
  CHECK(Run({"PUBLISH", "c", "m"}) == Integer(1));
  CHECK(a.Received() == Replies{Bulks({"smessage", "c", "s"}), Message("c", "m")});
  CHECK(Run({"PUBSUB", "SHARDCHANNELS"}) == Bulks({"c"}));
  CHECK(a.Run({"SUNSUBSCRIBE"}) == Confirmation("sunsubscribe", "c", 0));
}

TEST_CASE_METHOD(CommandTest, "under RESP3 messages are pushes, and a subscriber may send any command") {
  TestClient& a = Connect();
  a.UseResp3();
  CHECK(a.RunRaw("SUBSCRIBE c\r\n") == ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
  CHECK(a.Run({"SET", "k", "v"}) == Ok());
  CHECK(a.Run({"PING"}) == Simple("PONG"));
  Run({"PUBLISH", "c", "m"});
  CHECK(a.RunRaw("GET k\r\n") == ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n$1\r\nv\r\n");
}

TEST_CASE_METHOD(CommandTest,
                 "under RESP2 a subscriber may send few commands, and PING answers like a message") {
  TestClient& a = Connect();
  a.Run({"SUBSCRIBE", "c"});
  CHECK(a.Run({"GET", "k"}) ==
        Error("ERR Can't execute 'get': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / "
              "QUIT / RESET are allowed in this context"));
  CHECK(a.Run({"PING"}) == Bulks({"pong", ""}));
  CHECK(a.Run({"PING", "x"}) == Bulks({"pong", "x"}));
  a.Run({"UNSUBSCRIBE", "c"});
  CHECK(a.Run({"PING"}) == Simple("PONG"));
  a.Run({"PSUBSCRIBE", "*"});
  CHECK(a.Run({"RESET"}) == Simple("RESET"));
  CHECK(a.Run({"GET", "k"}) == Null());
  CHECK(Run({"PUBLISH", "c", "m"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest,
                 "a client gets its own messages after the reply to the request that sent them") {
  client().UseResp3();
  Run({"SUBSCRIBE", "c"});
  const std::string message = ">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n";
  CHECK(RunRaw("PUBLISH c m\r\n") == ":1\r\n" + message);
  CHECK(RunRaw("MULTI\r\nPING\r\nPUBLISH c m\r\nPUBLISH c m\r\nPING\r\nEXEC\r\n") ==
        "+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n+PONG\r\n:1\r\n:1\r\n+PONG\r\n" + message +
            message);
}

TEST_CASE_METHOD(CommandTest, "messages and confirmations come also after CLIENT REPLY OFF") {
  client().UseResp3();
  CHECK(RunRaw("CLIENT REPLY OFF\r\nSUBSCRIBE c\r\nPING\r\n") ==
        ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n");
  Connect().Run({"PUBLISH", "c", "m"});
  CHECK(client().Received() == Replies{Push({Bulk("message"), Bulk("c"), Bulk("m")})});
}

TEST_CASE_METHOD(CommandTest, "a long message is shared by its subscribers, not copied") {
  TestClient& a = Connect();
  TestClient& b = Connect();
  const std::string text(100'000, 'm');
  a.Run({"SUBSCRIBE", "c"});
  b.Run({"PSUBSCRIBE", "c*"});
  CHECK(Run({"PUBLISH", "c", text}) == Integer(2));
  CHECK(a.session().output.chunk_memory() == OutputChunk::kSize);
  CHECK(b.session().output.chunk_memory() == OutputChunk::kSize);
  CHECK(a.Received() == Replies{Message("c", text)});
  CHECK(b.Received() == Replies{PatternMessage("c*", "c", text)});
}

TEST_CASE_METHOD(CommandTest, "a client that leaves, or is about to be closed, gets no message") {
  {
    TestClient leaving(server());
    leaving.RunRaw("SUBSCRIBE a b\r\nPSUBSCRIBE *\r\nSSUBSCRIBE s\r\n");
    CHECK(server().pubsub.clients() == 1);
  }
  CHECK(server().pubsub.clients() == 0);
  CHECK(Run({"PUBLISH", "a", "m"}) == Integer(0));
  CHECK(Run({"PUBSUB", "CHANNELS"}) == Array({}));
  CHECK(Run({"PUBSUB", "HELP"}).elements.size() > 8);
  CHECK(Run({"PUBSUB", "NUMPAT"}) == Integer(0));
  TestClient& quitting = Connect();
  quitting.Run({"SUBSCRIBE", "a"});
  quitting.Run({"QUIT"});
  Run({"PUBLISH", "a", "m"});
  CHECK(quitting.Received().empty());
}

TEST_CASE_METHOD(CommandTest, "PUBSUB, CLIENT LIST and INFO tell of subscriptions") {
  TestClient& a = Connect();
  a.RunRaw("SUBSCRIBE news sport\r\nPSUBSCRIBE n* m*\r\nSSUBSCRIBE shard\r\n");
  Connect().RunRaw("SUBSCRIBE news\r\n");
  CHECK(Run({"PUBSUB", "CHANNELS", "n*"}) == Bulks({"news"}));
  CHECK(Run({"PUBSUB", "CHANNELS"}).elements.size() == 2);
  CHECK(Run({"PUBSUB", "NUMSUB", "news", "absent"}) ==
        Array({Bulk("news"), Integer(2), Bulk("absent"), Integer(0)}));
  CHECK(Run({"PUBSUB", "NUMSUB"}) == Array({}));
  CHECK(Run({"PUBSUB", "NUMPAT"}) == Integer(2));
  CHECK(Run({"PUBSUB", "SHARDNUMSUB", "shard"}) == Array({Bulk("shard"), Integer(1)}));
  const std::string line = Run({"CLIENT", "LIST", "ID", std::to_string(a.session().id)}).text;
  CHECK(line.find(" flags=P ") != std::string::npos);
  CHECK(line.find(" sub=2 psub=2 ssub=1 ") != std::string::npos);
  CHECK(Run({"CLIENT", "LIST", "TYPE", "pubsub"}).text.find("id=" + std::to_string(a.session().id)) == 0);
  CHECK(Run({"INFO", "clients"}).text.find("pubsub_clients:2\r\n") != std::string::npos);
  const std::string stats = Run({"INFO", "stats"}).text;
  CHECK(stats.find("pubsub_channels:2\r\npubsub_patterns:2\r\npubsubshard_channels:1\r\n") !=
        std::string::npos);
  CHECK(Run({"CLIENT", "KILL", "TYPE", "pubsub"}) == Integer(2));
}

TEST_CASE_METHOD(CommandTest,
                 "many subscribe and leave in any order, and each message finds those who are there") {
  constexpr size_t kClients = 20;
  std::vector<TestClient*> clients;
  for (size_t i = 0; i < kClients; ++i) clients.push_back(&Connect());
  std::vector<bool> subscribed(kClients, false);
  std::mt19937_64 random(7);
  for (int step = 0; step < 2000; ++step) {
    const size_t i = random() % kClients;
    clients[i]->Run({subscribed[i] ? "UNSUBSCRIBE" : "SUBSCRIBE", "c"});
    clients[i]->Received();
    subscribed[i] = !subscribed[i];
    const auto expected = std::count(subscribed.begin(), subscribed.end(), true);
    REQUIRE(Run({"PUBLISH", "c", "m"}) == Integer(expected));
    for (size_t k = 0; k < kClients; ++k) REQUIRE(clients[k]->Received().size() == (subscribed[k] ? 1 : 0));
  }
}

TEST_CASE_METHOD(CommandTest, "whatever the pattern, a message is sent exactly if its channel matches") {
  std::mt19937_64 random(11);
  const auto draw = [&random](std::string_view letters, size_t most) {
    std::string text;
    for (size_t left = random() % (most + 1); left > 0; --left) text += letters[random() % letters.size()];
    return text;
  };
  TestClient& subscriber = Connect();
  subscriber.UseResp3();
  for (int round = 0; round < 500; ++round) {
    const std::string pattern = draw("ab*?[]\\^-", 6);
    subscriber.Run({"PSUBSCRIBE", pattern});
    for (int i = 0; i < 20; ++i) {
      const std::string channel = draw("ab*[]\\", 5);
      CAPTURE(pattern, channel);
      REQUIRE(Run({"PUBLISH", channel, "m"}) == Integer(GlobMatch(pattern, channel) ? 1 : 0));
    }
    subscriber.RunRaw(EncodeRequest({"PUNSUBSCRIBE", pattern}));
  }
}

namespace {

struct Line {
  std::vector<std::string> words;
  size_t replies;
};

// None of them makes more than one reply whose order is open.
const std::vector<Line> kLines = {
    {{"UNSUBSCRIBE"}, 1},
    {{"PUNSUBSCRIBE"}, 1},
    {{"SUNSUBSCRIBE"}, 1},
    {{"UNSUBSCRIBE", "a", "b"}, 2},
    {{"SUBSCRIBE"}, 1},
    {{"SUBSCRIBE", "a", "a", "b"}, 3},
    {{"PSUBSCRIBE", "a*", "[", "\\"}, 3},
    {{"SSUBSCRIBE", "a"}, 1},
    {{"GET", "k"}, 1},
    {{"ECHO", "x"}, 1},
    {{"PING", "a", "b"}, 1},
    {{"PUBSUB", "NUMPAT"}, 1},
    {{"PUBLISH", "zz", "b"}, 1},
    {{"SUBSCRIBE", ""}, 1},
    {{"UNSUBSCRIBE", "a", "none", ""}, 3},
    {{"PUNSUBSCRIBE", "a*", "[", "\\", "\\"}, 4},
    {{"SUNSUBSCRIBE", "a", "a"}, 2},
    {{"UNSUBSCRIBE"}, 1},
    {{"PUBSUB", "NUMSUB", "a"}, 1},
    {{"PUBSUB", "CHANNELS", "a", "b"}, 1},
    {{"PUBSUB", "NUMPAT", "x"}, 1},
    {{"PUBSUB", "SHARDCHANNELS", "a", "b"}, 1},
    {{"PUBSUB", "NOPE"}, 1},
    {{"PUBSUB"}, 1},
    {{"PUBLISH", "a"}, 1},
    {{"SPUBLISH", "a", "b"}, 1},
    {{"MULTI"}, 1},
    {{"SUBSCRIBE", "a"}, 1},
    {{"GET", "k"}, 1},
    {{"EXEC"}, 1},
    {{"GET", "k"}, 1},
    {{"UNSUBSCRIBE"}, 1},
};

}  // namespace

TEST_CASE("a subscriber is answered as by a redis-server, under RESP2 and RESP3") {
  Oracle redis;
  for (const int version : {2, 3}) {
    CommandTest mayfly;
    OracleClient theirs(redis);
    if (version == 3) {
      mayfly.UseResp3();
      theirs.Ask(EncodeRequest({"HELLO", "3"}), 1);
    }
    for (const Line& line : kLines) {
      std::string said;
      for (const std::string& word : line.words) said += word + " ";
      INFO("RESP" << version << ": " << said);
      std::string expected;
      for (const std::string& reply : theirs.Ask(EncodeRequest(line.words), line.replies)) expected += reply;
      CHECK(mayfly.RunRaw(EncodeRequest(line.words)) == expected);
    }
  }
}

}  // namespace mayfly::testing
