#include "base/bits/sha1.h"

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("Sha1Of gives the hashes of the standard's examples") {
  CHECK(HexOf(Sha1Of("")) == "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  CHECK(HexOf(Sha1Of("abc")) == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

}  // namespace
}  // namespace mayfly
