// In which turn the end of a lookup falls, for connections to other servers.
#include <memory>
#include <string>

#include "net/outgoing_connections.h"
#include "sim/world.h"
#include "support/catch.h"

namespace mayfly::sim::outgoing_address {
namespace {

using net::OutgoingConnections;
using State = OutgoingConnection::State;

constexpr uint16_t kPort = 6379;

// An owner of a connection, which notes how many turns had begun at its news.
struct Owner final : OutgoingConnection::Listener {
  explicit Owner(const int& turns) : turns_begun(turns) {}
  void OnNews() noexcept override {
    ++news;
    turns_at_news = turns_begun;
  }
  const int& turns_begun;
  std::unique_ptr<OutgoingConnection> connection;
  int news = 0;
  int turns_at_news = 0;
};

struct LoopTest {
  LoopTest() { REQUIRE(uv_loop_init(&loop) == 0); }
  ~LoopTest() {
    owner.connection.reset();
    all->Close();
    Pass(20);
    CHECK(uv_loop_close(&loop) == 0);
  }
  void Pass(uint64_t ms) {
    for (; ms != 0; --ms) {
      const uint64_t until = world.now_ns() + World::kNsPerMs;
      world.leash() = {.until_ns = until};
      uv_run(&loop, UV_RUN_DEFAULT);
      if (world.now_ns() < until) world.SetTime(until);
      world.Happen();
    }
  }
  State Connect(const std::string& host) {
    owner.connection = all->Connect(host, kPort, owner);
    return owner.connection->state();
  }

  World world{Choices(1)};
  uv_loop_t loop{};
  int turns_begun = 0;
  std::unique_ptr<OutgoingConnections> all =
      std::make_unique<OutgoingConnections>(loop, [this] { ++turns_begun; });
  Owner owner{turns_begun};
};

}  // namespace

TEST_CASE_METHOD(LoopTest, "a turn has begun when a lookup ends, whether or not it has found anything") {
  world.SetHost("nobody", {.addresses = {}, .lookup_ms = 3});
  world.SetHost("refuses", {.addresses = {"10.0.0.7"}, .lookup_ms = 3});
  int news = 0;
  for (const char* const host : {"nobody", "refuses"}) {
    CAPTURE(host);
    const int before = turns_begun;
    CHECK(Connect(host) == State::kConnecting);
    CHECK(turns_begun == before);
    Pass(10);
    CHECK(owner.news == ++news);
    CHECK(owner.turns_at_news == before + 1);
  }
}

}  // namespace mayfly::sim::outgoing_address
