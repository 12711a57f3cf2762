// Each call of the disk that fails: the writer and the reader notice the error and name the call, and no file is lost.
#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "snapshot/disk/disk.h"
#include "snapshot/disk/file_reader.h"
#include "snapshot/disk/file_writer.h"
#include "support/catch.h"
#include "support/folder.h"
#include "support/memory_disk.h"

namespace mayfly {
namespace {

using Calls = std::vector<std::string>;

// Notes each call that changes something, writes nothing, and fails at one call of one name.
class NotedDisk : public Disk {
 public:
  // The call number `nth` with this name answers `error`.
  void Fail(const std::string& name, size_t nth, int error) {
    failing_ = name;
    nth_ = nth;
    error_ = error;
  }

  int Create(const std::string&, int& file) override {
    const int error = Note("create");
    if (error == 0) file = 7;
    return error;
  }
  int Write(int, std::string_view bytes, size_t& count) override {
    const int error = Note("write");
    count = error == 0 ? bytes.size() : 0;
    return error;
  }
  int Sync(int) override { return Note("sync"); }
  void BeginSync(int) noexcept override {}
  int Close(int) override { return Note("close"); }
  int Rename(const std::string&, const std::string&) override { return Note("rename"); }
  int SyncFolder(const std::string&) override { return Note("sync of the folder"); }
  int Remove(const std::string&) override { return Note("remove"); }
  size_t RemoveLeftovers(const std::string&, std::string_view) noexcept override {
    calls.emplace_back("remove leftovers");
    return 0;
  }

  Calls calls;

 private:
  int Note(const std::string& name) {
    calls.push_back(name);
    return name == failing_ && std::ranges::count(calls, name) == static_cast<std::ptrdiff_t>(nth_) ? error_
                                                                                                    : 0;
  }

  std::string failing_;
  size_t nth_ = 0;
  int error_ = 0;
};

// Its sync lasts until some time after Release.
class HeldDisk : public NotedDisk {
 public:
  ~HeldDisk() {
    if (releaser_.joinable()) releaser_.join();
  }
  int Sync(int fd) override {
    syncs = true;
    while (!released_) std::this_thread::yield();
    return NotedDisk::Sync(fd);
  }
  void Release() {
    releaser_ = std::thread([this] {
      for (int i = 0; i < 1000; ++i) std::this_thread::yield();
      released_ = true;
    });
  }

  std::atomic<bool> syncs = false;

