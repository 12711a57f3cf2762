// The daemon's TLS port, as redis-cli and openssl see it: certificates, protocols, sessions, and changes while it runs.
#include <signal.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/folder.h"
#include "support/free_port.h"

namespace mayfly {
namespace {

// What a command line prints, on both streams.
std::string Shell(const std::string& line) {
  const auto close = [](FILE* pipe) { pclose(pipe); };
  const std::unique_ptr<FILE, decltype(close)> pipe(
      popen(("timeout 20 sh -c '" + line + "' 2>&1").c_str(), "r"), close);
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> room;
  while (const size_t size = fread(room.data(), 1, room.size(), pipe.get())) output.append(room.data(), size);
  return output;
}

bool HasPart(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A daemon with a TLS port, and its files.
struct TlsDaemon {
  explicit TlsDaemon(const std::vector<std::string>& more = {}) : daemon(Options(more)) {}

  std::vector<std::string> Options(const std::vector<std::string>& more) const {
    std::vector<std::string> options = {
        "--tls-port",     std::to_string(port), "--tls-cert-file",    files.server,
        "--tls-key-file", files.server_key,     "--tls-ca-cert-file", files.ca};
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }
  std::string Cli(const std::string& command, const std::string& options = "") const {
    return Shell("redis-cli -h localhost -p " + std::to_string(port) + " --tls --cacert " + files.ca + " " +
                 options + " " + command);
  }
  std::string WithCertificate() const { return "--cert " + files.client + " --key " + files.client_key; }
  // A connection of openssl's that sends QUIT; a session is written to or read from `session`.
  std::string Openssl(const std::string& options) const {
    return Shell("echo QUIT | openssl s_client -ign_eof -nameopt RFC2253 -connect 127.0.0.1:" +
                 std::to_string(port) + " -CAfile " + files.ca + " " + options);
  }

  Folder folder;
  testing::Certificates files{folder.path()};
  uint16_t port = FreePort();
  Daemon daemon;
};

TEST_CASE(
    "redis-cli --tls is served, beside plain clients, and INFO and CLIENT LIST look as they do without") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  Client plain(tls.daemon);
  CHECK(tls.Cli("SET k by-tls") == "OK\n");
  CHECK(plain.Run({"GET", "k"}) == "by-tls");
  const std::string port = std::to_string(tls.port);
  CHECK(HasPart(tls.Cli("CLIENT LIST"), "laddr=127.0.0.1:" + port));
  CHECK(plain.Info("tcp_port") == std::to_string(tls.daemon.port()));
  CHECK(HasPart(tls.daemon.log(), "listening on 127.0.0.1:" + port + " with TLS"));
  CHECK(tls.Cli("PING", "--sni some.name.example") == "PONG\n");
  CHECK(tls.Cli("-3 HELLO").starts_with("server"));
}

TEST_CASE("port 0 leaves the TLS port alone") {
  const TlsDaemon tls({"--tls-auth-clients", "no", "--port", "0"});
  CHECK(tls.Cli("PING") == "PONG\n");
  CHECK(HasPart(tls.Cli("INFO server"), "tcp_port:" + std::to_string(tls.port)));
}

TEST_CASE("without a certificate of its own a client is only served if tls-auth-clients says so") {
  const TlsDaemon tls;  // yes is the default
  Client chief = Client::OverUnixSocket(tls.daemon);
  for (const char* wanted : {"yes", "optional", "no"}) {
    CAPTURE(wanted);
    REQUIRE(chief.Run({"CONFIG", "SET", "tls-auth-clients", wanted}) == "OK");
    CHECK(tls.Cli("PING", tls.WithCertificate()) == "PONG\n");
    CHECK((tls.Cli("PING") == "PONG\n") == (std::string(wanted) != "yes"));
    const std::string stranger = "--cert " + tls.files.stranger + " --key " + tls.files.stranger_key;
    CHECK((tls.Cli("PING", stranger) == "PONG\n") == (std::string(wanted) == "no"));
  }
  CHECK(HasPart(tls.daemon.log(), "TLS handshake: peer did not return a certificate"));
}

TEST_CASE("only the protocols of tls-protocols are spoken") {
  const TlsDaemon tls({"--tls-auth-clients", "no", "--tls-protocols", "TLSv1.2"});
  CHECK(HasPart(tls.Openssl("-tls1_2"), "+OK"));
  CHECK_FALSE(HasPart(tls.Openssl("-tls1_3"), "+OK"));
  CHECK(Client(tls.daemon).Run({"CONFIG", "SET", "tls-protocols", "TLSv1.3"}) == "OK");
  CHECK_FALSE(HasPart(tls.Openssl("-tls1_2"), "+OK"));
  CHECK(HasPart(tls.Openssl("-tls1_3"), "+OK"));
  CHECK(tls.Cli("PING") == "PONG\n");
}

TEST_CASE("sessions are resumed, until tls-session-caching is off") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  for (const char* version : {"-tls1_3", "-tls1_2", "-tls1_2 -no_ticket"}) {
    CAPTURE(version);
    const std::string session = tls.folder / "session";
    CHECK(HasPart(tls.Openssl(std::string(version) + " -sess_out " + session), "New, TLS"));
    CHECK(HasPart(tls.Openssl(std::string(version) + " -sess_in " + session), "Reused, TLS"));
  }
  CHECK(Client(tls.daemon).Run({"CONFIG", "SET", "tls-session-caching", "no"}) == "OK");
  const std::string session = tls.folder / "none";
  CHECK(HasPart(tls.Openssl("-sess_out " + session), "+OK"));
  CHECK_FALSE(HasPart(Shell("ls " + tls.folder.path()), "none"));
  // By a ticket, for one.
  CHECK(HasPart(tls.Openssl("-tls1_2 -sess_out " + session), "+OK"));
  CHECK_FALSE(HasPart(tls.Openssl("-tls1_2 -sess_in " + session), "Reused, TLS"));
}

TEST_CASE("INFO counts handshakes, those that failed or were resumed, and the connections that are there") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  Client plain(tls.daemon);
  const auto counts = [&plain](const std::string& what) { return plain.Info("tls_" + what); };
  CHECK(counts("handshakes") == "0");
  const std::string session = tls.folder / "session";
  CHECK(HasPart(tls.Openssl("-sess_out " + session), "New, TLS"));
  CHECK(HasPart(tls.Openssl("-sess_in " + session), "Reused, TLS"));
  CHECK_FALSE(HasPart(tls.Openssl("-tls1_1"), "+OK"));
  CHECK(counts("handshakes") == "2");
  CHECK(counts("sessions_resumed") == "1");
  CHECK(counts("handshakes_failed") == "1");
  CHECK(Eventually([&] { return counts("connections") == "0"; }));
  CHECK(HasPart(tls.Cli("INFO tls"), "tls_connections:1\r\n"));
  const std::string left = counts("server_cert_expires_in_seconds");
  CHECK(std::stoll(left) > 0);
  CHECK(plain.Run({"CONFIG", "RESETSTAT"}) == "OK");
  CHECK(counts("handshakes") == "0");
  CHECK(std::stoll(counts("server_cert_expires_in_seconds")) <= std::stoll(left));
}

