#include "exec/info/info_text.h"

#include <limits>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("INFO's text has a line for each field, and an empty line between sections") {
  InfoText text;
  text.Section("Server");
  text.Field("version", "7.2.4");
  text.Field("name", std::string("mayfly"));
  text.Section("Empty");
  text.Section("Memory");
  text.Field("port", 6379);
  CHECK(text.Take() ==
        "# Server\r\nversion:7.2.4\r\nname:mayfly\r\n\r\n# Empty\r\n\r\n# Memory\r\nport:6379\r\n");
}

TEST_CASE("numbers are shown whole, decimals with as many digits as were asked for") {
  InfoText text;
  text.Field("least", std::numeric_limits<int64_t>::min());
  text.Field("most", std::numeric_limits<uint64_t>::max());
  text.Field("minus", -1);
  text.Fixed("ratio", 1.005, 2);
  text.Fixed("share", 99.999, 2, "%");
  text.Fixed("seconds", 12, 6);
  CHECK(text.Take() ==
        "least:-9223372036854775808\r\nmost:18446744073709551615\r\nminus:-1\r\n"
        "ratio:1.00\r\nshare:100.00%\r\nseconds:12.000000\r\n");
}

TEST_CASE("a number of bytes has a second field for people") {
  InfoText text;
  text.Bytes("used_memory", 1536);
  CHECK(text.Take() == "used_memory:1536\r\nused_memory_human:1.50K\r\n");
}

TEST_CASE("a group is one line") {
  InfoText text;
  const InfoMember calls[] = {{"calls", 2}, {"usec_per_call", InfoDecimal{1.5, 2}}};
  text.Group({"cmdstat_", "command", "config|get"}, calls);
  const InfoMember keys[] = {{"keys", uint64_t{7}}};
  text.Group({"db", "database", "0"}, keys);
  CHECK(text.Take() == "cmdstat_config|get:calls=2,usec_per_call=1.50\r\ndb0:keys=7\r\n");
}

}  // namespace
}  // namespace mayfly
