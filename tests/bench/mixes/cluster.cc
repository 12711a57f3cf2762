#include "mixes/cluster.h"

#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <utility>

namespace mayfly::bench {
namespace {

// Columns of the table.
enum Column : size_t {
  kName = 0,
  kKeyBytes = 3,
  kValueBytes = 4,
  kMeanUses = 6,
  kOneHitPercent = 7,
  kTtls = 9,
  kOperationShares = 12,
  kAlpha = 13,
  kColumns = 14,
};

// The cells of a line; commas within quotes do not separate.
std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      cells.emplace_back();
    } else if (c != '\r') {
      cells.back() += c;
    }
  }
  return cells;
}

std::optional<double> Number(const std::string& cell) {
  char* end = nullptr;
  const double number = std::strtod(cell.c_str(), &end);
  if (cell.empty() || *end != '\0') return std::nullopt;
  return number;
}

// The pairs of "4d:0.59, 2d:0.41," and "get:0.98 set:0.02", with shares whose sum is 1.
std::vector<std::pair<std::string, double>> Shares(std::string cell) {
  for (char& c : cell) c = c == ',' ? ' ' : c;
  std::istringstream words(cell);
  std::vector<std::pair<std::string, double>> shares;
  double sum = 0;
  for (std::string word; words >> word;) {
    const size_t colon = word.find(':');
    if (colon == std::string::npos) return {};
    shares.emplace_back(word.substr(0, colon), std::strtod(word.c_str() + colon + 1, nullptr));
    sum += shares.back().second;
  }
  for (auto& [name, share] : shares) share /= sum;
  return shares;
}

// "1.8h" as seconds; 0 for what is no time.
double Seconds(const std::string& text) {
  char* unit = nullptr;
  const double number = std::strtod(text.c_str(), &unit);
  constexpr double kHour = 3600;
  constexpr double kDay = 24 * kHour;
  const std::map<std::string_view, double> units{{"s", 1}, {"h", kHour}, {"d", kDay}};
  const auto found = units.find(unit);
  return found == units.end() ? 0 : number * found->second;
}

std::optional<Operation> OperationOf(const std::string& name) {
  // Redis has no tokens of memcached: a read that asks for one is a read, and a write that is bound to one is a write.
  static const std::map<std::string, Operation> kNames{
      {"get", Operation::kGet},      {"gets", Operation::kGet}, {"set", Operation::kSet},
      {"cas", Operation::kSet},      {"add", Operation::kAdd},  {"incr", Operation::kIncr},
      {"delete", Operation::kDelete}};
  const auto found = kNames.find(name);
  return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Cluster> Read(const std::vector<std::string>& cells) {
  const auto key_bytes = Number(cells[kKeyBytes]);
  const auto value_bytes = Number(cells[kValueBytes]);
  const auto mean_uses = Number(cells[kMeanUses]);
  const auto one_hit_percent = Number(cells[kOneHitPercent]);
  const auto alpha = Number(cells[kAlpha]);
  if (!key_bytes || !value_bytes || !mean_uses || !one_hit_percent || !alpha) return std::nullopt;
  // The table has the share of the keys. A key has `mean_uses` requests in the mean.
  constexpr double kPercent = 100;
  Cluster cluster{.key_bytes = static_cast<size_t>(*key_bytes),
                  .value_bytes = static_cast<size_t>(*value_bytes),
                  .one_hit_share = *one_hit_percent / kPercent / *mean_uses,
                  .alpha = *alpha,
                  .shares = {},
                  .ttls = {}};
  for (const auto& [text, share] : Shares(cells[kTtls])) {
    if (Seconds(text) <= 0) return std::nullopt;
    cluster.ttls.push_back({Seconds(text), share});
  }
  for (const auto& [name, share] : Shares(cells[kOperationShares])) {
    const auto operation = OperationOf(name);
    if (!operation) return std::nullopt;
    cluster.shares[static_cast<size_t>(*operation)] += share;
  }
  if (cluster.ttls.empty()) return std::nullopt;
  return cluster;
}

}  // namespace

std::optional<Cluster> FindCluster(std::istream& table, const std::string& name) {
  for (std::string line; std::getline(table, line);) {
    const std::vector<std::string> cells = Cells(line);
    if (cells.size() == kColumns && cells[kName] == name) return Read(cells);
  }
  return std::nullopt;
}

}  // namespace mayfly::bench
