// What only Mayfly knows of a key, from a file that somebody made.
#include "snapshot/key_terms.h"

#include <initializer_list>
#include <string>

#include "cache/entry/entry_extra.h"
#include "snapshot/format/rdb_out.h"
#include "support/catch.h"

namespace mayfly {
namespace {

std::string RecordWithTag(const std::string& tag, rdb::Compression compression) {
  constexpr uint8_t kTags = 8;
  std::string record;
  rdb::Out out(record, compression);
  out.Byte(kTags);
  out.Length(1);
  out.String(tag);
  return record;
}

}  // namespace

TEST_CASE("a tag is read as it stands, and never from a compressed text, which could be of any size") {
  const std::string tag(200, 't');
  KeyTerms terms;
  REQUIRE(ReadKeyTerms(RecordWithTag(tag, rdb::Compression::kNone), terms));
  CHECK(terms.tags == std::vector<std::string>{tag});
  CHECK_FALSE(ReadKeyTerms(RecordWithTag(tag, rdb::Compression::kLzf), terms));
}

TEST_CASE("a record is read with all its parts, and refused if a part is missing, empty or too large") {
  enum Bit : uint8_t { kSlide = 2, kStale = 4, kTags = 8, kUnknown = 64 };
  // A byte of bits, then numbers, then tags.
  const auto record = [](unsigned bits, std::initializer_list<uint64_t> numbers, size_t tags = 0) {
    std::string bytes;
    rdb::Out out(bytes);
    out.Byte(static_cast<uint8_t>(bits));
    for (const uint64_t number : numbers) out.Length(number);
    for (size_t i = 0; i < tags; ++i) out.String("t" + std::to_string(i));
    return bytes;
  };
  const auto good = [](const std::string& bytes) {
    KeyTerms terms;
    const bool read = ReadKeyTerms(bytes, terms);
    // No shorter record is good, nor a longer one.
    for (size_t size = 0; read && size < bytes.size(); ++size)
      CHECK_FALSE(ReadKeyTerms(bytes.substr(0, size), terms));
    if (read) CHECK_FALSE(ReadKeyTerms(bytes + "x", terms));
    return read;
  };
  CHECK(good(record(0, {})));
  CHECK(good(record(1, {})));
  CHECK(good(record(kSlide, {1, 0})));
  CHECK(good(record(kSlide | kStale | kTags, {uint64_t{1} << 40, uint64_t{1} << 41, 7, 2}, 2)));
  CHECK_FALSE(good(record(kSlide, {0, 0})));
  CHECK_FALSE(good(record(kSlide, {1, uint64_t{1} << 63})));
  CHECK_FALSE(good(record(kStale, {0})));
  CHECK_FALSE(good(record(kTags, {0})));
  CHECK(good(record(kTags, {EntryExtra::kMostTags}, EntryExtra::kMostTags)));
  CHECK_FALSE(good(record(kTags, {EntryExtra::kMostTags + 1}, EntryExtra::kMostTags + 1)));
  CHECK_FALSE(good(record(kUnknown, {})));
  KeyTerms terms;
  REQUIRE(ReadKeyTerms(record(1 | kSlide | kStale | kTags | 16 | 32, {5, 9, 7, 2}, 2), terms));
  CHECK(terms == KeyTerms{.wall = true,
                          .wall_members = true,
                          .expired = true,
                          .slide_ms = 5,
                          .slide_until_unix_ms = 9,
                          .stale_ms = 7,
                          .tags = {"t0", "t1"}});
}

}  // namespace mayfly
