// The real file system, in a fresh directory.
#include "config/files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include <sys/stat.h>

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

TEST_CASE("a missing file, a directory and an endless file are one clear line") {
  const Scratch scratch;
  std::string text;
  CHECK(SystemFiles().read(scratch / "none", text) == scratch / "none" + ": No such file or directory");
  CHECK(SystemFiles().read(scratch / "", text) == scratch / "" + ": Is a directory");
  CHECK(SystemFiles().read("/dev/zero", text) == std::string("/dev/zero: larger than 16777216 bytes"));
  CHECK(SystemFiles().read("", text) == std::string(": No such file or directory"));
}

TEST_CASE("patterns are expanded in order, and a directory is told in its absolute form") {
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

TEST_CASE("what is written goes to the file that a link leads to, and the link stays") {
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

TEST_CASE("a pipe or a device is neither read a second time nor written, and nobody waits for it") {
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

}  // namespace mayfly::config
