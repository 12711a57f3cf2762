#include "snapshot/format/ziplist.h"

#include "support/catch.h"
#include "unit/snapshot/format/hex.h"
#include "unit/snapshot/format/packed_text.h"

namespace mayfly::rdb {
namespace {

// Each form of an item. A redis-server 7.0.15 loaded it: RESTORE of a payload of type 14 with one ziplist, LRANGE 0 -1.
const std::string kZiplist = FromHex(
    "4d000000 43000000 0d00"
    "00 05 68656c6c6f"             // hello
    "07 f1 02 fd 02 fe80 03 fe7f"  // 0, 12, -128, 127
    "03 c00080 04 c0ff7f"          // -32768, 32767
    "04 f0000080 05 f0ffff7f"      // -8388608, 8388607
    "05 d000000080"                // -2147483648
    "06 e00000000000000080"        // the least integer
    "0a 4003 616263"               // abc, with a length of 14 bits
    "06 8000000003 646566 ff");    // def, with a length of 32 bits

const PackedWords kZiplistWords = {"hello",
                                   "0",
                                   "12",
                                   "-128",
                                   "127",
                                   "-32768",
                                   "32767",
                                   "-8388608",
                                   "8388607",
                                   "-2147483648",
                                   "-9223372036854775808",
                                   "abc",
                                   "def"};

}  // namespace

TEST_CASE("a ziplist has texts and integers in all forms") {
  CHECK(WordsOf<ZiplistReader>(kZiplist) == kZiplistWords);
  CHECK(WordsOf<ZiplistReader>(FromHex("0b000000 0a000000 0000 ff")) == PackedWords{});
}

TEST_CASE("the size of the item before may take five bytes, and must be right") {
  const std::string long_text(300, 'x');
  const std::string ziplist = FromHex("41010000 39010000 0200 00 412c") + long_text;
  CHECK(WordsOf<ZiplistReader>(ziplist + FromHex("fe2f010000 0161 ff")) == PackedWords{long_text, "a"});
  CHECK(!WordsOf<ZiplistReader>(ziplist + FromHex("fe2e010000 0161 ff")));
  CHECK(!WordsOf<ZiplistReader>(ziplist + FromHex("ff2f010000 0161 ff")));
}

TEST_CASE("a ziplist with another size, last item or count than it says is bad") {
  const std::string good = FromHex("10000000 0d000000 0200 00 0161 03 f1 ff");
  CHECK(WordsOf<ZiplistReader>(good) == PackedWords{"a", "0"});
  for (const size_t at : {0, 3, 4, 7, 8, 9, 10, 13, 15}) {
    CAPTURE(at);
    std::string bad = good;
    ++bad[at];
    CHECK(!WordsOf<ZiplistReader>(bad));
  }
  CHECK(!WordsOf<ZiplistReader>(FromHex("0b000000 0b000000 0000 ff")));
}

TEST_CASE("a ziplist of 65,535 items or more does not say how many they are") {
  std::string ziplist = FromHex("10000000 0d000000 ffff 00 0161 03 f1 ff");
  CHECK(WordsOf<ZiplistReader>(ziplist) == PackedWords{"a", "0"});
}

// What follows a ziplist in memory would complete the item: a sanitizer sees no read beyond the bytes there.
TEST_CASE("an item that goes on beyond the end mark is bad, whatever follows the ziplist") {
  const auto first_after = [](const std::string& head, const std::string& item, size_t kept,
                              size_t items_before) {
    std::string bytes = head + item;
    const size_t end = head.size() + kept;
    bytes[end] = '\xff';  // its end mark
    for (size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>((end + 1) >> 8 * i);
    bytes += std::string(1000, 'x');
    ZiplistReader reader(std::string_view(bytes).substr(0, end + 1));
    PackedItem read;
    for (size_t i = 0; i < items_before; ++i) REQUIRE(reader.Next(read) == ItemStatus::kItem);
    return reader.Next(read);
  };
  const std::string head = FromHex("00000000 0a000000 ffff");
  for (const char* const hex : {"00 05 68656c6c6f", "00 fe80", "00 c00080", "00 f0000080", "00 d000000080",
                                "00 e00000000000000080", "00 4003 616263", "00 8000000003 646566"}) {
    const std::string item = FromHex(hex);
    for (size_t kept = 1; kept < item.size(); ++kept) {
      CAPTURE(hex, kept);
      CHECK(first_after(head, item, kept, 0) == ItemStatus::kBad);
    }
  }
  // The long size of the item before.
  const std::string with_text = head + FromHex("00 412c") + std::string(300, 'x');
  const std::string item = FromHex("fe2f010000 0161");
  for (const size_t kept : {1, 2, 3, 4, 5, 6}) {
    CAPTURE(kept);
    CHECK(first_after(with_text, item, kept, 1) == ItemStatus::kBad);
  }
  // The end mark is a byte of that size.
  CHECK(first_after(head + FromHex("00 41fc") + std::string(508, 'x'), FromHex("feff010000 0161"), 1, 1) ==
        ItemStatus::kBad);
}

TEST_CASE("a damaged ziplist is bad or has other items, and is never read beyond its end") {
  ReadDamaged<ZiplistReader>(kZiplist);
}

}  // namespace mayfly::rdb
