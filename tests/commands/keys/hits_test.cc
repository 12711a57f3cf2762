// keyspace_hits and keyspace_misses: each command counts what it counts in Redis, for a key that is there and
// for one that is not.
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

struct Counts {
  int64_t hits;
  int64_t misses;
  bool operator==(const Counts&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << counts.hits << " hits, " << counts.misses << " misses";
}

Counts CountsOf(const Reply& info) {
  const auto field = [&](const std::string& name) {
    return std::stoll(info.text.substr(info.text.find("\n" + name + ":") + name.size() + 2));
  };
  return {field("keyspace_hits"), field("keyspace_misses")};
}

class HitsTest : public CommandTest {
 public:
  Reply AskRedis(const Words& request) {
    return TakeReplies(oracle_.Ask(EncodeRequest(request), 1)[0]).at(0);
  }

 private:
  Oracle oracle_;
};

const Words kRequests[] = {
    {"GET", "k"},
    {"MGET", "k", "other", "k"},
    {"STRLEN", "k"},
    {"GETRANGE", "k", "0", "1"},
    {"GETDEL", "k"},
    {"GETEX", "k"},
    {"GETEX", "k", "EX", "100"},
    {"GETSET", "k", "5"},
    {"SET", "k", "5"},
    {"SET", "k", "5", "NX"},
    {"SET", "k", "5", "XX"},
    {"SET", "k", "5", "GET"},
    {"SET", "k", "5", "GET", "XX"},
    {"SETNX", "k", "5"},
    {"SETEX", "k", "100", "5"},
    {"MSET", "k", "5", "other", "6"},
    {"MSETNX", "k", "5", "other", "6"},
    {"APPEND", "k", "5"},
    {"SETRANGE", "k", "0", "5"},
    {"INCR", "k"},
    {"INCRBYFLOAT", "k", "1.5"},
    {"EXISTS", "k", "k", "other"},
    {"TOUCH", "k", "other"},
    {"TYPE", "k"},
    {"DEL", "k"},
    {"UNLINK", "k"},
    {"TTL", "k"},
    {"PTTL", "k"},
    {"EXPIRETIME", "k"},
    {"EXPIRE", "k", "100"},
    {"PERSIST", "k"},
    {"RENAME", "k", "other"},
    {"RENAMENX", "k", "other"},
    {"MOVE", "k", "1"},
    {"COPY", "k", "other"},
    {"COPY", "k", "other", "REPLACE"},
    {"OBJECT", "ENCODING", "k"},
    {"OBJECT", "IDLETIME", "k"},
    {"OBJECT", "REFCOUNT", "k"},
    {"MEMORY", "USAGE", "k"},
    {"SETBIT", "k", "1", "1"},
    {"GETBIT", "k", "1"},
    {"BITCOUNT", "k"},
    {"BITPOS", "k", "1"},
    {"BITOP", "AND", "other", "k", "k"},
    {"BITFIELD", "k", "GET", "u8", "0"},
    {"BITFIELD", "k", "SET", "u8", "0", "1"},
    {"BITFIELD_RO", "k", "GET", "u8", "0"},
    {"LCS", "k", "other"},
    {"SCAN", "0"},
    {"KEYS", "*"},
    {"RANDOMKEY"},
};

}  // namespace

TEST_CASE_METHOD(HitsTest, "each command counts the hits and misses that it counts in Redis") {
  const bool is_there = GENERATE(true, false);
  const bool other_is_there = GENERATE(true, false);
  for (const Words& request : kRequests) {
    const Words setup[] = {{"FLUSHALL"}, {"CONFIG", "RESETSTAT"}};
    for (const Words& before : setup) {
      AskRedis(before);
      Run(before);
    }
    for (const auto& [key, wanted] : {std::pair{"k", is_there}, {"other", other_is_there}}) {
      if (!wanted) continue;
      AskRedis({"SET", key, "7"});
      Run({"SET", key, "7"});
    }
    std::string shown;
    for (const std::string& word : request) shown += word + ' ';
    INFO(shown << (is_there ? "with" : "without") << " the key, " << (other_is_there ? "with" : "without")
               << " the other one");
    CHECK(Run(request).kind == AskRedis(request).kind);
    CHECK(CountsOf(Run({"INFO", "stats"})) == CountsOf(AskRedis({"INFO", "stats"})));
  }
}

}  // namespace mayfly::testing
