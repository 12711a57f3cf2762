// The value of `ttl-rule`: a list of rules, each with a pattern and its TTLs.
//
//   "sess:*" default 30m max 1d jitter 5   "tmp:*" required
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::config {

// Adds the rules in `words` to `rules`; no words empty `rules`. After a problem nothing is changed.
[[nodiscard]] Problem ReadTtlRules(std::span<const std::string> words, std::vector<TtlRule>& rules);
std::string FormatTtlRules(const std::vector<TtlRule>& rules);

}  // namespace mayfly::config
