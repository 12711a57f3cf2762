// A replica with a master that sends anything, in pieces of any size, and hangs up at will: greetings, snapshot files and
// commands, right, half or wrong, and messages with facts as a Mayfly sends them. The replica neither crashes nor hangs, its keys
// stay whole, and when it has left its master it serves its clients.
//
// The first byte of an input says how far the link is before the rest of the input comes (Begin). So the stream of a master that
// is trusted is reached at once. `fuzz_master_stream --seeds=DIR` writes seeds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../support/loopless_server.h"
#include "../support/memory_disk.h"
#include "../support/reply.h"
#include "base/memory/output.h"
#include "cache/keyspace/databases.h"
#include "replication/facts.h"
#include "replication/handshake.h"
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
                                              OutgoingConnection::Listener& listener) override {
    Require(connection_ == nullptr);
    return std::make_unique<Connection>(*this, listener);
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
    Connection(Master& master, Listener& listener) : master_(master), listener_(&listener) {
      master_.connection_ = this;
    }
    ~Connection() override { master_.connection_ = nullptr; }
    State state() const noexcept override { return state_; }
    void set_listener(Listener& listener) noexcept override { listener_ = &listener; }
    void Send(std::string) override {}
    size_t unsent() const noexcept override { return 0; }
    std::string_view received() const noexcept override { return received_; }
    void Consume(size_t size) noexcept override {
      Require(size <= received_.size());
      received_.erase(0, size);
    }
    void Become(State state) {
      state_ = state;
      listener_->OnNews();
    }
    void Hear(const std::string& bytes) {
      received_ += bytes;
      listener_->OnNews();
    }

   private:
    Master& master_;
    Listener* listener_;
    State state_ = State::kConnecting;
    std::string received_;
  };
  Connection* connection_ = nullptr;
};

const std::string kHistory(40, 'a');
const std::string kOtherHistory(40, 'b');

