// Snapshots on the real disk: a file that changes while it is read, and folders that take no file.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "base/log/log.h"
#include "base/time/tsc.h"
#include "snapshot/snapshots.h"
#include "support/command_test.h"

#include <sys/stat.h>

namespace mayfly::testing {
namespace {

class RealDiskTest : public CommandTest {
 public:
  RealDiskTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mayfly-disk-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
    StartWith("dir", folder);
  }
  ~RealDiskTest() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  Snapshots& snapshots() { return Snapshots::Of(server().server); }
  void Slice() {
    if (server().sliced_work.waits())
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 16);
    server().hubs.wakes.Tell();
  }
  // A file that is much larger than what is read ahead.
  void SaveLargeFile() {
    SetOption("rdbcompression", "no");
    for (int i = 0; i < 100; ++i) Run({"SET", "key:" + std::to_string(i), std::string(100'000, 'x')});
    REQUIRE(Run({"SAVE"}) == Ok());
    Run({"FLUSHALL"});
  }
  // Begins to load it, calls change() when some keys are there, and goes on to the end.
  template <typename Change>
  void LoadWhile(Change&& change) {
    snapshots().LoadSoon(server().clock.Read());
    while (Run({"DBSIZE"}) == Integer(0)) Slice();
    change();
    while (snapshots().loading()) Slice();
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(folder + '/' + name); }

  std::string folder;
};

}  // namespace

TEST_CASE_METHOD(RealDiskTest,
                 "a file that is cut off while it is read is damaged: the keys before are there") {
  SaveLargeFile();
  LoadWhile([&] { std::filesystem::resize_file(folder + "/dump.rdb", 5'000'000); });
  const int64_t keys = Run({"DBSIZE"}).integer;
  CHECK(keys > 0);
  CHECK(keys < 100);
  CHECK(Exists("dump.rdb.damaged"));
  CHECK_FALSE(Exists("dump.rdb"));
  CHECK(Run({"GET", "key:99"}) == Bulk(std::string(100'000, 'x')));
}

TEST_CASE_METHOD(RealDiskTest,
                 "a file that is overwritten while it is read is damaged, and told by its checksum") {
  SaveLargeFile();
  LoadWhile([&] {
    std::fstream file(folder + "/dump.rdb", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(6'000'000);
    file << std::string(50'000, 'y');
  });
  CHECK(Exists("dump.rdb.damaged"));
  CHECK(Run({"SET", "k", "v"}) == Ok());
}

TEST_CASE_METHOD(RealDiskTest, "a file that is replaced while it is read is read to its own end") {
  SaveLargeFile();
  LoadWhile([&] {
    std::ofstream(folder + "/other") << "no snapshot";
    std::filesystem::rename(folder + "/other", folder + "/dump.rdb");
  });
  CHECK(Run({"DBSIZE"}) == Integer(100));
  CHECK_FALSE(Exists("dump.rdb.damaged"));
}

TEST_CASE_METHOD(RealDiskTest, "no save takes the place of a directory") {
  std::filesystem::create_directory(folder + "/dump.rdb");
  Run({"SET", "k", "v"});
  CHECK(Run({"SAVE"}).text.starts_with("ERR cannot "));
  CHECK(std::filesystem::is_directory(folder + "/dump.rdb"));
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 1);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(RealDiskTest, "a directory in the place of the file is not loaded, and stays") {
  std::filesystem::create_directory(folder + "/dump.rdb");
  snapshots().LoadSoon(server().clock.Read());
  while (snapshots().loading()) Slice();
  CHECK(std::filesystem::is_directory(folder + "/dump.rdb"));
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(RealDiskTest,
                 "a start removes what killed processes have left in the folder, and says so once") {
  const std::string path = folder + "/log";
  Log log(server().clock, Log::Level::kNotice, path);
  server().server.log = &log;
  const auto make = [&](const std::string& name) { std::ofstream(folder + '/' + name) << "REDIS"; };
  snapshots().RemoveLeftovers();
  make("temp-" + std::to_string(getppid()) + "-abcdefgh.rdb");  // of a daemon beside this one
  make("temp-" + std::to_string(getpid()) + "-abcdefgh.rdb");   // its number is this process's now
  make("temp-" + std::to_string(getpid()) + "-abcdefgh.part.rdb");
  snapshots().RemoveLeftovers();
  snapshots().RemoveLeftovers();
  CHECK(std::distance(std::filesystem::directory_iterator(folder), {}) == 2);
  CHECK(Exists("temp-" + std::to_string(getppid()) + "-abcdefgh.rdb"));
  server().server.log = nullptr;
  std::ifstream file(path);
  std::string line;
  CHECK(std::getline(file, line));
  CHECK(line.find("removed 2 files from " + folder + "/ that killed processes have left") !=
        std::string::npos);
  CHECK_FALSE(std::getline(file, line));
}

TEST_CASE_METHOD(RealDiskTest, "a folder that may not be written, or is not there, makes a save fail") {
  Run({"SET", "k", "v"});
  if (geteuid() != 0) {
    REQUIRE(chmod(folder.c_str(), S_IRUSR | S_IXUSR) == 0);
    CHECK(Run({"SAVE"}).text.starts_with("ERR cannot "));
    REQUIRE(chmod(folder.c_str(), S_IRWXU) == 0);
  }
  std::filesystem::remove_all(folder);
  CHECK(Run({"SAVE"}).text.starts_with("ERR cannot "));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

}  // namespace mayfly::testing
