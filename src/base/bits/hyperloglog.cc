#include "base/bits/hyperloglog.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace mayfly::hll {
namespace {

constexpr unsigned kIndexBits = 14;
constexpr unsigned kRankBits = 64 - kIndexBits;  // the highest rank is one more
constexpr std::string_view kMagic = "HYLL";

// The number of registers for each rank. A client may have stored ranks out of reach of any hash.
using Histogram = std::array<uint32_t, 64>;

uint64_t Load64(const char* bytes) noexcept {
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// MurmurHash64A with Redis's seed for HyperLogLogs.
uint64_t Hash(std::string_view text) noexcept {
  constexpr uint64_t kSeed = 0xadc83b19;
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr unsigned kShift = 47;
  uint64_t hash = kSeed ^ (text.size() * kMultiplier);
  const char* at = text.data();
  size_t left = text.size();
  for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), at += sizeof(uint64_t)) {
    uint64_t word = Load64(at) * kMultiplier;
    word = (word ^ (word >> kShift)) * kMultiplier;
    hash = (hash ^ word) * kMultiplier;
  }
  if (left != 0) {
    uint64_t rest = 0;
    std::memcpy(&rest, at, left);
    hash = (hash ^ rest) * kMultiplier;
  }
  hash = (hash ^ (hash >> kShift)) * kMultiplier;
  return hash ^ (hash >> kShift);
}

double Sigma(double x) noexcept {
  if (x == 1) return std::numeric_limits<double>::infinity();
  double factor = 1;
  double sum = x;
  for (double before = -1; before != sum;) {
    x *= x;
    before = sum;
    sum += x * factor;
    factor += factor;
  }
  return sum;
}

double Tau(double x) noexcept {
  if (x == 0 || x == 1) return 0;
  double factor = 1;
  double sum = 1 - x;
  for (double before = -1; before != sum;) {
    x = std::sqrt(x);
    before = sum;
    factor *= 0.5;
    sum -= std::pow(1 - x, 2) * factor;
  }
  return sum / 3;
}

uint64_t Estimate(const Histogram& registers) noexcept {
  constexpr double kAlpha = 0.721347520444481703680;  // 0.5 / ln 2
  constexpr auto kAll = static_cast<double>(kRegisters);
  double z = kAll * Tau((kAll - registers[kRankBits + 1]) / kAll);
  for (unsigned rank = kRankBits; rank >= 1; --rank) {
    z += registers[rank];
    z *= 0.5;
  }
  z += kAll * Sigma(registers[0] / kAll);
  return static_cast<uint64_t>(llroundl(kAlpha * kAll * kAll / z));
}

// Calls fn(first, length, rank) for each run. False if the bytes are corrupt.
template <typename Fn>
bool ForEachRun(std::string_view bytes, Fn&& fn) noexcept {
  size_t index = 0;
  for (size_t at = kHeaderBytes; at < bytes.size();) {
    const Run run = RunAt(bytes, at);
    if (run.bytes == 0 || run.length > kRegisters - index) return false;
    fn(index, run.length, run.rank);
    index += run.length;
    at += run.bytes;
  }
  return index == kRegisters;
}

}  // namespace

Place PlaceOf(std::string_view element) noexcept {
  const uint64_t hash = Hash(element);
  const uint64_t rest = (hash >> kIndexBits) | uint64_t{1} << kRankBits;
  return {static_cast<size_t>(hash & (kRegisters - 1)), static_cast<uint8_t>(std::countr_zero(rest) + 1)};
}

bool IsHyperLogLog(std::string_view bytes) noexcept {
  if (bytes.size() < kHeaderBytes || !bytes.starts_with(kMagic)) return false;
  const auto encoding = static_cast<uint8_t>(bytes[kEncodingAt]);
  return encoding == kSparse || (encoding == kDense && bytes.size() == kDenseBytes);
}

std::optional<uint64_t> StoredCount(std::string_view bytes) noexcept {
  if ((static_cast<uint8_t>(bytes[kHeaderBytes - 1]) & 0x80U) != 0) return std::nullopt;
  return Load64(bytes.data() + kCountAt);
}

void StoreCount(char* bytes, uint64_t count) noexcept { std::memcpy(bytes + kCountAt, &count, sizeof count); }

std::optional<uint64_t> Count(std::string_view bytes) noexcept {
  Histogram histogram{};
  if (!IsDense(bytes)) {
    const bool valid = ForEachRun(bytes, [&](size_t, size_t length, uint8_t rank) {
      histogram[rank] += static_cast<uint32_t>(length);
    });
    if (!valid) return std::nullopt;
    return Estimate(histogram);
  }
  // Four registers in three bytes. Two histograms keep increments of equal neighbours independent of each other.
  Histogram other{};
  const auto* at = reinterpret_cast<const uint8_t*>(bytes.data() + kHeaderBytes);
  for (size_t i = 0; i < kRegisters; i += 4, at += 3) {
    const uint32_t four = at[0] | uint32_t{at[1]} << 8U | uint32_t{at[2]} << 16U;
    ++histogram[four & 63U];
    ++other[(four >> 6U) & 63U];
    ++histogram[(four >> 12U) & 63U];
    ++other[four >> 18U];
  }
  for (size_t i = 0; i < histogram.size(); ++i) histogram[i] += other[i];
  return Estimate(histogram);
}

Run RunAt(std::string_view bytes, size_t at) noexcept {
  const auto first = static_cast<uint8_t>(bytes[at]);
  if ((first & 0x80U) != 0) {
    const auto rank = static_cast<uint8_t>((first >> 2U & 31U) + 1);
    return {.bytes = 1, .length = (first & 3U) + 1U, .rank = rank};
  }
  const size_t low = first & 63U;
  if ((first & 0x40U) == 0) return {.bytes = 1, .length = low + 1, .rank = 0};
  if (at + 1 == bytes.size()) return {.bytes = 0, .length = 0, .rank = 0};
  return {.bytes = 2, .length = (low << 8U | static_cast<uint8_t>(bytes[at + 1])) + 1, .rank = 0};
}

void SetDenseRegister(char* bytes, size_t index, uint8_t rank) noexcept {
  auto* const registers = reinterpret_cast<uint8_t*>(bytes + kHeaderBytes);
  const size_t at = index * 6 / 8;
  const unsigned shift = index * 6 % 8;
  const unsigned kept = ~(63U << shift);
  const unsigned set = unsigned{rank} << shift;
  registers[at] = static_cast<uint8_t>((registers[at] & kept) | set);
  if (shift > 2) registers[at + 1] = static_cast<uint8_t>((registers[at + 1] & kept >> 8U) | set >> 8U);
}

bool Registers::Merge(std::string_view bytes) noexcept {
  if (IsDense(bytes)) {
    for (size_t i = 0; i < kRegisters; ++i) ranks_[i] = std::max(ranks_[i], DenseRegister(bytes.data(), i));
    return true;
  }
  return ForEachRun(bytes, [&](size_t first, size_t length, uint8_t rank) {
    for (size_t i = first; rank != 0 && i < first + length; ++i) ranks_[i] = std::max(ranks_[i], rank);
  });
}

uint64_t Registers::Count() const noexcept {
  Histogram histogram{};
  for (const uint8_t rank : ranks_) ++histogram[rank];
  return Estimate(histogram);
}

}  // namespace mayfly::hll
