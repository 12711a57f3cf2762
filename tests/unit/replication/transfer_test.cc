#include "replication/transfer.h"

#include <string>

#include "snapshot/format/crc64.h"
#include "support/catch.h"
#include "support/memory_disk.h"

namespace mayfly::testing {
namespace {

using State = Transfer::State;

// A file of `size` bytes with its checksum.
std::string File(size_t size) {
  std::string bytes = "REDIS0010";
  while (bytes.size() + 8 < size) bytes += static_cast<char>('a' + bytes.size() % 26);
  uint64_t crc = rdb::Crc64(0, bytes);
  for (int i = 0; i < 8; ++i, crc >>= 8) bytes += static_cast<char>(crc);
  return bytes;
}

struct World {
  // Takes bytes in pieces, and waits for the thread where it has to.
  State TakeAll(const std::string& bytes, size_t piece) {
    for (size_t at = 0; at < bytes.size();) {
      const State state = transfer.state();
      if (state != State::kReceiving) return state;
      at += transfer.Take(std::string_view(bytes).substr(at, piece));
    }
    while (transfer.state() == State::kWriting) {
    }
    return transfer.state();
  }

  MemoryDisk disk;
  Transfer transfer{disk, "d", "mark", true, [] {}};
};

const std::string kMark(40, 'e');

}  // namespace

TEST_CASE("a file of a known length, and one with a mark at its end, arrive in pieces of any size") {
  for (const size_t size : {20U, 1000U, 100'000U}) {
    for (const size_t piece : {1U, 7U, 39U, 41U, 65536U}) {
      CAPTURE(size, piece);
      const std::string file = File(size);
      World known;
      CHECK(known.TakeAll("\n\r\n$" + std::to_string(file.size()) + "\r\n" + file, piece) == State::kDone);
      CHECK(known.disk.files().at(known.transfer.path()) == file);
      CHECK(known.transfer.total_bytes() == static_cast<int64_t>(file.size()));
      World marked;
      CHECK(marked.TakeAll("$EOF:" + kMark + "\r\n" + file + kMark, piece) == State::kDone);
      CHECK(marked.disk.files().at(marked.transfer.path()) == file);
      CHECK(marked.transfer.total_bytes() == -1);
    }
  }
}

TEST_CASE("what follows a file of a known length is not taken") {
  const std::string file = File(100);
  World world;
  const std::string header = "$" + std::to_string(file.size()) + "\r\n";
  CHECK(world.transfer.Take(header + file + "*1\r\n") == header.size() + file.size());
}

TEST_CASE("a file with a wrong checksum, and a disk that fails, are told, and nothing is left") {
  std::string file = File(100);
  file[50] ^= 1;
  World world;
  CHECK(world.TakeAll("$" + std::to_string(file.size()) + "\r\n" + file, 1000) == State::kFailed);
  CHECK(world.transfer.problem() == "its checksum is wrong");
  CHECK(world.disk.files().empty());
  World full;
  full.disk.FailFrom(2, 28);
  CHECK(full.TakeAll("$108\r\n" + File(108), 1000) == State::kFailed);
  CHECK(full.disk.files().empty());
}

TEST_CASE("what is no header is refused") {
  for (const std::string& line :
       {std::string("-ERR no\n"), std::string("$\n"), std::string("$0\n"), std::string("$-5\n"),
        std::string("$EOF:x\n"), std::string("$1x\n"), std::string(100, '$'), std::string("+OK\n")}) {
    World world;
    CHECK(world.TakeAll(line, 1000) == State::kFailed);
  }
}

TEST_CASE("a transfer that ends early, and one that is done, leave no file behind") {
  World world;
  const std::string file = File(100);
  {
    Transfer half(world.disk, "d", "mark", true, [] {});
    half.Take("$100\r\n" + file.substr(0, 50));
  }
  CHECK(world.disk.files().empty());
  {
    Transfer whole(world.disk, "d", "mark", true, [] {});
    whole.Take("$100\r\n" + file);
    while (whole.state() == State::kWriting) {
    }
    CHECK(world.disk.files().size() == 1);
  }
  CHECK(world.disk.files().empty());
}

TEST_CASE("what comes in the place of a header is told, as far as it is a line") {
  World error;
  CHECK(error.TakeAll("\n-LOADING \x01 now\r\n", 1000) == State::kFailed);
  CHECK(error.transfer.problem().starts_with("the master sends no snapshot, but -LOADING "));
  CHECK(error.transfer.problem().ends_with(" now"));
  CHECK(error.transfer.problem().find('\x01') == std::string::npos);
  World endless;
  CHECK(endless.transfer.Take(std::string(Transfer::kMostHeaderBytes, '$')) == Transfer::kMostHeaderBytes);
  CHECK(endless.transfer.state() == State::kReceiving);
  CHECK(endless.transfer.Take("$") == 1);
  CHECK(endless.transfer.state() == State::kFailed);
  CHECK(endless.transfer.problem() == "the master sends no snapshot");
  for (const size_t size : {Transfer::kMarkBytes - 1, Transfer::kMarkBytes + 1}) {
    World world;
    CHECK(world.TakeAll("$EOF:" + std::string(size, 'e') + "\r\n", 1000) == State::kFailed);
  }
}

TEST_CASE("the received bytes are those of the file, without a part that may be the mark") {
  const std::string file = File(200);
  World known;
  known.transfer.Take("$200\r\n" + file.substr(0, 77));
  CHECK(known.transfer.received_bytes() == 77);
  CHECK(known.transfer.total_bytes() == 200);
  known.transfer.Take(file.substr(77));
  CHECK(known.transfer.received_bytes() == 200);
  World marked;
  marked.transfer.Take("$EOF:" + kMark + "\r\n" + file.substr(0, 40));
  CHECK(marked.transfer.received_bytes() == 0);
  marked.transfer.Take(file.substr(40, 60));
  CHECK(marked.transfer.received_bytes() == 60);
  marked.transfer.Take(file.substr(100) + kMark);
  CHECK(marked.transfer.received_bytes() == 200);
  while (marked.transfer.state() == State::kWriting) {
  }
  CHECK(marked.disk.files().at(marked.transfer.path()) == file);
}

}  // namespace mayfly::testing
