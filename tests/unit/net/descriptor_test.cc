// The system calls on sockets, by real ones: the simulation of src/net has others in their place.
#include "net/socket/descriptor.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>
#include <vector>

#include "net/socket/limits.h"
#include "support/catch.h"
#include "support/datagram_socket.h"
#include "support/folder.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace mayfly::net::descriptor {
namespace {

class File {
 public:
  explicit File(int fd) : fd_(fd) { REQUIRE(fd >= 0); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { Close(); }
  int fd() const { return fd_; }
  void Close() {
    if (fd_ >= 0) CloseDescriptor(fd_);
    fd_ = -1;
  }

 private:
  int fd_;
};

int OptionOf(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  REQUIRE(getsockopt(fd, level, name, &value, &size) == 0);
  return value;
}

bool IsNonBlocking(int fd) { return (fcntl(fd, F_GETFL) & O_NONBLOCK) != 0; }
bool IsOfThisProcess(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0; }
bool IsOpen(int fd) { return fcntl(fd, F_GETFD) >= 0; }

bool BecomesReadable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&one, 1, 5'000) == 1;
}

// 127.0.0.1, or the port of a socket there.
sockaddr_in Loopback(int of_socket = -1) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (of_socket >= 0) REQUIRE(getsockname(of_socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  return address;
}

int BindLoopback(const sockaddr_in& address) {
  return BindSocket(reinterpret_cast<const sockaddr&>(address), sizeof address);
}

// Both ends of a TCP connection on this machine.
struct Connection {
  Connection() {
    REQUIRE(ListenOn(port.fd(), 8));
    const sockaddr_in address = Loopback(port.fd());
    REQUIRE(connect(peer.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
    REQUIRE(BecomesReadable(port.fd()));
    ours = AcceptFrom(port.fd());
    REQUIRE(ours >= 0);
  }
  ~Connection() { CloseDescriptor(ours); }

  File port{BindLoopback(Loopback())};
  File peer{socket(AF_INET, SOCK_STREAM, 0)};
  int ours = -1;
};

TEST_CASE("a bound socket waits for nobody, is no child's, and can be bound again at once") {
  const File socket(BindLoopback(Loopback()));
  CHECK(IsNonBlocking(socket.fd()));
  CHECK(IsOfThisProcess(socket.fd()));
  CHECK(OptionOf(socket.fd(), SOL_SOCKET, SO_REUSEADDR) == 1);
  CHECK(OptionOf(socket.fd(), SOL_SOCKET, SO_ACCEPTCONN) == 0);
  CHECK(ListenOn(socket.fd(), 1));
  CHECK(OptionOf(socket.fd(), SOL_SOCKET, SO_ACCEPTCONN) == 1);
  errno = 0;
  CHECK(AcceptFrom(socket.fd()) == -1);
  CHECK(errno == EAGAIN);
}

TEST_CASE("a socket of IPv6 takes no clients of IPv4, so that both may have a socket") {
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  const File six(BindSocket(reinterpret_cast<const sockaddr&>(any), sizeof any));
  CHECK(OptionOf(six.fd(), IPPROTO_IPV6, IPV6_V6ONLY) == 1);
  socklen_t size = sizeof any;
  REQUIRE(getsockname(six.fd(), reinterpret_cast<sockaddr*>(&any), &size) == 0);
  REQUIRE(ListenOn(six.fd(), 1));
  sockaddr_in four = Loopback();
  four.sin_port = any.sin6_port;
  const File beside(BindLoopback(four));
  CHECK(ListenOn(beside.fd(), 1));
}

TEST_CASE("an address that cannot be bound leaves its reason, and no descriptor open") {
  const File taken(BindLoopback(Loopback()));
  REQUIRE(ListenOn(taken.fd(), 1));
  const int next_free = dup(taken.fd());
  REQUIRE(close(next_free) == 0);
  CHECK(BindLoopback(Loopback(taken.fd())) == -1);
  CHECK(errno == EADDRINUSE);
  CHECK_FALSE(IsOpen(next_free));
  sockaddr_in elsewhere = Loopback();
  elsewhere.sin_addr.s_addr = htonl(0xC0'00'02'4D);  // 192.0.2.77
  CHECK(BindLoopback(elsewhere) == -1);
  CHECK(errno == EADDRNOTAVAIL);
  CHECK_FALSE(IsOpen(next_free));
  const sockaddr unknown{.sa_family = 200, .sa_data = {}};
  CHECK(BindSocket(unknown, sizeof unknown) == -1);
}

TEST_CASE("an accepted connection waits for nobody, and is no child's") {
  const Connection connection;
  CHECK(IsNonBlocking(connection.ours));
  CHECK(IsOfThisProcess(connection.ours));
}

TEST_CASE("keep-alive is on with its three numbers") {
  const Connection connection;
  CHECK(OptionOf(connection.ours, SOL_SOCKET, SO_KEEPALIVE) == 0);
  SetKeepAlive(connection.ours, {.idle_s = 301, .interval_s = 99, .probes = 4});
  CHECK(OptionOf(connection.ours, SOL_SOCKET, SO_KEEPALIVE) == 1);
  CHECK(OptionOf(connection.ours, IPPROTO_TCP, TCP_KEEPIDLE) == 301);
  CHECK(OptionOf(connection.ours, IPPROTO_TCP, TCP_KEEPINTVL) == 99);
  CHECK(OptionOf(connection.ours, IPPROTO_TCP, TCP_KEEPCNT) == 4);
}

TEST_CASE("input is there until it is read, and reading does not wait") {
  const Connection connection;
  std::array<char, 3> room{};
  CHECK_FALSE(HasInput(connection.ours));
  errno = 0;
  CHECK(ReadFrom(connection.ours, room) == -1);
  CHECK(errno == EAGAIN);
  REQUIRE(send(connection.peer.fd(), "hello", 5, 0) == 5);
  REQUIRE(BecomesReadable(connection.ours));
  CHECK(HasInput(connection.ours));
  CHECK(ReadFrom(connection.ours, room) == 3);
  CHECK(std::string(room.data(), 3) == "hel");
  CHECK(HasInput(connection.ours));
  CHECK(ReadFrom(connection.ours, room) == 2);
  CHECK_FALSE(HasInput(connection.ours));
  CHECK_FALSE(HasInput(-1));
}

TEST_CASE("pieces are written in order, by one call, as far as the socket takes them") {
  const Connection connection;
  const std::string one = "one ";
  const std::string two = "two ";
  const std::vector<OutputPiece> pieces = {{one.data(), one.size()}, {two.data(), two.size()}};
  CHECK(WriteTo(connection.ours, std::span(pieces).first(1)) == 4);
  CHECK(WriteTo(connection.ours, pieces) == 8);
  std::array<char, 20> room{};
  CHECK(recv(connection.peer.fd(), room.data(), 12, MSG_WAITALL) == 12);
  CHECK(std::string(room.data(), 12) == "one one two ");

  const std::vector<OutputPiece> most(kPiecesPerWrite, OutputPiece{one.data(), 1});
  CHECK(WriteTo(connection.ours, most) == static_cast<ssize_t>(kPiecesPerWrite));

  const std::string much(1 << 20, 'x');
  const std::vector<OutputPiece> twice(2, OutputPiece{much.data(), much.size()});
  for (size_t pieces_at_once : {1, 2}) {  // 0: the socket is full, and that is no error
    ssize_t taken = 1;
    for (int i = 0; i < 1'000 && taken > 0; ++i)
      taken = WriteTo(connection.ours, std::span(twice).first(pieces_at_once));
    CHECK(taken == 0);
  }
  CHECK(UnacknowledgedBytes(connection.ours) > 0);
}

TEST_CASE("a write to a peer that is gone is an error") {
  std::signal(SIGPIPE, SIG_IGN);
  int pair[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  const File ours(pair[0]);
  close(pair[1]);
  const OutputPiece piece{"x", 1};
  CHECK(WriteTo(ours.fd(), std::span(&piece, 1)) == -1);
  CHECK(errno == EPIPE);
}

TEST_CASE("what the peer has not acknowledged is known of TCP, and of nothing else") {
  const Connection connection;
  CHECK(UnacknowledgedBytes(connection.ours) == 0);
  CHECK(UnacknowledgedBytes(connection.port.fd()) == 0);
  CHECK(UnacknowledgedBytes(-1) == 0);
}

TEST_CASE("the peer's end is seen although bytes from before it are unread, and ours is seen by the peer") {
  const Connection connection;
  CHECK_FALSE(PeerHasEnded(connection.ours));
  REQUIRE(send(connection.peer.fd(), "last", 4, 0) == 4);
  REQUIRE(BecomesReadable(connection.ours));
  CHECK_FALSE(PeerHasEnded(connection.ours));
  REQUIRE(shutdown(connection.peer.fd(), SHUT_WR) == 0);
  pollfd end{.fd = connection.ours, .events = POLLRDHUP, .revents = 0};
  REQUIRE(poll(&end, 1, 5'000) == 1);
  CHECK(PeerHasEnded(connection.ours));
  CHECK(HasInput(connection.ours));

  CHECK(EndOutput(connection.ours));
  char byte = 0;
  CHECK(recv(connection.peer.fd(), &byte, 1, 0) == 0);
  CHECK_FALSE(EndOutput(-1));
  CHECK_FALSE(EndOutput(File(socket(AF_INET, SOCK_STREAM, 0)).fd()));
}

TEST_CASE("a set of ends tells each owner once whose peer has ended, and forgets those that were removed") {
  const File set(OpenEndSet());
  CHECK(IsOfThisProcess(set.fd()));
  const Connection first;
  const Connection second;
  const Connection third;
  int names[3];
  REQUIRE(AddToEndSet(set.fd(), first.ours, &names[0]));
  REQUIRE(AddToEndSet(set.fd(), second.ours, &names[1]));
  REQUIRE(AddToEndSet(set.fd(), third.ours, &names[2]));
  CHECK_FALSE(AddToEndSet(set.fd(), third.ours, &names[2]));
  std::array<void*, 8> gone{};
  CHECK(TakeFromEndSet(set.fd(), gone) == 0);
  REQUIRE(send(first.peer.fd(), "x", 1, 0) == 1);  // bytes are no end
  REQUIRE(BecomesReadable(first.ours));
  CHECK(TakeFromEndSet(set.fd(), gone) == 0);
  RemoveFromEndSet(set.fd(), second.ours);
  for (const Connection* one : {&first, &second, &third}) REQUIRE(shutdown(one->peer.fd(), SHUT_WR) == 0);
  REQUIRE(BecomesReadable(set.fd()));
  CHECK(TakeFromEndSet(set.fd(), std::span(gone).first(1)) == 1);
  CHECK(TakeFromEndSet(set.fd(), std::span(gone).subspan(1)) == 1);
  CHECK(((gone[0] == &names[0] && gone[1] == &names[2]) || (gone[0] == &names[2] && gone[1] == &names[0])));
  CHECK(TakeFromEndSet(set.fd(), gone) == 0);
  CHECK(AddToEndSet(set.fd(), second.ours, &names[1]));  // it was really removed
  CHECK(TakeFromEndSet(set.fd(), gone) == 1);
  CHECK(gone[0] == &names[1]);
  CHECK(TakeFromEndSet(-1, gone) == 0);
}

TEST_CASE("a datagram says why it was not sent, and leaves no descriptor open") {
  const Folder folder;
  const std::string path = folder / "notify";
  const testing::DatagramSocket manager(path);
  const int next_free = dup(STDIN_FILENO);
  REQUIRE(close(next_free) == 0);
  CHECK(SendDatagram(path, "READY=1", 1) == 0);
  CHECK(manager.Take() == "READY=1");
  CHECK(SendDatagram("", "x", 1) == EINVAL);
  const size_t longest = sizeof(sockaddr_un::sun_path);
  CHECK(SendDatagram(std::string(longest + 1, 'x'), "x", 1) == EINVAL);
  CHECK(SendDatagram('@' + std::string(longest - 1, 'x'), "x", 1) == ECONNREFUSED);
  CHECK(SendDatagram("/no/such/socket", "x", 1) == ENOENT);
  CHECK_FALSE(IsOpen(next_free));
}

TEST_CASE("without patience a datagram for a manager that does not read is given up at once") {
  const Folder folder;
  const std::string path = folder / "notify";
  const testing::DatagramSocket manager(path);
  int error = 0;
  for (int i = 0; i < 100'000 && error == 0; ++i) error = SendDatagram(path, "WATCHDOG=1", 0);
  CHECK(error == EAGAIN);
  CHECK(manager.Take() == "WATCHDOG=1");
}

TEST_CASE("the timer of clock steps does not become readable by itself, also when it is set again") {
  const File timer(OpenStepTimer());
  CHECK(IsNonBlocking(timer.fd()));
  CHECK(IsOfThisProcess(timer.fd()));
  const auto readable = [&] {
    pollfd one{.fd = timer.fd(), .events = POLLIN, .revents = 0};
    return poll(&one, 1, 0) != 0;
  };
  CHECK_FALSE(readable());
  RearmStepTimer(timer.fd());
  CHECK_FALSE(readable());
}

TEST_CASE("the limit of open files is the soft one") {
  rlimit limit{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  CHECK(FileLimit() == limit.rlim_cur);
}

}  // namespace
}  // namespace mayfly::net::descriptor
