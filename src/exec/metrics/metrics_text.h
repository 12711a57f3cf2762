// Writes Prometheus's text format: fields of INFO's sections, and histograms. metric_table.h lists the fields.
//
//   # HELP mayfly_db_keys Keys of each database.
//   # TYPE mayfly_db_keys gauge
//   mayfly_db_keys{db="0"} 2
//
// The samples of a metric must stand together, but fields come one by one: each row of the table collects its own samples.
// Label values may be any bytes. A value that is not UTF-8 is shown in quotes, with its bytes escaped (base/text/quote.h),
// because Prometheus would refuse the page. If another value equals this escaped text, only the other value's sample is
// kept: Prometheus also refuses a page with the same sample twice.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/histogram.h"
#include "exec/info/info_sink.h"
#include "exec/metrics/metric_table.h"

namespace mayfly {

class MetricsText final : public InfoSink {
 public:
  struct Family {
    std::string_view name;  // without kMetricPrefix
    std::string_view help;
    std::span<const double> bounds_s;  // rising, without +Inf
  };
  // The samples of a histogram with values in units of 1/`units_per_s` seconds.
  struct Sampled {
    std::string_view labels;  // as written, or ""
    const Histogram& histogram;
    double units_per_s;
    double sum_s;
  };

  // Throws std::bad_alloc, like the other methods.
  MetricsText() : samples_(Metrics().size()) {}

  void Section(std::string_view) override {}
  void Field(std::string_view name, const InfoValue& value) override;
  void Bytes(std::string_view name, uint64_t bytes) override { Field(name, bytes); }
  void Group(const InfoLabel& label, std::span<const InfoMember> members) override;
  bool Wants(std::string_view name) const noexcept override { return Find(name, "") != nullptr; }
  size_t memory() const noexcept override;

  // Adds a metric with value 1 and its facts in the labels.
  void AddInfo(std::string_view name, std::string_view help, std::string_view labels);
  // The samples of one family follow each other: of all calls with the same name only the first writes the head.
  void AddHistogram(const Family& family, const Sampled& sampled);

  // The whole text; empty afterwards.
  std::string Take();

  // A label in its written form: name="value".
  static std::string Label(std::string_view name, std::string_view value);

 private:
  const Metric* Find(std::string_view field, std::string_view member) const noexcept;
  std::string& SamplesOf(const Metric& metric) noexcept {
    return samples_[static_cast<size_t>(&metric - Metrics().data())];
  }
  void Add(const Metric& metric, std::string_view label, const InfoValue& value);

  mutable size_t next_ = 0;           // the row after the last found row: fields come in the table's order
  std::vector<std::string> samples_;  // of each row
  std::string others_;
  bool any_quoted_ = false;  // a name that was quoted may look like another name
  std::string_view family_;  // of the last histogram
};

}  // namespace mayfly