TEST_CASE("certificates are loaded anew by CONFIG SET and by SIGHUP") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  const auto shows = [&tls](const std::string& name) {
    return HasPart(tls.Openssl(""), "subject=CN=" + name);
  };
  Client plain(tls.daemon);
  CHECK(shows("localhost"));
  tls.files.Renew("second");
  CHECK(shows("localhost"));
  CHECK(plain.Run({"CONFIG", "SET", "tls-cert-file", tls.files.server}) == "OK");
  CHECK(shows("second"));

  tls.files.Renew("third");
  tls.daemon.Signal(SIGHUP);
  CHECK(Eventually([&] { return HasPart(tls.daemon.log(), "the certificates were loaded again"); }));
  CHECK(shows("third"));

  Shell("echo nonsense > " + tls.files.server);
  tls.daemon.Signal(SIGHUP);
  CHECK(Eventually(
      [&] { return HasPart(tls.daemon.log(), "TLS stays as it is: tls-cert-file: cannot load"); }));
  CHECK(shows("third"));

  const auto seconds_left = [&] { return std::stoll(plain.Info("tls_server_cert_expires_in_seconds")); };
  CHECK(seconds_left() > 0);
  tls.files.Expire();
  CHECK(plain.Run({"CONFIG", "SET", "tls-cert-file", tls.files.server}) == "OK");
  CHECK(seconds_left() < 0);
}

