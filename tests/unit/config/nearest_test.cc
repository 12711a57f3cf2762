#include "config/nearest.h"

#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {

TEST_CASE("letters that are wrong, missing, too many or exchanged are near") {
  for (const char* text : {"maxmemroy", "maxmemor", "maxmemoryy", "MaxMemori", "maxmemory"})
    CHECK(AreNear(text, "maxmemory"));
  for (const char* text : {"", "m", "max", "memory", "maxclients", "maxmemory-policy"})
    CHECK_FALSE(AreNear(text, "maxmemory"));
  CHECK_FALSE(AreNear(std::string(100, 'x'), std::string(100, 'x')));
}

TEST_CASE("an unknown option is answered with the nearest one") {
  TestFiles files;
  files.Put("a.conf", "port 1\nmaxmemory-polcy allkeys-lru\n");
  CHECK(Loaded(files, {"a.conf"}).error ==
        "a.conf:2: unknown option 'maxmemory-polcy', did you mean 'maxmemory-policy'?");
  CHECK(Loaded(files, {"--maxmemroy", "1gb"}).error ==
        "unknown flag '--maxmemroy', did you mean '--maxmemory'?");
  CHECK(Loaded(files, {"--maxmemroy=1gb"}).error ==
        "unknown flag '--maxmemroy', did you mean '--maxmemory'?");
  CHECK(Loaded(files, {"--slave-priorty", "1"}).error ==
        "unknown flag '--slave-priorty', did you mean '--slave-priority'?");
}

TEST_CASE("a part of an option's name is answered with that option") {
  TestFiles files;
  CHECK(Loaded(files, {"--maxmem", "1gb"}).error == "unknown flag '--maxmem', did you mean '--maxmemory'?");
  CHECK(Loaded(files, {"--Policy", "allkeys-lru"}).error ==
        "unknown flag '--Policy', did you mean '--maxmemory-policy'?");
  CHECK(Loaded(files, {"--ma", "1gb"}).error == "unknown flag '--ma'");
  CHECK(Loaded(files, {"--emory", "1gb"}).error == "unknown flag '--emory'");
}

}  // namespace mayfly::config
