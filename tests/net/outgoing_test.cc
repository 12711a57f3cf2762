// Connections to other servers on the simulated network: every way in which one begins, waits, is read and ends. By real
// sockets: integration/migrate_test.cc and integration/tls_link_test.cc.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory/heap.h"
#include "net/outgoing_connections.h"
#include "sim/server.h"
#include "sim/uv_state.h"
#include "sim/world.h"
#include "support/catch.h"
#include "support/long_text.h"
#include "unit/net/tls/rig.h"

#include <arpa/inet.h>

namespace mayfly::sim {
namespace {

using net::OutgoingConnections;
using net::TlsRig;
using testing::Bulk;
using testing::Error;
using testing::Ok;
using State = OutgoingConnection::State;

constexpr uint16_t kTargetPort = 6379;
constexpr size_t kInputBytes = size_t{16} << 10;  // of one read

// Another server: a port of the simulated machine, and the end of the connection that was accepted from it.
class Target {
 public:
  explicit Target(World& world, const std::string& host = "127.0.0.1") : world_(world) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(kTargetPort);
    REQUIRE(inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1);
    port_ = world.Bind(reinterpret_cast<const sockaddr&>(address), sizeof address);
    REQUIRE(world.Listen(port_, 10) == 0);
  }
  ~Target() {
    Close();
    world_.CloseFile(port_);
  }
  // Takes the connection that waits, if there is one; true if there is.
  bool Accept() {
    if (const int fd = world_.Accept(port_); fd >= 0) link_ = world_.FindLink(fd);
    return link_ != nullptr;
  }
  void Send(const std::string& bytes) { unsent_ += bytes; }
  std::string Take() { return std::exchange(received_, {}); }
  // As much as the network takes, and what has come.
  void Work(bool reads = true) {
    if (link_ == nullptr) return;
    if (!unsent_.empty()) {
      const ssize_t taken =
          link_->Write({uv_buf_init(unsent_.data(), static_cast<unsigned>(unsent_.size()))}, 0);
      if (taken > 0) unsent_.erase(0, static_cast<size_t>(taken));
    }
    std::string room(100'000, '\0');
    while (reads) {
      const ssize_t size = link_->Read(room.data(), room.size());
      saw_end_ = saw_end_ || size == 0;
      if (size <= 0) return;
      received_.append(room, 0, static_cast<size_t>(size));
    }
  }
  // The socket: what was sent before arrives.
  void Close() {
    if (link_ != nullptr) world_.CloseFile(link_->fd());
    link_ = nullptr;
  }
  // The other end sees a reset.
  void Break() {
    link_->Reset();
    world_.wires().back()->Cut();
  }
  bool saw_end() const noexcept { return saw_end_; }

 private:
  World& world_;
  int port_ = -1;
  std::shared_ptr<Link> link_;
  std::string unsent_;
  std::string received_;
  bool saw_end_ = false;
};

// An owner of a connection, which counts the news.
struct Owner final : OutgoingConnection::Listener {
  void OnNews() noexcept override {
    ++news;
    if (drops_at_news) connection.reset();
  }
  std::unique_ptr<OutgoingConnection> connection;
  int news = 0;
  bool drops_at_news = false;
};

// A loop with connections to other servers, without a server of its own.
class OutgoingTest {
 public:
  OutgoingTest() { REQUIRE(uv_loop_init(&loop) == 0); }
  ~OutgoingTest() {
    owner.connection.reset();
    all->Close();
    targets.clear();
    Pass(100);
    CHECK(uv_loop_close(&loop) == 0);
  }
  Target& AddTarget(const std::string& host = "127.0.0.1") {
    return *targets.emplace_back(std::make_unique<Target>(world, host));
  }
  void Connect(const std::string& host) { owner.connection = all->Connect(host, kTargetPort, owner); }
  // The loop runs, and the targets work, for so many milliseconds.
  void Pass(uint64_t ms) {
    for (; ms != 0; --ms) {
      const uint64_t until = world.now_ns() + World::kNsPerMs;
      world.leash() = {.until_ns = until};
      uv_run(&loop, UV_RUN_DEFAULT);
      if (world.now_ns() < until) world.SetTime(until);
      world.Happen();
      for (const auto& target : targets) target->Work(targets_read);
    }
  }
  // To the first target.
  Target& Open() {
    Target& target = AddTarget();
    Connect("127.0.0.1");
    Pass(5);
    REQUIRE(state() == State::kOpen);
    REQUIRE(target.Accept());
    owner.news = 0;
    return target;
  }
  State state() const { return owner.connection->state(); }
  std::string received() const { return std::string(owner.connection->received()); }

