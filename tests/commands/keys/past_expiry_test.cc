// Keys that are given a time in the past: whether they count as expired or as deleted, as in Redis.
#include <algorithm>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

// Of INFO's text.
int64_t ExpiredKeys(const Reply& info) {
  const std::string name = "expired_keys:";
  return std::stoll(info.text.substr(info.text.find(name) + name.size()));
}

class PastTest : public CommandTest {
 public:
  Reply AskRedis(const Words& request) {
    return TakeReplies(oracle_.Ask(EncodeRequest(request), 1)[0]).at(0);
  }

 private:
  Oracle oracle_;
};

}  // namespace

TEST_CASE_METHOD(PastTest, "a key that goes by a time in the past counts as Redis counts it") {
  const std::string way = GENERATE("EXPIRE", "PEXPIRE", "EXPIREAT", "PEXPIREAT", "GETEX", "SET", "SET GET");
  const bool at_once = way != "SET" && way != "SET GET";
  Words request{way, "k", at_once && way.ends_with("AT") ? "1" : "-1"};
  if (way == "GETEX") request = {"GETEX", "k", "PXAT", "1"};
  if (way == "SET") request = {"SET", "k", "w", "EXAT", "1"};
  if (way == "SET GET") request = {"SET", "k", "w", "XX", "GET", "PXAT", "1"};
  INFO(way);
  const Words set{"SET", "k", "v"};
  AskRedis(set);
  Run(set);
  CHECK(TakeChanges() == Words{"new k", "set k"});
  CHECK(Run(request) == AskRedis(request));
  CHECK(Run({"EXISTS", "k"}) == AskRedis({"EXISTS", "k"}));
  TurnWheels();
  CHECK(TakeChanges() == (at_once ? Words{"del k"} : Words{"set k", "expire k", "expired k"}));
  CHECK(ExpiredKeys(Run({"INFO", "stats"})) == (at_once ? 0 : 1));
  CHECK(ExpiredKeys(AskRedis({"INFO", "stats"})) == (at_once ? 0 : 1));
}

TEST_CASE_METHOD(CommandTest,
                 "a key that is written with a deadline long past does not count as freed late") {
  Run({"SET", "k", "v", "PXAT", "1"});
  Run({"MSETEX", "2", "a", "1", "b", "2", "EXAT", "1"});
  TurnWheels();
  const std::string info = Run({"INFO", "expiry"}).text;
  CHECK(info.find("expire_lag_max_us:0\r\n") != std::string::npos);
  CHECK(ExpiredKeys(Run({"INFO", "stats"})) == 3);
  Words changes = TakeChanges();
  std::sort(changes.begin(), changes.end());
  CHECK(changes == Words{"expire a", "expire b", "expire k", "expired a", "expired b", "expired k", "new a",
                         "new b", "new k", "set a", "set b", "set k"});
}

}  // namespace mayfly::testing
