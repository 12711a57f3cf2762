#include "training/type_traffic.h"

#include "support/request_text.h"

namespace mayfly::training {

using testing::AppendRequest;

std::string TypeTraffic::KeyOf(const std::string& type) {
  large_ = Pick(4) == 0;
  return type + ':' + (large_ ? "large:" + Number(2) : Number(2000));
}

void TypeTraffic::AppendAny(std::string& out) {
  switch (Pick(8)) {
    case 0:
    case 1:
      return AppendHash(out);
    case 2:
    case 3:
      return AppendSet(out);
    case 4:
    case 5:
      return AppendSortedSet(out);
    case 6:
      return AppendList(out);
    default:
      return AppendOther(out);
  }
}

void TypeTraffic::AppendHash(std::string& out) {
  const std::string key = KeyOf("hash");
  const std::string field = Member();
  switch (Pick(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return AppendRequest(out, {"HSET", key, field, "value " + Number(1'000'000)});
    case 4:
      return AppendRequest(out, {"HSET", key, field, Number(1000), Member(), "text"});
    case 5:
    case 6:
    case 7:
    case 8:
      return AppendRequest(out, {"HGET", key, field});
    case 9:
      return AppendRequest(out, {"HMGET", key, field, Member(), "absent"});
    case 10:
      return AppendRequest(out, {large_ ? "HLEN" : "HGETALL", key});
    case 11:
    case 12:
      return AppendRequest(out, {"HINCRBY", key, "count", "1"});
    case 13:
      return AppendRequest(out, {"HDEL", key, field});
    case 14:
      return AppendRequest(out, {"HEXPIRE", key, Number(3000) + '1', "FIELDS", "1", field});
    default:
      return AppendRequest(out, {"HEXISTS", key, field});
  }
}

void TypeTraffic::AppendSet(std::string& out) {
  const std::string key = KeyOf(Pick(3) == 0 ? "ids" : "set");
  const std::string member = key[0] == 'i' ? Number(large_ ? 5000 : 30) : Member();
  switch (Pick(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return AppendRequest(out, {"SADD", key, member});
    case 4:
    case 5:
    case 6:
    case 7:
      return AppendRequest(out, {"SISMEMBER", key, member});
    case 8:
      return AppendRequest(out, {"SREM", key, member});
    case 9:
      return AppendRequest(out, {"SPOP", key});
    case 10:
      return AppendRequest(out, {large_ ? "SRANDMEMBER" : "SMEMBERS", key});
    default:
      return AppendRequest(out, {"SCARD", key});
  }
}

void TypeTraffic::AppendSortedSet(std::string& out) {
  const std::string key = KeyOf("zset");
  const std::string member = Member();
  switch (Pick(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return AppendRequest(out, {"ZADD", key, Number(100'000), member});
    case 4:
      return AppendRequest(out, {"ZADD", key, Number(100) + ".5", member});
    case 5:
    case 6:
      return AppendRequest(out, {"ZINCRBY", key, "1", member});
    case 7:
    case 8:
    case 9:
      return AppendRequest(out, {"ZSCORE", key, member});
    case 10:
      return AppendRequest(out, {"ZRANK", key, member});
    case 11:
      return AppendRequest(out, {"ZRANGE", key, "5", "14"});
    case 12:
      return AppendRequest(out, {"ZRANGE", key, "0", "9", "REV", "WITHSCORES"});
    case 13:
      return AppendRequest(out, {"ZRANGEBYSCORE", key, "0", "+inf", "LIMIT", "0", "10"});
    case 14:
      return AppendRequest(out, {Pick(2) == 0 ? "ZREM" : "ZREVRANK", key, member});
    default:
      return AppendRequest(out, {"ZCARD", key});
  }
}

void TypeTraffic::AppendList(std::string& out) {
  const std::string key = KeyOf("list");
  switch (Pick(8)) {
    case 0:
    case 1:
      return AppendRequest(out, {"LPUSH", key, Member()});
    case 2:
      return AppendRequest(out, {"RPUSH", key, Member(), Number(1000)});
    case 3:
    case 4:
      return AppendRequest(out, {large_ ? "RPUSH" : "RPOP", key, "2"});
    case 5:
      return AppendRequest(out, {"LPOP", key});
    case 6:
      return AppendRequest(out, {"LRANGE", key, "0", "9"});
    default:
      return AppendRequest(out, {"LLEN", key});
  }
}

void TypeTraffic::AppendOther(std::string& out) {
  const std::string number = Number(20);
  switch (Pick(4)) {
    case 0:
      return AppendRequest(out, {"PFADD", "hll:" + number, Number(100'000)});
    case 1:
      return AppendRequest(out,
                           {"GEOADD", "geo:" + number, Number(179) + ".25", Number(84) + ".5", Member()});
    default:
      return AppendRequest(out, {"XADD", "stream:" + number, "MAXLEN", "~", "1000", "*", "field", Member()});
  }
}

}  // namespace mayfly::training