  World world{Choices(1)};
  uv_loop_t loop{};
  int turns_begun = 0;
  std::unique_ptr<OutgoingConnections> all =
      std::make_unique<OutgoingConnections>(loop, [this] { ++turns_begun; });
  std::vector<std::unique_ptr<Target>> targets;
  bool targets_read = true;
  Owner owner;
};

// The same by TLS: the test is the server's end, with a transport of its own.
class OutgoingTlsTest : public OutgoingTest {
 public:
  OutgoingTlsTest() {
    rig.settings.tls_replication = true;
    rig.Use();
    all = std::make_unique<OutgoingConnections>(loop, [this] { ++turns_begun; }, &rig.transports);
  }
  ~OutgoingTlsTest() {
    owner.connection.reset();
    all->Close();  // before the certificates go
  }
  // The connection is made, and the handshake begun.
  Target& Begin() {
    Target& target = AddTarget();
    Connect("127.0.0.1");
    Pass(5);
    REQUIRE(target.Accept());
    server = rig.transports.NewTransport();
    return target;
  }
  // The server's end works, for so many milliseconds. Returns what it has read.
  std::string Serve(Target& target, uint64_t ms = 20) {
    std::string read;
    for (; ms != 0; --ms) {
      Pass(1);
      if (const std::string bytes = target.Take(); !bytes.empty()) server->Receive(bytes);
      read += TlsRig::ReadAll(*server);
      target.Send(TlsRig::TakeToSend(*server));
    }
    return read;
  }
  void SendByTls(Target& target, std::string_view text) {
    while (!text.empty()) {
      const size_t taken = server->Write(text);
      REQUIRE(taken != 0);
      target.Send(TlsRig::TakeToSend(*server));
      text.remove_prefix(taken);
    }
  }
  Target& OpenByTls() {
    Target& target = Begin();
    Serve(target);
    REQUIRE(state() == State::kOpen);
    owner.news = 0;
    return target;
  }

