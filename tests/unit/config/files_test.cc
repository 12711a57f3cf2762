// The real file system, in a fresh directory.
#include "config/sources/files.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

namespace mayfly::config {
namespace {

class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "mayfly-files-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  void Put(const std::string& name, const std::string& text) const { std::ofstream(*this / name) << text; }

 private:
  std::string path_;
};

struct stat StatOf(const std::string& path) {
  struct stat found{};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  return found;
}

}  // namespace

TEST_CASE("files are read whole, whatever their bytes") {
  const Scratch scratch;
  const std::string big(200'000, '\xFF');
  scratch.Put("big", big);
  scratch.Put("empty", "");
  std::string text = "before";
  CHECK_FALSE(SystemFiles().read(scratch / "big", text));
  CHECK((text == big));
  CHECK_FALSE(SystemFiles().read(scratch / "empty", text));
  CHECK(text.empty());
}

TEST_CASE("a missing file, a directory and an endless file are reported in one clear line") {
  const Scratch scratch;
  std::string text;
  CHECK(SystemFiles().read(scratch / "none", text) == scratch / "none" + ": No such file or directory");
  CHECK(SystemFiles().read(scratch / "", text) == scratch / "" + ": Is a directory");
  CHECK(SystemFiles().read("/dev/zero", text) == std::string("/dev/zero: larger than 16777216 bytes"));
  CHECK(SystemFiles().read("", text) == std::string(": No such file or directory"));
}

TEST_CASE("patterns are expanded in order, and the path of a directory is made absolute") {
  const Scratch scratch;
  scratch.Put("2.conf", "");
  scratch.Put("1.conf", "");
  scratch.Put("x.txt", "");
  CHECK(SystemFiles().expand(scratch / "*.conf") ==
        std::vector<std::string>{scratch / "1.conf", scratch / "2.conf"});
  CHECK(SystemFiles().expand(scratch / "*.none").empty());
  std::string absolute;
  CHECK_FALSE(SystemFiles().directory("/usr/../usr/.", absolute));
  CHECK(absolute == "/usr");
  CHECK(SystemFiles().directory(scratch / "x.txt", absolute) == scratch / "x.txt" + ": Not a directory");
  CHECK(SystemFiles().directory("/none", absolute) == std::string("/none: No such file or directory"));
}

TEST_CASE("a write through a link replaces the file that the link leads to, and the link stays") {
  namespace fs = std::filesystem;
  const Scratch scratch;
  fs::create_directory(scratch / "real");
  scratch.Put("real/my.conf", "old");
  fs::create_symlink("real/my.conf", scratch / "inner");
  fs::create_symlink(scratch / "inner", scratch / "outer");
  CHECK_FALSE(SystemFiles().write(scratch / "outer", "new"));
  CHECK(fs::is_symlink(scratch / "outer"));
  CHECK(fs::is_symlink(scratch / "inner"));
  std::string text;
  CHECK_FALSE(SystemFiles().read(scratch / "real/my.conf", text));
  CHECK(text == "new");
  fs::remove(scratch / "real/my.conf");
  CHECK(SystemFiles().write(scratch / "outer", "x") == scratch / "outer" + ": No such file or directory");
}

TEST_CASE("a file that is written keeps its mode") {
  const Scratch scratch;
  scratch.Put("my.conf", "old");
  for (const mode_t mode : {0600U, 0640U, 0444U, 0777U}) {
    REQUIRE(::chmod((scratch / "my.conf").c_str(), mode) == 0);
    CHECK_FALSE(SystemFiles().write(scratch / "my.conf", "new"));
    CHECK((StatOf(scratch / "my.conf").st_mode & 07777) == mode);
  }
}

TEST_CASE("a file that is written keeps its owner and group") {
  if (::geteuid() != 0) return;  // only root can give a file to another user
  const Scratch scratch;
  scratch.Put("my.conf", "old");
  REQUIRE(::chown((scratch / "my.conf").c_str(), 12345, 23456) == 0);
  REQUIRE(::chmod((scratch / "my.conf").c_str(), 0640) == 0);
  CHECK_FALSE(SystemFiles().write(scratch / "my.conf", "new"));
  const struct stat found = StatOf(scratch / "my.conf");
  CHECK(found.st_uid == 12345);
  CHECK(found.st_gid == 23456);
  CHECK((found.st_mode & 07777) == 0640);
  std::string text;
  CHECK_FALSE(SystemFiles().read(scratch / "my.conf", text));
  CHECK(text == "new");
}

TEST_CASE("a file whose owner cannot be kept is not written, and nothing is left beside it") {
  if (::geteuid() != 0) return;  // only root can become another user
  const Scratch scratch;
  scratch.Put("my.conf", "old");
  REQUIRE(::chmod((scratch / "").c_str(), 0777) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool nobody = ::setgid(65534) == 0 && ::setuid(65534) == 0;
    const Problem problem = SystemFiles().write(scratch / "my.conf", "new");
    const bool refused =
        problem == scratch / "my.conf" + ": its owner and group cannot be kept: Operation not permitted";
    ::_exit(nobody && refused ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  std::string text;
  CHECK_FALSE(SystemFiles().read(scratch / "my.conf", text));
  CHECK(text == "old");
  CHECK(SystemFiles().expand(scratch / "*") == std::vector<std::string>{scratch / "my.conf"});
}

TEST_CASE(
    "a file that does not fit on the disk is not written: the old one stays, and nothing is left beside it") {
  const Scratch scratch;
  scratch.Put("conf", "old");
  const pid_t child = ::fork();
  if (child == 0) {  // a process that can write no more than 100 bytes to a file
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 100, .rlim_max = 100};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Problem problem = SystemFiles().write(scratch / "conf", std::string(1000, 'n'));
    ::_exit(problem == scratch / "conf" + ": File too large" ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  std::string text;
  CHECK_FALSE(SystemFiles().read(scratch / "conf", text));
  CHECK(text == "old");
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(scratch / "")) files += file.exists() ? 1 : 0;
  CHECK(files == 1);
}

TEST_CASE("a pipe or a device is refused at once by a second read and by a write") {
  const Scratch scratch;
  REQUIRE(::mkfifo((scratch / "pipe").c_str(), 0600) == 0);
  const std::string problem = scratch / "pipe" + ": is not a regular file";
  std::string text;
  CHECK(SystemFiles().read_again(scratch / "pipe", text) == problem);
  CHECK(SystemFiles().write(scratch / "pipe", "x") == problem);
  CHECK(SystemFiles().read_again("/dev/null", text) == std::string("/dev/null: is not a regular file"));
  scratch.Put("plain", "x");
  CHECK_FALSE(SystemFiles().read_again(scratch / "plain", text));
  CHECK(text == "x");
}

TEST_CASE("a file that is put is made for its owner alone, or replaced as it is") {
  const Scratch scratch;
  CHECK_FALSE(SystemFiles().put(scratch / "users", "one"));
  CHECK((StatOf(scratch / "users").st_mode & 0777) == 0600);
  REQUIRE(::chmod((scratch / "users").c_str(), 0640) == 0);
  CHECK_FALSE(SystemFiles().put(scratch / "users", "two"));
  CHECK((StatOf(scratch / "users").st_mode & 0777) == 0640);
  std::string text;
  CHECK_FALSE(SystemFiles().read(scratch / "users", text));
  CHECK(text == "two");
  CHECK(SystemFiles().put(scratch / "none/users", "x") ==
        scratch / "none/users" + ": No such file or directory");
}

TEST_CASE(
    "a process that is killed while it writes leaves nothing beside the file, or what the next write takes "
    "away") {
  const Scratch scratch;
  const std::string text(size_t{8} << 20, 'x');
  scratch.Put("my.conf", text);
  for (int round = 0; round < 20; ++round) {
    int told[2] = {};
    REQUIRE(::pipe(told) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
      for (;;) {
        static_cast<void>(::write(told[1], "x", 1));
        static_cast<void>(SystemFiles().write(scratch / "my.conf", text));
      }
    }
    char byte = 0;
    REQUIRE(::read(told[0], &byte, 1) == 1);  // a write begins
    if (round % 2 != 0) REQUIRE(::read(told[0], &byte, 1) == 1);
    ::kill(child, SIGKILL);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    ::close(told[0]);
    ::close(told[1]);
  }
  REQUIRE(SystemFiles().write(scratch / "my.conf", "new") == std::nullopt);
  size_t files = 0;
  for (const auto& file : std::filesystem::directory_iterator(scratch / "")) {
    CHECK(file.path().filename() == "my.conf");
    ++files;
  }
  CHECK(files == 1);
}

}  // namespace mayfly::config
