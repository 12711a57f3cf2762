// The protocol itself: RESP2 and RESP3, requests cut anywhere, pipelines of any depth, and bytes that are no
// protocol.
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("a hiredis client stores, reads, times and deletes keys") {
  const Daemon daemon;
  Client client(daemon);
  CHECK(client.Run({"SET", "k", "v"}) == "OK");
  CHECK(client.Run({"GET", "k"}) == "v");
  CHECK(client.Run({"EXPIRE", "k", "100"}) == ":1");
  CHECK(client.Run({"TTL", "k"}) == ":100");
  CHECK(client.Run({"DEL", "k", "absent"}) == ":1");
  CHECK(client.Run({"GET", "k"}) == "(nil)");
  CHECK(client.Run({"MSET", "a", "1", "b", "2"}) == "OK");
  CHECK(client.Run({"MGET", "a", "absent", "b"}) == "[1 (nil) 2]");
  CHECK(client.Run({"INCR", "a"}) == ":2");
  CHECK(client.Run({"NOSUCH"}).starts_with("-ERR unknown command"));
}

TEST_CASE("a pipeline of 100,000 requests is answered in order") {
  const Daemon daemon;
  Client client(daemon);
  constexpr int kRequests = 100'000;
  for (int i = 0; i < kRequests; ++i) client.Queue({"ECHO", std::to_string(i)});
  int wrong = 0;
  for (int i = 0; i < kRequests; ++i) wrong += client.Next() == std::to_string(i) ? 0 : 1;
  CHECK(wrong == 0);
}

TEST_CASE("a request may be split at any byte") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  const std::string requests = Request({"SET", "key", "some value"}) + Request({"GET", "key"}) +
                               "PING hello\r\n" + Request({"DEL", "key"});
  const std::string replies = "+OK\r\n$10\r\nsome value\r\n$5\r\nhello\r\n:1\r\n";
  for (size_t cut = 1; cut < requests.size(); ++cut) {
    INFO("cut at " << cut);
    REQUIRE(wire.Send(requests.substr(0, cut)));
    // Once a request on another connection is answered, the loop has turned between the two parts.
    if (cut % 8 == 0) REQUIRE(Wire::Tcp(daemon.port()).Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
    REQUIRE(wire.Ask(requests.substr(cut), replies) == replies);
  }
}

TEST_CASE("requests may come byte by byte") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  for (const char byte : Request({"SET", "key", "v"}) + Request({"GET", "key"})) {
    REQUIRE(wire.Send({&byte, 1}));
    PauseMs(0);
  }
  CHECK(wire.Read(12) == "+OK\r\n$1\r\nv\r\n");
}

TEST_CASE("big arguments arrive complete, wherever they are cut") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  for (const size_t size :
       {size_t{32'768}, size_t{32'769}, size_t{65'536}, size_t{300'000}, size_t{5'000'000}}) {
    std::string value(size, '\0');
    for (size_t i = 0; i < size; ++i) value[i] = static_cast<char>('a' + i % 23);
    const std::string request =
        Request({"SET", "big", value}) + Request({"STRLEN", "big"}) + Request({"GET", "big"});
    const std::string reply =
        "+OK\r\n:" + std::to_string(size) + "\r\n$" + std::to_string(size) + "\r\n" + value + "\r\n";
    for (const size_t first : {size_t{1}, size_t{20}, size_t{40}, size / 2, size + 20, request.size() - 1}) {
      INFO("size " << size << ", cut at " << first);
      REQUIRE(wire.Send(request.substr(0, first)));
      REQUIRE(Wire::Tcp(daemon.port()).Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
      REQUIRE((wire.Ask(request.substr(first), reply) == reply));
    }
  }
}

TEST_CASE("a request of very many small arguments is kept until it is complete") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  constexpr int kKeys = 60'000;
  std::string request = "*" + std::to_string(kKeys + 1) + "\r\n$6\r\nEXISTS\r\n";
  for (int i = 0; i < kKeys; ++i) request += "$6\r\n" + std::to_string(100'000 + i) + "\r\n";
  request += Request({"PING"});
  CHECK(wire.Ask(request, ":0\r\n+PONG\r\n") == ":0\r\n+PONG\r\n");
}

TEST_CASE("RESP3 is spoken after HELLO 3") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  wire.Send(Request({"GET", "absent"}) + Request({"HELLO", "3"}) + Request({"GET", "absent"}) +
            Request({"QUIT"}));
  const std::string all = wire.ReadToEnd();
  CHECK(all.starts_with("$-1\r\n%"));
  CHECK(all.ends_with("_\r\n+OK\r\n"));
}

TEST_CASE("inline requests are answered, and empty lines are not") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  CHECK(wire.Ask("SET k \"a b\"\r\n", "+OK\r\n") == "+OK\r\n");
  CHECK(wire.Ask("\r\n\r\nGET k\n", "$3\r\na b\r\n") == "$3\r\na b\r\n");
  CHECK(wire.Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
}

TEST_CASE("a protocol error is answered and closes only the client that made it") {
  const Daemon daemon;
  const Wire innocent = Wire::Tcp(daemon.port());
  const auto error_of = [&](const std::string& bytes) {
    const Wire wire = Wire::Tcp(daemon.port());
    wire.Send(bytes);
    return wire.ReadToEnd();
  };
  CHECK(error_of("*1x\r\n") == "-ERR Protocol error: invalid multibulk length\r\n");
  CHECK(error_of("*1\r\n$-1\r\n") == "-ERR Protocol error: invalid bulk length\r\n");
  CHECK(error_of("*1\r\nPING\r\n") == "-ERR Protocol error: expected '$', got 'P'\r\n");
  CHECK(error_of("GET \"a\r\n") == "-ERR Protocol error: unbalanced quotes in request\r\n");
  CHECK(error_of(std::string(70'000, 'x')) == "-ERR Protocol error: too big inline request\r\n");
  CHECK(error_of(Request({"PING"}) + "*-x\r\n") ==
        "+PONG\r\n-ERR Protocol error: invalid multibulk length\r\n");
  CHECK(innocent.Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
}

TEST_CASE("the text of a protocol error arrives even if the client goes on sending") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  wire.Send("*1\r\n$x\r\n" + std::string(1'000'000, 'x'));
  CHECK(wire.ReadToEnd() == "-ERR Protocol error: invalid bulk length\r\n");
}

TEST_CASE("requests before QUIT are answered, those after it are not") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  wire.Send(Request({"PING"}) + Request({"QUIT"}) + Request({"PING"}));
  CHECK(wire.ReadToEnd() == "+PONG\r\n+OK\r\n");
}

TEST_CASE("a client that closes its side gets all replies before the connection ends") {
  const Daemon daemon;
  const Wire wire = Wire::Tcp(daemon.port());
  const std::string value(100'000, 'v');
  std::string requests = Request({"SET", "k", value});
  constexpr int kGets = 200;
  for (int i = 0; i < kGets; ++i) requests += Request({"GET", "k"});
  wire.Send(requests);
  wire.EndOutput();
  const std::string replies = wire.ReadToEnd();
  CHECK(replies.size() == 5 + kGets * (value.size() + 11));
  CHECK(replies.ends_with("v\r\n"));
}

}  // namespace
}  // namespace mayfly
