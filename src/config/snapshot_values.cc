#include "config/snapshot_values.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>

#include "base/text/ascii.h"
#include "config/scalars.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr size_t kWordsPerPoint = 2;

// "default", and after it each flag with its member.
constexpr std::array<std::string_view, 5> kShutdownWords = {"default", "save", "nosave", "now", "force"};
constexpr std::array<bool ShutdownFlags::*, 4> kFlags = {&ShutdownFlags::save, &ShutdownFlags::nosave,
                                                         &ShutdownFlags::now, &ShutdownFlags::force};
static_assert(kShutdownWords.size() == kFlags.size() + 1);

// Redis takes a plus sign and leading zeros here, too.
std::optional<int64_t> ReadCount(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  uint64_t count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error != std::errc() || stop != end || count > std::numeric_limits<int64_t>::max()) return std::nullopt;
  return static_cast<int64_t>(count);
}

}  // namespace

Problem ReadSavePoints(std::span<const std::string> words, std::vector<SavePoint>& points) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) {
    points.clear();
    return std::nullopt;
  }
  std::vector<SavePoint> more;
  for (; !words.empty(); words = words.subspan(kWordsPerPoint)) {
    if (words.size() < kWordsPerPoint) return "Invalid save parameters";
    const std::optional<int64_t> seconds = ReadCount(words[0]);
    const std::optional<int64_t> changes = ReadCount(words[1]);
    if (!seconds || *seconds < 1 || !changes) return "Invalid save parameters";
    more.push_back({*seconds, *changes});
  }
  points.insert(points.end(), more.begin(), more.end());
  return std::nullopt;
}

std::string FormatSavePoints(const std::vector<SavePoint>& points) {
  std::vector<std::string> words;
  for (const SavePoint& point : points) {
    words.push_back(std::to_string(point.seconds));
    words.push_back(std::to_string(point.changes));
  }
  return JoinWords(words);
}

Problem ReadShutdownFlags(std::span<const std::string> words, ShutdownFlags& flags) {
  ShutdownFlags read;
  if (words.empty()) return NoneOf(kShutdownWords);
  for (const std::string& word : words) {
    size_t i = 0;
    while (i < kShutdownWords.size() && !SameIgnoringCase(word, kShutdownWords[i])) ++i;
    if (i == kShutdownWords.size()) return NoneOf(kShutdownWords);
    if (i > 0) read.*kFlags[i - 1] = true;
  }
  if (read.save && read.nosave) return "shutdown options SAVE and NOSAVE can't be used simultaneously";
  flags = read;
  return std::nullopt;
}

std::string FormatShutdownFlags(ShutdownFlags flags) {
  std::vector<std::string> words;
  for (size_t i = 0; i < kFlags.size(); ++i) {
    if (flags.*kFlags[i]) words.emplace_back(kShutdownWords[i + 1]);
  }
  return words.empty() ? std::string(kShutdownWords[0]) : JoinWords(words);
}

std::span<const std::string_view> ShutdownWords() noexcept { return kShutdownWords; }

}  // namespace mayfly::config
