// SEXPIRE, STTL, SPERSIST and kin of Redis 8.12: deadlines of a set's members.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

Reply Integers(std::initializer_list<int64_t> numbers) {
  std::vector<Reply> elements;
  for (const int64_t number : numbers) elements.push_back(Integer(number));
  return Array(elements);
}

const Reply kWrong = Error("WRONGTYPE Operation against a key holding the wrong kind of value");

}  // namespace

TEST_CASE_METHOD(CommandTest, "SEXPIRE lets members of a set expire exactly at their deadlines") {
  Run({"SADD", "s", "a", "b", "c"});
  CHECK(Run({"SEXPIRE", "s", "2", "MEMBERS", "3", "a", "nope", "b"}) == Integers({1, -2, 1}));
  CHECK(Run({"SEXPIRE", "none", "2", "MEMBERS", "1", "a"}) == Integers({-2}));
  CHECK(Run({"SPEXPIRE", "s", "2500", "MEMBERS", "1", "b"}) == Integers({1}));
  CHECK(Run({"STTL", "s", "MEMBERS", "4", "a", "b", "c", "nope"}) == Integers({2, 3, -1, -2}));
  CHECK(Run({"SPTTL", "s", "MEMBERS", "2", "a", "b"}) == Integers({2000, 2500}));
  CHECK(Run({"SPTTL", "none", "MEMBERS", "1", "a"}) == Integers({-2}));
  AdvanceTime(1999);
  CHECK(Run({"SCARD", "s"}) == Integer(3));
  AdvanceTime(1);
  CHECK(Run({"SMEMBERS", "s"}).elements.size() == 2);
  CHECK(Run({"STTL", "s", "MEMBERS", "1", "a"}) == Integers({-2}));
  LetTimePass(500);
  CHECK(Run({"SMEMBERS", "s"}) == Bulks({"c"}));
}

TEST_CASE_METHOD(CommandTest,
                 "SEXPIREAT and SPEXPIREAT take Unix times, which SEXPIRETIME and SPEXPIRETIME show") {
  Run({"SADD", "s", "1", "2", "3"});
  CHECK(Run({"SEXPIREAT", "s", "9000000000", "MEMBERS", "1", "1"}) == Integers({1}));
  CHECK(Run({"SPEXPIREAT", "s", "9000000000123", "MEMBERS", "1", "2"}) == Integers({1}));
  CHECK(Run({"SEXPIRETIME", "s", "MEMBERS", "4", "1", "2", "3", "4"}) ==
        Integers({9'000'000'000, 9'000'000'001, -1, -2}));
  CHECK(Run({"SPEXPIRETIME", "s", "MEMBERS", "2", "1", "2"}) ==
        Integers({9'000'000'000'000, 9'000'000'000'123}));
}

TEST_CASE_METHOD(CommandTest, "NX, XX, GT and LT of SEXPIRE look at the deadline that a member has") {
  Run({"SADD", "s", "a", "b"});
  CHECK(Run({"SEXPIRE", "s", "100", "XX", "MEMBERS", "1", "a"}) == Integers({0}));
  CHECK(Run({"SEXPIRE", "s", "100", "GT", "MEMBERS", "1", "a"}) == Integers({0}));
  CHECK(Run({"SEXPIRE", "s", "100", "NX", "MEMBERS", "1", "a"}) == Integers({1}));
  CHECK(Run({"SEXPIRE", "s", "200", "NX", "MEMBERS", "2", "a", "b"}) == Integers({0, 1}));
  CHECK(Run({"SEXPIRE", "s", "50", "GT", "MEMBERS", "1", "a"}) == Integers({0}));
  CHECK(Run({"SEXPIRE", "s", "150", "GT", "MEMBERS", "1", "a"}) == Integers({1}));
  CHECK(Run({"SEXPIRE", "s", "150", "LT", "MEMBERS", "2", "a", "b"}) == Integers({0, 1}));
  CHECK(Run({"STTL", "s", "MEMBERS", "2", "a", "b"}) == Integers({150, 150}));
}