TEST_CASE("CONFIG SET refuses files that do not fit, with the reason, and nothing changes") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  Client plain(tls.daemon);
  const std::string failed = "-ERR CONFIG SET failed (possibly related to argument '";
  CHECK(plain.Run({"CONFIG", "SET", "tls-cert-file", "/nowhere"}) ==
        failed +
            "tls-cert-file') - Unable to update TLS configuration. tls-cert-file: cannot load /nowhere: No "
            "such "
            "file or directory");
  CHECK(plain.Run({"CONFIG", "SET", "timeout", "77", "tls-key-file", tls.files.client_key}) ==
        failed + "tls-key-file') - Unable to update TLS configuration. tls-key-file: cannot load " +
            tls.files.client_key + ": key values mismatch");
  CHECK(plain.Run({"CONFIG", "GET", "timeout"}) == "[timeout 0]");
  CHECK(plain.Run({"CONFIG", "GET", "tls-key-file"}) == "[tls-key-file " + tls.files.server_key + "]");
  CHECK(plain.Run({"CONFIG", "SET", "tls-auth-clients", "maybe"}) ==
        failed + "tls-auth-clients') - argument(s) must be one of the following: no, yes, optional");
  CHECK(tls.Cli("PING") == "PONG\n");
  CHECK(plain.Run({"CONFIG", "SET", "tls-key-file", tls.files.client_key, "tls-cert-file",
                   tls.files.client}) == "OK");
  CHECK(HasPart(tls.Openssl(""), "subject=CN=client"));
}

TEST_CASE("CONFIG SET tls-port opens, moves and closes the port") {
  const Folder folder;
  const testing::Certificates files(folder.path());
  const Daemon daemon;
  Client plain(daemon);
  const auto ping = [&files](uint16_t port) {
    return Shell("redis-cli -h localhost -p " + std::to_string(port) + " --tls --cacert " + files.ca +
                 " PING");
  };
  const uint16_t first = FreePort();
  CHECK(plain.Run({"CONFIG", "SET", "tls-port", std::to_string(first)}) ==
        "-ERR CONFIG SET failed (possibly related to argument 'tls-port') - Unable to update TLS "
        "configuration. "
        "tls-cert-file: TLS needs a certificate, and none is given");
  CHECK(plain.Run({"CONFIG", "SET", "tls-cert-file", files.server}) == "OK");
  CHECK(plain.Run({"CONFIG", "SET", "tls-key-file", files.server_key, "tls-auth-clients", "no"}) == "OK");
  CHECK(plain.Run({"CONFIG", "SET", "tls-port", std::to_string(first)}) == "OK");
  CHECK(ping(first) == "PONG\n");
  CHECK(plain.Run({"CONFIG", "SET", "tls-port", std::to_string(daemon.port())}) ==
        "-ERR CONFIG SET failed (possibly related to argument 'tls-port') - Unable to listen on this port. "
        "Check "
        "server logs.");
  CHECK(ping(first) == "PONG\n");
  // Both ports change places.
  const std::string home = std::to_string(daemon.port());
  CHECK(plain.Run({"CONFIG", "SET", "tls-port", home, "port", std::to_string(first)}) == "OK");
  CHECK(ping(daemon.port()) == "PONG\n");
  CHECK(Wire::Tcp(first).Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
  CHECK(plain.Run({"CONFIG", "SET", "tls-port", "0"}) == "OK");
  CHECK(ping(daemon.port()) != "PONG\n");
  CHECK(plain.Run({"PING"}) == "PONG");
}

TEST_CASE("plain text on the TLS port is closed, with one line in the log for many") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  for (int i = 0; i < 20; ++i) {
    const Wire wire = Wire::Tcp(tls.port);
    wire.Send("PING\r\n");
    CHECK_FALSE(HasPart(wire.ReadToEnd(), "PONG"));
  }
  const std::string log = tls.daemon.log();
  const size_t first = log.find("TLS handshake: wrong version number");
  CHECK(first != std::string::npos);
  CHECK(log.find("TLS handshake", first + 1) == std::string::npos);
  CHECK(tls.Cli("PING") == "PONG\n");
}

