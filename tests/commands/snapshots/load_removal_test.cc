// A key that is removed while a file is loaded does not come back with the file, even if the load has not brought it yet: for every
// command that can remove a key.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class LoadRemovalTest : public SnapshotTest {
 public:
  LoadRemovalTest() {
    Run({"SET", "k", "v"});
    payload_ = Run({"DUMP", "k"}).text;
    Run({"SET", "other", "v"});
    Run({"SAVE"});
  }
  // Loads the file, and makes the calls when the load has begun and has brought no key.
  void LoadBeside(const Words& call, const Words& second = {"PING"}) {
    Run({"FLUSHALL"});
    disk.piece = 1;
    snapshots().LoadSoon(now());
    REQUIRE(Run({"EXISTS", "k"}) == Integer(0));
    Run(call);
    Run(second);
    FinishLoad();
  }
  // The calls, each with the name of its command at the front, that leave no key "k".
  std::vector<Words> Removing() const {
    return {{"DEL", "k"},
            {"UNLINK", "k"},
            {"GETDEL", "k"},
            {"DELEX", "k"},
            {"EXPIRE", "k", "0"},
            {"EXPIRE", "k", "-1"},
            {"PEXPIRE", "k", "-1"},
            {"EXPIREAT", "k", "1"},
            {"PEXPIREAT", "k", "1"},
            {"GETEX", "k", "EXAT", "1"},
            {"GETEX", "k", "PXAT", "1"},
            {"SET", "k", "v", "PXAT", "1"},
            {"INCREX", "k", "PXAT", "1"},
            {"MSETEX", "1", "k", "v", "PXAT", "1"},
            {"RESTORE", "k", "1", payload_, "ABSTTL"},
            {"RESTORE-ASKING", "k", "1", payload_, "ABSTTL"},
            {"MOVE", "k", "1"},
            {"SORT", "none", "STORE", "k"},
            {"SUNIONSTORE", "k", "none"},
            {"SINTERSTORE", "k", "none"},
            {"SDIFFSTORE", "k", "none"},
            {"ZUNIONSTORE", "k", "1", "none"},
            {"ZINTERSTORE", "k", "1", "none"},
            {"ZDIFFSTORE", "k", "1", "none"},
            {"ZRANGESTORE", "k", "none", "0", "-1"},
            {"GEOSEARCHSTORE", "k", "none", "FROMLONLAT", "0", "0", "BYRADIUS", "1", "m"},
            {"GEORADIUS", "none", "0", "0", "1", "m", "STORE", "k"},
            {"GEORADIUSBYMEMBER", "none", "m", "1", "m", "STORE", "k"},
            {"BITOP", "AND", "k", "none"},
            {"FLUSHDB"},
            {"FLUSHALL"}};
  }

 private:
  std::string payload_;
};

// Commands that write, and never remove a whole key of the file.
const std::set<std::string> kOthers = {
    // They give the key a value: the file's does not come anyway.
    "append", "bitfield", "copy", "decr", "decrby", "geoadd", "getset", "hincrby", "hincrbyfloat", "hmset",
    "hset", "hsetex", "hsetnx", "incr", "incrby", "incrbyfloat", "linsert", "lpush", "lpushx", "lset", "mset",
    "msetnx", "pfadd", "pfdebug", "pfmerge", "psetex", "rpush", "rpushx", "sadd", "saddex", "setbit", "setex",
    "setnx", "setrange", "xadd", "zadd", "zincrby",
    // They change a part of a value; the rest of the file's value is wanted.
    "blmove", "blmpop", "blpop", "brpop", "brpoplpush", "bzmpop", "bzpopmax", "bzpopmin", "expiremember",
    "expirememberat", "hdel", "hexpire", "hexpireat", "hgetdel", "hgetex", "hpersist", "hpexpire",
    "hpexpireat", "lmove", "lmpop", "lpop", "lrem", "ltrim", "persist", "pexpirememberat", "rpop",
    "rpoplpush", "sexpire", "sexpireat", "smove", "spersist", "spexpire", "spexpireat", "spop", "srem",
    "xack", "xackdel", "xautoclaim", "xclaim", "xdel", "xdelex", "xgroup", "xreadgroup", "xsetid", "xtrim",
    "zmpop", "zpopmax", "zpopmin", "zrem", "zremrangebylex", "zremrangebyrank", "zremrangebyscore",
    // Without the key the condition does not hold, or they answer an error or NOKEY: nothing was done.
    "delifeq", "migrate", "rename", "renamenx",
    // By a namespace or a tag: tests of their own. DRAIN lets tasks go that are there.
    "drain", "invalidate", "nsflush", "tag",
    // Both databases have their keys to come.
    "swapdb",
    // No keys, or those of the calls within.
    "function"};

}  // namespace

