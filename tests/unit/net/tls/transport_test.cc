// TLS between a transport and OpenSSL's client in the same process.
#include <string>
#include <vector>

#include "support/catch.h"
#include "support/long_text.h"
#include "unit/net/tls/rig.h"

namespace mayfly::net {
namespace {

using config::TlsAuthClients;
using State = Transport::State;
using testing::Pattern;
using Unique = std::unique_ptr<Transport>;

TEST_CASE("requests and replies pass by TLS 1.2 and 1.3, and nothing of them can be read on the way") {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsRig rig;
    rig.Use();
    const Unique server = rig.transports.NewTransport();
    TlsPeer client({.version = version, .host = "some.name.example"});
    CHECK(server->state() == State::kHandshake);
    CHECK(server->Write("too early") == 0);
    TlsRig::Settle(*server, client);
    REQUIRE(server->state() == State::kOpen);
    REQUIRE(client.open());
    client.Write("a request");
    const std::string ciphertext = client.Take();
    CHECK(ciphertext.find("request") == std::string::npos);
    server->Receive(ciphertext);
    CHECK(TlsRig::ReadAll(*server) == "a request");
    TlsRig::Write(*server, "a reply");
    TlsRig::Settle(*server, client);
    CHECK(client.received == "a reply");
  }
}

TEST_CASE("what arrives may be split at every byte") {
  TlsRig rig;
  rig.Use();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Unique server = rig.transports.NewTransport();
    TlsPeer client({.version = version});
    TlsRig::Settle(*server, client, 1);
    REQUIRE(server->state() == State::kOpen);
    for (int i = 0; i < 5; ++i) {
      client.Write("record " + std::to_string(i) + '\n');
      TlsRig::Write(*server, "reply " + std::to_string(i) + '\n');
    }
    const std::string both = client.Take();
    std::string got;
    for (const char byte : both) {
      server->Receive({&byte, 1});
      got += TlsRig::ReadAll(*server);
    }
    CHECK(got == "record 0\nrecord 1\nrecord 2\nrecord 3\nrecord 4\n");
    TlsRig::Settle(*server, client, 1);
    CHECK(client.received == "reply 0\nreply 1\nreply 2\nreply 3\nreply 4\n");
  }
}

TEST_CASE("plaintext that is not read waits, and is read in pieces of any size") {
  TlsRig rig;
  rig.Use();
  const Unique server = rig.transports.NewTransport();
  TlsPeer client;
  TlsRig::Settle(*server, client);
  const std::string text = Pattern(300'000);
  client.Write(text);
  TlsRig::Settle(*server, client);
  CHECK(server->memory() > text.size());
  std::string got;
  for (size_t size = 1; server->HasPlaintext(); size = size * 3 % 7'001) {
    std::string room(size, '\0');
    const size_t read = server->Read(room);
    REQUIRE(read != 0);
    got.append(room, 0, read);
  }
  CHECK(got == text);
  std::string room(10, '\0');
  CHECK(server->Read(room) == 0);
}

TEST_CASE("large writes are taken in records, up to a limit, and what waits to be sent stays where it is") {
  TlsRig rig;
  rig.Use();
  const Unique server = rig.transports.NewTransport();
  TlsPeer client;
  TlsRig::Settle(*server, client);
  const std::string text = Pattern(1'000'000);
  size_t taken = 0;
  for (size_t more = 1; more != 0; taken += more) more = server->Write(std::string_view(text).substr(taken));
  CHECK(taken >= kSealedBytes - 2 * kRecordBytes);
  CHECK(taken <= kSealedBytes);
  const std::string_view waiting = server->ToSend();
  const std::string copy(waiting);
  server->Receive({});
  CHECK(server->ToSend().data() == waiting.data());
  CHECK(server->ToSend() == copy);
  while (taken < text.size()) {
    client.Receive(TlsRig::TakeToSend(*server));
    for (size_t more = 1; more != 0; taken += more)
      more = server->Write(std::string_view(text).substr(taken));
  }
  client.Receive(TlsRig::TakeToSend(*server));
  CHECK(client.received == text);
}

TEST_CASE("a broken record breaks the connection, and the client gets an alert") {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsRig rig;
    rig.Use();
    for (size_t at = 0; at < 60; at += 7) {
      const Unique server = rig.transports.NewTransport();
      TlsPeer client({.version = version});
      TlsRig::Settle(*server, client);
      client.Write("a request that is changed on its way");
      std::string ciphertext = client.Take();
      ciphertext.at(at) = static_cast<char>(ciphertext.at(at) ^ 1);
      CAPTURE(version, at);
      server->Receive(ciphertext);
      const bool waits = server->state() == State::kOpen;  // its length was made greater
      CHECK((waits || server->state() == State::kBroken));
      CHECK_FALSE(server->HasPlaintext());
      if (waits) continue;
      CHECK_FALSE(server->Problem().empty());
      CHECK_FALSE(server->ToSend().empty());
      server->Receive("more");
      CHECK(server->Write("more") == 0);
      server->End();
    }
  }
}

