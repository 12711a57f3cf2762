// mayfly --ping: servers that answer something else, or nothing; where it asks; and certificates.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/ping.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/folder.h"
#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace mayfly::ping_answer {
namespace {

// A server of one client, which hears what is said in one read, answers in the given pieces, and closes.
class Impostor {
 public:
  explicit Impostor(std::vector<std::string> answer)
      : port_(FreePort()), listener_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(port_);
    REQUIRE(bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(listen(listener_, 1) == 0);
    thread_ = std::thread([this, answer] { Serve(answer); });
  }
  ~Impostor() {
    shutdown(listener_, SHUT_RDWR);
    thread_.join();
    close(listener_);
  }
  std::string port() const { return std::to_string(port_); }
  // REQUIRES: the client has ended.
  std::string Heard() {
    if (thread_.joinable()) thread_.join();
    thread_ = std::thread([] {});
    return heard_;
  }

 private:
  void Serve(const std::vector<std::string>& answer) {
    const int client = accept(listener_, nullptr, nullptr);
    if (client < 0) return;
    const int on = 1;
    setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    std::string room(1000, '\0');
    const ssize_t size = recv(client, room.data(), room.size(), 0);
    heard_ = room.substr(0, size > 0 ? static_cast<size_t>(size) : 0);
    for (const std::string& piece : answer) {
      if (send(client, piece.data(), piece.size(), MSG_NOSIGNAL) < 0) break;
    }
    shutdown(client, SHUT_WR);
    while (recv(client, room.data(), room.size(), 0) > 0) {
    }
    close(client);
  }

  const uint16_t port_;
  const int listener_;
  std::string heard_;
  std::thread thread_;
};

Ended PingTo(Impostor& server, std::vector<std::string> more = {}) {
  more.insert(more.end(), {"--host", "127.0.0.1", "--port", server.port()});
  return Ping(more);
}

}  // namespace

TEST_CASE("--ping wants PONG to the letter, and shows another answer") {
  Impostor pong({"+PO", "NG\r", "\n"});
  CheckPong(PingTo(pong));
  CHECK(pong.Heard() == "*1\r\n$4\r\nPING\r\n");
  Impostor other({"+PONGS\r\n"});
  CheckFails(PingTo(other), ": the answer is '+PONGS' and not PONG\n");
  Impostor web({"HTTP/1.1 400 Bad Request\r\n\r\n"});
  CheckFails(PingTo(web), ": the answer is 'HTTP/1.1 400 Bad Request' and not PONG\n");
  Impostor hostile({"\x1B[2J\r\n"});
  const Ended ended = PingTo(hostile);
  CheckFails(ended, "and not PONG\n");
  CHECK(ended.output.find('\x1B') == std::string::npos);
  Impostor error({"-LOADING Mayfly is loading\r\n"});
  CheckFails(PingTo(error), ": LOADING Mayfly is loading\n");
}

TEST_CASE("--ping with --any-answer is content with a reply or an error, and with nothing else") {
  Impostor error({"-LOADING x\r\n"});
  CheckPong(PingTo(error, {"--any-answer"}));
  Impostor reply({"+SOMETHING\r\n"});
  CheckPong(PingTo(reply, {"--any-answer"}));
  Impostor web({"HTTP/1.1 400 Bad Request\r\n\r\n"});
  CheckFails(PingTo(web, {"--any-answer"}), "and not PONG\n");
  Impostor silent({});
  CheckFails(PingTo(silent, {"--any-answer"}), ": the connection was closed without an answer\n");
}

TEST_CASE("--ping tells an answer that is cut off, or that never ends, from one that is wrong") {
  Impostor half({"+PON"});
  CheckFails(PingTo(half), ": the connection was closed without an answer\n");
  Impostor endless({std::string(3'000, 'x'), std::string(3'000, 'x')});
  CheckFails(PingTo(endless), ": the answer is none of Redis's protocol\n");
}

