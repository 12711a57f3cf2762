// Sessions of stream commands beside a real redis-server: every option in every order, wrong words, IDs at both ends, and what
// XINFO counts after each step. Times since a delivery are left out: the two clocks differ a little.
#include <sstream>

#include "support/beside_redis.h"

namespace mayfly::testing {
namespace {

// Requests are words with blanks between them, and have bars between them. MOST is the highest number of an ID.
struct Session {
  std::string about;
  std::string requests;
};

const std::string kLastId = "18446744073709551615";

const std::vector<Session> kSessions = {
    {"the ids of XADD",
     "XADD | XADD s | XADD s * f | XADD s 0-0 f v | XADD s 0 f v | EXISTS s | XADD s 0-1 f v | "
     "XADD s 0-1 f v | XADD s 0-* f v | XADD s 1- f v | XADD s -1 f v | XADD s - f v | XADD s + f v | "
     "XADD s $ f v | XADD s 1-1-1 f v | XADD s 1-x f v | XADD s x-1 f v | XADD s *-1 f v | "
     "XADD s 18446744073709551616-0 f v | XADD s 5-18446744073709551614 f v | XADD s 5-* f v | "
     "XADD s 6-* f v | XADD s 5-* f v | XADD s 5-9 f v | XADD s 6 f v | XADD s 7 f v | XRANGE s - + | "
     "XINFO STREAM s | XADD s MOST-* f v | XADD s MOST-MOST f v | XADD s * f v | XADD s MOST-* f v | "
     "XADD s 9-9 f v | XADD s NOMKSTREAM 1-1 f v | XLEN s | XINFO STREAM s | XDEL s MOST-MOST | "
     "XADD s * f v | XINFO STREAM s"},
    {"the options of XADD",
     "XADD none NOMKSTREAM 1-1 f v | EXISTS none | XADD none NOMKSTREAM MAXLEN 1 1-1 f v | "
     "XADD none MAXLEN 1 NOMKSTREAM * f v | XADD none nomkstream 0-0 f v | XADD none NOMKSTREAM 1-1 f | "
     "XADD t 1-1 f v | XADD t 2-1 f v g | XADD t MAXLEN 2 MINID 3 2-1 f v | "
     "XADD t MINID 3 MAXLEN 2 2-1 f v | XADD t MAXLEN 2 MAXLEN 2 2-1 f v | XADD t MAXLEN x 2-1 f v | "
     "XADD t MAXLEN -1 2-1 f v | XADD t MAXLEN = -1 2-1 f v | XADD t MAXLEN ~ x 2-1 f v | "
     "XADD t MINID x 2-1 f v | XADD t MINID = - 2-1 f v | XADD t MINID ~ + 2-1 f v | "
     "XADD t MAXLEN 1 LIMIT 1 2-1 f v | XADD t MAXLEN = 1 LIMIT 1 2-1 f v | "
     "XADD t MAXLEN = 1 LIMIT 0 2-1 f v | XADD t LIMIT 1 2-1 f v | XADD t LIMIT 0 2-1 f v | "
     "XADD t MAXLEN ~ 1 LIMIT -1 2-1 f v | XADD t MAXLEN ~ 1 LIMIT x 2-1 f v | XADD t MAXLEN ~ | "
     "XADD t MAXLEN ~ 1 LIMIT 2-1 f v | XLEN t | XADD t LIMIT 2 MAXLEN ~ 1 2-1 f v | "
     "XADD t MAXLEN ~ 1 LIMIT 0 3-1 f v | XADD t nomkstream maxlen = 2 4-1 f v | XRANGE t - + | "
     "XADD t MINID 4 5-1 f v g w | XRANGE t - + | XADD t MINID 9 6-1 f v | XLEN t | XINFO STREAM t | "
     "XADD t MAXLEN 0 7-1 f v | XLEN t | XINFO STREAM t | XADD t MAXLEN 9223372036854775807 8-1 f v | "
     "XADD t MAXLEN 9223372036854775808 9-1 f v | XADD t MINID 0 9-1 f v | XLEN t | SET x 1 | "
     "XADD x 1-1 f v | XADD x NOMKSTREAM 1-1 f v | XADD x 0-0 f v | XADD x MAXLEN -1 1-1 f v"},
    {"trims",
     "XADD s 0-1 f v | XADD s 1-0 f v | XADD s 1-1 f v | XADD s 2-0 g w | XADD s 3-0 f v | "
     "XADD s 4-0 f v | XTRIM | XTRIM s | XTRIM s MAXLEN | XTRIM s LIMIT 1 1 | XTRIM s LIMIT 0 MAXLEN | "
     "XTRIM s NOMKSTREAM 1 | XTRIM s * MAXLEN 1 | XTRIM s MAXLEN 1 1 | XTRIM s MAXLEN -1 | "
     "XTRIM s MAXLEN x | XTRIM s MAXLEN 1-1 | XTRIM s MINID x | XTRIM s MINID - | "
     "XTRIM s MAXLEN = 3 LIMIT 1 | XTRIM s MAXLEN 3 LIMIT 0 | XTRIM s MAXLEN ~ 3 LIMIT -1 | "
     "XTRIM s MAXLEN ~ 3 LIMIT | XTRIM s MAXLEN ~ 3 LIMIT x | XTRIM s MAXLEN 1 MINID 1 | "
     "XTRIM s MINID 1 MAXLEN 1 | XTRIM s MAXLEN 1 NOMKSTREAM | XLEN s | XTRIM s MAXLEN 6 | "
     "XTRIM s MAXLEN 7 | XTRIM s MINID 0 | XTRIM s MINID 0-1 | XTRIM s MINID 0-2 | XINFO STREAM s | "
     "XTRIM s MINID 1 | XTRIM s MINID = 1-1 | XTRIM s minid ~ 2 | XLEN s | XTRIM s LIMIT 1 MAXLEN ~ 0 | "
     "XTRIM s MAXLEN ~ 0 LIMIT 3 | XTRIM s MAXLEN ~ 1 | XRANGE s - + | XDEL s 2-0 | XTRIM s MAXLEN 2 | "
     "XINFO STREAM s | XTRIM s MINID 4-0 | XINFO STREAM s | XTRIM s MAXLEN ~ 0 | XINFO STREAM s | "
     "XTRIM s MAXLEN 0 | XTRIM s MINID 9 | XTRIM none MAXLEN 1 | XTRIM none MINID x | EXISTS s none | "
     "SET x 1 | XTRIM x MAXLEN 1 | XTRIM x MAXLEN y"},
    {"trims of whole nodes, and their limit",
     "CONFIG SET stream-node-max-entries 2 | XADD s 1-0 f v | XADD s 2-0 f v | XADD s 3-0 f v | "
     "XADD s 4-0 f v | XADD s 5-0 f v | XADD s 6-0 f v | XADD s 7-0 f v | XTRIM s MAXLEN ~ 6 | "
     "XTRIM s MAXLEN ~ 5 LIMIT 1 | XTRIM s MAXLEN ~ 5 LIMIT 2 | XTRIM s MAXLEN ~ 0 LIMIT 3 | "
     "XRANGE s - + | XTRIM s MINID ~ 6 | XTRIM s MINID ~ 7 LIMIT 1 | XTRIM s MINID ~ 7 LIMIT 0 | "
     "XRANGE s - + | XADD s MAXLEN ~ 1 LIMIT 1 8-0 f v | XADD s MAXLEN ~ 1 LIMIT 2 9-0 f v | "
     "XRANGE s - + | XTRIM s MAXLEN ~ 0 | XLEN s | CONFIG SET stream-node-max-entries 100"},
    {"ranges",
     "XRANGE | XRANGE s - | XRANGE none - + | XRANGE none - + COUNT 0 | XRANGE none - + COUNT x | "
     "XREVRANGE none + - COUNT -1 | XADD s 0-1 f v | XADD s 1-0 f v | XADD s 1-5 f v | "
     "XADD s MOST-0 f v | XADD s MOST-MOST f v g w | XRANGE s - + | XRANGE s 0 0 | XRANGE s 0-0 0-1 | "
     "XRANGE s (0-0 (0-2 | XRANGE s (0-1 (1-0 | XRANGE s (0-1 (1-1 | XRANGE s (1 (1 | XRANGE s 1 (1-5 | "
     "XRANGE s (1 1 | XRANGE s 1 1 | XRANGE s 1-5 1-0 | XRANGE s + - | XRANGE s + + | XRANGE s - - | "
     "XRANGE s (- + | XRANGE s - (+ | XRANGE s ( + | XRANGE s - ( | XRANGE s x + | XRANGE s - x | "
     "XRANGE s $ + | XRANGE s 1-* + | XRANGE s - + COUNT | XRANGE s - + COUNT x | "
     "XRANGE s - + COUNT 0 | XRANGE s - + COUNT -1 | XRANGE s - + COUNT -9 | XRANGE s - + COUNT 1 | "
     "XRANGE s - + COUNT 1 COUNT 2 | XRANGE s - + LIMIT 1 | XRANGE s - + COUNT 9 9 | "
     "XRANGE s (MOST-0 + | XRANGE s (MOST + | XRANGE s (MOST-MOST + | XRANGE s - (0 | XRANGE s - (0-0 | "
     "XRANGE s - (MOST | XRANGE s - (MOST-0 | XREVRANGE s + - | XREVRANGE s - + | "
     "XREVRANGE s (1-5 (0-1 | XREVRANGE s 1 1 | XREVRANGE s (1 0 | XREVRANGE s + - COUNT 2 | "
     "XREVRANGE s + - COUNT 0 | XREVRANGE s + - COUNT -1 | XREVRANGE s + x | XREVRANGE s x - | "
     "XREVRANGE s (0-0 - | XREVRANGE s + (MOST-MOST | XDEL s 1-0 | XRANGE s 0 1 | "
     "XREVRANGE s 1 0 COUNT 1 | SET x 1 | XRANGE x - + | XRANGE x y + | XRANGE x - + COUNT 0"},
    {"XREAD",
     "XREAD | XREAD STREAMS s | XREAD COUNT 1 STREAMS s | XADD s 0-1 f v | XADD s 1-0 f v | "
     "XADD t MOST-MOST f v | XREAD STREAMS s t 0 | XREAD STREAMS s t 0 0 | XREAD STREAMS s 0-1 | "
     "XREAD STREAMS s 1 | XREAD STREAMS s 1-0 | XREAD STREAMS s 0-0 | XREAD STREAMS s x | "
     "XREAD STREAMS s - | XREAD STREAMS s > | XREAD STREAMS s t 0 > | XREAD STREAMS s $ | "
     "XREAD STREAMS s t $ 0 | XREAD STREAMS none s 0 $ | XREAD STREAMS none s 0 0-1 | "
     "XREAD COUNT 1 STREAMS s 0 | XREAD COUNT 0 STREAMS s 0 | XREAD COUNT -1 STREAMS s 0 | "
     "XREAD COUNT x STREAMS s 0 | XREAD COUNT 1 COUNT 2 STREAMS s 0 | XREAD BLOCK x STREAMS s 0 | "
     "XREAD BLOCK -1 STREAMS s 0 | XREAD BLOCK 1 COUNT 1 STREAMS s 0 | "
     "XREAD COUNT 1 BLOCK 0 STREAMS t 0 | XREAD streams s 0 | XREAD STREAMS t MOST-MOST | "
     "XREAD STREAMS t MOST | XREAD NOACK STREAMS s 0 | XREAD GROUP g c STREAMS s 0 | "
     "XREAD GROUP g STREAMS s 0 | XREAD COUNT STREAMS s 0 | XREAD COUNT 1 LIMIT 1 STREAMS s 0 | "
     "XREAD STREAMS s s 0 0-1 | SET x 1 | XREAD STREAMS x 0 | XREAD STREAMS s x 0 0 | "
     "XREAD STREAMS x y z 0 0 0 | XDEL s 0-1 1-0 | XREAD STREAMS s 0 | MULTI | "
     "XREAD BLOCK 0 STREAMS s $ | EXEC"},
    {"deletions",
     "XDEL | XDEL s | XDEL none 1-1 | XDEL none x | XADD s 1-0 f v | XADD s 2-0 f v | XADD s 2-5 f v | "
     "XADD s 3-0 f v | XDEL s x | XDEL s 1-0 x | XDEL s 1-0 - | XLEN s | XDEL s 9 0 2 | XDEL s 2 2 | "
     "XINFO STREAM s | XDEL s 3 | XINFO STREAM s | XDEL s 1-0 1-0 2-5 | XINFO STREAM s | XDEL s 1 | "
     "XADD s 3-0 f v | XADD s 3-1 f v | XINFO STREAM s | SET x 1 | XDEL x 1"},
    {"XSETID",
     "XSETID | XSETID none 1-1 | XSETID none x | XADD s 5-5 f v | XADD s 6-6 f v | XSETID s x | "
     "XSETID s - | XSETID s 9-* | XSETID s 6-5 | XSETID s 6-6 | XSETID s 6-7 ENTRIESADDED | "
     "XSETID s 6-7 ENTRIESADDED x | XSETID s 6-7 ENTRIESADDED -1 | XSETID s 6-7 ENTRIESADDED 1 | "
     "XSETID s 6-7 ENTRIESADDED 2 | XINFO STREAM s | XSETID s 7 MAXDELETEDID | "
     "XSETID s 7 MAXDELETEDID x | XSETID s 7 MAXDELETEDID 7-1 | XSETID s 7 MAXDELETEDID 0-0 | "
     "XINFO STREAM s | XSETID s 7-1 MAXDELETEDID 7-1 ENTRIESADDED 9 | XINFO STREAM s | "
     "XSETID s 8 ENTRIESADDED 10 MAXDELETEDID 3 | XINFO STREAM s | XSETID s 8 WRONG 1 | "
     "XSETID s 8 ENTRIESADDED 10 MAXDELETEDID 3 MORE | XADD s 8-0 f v | XADD s 8-1 f v | "
     "XTRIM s MAXLEN 0 | XSETID s 9 ENTRIESADDED 0 | XINFO STREAM s | SET x 1 | XSETID x 1-1 | "
     "XSETID x y"},
    {"groups are made and removed",
     "XGROUP | XGROUP CREATE | XGROUP CREATE s g | XGROUP CREATE s g 0 | XGROUP CREATE s g x MKSTREAM | "
     "EXISTS s | XGROUP CREATE s g - MKSTREAM | XGROUP CREATE s g 0 NOMKSTREAM | "
     "XGROUP CREATE s g 0 MKSTREAM ENTRIESREAD | XGROUP CREATE s g 0 MKSTREAM ENTRIESREAD x | "
     "XGROUP CREATE s g 0 MKSTREAM ENTRIESREAD -2 | EXISTS s | "
     "XGROUP CREATE s g 0 MKSTREAM ENTRIESREAD -1 | XGROUP CREATE s g 0 MKSTREAM | "
     "XGROUP CREATE s h $ mkstream | XADD s 1-1 f v | XADD s 2-1 f v | XGROUP CREATE s i $ | "
     "XGROUP CREATE s j 1-1 ENTRIESREAD 1 | XGROUP CREATE s k 9-9 ENTRIESREAD 1 MKSTREAM | "
     "XGROUP CREATE s k 9-9 | XGROUP CREATE s l + | XGROUP CREATE s l 1 | "
     "XGROUP CREATE s m 0 MKSTREAM ENTRIESREAD 1 MKSTREAM | XINFO GROUPS s | XINFO STREAM s | "
     "XGROUP SETID s | XGROUP SETID s g | XGROUP SETID s g x | XGROUP SETID s none 0 | "
     "XGROUP SETID none g 0 | XGROUP SETID s g $ | XGROUP SETID s h 1-1 ENTRIESREAD 1 | "
     "XGROUP SETID s i 1-1 ENTRIESREAD -2 | XGROUP SETID s i 1-1 ENTRIESREAD x | "
     "XGROUP SETID s i 1-1 ENTRIESREAD | XGROUP SETID s i 1-1 MKSTREAM | "
     "XGROUP SETID s i 1-1 ENTRIESREAD 1 ENTRIESREAD 1 | XGROUP SETID s j 0 | XGROUP SETID s k + | "
     "XGROUP SETID s l - | XINFO GROUPS s | XGROUP CREATECONSUMER s g | XGROUP CREATECONSUMER s g a b | "
     "XGROUP CREATECONSUMER none g a | XGROUP CREATECONSUMER s none a | XGROUP CREATECONSUMER s g a | "
     "XGROUP CREATECONSUMER s g a | XGROUP DELCONSUMER s g | XGROUP DELCONSUMER none g a | "
     "XGROUP DELCONSUMER s none a | XGROUP DELCONSUMER s g b | XGROUP DELCONSUMER s g a | "
     "XGROUP DELCONSUMER s g a | XGROUP DESTROY s | XGROUP DESTROY none g | XGROUP DESTROY s none | "
     "XGROUP DESTROY s g | XGROUP DESTROY s g | XINFO GROUPS s | XGROUP WRONG s g | SET x 1 | "
     "XGROUP CREATE x g 0 | XGROUP SETID x g 0 | XGROUP DESTROY x g | XGROUP CREATECONSUMER x g a | "
     "XGROUP DELCONSUMER x g a"},
    {"XREADGROUP",
     "XREADGROUP | XREADGROUP GROUP g a STREAMS s | XADD s 1-1 f v | XADD s 2-1 f v | XADD s 3-1 f v | "
     "XADD s 4-1 f v | XADD t 1-1 f v | XGROUP CREATE s g 0 | XREADGROUP GROUP g a STREAMS s t > | "
     "XREADGROUP GROUP g a STREAMS s t > > | XREADGROUP GROUP none a STREAMS s > | "
     "XREADGROUP GROUP g a STREAMS none > | XREADGROUP GROUP g a STREAMS s $ | "
     "XREADGROUP GROUP g a STREAMS s x | XREADGROUP GROUP g a STREAMS s + | "
     "XREADGROUP COUNT 1 NOACK STREAMS s > | XREADGROUP GROUP g STREAMS s > | "
     "XREADGROUP GROUP g a COUNT x STREAMS s > | XREADGROUP GROUP g a BLOCK x STREAMS s > | "
     "XREADGROUP GROUP g a BLOCK -1 STREAMS s > | XREADGROUP GROUP g a WRONG 1 STREAMS s > | "
     "XREADGROUP GROUP g a COUNT 1 STREAMS | XPENDING s g | XREADGROUP COUNT 1 GROUP g a STREAMS s > | "
     "XREADGROUP group g b noack count 1 streams s > | "
     "XREADGROUP NOACK GROUP g b COUNT -1 STREAMS s 0 | XPENDING s g | XINFO GROUPS s | "
     "XREADGROUP GROUP g a BLOCK 0 COUNT 1 STREAMS s > | "
     "XREADGROUP GROUP none x GROUP g b COUNT 0 STREAMS s > | XREADGROUP GROUP g a STREAMS s 0 | "
     "XREADGROUP GROUP g a COUNT 1 STREAMS s 0 | XREADGROUP GROUP g a STREAMS s 1-1 | "
     "XREADGROUP GROUP g a STREAMS s 3-1 | XREADGROUP GROUP g a NOACK STREAMS s 1 | "
     "XREADGROUP GROUP g a STREAMS s > | XGROUP CREATE t g 0 | "
     "XREADGROUP GROUP g a COUNT 1 STREAMS s t 0 > | XREADGROUP GROUP g a STREAMS s t > > | "
     "XDEL s 1-1 | XREADGROUP GROUP g a STREAMS s 0 | XPENDING s g | XINFO GROUPS s | "
     "XTRIM s MAXLEN 0 | XREADGROUP GROUP g a COUNT 1 STREAMS s 0 | XINFO GROUPS s | SET x 1 | "
     "XREADGROUP GROUP g a STREAMS x > | XREADGROUP GROUP g a STREAMS s x > > | XREADGROUP GROUP g a STREAMS "
     "s > | MULTI | "
     "XREADGROUP GROUP g a BLOCK 0 STREAMS s > | EXEC"},
    {"acknowledgements, and the consumers of XPENDING",
     "XADD s 1-1 f v | XADD s 2-1 f v | XADD s 3-1 f v | XGROUP CREATE s g 0 | XACK | XACK s g | "
     "XACK s g x | XACK s none x | XACK none g x | XACK s g 1-1 | "
     "XREADGROUP GROUP g b COUNT 2 STREAMS s > | XREADGROUP GROUP g a STREAMS s > | "
     "XGROUP CREATECONSUMER s g idle | XPENDING s g | XACK s g 1-1 x | XPENDING s g | "
     "XACK s g 2-1 2-1 9-9 | XPENDING s g | XDEL s 1-1 | XPENDING s g | XTRIM s MAXLEN 0 | "
     "XPENDING s g | XGROUP DELCONSUMER s g b | XPENDING s g | XGROUP DELCONSUMER s g a | "
     "XPENDING s g | XPENDING | XPENDING s | XPENDING s none | XPENDING none g | XPENDING s g - | "
     "XPENDING s g - + | XPENDING s g - + x | XPENDING s g x + 1 | XPENDING s g - x 1 | "
     "XPENDING s g - + 1 a b c | XPENDING s g IDLE - + 1 | XPENDING s g IDLE x - + 1 | "
     "XPENDING s g IDLE 1 - + | XPENDING s g IDLE 1 - + 1 a b | XPENDING s g IDLE 1 - + 1 a | "
     "XPENDING s g - + 1 none | XPENDING s none - + x | XPENDING s none - + 1 | "
     "XPENDING s g (1-1 (1-0 1 | XPENDING s g (MOST-MOST + 1 | XPENDING s g - (0-0 1 | SET x 1 | "
     "XPENDING x g | XPENDING x g - + 1 | XACK x g 1"},
    {"claims",
     "XADD s 1-1 f v | XADD s 2-1 f v | XADD s 3-1 f v | XADD s 4-1 f v | XGROUP CREATE s g 0 | "
     "XCLAIM | XCLAIM s g a 0 | XCLAIM none g a 0 1-1 | XCLAIM s none a 0 1-1 | XCLAIM s g a x 1-1 | "
     "XCLAIM none g a x 1-1 | XREADGROUP GROUP g a STREAMS s > | XCLAIM s g b 0 1-1 IDLE | "
     "XCLAIM s g b 0 1-1 IDLE x | XCLAIM s g b 0 1-1 TIME x | XCLAIM s g b 0 1-1 RETRYCOUNT x | "
     "XCLAIM s g b 0 1-1 RETRYCOUNT | XCLAIM s g b 0 1-1 LASTID x | XCLAIM s g b 0 1-1 LASTID | "
     "XCLAIM s g b 0 1-1 WRONG | XCLAIM s g b 0 1-1 FORCE 2-1 | XCLAIM s g b 0 - JUSTID | "
     "XCLAIM s g b 100000000 1-1 2-1 | XCLAIM s g b -1 1-1 | XCLAIM s g b 0 2-1 TIME 0 JUSTID | "
     "XCLAIM s g b 100000000 2-1 IDLE 0 | XCLAIM s g c 0 2-1 3-1 JUSTID RETRYCOUNT 7 TIME 5 | "
     "XPENDING s g | XCLAIM s g a 1000000 3-1 2-1 JUSTID | XCLAIM s g a 0 9-9 FORCE | "
     "XCLAIM s g a 0 9-9 4-1 JUSTID | XACK s g 4-1 | XCLAIM s g a 0 4-1 | "
     "XCLAIM s g a 0 4-1 FORCE JUSTID | XDEL s 4-1 | XCLAIM s g a 0 4-1 | XPENDING s g | "
     "XCLAIM s g a 0 4-1 FORCE | XPENDING s g | XCLAIM s g a 0 1-1 LASTID 9-9 JUSTID | XINFO GROUPS s | "
     "XCLAIM s g a 0 1-1 LASTID 5-5 JUSTID | XINFO GROUPS s | XCLAIM s g a 0 1 2 FORCE JUSTID | "
     "XCLAIM s g a 0 1-1 IDLE -1 JUSTID | XCLAIM s g a 0 1-1 TIME -1 JUSTID | XPENDING s g | SET x 1 | "
     "XCLAIM x g a 0 1-1 | XCLAIM x g a y 1-1"},
    {"claims of what is idle",
     "XADD s 1-1 f v | XADD s 2-1 f v | XADD s 3-1 f v | XADD s 4-1 f v | XGROUP CREATE s g 0 | "
     "XREADGROUP GROUP g a STREAMS s > | XAUTOCLAIM | XAUTOCLAIM s g b 0 | XAUTOCLAIM none g b 0 0 | "
     "XAUTOCLAIM s none b 0 0 | XAUTOCLAIM s g b x 0 | XAUTOCLAIM s g b 0 x | XAUTOCLAIM s g b 0 $ | "
     "XAUTOCLAIM s g b 0 0 COUNT | XAUTOCLAIM s g b 0 0 COUNT x | XAUTOCLAIM s g b 0 0 COUNT 0 | "
     "XAUTOCLAIM s g b 0 0 COUNT -1 | XAUTOCLAIM s g b 0 0 COUNT 9223372036854775807 | "
     "XAUTOCLAIM s g b 0 0 WRONG | XAUTOCLAIM s g b 0 0 COUNT 576460752303423488 | "
     "XAUTOCLAIM s g b 100000000 0 | XAUTOCLAIM s g b -1 0 COUNT 1 | "
     "XAUTOCLAIM s g b 0 (1-1 JUSTID COUNT 2 | XAUTOCLAIM s g b 0 4-1 COUNT 1 | "
     "XAUTOCLAIM s g b 0 + JUSTID | XAUTOCLAIM s g b 0 - JUSTID COUNT 4 | "
     "XAUTOCLAIM s g b 0 (MOST-MOST | XDEL s 1-1 3-1 | XAUTOCLAIM s g c 0 0 COUNT 2 JUSTID | "
     "XAUTOCLAIM s g c 0 0 | XPENDING s g | XINFO GROUPS s | XTRIM s MAXLEN 0 | "
     "XAUTOCLAIM s g c 100000000 0 COUNT 1 | XAUTOCLAIM s g c 0 0 | XPENDING s g | SET x 1 | "
     "XAUTOCLAIM x g a 0 0 | XAUTOCLAIM x g a y 0"},
    {"XINFO",
     "XINFO | XINFO STREAM | XINFO GROUPS | XINFO CONSUMERS s | XINFO STREAM none | XINFO GROUPS none | "
     "XINFO CONSUMERS none g | XGROUP CREATE s g 0 MKSTREAM | XINFO STREAM s | XINFO STREAM s FULL | "
     "XINFO STREAM s FULL COUNT | XINFO STREAM s FULL COUNT x | XINFO STREAM s FULL COUNT 1 1 | "
     "XINFO STREAM s COUNT 1 | XINFO STREAM s WRONG | XINFO STREAM s FULL LIMIT 1 | "
     "XINFO CONSUMERS s g | XINFO CONSUMERS s none | XINFO GROUPS s g | XADD s 1-1 f v | "
     "XADD s 2-1 g w | XINFO STREAM s | XINFO STREAM s full | XINFO STREAM s FULL COUNT 1 | "
     "XINFO STREAM s FULL COUNT -1 | XINFO STREAM s FULL COUNT 0 | "
     "XGROUP CREATE s a 1-1 ENTRIESREAD 1 | XINFO STREAM s FULL count 1 | SET x 1 | XINFO STREAM x | "
     "XINFO GROUPS x | XINFO CONSUMERS x g"},
    {"how far a group has come",
     "XADD s 1-1 f v | XADD s 2-1 f v | XADD s 3-1 f v | XADD s 4-1 f v | XADD s 5-1 f v | "
     "XGROUP CREATE s zero 0 | XGROUP CREATE s first 1-1 | XGROUP CREATE s middle 3-1 | "
     "XGROUP CREATE s told 3-1 ENTRIESREAD 3 | XGROUP CREATE s end $ | XGROUP CREATE s future 9-9 | "
     "XINFO GROUPS s | XREADGROUP GROUP zero c COUNT 2 STREAMS s > | "
     "XREADGROUP GROUP first c COUNT 1 STREAMS s > | XREADGROUP GROUP middle c COUNT 1 STREAMS s > | "
     "XREADGROUP GROUP told c COUNT 1 NOACK STREAMS s > | XINFO GROUPS s | "
     "XREADGROUP GROUP middle c STREAMS s > | XINFO GROUPS s | XTRIM s MAXLEN 3 | XINFO GROUPS s | "
     "XADD s 6-1 f v | XREADGROUP GROUP end c STREAMS s > | XINFO GROUPS s | XGROUP SETID s zero 0 | "
     "XGROUP SETID s first 6-1 | XGROUP SETID s middle 4-1 ENTRIESREAD 4 | XINFO GROUPS s"},
};

std::vector<Words> RequestsOf(const Session& session) {
  std::vector<Words> requests = {{"FLUSHALL"}, {}};
  std::istringstream text(session.requests);
  for (std::string word; text >> word;) {
    if (word == "|") {
      requests.emplace_back();
      continue;
    }
    for (size_t at = word.find("MOST"); at != std::string::npos; at = word.find("MOST"))
      word.replace(at, 4, kLastId);
    requests.back().push_back(word);
  }
  return requests;
}

}  // namespace

TEST_CASE_METHOD(BesideRedis, "commands on streams answer as redis-server does, in both protocols") {
  for (const int protocol : {2, 3}) {
    for (const Session& session : kSessions) {
      CAPTURE(session.about);
      Compare(RequestsOf(session), protocol);
    }
  }
}

TEST_CASE_METHOD(
    BesideRedis,
    "a trim of whole nodes removes 100 nodes at most, but with LIMIT as many entries as that says") {
  int next = 1;
  const auto add = [&](std::vector<Words>& requests, int entries) {
    for (; entries != 0; --entries)
      requests.push_back({"XADD", "s", std::to_string(next++) + "-0", "f", std::string(20, 'v')});
  };
  const Words length = {"XLEN", "s"};
  std::vector<Words> requests = {{"CONFIG", "SET", "stream-node-max-entries", "2"}};
  for (const Words& trim :
       std::vector<Words>{{"XTRIM", "s", "MAXLEN", "~", "0"},
                          {"XTRIM", "s", "MINID", "~", "9999"},
                          {"XTRIM", "s", "MAXLEN", "~", "0", "LIMIT", "0"},
                          {"XTRIM", "s", "MINID", "~", "9999", "LIMIT", "0"},
                          {"XTRIM", "s", "MAXLEN", "~", "0", "LIMIT", "301"},
                          {"XADD", "s", "MAXLEN", "~", "1", "9998-*", "f", "v"},
                          {"XADD", "s", "MAXLEN", "~", "1", "LIMIT", "0", "9998-*", "f", "v"}}) {
    requests.push_back({"DEL", "s"});
    add(requests, 450);
    requests.insert(requests.end(), {trim, length});
  }
  Compare(requests, 2);
  // Where entries are not counted a node may have any number of them, and the trim ends at 10,000.
  requests = {{"CONFIG", "SET", "stream-node-max-entries", "0"},
              {"CONFIG", "SET", "stream-node-max-bytes", "16"},
              {"DEL", "s"}};
  add(requests, 10'200);
  requests.insert(requests.end(),
                  {{"XTRIM", "s", "MAXLEN", "~", "0"}, length, {"XTRIM", "s", "MAXLEN", "~", "0"}, length});
  Compare(requests, 2);
}

}  // namespace mayfly::testing
