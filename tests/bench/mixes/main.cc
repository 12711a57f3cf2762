// bench_mixes: the traffic of a cluster that somebody has, against servers. Prints one JSON object.
//
//   model        what is alive in the end, and how often a server without a limit misses
//   play SERVER...  plays against servers, each PORT:PID:PROTOCOL
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>

#include <CLI/CLI.hpp>

#include "mixes/player.h"

namespace mayfly::bench {
namespace {

double Quantile(std::vector<double>& waits, double share) {
  if (waits.empty()) return 0;
  const auto at = std::min(static_cast<size_t>(share * static_cast<double>(waits.size())), waits.size() - 1);
  std::nth_element(waits.begin(), waits.begin() + static_cast<std::ptrdiff_t>(at), waits.end());
  return waits[at];
}

void PrintServer(const Played& server) {
  constexpr double kNsPerUs = 1000;
  std::printf("{\"empty_bytes\": %" PRId64 ", \"gets\": %" PRIu64 ", \"misses\": %" PRIu64
              ", \"refused\": %" PRIu64 ", \"commands\": %" PRIu64 ", \"cpu_us\": %.4f, \"samples\": [",
              server.empty_bytes, server.gets, server.misses, server.refused, server.commands,
              static_cast<double>(server.cpu_ns) / kNsPerUs /
                  static_cast<double>(std::max<uint64_t>(server.commands, 1)));
  const char* separator = "";
  for (const Sample& sample : server.samples) {
    std::printf("%s{\"at_s\": %.3f, \"resident_bytes\": %" PRId64 ", \"keys\": %" PRId64
                ", \"alive\": %" PRId64 ", \"alive_bytes\": %" PRId64 "}",
                separator, sample.at_s, sample.resident_bytes, sample.keys, sample.alive, sample.alive_bytes);
    separator = ", ";
  }
  std::printf("]}");
}

void Play(Player& player, const std::vector<std::string>& addresses) {
  std::vector<Played> servers;
  for (const std::string& address : addresses) {
    servers.emplace_back();
    servers.back().peer = std::make_unique<Peer>(address);
  }
  player.PlayPast();
  player.Play(servers);
  std::printf("{\"wait_us\": {\"p50\": %.1f, \"p999\": %.1f}, \"servers\": [",
              Quantile(player.waits_us(), 0.5), Quantile(player.waits_us(), 0.999));
  for (size_t i = 0; i < servers.size(); ++i) {
    if (i > 0) std::printf(", ");
    PrintServer(servers[i]);
  }
  std::printf("]}\n");
}

void PrintModel(Player& player) {
  player.PlayPast();
  std::printf("{\"alive\": %" PRIu64 ", \"alive_bytes\": %" PRIu64 ", \"miss_ratio\": %.4f}\n",
              player.alive().count(), player.alive().bytes(), player.past_miss_ratio());
}

}  // namespace
}  // namespace mayfly::bench

int main(int argc, char** argv) {
  using namespace mayfly::bench;
  std::string table;
  std::string name;
  StreamOptions stream;
  PlayOptions play;
  std::vector<std::string> addresses;
  CLI::App app("The traffic of a cluster against servers");
  app.require_subcommand(1);
  app.add_option("--table", table, "the clusters as CSV")->required();
  app.add_option("--cluster", name)->required();
  app.add_option("--keys", stream.keys, "keys that are asked for more than once")
      ->required()
      ->check(CLI::PositiveNumber);
  app.add_option("--compress", stream.compress, "how many times faster time goes")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", stream.seed);
  app.add_option("--rate", play.rate, "requests a second")->check(CLI::PositiveNumber);
  app.add_option("--past-s", play.past_s, "how long the traffic has been going on before");
  app.add_option("--settle-s", play.settle_s, "of play that does not count");
  app.add_option("--seconds", play.seconds, "of play that counts");
  app.add_option("--batch", play.batch, "requests at once")->check(CLI::PositiveNumber);
  CLI::App* model = app.add_subcommand("model", "what is alive in the end");
  CLI::App* against = app.add_subcommand("play", "against servers");
  against->add_option("servers", addresses, "PORT:PID:PROTOCOL")->required();
  CLI11_PARSE(app, argc, argv);

  std::ifstream file(table);
  const std::optional<Cluster> cluster = FindCluster(file, name);
  if (!cluster) Die(table + " has no usable row " + name);
  Player player(*cluster, stream, play);
  if (model->parsed()) PrintModel(player);
  if (against->parsed()) Play(player, addresses);
  return 0;
}
