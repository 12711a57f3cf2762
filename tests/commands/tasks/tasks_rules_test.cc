// Which keys are tasks by a rule, and which keys no policy evicts because of tasks.
#include "commands/tasks/tasks_world.h"

namespace mayfly::testing {

TEST_CASE_METHOD(TasksTest, "no policy evicts a task: writes are refused when nothing else is left") {
  for (const char* policy :
       {"allkeys-lru", "volatile-lru", "allkeys-lfu", "volatile-lfu", "allkeys-random", "volatile-random",
        "volatile-ttl", "allkeys-sieve", "allkeys-s3fifo", "volatile-s3fifo"}) {
    INFO(policy);
    SetOption("maxmemory-policy", policy);
    for (int i = 0; i < 300; ++i)
      Run({"SET", "task:" + std::to_string(i), std::string(100, 'v'), "PX", "50000", "INTO", "jobs"});
    const std::string used = std::to_string(server().memory.All());
    SetOption("maxmemory", used);
    bool refused = false;
    for (int i = 0; i < 3'000 && !refused; ++i) {
      const Reply reply =
          Run({"SET", "more:" + std::to_string(i), std::string(100, 'v'), "PX", "60000", "INTO", "jobs"});
      refused = reply.kind == Reply::Kind::kError;
    }
    CHECK(refused);
    for (int i = 0; i < 300; ++i) CHECK(Run({"EXISTS", "task:" + std::to_string(i)}) == Integer(1));
    SetOption("maxmemory", "0");
    Run({"FLUSHALL", "SYNC"});
    TurnWheels();
  }
}

TEST_CASE_METHOD(TasksTest, "no policy evicts the stream of waiting tasks, nor one with pending entries") {
  server().changes.Unlisten(server().change_log);  // it grows with each change
  const auto fill = [&](const char* policy) {
    INFO(policy);
    SetOption("maxmemory-policy", policy);
    Run({"XGROUP", "CREATE", "jobs", "workers", "$", "MKSTREAM"});
    for (int i = 0; i < 200; ++i)
      Run({"SET", "task:" + std::to_string(i), "v", "PX", "50000", "INTO", "jobs"});
    Run({"XADD", "queue", "1-1", "f", "v"});
    Run({"XADD", "log", "1-1", "f", "v"});
    Run({"XGROUP", "CREATE", "queue", "workers", "0"});
    Run({"XGROUP", "CREATE", "log", "workers", "0"});
    Run({"XREADGROUP", "GROUP", "workers", "w", "STREAMS", "queue", ">"});
    for (const char* stream : {"jobs", "queue", "log"}) Run({"EXPIRE", stream, "100000"});
    AdvanceTime(1'000);
    SetOption("maxmemory", std::to_string(server().memory.All() + 500'000));
    for (int i = 0; i < 3'000; ++i)
      Run({"SET", "page:" + std::to_string(i), std::string(400, 'v'), "EX", "900"});
    CHECK(Run({"EXISTS", "jobs"}) == Integer(1));
    CHECK(Run({"EXISTS", "queue"}) == Integer(1));
    CHECK(Run({"DBSIZE"}).integer < 3'000);
    CHECK(Run({"SET", "page", "v", "EX", "900"}) == Ok());
    CHECK(keyspace().Validate());
  };
  for (const char* policy :
       {"allkeys-lru", "volatile-lru", "allkeys-lfu", "volatile-lfu", "allkeys-random", "volatile-random",
        "volatile-ttl", "allkeys-sieve", "allkeys-s3fifo", "volatile-s3fifo"}) {
    fill(policy);
    // The tasks go to the group that waits for them, and the reader still has what it holds.
    AdvanceTime(50'000);
    CHECK(Run({"XREADGROUP", "GROUP", "workers", "w", "COUNT", "500", "STREAMS", "jobs", ">"})
              .elements[0]
              .elements[1]
              .elements.size() == 200);
    CHECK(Run({"XACK", "queue", "workers", "1-1"}) == Integer(1));
    SetOption("maxmemory", "0");
    Run({"FLUSHALL", "SYNC"});
    TurnWheels();
  }
  // When nobody needs it any more, the stream is evicted as any key.
  fill("allkeys-lru");
  Run({"XACK", "queue", "workers", "1-1"});
  for (int i = 0; i < 6'000; ++i)
    Run({"SET", "more:" + std::to_string(i), std::string(400, 'v'), "EX", "900"});
  CHECK(Run({"EXISTS", "queue"}) == Integer(0));
  CHECK(Run({"EXISTS", "jobs"}) == Integer(1));
}

TEST_CASE_METHOD(TasksTest, "other keys are evicted beside tasks as ever") {
  SetOption("maxmemory-policy", "allkeys-lru");
  for (int i = 0; i < 300; ++i)
    Run({"SET", "task:" + std::to_string(i), std::string(100, 'v'), "PX", "50000", "INTO", "jobs"});
  SetOption("maxkeys", "400");
  for (int i = 0; i < 1'000; ++i) CHECK(Run({"SET", "page:" + std::to_string(i), "v"}) == Ok());
  CHECK(Run({"DBSIZE"}) == Integer(400));
  CHECK(Info("tasks_waiting") == 300);
}

TEST_CASE_METHOD(TasksTest, "a rule gives tasks to clients that only know SET EX") {
  SetOption("ttl-rule", "task:* into jobs");
  Run({"SET", "task:1", "a", "PX", "20"});
  Run({"PSETEX", "task:2", "20", "b"});
  Run({"SET", "task:3", "c"});
  Run({"PEXPIRE", "task:3", "20"});
  Run({"HSET", "task:4", "f", "v"});
  Run({"PEXPIRE", "task:4", "20"});
  Run({"MSETEX", "2", "task:5", "e", "task:6", "f", "PX", "20"});
  Run({"SET", "task:7", "lasts"});
  Run({"SET", "other", "v", "PX", "20"});
  CHECK(Run({"CONFIG", "GET", "ttl-rule"}).elements[1] == Bulk("task:* into jobs"));
  AdvanceTime(20);
  CHECK(Run({"XLEN", "jobs"}) == Integer(6));
  CHECK(Run({"EXISTS", "task:7"}) == Integer(1));
  CHECK(Run({"CONFIG", "SET", "ttl-rule", "task:* into"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(TasksTest, "a rule makes no task of an old key that keeps its deadline") {
  const std::vector<Words> edits{{"SET", "task:text", "w", "KEEPTTL"},
                                 {"SETRANGE", "task:text", "0", "w"},
                                 {"APPEND", "task:text", "w"},
                                 {"INCR", "task:number"},
                                 {"INCRBYFLOAT", "task:number", "1"},
                                 {"GETEX", "task:text"},
                                 {"BITFIELD", "task:text", "SET", "u8", "0", "1"},
                                 {"SETBIT", "task:text", "1", "1"},
                                 {"HSET", "task:hash", "f", "w"},
                                 {"TAG", "task:text", "t"},
                                 {"RPUSH", "task:list", "b"}};
  for (const Words& edit : edits) {
    CAPTURE(edit);
    SetOption("ttl-rule", "");
    Run({"FLUSHALL"});
    Run({"SET", "task:text", "v", "PX", "20"});
    Run({"SET", "task:number", "1", "PX", "20"});
    Run({"HSET", "task:hash", "f", "v"});
    Run({"PEXPIRE", "task:hash", "20"});
    Run({"RPUSH", "task:list", "a"});
    Run({"PEXPIRE", "task:list", "20"});
    SetOption("ttl-rule", "task:* into jobs");
    CHECK(Run(edit).kind != Reply::Kind::kError);
    CHECK(Info("tasks_waiting") == 0);
    AdvanceTime(20);
    CHECK(Run({"DBSIZE"}) == Integer(0));
  }
  // A deadline that is asked for makes a task of it.
  for (const Words& edit : std::vector<Words>{{"PEXPIRE", "task:text", "30"},
                                              {"GETEX", "task:text", "PX", "30"},
                                              {"SET", "task:text", "w", "PX", "30"}}) {
    CAPTURE(edit);
    SetOption("ttl-rule", "");
    Run({"FLUSHALL"});
    Run({"SET", "task:text", "v", "PX", "20"});
    SetOption("ttl-rule", "task:* into jobs");
    Run(edit);
    CHECK(Info("tasks_waiting") == 1);
  }
}

TEST_CASE_METHOD(TasksTest, "a rule with INTO refuses STALE, as INTO does") {
  SetOption("ttl-rule", "task:* into jobs");
  CHECK(Run({"SET", "task:1", "v", "EX", "9", "STALE", "5"}) ==
        Error("ERR a value that goes INTO a stream has no STALE window"));
  CHECK(Run({"SET", "page:1", "v", "EX", "9", "STALE", "5"}) == Ok());
}

}  // namespace mayfly::testing
