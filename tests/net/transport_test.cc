// Clients that come through a transport: its records, its handshake and its end, and that the limits of clients, which
// count requests and replies, hold as they do without one.
#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "server/figures/incidents.h"
#include "sim/server.h"
#include "support/catch.h"
#include "support/long_text.h"

namespace mayfly::sim {
namespace {

using testing::EncodeRequest;
using testing::Integer;
using testing::Ok;
using testing::Pattern;
using testing::Repeat;
using testing::Simple;

struct SealedServer : SimulatedServer {
  SealedServer() : SimulatedServer({.logs = true, .sealed = true}) {}

  // A connection on which the test writes the ciphertext itself.
  Peer& ConnectRaw() {
    Peer* const peer = TryConnect("127.0.0.1", kSealedAddress);
    REQUIRE(peer != nullptr);
    Settle();
    return *peer;
  }
};

TEST_CASE("a pipeline through a transport is answered in order, and by one write a turn") {
  SealedServer server;
  Peer& peer = server.Connect();
  peer.Send(Repeat("PING\r\n", 20'000) + EncodeRequest({"ECHO", "last"}));
  server.Settle();
  CHECK(peer.Take() == Repeat("+PONG\r\n", 20'000) + "$4\r\nlast\r\n");
  CHECK(peer.link().read_calls > 1);
}

TEST_CASE("records may be split anywhere, and requests need not end where records end") {
  const std::string requests = EncodeRequest({"SET", "k", "value"}) + EncodeRequest({"GET", "k"});
  for (size_t split = 1; split < requests.size(); split += 3) {
    for (const size_t step : {size_t{1}, size_t{2}, size_t{7}}) {
      ToyTransport client(ToyTransport::Side::kClient);
      client.Write(requests.substr(0, split));
      client.Write(requests.substr(split));
      const std::string ciphertext(client.ToSend());
      SealedServer server;
      Peer& raw = server.ConnectRaw();
      for (size_t at = 0; at < ciphertext.size(); at += step) {
        raw.Send(ciphertext.substr(at, step));
        server.Settle();
      }
      client.Receive(raw.Take());
      std::string plaintext(100, '\0');
      plaintext.resize(client.Read(plaintext));
      REQUIRE(plaintext == "+OK\r\n$5\r\nvalue\r\n");
    }
  }
}

TEST_CASE("a client with a wrong hello is told so and closed; the log has the reason") {
  SealedServer server;
  Peer& raw = server.ConnectRaw();
  raw.Send(ToyTransport::Record(ToyTransport::kHandshakeKind, "hallo") + "PING\r\n");
  server.Settle();
  CHECK(raw.closed());
  CHECK(raw.Take() == ToyTransport::Record(ToyTransport::kAlertKind, "a wrong hello"));
  CHECK(server.Log().find("a wrong hello") != std::string::npos);
}

TEST_CASE("nothing runs before the handshake") {
  SealedServer server;
  for (const std::string& first : {ToyTransport::Record(ToyTransport::kDataKind, "FLUSHALL\r\n"),
                                   std::string("FLUSHALL\r\nFLUSHALL\r\n")}) {
    Peer& raw = server.ConnectRaw();
    raw.Send(first);
    raw.EndInput();
    server.Settle();
    CHECK(raw.closed());
  }
  CHECK(server.stats().commands_processed == 0);
}

TEST_CASE("a client that does not finish the handshake is idle, and is closed after the timeout") {
  SealedServer server;
  server.Set("timeout", "5");
  Peer& raw = server.ConnectRaw();
  raw.Send(ToyTransport::Record(ToyTransport::kHandshakeKind, ToyTransport::kHello).substr(0, 5));
  server.AdvanceTime(4'999);
  CHECK(raw.connected());
  server.AdvanceTime(1);
  CHECK_FALSE(raw.connected());
}

TEST_CASE(
    "a handshake has to be finished in ten seconds, however busy the client is; then there is no such "
    "limit") {
  SealedServer server;
  Peer& finished = server.Connect();
  REQUIRE(server.Ask(finished, {"PING"}) == Simple("PONG"));
  Peer& silent = server.ConnectRaw();
  Peer& slow = server.ConnectRaw();
  const std::string hello = ToyTransport::Record(ToyTransport::kHandshakeKind, ToyTransport::kHello);
  for (size_t at = 0; at < 7; ++at) {
    slow.Send(hello.substr(at, 1));
    server.AdvanceTime(1'400);
  }
  server.AdvanceTime(net::kHandshakeMs - 7 * 1'400 - 1);
  CHECK(silent.connected());
  CHECK(slow.connected());
  server.AdvanceTime(1);
  CHECK_FALSE(silent.connected());
  CHECK_FALSE(slow.connected());
  const std::string log = server.Log();
  CHECK(log.find("TLS handshake: it was not finished in time") != std::string::npos);
  server.AdvanceTime(Incidents::kLogMs + 100'000);
  CHECK(server.Log().find("clients closed because of their TLS handshake: 1 more") != std::string::npos);
  CHECK(server.Ask(finished, {"PING"}) == Simple("PONG"));
}

TEST_CASE("handshakes that take long together go on in the next turns, and others are served in between") {
  SealedServer server;
  Peer& connected = server.Connect();
  REQUIRE(server.Ask(connected, {"PING"}) == Simple("PONG"));
  std::vector<Peer*> crowd;
  const std::string hello = ToyTransport::Record(ToyTransport::kHandshakeKind, ToyTransport::kHello);
  for (int i = 0; i < 20; ++i) crowd.push_back(&server.ConnectRaw());
  for (Peer* peer : crowd) peer->Send(hello);
  server.world.set_look_cost_us(1'000);  // so each handshake takes at least a millisecond
  const auto welcomed = [&crowd] {
    return std::count_if(crowd.begin(), crowd.end(), [](Peer* peer) { return !peer->received().empty(); });
  };
  for (int turn = 1; turn <= 10; ++turn) {
    connected.Request({"PING"});
    server.Turn();
    CHECK(connected.Take() == "+PONG\r\n");
    CHECK(welcomed() == turn * 2);
  }
}

TEST_CASE("plaintext that waits in the transport is run without a further read, a part each turn") {
  SealedServer server;
  Peer& peer = server.Connect();
  Peer& other = server.Connect();
  REQUIRE(server.Ask(peer, {"PING"}) == Simple("PONG"));
  const size_t reads = peer.link().read_calls;
  // A megabyte of requests in some hundred bytes of ciphertext.
  peer.Send("ECHO " + std::string(30'000, 'x') + "\r\n");
  for (int i = 0; i < 40; ++i) peer.Send(EncodeRequest({"SET", "k", std::string(25'000, 'v')}));
  other.Send("PING\r\n");
  server.Turn();
  CHECK(other.Take() == "+PONG\r\n");  // it does not wait for all of that
  CHECK(peer.received().size() < 30'000 + 40 * 5);
  server.Settle();
  CHECK(peer.Take() == "$30000\r\n" + std::string(30'000, 'x') + "\r\n" + Repeat("+OK\r\n", 40));
  CHECK(peer.link().read_calls == reads + 1);
}

TEST_CASE(
    "what waits in the transport when the connection is reset behind it runs, for a client that wants no "
    "replies") {
  SealedServer server;
  Peer& peer = server.Connect();
  peer.Request({"CLIENT", "REPLY", "OFF"});
  server.Settle();
  // While one megabyte of requests waits in the transport, another one arrives in the kernel, and the end behind it.
  for (const char* const part : {"first:", "last:"}) {
    for (int i = 0; i < 40; ++i) peer.Request({"SET", part + std::to_string(i), std::string(25'000, 'v')});
    server.Turn();
  }
  REQUIRE(peer.unread_by_program() != 0);
  peer.Reset();
  server.Settle();
  CHECK(server.keys() == 80);
  CHECK(peer.closed());
  CHECK(server.Info("connected_clients") == 1);
}

TEST_CASE("a broken record ends the client after the plaintext before it, and the client is told why") {
  SealedServer server;
  Peer& peer = server.Connect();
  REQUIRE(server.Ask(peer, {"PING"}) == Simple("PONG"));
  for (int i = 0; i < 40; ++i) peer.Request({"SET", "k" + std::to_string(i), std::string(25'000, 'v')});
  peer.link().Send(std::string("!\1\0\0", 4));  // of an unknown kind
  server.Turn();
  CHECK_FALSE(peer.closed());
  CHECK(server.keys() < 10);
  server.Settle();
  CHECK(server.keys() > 35);
  CHECK(peer.closed());
  peer.Take();
  CHECK(peer.transport()->state() == net::Transport::State::kBroken);
  CHECK(peer.transport()->Problem() == "a wrong record");
}

TEST_CASE("plaintext counts once as input, and what waits in the transport as the memory of its client") {
  SealedServer server;
  Peer& peer = server.Connect();
  REQUIRE(server.Ask(peer, {"PING"}) == Simple("PONG"));
  const uint64_t input = server.stats().net_input_bytes;
  const uint64_t memory = server.stats().client_bytes;
  size_t size = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string request = EncodeRequest({"SET", "k", std::string(25'000, 'v')});
    peer.Send(request);
    size += request.size();
  }
  server.Turn(2);
  CHECK(server.stats().client_bytes > memory + size / 2);
  server.Settle();
  CHECK(peer.Take() == Repeat("+OK\r\n", 40));
  CHECK(server.stats().net_input_bytes == input + size);
}

TEST_CASE("a big argument arrives through a transport, with and without runs") {
  SealedServer server;
  Peer& peer = server.Connect();
  for (const std::string& value : {std::string(3'000'000, 'v'), Pattern(3'000'000)}) {
    REQUIRE(server.Ask(peer, {"SET", "k", value}) == Ok());
    CHECK(server.Ask(peer, {"STRLEN", "k"}) == Integer(3'000'000));
    CHECK(server.Ask(peer, {"GET", "k"}) == testing::Bulk(value));
  }
}

TEST_CASE("what a paused client has sent waits in the transport, and nothing else runs it") {
  SealedServer server;
  Peer& peer = server.Connect();
  Peer& chief = server.Connect();
  REQUIRE(server.Ask(chief, {"CLIENT", "PAUSE", "50"}) == Ok());
  for (int i = 0; i < 40; ++i) peer.Send(EncodeRequest({"SET", "k", std::string(25'000, 'v')}));
  server.AdvanceTime(49);
  CHECK(peer.received().empty());
  const uint64_t turns = server.world.turns();
  server.Settle();
  CHECK(server.world.turns() == turns);  // and the loop sleeps
  server.AdvanceTime(1);
  CHECK(peer.Take() == Repeat("+OK\r\n", 40));
}

TEST_CASE("a slow reader gets everything, and the bytes of its replies are counted once") {
  SealedServer server;
  Peer& slow = server.Connect();
  slow.link().send_capacity = 10'000;
  slow.ReadPerMs(3'000);
  const std::string value = Pattern(500'000);
  REQUIRE(server.Ask(server.Connect(), {"SET", "big", value}) == Ok());
  const uint64_t before = server.stats().net_output_bytes;
  slow.Request({"GET", "big"});
  server.AdvanceTime(50);
  CHECK(slow.received().size() < value.size());
  server.AdvanceTime(1'000);
  CHECK(slow.TakeReplies() == std::vector<testing::Reply>{testing::Bulk(value)});
  CHECK(server.stats().net_output_bytes == before + value.size() + 11);
  CHECK(server.ClientField(slow, "tot-net-out") == "500011");
}

TEST_CASE("the output limit counts what waits before the transport and behind it, each byte once") {
  const std::string value = Pattern(100'000);
  for (const size_t replies : {size_t{8}, size_t{12}}) {
    SealedServer server;
    Peer& reader = server.Connect();
    REQUIRE(server.Ask(reader, {"SET", "k", value}) == Ok());
    server.Set("client-output-buffer-limit", "normal 1000000 0 0");
    reader.link().send_capacity = 10'000;
    reader.ReadNothing();
    for (size_t i = 0; i < replies; ++i) {
      reader.Request({"GET", "k"});
      server.Settle();
    }
    INFO(replies);
    CHECK(reader.closed() == (replies == 12));
    CHECK(server.Info("client_output_buffer_limit_disconnections") == (replies == 12 ? 1 : 0));
  }
}

TEST_CASE(
    "a client that says the end of its input gets its replies and then the end, by transport and socket") {
  for (const bool truncated : {false, true}) {
    SealedServer server;
    Peer& peer = server.Connect();
    const std::string value = Pattern(200'000);
    peer.Send(EncodeRequest({"SET", "k", value}) + EncodeRequest({"GET", "k"}));
    truncated ? peer.link().EndInput() : peer.SayEnd();
    server.Settle();
    CHECK(peer.Take() == "+OK\r\n$200000\r\n" + value + "\r\n");
    CHECK(peer.transport()->state() == net::Transport::State::kEnded);
    CHECK(peer.ended());
    CHECK(peer.closed());
  }
}

TEST_CASE("QUIT ends the transport before the socket") {
  SealedServer server;
  Peer& peer = server.Connect();
  peer.Send("QUIT\r\nPING\r\n");
  server.Settle();
  CHECK(peer.Take() == "+OK\r\n");
  CHECK(peer.transport()->state() == net::Transport::State::kEnded);
  CHECK(peer.ended());
}

TEST_CASE("a server that stops writes what waits, ends the transports, and ends") {
  SealedServer server;
  Peer& slow = server.Connect();
  Peer& raw = server.ConnectRaw();  // no hello yet
  Peer& peer = server.Connect();
  const std::string value = Pattern(300'000);
  REQUIRE(server.Ask(peer, {"SET", "k", value}) == Ok());
  slow.link().send_capacity = 10'000;
  slow.ReadPerMs(1'000);
  slow.Request({"GET", "k"});
  server.Settle();
  peer.Send(Repeat("PING\r\n", 1'000));
  server.Raise(SIGTERM);
  for (int ms = 0; ms < 400 && !server.ended(); ++ms) {
    server.AdvanceTime(1);
    for (Peer* one : {&slow, &raw, &peer}) {
      if (one->ended()) one->Leave();
    }
  }
  CHECK(server.ended());
  CHECK(server.elapsed_ms() < 400);
  CHECK(slow.TakeReplies() == std::vector<testing::Reply>{testing::Bulk(value)});
  CHECK(slow.transport()->state() == net::Transport::State::kEnded);
  CHECK(peer.Take() == Repeat("+PONG\r\n", 1'000));
  CHECK(peer.transport()->state() == net::Transport::State::kEnded);
}

TEST_CASE("a server that stops runs what waits in the transports first") {
  SealedServer server;
  Peer& peer = server.Connect();
  for (int i = 0; i < 40; ++i) peer.Request({"SET", "k", std::string(25'000, 'v')});
  server.Turn();
  server.Raise(SIGTERM);
  for (int ms = 0; ms < 400 && !server.ended(); ++ms) {
    server.AdvanceTime(1);
    if (peer.ended()) peer.Leave();
  }
  CHECK(server.ended());
  CHECK(peer.Take() == Repeat("+OK\r\n", 40));
}

TEST_CASE("clients that vanish with plaintext in their transport leave nothing behind") {
  SealedServer server;
  REQUIRE(server.Info("connected_clients") == 1);
  Peer& chief = server.Connect();
  for (int i = 0; i < 20; ++i) {
    Peer& peer = server.Connect();
    REQUIRE(server.Ask(chief, {"CLIENT", "PAUSE", "50"}) == Ok());
    peer.Send(EncodeRequest({"SET", "k", std::string(500'000, 'v')}) + EncodeRequest({"GET", "k"}));
    server.Turn(1 + i % 4);
    i % 2 == 0 ? peer.Reset() : peer.EndInput();
    server.Turn(i % 3);
    server.AdvanceTime(60);
    peer.Leave();
    server.Settle();
  }
  chief.Leave();
  server.Settle();
  CHECK(server.Info("connected_clients") == 1);
  CHECK(server.stats().arriving_bytes == 0);
  CHECK(server.stats().client_bytes < 100'000);  // the operator's own
}

TEST_CASE("a client too many is closed before the handshake") {
  SealedServer server;
  server.Set("maxclients", "1");
  Peer& first = server.Connect();
  REQUIRE(server.Ask(first, {"PING"}) == Simple("PONG"));
  Peer& second = server.Connect();
  CHECK(second.Take().empty());
  CHECK_FALSE(second.connected());
  CHECK(server.Ask(first, {"PING"}) == Simple("PONG"));
}

TEST_CASE("a client too many is told nothing in plain text on a port whose clients expect a handshake") {
  SealedServer server;
  server.Set("maxclients", "1");
  REQUIRE(server.Ask(server.Connect(), {"PING"}) == Simple("PONG"));
  Peer& raw = server.ConnectRaw();
  CHECK(raw.Take().empty());
  CHECK(raw.closed());
  Peer* const plain = server.TryConnect("127.0.0.1", "127.0.0.1:6379");
  REQUIRE(plain != nullptr);
  server.Settle();
  CHECK(plain->Take() == "-ERR max number of clients reached\r\n");
  CHECK(server.stats().connections_rejected == 2);
}

TEST_CASE("clients without a transport and with one share a server") {
  SealedServer server;
  Peer& sealed = server.Connect();
  Peer* const plain = server.TryConnect("127.0.0.1", "127.0.0.1:6379");
  REQUIRE(plain != nullptr);
  REQUIRE(server.Ask(sealed, {"SET", "k", "v"}) == Ok());
  CHECK(server.Ask(*plain, {"GET", "k"}) == testing::Bulk("v"));
  CHECK(plain->link().read_calls == 1);
}

}  // namespace
}  // namespace mayfly::sim
