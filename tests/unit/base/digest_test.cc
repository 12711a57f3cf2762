#include "base/bits/digest.h"

#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

std::string Shown(std::string_view text) {
  const Digest digest = DigestOf(text);
  return std::string(digest.data(), digest.size());
}

}  // namespace

// The first two are from Redis 8.4's documentation and tests, the third is XXH3's for the empty text.
TEST_CASE("a digest is XXH3 in 16 hexadecimal digits with leading zeros") {
  CHECK(Shown("Hello world") == "b6acb9d84a38ff74");
  CHECK(
      Shown("v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2kwlj7626sd") ==
      "00006c38adf31777");
  CHECK(Shown("") == "2d06800538d394c2");
}

}  // namespace mayfly
