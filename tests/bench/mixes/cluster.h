// A cache cluster as Twitter's table describes one: sizes, shares of operations, TTLs and popularity. See twitter_2020mar.csv.
#pragma once

#include <array>
#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace mayfly::bench {

enum class Operation : unsigned char { kGet, kSet, kAdd, kIncr, kDelete };
constexpr size_t kOperations = 5;

struct TtlShare {
  double seconds;
  double share;
};

struct Cluster {
  size_t key_bytes = 0;
  size_t value_bytes = 0;                  // the mean
  double one_hit_share = 0;                // of the requests: each has a key that no other request has
  double alpha = 0;                        // Zipf exponent of the other requests
  std::array<double, kOperations> shares;  // of the requests; their sum is 1
  std::vector<TtlShare> ttls;              // of the writes; the sum of the shares is 1

  double share(Operation operation) const { return shares[static_cast<size_t>(operation)]; }
  // Counters are the values themselves if the mean value has a counter's size; otherwise they have keys of their own.
  bool HasCounters() const { return share(Operation::kIncr) > 0; }
  bool CountsInValues() const { return HasCounters() && value_bytes <= kCounterBytes; }

  static constexpr size_t kCounterBytes = 8;
};

// The cluster's row of the table. Nothing if the table has no such row, a figure of the row is absent (N/A), or the row has
// an operation without a counterpart (prepend).
//
// The shares of the table do not reach 1, since it leaves out what is rare: they are scaled so that their sum is 1.
std::optional<Cluster> FindCluster(std::istream& table, const std::string& name);

}  // namespace mayfly::bench
