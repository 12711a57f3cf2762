// What only Mayfly knows of a key, from a file that somebody made.
#include "snapshot/key_terms.h"

#include <string>

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

}  // namespace mayfly
