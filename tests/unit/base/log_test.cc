#include "base/log.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <catch2/catch.hpp>

namespace mayfly {
namespace {

TEST_CASE("a log line has pid, date, mark and text, and stays one line") {
  const std::string line = FormatLogLine(Log::Level::kNotice, "two\nlines", 42, 1'700'000'000'123);
  CHECK(line.starts_with("42:M "));
  CHECK(line.find(" Nov 2023 ") != std::string::npos);
  CHECK(line.ends_with(".123 * two lines"));
  CHECK(FormatLogLine(Log::Level::kWarning, "w", 1, 0).ends_with(".000 # w"));
  CHECK(FormatLogLine(Log::Level::kVerbose, "v", 1, 0).ends_with(".000 - v"));
  CHECK(FormatLogLine(Log::Level::kDebug, "d", 1, 0).ends_with(".000 . d"));
}

TEST_CASE("lines below the level are left out, and a file that was moved away is created again") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mayfly-log-test-" + std::to_string(getpid()));
  const auto read = [&] {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  SteppedClock clock;
  Log log(clock, Log::Level::kNotice, path.string());
  REQUIRE(log.Writable());
  log.Verbose("not this");
  log.Notice("but this");
  CHECK(read().ends_with("* but this\n"));
  CHECK(read().find("not this") == std::string::npos);
  std::filesystem::remove(path);
  log.set_least(Log::Level::kVerbose);
  log.Verbose("now this");
  CHECK(read().ends_with("- now this\n"));
  log.set_least(Log::Level::kNothing);
  log.Warning("nor that");
  CHECK(read().find("nor that") == std::string::npos);
  std::filesystem::remove(path);
}

TEST_CASE("a log that cannot be written says so") {
  SteppedClock clock;
  CHECK_FALSE(Log(clock, Log::Level::kNotice, "/no/such/directory/log").Writable());
  CHECK(Log(clock, Log::Level::kNotice, "").Writable());
}

}  // namespace
}  // namespace mayfly
