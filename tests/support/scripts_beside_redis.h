// Scripts that a real redis-server runs as well: the bytes of the replies must be the same, in both protocols.
#pragma once

#include <vector>

#include "support/beside_redis.h"

namespace mayfly::testing {

class ScriptsBesideRedis : public BesideRedis {
 public:
  // Each script with two keys and two arguments, after a few keys were set.
  template <size_t kCount>
  void CompareScripts(const char* const (&scripts)[kCount]) {
    for (const int protocol : {2, 3}) {
      std::vector<Words> requests = {{"FLUSHALL"},
                                     {"SET", "text", "value"},
                                     {"SET", "number", "10"},
                                     {"HSET", "hash", "a", "1", "b", "2"},
                                     {"RPUSH", "list", "x", "y", "z"},
                                     {"SADD", "set", "only"},
                                     {"ZADD", "zset", "1.5", "m"}};
      for (const char* script : scripts)
        requests.push_back({"EVAL", script, "2", "text", "number", "one", "2"});
      Compare(requests, protocol);
    }
  }
};

}  // namespace mayfly::testing
