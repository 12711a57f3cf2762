// Sockets of the service manager at one address of IPv6 or both families, for TLS, and at a path.
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/certificates.h"
#include "support/folder.h"
#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace mayfly::inherited_socket {
namespace {

using Options = std::vector<std::string>;

// One that listens for both families, as far as its address has both.
class SocketOfBoth {
 public:
  explicit SocketOfBoth(const std::string& host) : file_(socket(AF_INET6, SOCK_STREAM, 0)) {
    sockaddr_in6 address{};
    socklen_t size = sizeof address;
    address.sin6_family = AF_INET6;
    const int off = 0;
    const bool listens = inet_pton(AF_INET6, host.c_str(), &address.sin6_addr) == 1 &&
                         setsockopt(file_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
                         bind(file_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                         getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                         listen(file_, 100) == 0;
    if (!listens) throw std::runtime_error("cannot listen");
    port_ = ntohs(address.sin6_port);
  }
  SocketOfBoth(const SocketOfBoth&) = delete;
  SocketOfBoth& operator=(const SocketOfBoth&) = delete;
  ~SocketOfBoth() { close(file_); }
  int file() const { return file_; }
  uint16_t number() const { return port_; }
  std::string port() const { return std::to_string(port_); }

 private:
  int file_;
  uint16_t port_ = 0;
};

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an inherited socket of one address of IPv6 serves there, though it could take both families") {
  const SocketOfBoth socket("::1");
  const Daemon daemon({"--port", socket.port(), "--bind", "::1"}, {.inherited = {socket.file()}});
  CHECK(Wire::Tcp(socket.number(), "::1").Ask("PING\r\n", kPong) == kPong);
  CHECK(Has(daemon.log(), "listening on [::1]:" + socket.port() + "\n"));
}

TEST_CASE("an inherited socket at an address of IPv4 in the words of IPv6 is the one of that address") {
  const SocketOfBoth socket("::ffff:127.0.0.1");
  const Daemon daemon({"--port", socket.port(), "--bind", "127.0.0.1"}, {.inherited = {socket.file()}});
  const Wire wire = Wire::Tcp(socket.number());
  CHECK(wire.Ask("PING\r\n", kPong) == kPong);
  CHECK(Has(daemon.log(), ":" + socket.port() + "\n"));
  const SocketOfBoth other("::ffff:127.0.0.2");
  const Ended ended =
      Daemon::RunToEnd({"--port", other.port(), "--bind", "127.0.0.1"}, {.inherited = {other.file()}});
  CHECK(ended.exit_code == 1);
  CHECK(Has(ended.output, " (LISTEN_FDS) has none of the addresses of bind"));
}

TEST_CASE("an inherited socket of every host wants both families in bind, whichever is missing") {
  const SocketOfBoth socket("::");
  for (const char* const bind : {"*", "::*"}) {
    CAPTURE(bind);
    const Ended ended =
        Daemon::RunToEnd({"--port", socket.port(), "--bind", bind}, {.inherited = {socket.file()}});
    CHECK(ended.exit_code == 1);
    CHECK(Has(ended.output, " takes clients of IPv6 and IPv4, but bind does not name both (* -::*)"));
  }
}

TEST_CASE("an inherited socket of the tls-port is for TLS alone, and the log says so") {
  const Folder folder;
  const testing::Certificates files(folder.path());
  const SocketOfBoth socket("::1");
  const Options tls = {"--tls-port",
                       socket.port(),
                       "--tls-cert-file",
                       files.server,
                       "--tls-key-file",
                       files.server_key,
                       "--tls-auth-clients",
                       "no",
                       "--bind",
                       "::1",
                       "--tls-ca-cert-file",
                       files.ca};
  const Daemon daemon(tls, {.inherited = {socket.file()}});
  CHECK(Has(daemon.log(), "listening on [::1]:" + socket.port() + " with TLS\n"));
  const Wire plain = Wire::Tcp(socket.number(), "::1");
  plain.Send("PING\r\n");
  CHECK_FALSE(Has(plain.ReadToEnd(), "PONG"));
  const Ended pong =
      Daemon::RunToEnd({"--ping", "--tls", "--insecure", "--host", "::1", "--tls-port", socket.port()});
  CHECK(pong.output == "PONG\n");
}

TEST_CASE("clients of an inherited socket at a path are of this machine, and known by the path") {
  const Folder folder;
  const std::string path = folder / "mayfly.sock";
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(bind(file, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(listen(file, 100) == 0);
  const Daemon daemon({"--unixsocket", path, "--port", "0"}, {.inherited = {file}});
  close(file);
  CHECK(Has(daemon.log(), "listening on " + path + "\n"));
  Client client = Client::OverUnixSocket(daemon);
  const std::string info = client.Run({"CLIENT", "INFO"});
  CHECK(Has(info, " addr=" + path + ":0 "));
  CHECK(Has(info, " laddr=" + path + ":0 "));
  CHECK(Has(info, " flags=U "));
}

}  // namespace mayfly::inherited_socket
