// CLIENT PAUSE with real connections: what is kept of a client's input, and how it goes on.
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using testing::EncodeRequest;
using testing::Integer;
using testing::Ok;
using testing::Reply;

TEST_CASE("a pause holds requests back until its last millisecond") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  REQUIRE(server.Run({"CLIENT", "PAUSE", "500"}) == Ok());
  peer.Request({"INCR", "n"});
  server.AdvanceTime(499);
  CHECK(peer.received().empty());
  server.AdvanceTime(1);
  CHECK(peer.TakeReplies() == std::vector<Reply>{Integer(1)});
}

TEST_CASE("a paused client's input is read up to a bound, and all of it runs in order afterwards") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  REQUIRE(server.Run({"CLIENT", "PAUSE", "1000"}) == Ok());
  constexpr int kRequests = 200'000;
  std::string requests;
  for (int i = 0; i < kRequests; ++i) requests += EncodeRequest({"INCR", "n"});
  peer.Send(requests);
  server.AdvanceTime(999);
  const size_t taken = requests.size() - peer.unread_by_program();
  CHECK(taken <= net::kParkedInputBytes + 2 * net::kReadBufferBytes);
  CHECK(peer.received().empty());
  server.AdvanceTime(1);
  const std::vector<Reply> replies = peer.TakeReplies();
  REQUIRE(replies.size() == kRequests);
  for (int i = 0; i < kRequests; ++i) REQUIRE(replies[static_cast<size_t>(i)] == Integer(i + 1));
}

TEST_CASE("a big argument that arrives during a pause in pieces is whole when the pause ends") {
  SimulatedServer server;
  Peer& peer = server.Connect();
  REQUIRE(server.Run({"CLIENT", "PAUSE", "100"}) == Ok());
  const std::string value(500'000, 'v');
  const std::string request = EncodeRequest({"INCR", "n"}) + EncodeRequest({"SET", "big", value});
  for (size_t at = 0; at < request.size(); at += 10'000) {
    peer.Send(request.substr(at, 10'000));
    server.AdvanceTime(1);
  }
  CHECK(peer.received().empty());
  peer.Request({"GET", "big"});
  server.AdvanceTime(100);
  CHECK((peer.TakeReplies() == std::vector<Reply>{Integer(1), Ok(), testing::Bulk(value)}));
}

TEST_CASE("a pause of writes lets reads pass, and requests after a write wait for it") {
  SimulatedServer server;
  Peer& reader = server.Connect();
  Peer& writer = server.Connect();
  REQUIRE(server.Run({"SET", "k", "old"}) == Ok());
  REQUIRE(server.Run({"CLIENT", "PAUSE", "100", "WRITE"}) == Ok());
  writer.Send(EncodeRequest({"GET", "k"}) + EncodeRequest({"SET", "k", "new"}) + EncodeRequest({"GET", "k"}));
  server.Settle();
  CHECK(writer.TakeReplies() == std::vector<Reply>{testing::Bulk("old")});
  CHECK(server.Ask(reader, {"GET", "k"}) == testing::Bulk("old"));
  server.AdvanceTime(100);
  CHECK(writer.TakeReplies() == std::vector<Reply>{Ok(), testing::Bulk("new")});
}

TEST_CASE("held-back requests run in the order in which they came") {
  SimulatedServer server;
  std::vector<Peer*> peers;
  for (int i = 0; i < 20; ++i) peers.push_back(&server.Connect());
  REQUIRE(server.Run({"CLIENT", "PAUSE", "100"}) == Ok());
  for (Peer* peer : peers) {
    peer->Request({"INCR", "n"});
    server.Settle();
  }
  server.AdvanceTime(100);
  for (int i = 0; i < 20; ++i)
    CHECK(peers[static_cast<size_t>(i)]->TakeReplies() == std::vector<Reply>{Integer(i + 1)});
}

TEST_CASE("held-back requests keep their order when one of their clients leaves") {
  SimulatedServer server;
  std::vector<Peer*> peers;
  for (int i = 0; i < 5; ++i) peers.push_back(&server.Connect());
  REQUIRE(server.Run({"CLIENT", "PAUSE", "100"}) == Ok());
  for (size_t i = 0; i < peers.size(); ++i) {
    peers[i]->Request({"APPEND", "order", std::to_string(i)});
    server.Settle();
  }
  peers[1]->Reset();
  server.AdvanceTime(100);
  CHECK(server.Run({"GET", "order"}) == testing::Bulk("0234"));
}

TEST_CASE("two CLIENT UNPAUSE in one pipeline run a held-back request once") {
  SimulatedServer server;
  Peer& held = server.Connect();
  Peer& chief = server.Connect();
  REQUIRE(server.Ask(chief, {"CLIENT", "PAUSE", "100000"}) == Ok());
  held.Send(EncodeRequest({"INCR", "n"}) + EncodeRequest({"INCR", "n"}));
  server.Settle();
  const std::string unpause = EncodeRequest({"CLIENT", "UNPAUSE"});
  chief.Send(unpause + unpause + EncodeRequest({"GET", "n"}) + unpause);
  server.Settle();
  const std::vector<Reply> replies = chief.TakeReplies();
  REQUIRE(replies.size() == 4);
  CHECK(replies[0] == Ok());
  CHECK(replies[1] == Ok());
  CHECK(replies[2] == testing::Null());  // held-back requests run at the end of the turn
  CHECK(replies[3] == Ok());
  CHECK(held.TakeReplies() == std::vector<Reply>{Integer(1), Integer(2)});
}

TEST_CASE("a pause that begins right after another one ended still holds the waiting requests back") {
  SimulatedServer server;
  Peer& held = server.Connect();
  Peer& chief = server.Connect();
  REQUIRE(server.Ask(chief, {"CLIENT", "PAUSE", "100000"}) == Ok());
  held.Request({"INCR", "n"});
  server.Settle();
  chief.Send(EncodeRequest({"CLIENT", "UNPAUSE"}) + EncodeRequest({"CLIENT", "PAUSE", "50"}));
  server.AdvanceTime(49);
  CHECK(chief.TakeReplies() == std::vector<Reply>{Ok(), Ok()});
  CHECK(held.received().empty());
  server.AdvanceTime(1);
  CHECK(held.TakeReplies() == std::vector<Reply>{Integer(1)});
}

TEST_CASE("the held-back request of a client that disconnects is not run") {
  SimulatedServer server;
  Peer& gone = server.Connect();
  REQUIRE(server.Run({"CLIENT", "PAUSE", "100"}) == Ok());
  gone.Request({"INCR", "n"});
  server.Settle();
  gone.Reset();
  server.AdvanceTime(100);
  CHECK(server.Run({"GET", "n"}) == testing::Null());
  CHECK(server.Info("connected_clients") == 1);
}

}  // namespace
}  // namespace mayfly::sim
