// The page /metrics for Prometheus, built in parts. Section by section of INFO, then the commands, some at a time.
//
// The page omits INFO ttlhist, because ttlhist takes a walk through all keys, and the percentiles of latencystats, because
// the page has histograms.
#pragma once

#include <string>

#include "exec/metrics/metrics_text.h"
#include "exec/metrics/page.h"
#include "server/server.h"

namespace mayfly {

class MetricsPage final : public Page {
 public:
  explicit MetricsPage(Server& server) : server_(server) {}

  bool BuildSome(Now now) override;
  size_t memory() const noexcept override { return text_.memory() + body_.capacity(); }
  std::string Take() override { return std::move(body_); }

 private:
  bool CallsOfSome();
  bool LatenciesOfSome();

  Server& server_;
  MetricsText text_;
  std::string body_;
  size_t part_ = 0;
  uint32_t row_ = 0;  // the next row of the command table
};

}  // namespace mayfly
