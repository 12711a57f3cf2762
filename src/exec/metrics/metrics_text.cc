#include "exec/metrics/metrics_text.h"

#include <charconv>
#include <type_traits>

#include "base/text/quote.h"
#include "base/text/utf8.h"

namespace mayfly {
namespace {

template <typename Number>
void AppendNumber(std::string& text, Number number) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end.ptr);
}

// False for a text: a text is no sample.
bool AppendSample(std::string& text, const InfoValue& value, double divisor) {
  return std::visit(
      [&](const auto& kind) {
        using Kind = std::remove_cvref_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, std::string_view>) {
          return false;
        } else if constexpr (std::is_same_v<Kind, InfoDecimal>) {
          AppendNumber(text, kind.value / divisor);
          return true;
        } else {
          if (divisor == 1)
            AppendNumber(text, kind);
          else
            AppendNumber(text, static_cast<double>(kind) / divisor);
          return true;
        }
      },
      value.kinds());
}

void AppendHead(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text.append("# HELP ").append(kMetricPrefix).append(name).append(" ").append(help);
  text.append("\n# TYPE ").append(kMetricPrefix).append(name).append(" ").append(type).append("\n");
}

void AppendName(std::string& text, std::string_view name, std::string_view suffix, std::string_view labels,
                std::string_view more_labels = {}) {
  text.append(kMetricPrefix).append(name).append(suffix);
  if (!labels.empty() || !more_labels.empty()) {
    text.append("{").append(labels);
    if (!labels.empty() && !more_labels.empty()) text += ',';
    text.append(more_labels).append("}");
  }
  text += ' ';
}

std::string_view TypeOf(Metric::Kind kind) noexcept {
  return kind == Metric::Kind::kCounter ? "counter" : "gauge";
}

}  // namespace

const Metric* MetricsText::Find(std::string_view field, std::string_view member) const noexcept {
  const std::span<const Metric> metrics = Metrics();
  // A group begins anew with each new thing.
  if (!member.empty() && next_ != 0) {
    while (next_ != 0 && metrics[next_ - 1].field == field) --next_;
  }
  for (size_t i = 0; i < metrics.size(); ++i) {
    const size_t at = (next_ + i) % metrics.size();
    if (metrics[at].field != field || metrics[at].member != member) continue;
    next_ = at + 1;
    return &metrics[at];
  }
  return nullptr;
}

void MetricsText::Field(std::string_view name, const InfoValue& value) {
  if (const Metric* const metric = Find(name, "")) Add(*metric, metric->labels, value);
}

void MetricsText::Group(const InfoLabel& label, std::span<const InfoMember> members) {
  const std::string written = Label(label.kind, label.of);
  any_quoted_ |= !IsUtf8(label.of);
  for (const InfoMember& member : members) {
    const Metric* const metric = Find(label.prefix, member.name);
    if (metric == nullptr ||
        (any_quoted_ && SamplesOf(*metric).find('{' + written + '}') != std::string::npos))
      continue;
    Add(*metric, written, member.value);
  }
}

void MetricsText::Add(const Metric& metric, std::string_view label, const InfoValue& value) {
  std::string& samples = SamplesOf(metric);
  const size_t before = samples.size();
  AppendName(samples, metric.name, "", label);
  if (AppendSample(samples, value, metric.divisor))
    samples += '\n';
  else
    samples.resize(before);
}

void MetricsText::AddInfo(std::string_view name, std::string_view help, std::string_view labels) {
  AppendHead(others_, name, "gauge", help);
  AppendName(others_, name, "", labels);
  others_ += "1\n";
}

void MetricsText::AddHistogram(const Family& family, const Sampled& sampled) {
  if (family_ != family.name) AppendHead(others_, family.name, "histogram", family.help);
  family_ = family.name;
  uint64_t seen = 0;
  size_t at = 0;
  std::string bound;
  const auto close = [&](double bound_s) {
    bound = "le=\"";
    AppendNumber(bound, bound_s);
    bound += '"';
    AppendName(others_, family.name, "_bucket", sampled.labels, bound);
    AppendNumber(others_, seen);
    others_ += '\n';
  };
  sampled.histogram.ForEachBucket([&](uint64_t highest, uint64_t count) {
    // Not cut at the largest value so far: a bucket's count must never move to a higher bound.
    const double highest_s = static_cast<double>(Histogram::HighestLike(highest)) / sampled.units_per_s;
    while (at < family.bounds_s.size() && highest_s > family.bounds_s[at]) close(family.bounds_s[at++]);
    seen += count;
  });
  while (at < family.bounds_s.size()) close(family.bounds_s[at++]);
  AppendName(others_, family.name, "_bucket", sampled.labels, "le=\"+Inf\"");
  AppendNumber(others_, seen);
  others_ += '\n';
  AppendName(others_, family.name, "_sum", sampled.labels);
  AppendNumber(others_, sampled.sum_s);
  others_ += '\n';
  AppendName(others_, family.name, "_count", sampled.labels);
  AppendNumber(others_, seen);
  others_ += '\n';
}

std::string MetricsText::Take() {
  const std::span<const Metric> metrics = Metrics();
  constexpr size_t kHeadBytes = 256;  // about the most
  std::string text;
  text.reserve(memory() + metrics.size() * kHeadBytes);
  std::string_view name;  // of the last written head
  for (size_t i = 0; i < metrics.size(); ++i) {
    std::string& samples = samples_[i];
    if (samples.empty()) continue;
    if (metrics[i].name != name) AppendHead(text, metrics[i].name, TypeOf(metrics[i].kind), metrics[i].help);
    name = metrics[i].name;
    text += samples;
    samples = {};
  }
  text += others_;
  others_ = {};
  family_ = {};
  return text;
}

size_t MetricsText::memory() const noexcept {
  size_t bytes = others_.capacity() + samples_.capacity() * sizeof(std::string);
  for (const std::string& samples : samples_) bytes += samples.capacity();
  return bytes;
}

std::string MetricsText::Label(std::string_view name, std::string_view value) {
  std::string shown;
  if (!IsUtf8(value)) {
    AppendQuoted(shown, value);
    value = shown;
  }
  std::string text(name);
  text += "=\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    c == '\n' ? text += "\\n" : text += c;
  }
  text += '"';
  return text;
}

}  // namespace mayfly
