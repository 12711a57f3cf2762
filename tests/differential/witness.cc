#include "differential/witness.h"

#include <algorithm>

#include "differential/words.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kWholeCount = "1000000";

// One call that shows whatever an iteration with these options shows; the cursor is at `cursor_at`. Empty where an
// option has no value.
Words WholeScan(const Words& scan, std::string_view name, size_t cursor_at = 1) {
  Words whole{std::string(name)};
  if (cursor_at == 2) whole.push_back(scan[1]);
  for (const std::string_view word : {std::string_view("0"), std::string_view("COUNT"), kWholeCount})
    whole.emplace_back(word);
  for (size_t i = cursor_at + 1; i < scan.size(); i += 2) {
    if (i + 1 == scan.size()) return {};
    if (UpperCase(scan[i]) == "COUNT") continue;
    whole.push_back(scan[i]);
    whole.push_back(scan[i + 1]);
  }
  return whole;
}

// Whether it compares the names of a sorted set's members.
bool IsByName(const Words& drawn) {
  const std::string name = UpperCase(drawn[0]);
  if (name == "ZLEXCOUNT" || name == "ZRANGEBYLEX" || name == "ZREVRANGEBYLEX" || name == "ZREMRANGEBYLEX")
    return true;
  if (name != "ZRANGE" && name != "ZRANGESTORE") return false;
  return std::any_of(drawn.begin(), drawn.end(),
                     [](const std::string& word) { return UpperCase(word) == "BYLEX"; });
}

// The name in lower case, as the table has it.
Words WordsFor(const Words& drawn) {
  constexpr size_t kWithStart = 3;
  const std::string name = UpperCase(drawn[0]);
  // Redis frees an expired key when somebody comes across it: after a look at all of them it counts those
  // that we count.
  if (name == "DBSIZE") return {"scan", "0", "COUNT", std::string(kWholeCount)};
  if ((name == "SPOP" || name == "SRANDMEMBER" || name == "SSCAN") && drawn.size() >= 2)
    return {"smembers", drawn[1]};
  if (name == "RANDOMKEY") return {"keys", "*"};
  if (name == "SCAN" && drawn.size() >= 2) return WholeScan(drawn, "scan");
  if (name == "HSCAN" && drawn.size() >= kWithStart) return WholeScan(drawn, "hscan", 2);
  if (name == "HRANDFIELD" && drawn.size() >= 2) return {"hgetall", drawn[1]};
  if (name == "ZSCAN" && drawn.size() >= kWithStart) return WholeScan(drawn, "zscan", 2);
  if (name == "ZRANDMEMBER" && drawn.size() >= 2) return {"zrange", drawn[1], "0", "-1", "WITHSCORES"};
  if (IsByName(drawn) && drawn.size() >= kWithStart)
    return {"object", "encoding", drawn[name == "ZRANGESTORE" ? 2 : 1]};
  if (name == "TTL" && drawn.size() == 2) return {"pttl", drawn[1]};
  if (name == "EXPIRETIME" && drawn.size() == 2) return {"pexpiretime", drawn[1]};
  if (name == "BITCOUNT" && drawn.size() == kWithStart) return {"bitcount", drawn[1], drawn[2], "-1"};
  return {};
}

}  // namespace

std::optional<Case> WitnessFor(const Case& drawn, const Coverage& coverage) {
  Words words = WordsFor(drawn.words);
  if (words.empty()) return std::nullopt;
  const RowSyntax* syntax = coverage.Find(words[0] == "object" ? "object|encoding" : words[0]);
  return Case{.words = std::move(words), .syntax = syntax};
}

std::optional<Case> AftermathOf(const Case& drawn, const Coverage& coverage) {
  if (drawn.words.size() < 2) return std::nullopt;
  const std::string name = UpperCase(drawn.words[0]);
  const bool by_name = IsByName(drawn.words) && drawn.words.size() > 2;
  if (name == "SPOP" || by_name)
    return Case{.words = {"del", drawn.words[1]}, .syntax = coverage.Find("del")};
  const bool makes_bytes = name == "PFADD" || name == "PFMERGE" || name == "PFCOUNT";
  if (makes_bytes) return Case{.words = {"get", drawn.words[1]}, .syntax = coverage.Find("get")};
  return std::nullopt;
}

}  // namespace mayfly::testing
