#include "support/made_values.h"

namespace mayfly::testing {
namespace {

// A request with a member for each number: "%" is replaced.
Words Numbered(Words request, int count, const std::vector<std::string>& patterns) {
  for (int i = 0; i < count; ++i) {
    for (std::string word : patterns) {
      const size_t at = word.find('%');
      if (at != std::string::npos) word.replace(at, 1, std::to_string(i));
      request.push_back(word);
    }
  }
  return request;
}

std::vector<Made> Streams() {
  return {
      {"a stream",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "17", "g", ""},
        {"XADD", "k", "9-0", "f", "w"}}},
      {"a stream with deleted entries",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "9-0", "f", "x"},
        {"XDEL", "k", "5-2"}}},
      {"a stream whose first and last entries are deleted",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "9-0", "f", "x"},
        {"XDEL", "k", "5-1", "9-0"}}},
      {"a stream without entries", {{"XADD", "k", "5-1", "f", "v"}, {"XDEL", "k", "5-1"}}},
      {"a stream of many entries",
       {{"EVAL",
         "for i = 1, 300 do redis.call('XADD', KEYS[1], i .. '-' .. 1000 - i, 'f', i, 'g', 'text') end", "1",
         "k"}}},
      {"a trimmed stream",
       {{"EVAL", "for i = 1, 300 do redis.call('XADD', KEYS[1], i .. '-1', 'f', i) end", "1", "k"},
        {"XTRIM", "k", "MAXLEN", "250"}}},
      {"a stream with as many entries as additions, and a deleted ID",
       {{"XADD", "k", "1-0", "f", "v"},
        {"XADD", "k", "2-0", "f", "w"},
        {"XADD", "k", "3-0", "f", "x"},
        {"XDEL", "k", "1-0"},
        {"XSETID", "k", "3-0", "ENTRIESADDED", "2", "MAXDELETEDID", "1-0"}}},
      {"a stream that XSETID has taken far on",
       {{"XADD", "k", "5-1", "f", "v"}, {"XSETID", "k", "18446744073709551615-18446744073709551615"}}},
  };
}

std::vector<Made> StreamsWithGroups() {
  return {
      {"a stream with groups",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XGROUP", "CREATE", "k", "g", "0"},
        {"XGROUP", "CREATE", "k", "h", "$"},
        {"XREADGROUP", "GROUP", "g", "one", "COUNT", "1", "STREAMS", "k", ">"},
        {"XREADGROUP", "GROUP", "g", "two", "STREAMS", "k", ">"},
        {"XGROUP", "CREATECONSUMER", "k", "h", "three"}}},
      {"a stream with a group at each place",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "7-0", "f", "x"},
        {"XGROUP", "CREATE", "k", "at 0", "0"},
        {"XGROUP", "CREATE", "k", "before", "5-0"},
        {"XGROUP", "CREATE", "k", "first", "5-1"},
        {"XGROUP", "CREATE", "k", "middle", "5-2"},
        {"XGROUP", "CREATE", "k", "between", "6-0"},
        {"XGROUP", "CREATE", "k", "last", "7-0"},
        {"XGROUP", "CREATE", "k", "beyond", "9-0"},
        {"XGROUP", "CREATE", "k", "said", "5-2", "ENTRIESREAD", "2"},
        {"XGROUP", "CREATE", "k", "none said", "5-2", "ENTRIESREAD", "0"}}},
      {"a stream with one group, at its first entry",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "7-0", "f", "x"},
        {"XGROUP", "CREATE", "k", "g", "5-1"}}},
      {"a stream with one group, in its middle",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "7-0", "f", "x"},
        {"XGROUP", "CREATE", "k", "g", "5-2"}}},
      {"a stream with one group, beyond its last entry",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "7-0", "f", "x"},
        {"XGROUP", "CREATE", "k", "g", "9-0"}}},
      {"a stream with one group, of which the count was said",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "7-0", "f", "x"},
        {"XGROUP", "CREATE", "k", "g", "5-2", "ENTRIESREAD", "2"}}},
      {"a stream with a group, and without entries",
       {{"XGROUP", "CREATE", "k", "g", "0", "MKSTREAM"}, {"XGROUP", "CREATE", "k", "h", "5-5"}}},
      {"a stream with one group far on, and without entries",
       {{"XGROUP", "CREATE", "k", "g", "5-5", "MKSTREAM"}}},
      {"a stream whose pending entries were claimed, and are gone in part",
       {{"XADD", "k", "5-1", "f", "v"},
        {"XADD", "k", "5-2", "f", "w"},
        {"XADD", "k", "5-3", "f", "x"},
        {"XGROUP", "CREATE", "k", "g", "0"},
        {"XREADGROUP", "GROUP", "g", "one", "STREAMS", "k", ">"},
        {"XCLAIM", "k", "g", "two", "0", "5-2", "RETRYCOUNT", "7"},
        {"XREADGROUP", "GROUP", "g", "one", "STREAMS", "k", "0"},
        {"XACK", "k", "g", "5-3"},
        {"XDEL", "k", "5-1"}}},
  };
}

}  // namespace

