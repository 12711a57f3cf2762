// The values of `save`, a list of save points, and of `shutdown-on-sigterm` and `shutdown-on-sigint`, a set of flags.
//
//   900 1 300 10    now force
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::config {

// Adds the save points in `words` to `points`; no words empty `points`. After a problem nothing is changed.
[[nodiscard]] Problem ReadSavePoints(std::span<const std::string> words, std::vector<SavePoint>& points);
std::string FormatSavePoints(const std::vector<SavePoint>& points);

// "default" stands for no flag. After a problem nothing is changed.
[[nodiscard]] Problem ReadShutdownFlags(std::span<const std::string> words, ShutdownFlags& flags);
std::string FormatShutdownFlags(ShutdownFlags flags);
// The words that ReadShutdownFlags takes.
std::span<const std::string_view> ShutdownWords() noexcept;

}  // namespace mayfly::config
