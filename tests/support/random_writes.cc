#include "support/random_writes.h"

#include <sstream>
#include <string_view>

#include "support/reply.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kPatterns[] = {
    "SET %s %v",
    "SET %s %n",
    "SET %s %v PX %t",
    "SET %s %v PX %t JITTER 50",
    "SET %s %v PX %t SLIDE",
    "SET %s %v KEEPTTL",
    "SET %s %v PX %t INTO t%n",
    "PEXPIRE %k %t INTO t%n MAXLEN 5",
    "SET %s %v TAGS 1 %m",
    "GET %s",
    "GETEX %s PX %t",
    "GETEX %s PERSIST",
    "GETDEL %s",
    "APPEND %s %v",
    "SETRANGE %s %n %v",
    "INCR n%n",
    "INCRBYFLOAT f%n %f",
    "DECRBY n%n %n",
    "SETBIT %s %n 1",
    "BITFIELD %s INCRBY u8 %n %n",
    "BITOP OR %s %s %s",
    "MSET %s %v %s %v",
    "MSETNX %s %v %s %v",
    "SETNX %s %v",
    "PFADD %p %m %m",
    "PFCOUNT %p",
    "PFMERGE %p %p %p",
    "RPUSH %l %v %m %m",
    "LPUSH %l %m",
    "LPUSHX %l %m",
    "LPOP %l",
    "RPOP %l %n",
    "LSET %l %i %v",
    "LINSERT %l BEFORE %m %v",
    "LREM %l %i %m",
    "LTRIM %l 0 %n",
    "LMOVE %l %l LEFT RIGHT",
    "LMPOP 2 %l %l RIGHT COUNT %n",
    "HSET %h %m %v %m %n",
    "HSETNX %h %m %v",
    "HDEL %h %m %m",
    "HINCRBY %h n%n %n",
    "HINCRBYFLOAT %h f%n %f",
    "HPEXPIRE %h %t FIELDS 1 %m",
    "HPERSIST %h FIELDS 1 %m",
    "HGETDEL %h FIELDS 2 %m %m",
    "HSETEX %h PX %t FIELDS 1 %m %v",
    "HGETEX %h PX %t FIELDS 1 %m",
    "EXPIREMEMBER %h %m %t MS",
    "SADD %u %m %m %n",
    "SADD i%n %n %n",
    "SREM %u %m %m",
    "SPOP %u",
    "SPOP %u %n",
    "SMOVE %u %u %m",
    "SUNIONSTORE %u %u %u",
    "SDIFFSTORE %u %u %u",
    "SPEXPIRE %u %t MEMBERS 1 %m",
    "SADDEX %u 1 %m",
    "ZADD %z %f %m %n %m",
    "ZADD %z GT %n %m",
    "ZADD %z XX CH %n %m",
    "ZADD %z NX %n %m",
    "ZINCRBY %z %f %m",
    "ZADD %z INCR %n %m",
    "ZREM %z %m %m",
    "ZPOPMIN %z",
    "ZPOPMAX %z %n",
    "ZREMRANGEBYRANK %z 0 %n",
    "ZREMRANGEBYSCORE %z 0 %n",
    "ZUNIONSTORE %z 2 %z %z WEIGHTS 2 3",
    "ZRANGESTORE %z %z 0 %n",
    "EXPIREMEMBER %z %m %t MS",
    "PEXPIREMEMBERAT %z %m %d",
    "GEOADD %z %n.5 %n.25 %m",
    "XADD %x * %m %v",
    "XADD %x MAXLEN 20 * %m %v",
    "XADD %x MAXLEN ~ 10 * %m %v",
    "XADD %x NOMKSTREAM * %m %v",
    "XTRIM %x MAXLEN %n",
    "XDEL %x %e",
    "XSETID %x 99999999999999-0",
    "XGROUP CREATE %x g 0 MKSTREAM",
    "XGROUP CREATE %x g2 $ MKSTREAM",
    "XGROUP SETID %x g 0",
    "XGROUP CREATECONSUMER %x g %c",
    "XGROUP DELCONSUMER %x g %c",
    "XGROUP DESTROY %x g2",
    "XREADGROUP GROUP g %c COUNT %n STREAMS %x >",
    "XREADGROUP GROUP g2 %c COUNT %n STREAMS %x >",
    "XREADGROUP GROUP g %c NOACK COUNT 1 STREAMS %x >",
    "XREADGROUP GROUP g %c STREAMS %x 0",
    "XREADGROUP GROUP g %c COUNT %n CLAIM %t STREAMS %x >",
    "XACK %x g %e",
    "XACKDEL %x g DELREF IDS 1 %e",
    "XACKDEL %x g ACKED IDS 1 %e",
    "XACKDEL %x g IDS 2 %e %e",
    "XDELEX %x ACKED IDS 1 %e",
    "XDELEX %x DELREF IDS 2 %e %e",
    "XTRIM %x MAXLEN %n ACKED",
    "XTRIM %x MINID %e DELREF",
    "XADD %x DELREF MAXLEN 5 * %m %v",
    "XAUTOCLAIM %x g %c 0 0 COUNT %n",
    "XCLAIM %x g %c 0 %e",
    "XCLAIM %x g %c 0 1-1",
    "XCLAIM %x g %c 0 %e FORCE JUSTID",
    "DEL %k",
    "UNLINK %k %k",
    "PEXPIRE %k %t",
    "PEXPIRE %k %t SLIDE",
    "PEXPIREAT %k %d",
    "PERSIST %k",
    "RENAME %k %k",
    "RENAMENX %k %k",
    "MOVE %k %b",
    "COPY %k %k REPLACE",
    "COPY %k %k DB %b",
    "SORT %l ALPHA STORE %l",
    "SORT %u ALPHA STORE %l",
    "TAG %k %m",
    "INVALIDATE %m",
    "TOUCH %k",
    "PUBLISH c %m",
};
// Of these there are fewer.
constexpr std::string_view kRarePatterns[] = {"FLUSHDB", "SWAPDB %b %b", "NSFLUSH l", "FLUSHALL",
                                              "DRAIN t%n"};

}  // namespace

