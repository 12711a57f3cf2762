#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kSyntax = "ERR syntax error";

}  // namespace

TEST_CASE_METHOD(CommandTest, "MSETNX sets all pairs or none") {
  CHECK(Run({"MSETNX", "a", "1", "b", "2"}) == Integer(1));
  CHECK(Run({"MSETNX", "c", "3", "b", "4"}) == Integer(0));
  CHECK(Run({"MGET", "a", "b", "c"}) == Array({Bulk("1"), Bulk("2"), Null()}));
  CHECK(Run({"MSETNX", "d", "1", "d", "2"}) == Integer(1));
  CHECK(Run({"GET", "d"}) == Bulk("2"));
  CHECK(Run({"MSETNX", "e", "1", "f"}) == Error("ERR wrong number of arguments for 'msetnx' command"));
  CHECK(Run({"MSETNX", "e"}) == Error("ERR wrong number of arguments for 'msetnx' command"));
}

TEST_CASE_METHOD(CommandTest, "a key whose deadline has come is absent for MSETNX") {
  Run({"SET", "a", "1", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"MSETNX", "a", "2"}) == Integer(1));
  CHECK(Run({"TTL", "a"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "MSETEX sets pairs with one expiry, given in four ways") {
  CHECK(Run({"MSETEX", "2", "a", "1", "b", "2"}) == Integer(1));
  CHECK(Run({"TTL", "a"}) == Integer(-1));
  CHECK(Run({"MSETEX", "2", "a", "1", "b", "2", "EX", "7"}) == Integer(1));
  CHECK(Run({"PTTL", "a"}) == Integer(7000));
  CHECK(Run({"PTTL", "b"}) == Integer(7000));
  CHECK(Run({"MSETEX", "1", "a", "3", "px", "7"}) == Integer(1));
  CHECK(Run({"PTTL", "a"}) == Integer(7));
  CHECK(Run({"MSETEX", "1", "a", "3", "EXAT", UnixSeconds(7)}) == Integer(1));
  CHECK(Run({"EXPIRETIME", "a"}) == Integer(WallMs() / 1000 + 7));
  CHECK(Run({"MSETEX", "1", "a", "3", "PXAT", UnixMs(7)}) == Integer(1));
  CHECK(Run({"PEXPIRETIME", "a"}) == Integer(WallMs() + 7));
  CHECK(Run({"MSETEX", "1", "a", "4", "KEEPTTL"}) == Integer(1));
  CHECK(Run({"PEXPIRETIME", "a"}) == Integer(WallMs() + 7));
  CHECK(Run({"MSETEX", "1", "a", "5"}) == Integer(1));
  CHECK(Run({"TTL", "a"}) == Integer(-1));
  CHECK(Run({"MSETEX", "1", "a", "5", "PXAT", UnixMs(0)}) == Integer(1));
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "MSETEX NX requires every key to be absent and XX every key to exist") {
  Run({"SET", "there", "old"});
  CHECK(Run({"MSETEX", "2", "a", "1", "there", "2", "NX", "EX", "5"}) == Integer(0));
  CHECK(Run({"MSETEX", "2", "a", "1", "there", "2", "EX", "5", "XX"}) == Integer(0));
  CHECK(Run({"MGET", "a", "there"}) == Array({Null(), Bulk("old")}));
  CHECK(Run({"MSETEX", "2", "a", "1", "b", "2", "nx"}) == Integer(1));
  CHECK(Run({"MSETEX", "2", "a", "3", "there", "4", "xx", "PX", "9"}) == Integer(1));
  CHECK(Run({"MGET", "a", "b", "there"}) == Array({Bulk("3"), Bulk("2"), Bulk("4")}));
  CHECK(Run({"PTTL", "there"}) == Integer(9));
}

TEST_CASE_METHOD(CommandTest, "MSETEX takes option words among its pairs as keys and values") {
  CHECK(Run({"MSETEX", "2", "NX", "XX", "EX", "1"}) == Integer(1));
  CHECK(Run({"MGET", "NX", "EX"}) == Array({Bulk("XX"), Bulk("1")}));
}

TEST_CASE_METHOD(CommandTest, "MSETEX refuses a wrong number of keys before it reads options") {
  for (const char* count : {"0", "-1", "x", "", "2147483648", "9223372036854775808"})
    CHECK(Run({"MSETEX", count, "a", "1", "FOO"}) == Error("ERR invalid numkeys value"));
  CHECK(Run({"MSETEX", "2", "a", "1", "b"}) == Error("ERR wrong number of key-value pairs"));
  CHECK(Run({"MSETEX", "2147483647", "a", "1", "EX", "10"}) == Error("ERR wrong number of key-value pairs"));
  CHECK(Run({"MSETEX", "1", "a"}) == Error("ERR wrong number of arguments for 'msetex' command"));
  const auto options = GENERATE(values<std::vector<std::string>>({
      {"FOO"},
      {"b", "2"},
      {"NX", "XX"},
      {"EX"},
      {"EX", "1", "PX", "1"},
      {"KEEPTTL", "EX", "1"},
      {"PXAT", "1", "KEEPTTL"},
      {"PERSIST"},
      {"GET"},
  }));
  std::vector<std::string> request{"MSETEX", "1", "a", "1"};
  request.insert(request.end(), options.begin(), options.end());
  CHECK(Run(request) == Error(kSyntax));
  CHECK(Run({"MSETEX", "1", "a", "1", "EX", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"MSETEX", "1", "a", "1", "EX", "0"}) == Error("ERR invalid expire time in 'msetex' command"));
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "COMMAND shows that MSETEX's first argument says how many keys there are") {
  UseResp3();
  const Reply info = Run({"COMMAND", "INFO", "msetex"}).elements.at(0);
  CHECK(info.elements[3] == Integer(0));
  CHECK(info.elements[4] == Integer(0));
  CHECK(info.elements[5] == Integer(0));
  const Reply counted =
      Map({Bulk("type"), Bulk("keynum"), Bulk("spec"),
           Map({Bulk("keynumidx"), Integer(0), Bulk("firstkey"), Integer(1), Bulk("keystep"), Integer(2)})});
  const Reply index = Map({Bulk("type"), Bulk("index"), Bulk("spec"), Map({Bulk("index"), Integer(1)})});
  CHECK(info.elements[8] == Set({Map({Bulk("flags"), Set({Simple("OW"), Simple("update")}),
                                      Bulk("begin_search"), index, Bulk("find_keys"), counted})}));
}

}  // namespace mayfly::testing
