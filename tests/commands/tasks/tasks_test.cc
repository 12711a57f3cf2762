// Tasks: keys that go into a stream at their deadlines (SET ... INTO, EXPIRE ... INTO), TIMERS and DRAIN.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/memory/failing_allocation.h"
#include "commands/tasks/tasks_world.h"
#include "support/cluster_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(TasksTest, "at its deadline a task goes into its stream, with key, value and time") {
  CHECK(Run({"SET", "mail:7", "hello", "PX", "20", "INTO", "jobs"}) == Ok());
  const int64_t due = WallMs() + 20;
  AdvanceTime(19);
  CHECK(Run({"GET", "mail:7"}) == Bulk("hello"));
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  AdvanceTime(1);
  CHECK(Run({"GET", "mail:7"}) == Null());
  CHECK(Entries("jobs") == Words{EntryOf("mail:7", "hello", due)});
  CHECK(Info("tasks_delivered") == 1);
  CHECK(Info("tasks_waiting") == 0);
  CHECK(Info("tasks_late") == 0);
}

TEST_CASE_METHOD(TasksTest,
                 "until the wheel has come to a due task, it is a key; then it is in its stream, once") {
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  const int64_t due = WallMs() + 20;
  LetTimePass(35);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"PTTL", "k"}) == Integer(0));
  CHECK(Run({"TIMERS", "jobs"}).elements[1] == Array({Bulk("k"), Integer(-15)}));
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  TurnWheels();
  CHECK(Run({"GET", "k"}) == Null());
  CHECK(Entries("jobs") == Words{EntryOf("k", "v", due)});
  TurnWheels();
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
}

