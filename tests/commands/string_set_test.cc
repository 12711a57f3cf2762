#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "what SET stores, GET answers byte for byte") {
  CHECK(Run({"SET", "k", "hello"}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("hello"));
  const std::string every_byte = [] {
    std::string bytes;
    for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
    return bytes;
  }();
  CHECK(Run({"SET", every_byte, every_byte}) == Ok());
  CHECK(Run({"GET", every_byte}) == Bulk(every_byte));
}

}  // namespace mayfly::testing
