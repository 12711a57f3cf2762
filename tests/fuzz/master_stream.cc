// A replica with a master that sends anything, in pieces of any size, and hangs up at will: greetings, snapshot files and
// commands, right, half or wrong. The replica neither crashes nor hangs, its keys stay whole, and when it has left its master it
// serves its clients. `fuzz_master_stream --seeds=DIR` writes seeds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "../support/loopless_server.h"
#include "../support/memory_disk.h"
#include "cache/keyspace/databases.h"
#include "replication/master_link.h"
#include "seed_files.h"
#include "server/figures/link_figures.h"
#include "snapshot/snapshots.h"

namespace mayfly::testing {
namespace {

constexpr size_t kMostSteps = 200;
constexpr size_t kMostSlices = 1000;

void Require(bool holds) {
  if (!holds) std::abort();
}

// Reads the test case; zeros after its end.
class Script {
 public:
  Script(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool Done() const { return at_ == end_; }
  uint8_t Byte() { return at_ == end_ ? uint8_t{0} : *at_++; }
  std::string Bytes(size_t most) {
    const size_t size = std::min<size_t>(most, static_cast<size_t>(end_ - at_));
    std::string bytes(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return bytes;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// The master's end of the link.
class Master final : public Outgoing {
 public:
  using State = OutgoingConnection::State;

  std::unique_ptr<OutgoingConnection> Connect(const std::string&, uint16_t,
                                              OutgoingConnection::Ear& ear) override {
    Require(connection_ == nullptr);
    return std::make_unique<Connection>(*this, ear);
  }
  bool connected() const { return connection_ != nullptr; }
  void Become(State state) {
    if (connection_ != nullptr) connection_->Become(state);
  }
  void Say(const std::string& bytes) {
    if (connection_ != nullptr && !connection_->ended()) connection_->Hear(bytes);
  }

 private:
  class Connection final : public OutgoingConnection {
   public:
    Connection(Master& master, Ear& ear) : master_(master), ear_(&ear) { master_.connection_ = this; }
    ~Connection() override { master_.connection_ = nullptr; }
    State state() const noexcept override { return state_; }
    void set_ear(Ear& ear) noexcept override { ear_ = &ear; }
    void Send(std::string) override {}
    size_t unsent() const noexcept override { return 0; }
    std::string_view received() const noexcept override { return received_; }
    void Consume(size_t size) noexcept override {
      Require(size <= received_.size());
      received_.erase(0, size);
    }
    void Become(State state) {
      state_ = state;
      ear_->OnNews();
    }
    void Hear(const std::string& bytes) {
      received_ += bytes;
      ear_->OnNews();
    }

   private:
    Master& master_;
    Ear* ear_;
    State state_ = State::kConnecting;
    std::string received_;
  };
  Connection* connection_ = nullptr;
};

const std::string kHistory(40, 'a');

// A right answer, or the beginning of one.
std::string Right(uint8_t which) {
  const std::string file =
      std::string("REDIS0010\xFA\x01x\x01y\xFE\x00\x00\x01k\x01v\xFF", 21) + std::string(8, '\0');
  switch (which % 8) {
    case 0:
      return "+PONG\r\n";
    case 1:
      return "+OK\r\n+OK\r\n";
    case 2:
      return "+FULLRESYNC " + kHistory + " 7\r\n";
    case 3:
      return "+CONTINUE\r\n";
    case 4:
      return "$" + std::to_string(file.size()) + "\r\n" + file;
    case 5:
      return "$EOF:" + kHistory + "\r\n" + file + kHistory;
    case 6:
      return "*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\n1\r\n";
    default:
      return "*1\r\n$4\r\nEXEC\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n";
  }
}

struct World {
  World() {
    server.server.outgoing = &master;
    server.server.snapshots = std::make_unique<Snapshots>(server.server, disk);
    server.server.master_link = std::make_unique<MasterLink>(server.server, disk);
  }
  ~World() {
    server.server.master_link.reset();
    server.server.snapshots.reset();
  }
  MasterLink& link() { return MasterLink::Of(server.server); }
  // What the loop does for sliced work and for threads.
  void Slice() {
    for (size_t i = 0; i < kMostSlices; ++i) {
      const LinkFigures::State before = server.server.link.state;
      if (server.sliced_work.waits()) server.sliced_work.RunSlice(server.executor.now(), ReadCycles(), 0, 64);
      server.hubs.wakes.Tell();
      const bool busy = before == LinkFigures::State::kTransfer || before == LinkFigures::State::kLoading;
      if (!busy && !server.sliced_work.waits()) break;
    }
  }
  void Pass(uint64_t ms) {
    server.clock.AdvanceTime(ms);
    server.FreeDue();
  }

  LooplessServer server;
  MemoryDisk disk;
  Master master;
};

void Step(World& world, Script& script) {
  const uint8_t op = script.Byte();
  switch (op % 8) {
    case 0:
      return world.master.Say(script.Bytes(script.Byte()));
    case 1:
    case 2:
      return world.master.Say(Right(op / 8));
    case 3: {
      const std::string right = Right(op / 8);
      return world.master.Say(right.substr(0, script.Byte() % right.size()));
    }
    case 4:
      return world.master.Become(op / 8 % 4 == 0 ? Master::State::kLost : Master::State::kOpen);
    case 5:
      return world.Pass(uint64_t{script.Byte()} * 100);
    case 6:
      return world.Slice();
    default:
      if (op / 8 % 4 == 0) world.link().FollowNone(world.server.clock.Read());
      world.link().Follow({"there", 7000}, world.server.clock.Read());
  }
}

void Try(const uint8_t* data, size_t size) {
  Script script(data, size);
  World world;
  world.link().Follow({"there", 7000}, world.server.clock.Read());
  world.Pass(0);
  for (size_t i = 0; i < kMostSteps && !script.Done(); ++i) {
    Step(world, script);
    Require(world.server.server.link.offset >= 0);
  }
  world.link().FollowNone(world.server.clock.Read());
  world.Slice();
  world.Pass(1000);
  for (unsigned i = 0; i < world.server.databases.count(); ++i)
    Require(world.server.databases.At(i).Validate());
}

void WriteSeeds(const std::string& folder) {
  // Opens the link, answers rightly, then commands.
  const uint8_t greet[] = {12, 1, 9, 17, 33, 6, 6, 49, 57, 5, 10, 36, 5, 10};
  std::ofstream(folder + "/greet", std::ios::binary)
      .write(reinterpret_cast<const char*>(greet), sizeof greet);
  const uint8_t marked[] = {12, 1, 9, 17, 41, 6, 51, 20, 57, 4, 5, 20, 12, 1, 9, 25, 57, 7};
  std::ofstream(folder + "/marked", std::ios::binary)
      .write(reinterpret_cast<const char*>(marked), sizeof marked);
}

}  // namespace
}  // namespace mayfly::testing

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, mayfly::testing::WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mayfly::testing::Try(data, size);
  return 0;
}