TEST_CASE("--ping logs in before it asks, and says which of both failed") {
  const Folder folder;
  std::ofstream(folder / "pass") << "secret\r\n";
  std::ofstream(folder / "empty") << "\n";
  const std::vector<std::string> pass = {"--pass-file", folder / "pass"};
  Impostor both({"+OK\r\n+PONG\r\n"});
  CheckPong(PingTo(both, pass));
  CHECK(both.Heard() == "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n*1\r\n$4\r\nPING\r\n");
  Impostor named({"+OK\r\n", "+PONG\r\n"});
  CheckPong(PingTo(named, {"--user", "app", "--pass-file", folder / "pass"}));
  CHECK(named.Heard() == "*3\r\n$4\r\nAUTH\r\n$3\r\napp\r\n$6\r\nsecret\r\n*1\r\n$4\r\nPING\r\n");
  Impostor login_only({"+OK\r\n"});
  CheckFails(PingTo(login_only, pass), "closed without an answer\n");
  Impostor refuses({"-WRONGPASS no\r\n-NOAUTH no\r\n"});
  CheckFails(PingTo(refuses, pass), ": WRONGPASS no\n");
  Impostor late({"+OK\r\n-LOADING x\r\n"});
  CheckFails(PingTo(late, pass), ": LOADING x\n");
  CheckFails(Ping({"--pass-file", folder / "empty"}), (folder / "empty") + ": holds no password\n");
}

TEST_CASE("--ping takes the flags as words or joined, and says which one is wrong") {
  CheckFails(Ping({"--tls=yes"}), "--tls takes no value\n");
  CheckFails(Ping({"--any-answer=1"}), "--any-answer takes no value\n");
  CheckFails(Ping({"--host"}), "--host needs a value\n");
  CheckFails(Ping({"--wait"}), "--wait needs a value\n");
  for (const char* const wait : {"0", "-1", "2147483648", "1.5", ""})
    CheckFails(Ping({std::string("--wait=") + wait}), "--wait must be a number of milliseconds\n");
  const Daemon daemon;
  const std::string port = std::to_string(daemon.port());
  CheckPong(Ping({"--wait=2147483647", "--port", port}));
  CheckPong(Ping({"--port=" + port, "--host="}));  // none
  CheckFails(Ping({"--help", "--wait", "x"}), "--wait must be a number of milliseconds\n");
}

TEST_CASE("--ping asks this machine where its own daemon listens: every host, the first of several, a path") {
  const Folder folder;
  for (const char* const bind : {"*", "0.0.0.0", "127.0.0.2"}) {
    CAPTURE(bind);
    const Daemon daemon({"--bind", bind});
    CheckPong(Ping({"--bind", bind, "--port", std::to_string(daemon.port())}));
  }
  for (const char* const bind : {"::*", "::", "::1"}) {
    CAPTURE(bind);
    const std::string port = std::to_string(FreePort());
    CheckFails(Ping({"--bind", bind, "--port", port}), "::1, port " + port + ": Connection refused\n");
    const Daemon daemon({"--bind", bind, "127.0.0.3", "--port", port});
    CheckPong(Ping({"--bind", bind, "127.0.0.3", "--port", port}));
  }
  const Daemon by_path;
  const std::string free = std::to_string(FreePort());
  // A path counts only if there is no port, no address or no other word of where.
  CheckFails(Ping({"--port", free, "--unixsocket", by_path.unix_socket()}),
             "port " + free + ": Connection refused\n");
  CheckPong(Ping({"--port", free, "--bind", "", "--unixsocket", by_path.unix_socket()}));
  CheckPong(Ping({"--port", "0", "--unixsocket", folder / "none", "--socket", by_path.unix_socket()}));
  CheckFails(Ping({"--port", "0", "--unixsocket", by_path.unix_socket(), "--host", "127.0.0.1"}),
             "there is no port: port and tls-port are 0\n");
  CheckPong(Ping({"--port", std::to_string(by_path.port()), "--unixsocket", folder / "none"}));
  CheckFails(Ping({"--socket", std::string(200, 'x')}), ": the path is too long\n");
  CheckFails(Ping({"--host", "no.such.name.invalid", "--port", free}),
             "no.such.name.invalid, port " + free + ": ");
  CheckPong(Ping({"--tls", "--socket", by_path.unix_socket()}));  // a path has no TLS
}

