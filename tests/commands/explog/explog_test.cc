// EXPLOG: the log of keys that are gone.
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "commands/explog/explog_world.h"
#include "commands/memory/failing_allocation.h"
#include "server/hubs/hubs.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;
using Request = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(ExpLogTest, "an expired key is logged once, at its deadline, with its value") {
  Run({"SET", "task", "send the mail", "PX", "20"});
  const int64_t due = WallMs() + 20;
  AdvanceTime(19);
  CHECK(Read(0) == Array({}));
  AdvanceTime(1);
  CHECK(Read(0) == Array({Event(0, due, "expired", "task")}));
  CHECK(Read(0, {"VALUES"}) == Array({With(Event(0, due, "expired", "task"), Bulk("send the mail"))}));
  CHECK(Run({"GET", "task"}) == Null());
  AdvanceTime(1000);
  CHECK(Read(1) == Array({}));
}

TEST_CASE_METHOD(ExpLogTest, "the time of an expired key is its deadline, however late it was freed") {
  Run({"SET", "relative", "v", "PX", "20"});
  Run({"SET", "absolute", "v", "PXAT", UnixMs(30)});
  const int64_t now = WallMs();
  AdvanceTime(500);
  const Reply events = Read(0);
  REQUIRE(events.elements.size() == 2);
  for (const Reply& event : events.elements)
    CHECK(event.elements[1] == Integer(now + (event.elements[4] == Bulk("relative") ? 20 : 30)));
}

TEST_CASE_METHOD(ExpLogTest, "a key that a command finds expired is logged then, and once") {
  Run({"SET", "found", "v", "PX", "20"});
  const int64_t due = WallMs() + 20;
  LetTimePass(25);
  CHECK(Run({"GET", "found"}) == Null());
  CHECK(Read(0) == Array({Event(0, due, "expired", "found")}));
  TurnWheels();
  AdvanceTime(100);
  CHECK(Read(1) == Array({}));
}

