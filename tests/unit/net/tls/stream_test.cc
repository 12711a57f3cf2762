// TLS between this server as a client (TlsStream) and a server's transport in the same process.
#include <ctime>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls/tls_stream.h"
#include "support/catch.h"
#include "support/long_text.h"
#include "unit/net/tls/rig.h"

namespace mayfly::net {
namespace {

using config::TlsAuthClients;

// Both ends, of the same options unless a test says otherwise.
struct StreamRig {
  StreamRig() {
    tls.settings.tls_replication = true;
    tls.Use();
  }
  void Begin(const std::string& host = "localhost") {
    server = tls.transports.NewTransport();
    client = std::make_unique<TlsStream>(tls.transports.NewTransportTo(host));
    received.clear();
  }
  // The client trusts what these options say, and shows their certificate.
  void BeginWith(const config::Settings& of_client) {
    server = tls.transports.NewTransport();
    REQUIRE(others.Prepare(of_client).value_or("") == "");
    others.Commit();
    client = std::make_unique<TlsStream>(others.NewTransportTo("localhost"));
    received.clear();
  }
  std::string TakeFromClient() const {
    std::string taken;
    while (true) {
      const std::string_view bytes = client->ToSend();
      if (bytes.empty()) return taken;
      taken += bytes;
      client->Sent(bytes.size());
    }
  }
  void GiveToClient(const std::string& bytes, size_t step = 100'000) {
    for (size_t at = 0; at < bytes.size(); at += step) client->Receive(bytes.substr(at, step), received);
  }
  // Until neither has anything to send; in pieces of `step` bytes. Returns what the server has read.
  std::string Settle(size_t step = 100'000) {
    std::string read;
    for (bool more = true; more;) {
      const std::string forth = TakeFromClient();
      for (size_t at = 0; at < forth.size(); at += step) server->Receive(forth.substr(at, step));
      read += TlsRig::ReadAll(*server);
      const std::string back = TlsRig::TakeToSend(*server);
      GiveToClient(back, step);
      more = !forth.empty() || !back.empty();
    }
    return read;
  }

