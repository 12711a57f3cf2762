#include "net/http/host_rule.h"

#include "support/catch.h"

namespace mayfly::net {

TEST_CASE("addresses, localhost and names that are allowed are this machine's own, with any port") {
  for (const char* own :
       {"", "127.0.0.1", "127.0.0.1:9121", "10.1.2.3:80", "[::1]", "[::1]:9121", "[fe80::1]:1", "localhost",
        "LOCALHOST:9121", "localhost:9121 ", "cache.example", "Cache.Example:443", "b"})
    CHECK(IsOwnHost(own, "cache.example  b"));
  for (const char* other : {"evil.example", "evil.example:9121", "localhost.evil.example", "evil.localhost",
                            "127.0.0.1.evil.example", "127.0.0.1.", "[evil.example]", "[::1", "::1x", ":",
                            "cache", "example", "cache.example b", " ", "127.0.0.1:9121:9121"}) {
    INFO(other);
    CHECK(IsOwnHost(other, "cache.example b") == (std::string_view(other) == " "));
  }
  CHECK_FALSE(IsOwnHost("cache.example", ""));
}

}  // namespace mayfly::net