TEST_CASE("what was received before a broken record is still read") {
  TlsRig rig;
  rig.Use();
  const Unique server = rig.transports.NewTransport();
  TlsPeer client;
  TlsRig::Settle(*server, client);
  client.Write("a request");
  server->Receive(client.Take() + std::string(100, 'x'));
  CHECK(server->state() == State::kBroken);
  CHECK(TlsRig::ReadAll(*server) == "a request");
}

TEST_CASE("plain text, HTTP and noise on the TLS port break the handshake, with a reason") {
  TlsRig rig;
  rig.Use();
  for (const std::string& text :
       {std::string("PING\r\n"), std::string("*1\r\n$4\r\nPING\r\n"), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string(1'000, '\0'), Pattern(1'000)}) {
    const Unique server = rig.transports.NewTransport();
    server->Receive(text);
    CHECK(server->state() == State::kBroken);
    CHECK_FALSE(server->Problem().empty());
    CHECK_FALSE(server->HasPlaintext());
  }
}

TEST_CASE("half a handshake waits for the rest, and may be given up at any byte") {
  TlsRig rig;
  rig.Use();
  TlsPeer hello;
  const std::string first = hello.Take();
  for (size_t size = 0; size < first.size(); ++size) {
    const Unique server = rig.transports.NewTransport();
    server->Receive(std::string_view(first).substr(0, size));
    REQUIRE(server->state() == State::kHandshake);
    CHECK(server->ToSend().empty());
    CHECK(server->Write("x") == 0);
    server->End();
  }
}

TEST_CASE("each side may end the connection; the other one still gets what was written before") {
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsRig rig;
    rig.Use();
    const Unique server = rig.transports.NewTransport();
    TlsPeer client({.version = version});
    TlsRig::Settle(*server, client);
    client.Write("the last request");
    client.End();
    TlsRig::Settle(*server, client);
    CHECK(server->state() == State::kEnded);
    CHECK(TlsRig::ReadAll(*server) == "the last request");
    CHECK_FALSE(client.ended());
    TlsRig::Write(*server, "the last reply");
    server->End();
    TlsRig::Settle(*server, client);
    CHECK(client.received == "the last reply");
    CHECK(client.ended());
    server->Receive("whatever comes now is dropped");
    CHECK(server->state() == State::kEnded);
  }
}

TEST_CASE("a client cannot renegotiate") {
  TlsRig rig;
  rig.Use();
  const Unique server = rig.transports.NewTransport();
  TlsPeer client({.version = TLS1_2_VERSION});
  TlsRig::Settle(*server, client);
  REQUIRE(SSL_renegotiate(client.ssl()) == 1);
  SSL_do_handshake(client.ssl());
  server->Receive(client.Take());
  CHECK(server->state() == State::kOpen);
  const std::string alert = TlsRig::TakeToSend(*server);
  CHECK_FALSE(alert.empty());
  CHECK(alert.size() < 100);
  client.Receive(alert);
  CHECK_FALSE(client.open());
}

TEST_CASE("a client of TLS 1.3 may change its keys, but if it never reads the answers it is closed") {
  TlsRig rig;
  rig.Use();
  const Unique server = rig.transports.NewTransport();
  TlsPeer client({.version = TLS1_3_VERSION});
  TlsRig::Settle(*server, client);
  const auto change_keys = [&client] {
    REQUIRE(SSL_key_update(client.ssl(), SSL_KEY_UPDATE_REQUESTED) == 1);
    client.Write("x");
    return client.Take();
  };
  for (int i = 0; i < 10; ++i) {
    server->Receive(change_keys());
    TlsRig::Settle(*server, client);
  }
  CHECK(TlsRig::ReadAll(*server) == "xxxxxxxxxx");
  for (int i = 0; i < 20'000 && server->state() == State::kOpen; ++i) {
    server->Receive(change_keys());
    TlsRig::ReadAll(*server);
  }
  CHECK(server->state() == State::kBroken);
  CHECK(server->Problem() == "it does not read what TLS answers");
  CHECK(server->memory() < 4 * Block::kSize);
}

