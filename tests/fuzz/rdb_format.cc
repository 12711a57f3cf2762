// Random bytes as primitives of the RDB format, read from one window and from many short ones, and as packed collections. Both
// ways of reading give the same, what was read can be written and read again, and no byte outside the given ones is read.
// `fuzz_rdb_format --seeds=DIR` writes examples of everything there as seeds.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "../support/exact_block.h"
#include "seed_files.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/intset.h"
#include "snapshot/format/listpack.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/format/ziplist.h"
#include "snapshot/format/zipmap.h"

namespace {

using namespace mayfly::rdb;  // NOLINT(google-build-using-namespace)
using mayfly::ExactBlock;

// The first byte of a test case.
enum Subject : uint8_t { kPrimitives, kListpack, kZiplist, kZipmap, kIntset, kSubjects };
// Of kPrimitives: the second byte is the number of steps, then one byte a step says which primitive is read.
enum Primitive : uint8_t {
  kLength,
  kString,
  kSkipped,
  kHead,
  kByte,
  kDouble,
  kDoubleText,
  kMillis,
  kSeconds,
  kId,
  kFile
};
constexpr uint8_t kPrimitivesEnd = kFile + 1;
constexpr size_t kStepsMax = 64;

void Require(bool holds) {
  if (!holds) std::abort();
}

// A text must be the same after it was written and read, compressed and not.
void Rewrite(std::string_view text) {
  for (const Compression compression : {Compression::kNone, Compression::kLzf}) {
    std::string bytes;
    Out(bytes, compression).String(text);
    const ExactBlock block(bytes);
    In in(block.view());
    std::string_view again;
    Require(in.String(again) == ReadStatus::kOk && again == text && in.rest().empty());
  }
}

ReadStatus ReadNumber(In& in, uint8_t primitive, std::string& said) {
  uint64_t number = 0;
  uint64_t second = 0;
  int64_t time = 0;
  double real = 0;
  uint8_t byte = 0;
  ReadStatus status = ReadStatus::kBad;
  switch (primitive) {
    case kLength:
      status = in.Length(number);
      break;
    case kByte:
      status = in.Byte(byte);
      break;
    case kDouble:
      status = in.Double(real);
      break;
    case kDoubleText:
      status = in.DoubleText(real);
      break;
    case kMillis:
      status = in.Millis(time);
      break;
    case kSeconds:
      status = in.Seconds(time);
      break;
    default:
      status = in.StreamId(number, second);
      break;
  }
  if (status != ReadStatus::kOk) return status;
  for (const uint64_t part :
       {number, second, static_cast<uint64_t>(time), std::bit_cast<uint64_t>(real), uint64_t{byte}})
    said += std::to_string(part) + ' ';
  return status;
}

// Reads one primitive and appends what it says.
ReadStatus ReadOne(In& in, uint8_t primitive, std::string& said) {
  std::string_view text;
  StringHead head;
  unsigned version = 0;
  bool valkey = false;
  ReadStatus status = ReadStatus::kBad;
  switch (primitive) {
    case kString:
      status = in.String(text);
      if (status == ReadStatus::kOk) said += text;
      return status;
    case kSkipped:
      return in.SkipString();
    case kHead:
      status = in.HeadOfString(head);
      if (status == ReadStatus::kOk) said += std::to_string(head.size) + '/' + std::to_string(head.stored);
      return status;
    case kFile:
      status = in.FileHead(version, valkey);
      if (status == ReadStatus::kOk) said += std::to_string(version) + (valkey ? 'v' : 'r');
      return status;
    default:
      return ReadNumber(in, primitive, said);
  }
}

// Reads the steps. `torn`: from windows that are no longer than the reader asks for.
std::string ReadSteps(std::string_view steps, std::string_view bytes, bool torn) {
  std::string said;
  size_t window = torn ? 0 : bytes.size();
  In in;
  for (const char step : steps) {
    const auto primitive = static_cast<uint8_t>(static_cast<uint8_t>(step) % kPrimitivesEnd);
    for (;;) {
      const ExactBlock block(bytes.substr(0, window));
      in.SetWindow(block.view());
      const size_t before = said.size();
      const ReadStatus status = ReadOne(in, primitive, said);
      if (status == ReadStatus::kOk) {
        if (primitive == kString) Rewrite(std::string_view(said).substr(before));
        bytes.remove_prefix(in.at());
        window -= in.at();
        break;
      }
      Require(in.at() == 0);
      if (status == ReadStatus::kBad) return said + "bad";
      Require(in.bytes_needed() > window);
      if (in.bytes_needed() > bytes.size()) return said + "more";
      window = in.bytes_needed();
    }
    said += '\n';
  }
  return said;
}

void TryPrimitives(std::string_view bytes) {
  if (bytes.empty()) return;
  const size_t count = std::min<size_t>(static_cast<uint8_t>(bytes[0]) % kStepsMax, bytes.size() - 1);
  const std::string_view steps = bytes.substr(1, count);
  const std::string_view input = bytes.substr(1 + count);
  Require(ReadSteps(steps, input, true) == ReadSteps(steps, input, false));
  CheckDumpFooter(input);
}

template <class Reader>
std::vector<std::string> Words(std::string_view bytes) {
  Reader reader(bytes);
  std::vector<std::string> words;
  for (PackedItem item; reader.Next(item) == ItemStatus::kItem;) {
    std::array<char, PackedItem::kRoom> room{};
    words.emplace_back(item.Text(room.data()));
  }
  return words;
}

template <class Reader>
void TryPacked(std::string_view bytes) {
  const ExactBlock block(bytes);
  const std::vector<std::string> words = Words<Reader>(block.view());
  if (!CountItems<Reader>(block.view())) return;
  ListpackWriter writer;
  for (const std::string& word : words) writer.Append(word);
  const ExactBlock again(writer.Finish());
  Require(CountItems<ListpackReader>(again.view()) == words.size());
  Require(Words<ListpackReader>(again.view()) == words);
}

void PutSeed(const std::string& folder, const std::string& name, Subject subject, std::string_view bytes) {
  std::ofstream(folder + '/' + name, std::ios::binary) << static_cast<char>(subject) << bytes;
}

void WriteSeeds(const std::string& folder) {
  std::string bytes = "\x0B";
  for (uint8_t primitive = 0; primitive < kPrimitivesEnd; ++primitive)
    bytes.push_back(static_cast<char>(primitive));
  Out out(bytes, Compression::kLzf);
  out.Length(20'000);
  out.String(std::string(50, 'a'));
  out.String("-300");
  out.Length(5);
  out.Byte(type::kHash);
  out.Double(1.5);
  out.DoubleText(0.1);
  out.Millis(1'700'000'000'000);
  out.Seconds(1'700'000'000);
  out.StreamId(1, 2);
  out.FileHead(10);
  PutSeed(folder, "primitives", kPrimitives, bytes);

  ListpackWriter writer;
  for (const char* const word :
       {"a", "1", "-1", "4096", "-40000", "5000000", "2147483648", "9223372036854775807", "x y"})
    writer.Append(word);
  writer.Append(std::string(70, 'y'));
  writer.Append(std::string(5000, 'z'));
  PutSeed(folder, "listpack", kListpack, writer.Finish());
  constexpr std::string_view kAZiplist("\x10\0\0\0\x0D\0\0\0\2\0\0\1a\3\xF1\xFF", 16);
  PutSeed(folder, "ziplist", kZiplist, kAZiplist);
  constexpr std::string_view kAZipmap("\1\1f\1\2v\0\0\xFF", 9);
  PutSeed(folder, "zipmap", kZipmap, kAZipmap);
  constexpr std::string_view kAnIntset("\2\0\0\0\2\0\0\0\1\0\2\0", 12);
  PutSeed(folder, "intset", kIntset, kAnIntset);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % kSubjects) {
    case kPrimitives:
      TryPrimitives(bytes);
      break;
    case kListpack:
      TryPacked<ListpackReader>(bytes);
      break;
    case kZiplist:
      TryPacked<ZiplistReader>(bytes);
      break;
    case kZipmap:
      TryPacked<ZipmapReader>(bytes);
      break;
    default:
      TryPacked<IntsetReader>(bytes);
      break;
  }
  return 0;
}
