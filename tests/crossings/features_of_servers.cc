// Rows of the table of crossings: limits, namespaces, the log of removed keys, and what a server counts.
#include <algorithm>
#include <string>

#include "crossings/table.h"

namespace mayfly::testing::crossings {
namespace {

constexpr int64_t kLater = 60'000;
const std::string kLaterText = "60000";

// ---- the log of removed keys

void MakeLogged(Crossing& c) {
  c.Make({"SET", "k:deleted", "v"});
  c.Make({"SET", "k:expired", "v", "PX", "1000"});
  c.Make({"SET", "k:later", "v", "PX", kLaterText});
  c.AdvanceTo(1'000);
  c.Make({"DEL", "k:deleted"});
}
// The records of a key: reason, Unix time and value, each after a space.
Words RecordsOf(Crossing& c, const std::string& key) {
  Words records;
  const Reply found = c.Read({"EXPLOG", "READ", "0", "VALUES", "MATCH", key});
  if (found.elements.size() != 2) return {"no log"};
  for (const Reply& record : found.elements[1].elements) {
    records.push_back(record.elements[2].text + " " +
                      std::to_string(record.elements[1].integer - c.UnixMsOf(0)) + " " +
                      record.elements[5].text);
  }
  return records;
}
void ExpectRecords(Crossing& c, const std::string& key, const Words& expected) {
  const Words records = RecordsOf(c, key);
  std::string shown;
  for (const std::string& record : records) shown += record + "; ";
  c.Check(records == expected, "the log has of " + key + ": " + shown);
}
void CheckLogged(Crossing& c) {
  c.ExpectDeadline("k:later", kLater);
  if (c.has_terms() && c.reads_at_mayfly()) {
    ExpectRecords(c, "k:expired", {"expired 1000 v"});
    ExpectRecords(c, "k:deleted", {"deleted 1000 v"});
  }
  c.AdvanceTo(kLater);
  c.ExpectKeys({"k:later"}, 0);
  if (c.reads_at_mayfly()) ExpectRecords(c, "k:later", {"expired 60000 v"});
}

// ---- why keys are missed

void MakeMissed(Crossing& c) {
  c.Make({"SET", "k:ttl", "v", "PX", kLaterText});
  c.Make({"SET", "k:tagged", "v", "TAGS", "1", "t"});
  c.Make({"SET", "k:stays", "v"});
}
void CheckMissed(Crossing& c) {
  c.ExpectKeys({"k:ttl", "k:tagged", "k:stays"}, 3);
  c.AdvanceTo(kLater);
  c.ExpectWrite({"GET", "k:ttl"}, Null());
  c.ExpectCounted("keyspace_misses_expired", 1);
  if (!c.has_terms()) return;
  c.ExpectWrite({"INVALIDATE", "t"}, Integer(1));
  c.ExpectWrite({"GET", "k:tagged"}, Null());
  c.ExpectCounted("keyspace_misses_invalidated", 1);
  c.ExpectKeys({"k:ttl", "k:tagged", "k:stays"}, 1);
}

// ---- the shadow list, and the order of use

void MakeUsed(Crossing& c) {
  for (const char* key : {"k:old", "k:middle", "k:new"}) c.Make({"SET", key, "v"});
  c.AdvanceTo(10'000);
  c.Make({"GET", "k:middle"});
  c.AdvanceTo(20'000);
  c.Make({"GET", "k:new"});
}
// In steps of 64 ms, and without a downtime of less than a second, as in Redis.
void ExpectIdle(Crossing& c, const std::string& key, int64_t seconds) {
  const Reply idle = c.Read({"OBJECT", "IDLETIME", key});
  c.Check(idle.integer == seconds || idle.integer == seconds - 1,
          key + " is idle for " + std::to_string(idle.integer) + " s, not " + std::to_string(seconds));
}
void CheckUsed(Crossing& c) {
  c.ExpectKeys({"k:old", "k:middle", "k:new"}, 3);
  c.AdvanceTo(30'000);
  ExpectIdle(c, "k:old", 30);
  ExpectIdle(c, "k:middle", 20);
  ExpectIdle(c, "k:new", 10);
}
void CheckShadow(Crossing& c) {
  c.ExpectWrite({"GET", "k:old"}, Bulk("v"));
  c.ExpectWrite({"GET", "k:none"}, Null());
  c.ExpectCounted("hits_at_twice_the_memory", 1);
}

void MakeCounted(Crossing& c) {
  c.Make({"SET", "k:hot", "v"});
  c.Make({"SET", "k:cold", "v"});
  for (int i = 0; i < 200; ++i) c.Make({"GET", "k:hot"});
  c.Remember({"OBJECT", "FREQ", "k:hot"});
}
void CheckCounted(Crossing& c) {
  c.ExpectKeys({"k:hot", "k:cold"}, 2);
  c.ExpectSame({"OBJECT", "FREQ", "k:hot"});
  c.Expect({"OBJECT", "FREQ", "k:cold"}, Integer(5));
}

// ---- the limits of the server

constexpr int kMany = 200;

void MakeMany(Crossing& c) {
  for (int i = 0; i < kMany; ++i) c.Make({"SET", "k:" + std::to_string(i), std::string(1000, 'x')});
}
// A lower limit evicts keys, and they are gone everywhere.
void CheckEvicted(Crossing& c, const std::string& option, const std::string& limit) {
  c.ExpectKeys({"k:0", "k:100", "k:199"}, 3);
  c.ExpectCounted("evicted_keys", 0);
  c.writer().SetOption("maxmemory-policy", "allkeys-lru");
  c.writer().SetOption(option, limit);
  c.Make({"SET", "k:new", "v"});
  c.AdvanceTo(1'000);
  c.Check(c.Counter("evicted_keys") > kMany / 4, "the lower limit has evicted few keys");
  const Reply kept = Sorted(c.writer().Run({"KEYS", "*"}));
  c.Check(Sorted(c.Read({"KEYS", "*"})) == kept, "what was evicted is not gone everywhere");
  c.ExpectKeys({"k:new"}, 1);
}
void CheckMaxMemory(Crossing& c) {
  const uint64_t used = c.writer().server().memory.Data();
  CheckEvicted(c, "maxmemory", std::to_string(used - 100'000));
}
void CheckMaxKeys(Crossing& c) { CheckEvicted(c, "maxkeys", "100"); }

// ---- namespaces

constexpr int kTenantKeys = 10;

void MakeTenant(Crossing& c) {
  for (int i = 0; i < 3 * kTenantKeys; ++i) c.Make({"SET", "k:app:" + std::to_string(i), "v"});
  c.Make({"SET", "k:other", "v"});
  c.Remember({"EXISTS", "k:app:0", "k:app:19", "k:app:20", "k:app:29", "k:other"});
}
void CheckTenant(Crossing& c) {
  c.ExpectSame({"EXISTS", "k:app:0", "k:app:19", "k:app:20", "k:app:29", "k:other"});
  c.ExpectDeadline("k:app:20", kLater);
  c.ExpectDeadline("k:other", -1);
  c.ExpectCounted("evicted_keys", 0);
  c.Check(c.Read({"KEYS", "k:app:*"}).elements.size() == kTenantKeys,
          "the tenant has another number of keys");
  c.Make({"SET", "k:app:new", "v"});
  if (c.has_terms()) c.ExpectKeys({"k:app:20", "k:app:21", "k:app:new"}, 2);  // the oldest one makes room
  c.ExpectWrite({"NSFLUSH", "app"}, Integer(kTenantKeys));
  c.ExpectKeys({"k:app:29", "k:app:new", "k:other"}, 1);
}
void EndTenant(Crossing& c) {
  c.Make({"NSFLUSH", "app"});
  c.Make({"DEL", "k:other"});
}

const std::vector<Feature> kServerRows = {
    {.name = "EXPLOG",
     .section = "lifetimes.md#read-the-log-of-removed-keys",
     .covers = "EXPLOG",
     .options = {{"expire-log-size", "1mb"}, {"expire-log-values", "100"}},
     .make = MakeLogged,
     .check = CheckLogged},
    {.name = "why keys are missed",
     .section = "memory.md#why-keys-are-missed",
     .options = {{"miss-ring-entries", "1000"}},
     .make = MakeMissed,
     .check = CheckMissed},
    {.name = "order of use, idle times",
     .section = "snapshots.md#start-with-the-file",
     .make = MakeUsed,
     .check = CheckUsed,
     .none = {{Column::kMayflyReplica, "a replica has an order of use of its own"},
              {Column::kRedisReplica, "a replica has an order of use of its own"},
              {Column::kFailover, "a replica has an order of use of its own"},
              {Column::kMigrate, "a payload has no time of use"}}},
    {.name = "shadow-list",
     .section = "memory.md#would-twice-the-memory-help",
     .options = {{"shadow-list", "yes"}, {"maxkeys", "1000000"}},
     .make = MakeUsed,
     .check = CheckShadow},
    {.name = "LFU counts",
     .section = "memory.md#choose-a-policy",
     .options = {{"maxmemory-policy", "allkeys-lfu"},
                 {"maxmemory-samples", "10"},
                 {"lfu-log-factor", "1"},
                 {"lfu-decay-time", "0"}},
     .make = MakeCounted,
     .check = CheckCounted,
     .none = {{Column::kMayflyReplica, "a replica counts by itself"},
              {Column::kRedisReplica, "a replica counts by itself"},
              {Column::kFailover, "a replica counts by itself"},
              {Column::kMigrate, "a payload has no count"},
              {Column::kNamespace, "the namespace is filled under another policy"},
              {Column::kMemoryFull, "memory is filled under another policy"}}},
    {.name = "maxmemory",
     .section = "memory.md#set-the-limit",
     .options = {{"maxmemory", "1gb"}, {"maxmemory-policy", "allkeys-lru"}},
     .make = MakeMany,
     .check = CheckMaxMemory},
    {.name = "maxkeys",
     .section = "memory.md#set-the-limit",
     .options = {{"maxkeys", "100000"}, {"maxmemory-policy", "allkeys-lru"}},
     .make = MakeMany,
     .check = CheckMaxKeys},
    {.name = "namespaces",
     .section = "memory.md#reserve-memory-for-a-tenant",
     .covers = "NAMESPACE NSFLUSH",
     .options = {{"maxmemory-policy", "allkeys-lru"},
                 {"namespace", "app prefix k:app: maxkeys 10 default-ttl 1m"}},
     .make = MakeTenant,
     .check = CheckTenant,
     .end = EndTenant},
    {.name = "metrics, health, the status page",
     .section = "operating.md#metrics-and-status-page",
     .covers = "HOTKEYS BIGKEYS",
     .no_cells = "no key has any of it: they show what other rows count"},
    {.name = "a warm restart",
     .section = "snapshots.md#start-with-the-file",
     .no_cells = "is the columns of the snapshot and of the load"},
};

}  // namespace

std::span<const Feature> FeaturesOfServers() { return kServerRows; }

}  // namespace mayfly::testing::crossings
