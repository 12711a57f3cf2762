// TLS to other servers: REPLICAOF with tls-replication, in both directions between Mayfly, redis-servers and valkey-server, and
// MIGRATE with tls-cluster.
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/writers.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/folder.h"
#include "support/free_port.h"
#include "support/oracle.h"
#include "support/random_writes.h"
#include "support/reply.h"

namespace mayfly {
namespace {

using Words = std::vector<std::string>;
using testing::Certificates;
using testing::Oracle;

const std::string kOfMayfly = "mayfly";

// A server of any kind with a TLS port beside the plain one, and a plain client of it. Unless `options` say otherwise it asks
// its clients for a certificate, and connects to other servers by TLS.
class TlsServer {
 public:
  explicit TlsServer(const Certificates& files, const std::string& program = kOfMayfly,
                     const Words& options = {}) {
    Words all = {"--tls-port",
                 std::to_string(tls_port_),
                 "--tls-cert-file",
                 files.server,
                 "--tls-key-file",
                 files.server_key,
                 "--tls-ca-cert-file",
                 files.ca,
                 "--tls-replication",
                 "yes",
                 "--tls-cluster",
                 "yes",
                 "--enable-debug-command",
                 "yes"};
    all.insert(all.end(), options.begin(), options.end());
    if (program == kOfMayfly) {
      daemon_ = std::make_unique<Daemon>(all);
      port_ = daemon_->port();
    } else {
      port_ = FreePort();
      all.insert(all.end(),
                 {"--port", std::to_string(port_), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"});
      oracle_ = std::make_unique<Oracle>(all, program);
    }
    client_ = std::make_unique<Client>(Client::ToPort(port_));
  }

  std::string Run(const Words& words) { return client_->Run(words); }
  Client& client() noexcept { return *client_; }
  const Daemon& daemon() const noexcept { return *daemon_; }
  uint16_t port() const noexcept { return port_; }
  std::string tls_port() const { return std::to_string(tls_port_); }
  void Follow(const TlsServer& master) {
    REQUIRE(Run({"REPLICAOF", "127.0.0.1", master.tls_port()}) == "OK");
    REQUIRE(Eventually([&] { return client_->Info("master_link_status") == "up"; }));
  }
  bool LogHas(const std::string& text) const { return daemon_->log().find(text) != std::string::npos; }

 private:
  const uint16_t tls_port_ = FreePort();
  uint16_t port_ = 0;
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<Oracle> oracle_;
  std::unique_ptr<Client> client_;
};

std::string AnyTlsProgram() {
  return GENERATE(as<std::string>(), Oracle::kProgram, Oracle::kNewerProgram, Oracle::kValkey, kOfMayfly);
}

// What the master has done is done there, too, and no key differs. REQUIRES: nobody writes.
void CompareTlsPair(TlsServer& master, TlsServer& replica) {
  CHECK(Eventually([&] {
    return master.client().Info("master_repl_offset") == replica.client().Info("slave_repl_offset") &&
           master.Run({"DEBUG", "DIGEST"}) == replica.Run({"DEBUG", "DIGEST"});
  }));
}

void WriteAtRandom(TlsServer& master, unsigned seed, bool to_mayfly) {
  testing::RandomWrites writes(seed, {.member_deadlines = to_mayfly, .fractions = false});
  for (int i = 0; i < 2000; ++i) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::string bytes = writes.Next(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
    for (std::string_view rest = bytes; !rest.empty();) {
      const testing::Reply request = *testing::TakeReply(rest);
      Words words;
      for (const testing::Reply& word : request.elements) words.push_back(word.text);
      master.client().Queue(words);
      master.client().Next();
    }
  }
}

TEST_CASE("a Mayfly follows servers of all kinds by TLS, and both ends show certificates") {
  const std::string program = AnyTlsProgram();
  CAPTURE(program);
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer master(files, program);
  const std::string large(20'000'000, 'x');
  CHECK(master.Run({"SET", "large", large}) == "OK");
  TlsServer replica(files, kOfMayfly,
                    {"--tls-client-cert-file", files.client, "--tls-client-key-file", files.client_key});
  replica.Run({"SET", "before", "x"});
  Writers writers(master.port());
  replica.Follow(master);
  const size_t before = writers.requests();
  CHECK(Eventually([&] { return writers.requests() > before + 5000; }));
  writers.Stop();
  CHECK(master.Run({"SET", "larger", large + large}) == "OK");
  CompareTlsPair(master, replica);
  CHECK(replica.Run({"STRLEN", "larger"}) == ":40000000");
  CHECK(replica.Run({"EXISTS", "before"}) == ":0");
  CHECK(replica.client().Info("master_failed_commands") == "0");
  CHECK(master.client().Info("slave0").find("port=" + replica.tls_port() + ",") != std::string::npos);
  // A break of the link costs no snapshot.
  CHECK(master.Run({"CLIENT", "KILL", "TYPE", "replica"}) == ":1");
  CHECK(Eventually([&] { return replica.client().InfoNumber("master_partial_syncs") == 1; }));
  CHECK(master.Run({"SET", "after", "1"}) == "OK");
  CompareTlsPair(master, replica);
  CHECK(replica.client().InfoNumber("master_full_syncs") == 1);
}

TEST_CASE("servers of all kinds follow a Mayfly by TLS through random writes of all types") {
  const std::string program = AnyTlsProgram();
  CAPTURE(program);
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer master(files);
  WriteAtRandom(master, 1, program == kOfMayfly);
  TlsServer follower(files, program);
  follower.Follow(master);
  WriteAtRandom(master, 2, program == kOfMayfly);
  master.Run({"CLIENT", "NO-TOUCH", "ON"});
  CompareTlsPair(master, follower);
  CHECK(master.Run({"WAIT", "1", "10000"}) == ":1");
  CHECK(master.client().InfoNumber("tls_connections") == 1);
}

TEST_CASE("a master whose certificate is not valid is not followed, the log says why, and no key is lost") {
  const Folder folder;
  const Certificates files(folder.path());
  const Folder elsewhere;
  const Certificates others(elsewhere.path());
  TlsServer master(files);
  CHECK(master.Run({"SET", "k", "master's"}) == "OK");
  TlsServer replica(files, kOfMayfly, {"--tls-ca-cert-file", files.client});
  CHECK(replica.Run({"SET", "own", "1"}) == "OK");
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", master.tls_port()}) == "OK");
  const std::string line = "no link to the master 127.0.0.1:" + master.tls_port() +
                           ": the TLS handshake has failed: certificate verify failed: "
                           "self-signed certificate in certificate chain";
  CHECK(Eventually([&] { return replica.LogHas(line); }));
  CHECK(replica.Run({"CONFIG", "SET", "tls-ca-cert-file", others.ca}) == "OK");
  CHECK(
      Eventually([&] { return replica.LogHas("certificate verify failed: certificate signature failure"); }));
  CHECK(replica.client().Info("master_link_status") == "down");
  CHECK(replica.Run({"GET", "own"}) == "1");
  // The next attempt has the new files.
  CHECK(replica.Run({"CONFIG", "SET", "tls-ca-cert-file", files.ca}) == "OK");
  CHECK(Eventually([&] { return replica.client().Info("master_link_status") == "up"; }));
  CHECK(replica.Run({"GET", "k"}) == "master's");
}

TEST_CASE("a master that asks for a certificate says so in the replica's log, and a plain port is no TLS") {
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer master(files);
  const Daemon daemon({"--tls-ca-cert-file", files.ca, "--tls-replication", "yes"});
  Client replica(daemon);
  const auto log_has = [&](const std::string& text) { return daemon.log().find(text) != std::string::npos; };
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", master.tls_port()}) == "OK");
  CHECK(Eventually([&] { return log_has("the connection has ended: tlsv13 alert certificate required"); }));
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", std::to_string(master.port())}) == "OK");
  CHECK(Eventually([&] { return log_has("the TLS handshake has failed: "); }));
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", std::to_string(FreePort())}) == "OK");
  CHECK(Eventually([&] { return log_has(": it cannot be connected to"); }));
  CHECK(master.Run({"CONFIG", "SET", "tls-auth-clients", "no"}) == "OK");
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", master.tls_port()}) == "OK");
  CHECK(Eventually([&] { return replica.Info("master_link_status") == "up"; }));
  // Without a TLS port of its own the replica is known by its port.
  const std::string port = "port=" + std::to_string(daemon.port()) + ",";
  CHECK(master.client().Info("slave0").find(port) != std::string::npos);
}

TEST_CASE("tls-replication counts from the next connection on, and needs a CA") {
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer master(files, kOfMayfly, {"--tls-auth-clients", "no"});
  const Daemon daemon;
  Client replica(daemon);
  CHECK(replica.Run({"CONFIG", "SET", "tls-replication", "yes"}) ==
        "-ERR CONFIG SET failed (possibly related to argument 'tls-replication') - Unable to update TLS "
        "configuration. tls-replication and tls-cluster: other servers' certificates cannot be verified "
        "without tls-ca-cert-file or tls-ca-cert-dir");
  CHECK(replica.Run({"CONFIG", "GET", "tls-replication"}) == "[tls-replication no]");
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", std::to_string(master.port())}) == "OK");
  CHECK(Eventually([&] { return replica.Info("master_link_status") == "up"; }));
  CHECK(replica.Run({"CONFIG", "SET", "tls-ca-cert-file", files.ca}) == "OK");
  CHECK(replica.Run({"CONFIG", "SET", "tls-replication", "yes"}) == "OK");
  CHECK(replica.Info("master_link_status") == "up");
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", master.tls_port()}) == "OK");
  CHECK(Eventually([&] { return replica.Info("master_link_status") == "up"; }));
  CHECK(master.client().InfoNumber("tls_connections") == 1);

  const Ended ended = Daemon::RunToEnd({"--port", "0", "--tls-replication", "yes"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output.find("mayfly: tls-replication and tls-cluster: other servers' certificates") !=
        std::string::npos);
}

// Files that a daemon without a TLS port has for its connections to other servers; tests replace them one by one.
struct ReplacedFiles {
  explicit ReplacedFiles(const Certificates& files) {
    Trust(files.ca);
    Show(files.client, files.client_key);
  }
  static void Copy(const std::string& source, const std::string& target) {
    std::filesystem::copy_file(source, target, std::filesystem::copy_options::overwrite_existing);
  }
  void Trust(const std::string& authority) const { Copy(authority, ca); }
  void Show(const std::string& certificate, const std::string& its_key) const {
    Copy(certificate, shown);
    Copy(its_key, key);
  }
  // The connections are those that `option` is for.
  Words Options(const std::string& option) const {
    return {option, "yes", "--tls-ca-cert-file", ca, "--tls-client-cert-file", shown, "--tls-client-key-file",
            key};
  }

  const Folder folder;
  const std::string ca = folder / "ca.crt";
  const std::string shown = folder / "shown.crt";
  const std::string key = folder / "shown.key";
};

bool HasLogged(const Daemon& daemon, const std::string& text) {
  return daemon.log().find(text) != std::string::npos;
}

TEST_CASE("a replica without a TLS port shows its next master what SIGHUP has loaded, and trusts by it") {
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer master(files);
  const ReplacedFiles replaced(files);
  const bool by_ca = GENERATE(false, true);
  CAPTURE(by_ca);
  by_ca ? replaced.Trust(files.stranger) : replaced.Show(files.stranger, files.stranger_key);
  const Daemon daemon(replaced.Options("--tls-replication"));
  Client replica(daemon);
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", master.tls_port()}) == "OK");
  const std::string why = by_ca ? "certificate verify failed" : "alert unknown ca";
  CHECK(Eventually([&] { return HasLogged(daemon, why); }));
  CHECK(replica.Info("master_link_status") == "down");

  by_ca ? replaced.Trust(files.ca) : replaced.Show(files.client, files.client_key);
  daemon.Signal(SIGHUP);
  REQUIRE(Eventually([&] { return HasLogged(daemon, "the certificates were loaded again"); }));
  CHECK(Eventually([&] { return replica.Info("master_link_status") == "up"; }));
}

TEST_CASE("SIGHUP leaves a link by TLS as it is, and only whole files count for the next one") {
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer master(files);
  const ReplacedFiles replaced(files);
  const Daemon daemon(replaced.Options("--tls-replication"));
  Client replica(daemon);
  CHECK(replica.Run({"REPLICAOF", "127.0.0.1", master.tls_port()}) == "OK");
  REQUIRE(Eventually([&] { return replica.Info("master_link_status") == "up"; }));

  ReplacedFiles::Copy(files.server_key, replaced.key);  // of another certificate
  daemon.Signal(SIGHUP);
  CHECK(
      Eventually([&] { return HasLogged(daemon, "TLS stays as it is: tls-client-key-file: cannot load"); }));
  CHECK(master.Run({"CLIENT", "KILL", "TYPE", "replica"}) == ":1");
  CHECK(Eventually([&] { return replica.InfoNumber("master_partial_syncs") == 1; }));
  CHECK(Eventually([&] { return replica.Info("master_link_status") == "up"; }));

  replaced.Show(files.stranger, files.stranger_key);
  daemon.Signal(SIGHUP);
  REQUIRE(Eventually([&] { return HasLogged(daemon, "the certificates were loaded again"); }));
  CHECK(replica.Info("master_link_status") == "up");
  CHECK(master.Run({"CLIENT", "KILL", "TYPE", "replica"}) == ":1");
  CHECK(Eventually([&] { return HasLogged(daemon, "alert unknown ca"); }));
  CHECK(replica.InfoNumber("master_partial_syncs") == 1);
}

TEST_CASE("MIGRATE by TLS without a TLS port has the certificates that SIGHUP has loaded") {
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer target(files);
  const ReplacedFiles replaced(files);
  const bool by_ca = GENERATE(false, true);
  CAPTURE(by_ca);
  by_ca ? replaced.Trust(files.stranger) : replaced.Show(files.stranger, files.stranger_key);
  const Daemon daemon(replaced.Options("--tls-cluster"));
  Client source(daemon);
  CHECK(source.Run({"SET", "k", "v"}) == "OK");
  const auto migrate = [&] {
    return source.Run({"MIGRATE", "127.0.0.1", target.tls_port(), "k", "0", "10000"});
  };
  CHECK(migrate().starts_with("-IOERR"));
  CHECK(source.Run({"GET", "k"}) == "v");

  by_ca ? replaced.Trust(files.ca) : replaced.Show(files.client, files.client_key);
  daemon.Signal(SIGHUP);
  REQUIRE(Eventually([&] { return HasLogged(daemon, "the certificates were loaded again"); }));
  CHECK(migrate() == "OK");
  CHECK(target.Run({"GET", "k"}) == "v");
}

TEST_CASE("without TLS SIGHUP loads no certificates, whatever files are named") {
  const Daemon daemon({"--tls-cert-file", "/nowhere", "--tls-client-cert-file", "/nowhere"});
  Client client(daemon);
  daemon.Signal(SIGHUP);
  REQUIRE(Eventually([&] { return HasLogged(daemon, "received SIGHUP"); }));
  CHECK(client.Run({"PING"}) == "PONG");
  CHECK_FALSE(HasLogged(daemon, "certificates"));
  CHECK_FALSE(HasLogged(daemon, "TLS"));
}

TEST_CASE("FAILOVER hands over by TLS, and back") {
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer one(files);
  TlsServer two(files);
  two.Follow(one);
  for (int round = 0; round < 2; ++round) {
    TlsServer& master = round == 0 ? one : two;
    TlsServer& replica = round == 0 ? two : one;
    const std::string value = std::to_string(round);
    CHECK(master.Run({"SET", "k", value}) == "OK");
    CHECK(Eventually([&] { return master.Run({"FAILOVER"}) == "OK"; }));
    CHECK(Eventually([&] { return master.client().Info("master_link_status") == "up"; }));
    CHECK(replica.client().Info("role") == "master");
    CHECK(replica.Run({"GET", "k"}) == value);
    CHECK(master.client().Info("master_port") == replica.tls_port());
  }
}

TEST_CASE("MIGRATE goes by TLS if tls-cluster says so, to servers of all kinds and back") {
  const std::string program = AnyTlsProgram();
  CAPTURE(program);
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer here(files);
  TlsServer there(files, program);
  Words names;
  for (int i = 0; i < 500; ++i) {
    names.push_back("k" + std::to_string(i));
    REQUIRE(here.Run({"SET", names.back(), std::string(1000, 'v') + names.back()}) == "OK");
  }
  const std::string large(30'000'000, 'x');
  names.emplace_back("large");
  REQUIRE(here.Run({"SET", "large", large}) == "OK");
  const std::string digest = here.Run({"DEBUG", "DIGEST"});
  const auto move = [&names](TlsServer& from, const TlsServer& to) {
    Words request = {"MIGRATE", "127.0.0.1", to.tls_port(), "", "0", "10000", "KEYS"};
    request.insert(request.end(), names.begin(), names.end());
    return from.Run(request);
  };
  CHECK(move(here, there) == "OK");
  CHECK(here.Run({"DBSIZE"}) == ":0");
  CHECK(there.Run({"DEBUG", "DIGEST"}) == digest);
  CHECK(here.client().Info("migrate_cached_sockets") == "1");
  CHECK(move(there, here) == "OK");
  CHECK(there.Run({"DBSIZE"}) == ":0");
  CHECK(here.Run({"DEBUG", "DIGEST"}) == digest);

  // A connection that is kept is not taken for the other kind.
  CHECK(here.Run({"CONFIG", "SET", "tls-cluster", "no"}) == "OK");
  CHECK(here.Run({"MIGRATE", "127.0.0.1", there.tls_port(), "k1", "0", "500"}) ==
        "-IOERR error or timeout reading to target instance");
  CHECK(here.Run({"MIGRATE", "127.0.0.1", std::to_string(there.port()), "k1", "0", "10000"}) == "OK");
}

TEST_CASE("what fails in a MIGRATE by TLS is told in Redis's words, and the key stays") {
  const Folder folder;
  const Certificates files(folder.path());
  TlsServer target(files);
  for (const char* program : {Oracle::kProgram, kOfMayfly.c_str()}) {
    CAPTURE(program);
    TlsServer source(files, program);
    CHECK(source.Run({"SET", "k", "v"}) == "OK");
    const auto migrate = [&source](const std::string& port) {
      return source.Run({"MIGRATE", "127.0.0.1", port, "k", "0", "1000"});
    };
    const std::string cannot = "-IOERR error or timeout connecting to the client";
    CHECK(migrate(std::to_string(FreePort())) == cannot);
    CHECK(migrate(std::to_string(target.port())) == cannot);
    CHECK(source.Run({"CONFIG", "SET", "tls-ca-cert-file", files.client}) == "OK");
    CHECK(migrate(target.tls_port()) == cannot);
    CHECK(source.Run({"GET", "k"}) == "v");
    CHECK(source.Run({"CONFIG", "SET", "tls-ca-cert-file", files.ca}) == "OK");
    CHECK(migrate(target.tls_port()) == "OK");
    CHECK(target.Run({"DEL", "k"}) == ":1");
  }
}

}  // namespace
}  // namespace mayfly
