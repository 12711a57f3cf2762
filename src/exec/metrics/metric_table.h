// The table of metrics: INFO's numbers with their Prometheus names, in INFO's order.
//
// A name is in base units (seconds, bytes), and a counter's name ends with _total. INFO's number is divided by `divisor`.
// Rows with one name are one metric: the rows stand together and differ in their labels only. The rows of a group
// (exec/info/info_sink.h) stand together, too. Static data.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mayfly {

struct Metric {
  enum class Kind : uint8_t { kGauge, kCounter };

  std::string_view field;   // of INFO; for a group the prefix
  std::string_view member;  // of a group, or ""
  std::string_view name;    // without kMetricPrefix
  Kind kind;
  std::string_view help;
  double divisor = 1;
  std::string_view labels = {};  // fixed labels, as written: mode="user"
};

inline constexpr std::string_view kMetricPrefix = "mayfly_";
inline constexpr double kUsPerS = 1e6;

std::span<const Metric> Metrics() noexcept;

}  // namespace mayfly
