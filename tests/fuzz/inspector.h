// Whether all that a server says of its keys agrees, once it has come to rest; then they are flushed, and none is left.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "guest.h"
#include "support/reply.h"

namespace mayfly::testing {

class Inspector {
 public:
  explicit Inspector(LooplessServer& server) : server_(server), guest_(server) {}

  void Inspect() {
    const std::string info = Ask({"INFO", "keyspace"}).text;
    for (unsigned db = 0; db < server_.databases.count(); ++db) {
      Ask({"SELECT", std::to_string(db)});
      const std::set<std::string> keys = Scan();
      const int64_t size = Ask({"DBSIZE"}).integer;
      if (size != static_cast<int64_t>(keys.size()))
        Fail("DBSIZE " + std::to_string(size) + ", but SCAN has " + std::to_string(keys.size()));
      const std::string field = "db" + std::to_string(db) + ":keys=" + std::to_string(size) + ",";
      if ((size != 0) != (info.find(field) != std::string::npos))
        Fail("INFO keyspace lacks " + field + "\n" + info);
      for (const std::string& key : keys) InspectKey(key);
    }
    Ask({"FLUSHALL"});
    server_.FreeDue();
    if (Ask({"DBSIZE"}).integer != 0) Fail("FLUSHALL has left keys");
  }

 private:
  Reply Ask(const Words& words) {
    guest_.Send(EncodeRequest(words));
    guest_.Serve();
    std::vector<Reply> replies = TakeReplies(guest_.TakeOutput());
    if (replies.size() != 1) Fail(std::to_string(replies.size()) + " replies to " + Shown(words));
    if (replies[0].kind == Reply::Kind::kError) Fail(Shown(words) + ": " + replies[0].text);
    return std::move(replies[0]);
  }

  std::set<std::string> Scan() {
    std::set<std::string> keys;
    std::string cursor = "0";
    do {
      const Reply page = Ask({"SCAN", cursor, "COUNT", "7"});
      cursor = page.elements[0].text;
      for (const Reply& key : page.elements[1].elements) {
        if (!keys.insert(key.text).second) Fail("SCAN has one key twice");
      }
    } while (cursor != "0");
    return keys;
  }

  // That a value has as many members as it says.
  void InspectKey(const std::string& key) {
    struct Way {
      std::string_view type;
      std::string_view count;
      Words all;  // the key goes after the first word
      size_t each;
    };
    static const Way kWays[] = {{"string", "STRLEN", {"GET"}, 1},
                                {"hash", "HLEN", {"HGETALL"}, 2},
                                {"list", "LLEN", {"LRANGE", "0", "-1"}, 1},
                                {"set", "SCARD", {"SMEMBERS"}, 1},
                                {"zset", "ZCARD", {"ZRANGE", "0", "-1"}, 1},
                                {"stream", "XLEN", {"XRANGE", "-", "+"}, 1}};
    const std::string type = Ask({"TYPE", key}).text;
    for (const Way& way : kWays) {
      if (way.type != type) continue;
      Words request = way.all;
      request.insert(request.begin() + 1, key);
      const Reply all = Ask(request);
      const size_t found = type == "string" ? all.text.size() : all.elements.size() / way.each;
      const int64_t count = Ask({std::string(way.count), key}).integer;
      if (count != static_cast<int64_t>(found) || (found == 0 && type != "string" && type != "stream"))
        Fail(type + " of " + std::to_string(count) + " members has " + std::to_string(found));
      if (Ask({"OBJECT", "ENCODING", key}).text.empty()) Fail("no encoding");
      if (Ask({"PTTL", key}).integer < -1) Fail("no TTL of a key that is there");
      if (Ask({"MEMORY", "USAGE", key}).integer <= 0) Fail("no memory of a key that is there");
      return;
    }
    Fail("a key that SCAN has found is of type " + type);
  }

  LooplessServer& server_;
  Guest guest_;
};

}  // namespace mayfly::testing
