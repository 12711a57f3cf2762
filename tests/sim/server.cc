#include "sim/server.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace mayfly::sim {
namespace {

// More than any test needs: the loop does not come to rest.
constexpr uint64_t kTurnsMax = 1'000'000;

uint64_t DriveClock(World& world, SteppedClock& clock, const SimulatedServer::Start& start) {
  world.Drive(clock);
  world.set_uv_phase_us(start.uv_phase_us);
  world.set_has_step_timer(start.has_step_timer);
  return world.now_ns();
}

// The path of a new empty file.
std::string TemporaryFile() {
  std::string path = (std::filesystem::temp_directory_path() / "mayfly-sim-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("no temporary file");
  close(file);
  return path;
}

}  // namespace

SimulatedServer::SimulatedServer(const Start& start)
    : world(start.choices),
      started_ns_(DriveClock(world, parts.clock, start)),
      logfile_(start.logs ? TemporaryFile() : std::string()),
      log_(parts.clock, logfile_.empty() ? mayfly::Log::Level::kNothing : mayfly::Log::Level::kVerbose,
           logfile_),
      sealed_(start.sealed) {
  parts.files.directory = [](const std::string& path, std::string& absolute) -> config::Problem {
    absolute = path;
    return std::nullopt;
  };
  const config::LoadResult loaded = parts.options.Load(start.options, {});
  if (loaded.error) world.Fail(*loaded.error);
  parts.server.log = &log_;
  parts.stats.started_mono_ms = parts.clock.Read().mono_ms;
  loop_.emplace(parts.server, parts.executor, log_);
  if (const config::Problem problem = loop_->Listen()) world.Fail(*problem);
  loop_->BeforeEnd(start.last_work);
  if (start.manager != nullptr) loop_->ReportTo(*start.manager);
  if (sealed_) ListenFor(sealed_service_, kSealedPort);
  Settle();
}

SimulatedServer::~SimulatedServer() {
  world.leash() = {};
  loop_.reset();
  if (!logfile_.empty()) unlink(logfile_.c_str());
}

// ---- control

void SimulatedServer::Go(const Leash& leash) {
  if (ended()) return;
  world.leash() = leash;
  loop_->Run();
  if (leash.turns == kTurnsMax && world.leash().turns == 0) world.Fail("the loop does not come to rest");
}

uint64_t SimulatedServer::Turn(uint64_t n) {
  const uint64_t before = world.turns();
  Go({.turns = n, .may_wait = false});
  return world.turns() - before;
}

void SimulatedServer::WaitForTurn() { Go({.turns = 1}); }

void SimulatedServer::Settle() { Go({.turns = kTurnsMax, .may_wait = false}); }

void SimulatedServer::AdvanceTime(uint64_t ms) {
  const uint64_t until_ns = world.now_ns() + ms * World::kNsPerMs;
  Go({.turns = kTurnsMax, .until_ns = until_ns});
  // Bytes that the program wrote before it ended are still on their way to the peers.
  while (ended() && world.now_ns() < until_ns) {
    world.SetTime(std::clamp(world.NextEventNs(), world.now_ns(), until_ns));
    world.Happen();
  }
}

void SimulatedServer::Raise(int signal) {
  world.Raise(signal);
  Settle();
}

// ---- clients

Peer* SimulatedServer::TryConnect(const std::string& from_host, const std::string& to) {
  const bool seals = sealed_ && to.empty();
  std::shared_ptr<Link> link = world.Connect(from_host, seals ? kSealedAddress : to);
  if (link == nullptr) return nullptr;
  auto transport = seals ? std::make_unique<ToyTransport>(ToyTransport::Side::kClient) : nullptr;
  peers_.push_back(std::make_unique<Peer>(std::move(link), std::move(transport)));
  return peers_.back().get();
}

Peer& SimulatedServer::Connect(const std::string& from_host) {
  Peer* const peer = TryConnect(from_host);
  if (peer == nullptr) world.Fail("nobody listens");
  Settle();
  return *peer;
}

testing::Reply SimulatedServer::Ask(Peer& peer, const std::vector<std::string>& words) {
  peer.Request(words);
  Settle();
  std::vector<testing::Reply> replies = peer.TakeReplies();
  if (replies.size() != 1) world.Fail(words[0] + " has " + std::to_string(replies.size()) + " replies");
  return std::move(replies.front());
}

testing::Reply SimulatedServer::Run(const std::vector<std::string>& words) {
  if (operator_ == nullptr) operator_ = &Connect();
  return Ask(*operator_, words);
}

// ---- the server

void SimulatedServer::ListenFor(const net::Service& service, uint16_t port) {
  if (const config::Problem problem = loop_->ListenFor(service, "127.0.0.1", port)) world.Fail(*problem);
}

void SimulatedServer::Set(std::string_view name, std::string_view value) {
  const std::vector<config::NameValue> pairs{{std::string(name), std::string(value)}};
  std::vector<std::string> warnings;
  if (const config::Problem problem = parts.options.Set(pairs, warnings)) world.Fail(*problem);
}

int64_t SimulatedServer::Info(const std::string& field) {
  const std::string text = Run({"INFO", "everything"}).text;
  const size_t at = text.find("\r\n" + field + ':');
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + field.size() + 3));
}

std::string SimulatedServer::ClientField(const Peer& peer, const std::string& field) {
  const std::string list = Run({"CLIENT", "LIST"}).text;
  const size_t line = list.find(" fd=" + std::to_string(const_cast<Peer&>(peer).link().fd()) + ' ');
  if (line == std::string::npos) return "(gone)";
  const size_t at = list.find(' ' + field + '=', line) + field.size() + 2;
  return list.substr(at, list.find_first_of(" \n", at) - at);
}

std::string SimulatedServer::Log() const {
  std::ifstream file(logfile_);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mayfly::sim
