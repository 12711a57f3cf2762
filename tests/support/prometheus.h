// INFO's fields in Prometheus's text format, and a checker of that format: the second form of what InfoSink gets.
//
//   # TYPE mayfly_used_memory untyped
//   mayfly_used_memory 1048576
//   # TYPE mayfly_cmdstat_calls untyped
//   mayfly_cmdstat_calls{command="get"} 17
//
// Numbers only: a text has no place in it.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "exec/info/info_sink.h"

namespace mayfly::testing {

class PrometheusText final : public InfoSink {
 public:
  void Section(std::string_view) override {}
  void Field(std::string_view name, const InfoValue& value) override;
  void Bytes(std::string_view name, uint64_t bytes) override { Field(name, bytes); }
  void Group(const InfoLabel& label, std::span<const InfoMember> members) override;
  size_t memory() const noexcept override { return 0; }

  std::string Text() const;

 private:
  void Add(const std::string& metric, const std::string& labels, const InfoValue& value);

  // The samples of a metric must stand together, though its fields come one by one.
  std::vector<std::string> metrics_;  // in order
  std::map<std::string, std::string> samples_;
};

// What is wrong with this text; empty: nothing.
std::string ProblemOfPrometheus(const std::string& text);

// Whether it is one of the text's lines, and not the first.
bool HasLine(const std::string& text, const std::string& line);

}  // namespace mayfly::testing
