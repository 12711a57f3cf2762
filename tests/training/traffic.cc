#include "training/traffic.h"

#include <array>
#include <vector>

#include "support/request_text.h"

namespace mayfly::training {
namespace {

using testing::AppendRequest;

std::string KeyOf(uint64_t number) { return "session:" + std::to_string(number); }

}  // namespace

std::string Traffic::AnyKey() {
  const uint64_t number = Pick(keys_);
  return KeyOf(Pick(4) == 0 ? number : number % (keys_ / 8));
}

std::string Traffic::AnyValue() {
  constexpr std::array<size_t, 8> kSizes = {3, 16, 64, 64, 64, 200, 600, 2048};
  if (Pick(10) == 0) return std::to_string(Pick(1'000'000));
  std::string value(kSizes[Pick(kSizes.size())], 'v');
  value[0] = static_cast<char>('a' + Pick(26));
  return value;
}

void Traffic::AppendSet(std::string& out, uint64_t number) {
  const std::string key = KeyOf(number);
  switch (Pick(8)) {
    case 0:
    case 1:
      return AppendRequest(out, {"SET", key, AnyValue(), "EX", AnySeconds()});
    case 2:
      return AppendRequest(out, {"SET", key, AnyValue(), "PX", AnyMilliseconds()});
    case 3:
      return AppendRequest(out, {"SETEX", key, AnySeconds(), AnyValue()});
    default:
      return AppendRequest(out, {"SET", key, AnyValue()});
  }
}

void Traffic::AppendAny(std::string& out) {
  const uint64_t draw = Pick(1000);
  if (draw < 560) return AppendRequest(out, {"GET", AnyKey()});
  if (draw < 600) return AppendRequest(out, {"GET", "absent:" + std::to_string(Pick(keys_))});
  if (draw < 800) return AppendWrite(out);
  if (draw < 975) return AppendOther(out);
  if (draw < 985) return AppendScript(out);
  draw < 993 ? AppendRare(out) : AppendNewer(out);
}

void Traffic::AppendWrite(std::string& out) {
  // A few new keys keep the table growing.
  const uint64_t number = Pick(4) == 0 ? keys_ + Pick(keys_) : Pick(keys_ / 4);
  AppendSet(out, number);
}

void Traffic::AppendOther(std::string& out) {
  switch (Pick(16)) {
    case 0:
    case 1:
    case 2: {
      std::vector<std::string> words = {"MGET"};
      for (uint64_t count = 2 + Pick(9); count > 0; --count) words.push_back(AnyKey());
      return AppendRequest(out, words);
    }
    case 3:
    case 4:
    case 5:
      return AppendRequest(out, {"INCR", AnyCounter()});
    case 6:
      return AppendRequest(out, {"INCRBY", AnyCounter(), std::to_string(Pick(1000))});
    case 7:
    case 8:
      return AppendRequest(out, {"DEL", AnyKey()});
    case 9:
    case 10:
      return AppendRequest(out, {"EXPIRE", AnyKey(), AnySeconds()});
    case 11:
      return AppendRequest(out, {"TTL", AnyKey()});
    case 12:
      return AppendRequest(out, {"EXISTS", AnyKey()});
    case 13:
      return AppendRequest(out, {"GETEX", AnyKey(), "EX", AnySeconds()});
    case 14:
      return AppendRequest(out, {"SET", AnyKey(), AnyValue(), "NX", "PX", AnyMilliseconds()});
    default:
      return AppendRequest(out, {"SETNX", AnyKey(), AnyValue()});
  }
}

void Traffic::AppendRare(std::string& out) {
  switch (Pick(16)) {
    case 0:
      return AppendRequest(out, {"HELLO", Pick(2) == 0 ? "3" : "2"});
    case 1:
      return AppendRequest(out, {"CLIENT", "SETNAME", "worker"});
    case 2:
      return AppendRequest(out, {"CONFIG", "GET", "maxmemory*"});
    case 3:
      return AppendRequest(out, {"INFO", "stats"});
    case 4:
      return AppendRequest(out, {"MSET", AnyKey(), AnyValue(), AnyKey(), AnyValue()});
    case 5:
      return AppendRequest(out, {"PTTL", AnyKey()});
    case 6:
      return AppendRequest(out, {"STRLEN", AnyKey()});
    case 7:
      return AppendRequest(out, {"PERSIST", AnyKey()});
    case 8:
      return AppendRequest(out, {"SELECT", "0"});
    case 9:
      return AppendRequest(out, {"SCAN", "0", "COUNT", "100"});
    case 10:
      return AppendRequest(out, {"APPEND", AnyKey(), "more"});
    case 11:
      return AppendRequest(out, {"TYPE", AnyKey()});
    case 12:
      return AppendRequest(out, {"GETDEL", AnyKey()});
    case 13:
      return AppendRequest(out, {"PSETEX", AnyKey(), AnyMilliseconds(), AnyValue()});
    case 14:
      return AppendRequest(out, {"PEXPIRE", AnyKey(), AnyMilliseconds()});
    default:
      return AppendRequest(out, {"PING"});
  }
}

// A lock is released, a rate is limited, a key is read.
void Traffic::AppendScript(std::string& out) {
  constexpr const char* kUnlock =
      "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";
  constexpr const char* kLimitRate =
      "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end "
      "return {n, redis.call('PTTL', KEYS[1])}";
  switch (Pick(4)) {
    case 0:
      return AppendRequest(out, {"EVAL", kUnlock, "1", AnyKey(), AnyValue()});
    case 1:
      return AppendRequest(out, {"EVAL", kLimitRate, "1", AnyCounter(), AnyMilliseconds()});
    default:
      return AppendRequest(out, {"EVAL", "return redis.call('GET', KEYS[1])", "1", AnyKey()});
  }
}

// What few clients know: parts of values, bits, conditions, several keys with one expiry.
void Traffic::AppendNewer(std::string& out) {
  switch (Pick(24)) {
    case 0:
      return AppendRequest(out, {"GETRANGE", AnyKey(), "0", "15"});
    case 1:
      return AppendRequest(out, {"SETRANGE", AnyKey(), "2", "part"});
    case 2:
      return AppendRequest(out, {"GETSET", AnyKey(), AnyValue()});
    case 3:
      return AppendRequest(out, {"INCRBYFLOAT", "price:" + std::to_string(Pick(100)), "0.25"});
    case 4:
      return AppendRequest(out, {"DECR", AnyCounter()});
    case 5:
      return AppendRequest(out, {"INCREX", "rate:" + AnyOffset(), "UBOUND", "100", "EX", "60", "ENX"});
    case 6:
    case 7:
      return AppendRequest(out, {"SETBIT", AnyFlags(), AnyOffset(), "1"});
    case 8:
      return AppendRequest(out, {"GETBIT", AnyFlags(), AnyOffset()});
    case 9:
      return AppendRequest(out, {"BITCOUNT", AnyFlags()});
    case 10:
      return AppendRequest(out, {"BITPOS", AnyFlags(), "0"});
    case 11:
      return AppendRequest(out, {"BITOP", "OR", AnyFlags(), AnyFlags(), AnyFlags()});
    case 12:
      return AppendRequest(out, {"BITFIELD", AnyFlags(), "INCRBY", "u8", "#3", "1", "GET", "u4", "0"});
    case 13:
      return AppendRequest(out, {"BITFIELD_RO", AnyFlags(), "GET", "i16", AnyOffset()});
    case 14:
      return AppendRequest(out, {"MSETEX", "2", AnyKey(), AnyValue(), AnyKey(), AnyValue(), "EX", "60"});
    case 15:
      return AppendRequest(out, {"SET", AnyKey(), AnyValue(), "IFEQ", AnyValue()});
    case 16:
      return AppendRequest(out, {"DELEX", AnyKey(), "IFEQ", AnyValue()});
    case 17:
      return AppendRequest(out, {"DIGEST", AnyKey()});
    case 18:
      return AppendRequest(out, {"TOUCH", AnyKey()});
    case 19:
      return AppendRequest(out, {"UNLINK", AnyKey(), AnyKey()});
    case 20:
      return AppendRequest(out, {"RENAME", AnyKey(), AnyKey()});
    case 21:
      return AppendRequest(out, {"COPY", AnyKey(), AnyKey(), "REPLACE"});
    case 22:
      return AppendRequest(out, {"LCS", AnyCounter(), AnyCounter(), "LEN"});
    default:
      return AppendRequest(out, {"EXPIRETIME", AnyKey()});
  }
}

}  // namespace mayfly::training