TEST_CASE("tls-protocols says which versions are spoken") {
  struct Row {
    const char* protocols;
    bool with_12, with_13;
  };
  for (const Row& row : {Row{"", true, true}, Row{"TLSv1.2", true, false}, Row{"tlsv1.3", false, true},
                         Row{"TLSv1.3 TLSv1.2", true, true}}) {
    TlsRig rig;
    rig.settings.tls_protocols = row.protocols;
    rig.Use();
    for (const bool newer : {false, true}) {
      const Unique server = rig.transports.NewTransport();
      TlsPeer client({.version = newer ? TLS1_3_VERSION : TLS1_2_VERSION});
      TlsRig::Settle(*server, client);
      CAPTURE(row.protocols, newer);
      CHECK((server->state() == State::kOpen) == (newer ? row.with_13 : row.with_12));
      CHECK(client.open() == (newer ? row.with_13 : row.with_12));
    }
  }
}

TEST_CASE("the first cipher of the client counts, or the server's first one with tls-prefer-server-ciphers") {
  TlsRig rig;
  const bool prefers = GENERATE(false, true);
  CAPTURE(prefers);
  rig.settings.tls_ciphers = "ECDHE+AES256:ECDHE+AES128";
  rig.settings.tls_ciphersuites = "TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256";
  rig.settings.tls_prefer_server_ciphers = prefers;
  rig.Use();
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    const Unique server = rig.transports.NewTransport();
    TlsPeer client({.version = version,
                    .ciphers = "ECDHE+AES128:ECDHE+AES256",
                    .suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"});
    TlsRig::Settle(*server, client);
    REQUIRE(client.open());
    CAPTURE(client.cipher());
    CHECK((client.cipher().find("256") < client.cipher().find("128")) == prefers);
  }
}

TEST_CASE("tls-auth-clients says whether clients need a certificate, and one of strangers never passes") {
  enum class Shows { kNothing, kValid, kStrangers };
  for (const TlsAuthClients wanted : {TlsAuthClients::kNo, TlsAuthClients::kOptional, TlsAuthClients::kYes}) {
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
      for (const Shows shows : {Shows::kNothing, Shows::kValid, Shows::kStrangers}) {
        TlsRig rig;
        rig.settings.tls_auth_clients = wanted;
        rig.Use();
        const testing::Certificates& files = rig.certificates;
        TlsPeer::Start start{.version = version};
        if (shows == Shows::kValid) start.certificate = files.client, start.key = files.client_key;
        if (shows == Shows::kStrangers) start.certificate = files.stranger, start.key = files.stranger_key;
        const Unique server = rig.transports.NewTransport();
        TlsPeer client(start);
        TlsRig::Settle(*server, client);
        const bool passes = wanted == TlsAuthClients::kNo || shows == Shows::kValid ||
                            (wanted == TlsAuthClients::kOptional && shows == Shows::kNothing);
        CAPTURE(static_cast<int>(wanted), static_cast<int>(shows), version);
        CHECK((server->state() == State::kOpen) == passes);
      }
    }
  }
}

TEST_CASE("a session is resumed by its ticket, or from the cache by clients without tickets") {
  struct Way {
    int version;
    bool tickets;
  };
  for (const Way way : {Way{TLS1_3_VERSION, true}, Way{TLS1_2_VERSION, true}, Way{TLS1_2_VERSION, false}}) {
    for (const bool caching : {true, false}) {
      for (const TlsAuthClients wanted : {TlsAuthClients::kNo, TlsAuthClients::kYes}) {
        TlsRig rig;
        rig.settings.tls_session_caching = caching;
        rig.settings.tls_auth_clients = wanted;
        rig.Use();
        TlsPeer::Start start{.version = way.version,
                             .certificate = rig.certificates.client,
                             .key = rig.certificates.client_key,
                             .tickets = way.tickets};
        TlsPeer first(start);
        {
          const Unique server = rig.transports.NewTransport();
          TlsRig::Settle(*server, first);
          REQUIRE(first.open());
        }
        CHECK_FALSE(first.resumed());
        start.session = first.session();
        TlsPeer second(start);
        const Unique server = rig.transports.NewTransport();
        TlsRig::Settle(*server, second);
        CAPTURE(way.version, way.tickets, caching);
        CHECK(server->state() == State::kOpen);
        CHECK(second.resumed() == caching);
      }
    }
  }
}