// A right answer, or the beginning of one.
std::string Right(uint8_t which) {
  const std::string file =
      std::string("REDIS0010\xFA\x01x\x01y\xFE\x00\x00\x01k\x01v\xFF", 22) + std::string(8, '\0');
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

std::string Facts(char kind, const std::string& rest) {
  return EncodeRequest({"PUBLISH", std::string(kFactsChannel), kind + rest});
}

// Keys of all types, with names of one letter.
std::string AnyKey(uint8_t which) {
  const std::vector<std::vector<std::string>> requests = {{"SET", "s", "v", "PXAT", "1700000001000"},
                                                          {"SADD", "u", "a", "b", "1"},
                                                          {"HSET", "h", "a", "1", "b", "2"},
                                                          {"ZADD", "z", "1", "a", "2", "b"},
                                                          {"RPUSH", "l", "a", "b"},
                                                          {"XADD", "x", "1-1", "a", "1"},
                                                          {"PFADD", "p", "a"},
                                                          {"DEL", "u"}};
  return EncodeRequest(requests[which % requests.size()]);
}

// What a Mayfly sends, with bytes of the input where a fault may lie.
std::string Trusted(uint8_t which, Script& script) {
  const std::string key(1, "suhzlxpq"[script.Byte() % 8]);
  switch (which % 10) {
    case 0:  // the length of the key's name, the name, and fields
      return Facts(kFactsOfKey, std::string(1, '\1') + key + script.Bytes(script.Byte()));
    case 1: {
      const std::string fields = script.Bytes(script.Byte() % 64);
      return Facts(kFactsOfKey,
                   std::string(1, '\1') + key + "\xFA\1m" + static_cast<char>(fields.size()) + fields);
    }
    case 2: {
      constexpr const char* kCommands[] = {"SPEXPIREAT", "HPEXPIREAT", "EXPIREMEMBERAT", "HPERSIST",
                                           "PUBLISH",    "MULTI",      "FLUSHDB",        "SET"};
      const std::string unix_ms = std::to_string(1'700'000'000'000 + script.Byte() * 10);
      return Facts(kFactsCommand,
                   EncodeRequest({kCommands[script.Byte() % 8], key, unix_ms, "FIELDS", "1", "a"}));
    }
    case 3: {
      const std::string unix_ms = std::to_string(1'700'000'000'000 + script.Byte() * 10);
      if (script.Byte() % 3 == 0)
        return Facts(kFactsCommand, EncodeRequest({"PEXPIREMEMBERAT", key, "a", unix_ms}));
      return Facts(kFactsCommand, EncodeRequest({"SPEXPIREAT", key, unix_ms, "MEMBERS", "1", "a"}));
    }
    case 4:
      return Facts(kFactsCommand, script.Bytes(script.Byte()));
    case 5:
      return EncodeRequest({"RESTORE", key, "0", script.Bytes(script.Byte()), "REPLACE", "ABSTTL"});
    case 6:
      return EncodeRequest({"SELECT", std::to_string(script.Byte() % 20)});
    case 7:
      return EncodeRequest({script.Byte() % 2 == 0 ? "MULTI" : "EXEC"});
    case 8:
      return EncodeRequest({"REPLCONF", "GETACK", "*"});
    default:
      return "+CONTINUE " + (script.Byte() % 2 == 0 ? kHistory : kOtherHistory) + "\r\n";
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
      server.executor.EndTurn();
      server.hubs.wakes.Tell();
      const bool busy = before == LinkFigures::State::kTransfer || before == LinkFigures::State::kLoading;
      if (!busy && !server.sliced_work.waits()) break;
    }
  }
  void Pass(uint64_t ms) {
    server.clock.AdvanceTime(ms);
    server.executor.EndTurn();
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
      return world.master.Say(Right(op / 8));
    case 2:
      return world.master.Say(op >= 128 ? AnyKey(op / 8) : Trusted(op / 8, script));
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

// How far the link is.
enum class Begun : uint8_t { kNothing, kAsked, kFile, kMarkedFile, kStream, kContinued, kStates };

void Begin(World& world, Begun begun, bool is_mayfly) {
  if (begun == Begun::kNothing) return;
  const auto greet = [&] {
    world.master.Become(Master::State::kOpen);
    world.master.Say("+PONG\r\n+OK\r\n" + std::string(is_mayfly ? kMayflyAnswer : "+OK") + "\r\n");
  };
  greet();
  if (begun == Begun::kAsked) return;
  world.master.Say(Right(2));
  if (begun == Begun::kFile) return world.master.Say(Right(4).substr(0, 20));
  if (begun == Begun::kMarkedFile) return world.master.Say(Right(5).substr(0, 60));
  world.master.Say(Right(4));
  world.Slice();
  for (uint8_t key = 0; key < 7; ++key) world.master.Say(AnyKey(key));
  if (begun != Begun::kContinued) return;
  world.master.Become(Master::State::kLost);
  world.Pass(MasterLink::kRetryMs);
  greet();
  world.master.Say("+CONTINUE " + kOtherHistory + "\r\n");
}

void Try(const uint8_t* data, size_t size) {
  Script script(data, size);
  World world;
  world.link().Follow({"there", 7000}, world.server.clock.Read());
  world.Pass(0);
  const uint8_t flavour = script.Byte();
  Begin(world, static_cast<Begun>(flavour / 2 % static_cast<unsigned>(Begun::kStates)), flavour % 2 != 0);
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

void WriteSeed(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// The facts of a key that a Mayfly has after these requests, as they are sent.
std::string FactsAfter(const std::vector<std::vector<std::string>>& requests, const std::string& key) {
  LooplessServer server;
  Session session(server.chunks);
  server.Connect(session);
  for (const std::vector<std::string>& words : requests) {
    const std::string request = EncodeRequest(words);
    Feed feed{.session = &session, .input = request};
    server.executor.Run({&feed, 1});
  }
  const Now now = server.clock.Read();
  Keyspace& keyspace = server.databases.At(0);
  const Entry* const entry = keyspace.Peek(keyspace.KeyOf(key), now);
  Require(entry != nullptr);
  const std::string facts = FactsOf(keyspace, *entry, now);
  Require(!facts.empty());
  session.output.Clear();
  server.sessions.Remove(session);
  return EncodeRequest({"PUBLISH", std::string(kFactsChannel), facts});
}

// An input that says these bytes to a replica of a Mayfly whose stream goes on.
std::string Said(const std::string& bytes) {
  Require(bytes.size() < 256);
  constexpr char kTrustedStream = static_cast<char>(2 * static_cast<int>(Begun::kStream) + 1);
  return std::string{kTrustedStream, '\0', static_cast<char>(bytes.size())} + bytes;
}

void WriteSeeds(const std::string& folder) {
  // Opens the link, answers rightly, then commands.
  WriteSeed(folder + "/greet", {"\0\14\1\11\21\41\6\6\61\71\5\12\44\5\12", 15});
  WriteSeed(folder + "/marked", {"\0\14\1\11\21\51\6\63\24\71\4\5\24\14\1\11\31\71\7", 19});
  for (char begun = 1; begun < static_cast<char>(Begun::kStates); ++begun)
    WriteSeed(folder + "/begun" + std::to_string(begun),
              std::string{static_cast<char>(2 * begun + 1), 6, 49, 57, 5, 10, 36});
  // Messages with facts of keys, and with commands.
  WriteSeed(folder + "/k-slide",
            Said(FactsAfter({{"SET", "s", "v", "PX", "1000", "SLIDE", "TAGS", "1", "t"}}, "s")));
  WriteSeed(folder + "/k-task", Said(FactsAfter({{"SET", "s", "v", "PX", "1000", "INTO", "t"}}, "s")));
  WriteSeed(folder + "/k-set",
            Said(FactsAfter({{"SADD", "u", "a", "b"}, {"SPEXPIRE", "u", "500", "MEMBERS", "1", "a"}}, "u")));
  WriteSeed(folder + "/k-hash",
            Said(FactsAfter({{"HSET", "h", "a", "1"}, {"HPEXPIRE", "h", "500", "FIELDS", "1", "a"}}, "h")));
  WriteSeed(folder + "/k-zset",
            Said(FactsAfter({{"ZADD", "z", "1", "a"}, {"EXPIREMEMBER", "z", "a", "500", "MS"}}, "z")));
  WriteSeed(
      folder + "/c-set",
      Said(Facts(kFactsCommand, EncodeRequest({"SPEXPIREAT", "u", "1700000000500", "MEMBERS", "1", "a"}))));
  WriteSeed(
      folder + "/c-hash",
      Said(Facts(kFactsCommand, EncodeRequest({"HPEXPIREAT", "h", "1700000000500", "FIELDS", "1", "a"}))));
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