  TlsRig tls;
  TlsTransports others{tls.heap, tls.bytes, tls.figures};
  std::unique_ptr<Transport> server;
  std::unique_ptr<TlsStream> client;
  std::string received;  // by the client
};

TEST_CASE("a stream to another server passes by TLS 1.2 and 1.3, whatever pieces its bytes come in") {
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    for (const size_t step : {size_t{1}, size_t{7}, size_t{100'000}}) {
      CAPTURE(version, step);
      StreamRig rig;
      rig.tls.settings.tls_protocols = version;
      rig.tls.Use();
      rig.Begin();
      rig.client->Send("a request before the handshake");
      CHECK_FALSE(rig.client->begun());
      CHECK(rig.client->unsent() == 30);
      CHECK(rig.Settle(step) == "a request before the handshake");
      CHECK(rig.client->begun());
      CHECK(rig.client->unsent() == 0);
      for (int i = 0; i < 5; ++i) {
        rig.client->Send("request " + std::to_string(i) + '\n');
        TlsRig::Write(*rig.server, "reply " + std::to_string(i) + '\n');
      }
      CHECK(rig.Settle(step) == "request 0\nrequest 1\nrequest 2\nrequest 3\nrequest 4\n");
      CHECK(rig.received == "reply 0\nreply 1\nreply 2\nreply 3\nreply 4\n");
    }
  }
}

TEST_CASE("a server is told its name, but no address") {
  StreamRig rig;
  rig.Begin("some.name.example");
  CHECK(rig.TakeFromClient().find("some.name.example") != std::string::npos);
  for (const char* address : {"127.0.0.1", "::1"}) {
    rig.Begin(address);
    CHECK(rig.TakeFromClient().find(address) == std::string::npos);
  }
  rig.Begin(std::string(1000, 'x'));
  CHECK(rig.TakeFromClient().find("xxx") == std::string::npos);
}

TEST_CASE("a large text is encrypted in pieces, as fast as they are sent, and what is unsent is known") {
  StreamRig rig;
  rig.Begin();
  rig.Settle();
  const std::string text = testing::Pattern(3'000'000);
  rig.client->Send("small");
  rig.client->Send(text);
  rig.client->Send("last");
  std::string read;
  size_t pieces = 0;
  for (size_t left = text.size() + 9; left != 0; left = rig.client->unsent()) {
    REQUIRE(rig.client->unsent() == left);
    const std::string piece(rig.client->ToSend());
    REQUIRE_FALSE(piece.empty());
    CHECK(piece.size() <= Block::kCapacity);
    CHECK(rig.client->ToSend() == piece);
    rig.client->Sent(piece.size());
    rig.server->Receive(piece);
    read += TlsRig::ReadAll(*rig.server);
    ++pieces;
  }
  CHECK(read == "small" + text + "last");
  CHECK(pieces > text.size() / Block::kCapacity);
  CHECK(pieces < 100);
}

TEST_CASE("a large answer comes whole, and its last bytes before the end that the server tells") {
  StreamRig rig;
  rig.Begin();
  rig.Settle();
  const std::string text = testing::Pattern(500'000);
  for (std::string_view rest = text; !rest.empty();) {
    rest.remove_prefix(rig.server->Write(rest.substr(0, 50'000)));
    rig.GiveToClient(TlsRig::TakeToSend(*rig.server), 16'384);
  }
  TlsRig::Write(*rig.server, "the end");
  rig.server->End();
  CHECK_FALSE(rig.client->ended());
  rig.Settle();
  CHECK(rig.received == text + "the end");
  CHECK(rig.client->ended());
  CHECK(rig.client->Problem().empty());
}

TEST_CASE("an end of this server's is told") {
  StreamRig rig;
  rig.Begin();
  rig.Settle();
  rig.client->End();
  rig.Settle();
  CHECK(rig.server->state() == Transport::State::kEnded);
}

TEST_CASE("a server whose certificate is not valid is refused, with the reason, and hears of it") {
  StreamRig rig;
  const Folder elsewhere;
  const testing::Certificates unknown(elsewhere.path());
  config::Settings of_client = rig.tls.settings;
  of_client.tls_ca_cert_file = unknown.ca;  // with the name of the right one
  rig.BeginWith(of_client);
  CHECK(rig.Settle().empty());
  CHECK(rig.client->Problem() == "certificate verify failed: certificate signature failure");

  of_client.tls_ca_cert_file = rig.tls.certificates.client;
  rig.BeginWith(of_client);
  rig.client->Send("a secret");
  CHECK(rig.Settle().empty());
  CHECK(rig.client->ended());
  CHECK_FALSE(rig.client->begun());
  CHECK(rig.client->Problem() == "certificate verify failed: self-signed certificate in certificate chain");
  CHECK(rig.server->Problem() == "tlsv1 alert unknown ca");

  rig.tls.certificates.Expire();
  rig.tls.Use();
  rig.Begin();
  CHECK(rig.Settle().empty());
  CHECK(rig.client->Problem() == "certificate verify failed: certificate has expired");

  // Its name does not matter, as in Redis.
  rig.tls.certificates.Renew("another.name.example");
  rig.tls.Use();
  rig.Begin("localhost");
  rig.Settle();
  CHECK(rig.client->begun());
}

TEST_CASE("a server that speaks no TLS is found out, whatever it says") {
  for (const char* text : {"-ERR unknown command\r\n", "+PONG\r\n", "HTTP/1.1 400 Bad Request\r\n\r\n"}) {
    StreamRig rig;
    rig.Begin();
    rig.TakeFromClient();
    rig.GiveToClient(text);
    CHECK(rig.client->ended());
    CHECK(rig.client->Problem() == "wrong version number");
  }
}

TEST_CASE("a handshake that was changed on the way gives nothing away, and mostly fails") {
  std::mt19937 random(1);
  int begun = 0;  // some bytes of a record's head have no meaning
  for (int round = 0; round < 500; ++round) {
    StreamRig rig;
    rig.Begin();
    rig.client->Send("a secret");
    const std::string hello = rig.TakeFromClient();
    rig.server->Receive(hello);
    std::string answer = TlsRig::TakeToSend(*rig.server);
    const size_t at = random() % answer.size();
    answer[at] = static_cast<char>(answer[at] ^ static_cast<char>(1 + random() % 255));
    rig.GiveToClient(answer);
    begun += rig.client->begun() ? 1 : 0;
    CHECK(rig.received.empty());
    CHECK(rig.TakeFromClient().find("secret") == std::string::npos);
  }
  CHECK(begun < 20);
}

TEST_CASE("a server that asks for a certificate gets the one for servers, or else the server's own") {
  StreamRig rig;
  rig.tls.settings.tls_auth_clients = TlsAuthClients::kYes;
  rig.tls.Use();
  rig.Begin();
  rig.Settle();
  CHECK(rig.server->state() == Transport::State::kOpen);

  config::Settings of_client = rig.tls.settings;
  of_client.tls_port = 0;
  of_client.tls_client_cert_file = rig.tls.certificates.client;
  of_client.tls_client_key_file = rig.tls.certificates.client_key;
  of_client.tls_cert_file = of_client.tls_key_file = "/not/looked/at";
  rig.BeginWith(of_client);
  rig.Settle();
  CHECK(rig.server->state() == Transport::State::kOpen);

  of_client.tls_client_cert_file = rig.tls.certificates.stranger;
  of_client.tls_client_key_file = rig.tls.certificates.stranger_key;
  rig.BeginWith(of_client);
  rig.Settle();
  CHECK(rig.server->state() == Transport::State::kBroken);
  CHECK(rig.client->Problem() == "tlsv1 alert unknown ca");

  of_client.tls_client_cert_file = of_client.tls_client_key_file = "";
  of_client.tls_cert_file = of_client.tls_key_file = "";
  for (const char* version : {"TLSv1.2", "TLSv1.3"}) {
    of_client.tls_protocols = version;
    rig.BeginWith(of_client);
    rig.Settle();
    CHECK(rig.client->ended());
    CHECK(rig.client->Problem().ends_with(version == std::string("TLSv1.3") ? "alert certificate required"
                                                                            : "alert handshake failure"));
  }
}

TEST_CASE("the handshakes of this server as a client are not among those of its clients") {
  StreamRig rig;
  rig.Begin();
  rig.Settle();
  CHECK(rig.tls.figures.handshakes == 1);  // of the server's end
  CHECK(rig.tls.figures.connections == 1);
}

TEST_CASE("what does not fit for other servers is refused in one line, and half a pair of files is told") {
  TlsRig rig;
  const testing::Certificates& files = rig.certificates;
  config::Settings& settings = rig.settings;
  settings.tls_port = 0;
  CHECK_FALSE(TlsTransports::Uses(settings));
  for (bool config::Settings::* const option :
       {&config::Settings::tls_replication, &config::Settings::tls_cluster}) {
    settings.*option = true;
    CHECK(TlsTransports::Uses(settings));
    settings.tls_ca_cert_file.clear();
    CHECK(rig.ProblemOfUse() ==
          "tls-replication and tls-cluster: other servers' certificates cannot be verified without "
          "tls-ca-cert-file or tls-ca-cert-dir");
    settings.tls_ca_cert_file = files.ca;
    CHECK(rig.ProblemOfUse().empty());
    settings.*option = false;
  }
  settings.tls_replication = true;
  settings.tls_cert_file.clear();  // nobody may ask for it
  CHECK(rig.ProblemOfUse().empty());

  settings.tls_client_cert_file = files.client;
  REQUIRE(rig.transports.Prepare(settings).value_or("") == "");
  CHECK(rig.transports.Warnings(0) ==
        std::vector<std::string>{"tls-client-cert-file has no effect without tls-client-key-file"});
  rig.transports.Abandon();
  settings.tls_client_key_file = files.server_key;
  CHECK(rig.ProblemOfUse() ==
        "tls-client-key-file: cannot load " + files.server_key + ": key values mismatch");
  settings.tls_client_cert_file = files.server;
  settings.tls_client_key_file = files.sealed_key;
  CHECK(rig.ProblemOfUse() ==
        "tls-client-key-file: cannot load " + files.sealed_key +
            ": bad decrypt (it is encrypted: tls-client-key-file-pass is its passphrase)");
  settings.tls_client_key_file_pass = testing::Certificates::kPassphrase;
  CHECK(rig.ProblemOfUse().empty());
  settings.tls_client_cert_file = "/nowhere";
  CHECK(rig.ProblemOfUse() == "tls-client-cert-file: cannot load /nowhere: No such file or directory");
}

TEST_CASE("a certificate for other servers that has expired is told of") {
  TlsRig rig;
  rig.settings.tls_port = 0;
  rig.settings.tls_replication = true;
  rig.certificates.Expire();
  REQUIRE(rig.transports.Prepare(rig.settings).value_or("") == "");
  const std::vector<std::string> warnings = rig.transports.Warnings(std::time(nullptr));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find("has expired: those that ask for it will refuse this server") != std::string::npos);
  rig.transports.Abandon();
}

}  // namespace
}  // namespace mayfly::net
