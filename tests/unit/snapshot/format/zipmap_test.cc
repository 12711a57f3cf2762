#include "snapshot/format/zipmap.h"

#include "support/catch.h"
#include "unit/snapshot/format/hex.h"
#include "unit/snapshot/format/packed_text.h"

namespace mayfly::rdb {
namespace {

// {f: v, long: 300 times x, gap: w}, the last value with 2 unused bytes. A redis-server 7.0.15 loaded it: RESTORE of a payload
// of type 9, HGETALL.
const std::string kZipmap = FromHex("03 0166 01 00 76 046c6f6e67 fe2c010000 00") + std::string(300, 'x') +
                            FromHex("03676170 01 02 77 0000 ff");

}  // namespace

TEST_CASE("a zipmap has fields and values in turn") {
  CHECK(WordsOf<ZipmapReader>(kZipmap) == PackedWords{"f", "v", "long", std::string(300, 'x'), "gap", "w"});
  CHECK(WordsOf<ZipmapReader>(FromHex("00 ff")) == PackedWords{});
}

TEST_CASE("a zipmap of 254 fields or more does not say how many they are") {
  std::string zipmap = FromHex("fe");
  for (int i = 0; i < 300; ++i) zipmap += FromHex("0166 01 00 76");
  zipmap += FromHex("ff");
  CHECK(WordsOf<ZipmapReader>(zipmap)->size() == 600);
  zipmap[0] = 17;
  CHECK(!WordsOf<ZipmapReader>(zipmap));
}

TEST_CASE("a zipmap that ends too soon is bad") {
  for (const char* const bytes :
       {"", "ff", "01 ff", "01 0166 ff", "01 0166 01 ff", "01 0166 01 00 ff", "01 0166 0100 76", "01 fe ff",
        "01 fe05000000 ff", "01 0166 01 01 76 ff", "01 0166 01 00 76 ff ff", "02 0166 01 00 76 ff",
        "01 feffffffff ff", "01 0166 feffffffff 00 76 ff"})
    CHECK(!WordsOf<ZipmapReader>(FromHex(bytes)));
}

// What follows a zipmap in memory would complete the text: a sanitizer sees no read beyond the bytes there.
TEST_CASE("a text that goes on beyond the end mark is bad, whatever follows the zipmap") {
  for (const char* const hex :
       {"0166 01 00 76", "0166 05 02 68656c6c6f 0000", "fe01000000 66 fe05000000 00 68656c6c6f"}) {
    const std::string pair = FromHex(hex);
    for (size_t kept = 1; kept < pair.size(); ++kept) {
      CAPTURE(hex, kept);
      std::string bytes = FromHex("01") + pair + std::string(300, '\xff');
      bytes[1 + kept] = '\xff';  // its end mark
      ZipmapReader reader(std::string_view(bytes).substr(0, 2 + kept));
      PackedItem item;
      ItemStatus status = reader.Next(item);
      if (status == ItemStatus::kItem) status = reader.Next(item);
      CHECK(status == ItemStatus::kBad);
    }
  }
}

TEST_CASE("a damaged zipmap is bad or has other texts, and is never read beyond its end") {
  ReadDamaged<ZipmapReader>(FromHex("02 0166 01 00 76 03676170 01 02 77 0000 ff"));
  ReadDamaged<ZipmapReader>(kZipmap);
}

}  // namespace mayfly::rdb