std::string RandomWrites::Word(const std::string& pattern, int64_t now_ms) {
  const size_t at = pattern.find('%');
  if (at == std::string::npos) return pattern;
  const std::string before = pattern.substr(0, at);
  const std::string after = pattern.substr(at + 2);
  const auto with = [&](const std::string& word) { return before + word + Word(after, now_ms); };
  switch (const char what = pattern[at + 1]) {
    case 'k':
      return with(Key("slhuzxp"[Draw(7)]));
    case 'm':
      return with("m" + std::to_string(Draw(Draw(3) == 0 ? 60 : 8)));
    case 'v':
      return with(std::string(Draw(12) == 0 ? Draw(9000) : Draw(12), static_cast<char>('a' + Draw(26))));
    case 'n':
      return with(std::to_string(Draw(9)));
    case 'i':
      return with(std::to_string(static_cast<int>(Draw(7)) - 3));
    case 'f':
      return with(std::to_string(Draw(100)) + (taste_.fractions ? "." + std::to_string(Draw(1000)) : ""));
    case 't':
      return with(std::to_string(1 + Draw(Draw(2) == 0 ? 30 : 3000)));
    case 'd':
      return with(std::to_string(now_ms - 5 + static_cast<int64_t>(Draw(500))));
    case 'b':
      return with(std::to_string(Draw(3)));
    case 'c':
      return with("c" + std::to_string(Draw(3)));
    case 'e':
      return with(std::to_string(now_ms - static_cast<int64_t>(Draw(20))) + "-" + std::to_string(Draw(3)));
    default:
      return with(Key(what));
  }
}

bool RandomWrites::Leaves(std::string_view pattern) const noexcept {
  if (!taste_.member_deadlines) {
    for (const std::string_view command :
         {"HPEXPIRE", "HSETEX", "HGETEX", "EXPIREMEMBER", "PEXPIREMEMBERAT", "SPEXPIRE", "SADDEX"}) {
      if (pattern.starts_with(command)) return true;
    }
  }
  return !taste_.fractions && pattern.starts_with("GEOADD");
}

Words RandomWrites::Request(int64_t now_ms) {
  const std::string_view pattern =
      Draw(150) == 0 ? kRarePatterns[Draw(std::size(kRarePatterns))] : kPatterns[Draw(std::size(kPatterns))];
  if (Leaves(pattern)) return Request(now_ms);
  Words words;
  std::istringstream stream{std::string(pattern)};
  for (std::string word; stream >> word;) words.push_back(Word(word, now_ms));
  return words;
}

std::string RandomWrites::Script(int64_t now_ms) {
  std::string text;
  for (size_t i = 1 + Draw(5); i > 0; --i) {
    text += "redis.pcall(";
    const Words words = Request(now_ms);
    for (size_t k = 0; k < words.size(); ++k) text += (k != 0 ? ",'" : "'") + words[k] + "'";
    text += ") ";
  }
  return EncodeRequest({"EVAL", text, "0"});
}

std::string RandomWrites::Next(int64_t now_ms) {
  if (Draw(20) == 0) return EncodeRequest({"SELECT", std::to_string(Draw(3))});
  if (Draw(12) == 0) return Script(now_ms);
  const bool in_transaction = Draw(8) == 0;
  std::string bytes = in_transaction ? EncodeRequest({"MULTI"}) : "";
  for (size_t i = Draw(3) == 0 ? 1 + Draw(30) : 1; i > 0; --i) {
    const Words request = Request(now_ms);
    // Often the same key in a turn.
    for (size_t times = Draw(10) == 0 ? Draw(12) : 1; times > 0; --times) bytes += EncodeRequest(request);
  }
  return bytes + (in_transaction ? EncodeRequest({"EXEC"}) : "");
}

std::vector<Words> RandomWrites::SmallLimits() {
  return {{"CONFIG", "SET", "list-max-listpack-size", "3"},
          {"CONFIG", "SET", "hash-max-listpack-entries", "4"},
          {"CONFIG", "SET", "set-max-listpack-entries", "4"},
          {"CONFIG", "SET", "set-max-intset-entries", "3"},
          {"CONFIG", "SET", "zset-max-listpack-entries", "4"},
          {"CONFIG", "SET", "stream-node-max-entries", "4"},
          {"CONFIG", "SET", "hash-max-listpack-value", "16"}};
}

}  // namespace mayfly::testing