TEST_CASE_METHOD(LoadRemovalTest,
                 "no command that removes a key is undone by a load that brings the key later") {
  for (const Words& call : Removing()) {
    CAPTURE(call);
    LoadBeside(call);
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
    if (!call[0].starts_with("FLUSH")) CHECK(Run({"EXISTS", "other"}) == Integer(1));
    Run({"SELECT", "1"});
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
    Run({"SELECT", "0"});
  }
}

TEST_CASE_METHOD(LoadRemovalTest, "a key that a client has made, and then renamed or moved, does not come") {
  for (const Words& call :
       std::vector<Words>{{"RENAME", "k", "j"}, {"RENAMENX", "k", "j"}, {"MOVE", "k", "1"}}) {
    CAPTURE(call);
    LoadBeside({"SET", "k", "a client's"}, call);
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
    CHECK(Run({"EXISTS", "other"}) == Integer(1));
  }
}

TEST_CASE_METHOD(LoadRemovalTest,
                 "a key that was removed before SWAPDB does not come, and its namesake does") {
  Run({"SELECT", "1"});
  Run({"SET", "k", "second"});
  Run({"SELECT", "0"});
  REQUIRE(Run({"SAVE"}) == Ok());
  LoadBeside({"DEL", "k"}, {"SWAPDB", "0", "1"});
  CHECK(Run({"GET", "k"}) == Bulk("second"));
  CHECK(Run({"EXISTS", "other"}) == Integer(0));
  Run({"SELECT", "1"});
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"EXISTS", "other"}) == Integer(1));
}

TEST_CASE_METHOD(LoadRemovalTest, "a condition that does not hold, or an error, leaves the key to come") {
  for (const Words& call : std::vector<Words>{{"EXPIRE", "k", "-1", "XX"},
                                              {"EXPIRE", "k", "-1", "GT"},
                                              {"DELEX", "k", "IFEQ", "w"},
                                              {"DELIFEQ", "k", "w"},
                                              {"GETEX", "k", "PXAT", UnixMs(1000)},
                                              {"EXPIRE", "k", "100"},
                                              {"RENAME", "k", "j"},
                                              {"SREM", "k", "a"}}) {
    CAPTURE(call);
    LoadBeside(call);
    CHECK(Run({"GET", "k"}) == Bulk("v"));
  }
}

TEST_CASE_METHOD(LoadRemovalTest,
                 "each command that writes is among those that remove a key, or among the others") {
  std::set<std::string> removing;
  for (const Words& call : Removing()) {
    std::string name = call[0];
    std::ranges::transform(name, name.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    removing.insert(name);
  }
  size_t writing = 0;
  for (const Reply& name : Run({"COMMAND", "LIST"}).elements) {
    const Reply facts = Run({"COMMAND", "INFO", name.text});
    const std::vector<Reply>& flags = facts.elements.at(0).elements.at(2).elements;
    if (std::ranges::find(flags, Simple("write")) == flags.end()) continue;
    ++writing;
    INFO(name.text << " writes: does it remove keys?");
    const std::string command = name.text.substr(0, name.text.find('|'));
    CHECK(removing.contains(command) != kOthers.contains(command));
  }
  CHECK(writing > 100);
}

}  // namespace mayfly::testing
