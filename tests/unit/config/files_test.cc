// The real file system, in a fresh directory.
#include "config/files.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

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

}  // namespace mayfly::config
