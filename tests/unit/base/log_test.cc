#include "base/log/log.h"

#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "support/catch.h"

#include <sys/resource.h>

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

// What is written to standard error while it exists.
class StandardError {
 public:
  StandardError() {
    REQUIRE(pipe(ends_) == 0);
    old_ = dup(STDERR_FILENO);
    dup2(ends_[1], STDERR_FILENO);
    close(ends_[1]);
  }
  ~StandardError() {
    Restore();
    close(ends_[0]);
  }
  // All of it; it is as before then.
  std::string Take() {
    Restore();
    std::string text;
    char byte = 0;
    while (read(ends_[0], &byte, 1) == 1) text += byte;
    return text;
  }

 private:
  void Restore() {
    if (old_ < 0) return;
    dup2(old_, STDERR_FILENO);
    close(std::exchange(old_, -1));
  }

  int ends_[2] = {-1, -1};
  int old_ = -1;
};

// The process can write no file beyond that many bytes while it exists, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(size_t bytes) {
    getrlimit(RLIMIT_FSIZE, &old_);
    old_action_ = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_action_);
  }

 private:
  rlimit old_{};
  void (*old_action_)(int) = SIG_DFL;
};

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("while the disk is full lines are lost, and the first line after that says how many") {
  LogFile file;
  file.log.Notice("before");
  const std::string before = file.Read();
  StandardError standard_error;
  {
    const FullDisk disk(before.size() + 10);
    for (int i = 0; i < 3; ++i) file.log.Notice("lost");
  }
  CHECK(file.Read().size() == before.size() + 10);  // the beginning of a line
  file.log.Notice("after");
  file.log.Notice("and on");
  const std::string lines = file.Read().substr(before.size() + 10);
  CHECK(lines.starts_with("\n" + std::to_string(getpid())));
  const size_t told = lines.find(" # lines of this log that were lost: 3 (File too large)\n");
  REQUIRE(told != std::string::npos);
  CHECK(lines.find(" * after\n") > told);
  CHECK(lines.ends_with(" * and on\n"));
  CHECK(Count(lines, "\n") == 4);
  CHECK(standard_error.Take() == "mayfly: cannot write to the log " + file.path.string() +
                                     ": File too large; its lines are lost until that is mended\n");
}

TEST_CASE("standard error hears of a log that cannot be written once in ten seconds at most") {
  SteppedClock clock;
  Log log(clock, Log::Level::kNotice, "/dev/full");
  StandardError standard_error;
  for (int i = 0; i < 100; ++i) log.Warning("lost");
  CHECK(
      standard_error.Take() ==
      "mayfly: cannot write to the log /dev/full: No space left on device; its lines are lost until that is "
      "mended\n");

  // An outage that begins anew within that time is not told.
  LogFile file;
  StandardError again;
  for (int second = 0; second < 25; ++second) {
    {
      const FullDisk disk(std::filesystem::exists(file.path) ? std::filesystem::file_size(file.path) : 0);
      file.log.Notice("lost");
    }
    file.log.Notice("written");
    file.clock.AdvanceTime(1'000);
  }
  CHECK(Count(again.Take(), "cannot write to the log") == 3);
  CHECK(Count(file.Read(), "lines of this log that were lost: 1 ") == 25);
}

}  // namespace
}  // namespace mayfly
