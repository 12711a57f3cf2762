// Values of every encoding, made by hand, and values that contradict themselves.
#include <cmath>
#include <limits>

#include "snapshot/format/types.h"
#include "unit/snapshot/values/packed_by_hand.h"
#include "unit/snapshot/values/value_rig.h"

namespace mayfly::rdb {
namespace {

const ReadBack kDamaged{.status = ValueStatus::kRefused};
const ReadBack kWithoutMembers{.status = ValueStatus::kEmpty};

std::string Packed(uint8_t type, std::string_view packed) { return ByHand(type).Text(packed).bytes(); }

TEST_CASE_METHOD(ValueRig, "hashes are read from all encodings without deadlines") {
  const Items items{"a", "1", "b", "text", "", ""};
  const ReadBack expected = Done({"=", "a=1", "b=text"}, "listpack");
  CHECK(Read(Packed(type::kHashZipmap, Zipmap(items))) == expected);
  CHECK(Read(Packed(type::kHashZiplist, Ziplist(items))) == expected);
  CHECK(Read(Packed(type::kHashListpack, Listpack(items))) == expected);
  CHECK(Read(ByHand(type::kHash).Count(2).Text("a").Text("1").Text("b").Text("").bytes()) ==
        Done({"a=1", "b="}, "listpack"));
}

TEST_CASE_METHOD(ValueRig, "hashes are read from all encodings with deadlines") {
  clock.StepWall(1'000'000 - now().wall_ms);
  const ReadBack expected{.status = ValueStatus::kDone,
                          .words = {"a=1@1000010", "c=3"},
                          .encoding = "listpackex",
                          .expired_fields = 1};
  // Deadlines are counted from the smallest one, plus 1.
  CHECK(Read(ByHand(type::kHashTtl)
                 .Millis(999'990)
                 .Count(3)
                 .Count(21)
                 .Text("a")
                 .Text("1")
                 .Count(1)
                 .Text("b")
                 .Text("2")
                 .Count(0)
                 .Text("c")
                 .Text("3")
                 .bytes()) == expected);
  CHECK(Read(ByHand(type::kHashTtlPack)
                 .Millis(999'990)
                 .Text(Listpack({"b", "2", "999990", "a", "1", "1000010", "c", "3", "0"}))
                 .bytes()) == expected);
  CHECK(Read(ByHand(type::kHashTtlPackOld)
                 .Text(Listpack({"b", "2", "999990", "a", "1", "1000010", "c", "3", "0"}))
                 .bytes()) == expected);
  CHECK(Read(ByHand(type::kHashTtlOld)
                 .Count(3)
                 .Count(1'000'010)
                 .Text("a")
                 .Text("1")
                 .Count(999'990)
                 .Text("b")
                 .Text("2")
                 .Count(0)
                 .Text("c")
                 .Text("3")
                 .bytes()) == expected);
  valkey = true;
  CHECK(Read(ByHand(type::kHashTtlOld)
                 .Count(3)
                 .Text("a")
                 .Text("1")
                 .Millis(1'000'010)
                 .Text("b")
                 .Text("2")
                 .Millis(999'990)
                 .Text("c")
                 .Text("3")
                 .Millis(-1)
                 .bytes()) == expected);
}

TEST_CASE_METHOD(ValueRig, "deadlines that no server sets are damage") {
  constexpr uint64_t kTooLate = uint64_t{1} << 48;
  CHECK(Read(ByHand(type::kHashTtl).Millis(-1).Count(1).Count(0).Text("a").Text("1").bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kHashTtl).Millis(1).Count(1).Count(kTooLate).Text("a").Text("1").bytes()) ==
        kDamaged);
  CHECK(Read(ByHand(type::kHashTtl).Millis(1).Count(1).Count(UINT64_MAX).Text("a").Text("1").bytes()) ==
        kDamaged);
  CHECK(Read(ByHand(type::kHashTtlPack).Millis(1).Text(Listpack({"a", "1", "-1"})).bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kHashTtlPack).Millis(1).Text(Listpack({"a", "1", "text"})).bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kHashTtlPack).Millis(1).Text(Listpack({"a", "1"})).bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kHashTtl).Millis(0).Count(1).Count(1).Text("a").Text("1").bytes()) == kDamaged);
  // The latest one, and the first that is too late.
  const auto both = [&](const auto& value_until) {
    CHECK(Read(value_until(kTooLate - 1)).status == ValueStatus::kDone);
    CHECK(Read(value_until(kTooLate)) == kDamaged);
  };
  both([](uint64_t ms) { return ByHand(type::kHashTtlOld).Count(1).Count(ms).Text("a").Text("1").bytes(); });
  both([](uint64_t ms) {
    return ByHand(type::kHashTtl)
        .Millis(static_cast<int64_t>(ms - 6))
        .Count(1)
        .Count(7)
        .Text("a")
        .Text("1")
        .bytes();
  });
  both([](uint64_t ms) {
    return ByHand(type::kHashTtlPack).Millis(1).Text(Listpack({"a", "1", std::to_string(ms)})).bytes();
  });
  valkey = true;
  both([](uint64_t ms) {
    return ByHand(type::kHashTtlOld).Count(1).Text("a").Text("1").Millis(static_cast<int64_t>(ms)).bytes();
  });
  CHECK(Read(ByHand(type::kHashTtlOld).Count(1).Text("a").Text("1").Millis(0).bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kHashTtlOld).Count(1).Text("a").Text("1").Millis(-2).bytes()) == kDamaged);
}

TEST_CASE_METHOD(ValueRig, "sets are read from all encodings") {
  CHECK(Read(ByHand(type::kSet).Count(2).Text("a").Text("7").bytes()) == Done({"7", "a"}, "listpack"));
  CHECK(Read(Packed(type::kSetListpack, Listpack({"a", "7"}))) == Done({"7", "a"}, "listpack"));
  CHECK(Read(Packed(type::kSetIntset, Intset(2, {-5, 300}))) == Done({"-5", "300"}, "intset"));
  CHECK(Read(Packed(type::kSetIntset, Intset(4, {-70'000, 300}))) == Done({"-70000", "300"}, "intset"));
  const int64_t big = int64_t{1} << 40;
  CHECK(Read(Packed(type::kSetIntset, Intset(8, {big}))) == Done({std::to_string(big)}, "intset"));
}

TEST_CASE_METHOD(ValueRig, "sorted sets are read from all encodings") {
  const ReadBack expected = Done({"b=-1.5", "a=2", "c=inf"}, "listpack");
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(Read(ByHand(type::kZset)
                 .Count(3)
                 .Text("c")
                 .Score(infinity)
                 .Text("a")
                 .Score(2)
                 .Text("b")
                 .Score(-1.5)
                 .bytes()) == expected);
  CHECK(Read(ByHand(type::kZsetText)
                 .Count(3)
                 .Text("c")
                 .TextScore(infinity)
                 .Text("a")
                 .TextScore(2)
                 .Text("b")
                 .TextScore(-1.5)
                 .bytes()) == expected);
  const Items items{"b", "-1.5", "a", "2", "c", "inf"};
  CHECK(Read(Packed(type::kZsetZiplist, Ziplist(items))) == expected);
  CHECK(Read(Packed(type::kZsetListpack, Listpack(items))) == expected);
}

TEST_CASE_METHOD(ValueRig, "lists are read from all encodings") {
  const Items items{"a", "7", ""};
  const ReadBack expected = Done({"a", "7", ""}, "listpack");
  CHECK(Read(ByHand(type::kList).Count(3).Text("a").Text("7").Text("").bytes()) == expected);
  CHECK(Read(Packed(type::kListZiplist, Ziplist(items))) == expected);
  CHECK(Read(ByHand(type::kQuicklist).Count(2).Text(Ziplist({"a"})).Text(Ziplist({"7", ""})).bytes()) ==
        expected);
  CHECK(Read(ByHand(type::kQuicklist2)
                 .Count(2)
                 .Count(quicklist_node::kPlain)
                 .Text("a")
                 .Count(quicklist_node::kPacked)
                 .Text(Listpack({"7", ""}))
                 .bytes()) == expected);
}

TEST_CASE_METHOD(ValueRig, "a quicklist may have nodes without elements, but not these alone") {
  CHECK(Read(ByHand(type::kQuicklist).Count(2).Text(Ziplist({})).Text(Ziplist({"a"})).bytes()) ==
        Done({"a"}, "listpack"));
  CHECK(Read(ByHand(type::kQuicklist).Count(1).Text(Ziplist({})).bytes()) == kWithoutMembers);
}

TEST_CASE_METHOD(ValueRig, "collections without members are told apart from damage") {
  for (const uint8_t type : {type::kList, type::kSet, type::kHash, type::kZset, type::kZsetText,
                             type::kQuicklist, type::kQuicklist2}) {
    CAPTURE(int{type});
    CHECK(Read(ByHand(type).Count(0).bytes()) == kWithoutMembers);
  }
  CHECK(Read(ByHand(type::kHashTtl).Millis(1).Count(0).bytes()) == kWithoutMembers);
  for (const uint8_t type : {type::kHashListpack, type::kSetListpack, type::kZsetListpack})
    CHECK(Read(Packed(type, Listpack({}))) == kWithoutMembers);
  CHECK(Read(Packed(type::kSetIntset, Intset(2, {}))) == kWithoutMembers);
}

TEST_CASE_METHOD(ValueRig, "members that occur twice are damage, in small and in large values") {
  const std::string big(70, 'x');
  CHECK(Read(ByHand(type::kSet).Count(2).Text("a").Text("a").bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kSet).Count(3).Text(big).Text("a").Text("a").bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kSet).Count(2).Text("1").Text("1").bytes()) == kDamaged);
  CHECK(Read(Packed(type::kSetListpack, Listpack({"a", "1", "a"}))) == kDamaged);
  CHECK(Read(Packed(type::kSetIntset, Intset(2, {3, 3}))) == kDamaged);
  CHECK(Read(ByHand(type::kHash).Count(2).Text("a").Text("1").Text("a").Text("2").bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kHash).Count(2).Text("a").Text(big).Text("a").Text("2").bytes()) == kDamaged);
  CHECK(Read(Packed(type::kHashListpack, Listpack({"a", "1", "a", "2"}))) == kDamaged);
  CHECK(Read(ByHand(type::kZset).Count(2).Text("a").Score(1).Text("a").Score(2).bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kZset).Count(3).Text(big).Score(1).Text("a").Score(1).Text("a").Score(2).bytes()) ==
        kDamaged);
  // The announced number alone makes the set large.
  constexpr uint64_t kVeryMany = 1'000'000;
  CHECK(Read(ByHand(type::kZset).Count(kVeryMany).Text("a").Score(1).Text("a").Score(2).bytes()).status ==
        ValueStatus::kMore);
  CHECK(Read(Packed(type::kZsetListpack, Listpack({"a", "1", "a", "2"}))) == kDamaged);
}

TEST_CASE_METHOD(ValueRig, "scores that are no numbers are damage") {
  CHECK(Read(ByHand(type::kZset).Count(1).Text("a").Score(std::nan("")).bytes()) == kDamaged);
  CHECK(Read(ByHand(type::kZsetText).Count(1).Text("a").TextScore(std::nan("")).bytes()) == kDamaged);
  CHECK(Read(Packed(type::kZsetListpack, Listpack({"a", "nan"}))) == kDamaged);
  CHECK(Read(Packed(type::kZsetListpack, Listpack({"a", "1x"}))) == kDamaged);
  CHECK(Read(Packed(type::kZsetListpack, Listpack({"a", ""}))) == kDamaged);
}

TEST_CASE_METHOD(ValueRig, "packed collections with half a record, of another kind, or cut off are damage") {
  CHECK(Read(Packed(type::kHashListpack, Listpack({"a"}))) == kDamaged);
  CHECK(Read(Packed(type::kZsetListpack, Listpack({"a", "1", "b"}))) == kDamaged);
  CHECK(Read(Packed(type::kHashListpack, Ziplist({"a", "b"}))) == kDamaged);
  CHECK(Read(Packed(type::kHashZiplist, Listpack({"a", "b"}))) == kDamaged);
  CHECK(Read(Packed(type::kSetListpack, "")) == kDamaged);
  CHECK(Read(ByHand(type::kQuicklist2).Count(1).Count(3).Text(Listpack({"a"})).bytes()) == kDamaged);
}

TEST_CASE_METHOD(ValueRig, "announced numbers take no memory") {
  for (const uint8_t type : {type::kList, type::kSet, type::kHash, type::kZset, type::kZsetText,
                             type::kQuicklist, type::kQuicklist2, type::kStream, type::kStream3}) {
    CAPTURE(int{type});
    CHECK(Read(ByHand(type).Count(UINT64_MAX).bytes()) == ReadBack{.status = ValueStatus::kMore});
  }
}

TEST_CASE_METHOD(ValueRig, "values get the forms that the limits demand") {
  limits.hash.fields = 1;
  limits.set.packed = 1;
  limits.set.integers = 1;
  limits.sorted_set.packed = 1;
  limits.list = ListLimit(1);
  CHECK(Read(Packed(type::kHashListpack, Listpack({"a", "1", "b", "2"}))).encoding == "hashtable");
  CHECK(Read(Packed(type::kSetListpack, Listpack({"a", "b"}))).encoding == "hashtable");
  CHECK(Read(Packed(type::kSetIntset, Intset(2, {1, 2}))).encoding == "hashtable");
  CHECK(Read(Packed(type::kZsetListpack, Listpack({"a", "1", "b", "2"}))).encoding == "skiplist");
  CHECK(Read(ByHand(type::kList).Count(2).Text("a").Text("b").bytes()).encoding == "quicklist");
}

TEST_CASE_METHOD(ValueRig, "types of modules and of newer servers are unknown") {
  for (const int type : {6, 7, 8, 28, 29, 33, 255}) {
    CAPTURE(type);
    CHECK(!ValueIn(limits).Begin(static_cast<uint8_t>(type), {.home = db().home(), .now = now()}));
  }
  for (const int type : {0, 1, 2, 3, 4, 5, 9, 15, 21, 22, 25, 26, 27}) {
    CAPTURE(type);
    CHECK(ValueIn(limits).Begin(static_cast<uint8_t>(type), {.home = db().home(), .now = now()}));
  }
}

TEST_CASE_METHOD(ValueRig, "no damage to a packed value does more than make it bad") {
  ReadDamaged(Packed(type::kHashZipmap, Zipmap({"a", "1", "b", "text"})));
  ReadDamaged(Packed(type::kHashZiplist, Ziplist({"a", "1", "b", "text"})));
  ReadDamaged(Packed(type::kHashListpack, Listpack({"a", "1", "b", "text"})));
  ReadDamaged(
      ByHand(type::kHashTtlPack).Millis(7).Text(Listpack({"b", "2", "999990", "c", "3", "0"})).bytes());
  ReadDamaged(Packed(type::kSetIntset, Intset(4, {-70'000, 300})));
  ReadDamaged(Packed(type::kZsetZiplist, Ziplist({"a", "1", "b", "2.5"})));
  ReadDamaged(ByHand(type::kQuicklist2)
                  .Count(2)
                  .Count(quicklist_node::kPlain)
                  .Text("a")
                  .Count(quicklist_node::kPacked)
                  .Text(Listpack({"7", ""}))
                  .bytes());
}

}  // namespace
}  // namespace mayfly::rdb