  TlsRig rig;
  std::unique_ptr<net::Transport> server;
};

}  // namespace

// ---- the address

TEST_CASE("a target that cannot be reached is an error at once, and the client is served on") {
  SimulatedServer server;
  CHECK(server.Run({"SET", "k", "v"}) == Ok());
  CHECK(server.Run({"MIGRATE", "10.0.0.7", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout writing to target instance"));
  CHECK(server.Run({"MIGRATE", "fd00::7", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout writing to target instance"));
  CHECK(server.Run({"MIGRATE", "there", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout connecting to the client"));
  CHECK(server.Run({"MIGRATE", "", "6379", "k", "0", "100"}) ==
        Error("IOERR error or timeout connecting to the client"));
  CHECK(server.Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(OutgoingTest, "a numeric address is connected to without a lookup") {
  Target& target = AddTarget();
  Connect("127.0.0.1");
  CHECK(state() == State::kConnecting);
  Pass(5);
  CHECK(state() == State::kOpen);
  CHECK(owner.news == 1);
  CHECK(turns_begun == 1);
  CHECK(target.Accept());
  CHECK(world.calls() == std::vector<std::string>{"127.0.0.1:6379"});
}

TEST_CASE_METHOD(OutgoingTest, "an address without a way to it ends the connection at once, without news") {
  for (const char* const host : {"10.0.0.7", "fd00::7"}) {
    Connect(host);
    CHECK(state() == State::kRefused);
  }
  Pass(5);
  CHECK(owner.news == 0);
  CHECK(world.calls() == std::vector<std::string>{"10.0.0.7:6379", "[fd00::7]:6379"});
}

TEST_CASE_METHOD(OutgoingTest, "a port without a listener refuses, and that is news") {
  Connect("127.0.0.1");
  CHECK(state() == State::kConnecting);
  Pass(5);
  CHECK(state() == State::kRefused);
  CHECK(owner.news == 1);
}

TEST_CASE_METHOD(OutgoingTest, "the addresses of a name are tried in the resolver's order") {
  AddTarget("127.0.0.4");
  world.SetHost("there", {.addresses = {"fd00::7", "127.0.0.2", "10.0.0.7", "127.0.0.3", "127.0.0.4"}});
  Connect("there");
  CHECK(state() == State::kConnecting);
  Pass(20);
  CHECK(state() == State::kOpen);
  CHECK(owner.news == 1);
  CHECK(world.calls() == std::vector<std::string>{"[fd00::7]:6379", "127.0.0.2:6379", "10.0.0.7:6379",
                                                  "127.0.0.3:6379", "127.0.0.4:6379"});
}

TEST_CASE_METHOD(OutgoingTest,
                 "the first address of a name that answers is the only one that is connected to") {
  Target& first = AddTarget("127.0.0.2");
  Target& second = AddTarget("127.0.0.3");
  world.SetHost("there", {.addresses = {"127.0.0.2", "127.0.0.3"}});
  Connect("there");
  Pass(20);
  CHECK(state() == State::kOpen);
  CHECK(first.Accept());
  CHECK_FALSE(second.Accept());
  first.Close();
  Pass(20);
  CHECK(state() == State::kLost);
  CHECK_FALSE(second.Accept());  // a connection that was there is not made again
}

TEST_CASE_METHOD(OutgoingTest, "a name whose addresses all refuse is refused, and that is news once") {
  world.SetHost("there", {.addresses = {"127.0.0.2", "127.0.0.3"}});
  Connect("there");
  Pass(20);
  CHECK(state() == State::kRefused);
  CHECK(owner.news == 1);
  world.SetHost("there", {.addresses = {"10.0.0.7", "fd00::7"}});  // and none can even be tried
  Connect("there");
  Pass(20);
  CHECK(state() == State::kRefused);
  CHECK(owner.news == 2);
}

TEST_CASE_METHOD(OutgoingTest, "a name without an address of IPv4 or IPv6 has no address") {
  for (const char* const other : {"", "a unix socket"}) {
    const std::vector<std::string> addresses(*other != '\0' ? 1 : 0, other);
    owner.news = 0;
    world.SetHost("there", {.addresses = addresses, .lookup_ms = 3});
    Connect("there");
    Pass(2);
    CHECK(state() == State::kConnecting);
    CHECK(owner.news == 0);
    Pass(5);
    CHECK(state() == State::kNoAddress);
    CHECK(owner.news == 1);
  }
  CHECK(world.calls().empty());
  AddTarget();
  world.SetHost("there", {.addresses = {"a unix socket", "127.0.0.1"}});
  Connect("there");
  Pass(5);
  CHECK(state() == State::kOpen);
}

TEST_CASE_METHOD(OutgoingTest, "a name that cannot be looked up has no address, at once") {
  for (const std::string& host :
       {std::string(), std::string("there\0elsewhere", 15), std::string("nowhere")}) {
    world.SetHost("there", {.addresses = {"127.0.0.1"}});
    Connect(host);
    CHECK(state() == State::kNoAddress);
  }
  Pass(5);
  CHECK(owner.news == 0);
}

TEST_CASE_METHOD(OutgoingTest, "a lookup whose connection has gone tells nobody, cancelled or not") {
  const bool begun = GENERATE(false, true);
  world.set_begins_lookups(begun);
  AddTarget();
  world.SetHost("there", {.addresses = {"127.0.0.1"}, .lookup_ms = 5});
  Connect("there");
  Pass(1);
  CHECK(StateOf(&loop).lookups.size() == 1);
  owner.connection.reset();
  Pass(1);
  CHECK(StateOf(&loop).lookups.size() == (begun ? 1U : 0U));
  Pass(10);
  CHECK(StateOf(&loop).lookups.empty());
  CHECK(owner.news == 0);
  CHECK(turns_begun == 0);
  CHECK(world.calls().empty());
}

TEST_CASE_METHOD(OutgoingTest, "a connection that goes before it is made tells nobody") {
  AddTarget();
  world.set_connect_ms([] { return 5; });
  Connect("127.0.0.1");
  Pass(1);
  owner.connection.reset();
  Pass(10);
  CHECK(owner.news == 0);
  CHECK(turns_begun == 0);
}

// ---- writing

TEST_CASE_METHOD(OutgoingTest, "what is sent early waits for the connection, and keeps its order") {
  Target& target = AddTarget();
  world.set_connect_ms([] { return 5; });
  Connect("127.0.0.1");
  owner.connection->Send("one ");
  owner.connection->Send("");
  owner.connection->Send("two ");
  CHECK(owner.connection->unsent() == 8);
  Pass(10);
  CHECK(owner.connection->unsent() == 0);
  REQUIRE(target.Accept());
  owner.connection->Send("three");
  Pass(5);
  CHECK(target.Take() == "one two three");
  CHECK(owner.news == 1);
}

TEST_CASE_METHOD(OutgoingTest, "bytes that the system does not take yet are unsent, and arrive in the end") {
  Target& target = Open();
  const std::string text = testing::Pattern(1'000'000);
  targets_read = false;
  owner.connection->Send(text);
  Pass(20);
  CHECK(owner.connection->unsent() > 100'000);
  CHECK(owner.connection->unsent() < text.size());
  targets_read = true;
  Pass(100);
  CHECK(owner.connection->unsent() == 0);
  CHECK(target.Take() == text);
  CHECK(owner.news == 0);  // that bytes were sent is none
}

TEST_CASE_METHOD(OutgoingTest, "a write to a server that has gone ends the connection") {
  Target& target = Open();
  targets_read = false;
  owner.connection->Send(testing::Pattern(1'000'000));
  Pass(5);
  target.Break();
  Pass(5);
  CHECK(state() == State::kLost);
  CHECK(owner.news == 1);
  owner.connection->Send("more");
  CHECK(owner.connection->unsent() == 0);
  Pass(5);
  CHECK(owner.news == 1);
}

TEST_CASE_METHOD(OutgoingTest, "a failed write ends a connection that is not read for now") {
  Target& target = Open();
  target.Send(testing::Pattern(300'000));
  Pass(50);
  targets_read = false;
  owner.connection->Send(testing::Pattern(1'000'000));
  Pass(5);
  owner.news = 0;
  target.Break();
  Pass(5);
  CHECK(state() == State::kLost);
  CHECK(owner.news == 1);
  CHECK(owner.connection->received().size() >= OutgoingConnection::kMostReceived);
}

// ---- reading

TEST_CASE_METHOD(OutgoingTest, "bytes that came are there until they are consumed") {
  Target& target = Open();
  target.Send("hello ");
  Pass(5);
  CHECK(received() == "hello ");
  CHECK(owner.news == 1);
  target.Send("world");
  Pass(5);
  CHECK(received() == "hello world");
  CHECK(owner.news == 2);
  owner.connection->Consume(6);
  CHECK(received() == "world");
  target.Send("!");
  Pass(5);
  CHECK(received() == "world!");
  owner.connection->Consume(6);
  CHECK(received().empty());
  CHECK(turns_begun == 4);  // with the one that opened it
}

TEST_CASE_METHOD(OutgoingTest, "a server that sends faster than it is read has to wait") {
  constexpr size_t kMost = OutgoingConnection::kMostReceived;
  Target& target = Open();
  const std::string text = testing::Pattern(1'000'000);
  target.Send(text);
  Pass(50);
  CHECK(owner.connection->received().size() >= kMost);
  CHECK(owner.connection->received().size() < kMost + kInputBytes);
  owner.connection->Consume(owner.connection->received().size() - kMost);  // there is no room yet
  Pass(50);
  CHECK(owner.connection->received().size() == kMost);
  std::string read = text.substr(0, text.find(received()));
  while (read.size() < text.size()) {
    const std::string piece = received().substr(0, 30'000);
    REQUIRE_FALSE(piece.empty());
    read += piece;
    owner.connection->Consume(piece.size());
    Pass(50);
    CHECK(owner.connection->received().size() < kMost + kInputBytes);
  }
  CHECK(read == text);
  CHECK(state() == State::kOpen);
}

TEST_CASE_METHOD(OutgoingTest, "bytes that were consumed take no memory") {
  Target& target = Open();
  const Heap heap;
  const auto pass_on = [&] {
    target.Send(std::string(10'000, 'x'));
    Pass(5);
    CHECK(owner.connection->received().size() == 10'000);
    owner.connection->Consume(10'000);
  };
  for (int i = 0; i < 5; ++i) pass_on();
  const uint64_t before = heap.ThreadBytes();
  for (int i = 0; i < 200; ++i) pass_on();
  CHECK(heap.ThreadBytes() < before + 200'000);
}

TEST_CASE_METHOD(OutgoingTest, "the end of a connection is news, and what came before it is still there") {
  Target& target = Open();
  target.Send("last words");
  Pass(5);
  target.Close();
  Pass(5);
  CHECK(state() == State::kLost);
  CHECK(received() == "last words");
  CHECK(owner.connection->problem().empty());
  const int news = owner.news;
  owner.connection->Consume(4);
  CHECK(received() == " words");
  owner.connection->Consume(6);
  CHECK(received().empty());
  Pass(5);
  CHECK(owner.news == news);
}

TEST_CASE_METHOD(OutgoingTest, "a reset ends a connection") {
  Open().Break();
  Pass(5);
  CHECK(state() == State::kLost);
  CHECK(owner.news == 1);
}

// ---- the owner

TEST_CASE_METHOD(OutgoingTest, "an owner may drop its connection at any news") {
  const bool at_open = GENERATE(false, true);
  Target& target = at_open ? AddTarget() : Open();
  owner.drops_at_news = true;
  if (at_open)
    Connect("127.0.0.1");
  else
    target.Send("x");
  Pass(5);
  CHECK(owner.connection == nullptr);
  CHECK(owner.news == 1);
  if (at_open) REQUIRE(target.Accept());
  Pass(5);
  CHECK(target.saw_end());
}

TEST_CASE_METHOD(OutgoingTest, "news go to the listener that was set last") {
  Target& target = Open();
  Owner other;
  owner.connection->set_listener(other);
  target.Send("x");
  Pass(5);
  CHECK(owner.news == 0);
  CHECK(other.news == 1);
}

TEST_CASE_METHOD(OutgoingTest, "when all are closed no listener hears of it, and later ones end at once") {
  Target& target = Open();
  Owner second;
  second.connection = all->Connect("127.0.0.1", kTargetPort, second);
  Owner third;
  world.SetHost("there", {.addresses = {"127.0.0.1"}, .lookup_ms = 5});
  third.connection = all->Connect("there", kTargetPort, third);
  all->Close();
  for (const Owner* const one : {&owner, &second, &third}) {
    CHECK(one->connection->state() == State::kLost);
    CHECK(one->news == 0);
  }
  Pass(10);
  CHECK(target.saw_end());
  CHECK(owner.news + second.news + third.news == 0);
  const size_t calls = world.calls().size();
  Connect("127.0.0.1");
  CHECK(state() == State::kLost);
  CHECK(world.calls().size() == calls);
}

// ---- TLS

TEST_CASE_METHOD(OutgoingTlsTest, "by TLS a connection is open when the handshake is done") {
  Target& target = Begin();
  CHECK(state() == State::kConnecting);
  CHECK(owner.news == 0);
  owner.connection->Send("early ");
  CHECK(owner.connection->unsent() == 6);
  Pass(5);
  CHECK(state() == State::kConnecting);
  CHECK(Serve(target) == "early ");
  CHECK(state() == State::kOpen);
  CHECK(owner.news == 1);
  CHECK(owner.connection->unsent() == 0);
  owner.connection->Send("late");
  CHECK(Serve(target) == "late");
  TlsRig::Write(*server, "an answer");
  Serve(target);
  CHECK(received() == "an answer");
  CHECK(owner.news == 2);
}

TEST_CASE_METHOD(OutgoingTlsTest,
                 "by TLS a large text passes in pieces, both ways, and no faster than it is read") {
  constexpr size_t kMost = OutgoingConnection::kMostReceived;
  Target& target = OpenByTls();
  const std::string text = testing::Pattern(1'000'000);
  targets_read = false;
  owner.connection->Send(text);
  Pass(20);
  CHECK(owner.connection->unsent() > 100'000);
  targets_read = true;
  CHECK(Serve(target, 300) == text);
  CHECK(owner.connection->unsent() == 0);

  SendByTls(target, text);
  Serve(target, 50);
  CHECK(owner.connection->received().size() >= kMost);
  CHECK(owner.connection->received().size() < kMost + 2 * kInputBytes);
  std::string read;
  while (read.size() < text.size()) {
    REQUIRE_FALSE(received().empty());
    read += received();
    owner.connection->Consume(received().size());
    Serve(target, 20);
  }
  CHECK(read == text);
}

TEST_CASE_METHOD(OutgoingTlsTest,
                 "a server that closes during the handshake has no TLS, and the log can say why") {
  Target& target = Begin();
  target.Close();
  Pass(5);
  CHECK(state() == State::kNoTls);
  CHECK(owner.connection->problem() == "the server has closed the connection");
  CHECK(owner.news == 1);
}

TEST_CASE_METHOD(OutgoingTlsTest, "a server that speaks no TLS is left, and the log can say why") {
  Target& target = Begin();
  target.Send("-ERR unknown command\r\n");
  Pass(5);
  CHECK(state() == State::kNoTls);
  CHECK(owner.connection->problem() == "wrong version number");
  CHECK(received().empty());
  CHECK(owner.news == 1);
}

TEST_CASE_METHOD(OutgoingTlsTest, "a certificate that is not valid ends it, and both ends know why") {
  rig.certificates.Expire();
  rig.Use();
  Target& target = Begin();
  Serve(target);
  CHECK(state() == State::kNoTls);
  CHECK(owner.connection->problem() == "certificate verify failed: certificate has expired");
  CHECK(server->Problem().find("alert certificate expired") != std::string_view::npos);
  CHECK(owner.news == 1);
}

TEST_CASE_METHOD(OutgoingTlsTest, "a server that ends the stream, or breaks it, has lost the connection") {
  const bool breaks = GENERATE(false, true);
  Target& target = OpenByTls();
  if (breaks) {
    target.Send("no record at all, and long enough to be read as one");
    Pass(5);
    CHECK_FALSE(owner.connection->problem().empty());
  } else {
    TlsRig::Write(*server, "last words");
    server->End();
    target.Send(TlsRig::TakeToSend(*server));
    Pass(5);
    CHECK(received() == "last words");
    CHECK(owner.connection->problem().empty());
  }
  CHECK(state() == State::kLost);
  CHECK(owner.news == 1);
}

TEST_CASE_METHOD(OutgoingTlsTest, "an end without the word of TLS is an end, too") {
  Target& target = OpenByTls();
  target.Close();
  Pass(5);
  CHECK(state() == State::kLost);
  CHECK(owner.connection->problem().empty());
  CHECK(owner.news == 1);
}

// So that the server knows an end from an attacker's cut.
TEST_CASE_METHOD(OutgoingTlsTest, "an owner that drops its connection tells the server by TLS") {
  Target& target = OpenByTls();
  owner.connection.reset();
  Serve(target);
  CHECK(server->state() == net::Transport::State::kEnded);
  CHECK(target.saw_end());
}

TEST_CASE_METHOD(OutgoingTlsTest,
                 "the last words of a server that has broken off are read, though a write fails") {
  Target& target = OpenByTls();
  TlsRig::Write(*server, "why");
  target.Send(TlsRig::TakeToSend(*server));
  target.Work();
  world.Happen();  // they have come, and the loop has not looked yet
  target.Break();
  owner.connection->Send("x");
  Pass(5);
  CHECK(received() == "why");
  CHECK(state() == State::kLost);
}

TEST_CASE_METHOD(OutgoingTlsTest, "by TLS, too, a failed write ends a connection that is not read for now") {
  Target& target = OpenByTls();
  SendByTls(target, testing::Pattern(300'000));
  Serve(target, 50);
  targets_read = false;
  owner.connection->Send(testing::Pattern(1'000'000));
  Pass(5);
  owner.news = 0;
  target.Break();
  Pass(5);
  CHECK(state() == State::kLost);
  CHECK(owner.news == 1);
}

}  // namespace mayfly::sim
