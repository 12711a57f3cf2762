// What TLS holds, and what becomes of a connection that gets no memory.
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include <openssl/crypto.h>

#include "net/tls/tls_stream.h"
#include "support/catch.h"
#include "support/long_text.h"
#include "unit/net/tls/rig.h"

namespace mayfly::net {
namespace {

using State = Transport::State;
using Unique = std::unique_ptr<Transport>;

size_t left_until_failure = 0;  // of OpenSSL's allocations; 0: none fails
bool failed = false;

bool FailsNow() noexcept {
  if (left_until_failure == 0 || --left_until_failure != 0) return false;
  failed = true;
  return true;
}

// OpenSSL takes these only before it has allocated anything.
const int kInstalled = CRYPTO_set_mem_functions(
    [](size_t size, const char*, int) { return FailsNow() ? nullptr : std::malloc(size); },
    [](void* memory, size_t size, const char*, int) {
      return FailsNow() ? nullptr : std::realloc(memory, size);
    },
    [](void* memory, const char*, int) { std::free(memory); });

TEST_CASE("a TLS connection without memory breaks, at whichever allocation that is, and others go on") {
  REQUIRE(kInstalled == 1);
  TlsRig rig;
  rig.Use();
  size_t breaks = 0;
  size_t ends = 0;
  for (size_t nth = 1; ends < 3; nth += nth < 100 ? 1 : 7) {
    const Unique server = rig.transports.NewTransport();
    TlsPeer client;
    const auto serve = [&server, nth](std::string_view ciphertext) {
      failed = false;
      left_until_failure = nth;
      bool thrown = false;
      try {
        server->Receive(ciphertext);
        if (server->state() == State::kOpen) server->Write("a reply");
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      left_until_failure = 0;
      if (thrown) CHECK(server->state() == State::kBroken);
      return !failed;
    };
    bool well = serve(client.Take());
    client.Receive(TlsRig::TakeToSend(*server));
    well &= serve(client.Take());
    breaks += server->state() == State::kBroken ? 1 : 0;
    ends += well ? 1 : 0;
    server->End();
  }
  CHECK(breaks > 100);
  const Unique server = rig.transports.NewTransport();
  TlsPeer client;
  TlsRig::Settle(*server, client);
  CHECK(client.open());
}

TEST_CASE("a connection to another server without memory breaks, at whichever allocation that is") {
  TlsRig rig;
  rig.settings.tls_replication = true;
  rig.Use();
  size_t breaks = 0;
  size_t ends = 0;
  for (size_t nth = 1; ends < 3; nth += nth < 100 ? 1 : 7) {
    const Unique server = rig.transports.NewTransport();
    std::string received;
    std::unique_ptr<TlsStream> client;
    bool any_failed = false;
    const auto work = [&](auto&& what) {
      failed = false;
      left_until_failure = nth;
      bool thrown = false;
      try {
        what();
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      left_until_failure = 0;
      any_failed |= failed;
      return !thrown;
    };
    bool well = work([&] { client = std::make_unique<TlsStream>(rig.transports.NewTransportTo("name")); });
    for (int round = 0; round < 3 && well; ++round) {
      std::string bytes;
      well = work([&] {
        for (; !client->ToSend().empty(); client->Sent(client->ToSend().size())) bytes += client->ToSend();
      });
      server->Receive(bytes);
      const std::string back = TlsRig::TakeToSend(*server);
      well = well && work([&] { client->Receive(back, received); }) && !client->ended();
    }
    breaks += well ? 0 : 1;
    ends += any_failed ? 0 : 1;
  }
  CHECK(breaks > 100);
}

TEST_CASE("certificates that cannot be loaded for lack of memory leave the old ones in force") {
  TlsRig rig;
  rig.Use();
  size_t refused = 0;
  for (size_t nth = 1;; nth += nth < 50 ? 1 : 97) {
    failed = false;
    left_until_failure = nth;
    bool well = false;
    try {
      well = !rig.transports.Prepare(rig.settings);
    } catch (const std::bad_alloc&) {
    }
    left_until_failure = 0;
    rig.transports.Abandon();
    refused += well ? 0 : 1;
    if (!failed) break;
  }
  CHECK(refused > 10);
  const Unique server = rig.transports.NewTransport();
  TlsPeer client;
  TlsRig::Settle(*server, client);
  CHECK(client.open());
}

#ifndef MAYFLY_SANITIZE

TEST_CASE("the memory of connections, and what stays of them, adds up to what the allocator counts") {
  TlsRig rig;
  const uint64_t at_start = rig.heap.ThreadBytes();
  rig.Use();
  CHECK(rig.bytes > 10'000);  // of the certificates and of OpenSSL itself
  std::vector<Unique> servers;
  std::vector<std::unique_ptr<TlsPeer>> clients;
  // Full first: the blocks for the traffic of one are the pool's then.
  for (int round = 0; round < 2; ++round) {
    servers.clear();
    clients.clear();
    const uint64_t before = rig.heap.ThreadBytes() - rig.bytes;
    for (int i = 0; i < 50; ++i) clients.push_back(std::make_unique<TlsPeer>());
    uint64_t own = 0;
    for (const std::unique_ptr<TlsPeer>& client : clients) {
      const Unique& server = servers.emplace_back(rig.transports.NewTransport());
      std::string hello = client->Take();
      server->Receive(hello);
      own += server->memory();
    }
    const uint64_t with_clients = rig.heap.ThreadBytes() - rig.bytes - before;
    CHECK(own < with_clients);
    CHECK(own > 50 * 5'000);
  }
  servers.clear();
  clients.clear();
  CHECK(rig.heap.ThreadBytes() - at_start < rig.bytes + 100'000);
}

TEST_CASE("a connection at rest holds no buffer") {
  TlsRig rig;
  rig.Use();
  const Unique server = rig.transports.NewTransport();
  CHECK(server->memory() < 300);
  TlsPeer client;
  TlsRig::Settle(*server, client);
  const size_t at_rest = server->memory();
  // Since 3.5 OpenSSL keeps the larger keys of its post-quantum groups.
  CHECK(at_rest < (OPENSSL_VERSION_PREREQ(3, 5) ? 40'000 : 20'000));
  const std::string text = testing::Pattern(60'000);
  for (int i = 0; i < 10; ++i) {
    client.Write(text);
    server->Receive(client.Take());
    CHECK(server->memory() > Block::kSize);
    CHECK(TlsRig::ReadAll(*server) == text);
    TlsRig::Write(*server, text);
    CHECK(server->memory() > Block::kSize);
    client.Receive(TlsRig::TakeToSend(*server));
  }
  CHECK(server->memory() <= at_rest + 1'000);
}

TEST_CASE("sessions in the cache outlive their connections, up to tls-session-cache-size") {
  TlsRig rig;
  rig.settings.tls_session_cache_size = 20;
  rig.Use();
  const auto connect = [&rig] {
    const Unique server = rig.transports.NewTransport();
    TlsPeer client({.version = TLS1_2_VERSION, .tickets = false});
    TlsRig::Settle(*server, client);
    REQUIRE(client.open());
  };
  connect();
  const uint64_t one = rig.bytes;
  for (int i = 0; i < 19; ++i) connect();
  const uint64_t full = rig.bytes;
  CHECK(full > one + 19 * 200);
  for (int i = 0; i < 100; ++i) connect();
  CHECK(rig.bytes < full + 4'000);
}

#endif

}  // namespace
}  // namespace mayfly::net