TEST_CASE_METHOD(CommandTest, "a time that is over removes the members, and the key with the last one") {
  Run({"SADD", "s", "a", "b"});
  TakeChanges();
  CHECK(Run({"SEXPIREAT", "s", "1", "MEMBERS", "2", "a", "nope"}) == Integers({2, -2}));
  CHECK(TakeChanges() == Lines{"srem s"});
  CHECK(Run({"SEXPIRE", "s", "0", "MEMBERS", "1", "b"}) == Integers({2}));
  CHECK(Run({"EXISTS", "s"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "SPERSIST takes the deadlines of members away") {
  Run({"SADD", "s", "a", "b"});
  Run({"SEXPIRE", "s", "1", "MEMBERS", "1", "a"});
  TakeChanges();
  CHECK(Run({"SPERSIST", "s", "MEMBERS", "3", "a", "b", "nope"}) == Integers({1, -1, -2}));
  CHECK(TakeChanges() == Lines{"spersist s"});
  CHECK(Run({"SPERSIST", "s", "MEMBERS", "1", "a"}) == Integers({-1}));
  CHECK(Run({"SPERSIST", "none", "MEMBERS", "1", "a"}) == Integers({-2}));
  CHECK(TakeChanges().empty());
  AdvanceTime(2000);
  CHECK(Run({"SCARD", "s"}) == Integer(2));
  CHECK(Run({"STTL", "s", "MEMBERS", "1", "a"}) == Integers({-1}));
}

TEST_CASE_METHOD(CommandTest, "the commands on members' deadlines report sexpire and sexpired") {
  Run({"SADD", "s", "a", "b"});
  TakeChanges();
  Run({"SEXPIRE", "s", "1", "MEMBERS", "1", "a"});
  CHECK(TakeChanges() == Lines{"sexpire s"});
  AdvanceTime(1000);
  CHECK(TakeChanges() == Lines{"sexpired s"});
}

// Redis's texts for HEXPIRE and its kin, with members in place of fields.
TEST_CASE_METHOD(CommandTest, "errors of SEXPIRE and its kin") {
  Run({"SADD", "s", "a"});
  Run({"SET", "text", "v"});
  CHECK(Run({"SEXPIRE", "text", "1", "MEMBERS", "1", "a"}) == kWrong);
  CHECK(Run({"STTL", "text", "MEMBERS", "1", "a"}) == kWrong);
  CHECK(Run({"SPERSIST", "text", "MEMBERS", "1", "a"}) == kWrong);
  CHECK(Run({"SEXPIRE", "s", "-10", "MEMBERS", "1", "a"}) == Error("ERR invalid expire time, must be >= 0"));
  CHECK(Run({"SEXPIRE", "s", "x", "MEMBERS", "1", "a"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"SEXPIRE", "s", "1", "FIELDS", "1", "a"}) ==
        Error("ERR Mandatory argument MEMBERS is missing or not at the right position"));
  CHECK(Run({"SEXPIRE", "s", "1", "MEMBERS", "0", "a"}) ==
        Error("ERR Parameter `numMembers` should be greater than 0"));
  CHECK(Run({"SEXPIRE", "s", "1", "MEMBERS", "2", "a"}) ==
        Error("ERR The `nummembers` parameter must match the number of arguments"));
  CHECK(Run({"STTL", "s", "MEMBERS", "0", "a"}) == Error("ERR Number of members must be a positive integer"));
  CHECK(Run({"STTL", "s", "MEMBERS", "1", "a", "b"}) ==
        Error("ERR The `nummembers` parameter must match the number of arguments"));
  CHECK(Run({"SPERSIST", "s", "a", "1", "b"}) ==
        Error("ERR Mandatory argument MEMBERS is missing or not at the right position"));
  CHECK(Run({"SMEMBERS", "s"}) == Bulks({"a"}));
}

}  // namespace mayfly::testing