TEST_CASE("the daemon does not start with files that do not fit, and says why in one line") {
  const Folder folder;
  const testing::Certificates files(folder.path());
  const std::vector<std::string> options = {"--port", "0", "--tls-port", std::to_string(FreePort())};
  const auto run = [&options](const std::vector<std::string>& more) {
    std::vector<std::string> all = options;
    all.insert(all.end(), more.begin(), more.end());
    return Daemon::RunToEnd(all);
  };
  const Ended none = run({});
  CHECK(none.exit_code == 1);
  CHECK(HasPart(none.output, "mayfly: tls-cert-file: TLS needs a certificate, and none is given\n"));
  const Ended without_ca = run({"--tls-cert-file", files.server, "--tls-key-file", files.server_key});
  CHECK(without_ca.exit_code == 1);
  CHECK(HasPart(without_ca.output, "mayfly: tls-auth-clients: clients' certificates cannot be verified"));
  const Ended mismatch = run({"--tls-cert-file", files.server, "--tls-key-file", files.client_key});
  CHECK(HasPart(mismatch.output,
                "mayfly: tls-key-file: cannot load " + files.client_key + ": key values mismatch\n"));
}

TEST_CASE("an encrypted key wants its passphrase, and the log says if the certificate has expired") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  Client plain(tls.daemon);
  const std::string key = tls.folder.path() + "/encrypted.key";
  Shell("openssl pkey -aes256 -passout pass:secret -in " + tls.files.server_key + " -out " + key);
  CHECK(plain.Run({"CONFIG", "SET", "tls-key-file", key})
            .ends_with("(it is encrypted: tls-key-file-pass is its passphrase)"));
  CHECK(plain.Run({"CONFIG", "SET", "tls-key-file", key, "tls-key-file-pass", "secret"}) == "OK");

  CHECK_FALSE(HasPart(tls.daemon.log(), "expired"));
  tls.files.Expire();
  CHECK(plain.Run({"CONFIG", "SET", "tls-cert-file", tls.files.server}) == "OK");
  CHECK(HasPart(tls.daemon.log(), "tls-cert-file: the certificate has expired"));
  std::vector<std::string> options = tls.Options({"--tls-auth-clients", "no"});
  options[1] = std::to_string(FreePort());
  const Daemon begun_with_it(options);
  CHECK(HasPart(begun_with_it.log(), "tls-cert-file: the certificate has expired"));
}

