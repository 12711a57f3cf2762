// Tasks at their limits: IDs at both ends, COUNT of DRAIN and TIMERS, what counts as drained, and who hears of a delivery.
#include <algorithm>
#include <set>

#include "commands/replicas/master_world.h"
#include "commands/tasks/tasks_world.h"

namespace mayfly::testing {
namespace {

std::vector<std::string> Numbered(const std::string& prefix, int from, int to) {
  std::vector<std::string> names;
  for (int i = from; i <= to; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

class TasksLimitsTest : public TasksTest {
 public:
  // Tasks t1, t2 ..., in the order of their deadlines.
  void FillWith(int tasks, const std::string& stream = "jobs") {
    for (int i = 1; i <= tasks; ++i)
      Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(100'000 + i), "INTO", stream});
  }
  Words KeysIn(const std::string& stream) { return KeysOfTasks(Run({"XRANGE", stream, "-", "+"})); }
  std::string LastId(const std::string& stream) {
    return Run({"XREVRANGE", stream, "+", "-", "COUNT", "1"}).elements.at(0).elements[0].text;
  }
};

}  // namespace

TEST_CASE_METHOD(TasksLimitsTest,
                 "a task that was due in 1970 has the lowest id there is, and goes at once") {
  for (const std::string at : {"-5", "0", "1"}) {
    CAPTURE(at);
    Run({"FLUSHALL"});
    Run({"SET", "k", "v"});
    CHECK(Run({"PEXPIREAT", "k", at, "INTO", "jobs"}) == Integer(1));
    TurnWheels();
    const std::string due = at == "1" ? "1" : "0";
    CHECK(Entries("jobs") == Words{(at == "1" ? "1-0" : "0-1") + std::string(" key k value v due ") + due});
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
  }
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "a stream at the highest id takes no task; the task waits for another one") {
  const std::string most = "18446744073709551615";
  Run({"XADD", "jobs", most + "-" + most, "f", "v"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  AdvanceTime(20);
  CHECK(Info("tasks_late") == 1);
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  Run({"DEL", "jobs"});
  Run({"XADD", "jobs", most + "-" + std::to_string(UINT64_MAX - 1), "f", "v"});
  AdvanceTime(1'000);
  CHECK(Info("tasks_late") == 0);
  CHECK(LastId("jobs") == most + "-" + most);
  Run({"SET", "k2", "v", "PX", "20", "INTO", "jobs"});
  AdvanceTime(20);
  CHECK(Info("tasks_late") == 1);
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "an entry's id goes on from the stream's last one, also if that is of the same ms") {
  const std::string due = UnixMs(20);
  Run({"XADD", "jobs", due + "-0", "f", "v"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  AdvanceTime(20);
  CHECK(LastId("jobs") == due + "-1");
  Run({"DEL", "jobs"});
  Run({"XADD", "jobs", std::to_string(WallMs() + 29) + "-7", "f", "v"});
  const std::string next = UnixMs(30);
  Run({"SET", "k", "v", "PX", "30", "INTO", "jobs"});
  AdvanceTime(30);
  CHECK(LastId("jobs") == next + "-0");
  Run({"XADD", "jobs", std::to_string(WallMs() + 100) + "-" + std::to_string(UINT64_MAX), "f", "v"});
  const std::string over = UnixMs(101);
  Run({"SET", "k", "v", "PX", "30", "INTO", "jobs"});
  AdvanceTime(30);
  CHECK(LastId("jobs") == over + "-0");
}

TEST_CASE_METHOD(TasksLimitsTest, "a task never goes into a stream that is past its own deadline") {
  Run({"XADD", "jobs", "1-1", "f", "v"});
  Run({"PEXPIRE", "jobs", "30"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"});
  const int64_t due = WallMs() + 20;
  LetTimePass(40);  // the wheel comes to both at once
  TurnWheels();
  AdvanceTime(1);
  CHECK(Entries("jobs") == Words{EntryOf("k", "v", due)});
  CHECK(Run({"TTL", "jobs"}) == Integer(-1));
  CHECK(Info("tasks_waiting") == 0);
  AdvanceTime(60'000);
  CHECK(Run({"XLEN", "jobs"}) == Integer(1));
}

TEST_CASE_METHOD(TasksLimitsTest, "each delivery and each refusal counts once") {
  Run({"SET", "bad", "no stream"});
  for (int i = 1; i <= 3; ++i) Run({"SET", "b" + std::to_string(i), "v", "PX", "20", "INTO", "bad"});
  for (int i = 1; i <= 5; ++i) Run({"SET", "g" + std::to_string(i), "v", "PX", "20", "INTO", "jobs"});
  CHECK(Info("tasks_waiting") == 8);
  AdvanceTime(19);
  CHECK(Info("tasks_delivered") == 0);
  AdvanceTime(1);
  CHECK(Info("tasks_delivered") == 5);
  CHECK(Info("tasks_refused") == 3);
  CHECK(Info("tasks_waiting") == 3);
  CHECK(Info("tasks_late") == 3);
  AdvanceTime(999);
  CHECK(Info("tasks_refused") == 3);
  // The first failure of a stream speaks for its other tasks.
  AdvanceTime(1);
  CHECK(Info("tasks_refused") == 4);
  AdvanceTime(1'000);
  CHECK(Info("tasks_refused") == 5);
  Run({"DEL", "bad"});
  AdvanceTime(999);
  CHECK(Info("tasks_delivered") == 5);
  AdvanceTime(1);
  CHECK(Info("tasks_delivered") == 8);
  CHECK(Info("tasks_refused") == 5);
  CHECK(Info("tasks_waiting") == 0);
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "DRAIN answers how many go: no more than COUNT, and none that has gone before") {
  FillWith(5);
  Run({"SET", "other", "v", "PX", "1", "INTO", "others"});
  CHECK(Run({"DRAIN", "jobs", "COUNT", "2"}) == Integer(2));
  CHECK(KeysIn("jobs") == Words{"t1", "t2"});
  CHECK(Run({"DRAIN", "jobs", "COUNT", "3"}) == Integer(3));
  CHECK(KeysIn("jobs") == Words{"t1", "t2", "t3", "t4", "t5"});
  CHECK(Run({"DRAIN", "jobs", "COUNT", "9"}) == Integer(0));
  CHECK(Run({"DRAIN", "none"}) == Integer(0));
  CHECK(Run({"EXISTS", "none"}) == Integer(0));
  FillWith(3);
  CHECK(Run({"DRAIN", "jobs", "count", "1", "COUNT", "2"}) == Integer(2));
  const Reply few = Error("ERR count should be greater than 0");
  CHECK(Run({"DRAIN", "jobs", "COUNT", "0"}) == few);
  CHECK(Run({"DRAIN", "jobs", "COUNT", "-1"}) == few);
  CHECK(Run({"DRAIN", "jobs", "COUNT", "x"}) == Error("ERR value is not an integer or out of range"));
  for (const Words& wrong : {Words{"DRAIN", "jobs", "COUNT"}, Words{"DRAIN", "jobs", "1"},
                             Words{"DRAIN", "jobs", "COUNT", "1", "x"}, Words{"DRAIN"}})
    CHECK(Run(wrong).kind == Reply::Kind::kError);
  CHECK(Timers("jobs") == Words{"t3"});
  // A key that is no stream takes none, and what waits for it is not drained again.
  Run({"SET", "bad", "no stream"});
  for (const char* key : {"x", "y"}) Run({"SET", key, "v", "PX", "5000", "INTO", "bad"});
  CHECK(Run({"DRAIN", "bad", "COUNT", "1"}) == Integer(1));
  CHECK(Info("tasks_late") == 1);
  CHECK(Run({"DRAIN", "bad"}) == Integer(1));
  CHECK(Run({"DRAIN", "bad"}) == Integer(0));
  CHECK(Info("tasks_late") == 2);
  CHECK(Run({"MGET", "x", "y"}) == Bulks({"v", "v"}));
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "up to 512 drained tasks are in their stream before the answer, the rest in a turn") {
  for (const int tasks : {511, 512, 513, 1'200}) {
    for (const bool by_count : {false, true}) {
      CAPTURE(tasks, by_count);
      Run({"FLUSHALL"});
      FillWith(tasks);
      Run({"SET", "last", "v", "PX", "900000", "INTO", "jobs"});
      const Words words =
          by_count ? Words{"DRAIN", "jobs", "COUNT", std::to_string(tasks)} : Words{"DRAIN", "jobs"};
      if (!by_count) Run({"DEL", "last"});
      CHECK(Run(words) == Integer(tasks));
      CHECK(Run({"XLEN", "jobs"}) == Integer(std::min(tasks, 512)));
      AdvanceTime(0);
      CHECK(Info("tasks_late") == 0);
      CHECK(KeysIn("jobs") == Numbered("t", 1, tasks));
      CHECK(Run({"DBSIZE"}) == Integer(by_count ? 2 : 1));
      CHECK(Info("tasks_waiting") == (by_count ? 1 : 0));
    }
  }
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "DRAIN of very many tasks counts none that is gone, and none that has gone before") {
  constexpr int kTasks = 10'002;  // more than are put in order
  SetOption("namespace", "ns prefix ns:");
  const auto fill = [this](int gone) {
    Run({"FLUSHALL"});
    FillWith(kTasks - gone);
    for (int i = 1; i <= gone; ++i)
      Run({"SET", "ns:" + std::to_string(i), "v", "PX", "5000", "INTO", "jobs", "TAGS", "1", "tag"});
  };
  for (const int gone : {1, 700, 5'000}) {
    for (const Words& removal : {Words{"INVALIDATE", "tag"}, Words{"NSFLUSH", "ns"}}) {
      CAPTURE(gone, removal);
      fill(gone);
      for (const Words& words : {Words{"MULTI"}, removal, Words{"DRAIN", "jobs"}}) Run(words);
      CHECK(Run({"EXEC"}) == Array({Integer(gone), Integer(kTasks - gone)}));
      AdvanceTime(0);
      CHECK(Run({"XLEN", "jobs"}) == Integer(kTasks - gone));
      CHECK(Run({"DRAIN", "jobs"}) == Integer(0));
    }
  }
  // What waits for its stream is not drained again.
  Run({"FLUSHALL"});
  Run({"SET", "jobs", "no stream"});
  FillWith(kTasks);
  CHECK(Run({"DRAIN", "jobs"}) == Integer(kTasks));
  AdvanceTime(0);
  CHECK(Run({"DRAIN", "jobs"}) == Integer(0));
  Run({"SET", "later", "v", "PX", "5000", "INTO", "jobs"});
  CHECK(Run({"DRAIN", "jobs"}) == Integer(1));
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "DRAIN of very many tasks takes those of every MAXLEN, and of no other stream") {
  constexpr int kTasks = 10'002;  // more than are put in order
  for (const Words& words :
       {Words{"DRAIN", "jobs"}, Words{"DRAIN", "jobs", "COUNT", std::to_string(kTasks)}}) {
    CAPTURE(words);
    Run({"FLUSHALL"});
    for (int i = 1; i <= kTasks; ++i) {
      Words task{"SET", "t" + std::to_string(i), "v", "PX", "100000", "INTO", "jobs"};
      if (i % 3 != 0) task.insert(task.end(), {"MAXLEN", std::to_string(100'000 * (i % 3))});
      Run(task);
    }
    Run({"SET", "other", "v", "PX", "100000", "INTO", "job"});
    Run({"SET", "another", "v", "PX", "100000", "INTO", "jobs2", "MAXLEN", "100000"});
    CHECK(Run(words) == Integer(kTasks));
    AdvanceTime(0);
    Words keys = KeysIn("jobs");
    CHECK(keys.size() == kTasks);
    std::sort(keys.begin(), keys.end());
    CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
    CHECK(Timers("jobs").empty());
    CHECK(Timers("job") == Words{"other"});
    CHECK(Timers("jobs2") == Words{"another"});
    CHECK(Info("tasks_waiting") == 2);
    CHECK(Info("tasks_late") == 0);
    CHECK(Run({"DBSIZE"}) == Integer(3));
  }
}

TEST_CASE_METHOD(TasksLimitsTest, "TIMERS has pages of COUNT tasks, and the cursor 0 after the last one") {
  for (int i = 1; i <= 10; ++i)
    Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(100 * i), "INTO", "jobs"});
  const auto page = [&](const std::string& cursor, const std::string& count) {
    const Reply reply = Run({"TIMERS", "jobs", "COUNT", count, "CURSOR", cursor});
    Words keys;
    for (size_t i = 0; i < reply.elements[1].elements.size(); i += 2)
      keys.push_back(reply.elements[1].elements[i].text);
    return std::pair{reply.elements[0].text, keys};
  };
  CHECK(page("0", "10") == std::pair<std::string, Words>{"0", Numbered("t", 1, 10)});
  CHECK(page("0", "11").first == "0");
  const auto [next, first] = page("0", "9");
  CHECK(next != "0");
  CHECK(first == Numbered("t", 1, 9));
  CHECK(page(next, "9") == std::pair<std::string, Words>{"0", {"t10"}});
  CHECK(Run({"TIMERS", "jobs"}).elements[1].elements.size() == 20);
  Run({"SET", "t11", "v", "PX", "1100", "INTO", "jobs"});
  CHECK(Run({"TIMERS", "jobs"}).elements[1].elements.size() == 20);
  // What comes before the cursor meanwhile is not shown, and what has gone is not missed.
  const std::string from = page("0", "3").first;
  Run({"SET", "early", "v", "PX", "50", "INTO", "jobs"});
  Run({"DEL", "t4"});
  CHECK(page(from, "3").second == Words{"t5", "t6", "t7"});
  CHECK(page("0", "1").second == Words{"early"});
  // Tasks of one deadline stay together.
  for (const char* key : {"a", "b", "c"}) Run({"SET", key, "v", "PXAT", UnixMs(60), "INTO", "jobs"});
  CHECK(page("0", "2").second.size() == 4);
  const std::string after = page("0", "4").first;
  CHECK(page(after, "1").second == Words{"t1"});
  CHECK(Run({"TIMERS", "jobs", "MATCH", "t?", "COUNT", "3"}).elements[1] ==
        Array({Bulk("t1"), Integer(100), Bulk("t2"), Integer(200), Bulk("t3"), Integer(300)}));
  for (const Words& wrong :
       {Words{"TIMERS", "jobs", "MATCH"}, Words{"TIMERS", "jobs", "COUNT", "-1"},
        Words{"TIMERS", "jobs", "COUNT", "x"}, Words{"TIMERS", "jobs", "t*"}, Words{"TIMERS"}})
    CHECK(Run(wrong).kind == Reply::Kind::kError);
  CHECK(page(std::string("0"), "100").second.size() == 14);
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "TIMERS shows tasks that wait for their stream first, with the time that they are late") {
  Run({"SET", "jobs", "no stream"});
  Run({"SET", "soon", "v", "PX", "100", "INTO", "jobs"});
  Run({"SET", "late", "v", "PX", "20", "INTO", "jobs"});
  Run({"SET", "later", "v", "PX", "30", "INTO", "jobs"});
  AdvanceTime(50);
  CHECK(Run({"TIMERS", "jobs"}).elements[1] ==
        Array({Bulk("late"), Integer(-30), Bulk("later"), Integer(-20), Bulk("soon"), Integer(50)}));
  // Also among very many.
  for (int i = 0; i < 11'000; ++i)
    Run({"SET", "t" + std::to_string(i), "v", "PX", std::to_string(1'000'000 + i), "INTO", "jobs"});
  const Reply first = Run({"TIMERS", "jobs", "COUNT", "5"});
  REQUIRE(first.elements[1].elements.size() >= 4);
  CHECK(first.elements[1].elements[0] == Bulk("late"));
  CHECK(first.elements[1].elements[1] == Integer(-30));
  CHECK(first.elements[1].elements[2] == Bulk("later"));
  // Above 10,000 tasks a page may repeat what another one had.
  const auto distinct = [&](const Words& more) {
    const Words keys = Timers("jobs", more);
    return std::set<std::string>(keys.begin(), keys.end());
  };
  CHECK(distinct({}).size() == 11'003);
  CHECK(distinct({"MATCH", "late*"}) == std::set<std::string>{"late", "later"});
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "TIMERS and DRAIN leave out tasks that were invalidated, removed yet or not") {
  for (const int tasks : {1'200, 11'000}) {
    CAPTURE(tasks);
    Run({"FLUSHALL"});
    for (int i = 1; i <= tasks; ++i)
      Run({"SET", "t" + std::to_string(i), "v", "PX", "100000", "TAGS", "1", "red", "INTO", "jobs"});
    Run({"SET", "stays", "v", "PX", "100000", "INTO", "jobs"});
    CHECK(Run({"INVALIDATE", "red"}) == Integer(tasks));
    REQUIRE(server().databases.waiting_keys() + server().databases.total_keys() > 600);
    CHECK(Timers("jobs") == Words{"stays"});
    CHECK(Run({"DRAIN", "jobs", "COUNT", "600"}) == Integer(1));
    CHECK(KeysIn("jobs") == Words{"stays"});
    AdvanceTime(0);
    CHECK(Run({"DBSIZE"}) == Integer(1));
    CHECK(KeysIn("jobs") == Words{"stays"});
    CHECK(Info("tasks_waiting") == 0);
  }
}

TEST_CASE_METHOD(TasksLimitsTest, "a task counts as an expired key when it goes, on time or late") {
  const auto expired = [&] {
    const std::string info = Run({"INFO", "everything"}).text;
    const size_t at = info.find("\r\nexpired_keys:");
    REQUIRE(at != std::string::npos);
    return std::stoll(info.substr(at + 15));
  };
  SetOption("namespace", "mail prefix mail:");
  const auto of_namespace = [&] {
    const std::string info = Run({"INFO", "namespaces"}).text;
    const size_t at = info.find("expired=");
    REQUIRE(at != std::string::npos);
    return std::stoll(info.substr(at + 8));
  };
  Run({"SET", "mail:1", "v", "PX", "20", "INTO", "jobs"});
  AdvanceTime(20);
  CHECK(expired() == 1);
  CHECK(of_namespace() == 1);
  Run({"SET", "bad", "no stream"});
  Run({"SET", "mail:2", "v", "PX", "20", "INTO", "bad"});
  AdvanceTime(20);
  CHECK(expired() == 1);
  Run({"DEL", "bad"});
  AdvanceTime(1'000);
  CHECK(Run({"XLEN", "bad"}) == Integer(1));
  CHECK(expired() == 2);
  CHECK(of_namespace() == 2);
  Run({"SET", "mail:3", "v", "PX", "20000", "INTO", "jobs"});
  Run({"DRAIN", "jobs"});
  CHECK(expired() == 3);
  CHECK(of_namespace() == 3);
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "the stream that a task makes has no TTL, whatever options give to new keys") {
  for (const auto& [option, value] :
       std::vector<std::pair<std::string, std::string>>{{"default-ttl", "100"},
                                                        {"max-ttl", "100"},
                                                        {"ttl-rule", "job* default 100"},
                                                        {"ttl-required", "yes"}}) {
    CAPTURE(option);
    SetOption(option, value);
    CHECK(Run({"SET", "k", "v", "PX", "20", "INTO", "jobs"}) == Ok());
    AdvanceTime(20);
    CHECK(Run({"XLEN", "jobs"}) == Integer(1));
    CHECK(Run({"TTL", "jobs"}) == Integer(-1));
    Run({"FLUSHALL"});
    SetOption(option, option == "ttl-required" ? "no" : option == "ttl-rule" ? "" : "0");
  }
}

TEST_CASE_METHOD(TasksLimitsTest, "the nodes of a task's stream are as long as stream-node-max-bytes says") {
  Run({"CONFIG", "SET", "stream-node-max-bytes", "200"});
  for (int i = 1; i <= 6; ++i) {
    Run({"SET", "k" + std::to_string(i), std::string(150, 'v'), "PX", "20", "INTO", "jobs", "MAXLEN", "2"});
    AdvanceTime(20);
  }
  CHECK(KeysIn("jobs") == Words{"k5", "k6"});
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "a key with as many tags as there may be becomes no task, and stays what it is") {
  Words tagged = {"SET", "k", "v", "EX", "100", "TAGS", "255"};
  for (int i = 0; i < 255; ++i) tagged.push_back("tag:" + std::to_string(i));
  Words both = tagged;
  both.insert(both.end(), {"INTO", "jobs"});
  const Reply refused = Run(both);
  CHECK(refused.kind == Reply::Kind::kError);
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run(tagged) == Ok());
  CHECK(Run({"EXPIRE", "k", "50", "INTO", "jobs"}) == refused);
  CHECK(Run({"TTL", "k"}) == Integer(100));
  // A rule gives a stream to others only.
  SetOption("ttl-rule", "* into jobs");
  CHECK(Run({"EXPIRE", "k", "50"}) == Integer(1));
  CHECK(Run({"SET", "l", "v", "EX", "50"}) == Ok());
  CHECK(Timers("jobs") == Words{"l"});
  CHECK(Run({"TAGS", "k"}).elements.size() == 255);
  AdvanceTime(50'000);
  CHECK(KeysIn("jobs") == Words{"l"});
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(TasksLimitsTest,
                 "under a rule for every key the rule's own stream is a plain key with a TTL") {
  SetOption("ttl-rule", "* into jobs");
  Run({"XADD", "jobs", "1-1", "f", "v"});
  CHECK(Run({"PEXPIRE", "jobs", "20"}) == Integer(1));
  CHECK(Info("tasks_waiting") == 0);
  AdvanceTime(20);
  CHECK(Run({"EXISTS", "jobs"}) == Integer(0));
  CHECK(Info("tasks_late") == 0);
}

TEST_CASE_METHOD(TasksLimitsTest, "MAXLEN trims whole nodes at a delivery, and listeners hear of it") {
  SetOption("stream-node-max-entries", "3");
  TakeChanges();
  for (int i = 1; i <= 9; ++i) {
    Run({"SET", "k", std::to_string(i), "PX", "20", "INTO", "jobs", "MAXLEN", "4"});
    TakeChanges();
    AdvanceTime(20);
    Words wanted{"xadd jobs", "expired k"};
    if (i == 1) wanted.insert(wanted.begin(), "new jobs");
    if (i == 7) wanted.insert(wanted.begin() + 1, "xtrim jobs");
    CAPTURE(i);
    CHECK(TakeChanges() == wanted);
    CHECK(Run({"XLEN", "jobs"}) == Integer(i < 7 ? i : i - 3));
  }
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(MasterTest, "replicas get a task's entry with its id, and what it trimmed") {
  SetOption("stream-node-max-entries", "2");
  FakeReplica& replica = Follow();
  Run({"XADD", "jobs", "1-1", "f", "v"});
  Run({"XADD", "jobs", "2-1", "f", "v"});
  Run({"SET", "k", "v", "PX", "20", "INTO", "jobs", "MAXLEN", "2"});
  Run({"SET", "l", "7", "PX", "30", "INTO", "jobs", "MAXLEN", "2"});
  Run({"SET", "m", "v", "PX", "40", "INTO", "new"});
  replica.Take();
  const auto heard = [&] {
    Heard lines = replica.Take();
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  std::string due = UnixMs(20);
  AdvanceTime(20);
  CHECK(heard() == Heard{"DEL k", "EXEC", "MULTI", "XADD jobs " + due + "-0 key k value v due " + due});
  due = UnixMs(10);
  AdvanceTime(10);
  CHECK(heard() ==
        Heard{"DEL l", "EXEC", "MULTI", "XADD jobs MAXLEN = 2 " + due + "-0 key l value 7 due " + due});
  AdvanceTime(10);
  CHECK(heard() == Heard{"DEL m", "EXEC", "MULTI", "RESTORE new 0 ... REPLACE ABSTTL"});
}

}  // namespace mayfly::testing
