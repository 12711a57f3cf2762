// How much one client may use, and that others do not suffer from it.
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"

#include <sys/resource.h>

namespace mayfly {
namespace {

constexpr size_t kMegabyte = 1 << 20;

TEST_CASE("a request above client-query-buffer-limit closes its client without a reply") {
  const Daemon daemon({"--client-query-buffer-limit", "1mb"});
  Client client(daemon);
  const Wire offender = Wire::Tcp(daemon.port());
  offender.Send("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2000000\r\n");
  static_cast<void>(offender.SendSome(std::string(2 * kMegabyte, 'x')));
  CHECK(offender.ReadToEnd().empty());
  CHECK(client.InfoNumber("client_query_buffer_limit_disconnections") == 1);

  const Wire small_pieces = Wire::Tcp(daemon.port());
  std::string many = "*1000000\r\n";
  while (many.size() < 2 * kMegabyte) many += "$100\r\n" + std::string(100, 'x') + "\r\n";
  static_cast<void>(small_pieces.Send(many));
  CHECK(small_pieces.ReadToEnd().empty());
  CHECK(client.InfoNumber("client_query_buffer_limit_disconnections") == 2);
  CHECK(client.Run({"SET", "k", std::string(kMegabyte / 2, 'v')}) == "OK");
}

TEST_CASE(
    "a file that would exceed the limit of a file's size (ulimit -f) is an error, and the daemon lives") {
  Daemon daemon({"--save", ""}, {.limits = {{RLIMIT_FSIZE, 100 * 1024}}});
  Client client(daemon);
  REQUIRE(client.Run({"SET", "small", "v"}) == "OK");
  REQUIRE(client.Run({"SAVE"}) == "OK");
  std::string value;
  for (unsigned state = 1; value.size() < 300'000; state = state * 1'103'515'245 + 12'345)
    value += static_cast<char>(state >> 16);
  REQUIRE(client.Run({"SET", "big", value}) == "OK");
  CHECK(client.Run({"SAVE"}).starts_with("-ERR"));
  REQUIRE(client.Run({"BGSAVE"}) == "Background saving started");
  CHECK(Eventually([&] { return client.InfoNumber("rdb_bgsave_in_progress") == 0; }));
  CHECK(daemon.Running());
  CHECK(client.Run({"GET", "small"}) == "v");
  CHECK(daemon.log().find("File too large") != std::string::npos);
}

TEST_CASE("a client whose unread replies exceed the hard output limit is closed") {
  const Daemon daemon;
  Client client(daemon);
  REQUIRE(client.Run({"SET", "big", std::string(4 * kMegabyte, 'v')}) == "OK");
  REQUIRE(client.Run({"CONFIG", "SET", "client-output-buffer-limit", "normal 16mb 0 0"}) == "OK");
  const Wire offender = Wire::Tcp(daemon.port());
  for (int i = 0; i < 16; ++i) offender.Send(Request({"GET", "big"}));
  CHECK(Eventually([&] { return client.InfoNumber("client_output_buffer_limit_disconnections") == 1; }));
  CHECK(client.Run({"PING"}) == "PONG");
}

TEST_CASE("a client that stays above the soft output limit for its time is closed") {
  const Daemon daemon({"--client-output-buffer-limit", "normal 0 1mb 1"});
  Client client(daemon);
  REQUIRE(client.Run({"SET", "big", std::string(900'000, 'v')}) == "OK");
  const Wire offender = Wire::Tcp(daemon.port());
  for (int i = 0; i < 64; ++i) offender.Send(Request({"GET", "big"}));
  CHECK(Eventually([&] { return client.InfoNumber("client_output_buffer_limit_disconnections") == 1; }));
  CHECK(client.Run({"PING"}) == "PONG");
}

TEST_CASE("a client that does not read delays no other, and gets everything once it reads") {
  const Daemon daemon;
  Client client(daemon);
  const std::string value(kMegabyte, 'v');
  REQUIRE(client.Run({"SET", "big", value}) == "OK");
  const Wire slow = Wire::Tcp(daemon.port());
  constexpr size_t kGets = 40;
  for (size_t i = 0; i < kGets; ++i) REQUIRE(slow.Send(Request({"GET", "big"})));
  for (int i = 0; i < 100; ++i) REQUIRE(client.Run({"ECHO", "still here"}) == "still here");
  const size_t reply_size = value.size() + 12;  // "$1048576\r\n" and "\r\n"
  CHECK(slow.Read(kGets * reply_size).size() == kGets * reply_size);
}

TEST_CASE("a client that writes a deep pipeline before it reads gets everything") {
  // Eight megabytes of output are calm with this maxmemory; the replies are two hundred.
  const Daemon daemon({"--maxmemory", "64mb"});
  Client client(daemon);
  REQUIRE(client.Run({"SET", "k", std::string(1000, 'v')}) == "OK");
  const Wire wire = Wire::Tcp(daemon.port());
  constexpr size_t kGets = 200'000;
  std::string requests;
  for (size_t i = 0; i < kGets; ++i) requests += Request({"GET", "k"});
  REQUIRE(wire.Send(requests));
  CHECK(client.Run({"PING"}) == "PONG");
  constexpr size_t kBytes = kGets * 1009;
  CHECK(wire.Read(kBytes).size() == kBytes);
}

TEST_CASE("a client that never reads is closed when its replies fill what maxmemory leaves for replies") {
  // Output may take half of the last hundredth of the memory.
  const Daemon daemon({"--maxmemory", "99%"});
  Client client(daemon);
  REQUIRE(client.Run({"SET", "k", std::string(10'000, 'v')}) == "OK");
  const Wire offender = Wire::Tcp(daemon.port());
  std::string requests;
  while (requests.size() < kMegabyte / 4) requests += Request({"GET", "k"});
  const auto closed = [&] { return client.InfoNumber("client_output_buffer_limit_disconnections") == 1; };
  CHECK(Eventually([&] { return closed() || !offender.Send(requests) || closed(); }));
  CHECK(Eventually(closed));
  CHECK(daemon.log().find("more than maxmemory leaves for the unread replies of all clients") !=
        std::string::npos);
  CHECK(client.Run({"PING"}) == "PONG");
}

TEST_CASE("two clients that were throttled both get everything when they read") {
  const Daemon daemon({"--maxmemory", "256mb"});
  Client client(daemon);
  REQUIRE(client.Run({"SET", "k", std::string(10'000, 'v')}) == "OK");
  constexpr size_t kGets = 8'000;
  std::string requests;
  for (size_t i = 0; i < kGets; ++i) requests += Request({"GET", "k"});
  const Wire first = Wire::Tcp(daemon.port());
  const Wire second = Wire::Tcp(daemon.port());
  REQUIRE(first.Send(requests));
  REQUIRE(second.Send(requests));
  constexpr size_t kBytes = kGets * 10'010;
  CHECK(first.Read(kBytes).size() == kBytes);
  CHECK(second.Read(kBytes).size() == kBytes);
}

TEST_CASE("clients that come and go leave nothing behind") {
  const Daemon daemon;
  Client client(daemon);
  constexpr int kClients = 300;
  for (int round = 0; round < 3; ++round) {
    std::vector<Wire> wires;
    for (int i = 0; i < kClients; ++i) {
      wires.push_back(Wire::Tcp(daemon.port()));
      // The daemon keeps half a request of each client.
      wires.back().Send(Request({"SET", "k", "v"}) + "*3\r\n$3\r\nSET\r\n$4000\r\n" + std::string(3000, 'x'));
    }
    for (const Wire& wire : wires) REQUIRE(wire.Read(5) == "+OK\r\n");
    CHECK(client.InfoNumber("connected_clients") == kClients + 1);
  }
  CHECK(Eventually([&] { return client.InfoNumber("connected_clients") == 1; }));
}

// What they have sent after the request that waits is more than the daemon keeps of it, and fits in the kernel's buffer behind
// that: otherwise a TCP connection's end would arrive only after the daemon had read more.
void LeaveWhileWaiting(std::vector<Wire>& dead) {
  for (const Wire& wire : dead)
    REQUIRE(wire.Send("BLPOP jobs 0\r\n" + Request({"ECHO", std::string(150'000, 'x')})));
}

TEST_CASE("clients that go away while they wait, with requests unread, take no element with them") {
  const Daemon daemon;
  Client client(daemon);
  const auto clients = [&] { return client.InfoNumber("connected_clients"); };
  for (const bool push_at_once : {false, true}) {
    for (const bool by_unix_socket : {false, true}) {
      INFO(push_at_once << by_unix_socket);
      std::vector<Wire> dead;
      for (int i = 0; i < 18; ++i)
        dead.push_back(by_unix_socket ? Wire::Unix(daemon.unix_socket()) : Wire::Tcp(daemon.port()));
      LeaveWhileWaiting(dead);
      REQUIRE(Eventually([&] { return client.InfoNumber("blocked_clients") == 18; }));
      dead.clear();
      if (!push_at_once) CHECK(Eventually([&] { return clients() == 1; }));
      CHECK(client.Run({"RPUSH", "jobs", "job1", "job2", "job3"}) == ":3");
      CHECK(client.Run({"LLEN", "jobs"}) == ":3");
      CHECK(Eventually([&] { return clients() == 1; }));
      CHECK(client.InfoNumber("blocked_clients") == 0);
      client.Run({"DEL", "jobs"});
    }
  }
}

TEST_CASE("CLIENT LIST shows how much of a big argument has arrived, and how much room is left for it") {
  const Daemon daemon;
  Client client(daemon);
  const Wire sender = Wire::Tcp(daemon.port());
  const std::string header = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\n";
  const auto list = [&] { return client.Run({"CLIENT", "LIST"}); };
  REQUIRE(sender.Send(header + std::string(300'000, 'x')));
  const std::string some = " qbuf=" + std::to_string(header.size() + 300'000) + " qbuf-free=748";
  CHECK(Eventually([&] { return list().find(some) != std::string::npos; }));
  REQUIRE(sender.Send(std::string(600'000, 'x')));
  const std::string more = " qbuf=" + std::to_string(header.size() + 900'000) + " qbuf-free=148";
  CHECK(Eventually([&] { return list().find(more) != std::string::npos; }));
  CHECK(client.InfoNumber("client_recent_max_input_buffer") >= 1'000'000);
  CHECK(sender.Ask(std::string(100'000, 'x') + "\r\n", "+OK\r\n") == "+OK\r\n");
}

TEST_CASE("a big argument that is announced and never sent evicts no key") {
  const Daemon daemon({"--maxmemory", "16mb"});
  Client client(daemon);
  for (int i = 0; i < 11'000; ++i)
    REQUIRE(client.Run({"SET", "k" + std::to_string(i), std::string(1000, 'v'), "EX", "1000"}) == "OK");
  std::vector<Wire> senders;
  for (int i = 0; i < 20; ++i) {
    senders.push_back(Wire::Tcp(daemon.port()));
    REQUIRE(senders.back().Send("*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$2100000\r\nabc"));
  }
  CHECK(Eventually([&] { return client.InfoNumber("mem_clients_normal") >= int64_t{20} * 2'100'000; }));
  REQUIRE(client.Run({"SET", "one", "1"}) == "OK");
  CHECK(client.InfoNumber("evicted_keys") == 0);
}

TEST_CASE("reply chunks left over from a slow reader count for no client") {
  const Daemon daemon;
  Client client(daemon);
  REQUIRE(client.Run({"SET", "k", std::string(400, 'v')}) == "OK");
  {
    const Wire slow = Wire::Tcp(daemon.port());
    std::string requests;
    for (int i = 0; i < 30'000; ++i) requests += Request({"GET", "k"});
    REQUIRE(slow.Send(requests));
    CHECK(Eventually([&] { return client.InfoNumber("mem_clients_normal") > int64_t{1} << 20; }));
  }
  CHECK(Eventually([&] { return client.InfoNumber("connected_clients") == 1; }));
  CHECK(client.InfoNumber("mem_clients_normal") < 64 << 10);
  CHECK(client.InfoNumber("mem_spare_reply_chunks") > 64 << 10);
  CHECK(client.InfoNumber("mem_spare_reply_chunks") <= 4 << 20);
  CHECK(client.InfoNumber("mem_not_counted_for_evict") < 64 << 10);
}

}  // namespace
}  // namespace mayfly