TEST_CASE("a tls-ca-cert-dir must be there, and the log says if it has no certificate") {
  const Folder folder;
  const testing::Certificates files(folder.path());
  const std::string port = std::to_string(FreePort());
  const auto options = [&](const std::string& dir) {
    return std::vector<std::string>{
        "--tls-port",        port, "--tls-cert-file", files.server, "--tls-key-file", files.server_key,
        "--tls-ca-cert-dir", dir};
  };
  std::vector<std::string> missing = options("/nowhere");
  missing.insert(missing.end(), {"--port", "0"});
  const Ended ended = Daemon::RunToEnd(missing);
  CHECK(ended.exit_code == 1);
  CHECK(HasPart(ended.output, "mayfly: tls-ca-cert-dir: cannot read /nowhere: No such file or directory\n"));

  const Folder cas;
  std::string warning =
      "tls-ca-cert-dir: " + cas.path() + " has no certificate under a name that openssl rehash gives";
  const Daemon daemon(options(cas.path()));
  CHECK(HasPart(daemon.log(), warning));
  const std::string ping = "redis-cli -h localhost -p " + port + " --tls --cacert " + files.ca + " --cert " +
                           files.client + " --key " + files.client_key + " PING";
  CHECK(Shell(ping) != "PONG\n");
  Shell("cp " + files.ca + " " + cas.path() + "/ca.pem && openssl rehash " + cas.path());
  Client plain(daemon);
  CHECK(plain.Run({"CONFIG", "SET", "tls-ca-cert-dir", cas.path()}) == "OK");
  CHECK(Shell(ping) == "PONG\n");
  CHECK(plain.Run({"CONFIG", "SET", "tls-ca-cert-dir", "/nowhere"}).starts_with("-ERR CONFIG SET failed"));
  const Folder full;
  Shell("cp " + files.ca + " " + full.path() + "/ca.pem && openssl rehash " + full.path());
  CHECK(plain.Run({"CONFIG", "SET", "tls-ca-cert-dir", full.path()}) == "OK");
  CHECK_FALSE(HasPart(daemon.log(), full.path() + " has no"));
}

TEST_CASE("protocols with which nobody could connect are refused") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  Client plain(tls.daemon);
  for (const char* old : {"TLSv1.1", "TLSv1", "TLSv1 TLSv1.1"})
    CHECK(plain.Run({"CONFIG", "SET", "tls-protocols", old}) ==
          "-ERR CONFIG SET failed (possibly related to argument 'tls-protocols') - Unable to update TLS "
          "configuration. tls-protocols: without TLSv1.2 and TLSv1.3 nobody could connect, because OpenSSL's "
          "settings here allow nothing older");
  CHECK(plain.Run({"CONFIG", "SET", "tls-protocols", "TLSv1.1 TLSv1.2"}) == "OK");
  CHECK(HasPart(tls.Openssl("-tls1_2"), "+OK"));
}

TEST_CASE("an encrypted key, whose passphrase CONFIG GET answers and the log never shows") {
  const TlsDaemon tls(
      {"--tls-auth-clients", "no", "--tls-key-file-pass", testing::Certificates::kPassphrase});
  Client plain(tls.daemon);
  CHECK(plain.Run({"CONFIG", "SET", "tls-key-file", tls.files.sealed_key}) == "OK");
  CHECK(tls.Cli("PING") == "PONG\n");
  CHECK(plain.Run({"CONFIG", "SET", "tls-key-file-pass", "wrong-one"}).starts_with("-ERR CONFIG SET failed"));
  CHECK(tls.Cli("PING") == "PONG\n");
  CHECK_FALSE(HasPart(tls.daemon.log(), testing::Certificates::kPassphrase));
  CHECK_FALSE(HasPart(tls.daemon.log(), "wrong-one"));
}

TEST_CASE("large values pass by TLS in both directions, unchanged") {
  const TlsDaemon tls({"--tls-auth-clients", "no"});
  const std::string file = tls.folder / "value";
  Shell("head -c 5000000 /dev/urandom | base64 -w0 > " + file);
  CHECK(tls.Cli("-x SET k < " + file) == "OK\n");
  CHECK(Shell("redis-cli -h localhost -p " + std::to_string(tls.port) + " --tls --cacert " + tls.files.ca +
              " GET k | head -c -1 | cmp - " + file + " && echo same") == "same\n");
}

}  // namespace
}  // namespace mayfly
