#include "sim/fleet.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "replication/master_link.h"
#include "replication/replication_start.h"
#include "snapshot/snapshots.h"

namespace mayfly::sim {
namespace {

// More than any step needs: the daemons do not come to rest.
constexpr uint64_t kRoundsMax = 200'000;
constexpr const char* kDatabases[] = {"0", "1", "2", "9"};

std::string LogFile() {
  if (std::getenv("MAYFLY_SIM_SEED") != nullptr) return "";
  std::string path = (std::filesystem::temp_directory_path() / "mayfly-fleet-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) throw std::runtime_error("no temporary file");
  close(file);
  return path;
}

std::string TextOf(const testing::Reply& reply) {
  std::ostringstream text;
  text << reply;
  return text.str();
}

}  // namespace

Fleet::Daemon::Daemon(World& world, size_t n, const Words& options)
    : logfile(LogFile()), log(parts.clock, Log::Level::kNotice, logfile) {
  world.Drive(parts.clock);
  // No two daemons draw the same names.
  parts.server.run_id = std::string(39, '0') + static_cast<char>('a' + n);
  parts.random.seed(1 + n);
  parts.files.directory = [](const std::string& path, std::string& absolute) -> config::Problem {
    absolute = path;
    return std::nullopt;
  };
  Words words = {"--port", PortOf(n), "--bind", "127.0.0.1", "--save", "", "--enable-debug-command", "yes"};
  words.insert(words.end(), options.begin(), options.end());
  const config::LoadResult loaded = parts.options.Load(words, {});
  if (loaded.error) world.Fail(*loaded.error);
  parts.server.log = &log;
  parts.stats.started_mono_ms = parts.clock.Read().mono_ms;
  loop.emplace(parts.server, parts.executor, log);
  if (const config::Problem problem = loop->Listen()) world.Fail(*problem);
  parts.server.snapshots = std::make_unique<Snapshots>(parts.server, disk);
  parts.server.master_link = std::make_unique<MasterLink>(parts.server, disk);
  StartReplication(parts.server);
}

Fleet::Daemon::~Daemon() {
  World::Current().leash() = {};
  loop.reset();
  parts.server.failover.reset();
  parts.server.replicas.reset();
  parts.server.master_link.reset();
  parts.server.snapshots.reset();
  if (!logfile.empty()) unlink(logfile.c_str());
}

Fleet::Fleet(const Choices& choices, size_t daemons, const Words& options) : world(choices) {
  for (size_t n = 0; n < daemons; ++n) daemons_.push_back(std::make_unique<Daemon>(world, n, options));
  Settle();
}

Fleet::~Fleet() = default;

// ---- control

bool Fleet::TurnAll(uint64_t& wake_ns) {
  std::vector<size_t> order(daemons_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  world.choices().Shuffle(order);
  bool turned = false;
  wake_ns = UINT64_MAX;
  for (const size_t n : order) {
    const uint64_t before = world.turns();
    world.leash() = {.turns = 1, .may_wait = false};
    daemons_[n]->loop->Run();
    if (world.turns() != before)
      turned = true;
    else
      wake_ns = std::min(wake_ns, world.sleeps_until_ns());
  }
  return turned;
}

void Fleet::Settle() {
  uint64_t wake_ns = 0;
  for (uint64_t round = 0; TurnAll(wake_ns); ++round) {
    if (round == kRoundsMax) world.Fail("the daemons do not come to rest");
  }
}

void Fleet::Pass(uint64_t ms) {
  const uint64_t until_ns = world.now_ns() + ms * World::kNsPerMs;
  uint64_t wake_ns = 0;
  for (uint64_t round = 0;; ++round) {
    if (round == kRoundsMax) world.Fail("the daemons do not come to rest");
    if (TurnAll(wake_ns)) continue;
    const uint64_t next_ns = std::min(wake_ns, world.NextEventNs());
    if (next_ns > until_ns) break;
    world.SetTime(std::max(next_ns, world.now_ns()));
  }
  world.SetTime(std::max(until_ns, world.now_ns()));
}

// ---- clients

Peer& Fleet::Connect(size_t n) {
  std::shared_ptr<Link> link = world.Connect("127.0.0.1", "127.0.0.1:" + PortOf(n));
  if (link == nullptr) world.Fail("nobody listens");
  peers_.push_back(std::make_unique<Peer>(std::move(link)));
  Settle();
  return *peers_.back();
}

testing::Reply Fleet::Run(size_t n, const Words& words) {
  Daemon& daemon = *daemons_[n];
  if (daemon.operator_peer == nullptr) daemon.operator_peer = &Connect(n);
  daemon.operator_peer->Request(words);
  Settle();
  std::vector<testing::Reply> replies = daemon.operator_peer->TakeReplies();
  if (replies.size() != 1)
    world.Fail(words[0] + " has " + std::to_string(replies.size()) + " replies from daemon " +
               std::to_string(n));
  return std::move(replies.front());
}

std::string Fleet::Info(size_t n, const std::string& field) {
  const std::string text = Run(n, {"INFO", "everything"}).text;
  const size_t at = text.find("\n" + field + ":");
  if (at == std::string::npos) return "";
  const size_t begin = at + field.size() + 2;
  return text.substr(begin, text.find('\r', begin) - begin);
}

void Fleet::AddStream(size_t n, const std::string& key, std::vector<std::string>& lines) {
  const testing::Reply groups = Run(n, {"XINFO", "GROUPS", key});
  lines.push_back(key + " " + TextOf(groups));
  for (const testing::Reply& group : groups.elements) {
    lines.push_back(key + " " + TextOf(Run(n, {"XPENDING", key, group.elements[1].text})));
    lines.push_back(key + " " + TextOf(Run(n, {"XPENDING", key, group.elements[1].text, "-", "+", "1000"})));
  }
}

std::vector<std::string> Fleet::StateOf(size_t n) {
  // A look is no access, which would let deadlines slide.
  Run(n, {"CLIENT", "NO-TOUCH", "ON"});
  std::vector<std::string> lines;
  for (const char* const database : kDatabases) {
    Run(n, {"SELECT", database});
    // Also those that are hidden, and not freed yet.
    lines.push_back(std::string(database) + " has " + TextOf(Run(n, {"DBSIZE"})));
    const testing::Reply keys = testing::Sorted(Run(n, {"KEYS", "*"}));
    for (const testing::Reply& key : keys.elements) {
      const std::string type = Run(n, {"TYPE", key.text}).text;
      lines.push_back(std::string(database) + " " + key.text + " " + type + " " +
                      TextOf(Run(n, {"PEXPIRETIME", key.text})) + " " +
                      TextOf(Run(n, {"DEBUG", "DIGEST-VALUE", key.text})));
      if (type == "stream") AddStream(n, key.text, lines);
    }
  }
  Run(n, {"SELECT", "0"});
  lines.push_back(TextOf(Run(n, {"DEBUG", "DIGEST"})));
  return lines;
}

std::string Fleet::TakeLog(size_t n) {
  Daemon& daemon = *daemons_[n];
  if (daemon.logfile.empty()) return "";
  std::ifstream file(daemon.logfile);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  text.erase(0, std::exchange(daemon.log_read, text.size()));
  return text;
}

bool Fleet::IsInStep(size_t n) {
  const LinkFigures& link = at(n).link;
  if (!link.follows()) return true;
  if (!link.up()) return false;
  const size_t master = link.port - kFirstPort;
  const int64_t offset = at(master).link.follows() ? at(master).link.offset : at(master).followers.offset;
  return link.offset == offset;
}

void Fleet::CheckNothingIsLeft(size_t n) {
  const std::string who = "daemon " + std::to_string(n);
  testing::LooplessServer& parts = at(n);
  const Snapshots& snapshots = Snapshots::Of(parts.server);
  if (snapshots.saving() || snapshots.loading()) world.Fail(who + " still has a snapshot to send or to load");
  if (const auto files = disk(n).files(); !files.empty())
    world.Fail(who + " leaves the file " + files.begin()->first);
  const auto follows = [&](const auto& other) {
    return other->parts.link.up() && other->parts.link.port == kFirstPort + n;
  };
  const auto followers = static_cast<size_t>(std::ranges::count_if(daemons_, follows));
  if (parts.followers.lines.size() != followers)
    world.Fail(who + " counts " + std::to_string(parts.followers.lines.size()) + " replicas, and has " +
               std::to_string(followers));
  for (unsigned i = 0; i < parts.databases.count(); ++i) {
    if (!parts.databases.At(i).Validate()) world.Fail("a keyspace of " + who + " is not in order");
  }
}

}  // namespace mayfly::sim
