#include "base/memory/pointer48.h"

#include <utility>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a pointer of 6 bytes points to what it was given, wherever it lies itself") {
  struct Crowded {
    char before = 'b';
    Pointer48<int> pointer;
    char after = 'a';
  };
  static_assert(sizeof(Crowded) == 8);
  int number = 5;
  Crowded crowded;
  CHECK(crowded.pointer == nullptr);
  crowded.pointer = &number;
  CHECK(crowded.pointer.get() == &number);
  *crowded.pointer = 6;
  CHECK(number == 6);
  CHECK(crowded.before == 'b');
  CHECK(crowded.after == 'a');
  CHECK(std::exchange(crowded.pointer, nullptr).get() == &number);
  CHECK(crowded.pointer == nullptr);
}

}  // namespace mayfly
