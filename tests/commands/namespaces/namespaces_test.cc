// Namespaces: quotas, NSFLUSH, INFO namespaces, CONFIG SET namespace, and NAMESPACE.
#include <string>
#include <vector>

#include "commands/namespaces/namespaces_world.h"

namespace mayfly::testing {
namespace {

class NamespacesTest : public NamespacesWorld {
 public:
  size_t Keys(const std::string& name) { return std::stoul(Figure(name, "keys")); }
};

const Reply kNoMemory = Error("OOM command not allowed when used memory > 'maxmemory'.");

}  // namespace

TEST_CASE_METHOD(NamespacesTest, "a namespace has its keys in all databases, and INFO a line for it") {
  Have("app1 prefix app1: maxmemory 1mb maxkeys 1k app2 prefix app2: sub prefix app1:sub:");
  Run({"SET", "app1:a", "v"});
  Run({"HSET", "app1:b", "f", "v"});
  Run({"SET", "app1:sub:a", "v"});
  Run({"SELECT", "3"});
  Run({"MSET", "app1:a", "v", "app2:a", "v", "other", "v"});
  CHECK(Keys("app1") == 3);
  CHECK(Keys("app2") == 1);
  CHECK(Keys("sub") == 1);
  CHECK(Figure("app1", "prefix") == "app1:");
  CHECK(Figure("app1", "maxmemory") == "1048576");
  CHECK(Figure("app1", "maxkeys") == "1000");
  CHECK(std::stoul(Figure("app1", "memory")) > 3 * 16);
  CHECK(Run({"DBSIZE"}) == Integer(3));
  CHECK(Run({"INFO", "namespaces"}).text.starts_with("# Namespaces\r\nnamespaces:3\r\n"));
  Have("");
  CHECK(Run({"INFO", "namespaces"}) ==
        Bulk("# Namespaces\r\nnamespaces:0\r\nnamespace_memory_promised:0\r\n"));
  CHECK(Run({"GET", "app1:a"}) == Bulk("v"));
}

TEST_CASE_METHOD(NamespacesTest, "hits, misses, evicted and expired keys are counted by namespace") {
  Have("a maxkeys 2 b prefix b:");
  Run({"SET", "a:1", "v", "PX", "10"});
  Run({"GET", "a:1"});
  Run({"GET", "a:2"});
  Run({"EXISTS", "a:1", "a:2", "b:1", "c"});
  AdvanceTime(10);
  for (const char* key : {"a:2", "a:3", "a:4"}) Run({"SET", key, "v"});
  CHECK(Figure("a", "hits") == "2");
  CHECK(Figure("a", "misses") == "2");
  CHECK(Figure("a", "evicted") == "1");
  CHECK(Figure("a", "expired") == "1");
  CHECK(Figure("b", "misses") == "1");
  CHECK(stats().keyspace_misses == 4);
  Run({"CONFIG", "RESETSTAT"});
  for (const char* member : {"hits", "misses", "evicted", "expired"}) CHECK(Figure("a", member) == "0");
  CHECK(Keys("a") == 2);
}

TEST_CASE_METHOD(NamespacesTest, "a flood evicts the flooding namespace's own keys, and nothing else") {
  SetOption("maxmemory-policy", "allkeys-lru");
  Have("quiet maxmemory 1mb flood maxmemory 100kb few maxkeys 10");
  for (int i = 0; i < 100; ++i) {
    Run({"SET", "quiet:" + std::to_string(i), "v"});
    Run({"SET", "outside" + std::to_string(i), "v"});
  }
  for (int i = 0; i < 3000; ++i) {
    Run({"SET", "flood:" + std::to_string(i), std::string(100, 'x')});
    Run({"RPUSH", "few:" + std::to_string(i), "x"});
  }
  CHECK(Keys("quiet") == 100);
  CHECK(Keys("few") == 10);
  CHECK(Figure("quiet", "evicted") == "0");
  CHECK(std::stoul(Figure("flood", "memory")) <= 100 * 1024);
  CHECK(std::stoul(Figure("flood", "memory")) > 99 * 1024);
  CHECK(Run({"EXISTS", "flood:2999", "flood:0", "outside0"}) == Integer(2));
  CHECK(Run({"DBSIZE"}).integer == static_cast<int64_t>(210 + Keys("flood")));
  Run({"SET", "flood:big", std::string(90'000, 'x')});
  CHECK(std::stoul(Figure("flood", "memory")) <= 100 * 1024);
  Run({"EVAL", "for i = 1, 2000 do redis.call('set', 'flood:s' .. i, string.rep('y', 100)) end", "0"});
  CHECK(std::stoul(Figure("flood", "memory")) <= 100 * 1024);
  Run({"HSET", "flood:hash", "f", std::string(50'000, 'x')});
  Run({"APPEND", "flood:text", std::string(50'000, 'x')});
  CHECK(std::stoul(Figure("flood", "memory")) <= 100 * 1024);
}

TEST_CASE_METHOD(NamespacesTest, "beside promised quotas a flood of other keys is held by maxmemory alone") {
  SetOption("maxmemory-policy", "allkeys-lru");
  server().changes.Unlisten(server().change_log);
  SetOption("maxmemory", std::to_string(server().memory.Data() + 2'000'000));
  Have("tenant maxmemory 500kb");
  CHECK(Run({"INFO", "namespaces"}).text.find("namespace_memory_promised:1") != std::string::npos);
  for (int i = 0; i < 2000; ++i) Run({"SET", "tenant:" + std::to_string(i), "v"});
  for (int i = 0; i < 30'000; ++i) Run({"SET", "k" + std::to_string(i), std::string(100, 'x')});
  CHECK(Keys("tenant") == 2000);
  CHECK(server().databases.expiry_stats().evicted_keys > 10'000);
  Have("tenant maxmemory 50mb");  // more than there is
  CHECK(Run({"INFO", "namespaces"}).text.find("namespace_memory_promised:0") != std::string::npos);
  AdvanceTime(1000);  // its keys are the older ones now
  for (int i = 0; i < 30'000; ++i) Run({"SET", "k" + std::to_string(i), std::string(100, 'x')});
  CHECK(Keys("tenant") == 0);
  SetOption("maxmemory", "100mb");
  CHECK(Run({"INFO", "namespaces"}).text.find("namespace_memory_promised:1") != std::string::npos);
}

TEST_CASE_METHOD(NamespacesTest, "a promise leaves room for the program's own memory") {
  const uint64_t own = server().memory.AtStart();
  constexpr uint64_t kTenant = 50'000'000;
  Have("tenant maxmemory " + std::to_string(kTenant));
  const auto promised = [&](uint64_t maxmemory) {
    SetOption("maxmemory", std::to_string(maxmemory));
    return Run({"INFO", "namespaces"}).text.find("namespace_memory_promised:1") != std::string::npos;
  };
  CHECK(promised(kTenant + own));
  CHECK_FALSE(promised(kTenant + own - 1));
  CHECK_FALSE((own != 0 && promised(kTenant)));
}

TEST_CASE_METHOD(NamespacesTest,
                 "a flood evicts the keys of a namespace that has no quota of memory any more") {
  SetOption("maxmemory-policy", "allkeys-lru");
  server().changes.Unlisten(server().change_log);
  SetOption("maxmemory", std::to_string(server().memory.Data() + 2'000'000));
  Have("tenant maxmemory 500kb");
  for (int i = 0; i < 2000; ++i) Run({"SET", "tenant:" + std::to_string(i), "v"});
  CHECK(Run({"INFO", "namespaces"}).text.find("namespace_memory_promised:1") != std::string::npos);
  SECTION("since it is removed") { CHECK(Run({"NAMESPACE", "DEL", "tenant"}) == Integer(1)); }
  SECTION("since its quota is removed") {
    CHECK(Run({"NAMESPACE", "SET", "tenant", "maxmemory", "0", "default-ttl", "1h"}) == Ok());
  }
  SECTION("since its name is another's, with a quota") { Have("tenant prefix t: maxmemory 500kb"); }
  AdvanceTime(1000);
  for (int i = 0; i < 30'000; ++i) Run({"SET", "k" + std::to_string(i), std::string(100, 'x')});
  CHECK(Run({"KEYS", "tenant:*"}) == Array({}));
}

TEST_CASE_METHOD(NamespacesTest, "a removed namespace's quota of keys is for all, until it is there again") {
  SetOption("maxmemory-policy", "allkeys-lru");
  SetOption("maxkeys", "100");
  const auto flood = [&] {
    AdvanceTime(1000);
    for (int i = 0; i < 300; ++i) Run({"SET", "k" + std::to_string(i), "v"});
    return Run({"KEYS", "tenant:*"}).elements.size();
  };
  const auto fill = [&] {
    for (int i = 0; i < 50; ++i) Run({"SET", "tenant:" + std::to_string(i), "v"});
  };
  Have("tenant maxkeys 50");
  fill();
  CHECK(flood() == 50);
  SECTION("so that a flood evicts its keys") {
    CHECK(Run({"NAMESPACE", "DEL", "tenant"}) == Integer(1));
    CHECK(flood() == 0);
    Have("tenant maxkeys 50");
    fill();
    CHECK(flood() == 50);
  }
  SECTION("and the keys that have stayed are its keys again") {
    CHECK(Run({"NAMESPACE", "DEL", "tenant"}) == Integer(1));
    Have("tenant maxkeys 50");
    CHECK(Keys("tenant") == 50);
    CHECK(flood() == 50);
  }
}

TEST_CASE_METHOD(NamespacesTest,
                 "what was invalidated makes room in a namespace before anything is evicted") {
  SetOption("maxmemory-policy", "allkeys-lru");
  Have("m maxkeys 3000");
  for (int i = 0; i < 1000; ++i) Run({"SET", "m:live" + std::to_string(i), "v"});
  for (int i = 0; i < 2000; ++i) Run({"SET", "m:t" + std::to_string(i), "v", "TAGS", "1", "t"});
  CHECK(Run({"INVALIDATE", "t"}) == Integer(2000));
  for (int i = 0; i < 1000; ++i) Run({"SET", "m:new" + std::to_string(i), "v"});
  CHECK(Figure("m", "evicted") == "0");
  CHECK(Run({"EXISTS", "m:live0", "m:live999", "m:new0"}) == Integer(3));
}

TEST_CASE_METHOD(NamespacesTest, "the keys of a namespace that is named no more can still be flushed") {
  Have("old maxkeys 10");
  Run({"MSET", "old:1", "v", "old:2", "v"});
  Have("new maxkeys 10");
  CHECK(Run({"NSFLUSH", "old"}) == Integer(2));
  CHECK(Run({"EXISTS", "old:1", "old:2"}) == Integer(0));
  CHECK(Run({"NSFLUSH", "never"}) == Error("ERR no such namespace"));
}

TEST_CASE_METHOD(NamespacesTest,
                 "a namespace that is full and may evict nothing refuses writes, and others go on") {
  SetOption("maxmemory-policy", "volatile-lru");
  Have("full maxmemory 10kb other maxmemory 10kb");
  int written = 0;
  while (written < 1000 && Run({"SET", "full:" + std::to_string(written), std::string(100, 'x')}) == Ok())
    ++written;
  CHECK(written > 50);
  CHECK(written < 100);
  CHECK(Run({"SET", "full:0", "v"}) == kNoMemory);
  CHECK(Run({"MSET", "k", "v", "full:0", "v"}) == kNoMemory);
  CHECK(Run({"RPUSH", "full:list", "v"}) == kNoMemory);
  CHECK(Run({"COPY", "full:1", "full:copy"}) == kNoMemory);
  CHECK(Run({"EVAL", "return redis.pcall('set', KEYS[1], 'v')['err']", "1", "full:0"}).text.find("OOM") !=
        std::string::npos);
  CHECK(Run({"SET", "k", "v"}) == Ok());
  CHECK(Run({"SET", "other:1", "v"}) == Ok());
  CHECK(Run({"COPY", "full:1", "copy"}) == Integer(1));
  CHECK(Run({"GET", "full:1"}) == Bulk(std::string(100, 'x')));
  Run({"MULTI"});
  CHECK(Run({"SET", "full:0", "v"}) == kNoMemory);
  CHECK(Run({"EXEC"}).kind == Reply::Kind::kError);

  SECTION("and RENAME and scripts that have written elsewhere bring nothing into it") {
    CHECK(Run({"RENAME", "k", "full:k"}) == kNoMemory);
    CHECK(Run({"RENAME", "k", "other:k"}) == Ok());
    const char* script = "redis.call('set', 'k', 'v') return redis.call('set', KEYS[1], 'v')";
    CHECK(Run({"EVAL", script, "1", "full:0"}).text.find("OOM") != std::string::npos);
    CHECK(Run({"EVAL", script, "1", "other:0"}) == Ok());
    CHECK(Keys("full") == static_cast<size_t>(written));
  }
  SECTION("until some of it may be evicted") {
    CHECK(Run({"EXPIRE", "full:1", "100"}) == Integer(1));
    CHECK(Run({"EXPIRE", "full:2", "100"}) == Integer(1));
    CHECK(Run({"SET", "full:0", "v"}) == Ok());
    CHECK(Figure("full", "evicted") == "1");
  }
  SECTION("until some of it is deleted") {
    CHECK(Run({"DEL", "full:1", "full:2"}) == Integer(2));
    CHECK(Run({"SET", "full:0", "v"}) == Ok());
  }
  SECTION("until it is flushed") {
    CHECK(Run({"NSFLUSH", "full"}) == Integer(written));
    CHECK(Run({"SET", "full:0", "v"}) == Ok());
  }
  SECTION("until its limit is raised") {
    Have("full maxmemory 100kb");
    CHECK(Run({"SET", "full:0", "v"}) == Ok());
  }
}

TEST_CASE_METHOD(NamespacesTest, "NSFLUSH removes a namespace's keys of all databases at once") {
  Have("a prefix a: b prefix b:");
  Run({"MSET", "a:1", "v", "a:2", "v", "b:1", "v", "c", "v"});
  Run({"SELECT", "5"});
  Run({"SET", "a:1", "v"});
  TakeChanges();
  CHECK(Run({"NSFLUSH", "a"}) == Integer(3));
  CHECK(TakeChanges() == std::vector<std::string>{"flushed a:*", "flushed a:*"});
  CHECK(Run({"EXISTS", "a:1"}) == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(0));
  Run({"SELECT", "0"});
  CHECK(Run({"DBSIZE"}) == Integer(2));
  CHECK(Run({"KEYS", "a:*"}) == Array({}));
  CHECK(Run({"SCAN", "0", "COUNT", "100"}).elements[1].elements.size() == 2);
  CHECK(Run({"SET", "a:1", "new"}) == Ok());
  TurnWheels();
  CHECK(server().databases.waiting_keys() == 0);
  CHECK(Run({"GET", "a:1"}) == Bulk("new"));
  CHECK(Run({"NSFLUSH", "a"}) == Integer(1));
  CHECK(Run({"NSFLUSH", "a"}) == Integer(0));
  CHECK(Run({"NSFLUSH", "c"}) == Error("ERR no such namespace"));
}

TEST_CASE_METHOD(NamespacesTest, "NSFLUSH is seen by those who watch, cache or compute its keys") {
  Have("a prefix a:");
  Run({"MSET", "a:1", "v", "b:1", "v"});
  TestClient& other = Connect();
  Run({"WATCH", "a:1"});
  CHECK(other.Run({"NSFLUSH", "a"}) == Integer(1));
  Run({"MULTI"});
  Run({"PING"});
  CHECK(Run({"EXEC"}) == NullArray());

  Run({"SET", "a:1", "v"});
  Run({"WATCH", "b:1"});
  other.Run({"NSFLUSH", "a"});
  Run({"MULTI"});
  Run({"PING"});
  CHECK(Run({"EXEC"}) == Array({Simple("PONG")}));

  UseResp3();
  Run({"CLIENT", "TRACKING", "ON"});
  Run({"SET", "a:1", "v"});
  Run({"GET", "a:1"});
  other.Run({"NSFLUSH", "a"});
  CHECK(client().Received().size() == 1);

  other.Run({"TAKE", "a:2", "LEASE", "1000"});
  CHECK(server().leases.size() == 1);
  Run({"NSFLUSH", "a"});
  CHECK(server().leases.size() == 0);
}

TEST_CASE_METHOD(NamespacesTest, "NSFLUSH is not seen by those who watch keys of a namespace within") {
  Have("outer prefix a: inner prefix a:b:");
  Run({"MSET", "a:1", "v", "a:b:1", "v"});
  TestClient& other = Connect();
  Run({"WATCH", "a:b:1", "a:b:none"});
  CHECK(other.Run({"NSFLUSH", "outer"}) == Integer(1));
  Run({"MULTI"});
  Run({"PING"});
  CHECK(Run({"EXEC"}) == Array({Simple("PONG")}));
  Run({"WATCH", "a:b:1"});
  CHECK(other.Run({"NSFLUSH", "inner"}) == Integer(1));
  Run({"MULTI"});
  Run({"PING"});
  CHECK(Run({"EXEC"}) == NullArray());
}

TEST_CASE_METHOD(NamespacesTest, "NSFLUSH ends the leases of the keys that it removes, and of no others") {
  const auto leased = [this](const std::string& key) { return server().leases.Find(0, key) != nullptr; };
  Run({"SET", "a:old", "v", "PX", "500"});
  Have("outer prefix a:");
  Run({"SET", "a:b:old", "v", "PX", "500"});
  Have("outer prefix a: inner prefix a:b:");
  Run({"SET", "a:b:new", "v", "PX", "500"});
  for (const char* key : {"a:old", "a:b:old", "a:b:new", "a:none", "a:b:none", "b"})
    CHECK(Run({"TAKE", key, "LEASE", "1000", "EARLY", "1000"}).elements.at(0) == Bulk("LEASE"));
  CHECK(Run({"NSFLUSH", "outer"}) == Integer(1));
  CHECK(Run({"EXISTS", "a:old", "a:b:old", "a:b:new"}) == Integer(2));
  CHECK_FALSE(leased("a:b:old"));
  CHECK_FALSE(leased("a:none"));
  for (const char* key : {"a:old", "a:b:new", "a:b:none", "b"}) CHECK(leased(key));
  CHECK(Run({"NSFLUSH", "inner"}) == Integer(1));
  CHECK_FALSE(leased("a:b:new"));
  CHECK_FALSE(leased("a:b:none"));
  for (const char* key : {"a:old", "b"}) CHECK(leased(key));
}

TEST_CASE_METHOD(NamespacesTest,
                 "a namespace's default TTL is below the rules and above the default of all") {
  Have("a default-ttl 100 b prefix b:");
  SetOption("default-ttl", "7");
  SetOption("ttl-rule", "a:r* default 50");
  Run({"MSET", "a:1", "v", "a:r", "v", "b:1", "v", "c", "v"});
  CHECK(Run({"TTL", "a:1"}) == Integer(100));
  CHECK(Run({"TTL", "a:r"}) == Integer(50));
  CHECK(Run({"TTL", "b:1"}) == Integer(7));
  CHECK(Run({"TTL", "c"}) == Integer(7));
  Have("a prefix a:");
  Run({"SET", "a:1", "v"});
  CHECK(Run({"TTL", "a:1"}) == Integer(7));
}

TEST_CASE_METHOD(NamespacesTest, "a CONFIG SET that is refused leaves the namespaces as they were") {
  Have("a maxkeys 5");
  Run({"SET", "a:1", "v"});
  CHECK(Run({"CONFIG", "SET", "namespace", "b", "maxkeys", "-1"}).kind == Reply::Kind::kError);
  CHECK(Run({"CONFIG", "SET", "namespace", "b prefix"}).kind == Reply::Kind::kError);
  CHECK(Run({"CONFIG", "SET", "namespace", "shop prefx a"}) ==
        Error("ERR CONFIG SET failed (possibly related to argument 'namespace') - after 'shop' comes prefix, "
              "maxmemory, maxkeys or default-ttl with its value, not 'prefx'"));
  CHECK(Run({"CONFIG", "SET", "namespace", "b"}).kind == Reply::Kind::kError);
  std::string many;
  for (int i = 0; i < 241; ++i) many += (i == 0 ? "n" : " n") + std::to_string(i) + " maxkeys 9";
  CHECK(Run({"CONFIG", "SET", "namespace", many}) ==
        Error("ERR CONFIG SET failed (possibly related to argument 'namespace') - 241 namespaces beside 16 "
              "databases "
              "are too many: there may be 256 of both together"));
  CHECK(Run({"CONFIG", "GET", "namespace"}) == Array({Bulk("namespace"), Bulk("a prefix a: maxkeys 5")}));
  CHECK(Keys("a") == 1);
  Have(many.substr(0, many.rfind(" n")));
}

TEST_CASE_METHOD(NamespacesTest, "a lowered limit is met by the next writes and turns") {
  Have("a maxkeys 1k");
  for (int i = 0; i < 1000; ++i) Run({"SET", "a:" + std::to_string(i), "v"});
  Have("a maxkeys 10");
  Run({"SET", "b", "v"});
  CHECK(Keys("a") < 1000);
  CHECK(Keys("a") > 10);
  while (server().executor.EvictSome(100)) {
  }
  CHECK(Keys("a") == 10);
}

TEST_CASE_METHOD(NamespacesTest, "a write for which no share is left is refused and changes nothing") {
  std::string many;
  for (int i = 0; i < 240; ++i) many += (i == 0 ? "n" : " n") + std::to_string(i) + " maxkeys 9";
  Have(many);
  for (int i = 0; i < 240; ++i) Run({"SET", "n" + std::to_string(i) + ":k", "v"});
  Run({"SELECT", "1"});
  const Reply error = Error("ERR namespaces have keys in too many databases");
  CHECK(Run({"SET", "n1:k", "v"}) == error);
  CHECK(Run({"HSET", "n1:k", "f", "v"}) == error);
  CHECK(Run({"MSET", "k", "v", "n1:k", "v"}) == error);
  CHECK(Run({"DBSIZE"}) == Integer(0));
  Run({"SELECT", "0"});
  CHECK(Run({"MOVE", "n1:k", "1"}) == error);
  CHECK(Run({"GET", "n1:k"}) == Bulk("v"));
  CHECK(Run({"NSFLUSH", "n7"}) == Integer(1));
  CHECK(Run({"MOVE", "n1:k", "1"}) == Integer(1));
}

// ---- NAMESPACE

TEST_CASE_METHOD(NamespacesTest, "NAMESPACE SET and DEL change one namespace and leave the others") {
  const auto spaces = [&] { return Run({"CONFIG", "GET", "namespace"}).elements.at(1).text; };
  CHECK(Run({"NAMESPACE", "SET", "shop", "prefix", "s:", "maxkeys", "2"}) == Ok());
  CHECK(Run({"namespace", "set", "blog", "default-ttl", "1h"}) == Ok());
  CHECK(spaces() == "shop prefix s: maxkeys 2 blog prefix blog: default-ttl 3600");
  Run({"MSET", "s:1", "v", "s:2", "v", "s:3", "v", "blog:1", "v"});
  Run({"SET", "s:4", "v"});
  CHECK(Keys("shop") == 2);
  CHECK(Run({"TTL", "blog:1"}) == Integer(3600));
  CHECK(Run({"NAMESPACE", "SET", "shop", "maxmemory", "1mb", "maxkeys", "0"}) == Ok());
  CHECK(spaces() == "shop prefix s: maxmemory 1048576 blog prefix blog: default-ttl 3600");
  CHECK(Run({"NAMESPACE", "DEL", "blog"}) == Integer(1));
  CHECK(Run({"NAMESPACE", "DEL", "blog"}) == Integer(0));
  CHECK(spaces() == "shop prefix s: maxmemory 1048576");
  CHECK(Run({"NAMESPACE", "DEL", "shop"}) == Integer(1));
  CHECK(spaces().empty());
  CHECK(Run({"GET", "s:4"}) == Bulk("v"));
}

TEST_CASE_METHOD(NamespacesTest, "NAMESPACE LIST tells the namespaces, and HELP how to set them") {
  CHECK(Run({"NAMESPACE", "LIST"}) == Array({}));
  Have("shop prefix s: maxmemory 1mb default-ttl 90 blog maxkeys 5");
  CHECK(Run({"NAMESPACE", "LIST"}) ==
        Array({Array({Bulk("name"), Bulk("shop"), Bulk("prefix"), Bulk("s:"), Bulk("maxmemory"),
                      Integer(1 << 20), Bulk("maxkeys"), Integer(0), Bulk("default-ttl-ms"), Integer(90000)}),
               Array({Bulk("name"), Bulk("blog"), Bulk("prefix"), Bulk("blog:"), Bulk("maxmemory"),
                      Integer(0), Bulk("maxkeys"), Integer(5), Bulk("default-ttl-ms"), Integer(0)})}));
  CHECK(Run({"NAMESPACE", "HELP"}).elements.size() > 6);
}

TEST_CASE_METHOD(NamespacesTest, "NAMESPACE SET that is wrong says why and changes nothing") {
  Have("a prefix x: maxkeys 5");
  const auto error = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"NAMESPACE", "SET"});
    return Run(words);
  };
  CHECK(error({"b", "prefx", "y"}) ==
        Error("ERR after 'b' comes prefix, maxmemory, maxkeys or default-ttl with its value, not 'prefx'"));
  CHECK(error({"b", "prefix", "x:"}) == Error("ERR 'a' and 'b' have the same prefix"));
  CHECK(error({"b", "maxkeys", "5", "c"}) ==
        Error("ERR 'c' is none of prefix, maxmemory, maxkeys, default-ttl"));
  CHECK(error({"b", "maxkeys", "-5"}) == Error("ERR maxkeys must be a number, as 500, 10k or 1m"));
  CHECK(error({"b"}) == Error("ERR wrong number of arguments for 'namespace|set' command: NAMESPACE SET name "
                              "word value [word value ...]"));
  SetOption("namespace", "a prefix x: maxkeys 5");
  for (int i = 0; i < 239; ++i) CHECK(error({"n" + std::to_string(i), "maxkeys", "1"}) == Ok());
  CHECK(error({"more", "maxkeys", "1"}) ==
        Error("ERR 241 namespaces beside 16 databases are too many: there may "
              "be 256 of both together"));
  CHECK(Run({"NAMESPACE", "LIST"}).elements.size() == 240);
}

TEST_CASE_METHOD(NamespacesTest, "NAMESPACE is for administrators, as CONFIG is") {
  Run({"ACL", "SETUSER", "app", "on", "nopass", "+@all", "-@dangerous", "~*"});
  TestClient& app = Connect();
  CHECK(app.Run({"AUTH", "app", "x"}) == Ok());
  for (const std::vector<std::string>& call :
       {std::vector<std::string>{"NAMESPACE", "SET", "a", "maxkeys", "1"},
        std::vector<std::string>{"NAMESPACE", "DEL", "a"}, std::vector<std::string>{"NAMESPACE", "LIST"}})
    CHECK(app.Run(call).text.starts_with("NOPERM"));
}

TEST_CASE_METHOD(NamespacesTest,
                 "several namespaces above their lowered limits are all brought within them") {
  Have("a maxkeys 1k b maxkeys 1k c maxkeys 1k");
  for (int i = 0; i < 600; ++i) {
    for (const char* name : {"a:", "b:", "c:"}) Run({"SET", name + std::to_string(i), "v"});
  }
  Have("a maxkeys 10 b maxkeys 20 c maxkeys 30");
  size_t slices = 0;
  while (server().executor.EvictSome(50)) ++slices;
  CHECK(slices > 5);
  CHECK(Keys("a") == 10);
  CHECK(Keys("b") == 20);
  CHECK(Keys("c") == 30);
  CHECK(Run({"EXISTS", "a:599", "b:599", "c:599"}) == Integer(3));
}

TEST_CASE_METHOD(NamespacesTest,
                 "limits of keys are promises as soon as maxkeys has room for them, and no longer") {
  SetOption("maxmemory-policy", "allkeys-lru");
  Have("tenant maxkeys 50");
  const auto flood = [&] {
    for (int i = 0; i < 50; ++i) Run({"SET", "tenant:" + std::to_string(i), "v"});
    AdvanceTime(1000);  // its keys are the older ones
    for (int i = 0; i < 300; ++i) Run({"SET", "k" + std::to_string(i), "v"});
    while (server().executor.EvictSome(100)) {
    }
    return Keys("tenant");
  };
  CHECK(flood() == 50);
  REQUIRE(Run({"CONFIG", "SET", "maxkeys", "100"}) == Ok());
  CHECK(flood() == 50);
  CHECK(Run({"DBSIZE"}) == Integer(100));
  REQUIRE(Run({"CONFIG", "SET", "maxkeys", "49"}) == Ok());
  CHECK(flood() == 0);
  REQUIRE(Run({"CONFIG", "SET", "maxkeys", "50"}) == Ok());
  CHECK(flood() == 50);
}

}  // namespace mayfly::testing
