#include "base/log.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <catch2/catch.hpp>

namespace mayfly {
namespace {

// A log of its own in a file that nobody else has.
struct LogFile {
  LogFile() { std::filesystem::remove(path); }
  ~LogFile() { std::filesystem::remove(path); }
  std::string Read() const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mayfly-log-test-" + std::to_string(getpid()));
  SteppedClock clock;
  Log log{clock, Log::Level::kDebug, path.string()};
};

TEST_CASE("a log line has pid, date, mark and text, and is one line whatever the text") {
  LogFile file;
  file.clock.AdvanceTime(123);
  file.log.Notice("two\nlines");
  const std::string line = file.Read();
  CHECK(line.starts_with(std::to_string(getpid()) + ":M "));
  CHECK(line.find(" Nov 2023 ") != std::string::npos);
  CHECK(line.ends_with(".123 * two lines\n"));
  for (const auto& [write, mark] :
       {std::pair(&Log::Warning<std::string>, '#'), std::pair(&Log::Verbose<std::string>, '-'),
        std::pair(&Log::Debug<std::string>, '.')}) {
    (file.log.*write)("text");
    CHECK(file.Read().ends_with(std::string(".123 ") + mark + " text\n"));
  }
}

TEST_CASE("a log line consists of texts and numbers, and may be longer than its buffer") {
  LogFile file;
  const std::string peer = "10.0.0.1:5";
  file.log.Notice("client ", peer, " holds ", uint64_t{12}, " of ", -1, "");
  CHECK(file.Read().ends_with(" * client 10.0.0.1:5 holds 12 of -1\n"));
  const std::string longest(10'000, 'x');
  file.log.Warning("a\r\n", longest, "\nb");
  CHECK(file.Read().ends_with(" # a  " + longest + " b\n"));
}

TEST_CASE("lines below the level are skipped, and a log file that was moved away is created again") {
  LogFile file;
  file.log.set_least(Log::Level::kNotice);
  REQUIRE(file.log.Writable());
  file.log.Verbose("not this");
  file.log.Notice("but this");
  CHECK(file.Read().ends_with("* but this\n"));
  CHECK(file.Read().find("not this") == std::string::npos);
  std::filesystem::remove(file.path);
  file.log.set_least(Log::Level::kVerbose);
  file.log.Verbose("now this");
  CHECK(file.Read().ends_with("- now this\n"));
  file.log.set_least(Log::Level::kNothing);
  file.log.Warning("nor that");
  CHECK(file.Read().find("nor that") == std::string::npos);
}

TEST_CASE("Writable is false for a log file that cannot be opened") {
  SteppedClock clock;
  CHECK_FALSE(Log(clock, Log::Level::kNotice, "/no/such/directory/log").Writable());
  CHECK(Log(clock, Log::Level::kNotice, "").Writable());
}

}  // namespace
}  // namespace mayfly