TEST_CASE("connections count from the handshake until they go, however they go") {
  TlsRig rig;
  rig.Use();
  for (const bool breaks : {false, true}) {
    Unique server = rig.transports.NewTransport();
    Unique waits = rig.transports.NewTransport();
    CHECK(rig.figures.connections == 0);
    TlsPeer client;
    TlsRig::Settle(*server, client);
    REQUIRE(server->state() == State::kOpen);
    CHECK(rig.figures.connections == 1);
    const Unique second = rig.transports.NewTransport();
    TlsPeer other;
    TlsRig::Settle(*second, other);
    CHECK(rig.figures.connections == 2);
    waits->Receive("no handshake at all, and long enough for one");
    CHECK(waits->state() == State::kBroken);
    waits.reset();
    if (breaks) server->Receive("no record at all, and long enough to be one");
    CHECK(rig.figures.connections == 2);
    server.reset();
    CHECK(rig.figures.connections == 1);
  }
  CHECK(rig.figures.connections == 0);
  CHECK(rig.figures.handshakes == 4);
  CHECK(rig.figures.resumed == 0);
}

TEST_CASE("connections keep the certificate that they began with, and later ones get the new one") {
  const auto name_shown = [](TlsPeer& client) {
    X509* const shown = SSL_get0_peer_certificate(client.ssl());
    REQUIRE(shown != nullptr);
    char name[100] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, name, sizeof name);
    return std::string(name);
  };
  TlsRig rig;
  rig.Use();
  const Unique before = rig.transports.NewTransport();  // it has not said hello
  rig.certificates.Renew("renewed");
  rig.Use();
  TlsPeer old_client;
  TlsRig::Settle(*before, old_client);
  CHECK(name_shown(old_client) == "localhost");
  const Unique after = rig.transports.NewTransport();
  TlsPeer new_client;
  TlsRig::Settle(*after, new_client);
  CHECK(name_shown(new_client) == "renewed");
}

TEST_CASE("what does not fit is refused in one line that names the option and the reason") {
  TlsRig rig;
  const testing::Certificates& files = rig.certificates;
  using Settings = config::Settings;
  struct Row {
    std::string Settings::* member;
    std::string value;
    std::string problem;
  };
  const std::string none = rig.folder / "none";
  for (const Row& row : {
           Row{&Settings::tls_cert_file, "", "tls-cert-file: TLS needs a certificate, and none is given"},
           Row{&Settings::tls_key_file, "", "tls-key-file: TLS needs a private key, and none is given"},
           Row{&Settings::tls_cert_file, none,
               "tls-cert-file: cannot load " + none + ": No such file or directory"},
           Row{&Settings::tls_cert_file, files.server_key,
               "tls-cert-file: cannot load " + files.server_key + ": no start line"},
           Row{&Settings::tls_key_file, none,
               "tls-key-file: cannot load " + none + ": No such file or directory"},
           Row{&Settings::tls_key_file, files.client_key,
               "tls-key-file: cannot load " + files.client_key + ": key values mismatch"},
           Row{&Settings::tls_key_file, files.sealed_key,
               "tls-key-file: cannot load " + files.sealed_key +
                   ": bad decrypt (it is encrypted: tls-key-file-pass is its passphrase)"},
           Row{&Settings::tls_ca_cert_file, none,
               "tls-ca-cert-file: cannot load " + none + ": No such file or directory"},
           Row{&Settings::tls_dh_params_file, files.ca,
               "tls-dh-params-file: cannot load " + files.ca + ": unsupported"},
           Row{&Settings::tls_protocols, "TLSv1.2 SSLv9",
               "tls-protocols: unknown protocol SSLv9; a combination of TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3 "
               "is possible"},
           Row{&Settings::tls_ciphers, "nonsense", "tls-ciphers: no cipher match"},
           Row{&Settings::tls_ciphersuites, "nonsense", "tls-ciphersuites: no cipher match"},
       }) {
    Settings changed = rig.settings;
    changed.*row.member = row.value;
    std::swap(rig.settings, changed);
    CHECK(rig.ProblemOfUse() == row.problem);
    std::swap(rig.settings, changed);
    CHECK(rig.ProblemOfUse() == "");
  }
  rig.settings.tls_ca_cert_file.clear();
  rig.settings.tls_auth_clients = TlsAuthClients::kYes;
  CHECK(rig.ProblemOfUse().starts_with("tls-auth-clients: clients' certificates cannot be verified without"));
}

TEST_CASE("an encrypted key is loaded with its passphrase") {
  TlsRig rig;
  rig.settings.tls_key_file = rig.certificates.sealed_key;
  rig.settings.tls_key_file_pass = testing::Certificates::kPassphrase;
  rig.Use();
  const Unique server = rig.transports.NewTransport();
  TlsPeer client;
  TlsRig::Settle(*server, client);
  CHECK(server->state() == State::kOpen);
}

}  // namespace
}  // namespace mayfly::net
