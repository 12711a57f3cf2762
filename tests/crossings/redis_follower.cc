#include "crossings/redis_follower.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "snapshot/client_stream.h"
#include "support/free_port.h"

#include <arpa/inet.h>
#include <sys/socket.h>

namespace mayfly::testing::crossings {
namespace {

constexpr int kAcceptMs = 10'000;
constexpr int kMostRounds = 20'000;

std::string FieldIn(const std::string& info, const std::string& field) {
  const size_t at = info.find("\n" + field + ":");
  if (at == std::string::npos) return "";
  const size_t begin = at + field.size() + 2;
  return info.substr(begin, info.find('\r', begin) - begin);
}

}  // namespace

RedisFollower::RedisFollower()
    : oracle_({"--enable-debug-command", "yes"}),
      port_(FreePort()),
      listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port_);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool listens = bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
                       listen(listener_, 1) == 0;
  if (!listens) throw std::runtime_error("no port for a redis-server");
}

RedisFollower::~RedisFollower() {
  close(link_);
  close(listener_);
}

void RedisFollower::Follow(SnapshotTest& master) {
  REQUIRE(Ask({"REPLICAOF", "127.0.0.1", std::to_string(port_)}) == Ok());
  pollfd wait{listener_, POLLIN, 0};
  REQUIRE(poll(&wait, 1, kAcceptMs) == 1);
  link_ = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  client_ = std::make_unique<TestClient>(master.server());
  for (int round = 0; round < kMostRounds && LinkField("master_link_status") != "up"; ++round) {
    master.AdvanceTime(ClientStream::kLookMs);
    master.Slice();
    Carry(master);
  }
  REQUIRE(LinkField("master_link_status") == "up");
}

void RedisFollower::CatchUp(SnapshotTest& master) {
  const auto written = [&] {
    return FieldIn(master.Run({"INFO", "replication"}).text, "master_repl_offset");
  };
  for (int round = 0; round < kMostRounds; ++round) {
    Carry(master);
    if (LinkField("slave_repl_offset") == written()) return;
  }
  FAIL("the redis-server does not catch up: its link is " << LinkField("master_link_status"));
}

void RedisFollower::Leave() noexcept {
  try {
    Ask({"REPLICAOF", "NO", "ONE"});
  } catch (const std::exception&) {  // it has stopped: the next request shows it
  }
  close(link_);
  link_ = -1;
  client_.reset();
}

Reply RedisFollower::Ask(const Words& request) {
  return TakeReplies(oracle_.Ask(EncodeRequest(request), 1)[0]).at(0);
}

// Both ways, what is there.
void RedisFollower::Carry(SnapshotTest& master) {
  std::array<char, 65536> piece;
  const ssize_t size = recv(link_, piece.data(), piece.size(), MSG_DONTWAIT);
  const std::string up(piece.data(), size > 0 ? static_cast<size_t>(size) : 0);
  std::string down = client_->RunRaw(up);
  master.Slice();
  down += client_->RunRaw("");
  for (size_t sent = 0; sent < down.size();) {
    const ssize_t more = send(link_, down.data() + sent, down.size() - sent, MSG_NOSIGNAL);
    if (more <= 0) break;
    sent += static_cast<size_t>(more);
  }
  pollfd wait{link_, POLLIN, 0};
  if (up.empty() && down.empty()) poll(&wait, 1, 1);
}

std::string RedisFollower::LinkField(const std::string& field) {
  return FieldIn(Ask({"INFO", "replication"}).text, field);
}

}  // namespace mayfly::testing::crossings
