// Rows of the table of crossings: leases, stale values, tags, tasks, and the forms of values.
#include <string>

#include "crossings/table.h"

namespace mayfly::testing::crossings {
namespace {

constexpr int64_t kDeadline = 60'000;
const std::string kDeadlineText = "60000";

// The status and the value of TAKE.
void ExpectTake(Crossing& c, const std::string& key, const std::string& status, const Reply& value) {
  const Reply reply = c.Write({"TAKE", key, "LEASE", "1000"});
  const bool is_right =
      reply.elements.size() == 4 && reply.elements[0] == Bulk(status) && reply.elements[1] == value;
  c.Check(is_right, "TAKE " + key + " answers not " + status);
}

// ---- leases

void MakeLease(Crossing& c) {
  c.Make({"SET", "k:page", "v", "PX", kDeadlineText});
  c.token = c.Lease("k:new");
}
// A lease is no value: it stays where it was taken, and its token is worth nothing elsewhere.
void CheckLease(Crossing& c) {
  c.Expect({"GET", "k:page"}, Bulk("v"));
  ExpectTake(c, "k:page", "HIT", Bulk("v"));
  if (c.at_home()) {
    ExpectTake(c, "k:new", "BUSY", Null());
    c.ExpectWrite({"SET", "k:new", "computed", "PXAT", c.UnixMs(kDeadline), "IFLEASE", c.token}, Ok());
    c.Expect({"GET", "k:new"}, Bulk("computed"));
    c.ExpectDeadline("k:new", kDeadline);
  } else {
    c.ExpectWrite({"SET", "k:new", "computed", "IFLEASE", c.token}, Null());
    ExpectTake(c, "k:new", "LEASE", Null());
    c.ExpectKeys({"k:new"}, 0);
  }
}
// DEL ends the lease, too.
void EndLease(Crossing& c) {
  c.Make({"UNLINK", "k:page", "k:new"});
  c.ExpectWrite({"SET", "k:new", "computed", "IFLEASE", c.token}, Null());
}

// ---- a value that was stored by the owner of a lease

void MakeByOwner(Crossing& c) {
  c.token = c.Lease("k:page");
  c.Make({"SET", "k:page", "v", "PX", kDeadlineText, "IFLEASE", c.token, "TAGS", "1", "table"});
  c.token = c.Lease("k:late");
}
// INVALIDATE comes between the lease and the SET.
void CheckByOwner(Crossing& c) {
  c.Expect({"GET", "k:page"}, Bulk("v"));
  c.ExpectDeadline("k:page", kDeadline);
  if (!c.has_terms()) return;
  c.ExpectOurs({"TAGS", "k:page"}, Bulks({"table"}));
  c.ExpectWrite({"INVALIDATE", "table"}, Integer(1));
  c.ExpectWrite({"SET", "k:late", "old", "IFLEASE", c.token, "TAGS", "1", "table"}, Null());
  c.ExpectKeys({"k:page", "k:late"}, 0);
}

// ---- an error for all callers

void MakeFailure(Crossing& c) {
  c.Make({"SET", "k:other", "v"});
  c.token = c.Lease("k:page");
  c.Make({"UNLEASE", "k:page", c.token, "ERR", "down", "RETRY", kDeadlineText});
}
void CheckFailure(Crossing& c) {
  c.Expect({"GET", "k:other"}, Bulk("v"));
  c.ExpectKeys({"k:page"}, 0);
  if (c.at_home()) {
    c.ExpectWrite({"TAKE", "k:page", "LEASE", "1000"}, Error("ERR down"));
    c.AdvanceTo(kDeadline);
  }
  ExpectTake(c, "k:page", "LEASE", Null());
}

// ---- stale values

void MakeStale(Crossing& c) {
  c.Make({"SET", "k:page", "v", "PX", kDeadlineText, "STALE", "30000", "TAGS", "1", "t"});
}
void CheckStaleUntil(Crossing& c, int64_t deadline) {
  ExpectTake(c, "k:page", "LEASE", Bulk("v"));
  ExpectTake(c, "k:page", "STALE", Bulk("v"));
  c.ExpectKeys({"k:page"}, 0);
  c.AdvanceTo(deadline + 29'999);
  ExpectTake(c, "k:page", "LEASE", Bulk("v"));
  c.AdvanceTo(deadline + 30'000);
  c.ExpectKeys({"k:page"}, 0);
  c.Check(c.Counter("stale_values") == 0, "a stale value is left after its window");
  c.AdvanceTo(deadline + 40'000);
  ExpectTake(c, "k:page", "LEASE", Null());
}
void CheckStale(Crossing& c) {
  c.Expect({"GET", "k:page"}, Bulk("v"));
  c.ExpectDeadline("k:page", kDeadline);
  c.AdvanceTo(kDeadline - 1);
  c.ExpectKeys({"k:page"}, 1);
  c.AdvanceTo(kDeadline);
  c.ExpectKeys({"k:page"}, 0);
  c.ExpectCounted("expired_keys", 1);
  if (c.has_terms()) CheckStaleUntil(c, kDeadline);
}
void EndStale(Crossing& c) { c.Make({"DEL", "k:page"}); }

// The deadline has come when the value crosses.
void MakeInWindow(Crossing& c) {
  c.Make({"SET", "k:page", "v", "PX", "1000", "STALE", "30000", "TAGS", "1", "t"});
  c.AdvanceTo(2'000);
}
void CheckInWindow(Crossing& c) {
  c.ExpectKeys({"k:page"}, 0);
  if (!c.reads_at_mayfly()) c.Expect({"DBSIZE"}, Integer(0));
  if (!c.has_terms()) return;
  if (c.has_stale_values())
    CheckStaleUntil(c, 1'000);
  else
    ExpectTake(c, "k:page", "LEASE", Null());
}
// A write that creates the key drops the stale value.
void CheckDroppedInWindow(Crossing& c) {
  c.Make({"INVALIDATE", "t"});
  ExpectTake(c, "k:page", "LEASE", Null());
}

// ---- tags

constexpr int kTagged = 1'000;

void MakeTagged(Crossing& c) {
  for (int i = 0; i < kTagged; ++i)
    c.Make({"SET", "k:tagged:" + std::to_string(i), "v", "PX", kDeadlineText, "TAGS", "2", "t", "all"});
  c.Make({"HSET", "k:hash", "f", "v"});
  c.Make({"TAG", "k:hash", "t"});
  c.Make({"SET", "k:other", "v", "TAGS", "1", "u"});
}
void CheckTagged(Crossing& c) {
  c.Expect({"GET", "k:tagged:0"}, Bulk("v"));
  c.ExpectDeadline("k:tagged:999", kDeadline);
  if (!c.has_terms()) return;
  c.ExpectOurs({"TAGS", "k:hash"}, Bulks({"t"}));
  if (c.reads_at_mayfly()) {
    const Reply tag = c.Read({"TAGINFO", "t"});
    c.Check(tag.elements.size() == 6 && tag.elements[1] == Integer(kTagged + 1), "TAGINFO counts other keys");
  }
  c.ExpectWrite({"INVALIDATE", "t"}, Integer(kTagged + 1));
  c.ExpectKeys({"k:tagged:0", "k:tagged:999", "k:hash", "k:other"}, 1);
  c.ExpectWrite({"INVALIDATE", "t", "all"}, Integer(0));
  c.AdvanceTo(kDeadline);
  c.Expect({"KEYS", "k:tagged:*"}, Array({}));
  c.ExpectCounted("invalidated_keys", kTagged + 1);
  c.ExpectOurs({"TAGINFO", "t"}, Null());
}
// While a file is loaded, the reply counts the keys that were loaded, and no others come.
void EndTagged(Crossing& c) { c.Make({"INVALIDATE", "t", "u"}); }

// ---- tasks

void MakeTasks(Crossing& c) {
  c.Make({"XGROUP", "CREATE", "k:jobs", "workers", "0", "MKSTREAM"});
  c.Make({"SET", "k:task", "v", "PX", kDeadlineText, "INTO", "k:jobs", "MAXLEN", "100"});
  c.Make({"HSET", "k:cart", "f", "v"});
  c.Make({"PEXPIRE", "k:cart", "90000", "INTO", "k:jobs"});
}
void ExpectTask(Crossing& c, const Reply& entry, const Words& fields) {
  std::vector<Reply> words;
  for (const std::string& field : fields) words.push_back(Bulk(field));
  c.Check(entry.elements.size() == 2 && entry.elements[1] == Array(words),
          "the entry of " + fields[1] + " is another");
}
void CheckTasks(Crossing& c) {
  c.Expect({"GET", "k:task"}, Bulk("v"));
  c.ExpectDeadline("k:task", kDeadline);
  c.Expect({"XLEN", "k:jobs"}, Integer(0));
  if (!c.has_terms()) return;
  c.Check(c.Counter("tasks_waiting") == 2, "tasks_waiting is not 2");
  c.AdvanceTo(50'000);
  c.ExpectOurs({"TIMERS", "k:jobs"},
               Array({Bulk("0"), Array({Bulk("k:task"), Integer(10'000), Bulk("k:cart"), Integer(40'000)})}));
  c.AdvanceTo(kDeadline - 1);
  c.ExpectKeys({"k:task"}, 1);
  c.AdvanceTo(kDeadline);
  c.ExpectKeys({"k:task"}, 0);
  c.Expect({"XLEN", "k:jobs"}, Integer(1));
  c.AdvanceTo(90'000);
  c.ExpectKeys({"k:cart"}, 0);
  const std::vector<Reply> entries = c.Read({"XRANGE", "k:jobs", "-", "+"}).elements;
  c.Check(entries.size() == 2, "not each task is in the stream once");
  if (entries.size() == 2) {
    ExpectTask(c, entries[0], {"key", "k:task", "value", "v", "due", c.UnixMs(kDeadline)});
    ExpectTask(c, entries[1], {"key", "k:cart", "due", c.UnixMs(90'000)});
  }
  c.ExpectCounted("tasks_delivered", 2);
  const Reply given =
      c.Write({"XREADGROUP", "GROUP", "workers", "ann", "COUNT", "10", "STREAMS", "k:jobs", ">"});
  c.Check(given.elements.size() == 1 && given.elements[0].elements[1].elements.size() == 2,
          "the group does not get the two tasks");
}
void EndTasks(Crossing& c) {
  c.Make({"DEL", "k:task"});
  c.Make({"PERSIST", "k:cart"});
  c.Make({"UNLINK", "k:cart", "k:jobs"});
}

// A worker has taken an entry, and the group goes on with it.
void MakePending(Crossing& c) {
  c.Make({"XGROUP", "CREATE", "k:jobs", "workers", "0", "MKSTREAM"});
  c.Make({"SET", "k:a", "v", "PX", "1000", "INTO", "k:jobs"});
  c.Make({"SET", "k:b", "v", "PX", "1001", "INTO", "k:jobs"});
  c.Make({"SET", "k:c", "v", "PX", "1002", "INTO", "k:jobs"});
  c.AdvanceTo(1'010);
  c.Make({"XREADGROUP", "GROUP", "workers", "ann", "COUNT", "2", "STREAMS", "k:jobs", ">"});
  c.Make({"XACKDEL", "k:jobs", "workers", "IDS", "1", c.UnixMs(1'000) + "-0"});
  c.Remember({"XPENDING", "k:jobs", "workers"});
}
void CheckPending(Crossing& c) {
  c.Expect({"XLEN", "k:jobs"}, Integer(2));
  c.ExpectSame({"XPENDING", "k:jobs", "workers"});
  const Reply claimed = c.Write({"XAUTOCLAIM", "k:jobs", "workers", "bob", "0", "0"});
  c.Check(claimed.elements.size() == 3 && claimed.elements[1].elements.size() == 1,
          "another worker does not get the pending entry");
  c.ExpectWrite({"XACKDEL", "k:jobs", "workers", "IDS", "1", c.UnixMs(1'001) + "-0"}, Array({Integer(1)}));
  const Reply last = c.Write({"XREADGROUP", "GROUP", "workers", "bob", "STREAMS", "k:jobs", ">"});
  c.Check(last.elements.size() == 1 && last.elements[0].elements[1].elements.size() == 1,
          "the group does not get the entry that nobody has read");
  c.Expect({"XLEN", "k:jobs"}, Integer(1));
}

// ---- packed forms of values

const std::vector<Words>& OfEveryForm() {
  static const std::vector<Words> kRequests = {
      {"RPUSH", "k:list", "a", "bb", "17", "a longer element"},
      {"SADD", "k:ints", "1", "2", "300000"},
      {"SADD", "k:set", "a", "bb", "17", "a longer member"},
      {"HSET", "k:hash", "f", "v", "17", "18", "a longer field", "w"},
      {"ZADD", "k:zset", "1.5", "a", "-1", "bb", "2", "a longer member"},
      {"XADD", "k:stream", "5-1", "f", "v", "g", "w"},
      {"PFADD", "k:hll", "a", "b", "c"},
      {"SET", "k:int", "-12"}};
  return kRequests;
}
void MakeForms(Crossing& c) {
  for (const Words& request : OfEveryForm()) {
    c.Make(request);
    if (request[0] != "PFADD") c.Remember({"OBJECT", "ENCODING", request[1]});
  }
  c.Remember({"DEBUG", "DIGEST-VALUE", "k:list", "k:ints", "k:set", "k:hash", "k:zset", "k:hll", "k:int"});
  c.Remember({"XRANGE", "k:stream", "-", "+"});
}
void CheckForms(Crossing& c) {
  c.ExpectSame({"DEBUG", "DIGEST-VALUE", "k:list", "k:ints", "k:set", "k:hash", "k:zset", "k:hll", "k:int"});
  c.ExpectSame({"XRANGE", "k:stream", "-", "+"});
  for (const Words& request : OfEveryForm()) {
    if (c.reads_at_mayfly() && request[0] != "PFADD") c.ExpectSame({"OBJECT", "ENCODING", request[1]});
  }
  c.ExpectWrite({"HSET", "k:hash", "new", "v"}, Integer(1));
  c.Expect({"HLEN", "k:hash"}, Integer(4));
  c.ExpectWrite({"ZADD", "k:zset", "3", "new"}, Integer(1));
  c.Expect({"ZRANK", "k:zset", "new"}, Integer(3));
}

const std::vector<Feature> kValueRows = {
    {.name = "leases of TAKE",
     .section = "caching.md#compute-a-missing-value-once",
     .covers = "TAKE",
     .make = MakeLease,
     .check = CheckLease,
     .end = EndLease},
    {.name = "SET with IFLEASE",
     .section = "caching.md#drop-values-by-tag",
     .covers = "IFLEASE",
     .make = MakeByOwner,
     .check = CheckByOwner},
    {.name = "an error for all callers",
     .section = "caching.md#report-a-failure",
     .covers = "UNLEASE",
     .make = MakeFailure,
     .check = CheckFailure},
    {.name = "STALE",
     .section = "caching.md#serve-the-old-value-meanwhile",
     .covers = "STALE",
     .make = MakeStale,
     .check = CheckStale,
     .end = EndStale},
    {.name = "a stale value in its window",
     .section = "caching.md#serve-the-old-value-meanwhile",
     .make = MakeInWindow,
     .check = CheckInWindow,
     .end = CheckDroppedInWindow},
    {.name = "tags",
     .section = "caching.md#drop-values-by-tag",
     .covers = "TAGS TAG TAGINFO INVALIDATE",
     .make = MakeTagged,
     .check = CheckTagged,
     .end = EndTagged},
    {.name = "tasks",
     .section = "sessions-and-jobs.md#run-tasks-later",
     .covers = "INTO MAXLEN TIMERS DRAIN",
     .make = MakeTasks,
     .check = CheckTasks,
     .end = EndTasks},
    {.name = "tasks that a worker has taken",
     .section = "sessions-and-jobs.md#run-tasks-later",
     .make = MakePending,
     .check = CheckPending},
    {.name = "packed forms of values",
     .section = "memory.md#estimate-the-size",
     .options = {{"hash-max-listpack-entries", "2"},
                 {"hash-max-listpack-value", "8"},
                 {"list-max-listpack-size", "2"},
                 {"set-max-intset-entries", "2"},
                 {"set-max-listpack-entries", "2"},
                 {"set-max-listpack-value", "8"},
                 {"zset-max-listpack-entries", "2"},
                 {"zset-max-listpack-value", "8"},
                 {"hll-sparse-max-bytes", "0"},
                 {"stream-node-max-bytes", "16"},
                 {"stream-node-max-entries", "1"}},
     .make = MakeForms,
     .check = CheckForms},
};

}  // namespace

std::span<const Feature> FeaturesOfValues() { return kValueRows; }

}  // namespace mayfly::testing::crossings
