// redis_build_id of INFO: what it depends on, and what not (src/build_id.cmake).
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/folder.h"

namespace mayfly {
namespace {

const std::string kSource = MAYFLY_SOURCE_DIR;

// The ID of a build of this source; "" if CMake fails.
std::string IdOf(const std::string& root) {
  const Folder folder;
  const std::string made = folder / "build_id.cc";
  const std::string command =
      "cmake -D root='" + root + "' -D output='" + made + "' -P '" + kSource + "/src/build_id.cmake'";
  if (std::system(command.c_str()) != 0) return "";
  std::ifstream file(made);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  constexpr std::string_view kBegin = "kBuildId[] = \"";
  const size_t begin = text.find(kBegin) + kBegin.size();
  return text.substr(begin, text.find('"', begin) - begin);
}

void Put(const Folder& root, const std::string& name, std::string_view text) {
  const std::string path = root / name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << text;
}

}  // namespace

TEST_CASE("INFO has the build ID of the source that the daemon is made of") {
  const Daemon daemon;
  Client client(daemon);
  const std::string id = client.Info("redis_build_id");
  CHECK(id.size() == 16);
  CHECK(id.find_first_not_of("0123456789abcdef") == std::string::npos);
  CHECK(id == IdOf(kSource));
}

TEST_CASE("the same source has the same build ID everywhere, and each change to a source another one") {
  const Folder one;
  const Folder other;
  for (const Folder* root : {&one, &other}) {
    Put(*root, "CMakeLists.txt", "project(p)");
    Put(*root, "src/main.cc", "int main() {}");
    Put(*root, "src/base/clock.h", "// A clock.");
    Put(*root, "src/README.md", "The map.");
  }
  const std::string id = IdOf(one.path());
  REQUIRE(id.size() == 16);
  CHECK(IdOf(other.path()) == id);
  Put(other, "src/README.md", "Another map.");
  Put(other, "tests/clock_test.cc", "// A test.");
  CHECK(IdOf(other.path()) == id);

  Put(other, "src/base/clock.h", "// A watch.");
  CHECK(IdOf(other.path()) != id);
  Put(other, "src/base/clock.h", "// A clock.");
  CHECK(IdOf(other.path()) == id);
  Put(other, "CMakeLists.txt", "project(q)");
  CHECK(IdOf(other.path()) != id);
  Put(other, "CMakeLists.txt", "project(p)");
  std::filesystem::rename(other / "src/base/clock.h", other / "src/base/watch.h");
  CHECK(IdOf(other.path()) != id);
  std::filesystem::remove(other / "src/base/watch.h");
  CHECK(IdOf(other.path()) != id);
}

}  // namespace mayfly
