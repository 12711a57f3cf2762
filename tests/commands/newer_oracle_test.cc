// What redis-server 7.0 lacks, beside a redis-server of version 8: the same requests get the same replies.
#include <iostream>
#include <set>
#include <sstream>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

// Requests are lines of words with blanks between them.
struct Talk {
  std::string about;
  std::vector<std::string> requests;
};

Words WordsOf(const std::string& line) {
  std::istringstream text(line);
  Words words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

// The lines of a reply whose elements have no order.
std::string Sorted(const std::string& reply) {
  std::istringstream text(reply);
  std::multiset<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.insert(line + '\n');
  std::string sorted;
  for (const std::string& line : lines) sorted += line;
  return sorted;
}

// Deadlines are far from now, or at times that both are told: the two clocks differ a little.
const std::vector<Talk> kTalks = {
    {"hash fields with deadlines",
     {
         "HSET h a 1 b 2 c 3",
         "HEXPIRE h 1000 FIELDS 2 a b",
         "HTTL h FIELDS 4 a b c nope",
         "HPTTL nope FIELDS 1 a",
         "HEXPIREAT h 9000000000 FIELDS 1 c",
         "HEXPIRETIME h FIELDS 2 c nope",
         "HPEXPIREAT h 9000000000123 FIELDS 2 a b",
         "HPEXPIRETIME h FIELDS 3 a b c",
         "HPERSIST h FIELDS 3 a b nope",
         "HPERSIST h FIELDS 1 a",
         "HEXPIRETIME h FIELDS 3 a b c",
         "OBJECT ENCODING h",
         "HGETALL h",
     }},
    {"conditions of HEXPIRE",
     {
         "HSET h a 1 b 2",
         "HEXPIREAT h 9000000000 NX FIELDS 1 a",
         "HEXPIREAT h 9000000001 NX FIELDS 2 a b",
         "HEXPIREAT h 9000000002 XX FIELDS 1 a",
         "HEXPIREAT h 8000000000 GT FIELDS 1 a",
         "HEXPIREAT h 9100000000 GT FIELDS 1 a",
         "HEXPIREAT h 9200000000 LT FIELDS 1 a",
         "HEXPIREAT h 8000000000 LT FIELDS 1 a",
         "HEXPIRETIME h FIELDS 2 a b",
         "HPERSIST h FIELDS 1 b",
         "HEXPIREAT h 9000000000 XX FIELDS 1 b",
         "HEXPIREAT h 9000000000 GT FIELDS 1 b",
         "HEXPIREAT h 9000000000 LT FIELDS 1 b",
     }},
    {"a deadline that has passed deletes the field",
     {
         "HSET h a 1 b 2",
         "HEXPIREAT h 1 FIELDS 2 a nope",
         "HLEN h",
         "HPEXPIRE h 0 FIELDS 1 b",
         "EXISTS h",
         "HEXPIRE h 10 FIELDS 1 b",
     }},
    {"errors of the field deadline commands",
     {
         "HSET h a 1",
         "SET s v",
         "HEXPIRE h 10",
         "HEXPIRE h 10 FIELDS",
         "HEXPIRE h 10 FIELDS 1",
         "HEXPIRE h 10 FIELDS 2 a",
         "HEXPIRE h 10 FIELDS 1 a b",
         "HEXPIRE h 10 FIELDS 0 a",
         "HEXPIRE h 10 FIELDS -1 a",
         "HEXPIRE h 10 FIELDS x a",
         "HEXPIRE h x FIELDS 1 a",
         "HEXPIRE h -1 FIELDS 1 a",
         "HEXPIRE h 9223372036854775807 FIELDS 1 a",
         "HPEXPIRE h 9223372036854775807 FIELDS 1 a",
         "HEXPIREAT h 9223372036854775807 FIELDS 1 a",
         "HPEXPIREAT h 281474976710656 FIELDS 1 a",
         "HPEXPIREAT h 70368744177663 FIELDS 1 a",
         "HEXPIRE h 10 NX XX FIELDS 1 a",
         "HEXPIRE h 10 WRONG FIELDS 1 a",
         "HEXPIRE s 10 FIELDS 1 a",
         "HTTL s FIELDS 1 a",
         "HTTL h",
         "HTTL h FIELDS 2 a",
         "HTTL h FIELDS 1 a b",
         "HTTL h FIELDS 0",
         "HTTL h FIELDS x a",
         "HTTL h FELDS 1 a",
         "HPERSIST h FIELDS 2 a",
         "HPERSIST h FIELDS 0 a",
         "HPERSIST s FIELDS 1 a",
         "HPERSIST nope FIELDS 2 a b",
     }},
    {"what writes make of a field's deadline",
     {
         "HSET h a 1 b 2 c 3 d 4",
         "HEXPIREAT h 9000000000 FIELDS 4 a b c d",
         "HSET h a 9",
         "HINCRBY h b 5",
         "HINCRBYFLOAT h c 0.5",
         "HSETNX h d 7",
         "HEXPIRETIME h FIELDS 4 a b c d",
         "HMSET h b 1",
         "HDEL h c",
         "HEXPIRETIME h FIELDS 4 a b c d",
         "HGETALL h",
         "COPY h copy",
         "HEXPIRETIME copy FIELDS 4 a b c d",
         "RENAME copy other",
         "HEXPIRETIME other FIELDS 2 a d",
     }},
    {"HGETEX",
     {
         "HSET h a 1 b 2 c 3",
         "HGETEX h FIELDS 2 a nope",
         "HGETEX h EXAT 9000000000 FIELDS 2 a b",
         "HEXPIRETIME h FIELDS 3 a b c",
         "HGETEX h PERSIST FIELDS 1 a",
         "HGETEX h PXAT 9000000000123 FIELDS 1 c",
         "HPEXPIRETIME h FIELDS 3 a b c",
         "HGETEX h EXAT 1 FIELDS 1 c",
         "HGETALL h",
         "HGETEX nope FIELDS 2 a b",
         "HGETEX h FIELDS 3 a b",
         "HGETEX h FIELDS 1 a b",
         "HGETEX h FIELDS 0 a",
         "HGETEX h EX 0 FIELDS 1 a",
         "HGETEX h EX x FIELDS 1 a",
         "HGETEX h EX 10 PX 10 FIELDS 1 a",
         "HGETEX h EX 10 PERSIST FIELDS 1 a",
         "HGETEX h WRONG FIELDS 1 a",
         "HGETEX h",
         "HGETEX h FIELDS",
         "HGETEX h FIELDS 1",
     }},
    {"HSETEX",
     {
         "HSETEX h FIELDS 2 a 1 b 2",
         "HSETEX h FNX FIELDS 2 a 9 c 3",
         "HSETEX h FXX FIELDS 2 a 9 c 3",
         "HSETEX h FXX FIELDS 2 a 8 b 7",
         "HSETEX h EXAT 9000000000 FIELDS 1 a 5",
         "HEXPIRETIME h FIELDS 2 a b",
         "HSETEX h KEEPTTL FIELDS 1 a 6",
         "HEXPIRETIME h FIELDS 1 a",
         "HSETEX h FIELDS 1 a 7",
         "HEXPIRETIME h FIELDS 1 a",
         "HGETALL h",
         "HSETEX h PXAT 1 FIELDS 1 a 7",
         "HGETALL h",
         "HSETEX new FXX FIELDS 1 a 1",
         "EXISTS new",
         "HSETEX h FIELDS 2 a 1",
         "HSETEX h FIELDS 1 a 1 b 2",
         "HSETEX h FIELDS 0 a 1",
         "HSETEX h EX 0 FIELDS 1 a 1",
         "HSETEX h EX -1 FIELDS 1 a 1",
         "HSETEX h EX 10 KEEPTTL FIELDS 1 a 1",
         "HSETEX h FNX FXX FIELDS 1 a 1",
         "HSETEX h EX 10 PX 10 FIELDS 1 a 1",
         "HSETEX h WRONG FIELDS 1 a 1",
         "HSETEX h",
     }},
    {"HGETDEL",
     {
         "HSET h a 1 b 2 c 3",
         "HGETDEL h FIELDS 2 a nope",
         "HGETDEL h FIELDS 2 b c",
         "EXISTS h",
         "HGETDEL nope FIELDS 1 a",
         "HSET h a 1",
         "HGETDEL h FIELDS 2 a",
         "HGETDEL h FIELDS 0 a",
         "HGETDEL h FIELDS x a",
         "HGETDEL h FIELDS 1 a b",
         "HGETDEL h FELDS 1 a",
         "HGETDEL h",
     }},
    {"HSCAN without values",
     {
         "HSET h a 1 b 2",
         "HSCAN h 0 NOVALUES",
         "HSCAN h 0 MATCH a NOVALUES",
         "HSCAN h 0 NOVALUES NOVALUES",
         "SSCAN s 0 NOVALUES",
         "ZSCAN z 0 NOVALUES",
         "SCAN 0 NOVALUES",
     }},
    {"encodings of later versions",
     {
         "SADD s a b c",
         "OBJECT ENCODING s",
         "SADD i 1 2 3",
         "OBJECT ENCODING i",
         "SADD i x",
         "OBJECT ENCODING i",
         "SMEMBERS i",
         "RPUSH l a b c",
         "OBJECT ENCODING l",
         "ZADD z 1 a",
         "OBJECT ENCODING z",
         "HSET h a 1",
         "OBJECT ENCODING h",
     }},
    {"ranks with scores",
     {
         "ZADD z 1 a 2.5 b 0.1 c",
         "ZRANK z b WITHSCORE",
         "ZREVRANK z b WITHSCORE",
         "ZRANK z nope WITHSCORE",
         "ZRANK nope b WITHSCORE",
         "ZRANK z b WITHSCORES",
         "ZRANK z b WITHSCORE x",
         "ZRANGE z 0 -1 WITHSCORES",
         "ZSCORE z c",
         "ZINCRBY z 0.2 c",
         "ZADD z INCR 0.3 c",
     }},
    {"streams from their newest entry",
     {
         "XADD s 1-1 a 1",
         "XADD s 2-1 a 2",
         "XREAD STREAMS s +",
         "XREAD COUNT 5 STREAMS s +",
         "XREAD STREAMS nope +",
         "XREAD STREAMS s $",
     }},
    {"how far a group has come in its stream",
     {
         "XGROUP CREATE s g 0 MKSTREAM",
         "XINFO GROUPS s",
         "XADD s 1-1 f v",
         "XADD s 2-1 f v",
         "XADD s 3-1 f v",
         "XADD s 4-1 f v",
         "XINFO GROUPS s",
         "XGROUP CREATE s begun 2-1",
         "XGROUP CREATE s told 2-1 ENTRIESREAD 2",
         "XINFO GROUPS s",
         "XREADGROUP GROUP g a COUNT 1 STREAMS s >",
         "XINFO GROUPS s",
         "XDEL s 3-1",
         "XINFO GROUPS s",
         "XREADGROUP GROUP g a COUNT 1 STREAMS s >",
         "XINFO GROUPS s",
         "XTRIM s MINID 4",
         "XINFO GROUPS s",
         "XADD s 5-1 f v",
         "XREADGROUP GROUP g a STREAMS s >",
         "XINFO GROUPS s",
         "XTRIM s MAXLEN 0",
         "XINFO GROUPS s",
         "XADD s 6-1 f v",
         "XINFO GROUPS s",
         "XSETID s 9-0 ENTRIESADDED 20",
         "XINFO GROUPS s",
         "XGROUP SETID s begun $",
         "XGROUP SETID s told 1-1 ENTRIESREAD 3",
         "XINFO GROUPS s",
         "XSETID s 9-0 ENTRIESADDED 20 MAXDELETEDID 8-1",
         "XINFO GROUPS s",
     }},
    {"a consumer is made by its first request, whether it gets an entry or not",
     {
         "XGROUP CREATE s g 0 MKSTREAM",
         "XREADGROUP GROUP g read STREAMS s >",
         "XREADGROUP GROUP g again STREAMS s 0",
         "XREADGROUP GROUP g noack NOACK STREAMS s >",
         "XCLAIM s g claims 0 1-1",
         "XCLAIM s g moves 0 1-1 LASTID 4-4",
         "XAUTOCLAIM s g sweeps 0 0",
         "XINFO GROUPS s",
         "XGROUP CREATECONSUMER s g read",
         "XGROUP CREATECONSUMER s g again",
         "XGROUP CREATECONSUMER s g noack",
         "XGROUP CREATECONSUMER s g claims",
         "XGROUP CREATECONSUMER s g moves",
         "XGROUP CREATECONSUMER s g sweeps",
         "XADD t 5-5 f v",
         "XGROUP CREATE t g 0",
         "XREADGROUP GROUP g both STREAMS s t > >",
         "XGROUP CREATECONSUMER s g both",
         "XGROUP CREATECONSUMER t g both",
         "XREADGROUP GROUP g refused STREAMS s none > >",
         "XREADGROUP GROUP g refused STREAMS s t > x",
         "XREADGROUP GROUP g refused STREAMS s t > $",
         "XCLAIM s g refused x 1-1",
         "XCLAIM s g refused 0 1-1 NOPE",
         "XAUTOCLAIM s g refused 0 x",
         "XAUTOCLAIM s g refused 0 0 COUNT 0",
         "XGROUP CREATECONSUMER s g refused",
     }},
    {"a stream's last id never lies before an id that was deleted",
     {
         "XADD k 5-0 f v",
         "XADD k 6-0 f v",
         "XDEL k 6-0",
         "XSETID k 5-0",
         "XSETID k 5-9 ENTRIESADDED 9 MAXDELETEDID 5-0",
         "XSETID k 4-0 ENTRIESADDED 0",
         "XSETID k 6-0",
         "XSETID k 6-0 ENTRIESADDED 1 MAXDELETEDID 5-0",
         "XSETID k 5-0",
         "XSETID k 4-0",
         "XSETID k 7-0 ENTRIESADDED 1 MAXDELETEDID 8-0",
         "XADD k 5-0 f v",
         "XADD k 5-1 f v",
         "XDEL k 5-0 5-1",
         "XSETID k 5-0",
         "XINFO STREAM k",
     }},
    {"a trim of whole nodes, and deleted entries at their ends",
     {
         "CONFIG SET stream-node-max-entries 3",
         "XADD s 1-0 f v",
         "XADD s 2-0 f v",
         "XADD s 3-0 f v",
         "XADD s 4-0 f v",
         "XADD s 5-0 f v",
         "XADD s 6-0 f v",
         "XADD s 7-0 f v",
         "XDEL s 3-0 6-0",
         "XTRIM s MINID ~ 3",
         "XTRIM s MINID ~ 4",
         "XTRIM s MINID ~ 6",
         "XTRIM s MINID 6",
         "XTRIM s MAXLEN ~ 1",
         "XRANGE s - +",
         "CONFIG SET stream-node-max-entries 100",
     }},
    {"coordinates have the fewest digits",
     {
         "GEOADD g 13.361389 38.115556 a 15.087269 37.502669 b 0 0 zero 179.999 85 far -0.5 -0.25 near",
         "GEOPOS g a b zero far near none",
         "GEOPOS none a",
         "GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC WITHCOORD WITHDIST WITHHASH",
         "GEORADIUS g 15 37 200 km ASC WITHCOORD",
         "GEORADIUSBYMEMBER g a 200 km ASC WITHCOORD",
         "GEOHASH g a b zero",
         "GEODIST g a b km",
     }},
    {"wrong words are found before the key is looked for",
     {
         "BITCOUNT nokey abc 2",
         "BITCOUNT nokey 1 x BIT",
         "BITCOUNT nokey 1 2 WRONG",
         "BITPOS nokey 1 x",
         "BITPOS nokey 1 0 x",
         "RPUSH l a",
         "BITCOUNT l abc 2",
         "BITPOS l 1 x",
     }},
    {"time limits without an end",
     {
         "BLPOP l inf",
         "BLPOP l -inf",
         "BLPOP l 1e400",
         "BLPOP l 9223372036854775",
         "BRPOP l inf",
         "BLMOVE a b LEFT LEFT inf",
         "BRPOPLPUSH a b inf",
         "BLMPOP inf 1 a LEFT",
         "BZPOPMIN a inf",
         "BZMPOP inf 1 a MIN",
         "XREAD BLOCK 9223372036854775807 STREAMS s 0",
         "XREAD BLOCK inf STREAMS s 0",
     }},
    {"scripts may call WAIT, and do not wait",
     {
         "EVAL return(redis.call('wait','0','0')) 0",
         "EVAL return(redis.call('wait','1','0')) 0",
         "EVAL return(redis.call('wait','x','0')) 0",
         "EVAL return(redis.call('waitaof','0','1','0')) 0",
         "EVAL return(redis.call('waitaof','1','0','0')) 0",
     }},
};

}  // namespace

TEST_CASE_METHOD(CommandTest, "what redis-server 8 has beyond 7.0 gets the same replies here") {
  if (!Oracle::Exists(Oracle::kNewerProgram)) {
    std::cout << "left out: there is no " << Oracle::kNewerProgram << " to compare with" << std::endl;
    return;
  }
  Oracle oracle({}, Oracle::kNewerProgram);
  for (const int protocol : {2, 3}) {
    const Words hello{"HELLO", std::to_string(protocol)};
    oracle.Ask(EncodeRequest(hello), 1);
    Run(hello);
    for (const Talk& talk : kTalks) {
      INFO(talk.about);
      oracle.Ask(EncodeRequest({"FLUSHALL"}), 1);
      Run({"FLUSHALL"});
      for (const std::string& line : talk.requests) {
        INFO(line);
        const std::string bytes = EncodeRequest(WordsOf(line));
        const std::string wanted = oracle.Ask(bytes, 1).front();
        const bool in_any_order = line.starts_with("HGETALL") || line.starts_with("SMEMBERS");
        const std::string got = RunRaw(bytes);
        CHECK((in_any_order ? Sorted(got) : got) == (in_any_order ? Sorted(wanted) : wanted));
      }
    }
  }
}

}  // namespace mayfly::testing
