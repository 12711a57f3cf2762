#include "mixes/stream.h"

#include <algorithm>
#include <cmath>

namespace mayfly::bench {
namespace {

// Bytes from which values are cut, beside the longest value itself: so equal values are rare.
constexpr size_t kLetters = size_t{1} << 20;

// splitmix64's last step: bits that look random, for a number.
uint64_t Scatter(uint64_t number) {
  number = (number + 1) * 0x9E3779B97F4A7C15U;
  number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9U;
  number = (number ^ (number >> 27)) * 0x94D049BB133111EBU;
  return number ^ (number >> 31);
}

constexpr uint64_t kZipfSeed = 0x5EED;  // two generators with one seed would draw the same numbers

}  // namespace

Stream::Stream(const Cluster& cluster, const StreamOptions& options)
    : cluster_(cluster),
      keys_(options.keys),
      compress_(options.compress),
      zipf_(options.keys, cluster.alpha, options.seed ^ kZipfSeed),
      random_(options.seed),
      first_one_hit_(cluster.HasCounters() && !cluster.CountsInValues() ? 2 * options.keys : options.keys),
      next_one_hit_(first_one_hit_) {}

double Stream::Uniform() {
  constexpr double kUnit = 1.0 / (uint64_t{1} << 53);
  return static_cast<double>(random_() >> 11) * kUnit;
}

Operation Stream::DrawOperation() {
  double at = Uniform();
  for (size_t i = 0; i + 1 < kOperations; ++i) {
    at -= cluster_.shares[i];
    if (at < 0) return static_cast<Operation>(i);
  }
  return Operation::kDelete;
}

int64_t Stream::DrawTtl() {
  constexpr double kMsPerS = 1000;
  double at = Uniform();
  const TtlShare* drawn = &cluster_.ttls.back();
  for (const TtlShare& ttl : cluster_.ttls) {
    at -= ttl.share;
    if (at >= 0) continue;
    drawn = &ttl;
    break;
  }
  return std::max<int64_t>(std::llround(drawn->seconds * kMsPerS / compress_), 1);
}

Request Stream::Next() {
  const Operation operation = DrawOperation();
  const bool counter = operation == Operation::kIncr && !cluster_.CountsInValues();
  const bool one_hit = Uniform() < cluster_.one_hit_share;
  const int64_t ttl_ms = DrawTtl();
  if (one_hit && !counter) return {operation, next_one_hit_++, ttl_ms};
  const uint32_t key = zipf_.Next();
  return {operation, counter ? FirstCounter() + key : key, ttl_ms};
}

Texts::Texts(const Cluster& cluster, const Stream& stream)
    : key_bytes_(cluster.key_bytes),
      value_bytes_(cluster.value_bytes),
      numeric_(cluster.CountsInValues()),
      first_counter_(stream.FirstCounter()),
      first_one_hit_(stream.FirstOneHit()),
      letters_(kLetters + 2 * cluster.value_bytes, ' '),
      digits_(Cluster::kCounterBytes, '1') {
  for (size_t i = 0; i < letters_.size(); ++i) letters_[i] = static_cast<char>('a' + Scatter(i) % 26);
}

std::string Texts::KeyOf(uint32_t key) const {
  constexpr size_t kDigits = 8;  // the shortest keys of the table have 10 bytes
  std::string text(key_bytes_, 'k');
  for (size_t i = 0; i < kDigits; ++i, key /= 10)
    text[text.size() - 1 - i] = static_cast<char>('0' + key % 10);
  return text;
}

size_t Texts::ValueBytes(uint32_t key) const {
  if (numeric_) return value_bytes_;
  if (IsCounter(key)) return 1;
  const size_t least = (value_bytes_ + 1) / 2;
  return least + Scatter(key) % (2 * (value_bytes_ - least) + 1);
}

std::string_view Texts::ValueOf(uint32_t key) const {
  const size_t size = ValueBytes(key);
  if (IsCounter(key)) return std::string_view(digits_).substr(0, size);
  return std::string_view(letters_).substr(Scatter(key) % kLetters, size);
}

}  // namespace mayfly::bench
