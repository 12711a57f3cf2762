// Files of the real file system, in a folder of the test's own.
#include "snapshot/disk/disk.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "snapshot/disk/file_reader.h"
#include "snapshot/disk/file_writer.h"
#include "snapshot/format/crc64.h"
#include "support/catch.h"

#include <sys/stat.h>
#include <sys/wait.h>

namespace mayfly {
namespace {

class DiskTest {
 public:
  DiskTest() { std::filesystem::create_directories(folder); }
  ~DiskTest() { std::filesystem::remove_all(folder); }

  std::string Contents(const std::string& name) {
    std::ifstream file(PathIn(folder, name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Make(const std::string& name) { std::ofstream(PathIn(folder, name)) << "x"; }
  bool Has(const std::string& name) { return std::filesystem::exists(PathIn(folder, name)); }
  // The number of a process that has ended.
  static pid_t Gone() {
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    return child;
  }

  const std::string folder = "disk_test." + std::to_string(getpid());
  Disk disk;
};

}  // namespace

TEST_CASE_METHOD(DiskTest, "a path in a folder has one slash between them") {
  CHECK(PathIn("", "f") == "./f");
  CHECK(PathIn("./", "f") == "./f");
  CHECK(PathIn("/a", "f") == "/a/f");
  CHECK(PathIn("/", "f") == "/f");
}

TEST_CASE_METHOD(DiskTest,
                 "a file is written in chunks, gets its name at the end, and reads back with its checksum") {
  std::string all;
  {
    FileWriter writer(disk, {.folder = folder, .name = "whole", .temporary = TemporaryName("x")}, [] {});
    for (int i = 0; i < 100; ++i) {
      std::string chunk(10'000, static_cast<char>('a' + i % 26));
      all += chunk;
      writer.Give(std::move(chunk));
    }
    writer.WaitForChunks();
    CHECK_FALSE(Has("whole"));
    CHECK(writer.Collect().capacity() >= 10'000);
    CHECK(writer.waiting_bytes() == 0);
    writer.Finish();
    writer.Wait();
    CHECK(writer.state() == FileWriter::State::kDone);
  }
  CHECK_FALSE(Has(TemporaryName("x")));
  const std::string contents = Contents("whole");
  REQUIRE(contents.size() == all.size() + FileReader::kChecksumBytes);
  CHECK((contents.substr(0, all.size()) == all));

  std::string problem;
  FileReader reader(disk, PathIn(folder, "whole"), [] {}, problem);
  REQUIRE(problem.empty());
  CHECK(reader.file_bytes() == contents.size());
  std::string read;
  for (std::string chunk; !reader.AtEnd(problem);) {
    reader.Wait();
    while (reader.Take(chunk)) read += chunk;
  }
  CHECK(problem.empty());
  CHECK((read == contents));
  CHECK(reader.crc() == rdb::Crc64(0, all));
}

TEST_CASE_METHOD(DiskTest, "a writer that is abandoned leaves no file") {
  FileWriter writer(disk, {.folder = folder, .name = "never", .temporary = TemporaryName("x")}, [] {});
  writer.Give("some");
  writer.WaitForChunks();
  CHECK(writer.Abandon());
  writer.Wait();
  CHECK(writer.state() == FileWriter::State::kFailed);
  CHECK(std::filesystem::is_empty(folder));
}

TEST_CASE_METHOD(DiskTest, "a FIFO is no file, and nobody waits for its writer") {
  REQUIRE(mkfifo(PathIn(folder, "fifo").c_str(), 0600) == 0);
  std::string problem;
  const FileReader reader(disk, PathIn(folder, "fifo"), [] {}, problem);
  CHECK(problem == "cannot open " + folder + "/fifo: Not a regular file");
}

TEST_CASE_METHOD(DiskTest, "what the file system refuses is told in one line") {
  std::string problem;
  const FileReader none(disk, PathIn(folder, "none"), [] {}, problem);
  CHECK(problem == "cannot open " + folder + "/none: No such file or directory");
  const FileReader directory(disk, folder, [] {}, problem);
  CHECK(problem == "cannot open " + folder + ": Is a directory");
  FileWriter writer(disk, {.folder = folder + "/none", .name = "f", .temporary = "t"}, [] {});
  writer.Finish();
  writer.Wait();
  CHECK(writer.problem() == "cannot make " + folder + "/none/t: No such file or directory");
}

TEST_CASE_METHOD(DiskTest, "bytes that are a whole file must have the right checksum, or none") {
  const auto write = [&](const std::string& bytes) {
    FileWriter writer(disk, {.folder = folder, .name = "f", .temporary = TemporaryName("x"), .whole = true},
                      [] {});
    for (const char byte : bytes) writer.Give(std::string(1, byte));
    writer.Finish();
    writer.Wait();
    return writer.problem();
  };
  std::string bytes = "REDIS0010 and more";
  uint64_t crc = rdb::Crc64(0, bytes);
  for (int i = 0; i < 8; ++i, crc >>= 8) bytes += static_cast<char>(crc);
  CHECK(write(bytes) == "");
  CHECK(Contents("f") == bytes);
  bytes[3] ^= 1;
  CHECK(write(bytes) == "its checksum is wrong");
  CHECK(write("REDIS0010" + std::string(8, '\0')) == "");
  CHECK(write("REDIS00") == "it is too short for a snapshot");
}

TEST_CASE_METHOD(DiskTest, "a save removes what killed processes have left, and nothing else") {
  const std::string gone = "temp-" + std::to_string(Gone()) + "-abc.rdb";
  const std::string before = TemporaryName("before");
  const std::string own = TemporaryName("own");
  const std::string alive = "temp-" + std::to_string(getppid()) + "-abc.rdb";
  const std::string beside = TemporaryName("own", "part");
  const std::string redis = "temp-1763000000." + std::to_string(getppid()) + ".rdb";  // a time, and a process
  // Of a process that is no more, too, but not named by a save.
  const std::string other_begin = "tempo" + gone.substr(5);
  const std::string other_end = gone.substr(0, gone.size() - 4) + ".rdc";
  const std::vector<std::string> kept = {own,         beside,       alive,        redis,
                                         other_begin, other_end,    "temp-x.rdb", "temp-0-a.rdb",
                                         "temp-.rdb", "temp--.rdb", "a"};
  for (const std::string& name : kept) Make(name);
  for (const std::string& name : {gone, before}) Make(name);
  CHECK(disk.RemoveLeftovers(folder, own) == 2);
  CHECK_FALSE(Has(before));
  CHECK_FALSE(Has(gone));
  for (const std::string& name : kept) CHECK(Has(name));
  CHECK(disk.RemoveLeftovers(folder, own) == 0);
  CHECK(disk.RemoveLeftovers(folder + "/none", own) == 0);
}

TEST_CASE_METHOD(DiskTest,
                 "a long chunk is written piece by piece, and the disk begins early and syncs now and then") {
  // Writes nothing.
  class Counting final : public Disk {
   public:
    int Write(int, std::string_view bytes, size_t& count) override {
      longest = std::max(longest, bytes.size());
      count = bytes.size();
      return 0;
    }
    void BeginSync(int) noexcept override { ++begun; }
    int Sync(int) override { return ++syncs, 0; }
    size_t longest = 0;
    size_t begun = 0;
    size_t syncs = 0;
  };
  Counting counting;
  {
    FileWriter writer(counting, {.folder = folder, .name = "long", .temporary = TemporaryName("x")}, [] {});
    writer.Give(std::string(FileWriter::kSyncBytes + 5 * FileWriter::kBeginBytes, 'x'));
    writer.Finish();
    writer.Wait();
  }
  CHECK(counting.longest == FileWriter::kPieceBytes);
  CHECK(counting.begun == FileWriter::kSyncBytes / FileWriter::kBeginBytes - 1 + 5);
  CHECK(counting.syncs == 2);  // one on the way, one at the end
}

}  // namespace mayfly