 private:
  std::atomic<bool> released_ = false;
  std::thread releaser_;
};

struct WriterCourse {
  std::string problem;
  Calls calls;
};

// Writes a file of these chunks on such a disk, to its end.
WriterCourse WriteOn(NotedDisk& disk, const std::vector<std::string>& chunks) {
  WriterCourse written;
  {
    FileWriter writer(disk, {.folder = "d", .name = "f", .temporary = "t"}, [] {});
    for (const std::string& chunk : chunks) writer.Give(std::string(chunk));
    writer.Finish();
    writer.Wait();
    written.problem = writer.problem();
    CHECK((writer.state() == FileWriter::State::kDone) == written.problem.empty());
  }
  written.calls = disk.calls;
  return written;
}

}  // namespace

TEST_CASE("a file gets its name after its bytes are on the disk, and then the name goes there") {
  NotedDisk disk;
  const WriterCourse written = WriteOn(disk, {"abc", "def"});
  CHECK(written.problem.empty());
  CHECK(written.calls == Calls{"remove leftovers", "create", "write", "write", "write", "sync", "close",
                               "rename", "sync of the folder"});
}

TEST_CASE("whatever call of the disk fails, the writer names it, and no temporary file stays") {
  struct Failure {
    const char* call;
    size_t nth;
    const char* problem;
    bool renamed = false;
  };
  // The first chunk is so long that a sync comes on the way.
  const std::vector<std::string> chunks = {std::string(FileWriter::kSyncBytes, 'x'), "end"};
  const size_t pieces = FileWriter::kSyncBytes / FileWriter::kPieceBytes;
  const std::vector<Failure> failures = {
      {"create", 1, "cannot make d/t: "},
      {"write", 1, "cannot write d/t: "},
      {"write", pieces, "cannot write d/t: "},
      {"write", pieces + 1, "cannot write d/t: "},  // the second chunk
      {"write", pieces + 2, "cannot write d/t: "},  // the checksum
      {"sync", 1, "cannot sync d/t: "},             // on the way
      {"sync", 2, "cannot sync d/t: "},             // at the end
      {"close", 1, "cannot close d/t: "},
      {"rename", 1, "cannot rename d/t to d/f: "},
      {"sync of the folder", 1, "cannot sync the folder d: ", /*renamed=*/true},
  };
  for (const auto& [error, text] : std::map<int, std::string>{{ENOSPC, "No space left on device"},
                                                              {EIO, "Input/output error"},
                                                              {EFBIG, "File too large"},
                                                              {EDQUOT, "Disk quota exceeded"}}) {
    for (const Failure& failure : failures) {
      CAPTURE(failure.call, failure.nth, text);
      NotedDisk disk;
      disk.Fail(failure.call, failure.nth, error);
      const WriterCourse written = WriteOn(disk, chunks);
      CHECK(written.problem == failure.problem + text);
      CHECK(written.calls.back() == "remove");
      CHECK(std::ranges::count(written.calls, "close") == (std::string(failure.call) == "create" ? 0 : 1));
      const bool named = std::string(failure.call) == "rename" || failure.renamed;
      CHECK(std::ranges::count(written.calls, "rename") == (named ? 1 : 0));
    }
  }
}

TEST_CASE("a call that a signal has interrupted is no failure: the writer writes the same bytes again") {
  NotedDisk disk;
  disk.Fail("write", 2, EINTR);
  const WriterCourse written = WriteOn(disk, {"abc", "def"});
  CHECK(written.problem.empty());
  CHECK(std::ranges::count(written.calls, "write") == 4);
}

TEST_CASE("a writer that is given up removes what it has written, and renames nothing") {
  NotedDisk disk;
  {
    FileWriter writer(disk, {.folder = "d", .name = "f", .temporary = "t"}, [] {});
    writer.Give("some");
    writer.WaitForChunks();
    writer.Abandon();
    writer.Wait();
    CHECK(writer.problem() == "abandoned");
  }
  CHECK(disk.calls == Calls{"remove leftovers", "create", "write", "close", "remove"});
}

TEST_CASE("a writer that is given up at its last sync stays so, whoever destroys it meanwhile") {
  HeldDisk disk;
  {
    FileWriter writer(disk, {.folder = "d", .name = "f", .temporary = "t"}, [] {});
    writer.Give("some");
    writer.Finish();
    while (!disk.syncs) std::this_thread::yield();
    CHECK(writer.Abandon());
    // While the writer is being destroyed, if the machine lets both run.
    disk.Release();
  }
  CHECK(std::ranges::count(disk.calls, "rename") == 0);
  CHECK(disk.calls.back() == "remove");
}

TEST_CASE("an error of a read is told, an interrupted read is read again, and no byte is lost") {
  testing::MemoryDisk disk;
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += std::to_string(i);
  disk.Put("f", bytes);
  disk.piece = 100;
  const auto read = [&](size_t fails_at, int error) {
    std::string problem;
    disk.FailAt(fails_at, error);
    FileReader reader(disk, "f", [] {}, problem);
    std::string all;
    for (std::string chunk; problem.empty() && !reader.AtEnd(problem);) {
      reader.Wait();
      while (reader.Take(chunk)) all += chunk;
    }
    return std::pair(problem, all);
  };
  CHECK(read(0, 0) == std::pair(std::string(), bytes));
  CHECK(read(1, EACCES) == std::pair(std::string("cannot open f: Permission denied"), std::string()));
  for (const size_t call : {2U, 3U, 10U}) {
    CAPTURE(call);
    CHECK(read(call, EINTR) == std::pair(std::string(), bytes));
    const auto [problem, all] = read(call, EIO);
    CHECK(problem == "cannot read f: Input/output error");
    CHECK(all == bytes.substr(0, (call - 2) * 100));
  }
}

TEST_CASE("the reader holds a bounded part of a file, however large the file is") {
  testing::MemoryDisk disk;
  disk.Put("f", std::string(3 * FileReader::kAhead * FileReader::kChunkBytes, 'x'));
  size_t chunks = 0;
  std::string problem;
  {
    FileReader reader(disk, "f", [] {}, problem);
    std::string chunk;
    reader.Wait();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    CHECK(disk.calls() <= 1 + FileReader::kAhead);
    while (!reader.AtEnd(problem)) {
      reader.Wait();
      for (; reader.Take(chunk); ++chunks) CHECK(chunk.size() <= FileReader::kChunkBytes);
    }
  }
  CHECK(chunks == 3 * FileReader::kAhead);
}

// ---- the real file system

TEST_CASE("what is no regular file is closed again") {
  const Folder own;
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  };
  const auto before = open_files();
  Disk disk;
  for (int i = 0; i < 5; ++i) {
    int opened = -1;
    uint64_t bytes = 0;
    CHECK(disk.OpenToRead(own.path(), opened, bytes) == EISDIR);
    CHECK(disk.OpenToRead("/dev/null", opened, bytes) == EINVAL);
    CHECK(disk.SyncFolder(own.path()) == 0);
  }
  CHECK(open_files() == before);
}

TEST_CASE("each call of the real disk returns the system's error") {
  const Folder own;
  const std::string& folder = own.path();
  const std::string file = PathIn(folder, "file");
  std::ofstream(file) << "kept";
  Disk disk;
  int opened = -1;
  uint64_t bytes = 0;
  size_t count = 1;
  char room[8];
  CHECK(disk.Create(file, opened) == EEXIST);
  CHECK(std::filesystem::file_size(file) == 4);
  std::filesystem::create_symlink("nowhere", PathIn(folder, "link"));
  CHECK(disk.Create(PathIn(folder, "link"), opened) == EEXIST);
  CHECK_FALSE(std::filesystem::exists(PathIn(folder, "nowhere")));
  CHECK(disk.Create(folder + "/none/file", opened) == ENOENT);
  CHECK(disk.OpenToRead(folder + "/none", opened, bytes) == ENOENT);
  CHECK(disk.Write(-1, "x", count) == EBADF);
  CHECK(count == 0);
  CHECK(disk.Read(-1, room, sizeof room, count) == EBADF);
  CHECK(disk.Sync(-1) == EBADF);
  CHECK(disk.Close(-1) == EBADF);
  CHECK(disk.Rename(folder + "/none", file) == ENOENT);
  CHECK(disk.SyncFolder(folder + "/none") == ENOENT);
  CHECK(disk.SyncFolder(file) == ENOTDIR);
  CHECK(disk.SyncFolder(folder) == 0);
  CHECK(disk.Remove(folder + "/none") == ENOENT);
  CHECK(disk.MayWriteInto(folder + "/none") == ENOENT);
  CHECK(disk.MayWriteInto(folder) == 0);
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  REQUIRE(full >= 0);
  CHECK(disk.Write(full, "x", count) == ENOSPC);
  CHECK(disk.Close(full) == 0);
}

}  // namespace mayfly
