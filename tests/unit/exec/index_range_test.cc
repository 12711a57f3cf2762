#include "exec/arguments/index_range.h"

#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

std::string Shown(const std::optional<IndexRange>& range) {
  if (!range) return "nothing";
  return std::to_string(range->first) + "-" + std::to_string(range->last);
}

}  // namespace

TEST_CASE("indices count from both ends and are clipped") {
  CHECK(Shown(ClipRange(0, -1, 5)) == "0-4");
  CHECK(Shown(ClipRange(1, 3, 5)) == "1-3");
  CHECK(Shown(ClipRange(-2, -1, 5)) == "3-4");
  CHECK(Shown(ClipRange(-100, 100, 5)) == "0-4");
  CHECK(Shown(ClipRange(4, 4, 5)) == "4-4");
  CHECK(Shown(ClipRange(INT64_MIN, INT64_MAX, 5)) == "0-4");
  CHECK(ClipRange(1, 3, 5)->size() == 3);
}

TEST_CASE("a range after the end or in the wrong order is empty") {
  CHECK(Shown(ClipRange(5, 9, 5)) == "nothing");
  CHECK(Shown(ClipRange(3, 2, 5)) == "nothing");
  CHECK(Shown(ClipRange(0, -1, 0)) == "nothing");
  CHECK(Shown(ClipRange(INT64_MAX, INT64_MIN, 5)) == "nothing");
}

TEST_CASE("two indices before the beginning mean the first element, unless their order is checked") {
  CHECK(Shown(ClipRange(-8, -9, 5)) == "0-0");
  CHECK(Shown(ClipOrderedRange(-8, -9, 5)) == "nothing");
  CHECK(Shown(ClipOrderedRange(-9, -8, 5)) == "0-0");
  CHECK(Shown(ClipOrderedRange(0, -9, 5)) == "0-0");
}

}  // namespace mayfly
