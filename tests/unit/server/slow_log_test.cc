#include "server/figures/slow_log.h"

#include "support/catch.h"

namespace mayfly {
namespace {

std::vector<std::string> Shortened(const std::vector<std::string>& arguments) {
  const std::vector<std::string_view> views(arguments.begin(), arguments.end());
  return SlowLog::Shorten(views);
}

std::vector<uint64_t> IdsOf(const SlowLog& log) {
  std::vector<uint64_t> ids;
  for (const SlowCall& call : log.newest_first()) ids.push_back(call.id);
  return ids;
}

TEST_CASE("up to 32 arguments of up to 128 bytes are kept as they are") {
  const std::vector<std::string> arguments(SlowLog::kArgumentsMax,
                                           std::string(SlowLog::kArgumentBytesMax, 'x'));
  CHECK(Shortened(arguments) == arguments);
  CHECK(Shortened({}).empty());
}

TEST_CASE("of more arguments 31 are kept, and their number; of a longer one 128 bytes, and their number") {
  std::vector<std::string> arguments(33, "a");
  arguments[1] = std::string(129, 'b');
  std::vector<std::string> expected(31, "a");
  expected[1] = std::string(128, 'b') + "... (1 more bytes)";
  expected.emplace_back("... (2 more arguments)");
  CHECK(Shortened(arguments) == expected);
}

TEST_CASE("the newest entries stay, and an id is never used again") {
  SlowLog log;
  for (int i = 0; i < 5; ++i) log.Add({}, 3);
  CHECK(IdsOf(log) == std::vector<uint64_t>{4, 3, 2});
  log.Trim(1);
  CHECK(IdsOf(log) == std::vector<uint64_t>{4});
  log.Reset();
  log.Add({}, 3);
  CHECK(IdsOf(log) == std::vector<uint64_t>{5});
}

}  // namespace
}  // namespace mayfly
