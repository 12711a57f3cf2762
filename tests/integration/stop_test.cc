// What clients get of a daemon that stops: the reply of every request that was run, then a clean end.
#include <signal.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"

namespace mayfly {
namespace {

// Sends INCR of a key of its own for as long as there is somebody to send to. Each reply is the number of
// INCRs that were run so far, so the last one says how many replies there must be. What it sends besides is
// long and slow, so that the daemon is never done with it.
class Incrementer {
 public:
  struct Habits {
    size_t ahead_max;       // requests that it sends ahead of the replies
    size_t bytes_per_read;  // 0: it reads only when it cannot send, as much as there is
  };
  static constexpr size_t kRead = 64 * 1024;

  Incrementer(const Daemon& daemon, int number, const Habits& habits)
      : wire_(Wire::Tcp(daemon.port())),
        request_(Request({"INCR", "key:" + std::to_string(number)}) +
                 Request({"ECHO", std::string(1000, 'x')}) + Request({"DEBUG", "SLEEP", "0.0001"})),
        habits_(habits) {
    while (text_.size() < kRead) text_ += request_;
  }

  // Sends and reads what goes at once. False when the connection has ended.
  bool Turn() {
    const bool sending = SendAhead();
    const bool greedy = habits_.bytes_per_read == 0;
    if (!greedy || !sending) end_ = wire_.ReadSome(unparsed_, greedy ? kRead : habits_.bytes_per_read);
    CountReplies();
    return end_ == Wire::End::kNot;
  }
  size_t replies() const { return replies_; }
  size_t last_reply() const { return last_reply_; }
  Wire::End end() const { return end_; }

 private:
  // False when it may not or cannot send.
  bool SendAhead() {
    if (sent_bytes_ / request_.size() >= replies_ + habits_.ahead_max) return false;
    const size_t sent = wire_.SendSome(std::string_view(text_).substr(sent_bytes_ % request_.size()));
    sent_bytes_ += sent;
    return sent != 0;
  }

  void CountReplies() {
    size_t begin = 0;
    for (size_t end; (end = unparsed_.find("\r\n", begin)) != std::string::npos; begin = end + 2) {
      if (unparsed_[begin] != ':') continue;
      ++replies_;
      last_reply_ = std::stoul(unparsed_.substr(begin + 1, end - begin - 1));
    }
    unparsed_.erase(0, begin);
  }