std::string Long(char letter, size_t size) { return std::string(size, letter); }

std::vector<Made> Values() {
  std::vector<Made> values = {
      {"a text", {{"SET", "k", "text"}}},
      {"an empty text", {{"SET", "k", ""}}},
      {"a long text", {{"SET", "k", Long('x', 50'000)}}},
      {"a long text that cannot be compressed", {{"SET", "k", "0123456789abcdefghijklmnopqrstuvwxyz"}}},
      {"an integer of 8 bits", {{"SET", "k", "-100"}}},
      {"an integer of 16 bits", {{"SET", "k", "30000"}}},
      {"an integer of 32 bits", {{"SET", "k", "-2000000000"}}},
      {"an integer of 64 bits", {{"SET", "k", "9223372036854775807"}}},
      {"a text that was edited", {{"SET", "k", "12"}, {"APPEND", "k", "3"}}},
      {"a short list", {{"RPUSH", "k", "a", "", "1", "-70000", "9223372036854775807", Long('e')}}},
      {"a list of one element", {{"RPUSH", "k", ""}}},
      {"a list of many elements", {Numbered({"RPUSH", "k"}, 3000, {"%", "element%"})}},
      {"a list with large elements", {{"RPUSH", "k", "a", Long('b', 20'000), "c", Long('d', 70'000), "e"}}},
      {"a set of small integers", {{"SADD", "k", "1", "-2", "300"}}},
      {"a set of integers of 32 bits", {{"SADD", "k", "1", "70000"}}},
      {"a set of integers of 64 bits", {{"SADD", "k", "1", "-9223372036854775808"}}},
      {"a set of many integers", {Numbered({"SADD", "k"}, 1000, {"%"})}},
      {"a set of few texts", {{"SADD", "k", "a", "1", ""}}},
      {"a set with a long text", {{"SADD", "k", "a", "1", Long('m')}}},
      {"a set of many texts", {Numbered({"SADD", "k"}, 600, {"m%"})}},
      {"a small hash", {{"HSET", "k", "f", "v", "1", "-5", "", "", "g", "100000"}}},
      {"a hash with a long value", {{"HSET", "k", "f", Long('v'), "g", "1"}}},
      {"a hash of many fields", {Numbered({"HSET", "k"}, 1000, {"f%", "%"})}},
      {"a small sorted set",
       {{"ZADD", "k", "1", "a", "1", "b", "-2.5", "c", "inf", "d", "-inf", "7", "1e300", "f", "3", ""}}},
      {"a sorted set with fractions",
       {{"ZADD", "k", "0.1", "a", "3.3333333333333335", "b", "-1e-7", "c", "5e-324", "d"}}},
      {"a sorted set with a long member", {{"ZADD", "k", "0.1", Long('m'), "2", "b"}}},
      {"a sorted set of many members", {Numbered({"ZADD", "k"}, 1000, {"%", "m%"})}},
  };
  for (const std::vector<Made>& streams : {Streams(), StreamsWithGroups()})
    values.insert(values.end(), streams.begin(), streams.end());
  return values;
}

std::vector<Made> ValuesWithFieldDeadlines(int64_t now_ms) {
  const std::string soon = std::to_string(now_ms + 1'000'000);
  const std::string late = std::to_string(now_ms + 9'000'000'000);
  return {
      {"a small hash with a deadline",
       {{"HSET", "k", "f", "v", "g", "2", "h", ""}, {"HPEXPIREAT", "k", late, "FIELDS", "1", "g"}}},
      {"a small hash with several deadlines",
       {{"HSET", "k", "f", "v", "g", "2", "h", ""},
        {"HPEXPIREAT", "k", late, "FIELDS", "1", "g"},
        {"HPEXPIREAT", "k", soon, "FIELDS", "2", "f", "h"}}},
      {"a large hash with deadlines",
       {Numbered({"HSET", "k"}, 1000, {"f%", "%"}),
        {"HPEXPIREAT", "k", late, "FIELDS", "3", "f1", "f2", "f3"},
        {"HPEXPIREAT", "k", soon, "FIELDS", "2", "f7", "f8"}}},
      {"a hash that had a deadline",
       {{"HSET", "k", "f", "v", "g", "2"},
        {"HPEXPIREAT", "k", late, "FIELDS", "1", "g"},
        {"HPERSIST", "k", "FIELDS", "1", "g"}}},
  };
}

Words LargeForms() {
  return {
      "--hash-max-listpack-entries", "0", "--list-max-listpack-size",  "2", "--set-max-intset-entries", "0",
      "--zset-max-listpack-entries", "0", "--stream-node-max-entries", "3", "--rdbcompression",         "no"};
}

bool HasOwnDigest(const std::vector<Words>& requests) {
  const Words& last = requests.back();
  if (last[0].starts_with("HP")) return true;
  if (last[0] != "ZADD") return false;
  for (size_t i = 2; i < last.size(); i += 2) {
    if (last[i].find_first_of(".e") != std::string::npos) return true;
  }
  return false;
}

}  // namespace mayfly::testing
