// Look-ahead: requests of one pipeline or of many clients are planned together, and nobody can tell.
#include "exec/dispatch/batch.h"

#include <random>
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/command_test.h"
#include "support/output_text.h"

namespace mayfly::testing {
namespace {

struct Sent {
  TestClient& client;
  std::string bytes;
};

std::string Request(const std::vector<std::string>& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  return bytes;
}

// What each client is answered when all that was sent has arrived in one turn.
std::vector<std::string> RunTogether(TestServer& server, const std::vector<Sent>& sent) {
  std::vector<Feed> feeds;
  for (const Sent& s : sent) feeds.push_back({.session = &s.client.session(), .input = s.bytes});
  server.executor.Run(feeds);
  std::vector<std::string> replies;
  for (const Sent& s : sent) {
    replies.push_back(OutputText(s.client.session().output));
    s.client.session().output.Consume(s.client.session().output.size());
  }
  return replies;
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "clients that send in the same turn are each answered in order") {
  TestClient& other = Connect();
  const auto replies = RunTogether(
      server(), {{client(), "SET k 1\r\nGET k\r\nNOSUCH\r\n"}, {other, "INCR k\r\n*1\r\nbroken\r\n"}});
  CHECK(replies[0] == "+OK\r\n$1\r\n1\r\n-ERR unknown command 'NOSUCH', with args beginning with: \r\n");
  CHECK(replies[1] == ":2\r\n-ERR Protocol error: expected '$', got 'b'\r\n");
  CHECK(other.session().Has(Mode::kEnding));
}

TEST_CASE_METHOD(CommandTest,
                 "rules that change hold for the requests that others have sent in the same turn") {
  Run({"ACL", "SETUSER", "app", "on", "nopass", "~*", "+@all", "-@dangerous"});
  Run({"SET", "k", "v"});
  TestClient& app = Connect();
  app.Run({"AUTH", "app", "any"});
  REQUIRE(app.Run({"GET", "k"}) == Bulk("v"));
  const std::string change = GENERATE("ACL SETUSER app -get\r\n", "MULTI\r\nACL SETUSER app -get\r\nEXEC\r\n",
                                      "ACL SETUSER app resetkeys\r\n");
  const auto replies = RunTogether(server(), {{client(), change}, {app, "GET k\r\n"}});
  CHECK(replies[1].starts_with("-NOPERM"));
  CHECK(RunTogether(server(), {{client(), "ACL SETUSER app +get ~*\r\n"}, {app, "GET k\r\nGET k\r\n"}})[1] ==
        "$1\r\nv\r\n$1\r\nv\r\n");
}

TEST_CASE_METHOD(CommandTest, "what one user may call is not known for another who sends the same") {
  Run({"ACL", "SETUSER", "app", "on", "nopass", "~*", "+@all", "-get", "-config", "+config|get"});
  TestClient& app = Connect();
  app.Run({"AUTH", "app", "any"});
  for (int i = 0; i < 3; ++i) {
    const auto replies = RunTogether(
        server(),
        {{client(), "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"},
         {app,
          "*2\r\n$3\r\nGET\r\n$1\r\nk\r\nCONFIG GET no\r\nCONFIG SET maxkeys 1\r\n*1\r\n$4\r\nPING\r\n"}});
    CHECK(replies[0] == "$-1\r\n");
    CHECK(replies[1] ==
          "-NOPERM this user has no permissions to run the 'get' command\r\n*0\r\n"
          "-NOPERM this user has no permissions to run the 'config|set' command\r\n+PONG\r\n");
  }
}

TEST_CASE_METHOD(CommandTest, "a client whose part of a batch has any length leaves the rest to the next") {
  Run({"SET", "k", "v"});
  TestClient& other = Connect();
  const size_t reply_size = std::string("$1\r\nv\r\n").size();
  const size_t ok_size = std::string("+OK\r\n").size();
  for (size_t first = 0; first <= Batch::kRequests; ++first) {
    std::string ends_early;
    for (size_t i = 0; i < first; ++i) ends_early += "GET k\r\n";
    ends_early += "SELECT 0\r\n";
    std::string many;
    for (size_t i = 0; i < 2 * Batch::kRequests; ++i) many += "GET k\r\n";
    const auto replies = RunTogether(server(), {{client(), ends_early}, {other, many}});
    CHECK(replies[0].size() == first * reply_size + ok_size);
    CHECK(replies[1].size() == 2 * Batch::kRequests * reply_size);
  }
}

TEST_CASE_METHOD(CommandTest,
                 "a key that was removed in the middle of a batch is not found by an old guess") {
  CHECK(RunRaw("SET k v\r\nGET k\r\nDEL k\r\nGET k\r\nSET k w\r\nGET k\r\nFLUSHDB\r\nGET k\r\n") ==
        "+OK\r\n$1\r\nv\r\n:1\r\n$-1\r\n+OK\r\n$1\r\nw\r\n+OK\r\n$-1\r\n");
  Run({"SET", "k", "v"});
  TestClient& other = Connect();
  const auto replies = RunTogether(server(), {{client(), "DEL k\r\n"}, {other, "GET k\r\n"}});
  CHECK(replies[0] == ":1\r\n");
  CHECK(replies[1] == "$-1\r\n");
}

TEST_CASE_METHOD(CommandTest, "what a client sends after SELECT is looked up in the other database") {
  CHECK(RunRaw("SET k zero\r\nSELECT 1\r\nGET k\r\nSET k one\r\nSELECT 0\r\nGET k\r\n") ==
        "+OK\r\n+OK\r\n$-1\r\n+OK\r\n+OK\r\n$4\r\nzero\r\n");
}

TEST_CASE_METHOD(CommandTest, "a limit that a pipeline sets applies to the next request") {
  Run({"SET", "other", "v"});
  const std::string replies = RunRaw("CONFIG SET maxmemory 1 maxmemory-policy noeviction\r\nSET k v\r\n");
  CHECK(replies.substr(0, 9) == "+OK\r\n-OOM");
}

TEST_CASE_METHOD(CommandTest, "a pipeline in pieces of any size is answered like single requests") {
  constexpr int kRounds = 200;
  std::mt19937 random(20261121);
  const auto below = [&](unsigned n) { return random() % n; };
  TestServer alone;
  TestClient reference(alone);
  std::vector<TestClient*> clients = {&client(), &Connect(), &Connect()};
  const auto key = [&] { return "k" + std::to_string(below(20)); };
  const auto draw = [&]() -> std::vector<std::string> {
    switch (below(14)) {
      case 0:
        return {"DEL", key(), key()};
      case 1:
        return {"SET", key(), std::string(below(300), 'x'), "PX", "100000"};
      case 2:
        return {"APPEND", key(), std::string(below(40), 'y')};
      case 3:
        return {"EXPIRE", key(), "1000"};
      case 4:
        return {"PERSIST", key()};
      case 5:
        return below(8) == 0 ? std::vector<std::string>{"FLUSHDB"}
                             : std::vector<std::string>{"GETDEL", key()};
      case 6:
        return {"SET", key(), std::to_string(random())};
      case 7: {
        std::vector<std::string> many = {"MGET"};
        for (unsigned n = below(30); n > 0; --n) many.push_back(key());
        return many;
      }
      case 8:
        return {"NOSUCH", key()};
      default:
        return {"GET", key()};
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Sent> sent;
    std::vector<std::string> expected;
    for (TestClient* one : clients) {
      sent.push_back({*one, {}});
      expected.emplace_back();
    }
    // One client at a time, so that the order between clients is known; what is planned ahead is not.
    for (size_t i = 0; i < clients.size(); ++i) {
      for (unsigned n = below(100); n > 0; --n) {
        const std::vector<std::string> words = draw();
        sent[i].bytes += Request(words);
        expected[i] += reference.RunRaw(Request(words));
      }
      const auto replies = RunTogether(server(), {sent[i]});
      REQUIRE(replies[0] == expected[i]);
    }
  }
}

TEST_CASE_METHOD(CommandTest, "a client that breaks the protocol shifts no argument of the next one") {
  TestClient& broken = Connect();
  const auto replies = RunTogether(server(), {{broken, "SET k v\r\nSET k \"half\r\n"},
                                              {client(), "SET \"quoted key\" \"quoted \\x21\"\r\n" +
                                                             Request({"GET", "quoted key"}) + "GET k\r\n"}});
  CHECK(replies[0] == "+OK\r\n-ERR Protocol error: unbalanced quotes in request\r\n");
  CHECK(replies[1] == "+OK\r\n$8\r\nquoted !\r\n$1\r\nv\r\n");
}

#ifndef MAYFLY_SANITIZE
TEST_CASE_METHOD(CommandTest, "a GET hit and an overwrite allocate nothing, a new key only its entry") {
  server().changes.Unlisten(server().change_log);  // which makes notes
  const auto allocated_by = [&](const std::string& bytes) {
    uint64_t* total = nullptr;
    size_t size = sizeof total;
    REQUIRE(mallctl("thread.allocatedp", &total, &size, nullptr, 0) == 0);
    Feed feed{.session = &client().session(), .input = bytes};
    const uint64_t before = *total;
    server().executor.Run({&feed, 1});
    const uint64_t after = *total;
    client().session().output.Consume(client().session().output.size());
    return after - before;
  };
  const std::string get = Request({"GET", "key"});
  const std::string set = Request({"SET", "key", std::string(64, 'v')});
  const std::string set_ex = Request({"SET", "other", std::string(64, 'v'), "EX", "100"});
  std::string pipeline;
  for (int i = 0; i < 64; ++i) pipeline += get + set + set_ex;
  allocated_by(set + set_ex + pipeline);
  CHECK(allocated_by(get) == 0);
  CHECK(allocated_by(set) == 0);
  CHECK(allocated_by(set_ex) == 0);
  CHECK(allocated_by(pipeline) == 0);
  // Header 14, two lengths, key and value: 14 + 2 + 3 + 64.
  CHECK(allocated_by(Request({"SET", "new", std::string(64, 'v')})) == Heap::SizeClass(83));
}
#endif

}  // namespace mayfly::testing
