#include "support/prometheus.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <set>
#include <sstream>
#include <type_traits>

namespace mayfly::testing {
namespace {

// Empty for a text.
std::string NumberOf(const InfoValue& value) {
  return std::visit(
      [](const auto& kind) -> std::string {
        using Kind = std::remove_cvref_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, std::string_view>) {
          return {};
        } else if constexpr (std::is_same_v<Kind, InfoDecimal>) {
          char text[64];
          const int size = std::snprintf(text, sizeof text, "%.*f", kind.decimals, kind.value);
          return {text, static_cast<size_t>(size)};
        } else {
          return std::to_string(kind);
        }
      },
      value.kinds());
}

std::string MetricName(std::string_view name) {
  std::string metric = "mayfly_" + std::string(name);
  std::replace_if(metric.begin(), metric.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return metric;
}

std::string Escaped(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return text;
}

bool IsPartOf(const std::string& name, const std::string& histogram) {
  return name == histogram + "_bucket" || name == histogram + "_sum" || name == histogram + "_count";
}

}  // namespace

void PrometheusText::Field(std::string_view name, const InfoValue& value) {
  Add(MetricName(name), "", value);
}

void PrometheusText::Group(const InfoLabel& label, std::span<const InfoMember> members) {
  const std::string labels = '{' + std::string(label.kind) + "=\"" + Escaped(label.of) + "\"}";
  std::string prefix(label.prefix);
  if (prefix.back() != '_') prefix += '_';
  for (const InfoMember& member : members)
    Add(MetricName(prefix + std::string(member.name)), labels, member.value);
}

void PrometheusText::Add(const std::string& metric, const std::string& labels, const InfoValue& value) {
  const std::string number = NumberOf(value);
  if (number.empty()) return;
  if (!samples_.contains(metric)) metrics_.push_back(metric);
  samples_[metric] += metric + labels + ' ' + number + '\n';
}

std::string PrometheusText::Text() const {
  std::string text;
  for (const std::string& metric : metrics_) text += "# TYPE " + metric + " untyped\n" + samples_.at(metric);
  return text;
}

std::string ProblemOfPrometheus(const std::string& text) {
  static const std::regex kType(R"(# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram|untyped))");
  static const std::regex kHelp(R"(# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) [^\n]+)");
  static const std::regex kSample(
      R"(([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(,?[a-zA-Z_][a-zA-Z0-9_]*="([^"\\\n]|\\[\\"n])*")*\})? (-?[0-9]+(\.[0-9]+)?(e[-+][0-9]+)?))");
  if (text.empty() || text.back() != '\n') return "the last line has no end";
  std::istringstream lines(text);
  std::set<std::string> metrics;
  std::set<std::string> samples;
  std::string metric;
  bool is_histogram = false;
  for (std::string line; std::getline(lines, line);) {
    std::smatch parts;
    if (std::regex_match(line, kHelp)) {
      metric.clear();
    } else if (std::regex_match(line, parts, kType)) {
      metric = parts[1];
      is_histogram = parts[2] == "histogram";
      if (!metrics.insert(metric).second) return "a second group of " + metric;
    } else if (!std::regex_match(line, parts, kSample)) {
      return "not a sample: " + line;
    } else if (parts[1] != metric && !(is_histogram && IsPartOf(parts[1], metric))) {
      return "a sample outside its group: " + line;
    } else if (!samples.insert(parts[1].str() + parts[2].str()).second) {
      return "a second sample: " + line;
    }
  }
  return {};
}

bool HasLine(const std::string& text, const std::string& line) {
  return text.find('\n' + line + '\n') != std::string::npos;
}

}  // namespace mayfly::testing