TEST_CASE_METHOD(ExpLogTest,
                 "expired keys come in the order of their deadlines, however long the loop was held up") {
  constexpr int kTasks = 20'000;
  std::mt19937_64 random(20240302);
  SetOption("expire-log-size", "8mb");
  for (const char* option : {"PX", "PXAT"}) {
    INFO(option);
    const bool absolute = std::string_view(option) == "PXAT";
    first = Info("next-seq");
    for (int i = 0; i < kTasks; ++i) {
      const auto delay = static_cast<int64_t>(1 + random() % 3'000);
      Run({"SET", "task:" + std::to_string(i), std::to_string(i), option,
           absolute ? UnixMs(delay) : std::to_string(delay)});
      if (i % 100 == 0) LetTimePass(1);
    }
    for (const uint64_t pause : {1, 7, 500, 1, 10'000}) AdvanceTime(pause);
    int64_t before_ms = 0;
    std::vector<bool> seen(kTasks);
    for (int64_t at = 0; at < kTasks;) {
      const Reply events = Read(at, {"VALUES"});
      REQUIRE_FALSE(events.elements.empty());
      for (const Reply& event : events.elements) {
        REQUIRE(event.elements[0] == Integer(first + at++));
        REQUIRE(event.elements[1].integer >= before_ms);
        before_ms = event.elements[1].integer;
        const size_t task = std::stoul(event.elements[5].text);
        REQUIRE(event.elements[4] == Bulk("task:" + std::to_string(task)));
        REQUIRE_FALSE(seen[task]);
        seen[task] = true;
      }
    }
    CHECK(Read(kTasks) == Array({}));
  }
}

TEST_CASE_METHOD(ExpLogTest,
                 "what deletes keys is logged as deleted, and what moves or replaces them is not") {
  Run({"MSET", "a", "1", "b", "2", "c", "3", "d", "4", "e", "5"});
  Run({"DEL", "a", "absent"});
  Run({"UNLINK", "b"});
  Run({"GETDEL", "c"});
  Run({"PEXPIRE", "d", "-1"});
  Run({"SET", "e", "new"});
  Run({"RENAME", "e", "f"});
  Run({"MOVE", "f", "1"});
  Run({"RPUSH", "list", "x"});
  Run({"LPOP", "list"});
  Run({"SET", "g", "7"});
  Run({"FLUSHDB"});
  Run({"FLUSHALL"});
  const int64_t now = WallMs();
  CHECK(Read(0, {"VALUES"}) ==
        Array({With(Event(0, now, "deleted", "a"), Bulk("1")), With(Event(1, now, "deleted", "b"), Bulk("2")),
               With(Event(2, now, "deleted", "c"), Bulk("3")), With(Event(3, now, "deleted", "d"), Bulk("4")),
               With(Event(4, now, "deleted", "list"), Null())}));
}

TEST_CASE_METHOD(ExpLogTest, "evicted keys are logged with their values") {
  Run({"CONFIG", "SET", "maxkeys", "2"});
  Run({"SET", "a", "1"});
  Run({"SET", "b", "2"});
  Run({"SET", "c", "3"});
  CHECK(Read(0, {"VALUES"}) == Array({With(Event(0, WallMs(), "evicted", "a"), Bulk("1"))}));
}

TEST_CASE_METHOD(ExpLogTest, "events tell their databases") {
  Run({"SELECT", "7"});
  Run({"SET", "k", "v", "PX", "5"});
  Run({"SELECT", "0"});
  AdvanceTime(5);
  CHECK(Read(0) == Array({Event(0, WallMs(), "expired", "k", 7)}));
}

TEST_CASE_METHOD(ExpLogTest, "a value whose last members expire has expired") {
  Run({"HSETEX", "hash", "PX", "20", "FIELDS", "1", "f", "v"});
  Run({"SADDEX", "set", "1", "m"});
  AdvanceTime(20);
  CHECK(Read(0) == Array({Event(0, WallMs(), "expired", "hash")}));
  AdvanceTime(980);
  CHECK(Read(1, {"VALUES"}) == Array({With(Event(1, WallMs(), "expired", "set"), Null())}));
}

TEST_CASE_METHOD(ExpLogTest, "values of every form of a string are kept, up to expire-log-values") {
  const std::string block(100'000, 'b');
  SetOption("expire-log-values", "100000");
  for (const Request& set :
       {Request{"SET", "number", "-42"}, Request{"SET", "empty", ""}, Request{"SET", "block", block},
        Request{"SET", "long", block + "b"}, Request{"APPEND", "edited", "x"}})
    Run(set);
  Run({"HSET", "hash", "f", "v"});
  for (const char* key : {"number", "empty", "block", "long", "edited", "hash"}) Run({"DEL", key});
  Replies values;
  for (const Reply& event : Read(0, {"VALUES"}).elements) values.push_back(event.elements[5]);
  CHECK(values == Replies{Bulk("-42"), Bulk(""), Bulk(block), Null(), Bulk("x"), Null()});

  SetOption("expire-log-values", "0");
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  CHECK(Read(6, {"VALUES"}).elements.at(0).elements.at(5) == Null());
}

TEST_CASE_METHOD(ExpLogTest, "ACK lets go of what was read, and answers how much that was") {
  for (const char* key : {"a", "b", "c"}) {
    Run({"SET", key, "v"});
    Run({"DEL", key});
  }
  CHECK(Info("length") == 3);
  CHECK(Ack(0) == Integer(1));
  CHECK(Ack(0) == Integer(0));
  CHECK(Read(0) == Array({Event(1, WallMs(), "deleted", "b"), Event(2, WallMs(), "deleted", "c")}));
  CHECK(Info("first-seq") == first + 1);
  CHECK(Ack(2) == Integer(2));
  CHECK(Read(0) == Array({}));
  CHECK(Info("length") == 0);
  CHECK(Info("first-seq") == first + 3);
  CHECK(Info("dropped") == 0);
  CHECK(Run({"EXPLOG", "ACK", "0"}) == Integer(0));
}

TEST_CASE_METHOD(ExpLogTest,
                 "a full log drops the oldest, and a first seq above the one asked for is the gap") {
  constexpr int64_t kEvents = 5'000;
  SetOption("expire-log-size", "64kb");
  for (int64_t i = 0; i < kEvents; ++i) {
    Run({"SET", "key:" + std::to_string(i), "value"});
    Run({"DEL", "key:" + std::to_string(i)});
    REQUIRE(Info("bytes") <= 65'536);
  }
  const int64_t dropped = Info("dropped");
  CHECK(dropped > 1'000);
  CHECK(Info("length") == kEvents - dropped);
  const Reply events = Read(0, {"COUNT", "1"});
  REQUIRE(events.elements.size() == 1);
  CHECK(events.elements[0] == Event(dropped, WallMs(), "deleted", "key:" + std::to_string(dropped)));
  CHECK(Info("next-seq") == first + kEvents);
}

TEST_CASE_METHOD(
    ExpLogTest,
    "READ answers with COUNT events, a thousand unless it is told, and with no more than about a megabyte") {
  SetOption("expire-log-size", "16mb");
  SetOption("expire-log-values", "1mb");
  for (int i = 0; i < 1'500; ++i) {
    Run({"SET", "k", "v"});
    Run({"DEL", "k"});
  }
  CHECK(Read(0).elements.size() == 1'000);
  CHECK(Read(0, {"COUNT", "1"}).elements.size() == 1);
  CHECK(Read(0, {"COUNT", "9223372036854775807"}).elements.size() == 1'500);
  CHECK(Read(1'499).elements.size() == 1);
  for (int i = 0; i < 3; ++i) {
    Run({"SET", "big", std::string(700'000, 'v')});
    Run({"DEL", "big"});
  }
  CHECK(Read(1'500, {"VALUES"}).elements.size() == 2);
  CHECK(Read(1'500).elements.size() == 3);
}

TEST_CASE_METHOD(ExpLogTest, "MATCH and REASON choose events, and the reply says where to go on") {
  Run({"SET", "task:a", "v"});
  Run({"SET", "page:1", "v", "PX", "10"});
  Run({"SET", "task:b", "w", "PX", "10"});
  Run({"DEL", "task:a"});
  const Reply deleted = Event(0, WallMs(), "deleted", "task:a");
  AdvanceTime(10);
  const Reply at_end = Integer(first + 3);
  CHECK(Read(0, {"REASON", "deleted"}) == Array({at_end, Array({deleted})}));
  CHECK(Read(0, {"REASON", "evicted"}) == Array({at_end, Array({})}));
  CHECK(Read(0, {"REASON", "EXPIRED", "REASON", "Deleted"}).elements[1].elements.size() == 3);
  CHECK(Read(0, {"MATCH", "*"}) == Array({at_end, Read(0)}));
  CHECK(Read(0, {"MATCH", "task:*"}).elements[1].elements.size() == 2);
  const Reply expired = Read(1, {"MATCH", "task:*", "REASON", "expired", "VALUES"});
  REQUIRE(expired.elements[1].elements.size() == 1);
  CHECK(expired.elements[1].elements[0].elements[5] == Bulk("w"));
  CHECK(Read(0, {"MATCH", "task:*", "COUNT", "1"}) == Array({Integer(first + 1), Array({deleted})}));
  CHECK(Read(3, {"MATCH", "task:*"}) == Array({at_end, Array({})}));
}

TEST_CASE_METHOD(ExpLogTest,
                 "a search for wanted events looks at ten thousand in a call, and does not wait then") {
  for (int i = 0; i < 12'000; ++i) {
    Run({"SET", "page", "v"});
    Run({"DEL", "page"});
  }
  CHECK(Read(0, {"MATCH", "task:*", "BLOCK", "0"}) == Array({Integer(first + 10'000), Array({})}));
  CHECK(Read(10'000, {"MATCH", "task:*"}) == Array({Integer(first + 12'000), Array({})}));
}

TEST_CASE_METHOD(ExpLogTest,
                 "records that nobody has read before a full log drops them are told in the server's log") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mayfly-explog-test-" + std::to_string(getpid()));
  SteppedClock clock;
  const auto lines_after = [&](uint64_t mono_ms) {
    std::filesystem::remove(path);
    {
      Log log(clock, Log::Level::kNotice, path.string());
      server().hubs.alarms.Wake({.mono_ms = mono_ms, .wall_ms = WallMs()}, &log);
    }
    std::ifstream file(path);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    std::filesystem::remove(path);
    return text;
  };
  const auto remove_keys = [&](int keys) {
    for (int i = 0; i < keys; ++i) {
      Run({"SET", "page", "v"});
      Run({"DEL", "page"});
    }
  };
  SetOption("expire-log-size", "16kb");
  const uint64_t now = server().executor.now().mono_ms;
  remove_keys(3'000);
  const int64_t overrun = Info("overrun");
  CHECK(overrun > 0);
  CHECK(overrun == Info("dropped"));
  CHECK_THAT(lines_after(now),
             Catch::Matchers::ContainsSubstring("EXPLOG: " + std::to_string(overrun) +
                                                " records dropped unread: expire-log-size is 16384 bytes\n"));
  remove_keys(3'000);
  CHECK(lines_after(now + EventLog::kLogMs - 1).empty());
  CHECK_THAT(lines_after(now + EventLog::kLogMs),
             Catch::Matchers::ContainsSubstring("EXPLOG: " + std::to_string(Info("overrun") - overrun) +
                                                " records"));
  const auto read_last = [&] { Run({"EXPLOG", "READ", std::to_string(Info("next-seq") - 1)}); };
  read_last();
  const int64_t before = Info("overrun");
  for (int i = 0; i < 30; ++i) {
    remove_keys(100);
    read_last();
  }
  CHECK(Info("overrun") == before);
  CHECK(Info("dropped") > before + 2'000);
  CHECK(lines_after(now + 3 * EventLog::kLogMs).empty());
}

TEST_CASE_METHOD(ExpLogTest, "who is asked for nonsense answers an error") {
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  const std::string integer = "ERR value is not an integer or out of range";
  for (const char* seq :
       {"", "x", "-1", "1.5", "9223372036854775808", "99999999999999999999", "+", "$$", " 1"}) {
    INFO(seq);
    CHECK(Run({"EXPLOG", "READ", seq}) == Error(integer));
    CHECK(Run({"EXPLOG", "ACK", seq}) == Error(integer));
  }
  CHECK(Run({"EXPLOG", "ACK", "$"}) == Error(integer));
  const std::string ahead = "ERR the log has not come to this seq, the highest is ";
  CHECK(Read(1) == Array({}));
  CHECK(Read(2) == Error(ahead + std::to_string(first + 1)));
  CHECK(Run({"EXPLOG", "READ", "9223372036854775807"}) == Error(ahead + std::to_string(first + 1)));
  CHECK(Ack(1) == Error(ahead + std::to_string(first)));
  CHECK(Read(0, {"COUNT", "0"}) == Error("ERR count should be greater than 0"));
  CHECK(Read(0, {"COUNT", "-1"}) == Error("ERR count should be greater than 0"));
  CHECK(Read(0, {"COUNT", "x"}) == Error(integer));
  CHECK(Read(0, {"BLOCK", "-1"}) == Error("ERR timeout is negative"));
  CHECK(Read(0, {"BLOCK", "x"}) == Error("ERR timeout is not an integer or out of range"));
  CHECK(Read(0, {"BLOCK", "9223372036854775807"}) == Error("ERR timeout is out of range"));
  CHECK(Read(0, {"REASON", "renamed"}) == Error("ERR REASON is expired, evicted, deleted or invalidated"));
  for (const Request& more : {Request{"COUNT"}, Request{"BLOCK"}, Request{"MATCH"}, Request{"REASON"},
                              Request{"VALUE"}, Request{"VALUES", "1"}})
    CHECK(Read(0, more) ==
          Error("ERR syntax error near '" + more.back() +
                "': EXPLOG READ seq [COUNT count] [BLOCK milliseconds] [VALUES] [MATCH pattern] [REASON "
                "reason] ..."));
  CHECK(Run({"EXPLOG", "READ"}) ==
        Error("ERR wrong number of arguments for 'explog|read' command: EXPLOG READ seq "
              "[COUNT count] [BLOCK milliseconds] [VALUES] [MATCH pattern] [REASON reason] ..."));
  CHECK(Run({"EXPLOG", "INFO", "x"}) ==
        Error("ERR wrong number of arguments for 'explog|info' command: EXPLOG INFO"));
  CHECK(Run({"EXPLOG", "HELP"}).elements.size() > 8);
  CHECK(Read(0).elements.size() == 1);
}

TEST_CASE_METHOD(CommandTest, "a log that is off answers an error, and INFO that it is empty") {
  CHECK(Run({"CONFIG", "GET", "expire-log-size"}) == Bulks({"expire-log-size", "0"}));
  CHECK(Run({"EXPLOG", "READ", "0"}) == Error(kExpLogIsOff));
  CHECK(Run({"EXPLOG", "READ", "$", "BLOCK", "0"}) == Error(kExpLogIsOff));
  CHECK(Run({"EXPLOG", "ACK", "0"}) == Error(kExpLogIsOff));
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  UseResp3();
  CHECK(Run({"EXPLOG", "INFO"}) ==
        Map({Bulk("first-seq"), Integer(0), Bulk("next-seq"), Integer(0), Bulk("length"), Integer(0),
             Bulk("dropped"), Integer(0), Bulk("overrun"), Integer(0), Bulk("bytes"), Integer(0),
             Bulk("max-bytes"), Integer(0)}));
}

TEST_CASE_METHOD(ExpLogTest,
                 "seq begins with the microseconds of the clock, so one of a later run is higher") {
  CHECK(first == WallMs() * 1000);
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  AdvanceTime(1000);
  Run({"CONFIG", "SET", "expire-log-size", "0"});
  Run({"CONFIG", "SET", "expire-log-size", "1mb"});
  CHECK(Info("next-seq") == WallMs() * 1000);
  StepWallClock(-1'000'000);  // it never goes back
  Run({"CONFIG", "SET", "expire-log-size", "0"});
  Run({"CONFIG", "SET", "expire-log-size", "1mb"});
  CHECK(Info("next-seq") == first + 1'000'000 + 1);
}

TEST_CASE_METHOD(ExpLogTest, "a smaller log keeps the newest events, and its memory is freed in slices") {
  SetOption("expire-log-size", "8mb");
  SetOption("expire-log-values", "1000");
  Run({"SET", "k", std::string(1000, 'v')});
  for (int i = 0; i < 3'000; ++i) {
    Run({"COPY", "k", "copy"});
    Run({"DEL", "copy"});
  }
  CHECK(Info("length") == 3'000);
  const int64_t full = Info("bytes");
  CHECK(full > 3'000'000);
  const uint64_t used = server().memory.Data();
  Run({"CONFIG", "SET", "expire-log-size", "200kb"});
  CHECK(Info("length") < 200);
  CHECK(Info("bytes") == full);
  TurnWheels();
  CHECK(Info("bytes") <= 200 * 1024);
#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted
  CHECK(server().memory.Data() < used - 2'500'000);
#else
  static_cast<void>(used);
#endif
  CHECK(Run({"EXPLOG", "READ", std::to_string(Info("next-seq") - 1)}).elements.size() == 1);
}

TEST_CASE_METHOD(ExpLogTest, "an event for which there is no memory is dropped and leaves a gap") {
  for (const char* key : {"a", "b", "c"}) Run({"SET", key, "v"});
  server().changes.Unlisten(server().change_log);
  Keyspace& keys = keyspace();
  const Now now = server().executor.now();
  {
    const FailingAllocation failing(1);
    CHECK(keys.Delete(keys.KeyOf("a"), now));
  }
  CHECK(AllocationFailed());
  CHECK(keys.Delete(keys.KeyOf("b"), now));
  CHECK(keys.Delete(keys.KeyOf("c"), now));
  CHECK(Read(0) == Array({Event(1, WallMs(), "deleted", "b"), Event(2, WallMs(), "deleted", "c")}));
  CHECK(Info("dropped") == 1);
}

TEST_CASE_METHOD(ExpLogTest, "the log counts as used memory, which INFO tells") {
  const auto field = [&](const std::string& name) {
    const std::string text = Run({"INFO", "memory"}).text;
    const size_t at = text.find(name + ":");
    REQUIRE(at != std::string::npos);
    return std::stoll(text.substr(at + name.size() + 1));
  };
  CHECK(field("mem_expire_log") == 0);
  Run({"SET", "k", "v"});
  Run({"DEL", "k"});
  CHECK(field("mem_expire_log") == Info("bytes"));
  CHECK(Info("bytes") == 16'384);
}

TEST_CASE_METHOD(ExpLogTest, "whatever happens to keys, each one that went is in the log once") {
  std::mt19937_64 random(20240303);
  SetOption("expire-log-size", "64mb");
  std::vector<std::string> expected;
  const auto key = [&] { return "k" + std::to_string(random() % 200); };
  server().change_log.Take();
  for (int step = 0; step < 5'000; ++step) {
    const std::string name = key();
    switch (random() % 8) {
      case 0:
        Run({"DEL", name});
        break;
      case 1:
        Run({"RENAME", name, key()});
        break;
      case 2:
        Run({"EXPIRE", name, std::to_string(static_cast<int>(random() % 4) - 1)});
        break;
      case 3:
        LetTimePass(random() % 50);
        break;
      case 4:
        AdvanceTime(random() % 100);
        break;
      case 5:
        Run({"GET", name});
        break;
      default:
        Run({"SET", name, "v", "PX", std::to_string(1 + random() % 500)});
    }
    for (const std::string& line : TakeChanges()) {
      if (line.starts_with("expired ")) expected.push_back("expired" + line.substr(7));
      if (line.starts_with("del ")) expected.push_back("deleted" + line.substr(3));
    }
  }
  std::vector<std::string> logged;
  for (const Reply& event : Read(0, {"COUNT", "100000"}).elements)
    logged.push_back(event.elements[2].text + ' ' + event.elements[4].text);
  CHECK(expected.size() > 500);
  CHECK(logged == expected);
}

}  // namespace mayfly::testing