TEST_CASE_METHOD(TasksTest,
                 "the entries of tasks come in the order of the deadlines, whatever the order of the keys") {
  const int64_t now = WallMs();
  for (const int ms : {70, 20, 5'000, 21, 900}) {
    const std::string text = std::to_string(ms);
    Run({"SET", "t" + text, text, "PX", text, "INTO", "jobs"});
  }
  AdvanceTime(10'000);
  Words expected;
  for (const int ms : {20, 21, 70, 900, 5'000})
    expected.push_back(EntryOf("t" + std::to_string(ms), std::to_string(ms), now + ms));
  CHECK(Entries("jobs") == expected);
}

TEST_CASE_METHOD(TasksTest, "tasks of one millisecond get ids in a row") {
  Run({"SET", "a", "1", "PX", "20", "INTO", "jobs"});
  Run({"SET", "b", "2", "PX", "20", "INTO", "jobs"});
  const std::string due = UnixMs(20);
  AdvanceTime(20);
  const Reply entries = Run({"XRANGE", "jobs", due + "-0", due + "-1"});
  CHECK(entries.elements.size() == 2);
}

TEST_CASE_METHOD(TasksTest, "a stream that is ahead gives the next possible id") {
  Run({"XADD", "jobs", UnixMs(60'000) + "-5", "f", "v"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  const std::string ahead = UnixMs(60'000);
  AdvanceTime(20);
  CHECK(Run({"XREVRANGE", "jobs", "+", "-", "COUNT", "1"}).elements[0].elements[0] == Bulk(ahead + "-6"));
}

TEST_CASE_METHOD(TasksTest, "MAXLEN keeps the stream short, by whole nodes") {
  SetOption("stream-node-max-entries", "10");
  for (int i = 0; i < 100; ++i)
    Run({"SET", "k" + std::to_string(i), "v", "PX", "20", "INTO", "jobs", "MAXLEN", "30"});
  AdvanceTime(20);
  const int64_t length = Run({"XLEN", "jobs"}).integer;
  CHECK(length >= 30);
  CHECK(length < 40);
}

TEST_CASE_METHOD(TasksTest, "a value keeps its bytes on the way: numbers, long texts and bytes of any kind") {
  const std::string big(100'000, 'x');
  const std::string bytes("a\0b\r\n\xff", 6);
  for (const std::string& value : {std::string("-123456789"), big, bytes, std::string()}) {
    Run({"SET", "k", value, "PX", "20", "INTO", "jobs"});
    AdvanceTime(20);
    const Reply entry = Run({"XREVRANGE", "jobs", "+", "-", "COUNT", "1"}).elements[0].elements[1];
    CHECK(entry.elements[3] == Bulk(value));
  }
}

TEST_CASE_METHOD(TasksTest, "EXPIRE makes a key of any type a task; only a string brings its value") {
  Run({"HSET", "cart", "a", "1"});
  Run({"SET", "text", "v"});
  CHECK(Run({"PEXPIRE", "cart", "20", "INTO", "jobs"}) == Integer(1));
  CHECK(Run({"PEXPIRE", "text", "30", "INTO", "jobs"}) == Integer(1));
  const int64_t now = WallMs();
  AdvanceTime(30);
  const std::string due = std::to_string(now + 20);
  CHECK(Entries("jobs") == Words{due + "-0 key cart due " + due, EntryOf("text", "v", now + 30)});
  CHECK(Run({"EXISTS", "cart", "text"}) == Integer(0));
}

TEST_CASE_METHOD(TasksTest, "EXPIRE, PEXPIREAT and GETEX move a task; SET with KEEPTTL changes its value") {
  Run({"SET", "k", "old", "PX", "20", "INTO", "jobs"});
  CHECK(Run({"PEXPIRE", "k", "100"}) == Integer(1));
  AdvanceTime(50);
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  Run({"SET", "k", "new", "KEEPTTL"});
  CHECK(Run({"GETEX", "k", "PX", "70"}) == Bulk("new"));
  const int64_t due = WallMs() + 80;
  Run({"PEXPIREAT", "k", std::to_string(due)});
  AdvanceTime(79);
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  AdvanceTime(1);
  CHECK(Entries("jobs") == Words{EntryOf("k", "new", due)});
}

TEST_CASE_METHOD(TasksTest, "INCR and APPEND leave a task what it is") {
  Run({"SET", "k", "1", "PX", "20", "INTO", "jobs"});
  const int64_t due = WallMs() + 20;
  Run({"INCR", "k"});
  Run({"APPEND", "k", "x"});
  Run({"SETRANGE", "k", "2", "yz"});
  AdvanceTime(20);
  CHECK(Entries("jobs") == Words{EntryOf("k", "2xyz", due)});
}

TEST_CASE_METHOD(TasksTest, "a deadline in the past lets a task go at once") {
  Run({"SET", "a", "1", "PX", "50000", "INTO", "jobs"});
  CHECK(Run({"PEXPIRE", "a", "-5"}) == Integer(1));
  TurnWheels();
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
  Run({"SET", "b", "2"});
  CHECK(Run({"EXPIREAT", "b", "1", "INTO", "jobs"}) == Integer(1));
  TurnWheels();
  CHECK(Run({"XLEN", "jobs"}) == Integer(2));
  CHECK(Run({"DBSIZE"}) == Integer(1));
}

TEST_CASE_METHOD(TasksTest, "DEL, PERSIST, a plain SET and FLUSHDB end a task") {
  for (const Words& end : {Words{"DEL", "k"}, Words{"PERSIST", "k"}, Words{"SET", "k", "v"}, Words{"FLUSHDB"},
                           Words{"SET", "k", "v", "PX", "20"}, Words{"GETEX", "k", "PERSIST"},
                           Words{"GETDEL", "k"}, Words{"SETEX", "k", "1", "v"}}) {
    INFO(end[0]);
    Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
    Run(end);
    CHECK(Info("tasks_waiting") == 0);
    AdvanceTime(2'000);
    CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  }
}

TEST_CASE_METHOD(TasksTest, "RENAME and COPY take the stream along") {
  Run({"SET", "a", "v", "PX", "20", "INTO", "jobs"});
  Run({"COPY", "a", "b"});
  Run({"RENAME", "a", "c"});
  const int64_t due = WallMs() + 20;
  AdvanceTime(20);
  Words keys;
  for (const Reply& entry : Run({"XRANGE", "jobs", "-", "+"}).elements) {
    keys.push_back(entry.elements[1].elements[1].text);
    CHECK(entry.elements[1].elements[5] == Bulk(std::to_string(due)));
  }
  std::sort(keys.begin(), keys.end());
  CHECK(keys == Words{"b", "c"});
}

TEST_CASE_METHOD(TasksTest, "a task names another stream by another INTO") {
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  Run({"PEXPIRE", "k", "30", "INTO", "others"});
  const int64_t due = WallMs() + 30;
  AdvanceTime(30);
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  CHECK(Entries("others") == Words{EntryOf("k", "v", due)});
}

TEST_CASE_METHOD(TasksTest, "a task's tags go with it, and nobody sees or names the task's own") {
  Run({"SET", "k", "v", "PX", "20", "TAGS", "2", "red", "blue", "INTO", "jobs"});
  CHECK(Run({"TAGS", "k"}).elements.size() == 2);
  const std::string hidden("\0into\0\0\0\0\0\0\0\0jobs", 17);
  for (const Words& words : {Words{"INVALIDATE", hidden}, Words{"TAGINFO", hidden}, Words{"TAG", "k", hidden},
                             Words{"SET", "k", "v", "TAGS", "1", hidden}})
    CHECK(Run(words) == Error("ERR a tag must not begin with a zero byte and 'into'"));
  CHECK(Run({"INVALIDATE", "red"}) == Integer(1));
  AdvanceTime(20);
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
}

TEST_CASE_METHOD(TasksTest, "the words are checked, and an error changes nothing") {
  Run({"SET", "k", "old"});
  const auto error = [&](const Words& words) { return Run(words).text; };
  CHECK(error({"SET", "k", "v", "INTO", "jobs"}) == "ERR INTO needs a TTL: EX, PX, EXAT or PXAT");
  CHECK(error({"SET", "k", "v", "EX", "9", "INTO"}) ==
        "ERR INTO is followed by the name of a stream, as in EX 60 INTO jobs");
  CHECK(error({"SET", "k", "v", "EX", "9", "INTO", "a", "INTO", "b"}) == "ERR INTO is given twice");
  CHECK(error({"SET", "k", "v", "EX", "9", "INTO", "k"}) == "ERR a key cannot go INTO itself: name a stream");
  CHECK(error({"SET", "k", "v", "EX", "9", "INTO", "jobs", "MAXLEN", "0"}) ==
        "ERR MAXLEN is followed by the number of entries to keep, 1 at least");
  CHECK(error({"SET", "k", "v", "EX", "9", "STALE", "5", "INTO", "jobs"}) ==
        "ERR a value that goes INTO a stream has no STALE window");
  CHECK(error({"EXPIRE", "k", "9", "INTO"}) ==
        "ERR INTO is followed by the name of a stream, as in EX 60 INTO jobs");
  CHECK(Run({"GET", "k"}) == Bulk("old"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
}

TEST_CASE_METHOD(TasksTest,
                 "a task waits for a stream whose name has another type, and is then delivered once") {
  Run({"SET", "jobs", "no stream"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  const int64_t due = WallMs() + 20;
  AdvanceTime(20);
  CHECK(Info("tasks_late") == 1);
  CHECK(Info("tasks_refused") >= 1);
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  AdvanceTime(5'000);
  CHECK(Run({"PTTL", "k"}) == Integer(0));
  CHECK(Info("tasks_late") == 1);
  Run({"DEL", "jobs"});
  AdvanceTime(1'000);
  CHECK(Info("tasks_late") == 0);
  CHECK(Entries("jobs") == Words{EntryOf("k", "v", due)});
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(TasksTest,
                 "a task that waits for its stream may still be moved, overwritten, renamed and deleted") {
  Run({"SET", "jobs", "no stream"});
  for (const std::string key : {"moved", "set", "renamed", "deleted", "edited"})
    Run({"SET", key, "v", "PX", "20", "INTO", "jobs"});
  AdvanceTime(20);
  CHECK(Info("tasks_late") == 5);
  Run({"PEXPIRE", "moved", "50"});
  Run({"SET", "set", "plain"});
  Run({"RENAME", "renamed", "other"});
  Run({"DEL", "deleted"});
  Run({"APPEND", "edited", "w"});
  TurnWheels();
  CHECK(Info("tasks_late") == 2);
  Run({"DEL", "jobs"});
  AdvanceTime(1'000);
  Words keys;
  for (const Reply& entry : Run({"XRANGE", "jobs", "-", "+"}).elements)
    keys.push_back(entry.elements[1].elements[1].text + "=" + entry.elements[1].elements[3].text);
  std::sort(keys.begin(), keys.end());
  CHECK(keys == Words{"edited=vw", "moved=v", "other=v"});
  CHECK(Run({"GET", "set"}) == Bulk("plain"));
}

TEST_CASE_METHOD(TasksTest, "without memory a task stays due, and goes as soon as there is some, once") {
  int failures = 0;
  for (size_t nth = 1; nth < 30; ++nth) {
    Run({"DEL", "jobs"});
    Run({"SET", "k", std::string(10'000, 'v'), "PX", "20", "INTO", "jobs"});
    {
      const FailingAllocation none(nth);
      AdvanceTime(20);
    }
    if (Info("tasks_late") == 1) {
      ++failures;
      CHECK(Run({"STRLEN", "k"}) == Integer(10'000));
      AdvanceTime(1'000);
    }
    CHECK(Info("tasks_late") == 0);
    CHECK(Run({"XLEN", "jobs"}) == Integer(1));
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
  }
  CHECK(failures > 2);
}

TEST_CASE_METHOD(TasksTest, "a stream that expires in the same moment is made anew at once") {
  Run({"XADD", "jobs", "*", "f", "v"});
  Run({"PEXPIRE", "jobs", "20"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  const int64_t due = WallMs() + 20;
  AdvanceTime(20);
  CHECK(Entries("jobs") == Words{EntryOf("k", "v", due)});
  CHECK(Run({"TTL", "jobs"}) == Integer(-1));
}

TEST_CASE_METHOD(TasksTest, "a chain of tasks, each into the next one's key, ends") {
  for (int i = 0; i < 2'000; ++i) {
    Run({"SET", "t" + std::to_string(i), "v", "PX", "20", "INTO", "t" + std::to_string(i + 1)});
  }
  AdvanceTime(20);
  AdvanceTime(60'000);
  CHECK(Run({"XLEN", "t2000"}) == Integer(1));
}

TEST_CASE_METHOD(TasksTest, "a consumer group gives each task to one reader, also to one that waits") {
  Run({"XGROUP", "CREATE", "jobs", "workers", "$", "MKSTREAM"});
  TestClient& worker = Connect();
  CHECK(worker.Run({"XREADGROUP", "GROUP", "workers", "w1", "BLOCK", "0", "COUNT", "1", "STREAMS", "jobs",
                    ">"}) == NoReply());
  Run({"SET", "a", "1", "PX", "20", "INTO", "jobs"});
  Run({"SET", "b", "2", "PX", "30", "INTO", "jobs"});
  AdvanceTime(20);
  CHECK(worker.Received().size() == 1);
  AdvanceTime(10);
  const Reply second =
      Connect().Run({"XREADGROUP", "GROUP", "workers", "w2", "COUNT", "10", "STREAMS", "jobs", ">"});
  CHECK(second.elements[0].elements[1].elements.size() == 1);
}

TEST_CASE_METHOD(TasksTest, "TIMERS shows what is to come, the nearest first, a page at a time") {
  for (int i = 0; i < 25; ++i) {
    const std::string n = std::to_string(i);
    Run({"SET", "t" + n, "v", "PX", std::to_string(1'000 - i * 10), "INTO", "jobs"});
  }
  Run({"SET", "other", "v", "PX", "5", "INTO", "others"});
  Run({"SET", "plain", "v", "PX", "5"});
  CHECK(Run({"TIMERS", "jobs", "COUNT", "2"}).elements[1] ==
        Array({Bulk("t24"), Integer(760), Bulk("t23"), Integer(770)}));
  const Words keys = Timers("jobs", {"COUNT", "4"});
  REQUIRE(keys.size() == 25);
  CHECK(keys.front() == "t24");
  CHECK(keys.back() == "t0");
  CHECK(Timers("jobs", {"MATCH", "t1?"}).size() == 10);
  CHECK(Run({"TIMERS", "nothing"}) == Array({Bulk("0"), Array({})}));
  CHECK(Run({"TIMERS", "jobs", "COUNT", "0"}) == Error("ERR count should be greater than 0"));
  CHECK(Run({"TIMERS", "jobs", "CURSOR", "x"}) == Error("ERR invalid cursor"));
}

TEST_CASE_METHOD(TasksTest, "TIMERS shows tasks of one deadline on one page, and of every MAXLEN") {
  for (int i = 0; i < 30; ++i)
    Run({"SET", "t" + std::to_string(i), "v", "PX", "50", "INTO", "jobs", "MAXLEN",
         std::to_string(1 + i % 3)});
  CHECK(Timers("jobs", {"COUNT", "1"}).size() == 30);
}

TEST_CASE_METHOD(TasksTest, "TIMERS finds every one of very many tasks") {
  constexpr int kTasks = 12'000;
  for (int i = 0; i < kTasks; ++i)
    Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(1'000 + i * 7), "INTO", "jobs"});
  for (int i = 0; i < 1'000; ++i) Run({"SET", "p" + std::to_string(i), "v", "PX", "5000"});
  Words keys = Timers("jobs", {"COUNT", "500"});
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  CHECK(keys.size() == kTasks);
}

TEST_CASE_METHOD(TasksTest, "DRAIN lets the tasks of a stream go now, in the order of their deadlines") {
  for (const int s : {30, 10, 20}) {
    const std::string text = std::to_string(s);
    Run({"SET", "t" + text, text, "EX", text, "INTO", "jobs"});
  }
  Run({"SET", "other", "v", "EX", "10", "INTO", "others"});
  CHECK(Run({"DRAIN", "jobs", "COUNT", "1"}) == Integer(1));
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
  CHECK(Run({"DRAIN", "jobs"}) == Integer(2));
  CHECK(Run({"DRAIN", "jobs"}) == Integer(0));
  const std::string now = UnixMs(0);
  Words keys;
  for (const Reply& entry : Run({"XRANGE", "jobs", now, "+"}).elements) {
    const std::string& key = entry.elements[1].elements[1].text;
    keys.push_back(key);
    CHECK(entry.elements[1].elements[5] == Bulk(UnixMs(1'000 * std::stoi(key.substr(1)))));
    CHECK(entry.elements[0].text.starts_with(now +
                                             "-"));  // not in the future, which later entries would follow
  }
  CHECK(keys == Words{"t10", "t20", "t30"});
  CHECK(Run({"EXISTS", "other"}) == Integer(1));
  CHECK(Run({"EXISTS", "t10", "t20", "t30"}) == Integer(0));
}

TEST_CASE_METHOD(TasksTest, "DRAIN of very many tasks goes on in slices, and leaves later ones alone") {
  constexpr int kTasks = 15'000;
  for (int i = 0; i < kTasks; ++i)
    Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(100'000 + i), "INTO", "jobs"});
  CHECK(Run({"DRAIN", "jobs"}) == Integer(kTasks));
  const int64_t at_once = Run({"XLEN", "jobs"}).integer;
  CHECK(at_once > 0);
  CHECK(at_once < kTasks);
  Run({"SET", "later", "v", "EX", "100", "INTO", "jobs"});
  Run({"DEL", "t1", "t2", "t3"});
  const int64_t deleted = kTasks - Run({"XLEN", "jobs"}).integer;
  TurnWheels();
  CHECK(Run({"XLEN", "jobs"}).integer <= kTasks);
  CHECK(Run({"XLEN", "jobs"}).integer >= kTasks - 3);
  CHECK(deleted > 0);
  CHECK(Timers("jobs") == Words{"later"});
  CHECK(Info("tasks_waiting") == 1);
}

TEST_CASE_METHOD(TasksTest, "what DRAIN lets go is not taken back by an edit or a rename") {
  Run({"SET", "jobs", "x"});  // takes no task for now
  for (const char* key : {"t1", "t2", "t3", "t4", "t5", "t6"})
    Run({"SET", key, "1", "EX", "100", "INTO", "jobs"});
  CHECK(Run({"DRAIN", "jobs"}) == Integer(6));
  Run({"APPEND", "t1", "w"});
  Run({"RENAME", "t2", "moved"});
  Run({"MSETEX", "1", "t3", "long enough to move", "KEEPTTL"});
  Run({"SET", "t4", "long enough to move", "KEEPTTL"});
  Run({"SET", "t5", "v", "KEEPTTL", "TAGS", "1", "tag"});
  CHECK(Run({"INCREX", "t6", "BYINT", "1000000000000"}).kind == Reply::Kind::kArray);
  CHECK(Info("tasks_late") == 6);
  Run({"DEL", "jobs"});
  AdvanceTime(1'000);
  CHECK(Run({"XLEN", "jobs"}) == Integer(6));
  CHECK(Run({"EXISTS", "t1", "moved", "t3", "t4", "t5", "t6"}) == Integer(0));
}

TEST_CASE_METHOD(TasksTest, "DRAIN with COUNT takes the nearest of very many tasks") {
  constexpr int kTasks = 11'000;
  for (int i = 0; i < kTasks; ++i)
    Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(500'000 - i), "INTO", "jobs"});
  CHECK(Run({"DRAIN", "jobs", "COUNT", "3"}) == Integer(3));
  Words keys;
  for (const Reply& entry : Run({"XRANGE", "jobs", "-", "+"}).elements)
    keys.push_back(entry.elements[1].elements[1].text);
  CHECK(keys == Words{"t10999", "t10998", "t10997"});
}

TEST_CASE_METHOD(TasksTest, "in transactions and scripts INTO does what it does elsewhere") {
  Run({"MULTI"});
  Run({"SET", "a", "1", "PX", "20", "INTO", "jobs"});
  Run({"PEXPIRE", "a", "40"});
  Run({"EXEC"});
  Run({"EVAL", "return redis.call('SET', KEYS[1], '2', 'PX', 30, 'INTO', KEYS[2])", "2", "b", "jobs"});
  AdvanceTime(40);
  CHECK(Run({"XLEN", "jobs"}) == Integer(2));
}

TEST_CASE_METHOD(TasksTest, "INTO needs the right to write to the stream") {
  Run({"ACL", "SETUSER", "app", "on", "nopass", "+@all", "~task:*"});
  Run({"ACL", "SETUSER", "both", "on", "nopass", "+@all", "~task:*", "%W~jobs"});
  TestClient& app = Connect();
  app.Run({"AUTH", "app", "x"});
  const std::string denied =
      "NOPERM this user has no permissions to access one of the keys used as arguments";
  CHECK(app.Run({"SET", "task:1", "v", "EX", "9", "INTO", "jobs"}) == Error(denied));
  CHECK(app.Run({"SET", "task:1", "v"}) == Ok());
  CHECK(app.Run({"EXPIRE", "task:1", "9", "INTO", "jobs"}) == Error(denied));
  CHECK(app.Run({"TIMERS", "jobs"}) == Error(denied));
  CHECK(app.Run({"DRAIN", "jobs"}) == Error(denied));
  CHECK(Run({"ACL", "LOG"}).elements[0].elements[7] == Bulk("jobs"));
  const auto context = [this] { return Run({"ACL", "LOG"}).elements[0].elements[5]; };
  CHECK(context() == Bulk("toplevel"));
  app.Run({"MULTI"});
  app.Run({"EXPIRE", "task:1", "9", "INTO", "later"});
  CHECK(app.Run({"EXEC"}) == Array({Error(denied)}));
  CHECK(context() == Bulk("multi"));
  const std::string script = "return redis.pcall('SET', 'task:1', 'v', 'EX', 9, 'INTO', 'jobs')";
  app.Run({"CLIENT", "SETNAME", "worker"});
  for (const bool in_transaction : {false, true}) {
    Run({"ACL", "LOG", "RESET"});
    if (in_transaction) app.Run({"MULTI"});
    app.Run({"EVAL", script, "0"});
    if (in_transaction) app.Run({"EXEC"});
    CHECK(context() == Bulk("lua"));
    CHECK(Run({"ACL", "LOG"}).elements[0].elements[13].text.find(" name=worker ") != std::string::npos);
  }
  TestClient& both = Connect();
  both.Run({"AUTH", "both", "x"});
  CHECK(both.Run({"SET", "task:1", "v", "EX", "9", "INTO", "jobs"}) == Ok());
  CHECK(both.Run({"EXPIRE", "task:1", "9", "INTO", "jobs"}) == Integer(1));
}

TEST_CASE_METHOD(TasksTest, "a delivery is an event of the stream, and the end of the key one of the key") {
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  TakeChanges();
  AdvanceTime(20);
  CHECK(TakeChanges() == Words{"new jobs", "xadd jobs", "expired k"});
}

TEST_CASE_METHOD(TasksTest, "a command that reads two keys meets no stream that came between its look-ups") {
  for (const Words& command :
       {Words{"LCS", "a", "b"}, Words{"BITOP", "OR", "d", "a", "b"}, Words{"PFMERGE", "a", "b"},
        Words{"SINTERSTORE", "a", "a", "b"}, Words{"MGET", "a", "b"}}) {
    Run({"FLUSHALL"});
    Run({"SET", "b", "v", "PX", "1", "INTO", "a"});
    LetTimePass(5);
    Run(command);
    TurnWheels();
    CHECK(server().databases.At(0).Validate());
  }
}

TEST_CASE_METHOD(TasksTest,
                 "tasks of a blocked stream hold up no others, of the same and of other namespaces") {
  SetOption("namespace", "bb prefix b:");
  Run({"SET", "bad", "no stream"});
  for (int i = 0; i < 15'000; ++i) Run({"SET", "x:" + std::to_string(i), "v", "PX", "1", "INTO", "bad"});
  AdvanceTime(1);
  CHECK(Info("tasks_late") == 15'000);
  for (const std::string prefix : {"g:", "b:"}) {
    for (int i = 0; i < 700; ++i)
      Run({"SET", prefix + std::to_string(i), "v", "PX", "100000", "INTO", prefix + "jobs"});
    CHECK(Run({"DRAIN", prefix + "jobs"}) == Integer(700));
    CHECK(Run({"XLEN", prefix + "jobs"}) == Integer(512));
    TurnWheels();
    CHECK(Run({"XLEN", prefix + "jobs"}) == Integer(700));
  }
  Run({"DEL", "bad"});
  AdvanceTime(1'000);
  CHECK(Run({"XLEN", "bad"}) == Integer(15'000));
  CHECK(Info("tasks_late") == 0);
}

TEST_CASE_METHOD(TasksTest, "many blocked streams are tried in turn, and each comes to its tasks") {
  for (int i = 0; i < 40; ++i) {
    Run({"SET", "bad" + std::to_string(i), "no stream"});
    for (int j = 0; j < 400; ++j)
      Run({"SET", "x" + std::to_string(i) + ":" + std::to_string(j), "v", "PX", "1", "INTO",
           "bad" + std::to_string(i)});
  }
  AdvanceTime(1);
  Run({"DEL", "bad39"});
  for (int round = 0; round < 4; ++round) AdvanceTime(1'000);
  CHECK(Run({"XLEN", "bad39"}) == Integer(400));
  CHECK(Info("tasks_late") == 39 * 400);
}

TEST_CASE_METHOD(TasksTest, "a task that gets the name of its own stream is a plain key with a TTL") {
  Run({"XADD", "x", "1-1", "f", "v"});
  Run({"PEXPIRE", "x", "300", "INTO", "st"});
  Run({"RENAME", "x", "st"});
  Run({"SET", "a", "v", "PX", "300", "INTO", "other"});
  Run({"COPY", "a", "other"});
  CHECK(Info("tasks_waiting") == 1);
  CHECK(Run({"PTTL", "st"}) == Integer(300));
  AdvanceTime(300);
  CHECK(Run({"EXISTS", "st"}) == Integer(0));
  CHECK(Run({"XLEN", "other"}) == Integer(1));
}

TEST_CASE_METHOD(ClusterTest, "in a cluster a task's stream has the slot of its key") {
  const Reply crossed = Error("CROSSSLOT Keys in request don't hash to the same slot");
  CHECK(Run({"SET", "b", "v", "PX", "20", "INTO", "hello"}) == crossed);
  Run({"SET", "b", "v"});
  CHECK(Run({"PEXPIRE", "b", "20", "INTO", "hello"}) == crossed);
  CHECK(Run({"SET", "b", "v", "PX", "20", "INTO", "{b}:jobs"}) == Ok());
  SetOption("ttl-rule", "* into {bar}:jobs");
  Run({"SET", "bar", "v", "PX", "20"});
  Run({"SET", "hello", "v", "PX", "20"});
  AdvanceTime(20);
  CHECK(Run({"XLEN", "{b}:jobs"}) == Integer(1));
  CHECK(Run({"XLEN", "{bar}:jobs"}) == Integer(1));
  CHECK(Run({"EXISTS", "hello"}) == Integer(0));
}

TEST_CASE_METHOD(TasksTest,
                 "SET with KEEPTTL and TAGS leaves a task what it is: stream, MAXLEN and deadline") {
  SetOption("stream-node-max-entries", "1");
  Run({"XADD", "jobs", "1-1", "f", "v"});
  Run({"SET", "k", "old", "PX", "20", "TAGS", "1", "red", "INTO", "jobs", "MAXLEN", "1"});
  const int64_t due = WallMs() + 20;
  AdvanceTime(10);
  CHECK(Run({"SET", "k", "new", "KEEPTTL", "TAGS", "2", "blue", "green"}) == Ok());
  CHECK(Run({"TAGS", "k"}).elements.size() == 2);
  CHECK(Run({"INVALIDATE", "red"}) == Integer(0));
  CHECK(Timers("jobs") == Words{"k"});
  CHECK(Info("tasks_waiting") == 1);
  AdvanceTime(9);
  CHECK(Run({"GET", "k"}) == Bulk("new"));
  AdvanceTime(1);
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Entries("jobs") == Words{EntryOf("k", "new", due)});
  // The new tags end a task as the old ones would have.
  Run({"SET", "k", "old", "PX", "20", "INTO", "jobs"});
  Run({"SET", "k", "new", "KEEPTTL", "TAGS", "1", "blue"});
  CHECK(Run({"INVALIDATE", "blue"}) == Integer(1));
  CHECK(Info("tasks_waiting") == 0);
  AdvanceTime(20);
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
}

TEST_CASE_METHOD(TasksTest, "SET with KEEPTTL gives a late task another value, and it still goes") {
  for (const Words& words :
       {Words{"SET", "k", "new", "KEEPTTL"}, Words{"SET", "k", "new", "KEEPTTL", "TAGS", "1", "blue"}}) {
    CAPTURE(words);
    Run({"FLUSHALL"});
    Run({"SET", "jobs", "no stream"});
    Run({"SET", "k", "old", "PX", "20", "TAGS", "1", "red", "INTO", "jobs"});
    const int64_t due = WallMs() + 20;
    AdvanceTime(30);
    CHECK(Run(words) == Ok());
    AdvanceTime(0);
    CHECK(Run({"GET", "k"}) == Bulk("new"));
    CHECK(Info("tasks_late") == 1);
    Run({"DEL", "jobs"});
    AdvanceTime(1'000);
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
    CHECK(Entries("jobs") == Words{EntryOf("k", "new", due)});
  }
}

TEST_CASE_METHOD(TasksTest, "KEEPTTL leaves no room for as many tags as a key may have beside the task's") {
  Words words = {"SET", "k", "v", "KEEPTTL", "TAGS", "255"};
  for (int i = 0; i < 255; ++i) words.push_back("tag:" + std::to_string(i));
  CHECK(Run({"SET", "k", "v", "EX", "100", "INTO", "s"}) == Ok());
  CHECK(Run(words).text.starts_with("ERR "));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Timers("s") == Words{"k"});
  CHECK(Run({"PERSIST", "k"}) == Integer(1));
  CHECK(Run(words) == Ok());
}

// ---- tasks whose values have members with deadlines of their own

TEST_CASE_METHOD(TasksTest, "a task that its stream refuses is read, whatever members are due in it") {
  constexpr int kMembers = 11'000;  // more than one request drops
  const std::string due = std::to_string(server().clock.Read().wall_ms + 3000);
  Words add = {"SADD", "set"};
  for (int i = 0; i < kMembers; ++i) add.push_back("m" + std::to_string(i));
  CHECK(Run(add) == Integer(kMembers));
  for (int i = 0; i < kMembers; ++i) Run({"PEXPIREMEMBERAT", "set", "m" + std::to_string(i), due});
  for (int i = 0; i < 1500; ++i) {
    Run({"ZADD", "zset", "1", "m" + std::to_string(i)});
    Run({"PEXPIREMEMBERAT", "zset", "m" + std::to_string(i), due});
  }
  Run({"SET", "s", "no stream"});
  for (const char* key : {"set", "zset"}) CHECK(Run({"EXPIRE", key, "1", "INTO", "s"}) == Integer(1));
  AdvanceTime(4000);
  CHECK(Run({"SMOVE", "set", "set", "m1"}) == Integer(0));
  CHECK(Run({"ZCARD", "zset"}) == Integer(0));
  CHECK(Run({"EVAL", "return redis.call('ZCARD', 'zset')", "1", "zset"}) == Integer(0));
  REQUIRE(keyspace().Validate());
}

TEST_CASE_METHOD(TasksTest, "a task that its stream refuses shows no member past its deadline") {
  for (const char* key : {"set", "zset"}) {
    const bool is_set = std::string(key) == "set";
    for (const char* member : {"a", "b"})
      is_set ? Run({"SADD", key, member}) : Run({"ZADD", key, "1", member});
    Run({"EXPIREMEMBER", key, "a", "3"});
    CHECK(Run({"EXPIRE", key, "1", "INTO", "s"}) == Integer(1));
  }
  Run({"SET", "s", "no stream"});
  AdvanceTime(2999);
  CHECK(Run({"SCARD", "set"}) == Integer(2));
  AdvanceTime(1);
  CHECK(Run({"SMEMBERS", "set"}) == Array({Bulk("b")}));
  CHECK(Run({"ZRANGE", "zset", "0", "-1"}) == Array({Bulk("b")}));
  Run({"DEL", "s"});
  AdvanceTime(1000);
  CHECK(Run({"XLEN", "s"}) == Integer(2));
  REQUIRE(keyspace().Validate());
}

TEST_CASE_METHOD(TasksTest,
                 "a task goes into its stream, if all its members are due a moment after its own time") {
  Run({"SADD", "set", "a"});
  Run({"PEXPIREMEMBERAT", "set", "a", std::to_string(WallMs() + 25)});
  CHECK(Run({"PEXPIRE", "set", "20", "INTO", "s"}) == Integer(1));
  LetTimePass(30);
  CHECK(Run({"SCARD", "set"}) == Integer(1));
  TurnWheels();
  CHECK(Run({"XLEN", "s"}) == Integer(1));
  CHECK(Run({"EXISTS", "set"}) == Integer(0));
}

TEST_CASE_METHOD(TasksTest, "TIMERS shows the tasks with the latest deadlines once") {
  for (const char* at : {"4611686018427387904", "4611686018427387999", "9223372036854775000"}) {
    Run({"SET", at, "v"});
    CHECK(Run({"PEXPIREAT", at, at, "INTO", "s"}) == Integer(1));
  }
  Run({"SET", "soon", "v", "PX", "500", "INTO", "s"});
  const Reply first = Run({"TIMERS", "s", "COUNT", "1"});
  CHECK(first.elements[1].elements.size() == 2);
  const Reply second = Run({"TIMERS", "s", "COUNT", "1", "CURSOR", first.elements[0].text});
  CHECK(second.elements[0] == Bulk("0"));
  CHECK(second.elements[1].elements.size() == 6);
}

}  // namespace mayfly::testing
