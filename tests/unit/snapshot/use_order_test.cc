// The keys that a file has before their turn.
#include "snapshot/use_order.h"

#include <string>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("early keys take a bounded number of bytes: keys beyond it only lose their places") {
  EarlyKeys keys;
  const std::string name(size_t{1} << 20, 'k');
  for (uint64_t i = 0; i < 100; ++i) keys.Add(0, name, i, 0);
  CHECK(keys.bytes() <= EarlyKeys::kMostBytes);
  CHECK(keys.bytes() > EarlyKeys::kMostBytes / 2);
  CHECK(keys.AnyBefore(101));
}

}  // namespace mayfly
