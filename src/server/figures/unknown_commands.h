// The number of requests by name of an unknown command, shown by INFO unknowncommands. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/text/ascii.h"
#include "server/figures/logged_name.h"

namespace mayfly {

class UnknownCommands {
 public:
  // Clients may invent names. This many names are counted separately, all others together.
  static constexpr size_t kNamesMax = 128;
  static constexpr std::string_view kOthers = "OTHERS";  // names are in lower case

  // Counts `command`. Returns the counted name for the log if the name is new, else an empty text. Throws std::bad_alloc.
  std::string_view Count(std::string_view command) {
    std::string name = LowerCase(LoggedName(command).view());
    if (const auto known = counts_.find(name); known != counts_.end())
      return ++known->second, std::string_view();
    if (counts_.size() >= kNamesMax) name = kOthers;
    const auto [at, is_new] = counts_.try_emplace(std::move(name), 0);
    ++at->second;
    return is_new ? std::string_view(at->first) : std::string_view();
  }
  const std::map<std::string, uint64_t, std::less<>>& counts() const noexcept { return counts_; }

 private:
  std::map<std::string, uint64_t, std::less<>> counts_;
};

}  // namespace mayfly
