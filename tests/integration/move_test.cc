// A move from a real server to Mayfly, and back, while clients write: docs/replicas.md.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/free_port.h"
#include "support/oracle.h"

namespace mayfly {
namespace {

using Words = std::vector<std::string>;
using testing::Oracle;

// Writes new keys at one of two servers, and goes to the other one after READONLY.
class Writer {
 public:
  Writer(int number, uint16_t first, uint16_t second)
      : prefix_("w" + std::to_string(number) + ":"),
        thread_([this, first, second] { Write(Client::ToPort(first), Client::ToPort(second)); }) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { Stop(); }

  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  size_t acknowledged() const noexcept { return acknowledged_; }
  // A reply that is neither OK nor READONLY; empty: none. REQUIRES: it was stopped.
  const std::string& failure() const noexcept { return failure_; }
  // How many acknowledged keys a server has.
  int64_t CountAt(Client& server) const {
    constexpr size_t kAtOnce = 1000;
    int64_t found = 0;
    Words request{"EXISTS"};
    for (size_t i = 0; i < acknowledged_; ++i) {
      request.push_back(prefix_ + std::to_string(i));
      if (request.size() <= kAtOnce && i + 1 < acknowledged_) continue;
      found += std::stoll(server.Run(request).substr(1));
      request.resize(1);
    }
    return found;
  }

 private:
  void Write(Client first, Client second) {
    Client* here = &first;
    while (!stop_) {
      const std::string reply = here->Run({"SET", prefix_ + std::to_string(acknowledged_), "v"});
      if (reply == "OK") {
        ++acknowledged_;
      } else if (reply.starts_with("-READONLY")) {
        here = here == &first ? &second : &first;
      } else {
        failure_ = reply;
        return;
      }
    }
  }

  const std::string prefix_;
  std::atomic<bool> stop_ = false;
  std::atomic<size_t> acknowledged_ = 0;
  std::string failure_;
  std::thread thread_;
};

// The roles change while all writers write, and each of them goes on at the new master.
void HandOver(Client& from, Client& to, uint16_t to_port,
              const std::vector<std::unique_ptr<Writer>>& writers) {
  const auto all_have_written = [&](size_t more) {
    std::vector<size_t> goals;
    for (const auto& writer : writers) goals.push_back(writer->acknowledged() + more);
    return Eventually([&] {
      for (size_t i = 0; i < writers.size(); ++i) {
        if (writers[i]->acknowledged() < goals[i]) return false;
      }
      return true;
    });
  };
  constexpr size_t kMore = 200;
  CHECK(all_have_written(kMore));
  CHECK(Eventually([&] {
    return from.Run({"FAILOVER", "TO", "127.0.0.1", std::to_string(to_port), "TIMEOUT", "10000"}) == "OK";
  }));
  CHECK(Eventually([&] { return to.Info("role") == "master"; }));
  CHECK(Eventually([&] { return from.Info("master_link_status") == "up"; }));
  CHECK(all_have_written(kMore));
}

}  // namespace

TEST_CASE("FAILOVER moves writers from another server to Mayfly and back without a lost write") {
  const std::string program =
      GENERATE(as<std::string>(), Oracle::kProgram, Oracle::kNewerProgram, Oracle::kValkey);
  CAPTURE(program);
  const uint16_t old_port = FreePort();
  const Oracle old_server(
      {"--port", std::to_string(old_port), "--bind", "127.0.0.1", "--repl-diskless-sync-delay", "0"},
      program);
  Client old_client = Client::ToPort(old_port);
  const Daemon daemon;
  Client client(daemon);
  REQUIRE(client.Run({"REPLICAOF", "127.0.0.1", std::to_string(old_port)}) == "OK");
  REQUIRE(Eventually([&] { return client.Info("master_link_status") == "up"; }));

  std::vector<std::unique_ptr<Writer>> writers;
  for (int i = 0; i < 4; ++i) writers.push_back(std::make_unique<Writer>(i, old_port, daemon.port()));
  HandOver(old_client, client, daemon.port(), writers);
  HandOver(client, old_client, old_port, writers);
  for (const auto& writer : writers) writer->Stop();
  CHECK(Eventually([&] { return client.Run({"DBSIZE"}) == old_client.Run({"DBSIZE"}); }));
  for (const auto& writer : writers) {
    CHECK(writer->failure().empty());
    CHECK(writer->CountAt(old_client) == static_cast<int64_t>(writer->acknowledged()));
    CHECK(writer->CountAt(client) == static_cast<int64_t>(writer->acknowledged()));
  }
}

}  // namespace mayfly
