// Requests with several members, one of whose allocations fails: if the reply is an error, nothing was done.
#include "commands/memory/failing_allocation.h"
#include "commands/memory/no_memory_world.h"
#include "support/output_text.h"

namespace mayfly::testing {
namespace {

const std::string kLongMember(100'000, 'x');
const std::string kPage(3000, 'p');

// Small and large values of each type.
const std::vector<Words> kBefore = {
    {"MSET", "k", "value", "bits", "abc"},
    {"SET", "timed", "value", "EX", "100"},
    {"SET", "block", kLongMember},
    {"RPUSH", "list", "a", "10", "c", "a", "text"},
    {"RPUSH", "nodes", kPage, "a", kPage, "b", kPage, "c", "b"},
    {"HSET", "hash", "field", "value", "n", "10", "f", "1.5", "third", "v"},
    {"HSET", "wide hash", "field", kLongMember, "n", "10"},
    {"HSETEX", "timed hash", "EX", "100", "FIELDS", "2", "a", "1", "b", "2"},
    {"SADD", "ints", "1", "2", "70000"},
    {"SADD", "set", "a", "b", "1"},
    {"SADD", "large", "a", "b", "c", "d", "e", "f", "g", "1", kLongMember},
    {"SADDEX", "timed set", "100", "a", "b"},
    {"SADD", "timed set", "lasting"},
    {"ZADD", "zset", "1", "a", "2", "b", "3.5", "c"},
    {"ZADD", "large zset", "1", "a", "2", "b", "3", kLongMember},
    {"ZADD", "timed zset", "1", "a", "1", "b"},
    {"EXPIREMEMBER", "timed zset", "a", "100"},
    {"GEOADD", "geo", "13.361389", "38.115556", "p", "15.087269", "37.502669", "q"},
    {"GEOADD", "large geo", "13", "38", "p", "15", "37", kLongMember},
    {"XADD", "stream", "1-1", "f", "v"},
    {"PFADD", "hll", "a", "b"},
};

}  // namespace

// Of a value that is there. A new one is made beside and put in its place when it is whole.
TEST_CASE("a request with many members that finds no memory changes nothing, or does not say so") {
  const std::string a(2000, 'a');  // members as long as these need memory each
  const std::string b(3000, 'b');
  const std::string c(4000, 'c');
  const Words request = GENERATE_COPY(
      Words{"ZADD", "large zset", "5", "a", "6", a, "7", b, "0", c, "1", "b"},
      Words{"ZADD", "zset", "5", "a", "6", a, "7", b}, Words{"ZADD", "timed zset", "5", "a", "6", a, "7", b},
      Words{"GEOADD", "geo", "14", "38", a, "15", "39", "p", "16", "40", b},
      Words{"GEOADD", "large geo", "14", "38", a, "15", "39", "p", "16", "40", b},
      Words{"HSET", "wide hash", "n", a, a, b, b, c}, Words{"HSET", "hash", "n", a, a, b, b, c},
      Words{"HMSET", "timed hash", "a", a, "b", b, a, c},
      Words{"HSETEX", "wide hash", "EX", "9", "FIELDS", "3", "n", a, a, b, b, c},
      Words{"SADD", "large", a, b, c, "a"}, Words{"SADD", "ints", "5", "6", a, b},
      Words{"SADDEX", "large", "9", a, b, "a", c}, Words{"SADDEX", "timed set", "9", a, b, "lasting", c},
      Words{"RPUSH", "nodes", a, b, c, a, b, c, a, b, c}, Words{"LPUSH", "list", a, b, c, a, b, c, a, b, c},
      Words{"XADD", "stream", "3-1", a, b, c, a}, Words{"PFADD", "hll", a, b, c},
      Words{"MSET", "k", a, "block", b, "new", c, "timed", a},
      Words{"MSETEX", "3", "k", a, "block", b, "new", c, "EX", "9"},
      Words{"BITFIELD", "bits", "SET", "u8", "9000", "1", "SET", "u8", "90000", "1"},
      Words{"SUNIONSTORE", "large", "set", "ints"}, Words{"ZUNIONSTORE", "large zset", "2", "zset", "set"});
  INFO(request[0] << " " << request[1]);
  World calm(kBefore);
  const std::string old = calm.Digest();
  calm.Run(calm.client, request);
  const std::string done = calm.Digest();
  REQUIRE(done != old);
  for (size_t nth = 1;; ++nth) {
    World world(kBefore);
    world.Run(world.client, request, nth);
    if (!AllocationFailed()) break;
    INFO("allocation " << nth);
    CHECK(world.Valid());
    if (world.client.Has(Mode::kDropped) || world.no_room) continue;
    const bool refused = OutputText(world.client.output) == kOom;
    CHECK(world.Digest() == (refused ? old : done));
  }
}

}  // namespace mayfly::testing
