// The server's and the client's end of TLS connections, in one process and without sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/memory/heap.h"
#include "config/settings.h"
#include "net/tls/tls_transports.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/folder.h"
#include "unit/net/tls/peer.h"

namespace mayfly::net {

struct TlsRig {
  TlsRig() {
    settings.tls_port = 6380;
    settings.tls_cert_file = certificates.server;
    settings.tls_key_file = certificates.server_key;
    settings.tls_ca_cert_file = certificates.ca;
    settings.tls_auth_clients = config::TlsAuthClients::kNo;
  }

  // Puts the settings in force.
  void Use() {
    REQUIRE(transports.Prepare(settings).value_or("") == "");
    transports.Commit();
  }
  std::string ProblemOfUse() {
    const config::Problem problem = transports.Prepare(settings);
    transports.Abandon();
    return problem.value_or("");
  }

  // Everything that waits at the server goes to the client.
  static std::string TakeToSend(Transport& server) {
    std::string taken;
    while (!server.ToSend().empty()) {
      taken += server.ToSend();
      server.Sent(server.ToSend().size());
    }
    return taken;
  }
  static std::string ReadAll(Transport& server) {
    std::string all;
    for (std::string room(1'000, '\0'); server.HasPlaintext();) all.append(room, 0, server.Read(room));
    return all;
  }
  static void Write(Transport& server, std::string_view plaintext) {
    while (!plaintext.empty()) {
      const size_t taken = server.Write(plaintext);
      REQUIRE(taken != 0);
      plaintext.remove_prefix(taken);
    }
  }
  // Both sides, until neither has anything to send. What the server sends and gets comes in pieces of `step` bytes.
  static void Settle(Transport& server, TlsPeer& client, size_t step = 100'000) {
    for (bool more = true; more;) {
      const std::string forth = client.Take();
      for (size_t at = 0; at < forth.size(); at += step) server.Receive(forth.substr(at, step));
      const std::string back = TakeToSend(server);
      for (size_t at = 0; at < back.size(); at += step) client.Receive(back.substr(at, step));
      more = !forth.empty() || !back.empty();
    }
  }

  Folder folder;
  testing::Certificates certificates{folder.path()};
  Heap heap;
  uint64_t bytes = 0;
  config::Settings settings;
  TlsFigures figures;
  TlsTransports transports{heap, bytes, figures};
};

}  // namespace mayfly::net