  Wire wire_;
  const std::string request_;
  const Habits habits_;
  std::string text_;  // request_ again and again
  std::string unparsed_;
  size_t sent_bytes_ = 0;
  size_t replies_ = 0;
  size_t last_reply_ = 0;
  Wire::End end_ = Wire::End::kNot;
};

TEST_CASE("clients that send without end get the reply of each request that was run, then a clean end") {
  constexpr int kClients = 24;
  constexpr Incrementer::Habits kHabits[] = {{.ahead_max = 1'000, .bytes_per_read = Incrementer::kRead},
                                             {.ahead_max = 100, .bytes_per_read = 1'000},
                                             {.ahead_max = 1'000, .bytes_per_read = 0}};
  Daemon daemon({"--enable-debug-command", "yes"});
  std::vector<Incrementer> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back(daemon, i, kHabits[static_cast<size_t>(i) % 3]);
  REQUIRE(Eventually([&] {
    for (Incrementer& client : clients) client.Turn();
    return std::all_of(clients.begin(), clients.end(),
                       [](const Incrementer& client) { return client.replies() > 0; });
  }));
  daemon.Signal(SIGTERM);
  bool open = true;
  for (const int64_t end = NowMs() + kPatienceMs; open && NowMs() < end;) {
    open = false;
    for (Incrementer& client : clients) open |= client.Turn();
  }
  const Ended ended = daemon.Wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.output.find("did not read their replies") == std::string::npos);
  for (const Incrementer& client : clients) {
    CHECK(client.end() == Wire::End::kClean);
    CHECK(client.replies() == client.last_reply());
  }
}

TEST_CASE(
    "everything that had arrived when SIGTERM came is run and answered, of clients not yet accepted, too") {
  Daemon daemon;
  // A unix socket holds more than the daemon reads at once.
  std::vector<Wire> wires;
  for (int i = 0; i < 10; ++i) {
    wires.push_back(Wire::Unix(daemon.unix_socket()));
    REQUIRE(wires.back().Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
  }
  daemon.Signal(SIGSTOP);
  for (int i = 0; i < 5; ++i) {
    wires.push_back(Wire::Unix(daemon.unix_socket()));
    wires.push_back(Wire::Tcp(daemon.port()));
  }
  const std::string request = Request({"ECHO", std::string(1000, 'x')});
  constexpr size_t kRequests = 300;
  std::vector<size_t> sent(wires.size());
  for (size_t i = 0; i < wires.size(); ++i) {
    std::string requests;
    // A TCP socket surely holds that many.
    for (size_t n = 0; n < (i < 10 ? kRequests : 10); ++n) requests += request;
    sent[i] = wires[i].SendSome(requests) / request.size();
  }
  // The signal may come to the daemon a turn after the sockets do.
  CHECK(sent[0] * request.size() > 2 * size_t{64} * 1024);
  daemon.Signal(SIGTERM);
  daemon.Signal(SIGCONT);
  const std::string reply = "$1000\r\n" + std::string(1000, 'x') + "\r\n";
  for (size_t i = 0; i < wires.size(); ++i) {
    INFO("client " << i << " sent " << sent[i]);
    CHECK(wires[i].ReadToEnd().size() == sent[i] * reply.size());
  }
  CHECK(daemon.Wait().exit_code == 0);
}

TEST_CASE("SIGTERM ends a daemon whose loop does not come back, when shutdown-timeout is over") {
  Daemon daemon({"--enable-debug-command", "yes", "--shutdown-timeout", "1"});
  Wire wire = Wire::Tcp(daemon.port());
  REQUIRE(wire.Send(Request({"DEBUG", "SLEEP", "1000"})));
  Wire other = Wire::Tcp(daemon.port());
  PauseMs(100);  // if the request has not come yet, the daemon stops by itself, and the test fails
  daemon.Signal(SIGTERM);
  const Ended ended = daemon.Wait();
  CHECK(ended.exit_code == 1);
  CHECK(ended.signal == 0);
  CHECK(ended.output.find(" # the daemon was told to stop 1 s ago and has not stopped (shutdown-timeout)") !=
        std::string::npos);
  INFO(ended.output);
  CHECK(ended.output.find("request: debug, 3 arguments of 5 5 4 bytes; client 127.0.0.1:") !=
        std::string::npos);
}

TEST_CASE("SIGTERM ends a daemon at once while a script runs that never ends") {
  for (const std::string script : {"while true do pcall(function() while true do end end) end",
                                   "error(setmetatable({}, {__index = function() while true do end end}))",
                                   "local function f() while true do end end xpcall(f, f)",
                                   ("coroutine.wrap(function() xpcall(function() error('x') end, function() "
                                    "while true do end end) end)()"),
                                   "local t = 1 for i = 1, 60 do t = {t, t} end return t"}) {
    CAPTURE(script);
    Daemon daemon({"--busy-reply-threshold", "10"});
    Wire wire = Wire::Tcp(daemon.port());
    REQUIRE(wire.Send(Request({"EVAL", script, "0"})));
    Client other(daemon);
    const bool busy = Eventually([&] { return other.Run({"GET", "k"}).starts_with("-BUSY"); });
    CHECK(busy);
    daemon.Signal(SIGTERM);
    const Ended ended = daemon.Wait();
    CHECK(ended.exit_code == 0);
    CHECK(ended.output.find("shutdown-timeout") == std::string::npos);
  }
}

}  // namespace
}  // namespace mayfly
