// The number of error replies by error code, shown by INFO errorstats. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace mayfly {

class ErrorStats {
 public:
  // Scripts may invent error codes. This many codes are counted separately, all others together, as in Redis 8.
  static constexpr size_t kCodesMax = 128;
  static constexpr std::string_view kOthers = "ERRORSTATS_OVERFLOW";

  // Adds `times` error replies. An empty code counts as ERR.
  void Count(std::string_view code, uint64_t times) {
    const std::string name(code.empty() ? "ERR" : code);
    if (const auto known = counts_.find(name); known != counts_.end()) {
      known->second += times;
    } else {
      counts_[counts_.size() < kCodesMax ? name : std::string(kOthers)] += times;
    }
  }
  const std::map<std::string, uint64_t>& counts() const noexcept { return counts_; }

 private:
  std::map<std::string, uint64_t> counts_;
};

}  // namespace mayfly