TEST_CASE("--ping by TLS trusts a named server only by its certificate, unless it is not to look") {
  const Folder folder;
  const testing::Certificates files(folder.path());
  const std::string port = std::to_string(FreePort());
  const Daemon daemon({"--tls-port", port, "--tls-cert-file", files.server, "--tls-key-file",
                       files.server_key, "--tls-ca-cert-file", files.ca, "--tls-auth-clients", "no", "--port",
                       "0"});
  const auto ping = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--tls", "--tls-port", port});
    return Ping(more);
  };
  const std::string wrong = "the server's certificate: ";
  CheckPong(ping({}));                               // this machine's own daemon
  CheckFails(ping({"--host", "localhost"}), wrong);  // by the system's CAs
  CheckPong(ping({"--host", "localhost", "--insecure"}));
  CheckPong(ping({"--host", "127.0.0.1", "--insecure"}));
  CheckPong(ping({"--host", "localhost", "--tls-ca-cert-file", files.ca}));
  CheckFails(ping({"--host", "127.0.0.1", "--tls-ca-cert-file", files.ca}), wrong);
  CheckFails(ping({"--server-name", "127.0.0.1", "--tls-ca-cert-file", files.ca}), wrong);
  CheckFails(ping({"--server-name", "other", "--tls-ca-cert-file", files.ca}), wrong);
  CheckPong(ping({"--server-name", "localhost", "--tls-ca-cert-file", files.ca}));
  CheckFails(ping({"--host", "localhost", "--tls-ca-cert-file", folder / "none"}),
             "the certificates of CAs: ");
  // The key may be another user's to read; half a pair is no certificate.
  CheckPong(ping({"--tls-cert-file", files.client, "--tls-key-file", folder / "none"}));
  CheckPong(ping({"--tls-cert-file", folder / "none"}));
  CheckPong(ping({"--tls-key-file", files.client_key}));
  CheckFails(ping({"--tls-cert-file", folder / "none", "--tls-key-file", files.client_key}),
             "tls-cert-file and tls-key-file: ");
}

TEST_CASE("--ping shows the daemon its certificate, also with an encrypted key") {
  const Folder folder;
  const testing::Certificates files(folder.path());
  const std::string port = std::to_string(FreePort());
  const Daemon daemon({"--tls-port", port, "--tls-cert-file", files.server, "--tls-key-file",
                       files.server_key, "--tls-ca-cert-file", files.ca, "--port", "0"});
  const auto ping = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--tls", "--tls-port", port});
    return Ping(more);
  };
  CheckPong(ping({"--tls-cert-file", files.server, "--tls-key-file", files.sealed_key, "--tls-key-file-pass",
                  testing::Certificates::kPassphrase}));
  CheckFails(ping({"--tls-cert-file", files.server, "--tls-key-file", files.sealed_key, "--tls-key-file-pass",
                   "wrong"}),
             "tls-cert-file and tls-key-file: ");
  CheckFails(ping({"--tls-cert-file", files.stranger, "--tls-key-file", files.stranger_key}),
             "port " + port + ": TLS");
  CheckFails(ping({}), "port " + port + ": TLS");
}

// Of a plain server by TLS, and the other way round.
TEST_CASE("--ping by TLS of a server that speaks none, or that closes, fails with a reason") {
  Impostor plain({"-ERR unknown command\r\n"});
  CheckFails(Ping({"--tls", "--insecure", "--host", "127.0.0.1", "--port", plain.port()}),
             ": the TLS handshake failed: ");
  Impostor silent({});
  CheckFails(Ping({"--tls", "--insecure", "--host", "127.0.0.1", "--port", silent.port()}),
             ": the TLS handshake failed: ");
}

}  // namespace mayfly::ping_answer
