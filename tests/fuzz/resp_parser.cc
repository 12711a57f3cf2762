// Random bytes, torn at random places, give the same requests and the same error as in one piece, and no byte
// outside the received ones is read. `fuzz_resp_parser --seeds=DIR` writes the unit tests' examples there as
// seeds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "../support/request_corpus.h"
#include "../support/request_feed.h"
#include "seed_files.h"

namespace {

using mayfly::Received;
using mayfly::RequestFeed;

// The first two bytes of a test case: options, and where to tear.
constexpr size_t kPrefix = 2;
constexpr uint8_t kUnauthenticated = 1;
constexpr uint8_t kRefuseBlocks = 2;
constexpr uint8_t kShortLines = 4;

void WriteSeeds(const std::string& folder) {
  int number = 0;
  for (const mayfly::RequestExample& example : mayfly::RequestCorpus()) {
    std::ofstream seed(folder + "/example-" + std::to_string(number++), std::ios::binary);
    seed.put(static_cast<char>(example.authenticated ? 0 : kUnauthenticated)).put('\x11');
    seed << example.bytes;
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kPrefix) return 0;
  const uint8_t options = data[0];
  uint32_t random = data[1] * 2654435761u + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + kPrefix, size - kPrefix);

  mayfly::resp::Limits limits;
  limits.authenticated = (options & kUnauthenticated) == 0;
  limits.big_bulk = 8;
  limits.max_bulk = mayfly::resp::Limits::kMaxBulkFloor;
  if ((options & kShortLines) != 0) limits.max_line = 16;
  const Received whole = mayfly::FeedWhole(bytes, limits);

  RequestFeed torn(limits,
                   (options & kRefuseBlocks) != 0 ? RequestFeed::Blocks::kRefuse : RequestFeed::Blocks::kUse);
  while (!bytes.empty()) {
    random = random * 1664525u + 1013904223u;
    const size_t piece = std::min<size_t>(bytes.size(), 1 + (random >> 24) % 23);
    torn.Receive(bytes.substr(0, piece));
    bytes.remove_prefix(piece);
  }
  if (torn.received() != whole) std::abort();
  return 0;
}
