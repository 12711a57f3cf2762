// Streams in Redis's layout, with deleted entries and consumer groups, and streams that contradict themselves.
#include "snapshot/format/types.h"
#include "unit/snapshot/values/packed_by_hand.h"
#include "unit/snapshot/values/value_rig.h"

namespace mayfly::rdb {
namespace {

const ReadBack kBadStream{.status = ValueStatus::kRefused};

// A stream of one listpack, with the first ID 5-1, and what follows the listpacks.
std::string OneNode(const Items& items, uint64_t entries, const std::string& key = StreamKey(5, 1)) {
  return ByHand(type::kStream)
      .Count(1)
      .Text(key)
      .Text(Listpack(items))
      .Count(entries)
      .Count(5)
      .Count(9)
      .Count(0)
      .bytes();
}

// Two entries, 5-1 and 5-2, with the field f.
const Items kHead{"2", "0", "1", "f", "0"};
Items With(Items head, const Items& entries) {
  head.insert(head.end(), entries.begin(), entries.end());
  return head;
}

TEST_CASE_METHOD(ValueRig, "a stream's listpack is read with all kinds of entries") {
  // 5-1 has the fields of the listpack, 5-2 is deleted, 6-0 has fields of its own.
  const Items items{"2", "1",   "1", "f", "0", "2",  "0", "0", "one", "4", "3", "0",
                    "1", "two", "4", "0", "1", "-1", "2", "g", "3",   "h", "4", "8"};
  const std::string bytes = ByHand(type::kStream2)
                                .Count(1)
                                .Text(StreamKey(5, 1))
                                .Text(Listpack(items))
                                .Count(2)
                                .Count(7)
                                .Count(0)
                                .Count(5)
                                .Count(1)
                                .Count(5)
                                .Count(2)
                                .Count(3)
                                .Count(0)
                                .bytes();
  CHECK(Read(bytes) == Done({"5.1=f=one", "6.0=g=3=h=4", "last 7-0 deleted 5-2 added 3"}, "stream"));
  ReadDamaged(bytes);
}

TEST_CASE_METHOD(ValueRig, "consumer groups are read in the layout of each version") {
  for (const uint8_t type : {type::kStream, type::kStream2, type::kStream3, type::kStream4, type::kStream5}) {
    CAPTURE(int{type});
    ByHand object(type);
    object.Count(1)
        .Text(StreamKey(5, 1))
        .Text(Listpack(With({"1", "0", "1", "f", "0"}, {"2", "0", "0", "one", "4"})));
    object.Count(1).Count(5).Count(1);
    if (type != type::kStream) object.Count(5).Count(1).Count(0).Count(0).Count(1);
    object.Count(2);
    for (const std::string_view group : {"first", "12"}) {
      object.Text(group).Count(5).Count(1);
      if (type != type::kStream) object.Count(UINT64_MAX);
      // A pending entry, then a consumer whose it is, and one without.
      object.Count(1).Raw(StreamKey(5, 1)).Millis(1234).Count(3);
      object.Count(2);
      for (const bool has_pending : {true, false}) {
        object.Text(has_pending ? "consumer" : "idle").Millis(1234);
        if (type >= type::kStream3) object.Millis(1234);
        object.Count(has_pending ? 1 : 0);
        if (has_pending) object.Raw(StreamKey(5, 1));
      }
      // Entries that a consumer gave back.
      if (type >= type::kStream5) object.Count(0);
    }
    if (type >= type::kStream4) {  // a producer with two IDs, and one with none
      object.Count(60).Count(100).Count(2);
      object.Text("producer").Count(2).Text("a").Count(5).Count(1).Text("17").Count(5).Count(1);
      object.Text("other").Count(0);
      object.Count(3).Count(1);
    }
    ValueWords words{"5.1=f=one", "last 5-1 deleted 0-0 added 1"};
    for (const std::string group : {"12", "first"}) {
      words.push_back("group " + group + " last 5-1 read -1");
      words.insert(words.end(), {"consumer consumer seen 1234", "consumer idle seen 1234",
                                 "5-1 held by consumer since 1234 count 3"});
    }
    CHECK(Read(object.bytes()) == Done(words, "stream"));
    ReadDamaged(object.bytes());
  }
}

// A group of a stream without entries: what it has pending, and the consumers with the IDs that they hold.
struct ByHandConsumer {
  std::string name;
  std::vector<uint64_t> holds;
};
std::string Group(const std::vector<uint64_t>& pending, const std::vector<ByHandConsumer>& consumers,
                  const std::vector<uint64_t>& given_back, uint8_t type = type::kStream5) {
  ByHand object(type);
  object.Count(0).Count(0).Count(9).Count(0);
  if (type != type::kStream) object.Count(0).Count(0).Count(0).Count(0).Count(5);
  object.Count(1).Text("group").Count(9).Count(0).Count(5);
  object.Count(pending.size());
  for (const uint64_t ms : pending) object.Raw(StreamKey(ms, 0)).Millis(1000).Count(1);
  object.Count(consumers.size());
  for (const auto& [name, holds] : consumers) {
    object.Text(name).Millis(1).Millis(2).Count(holds.size());
    for (const uint64_t ms : holds) object.Raw(StreamKey(ms, 0));
  }
  if (type >= type::kStream5) {
    object.Count(given_back.size());
    for (const uint64_t ms : given_back) object.Raw(StreamKey(ms, 0));
  }
  if (type >= type::kStream4) object.Count(60).Count(100).Count(0).Count(0).Count(0);
  return object.bytes();
}

// CVE-2026-63639, R#15095.
TEST_CASE_METHOD(ValueRig, "every pending entry of a group is one consumer's, or was given back") {
  CHECK(Read(Group({1, 2, 3}, {{"a", {1, 3}}, {"b", {2}}}, {}, type::kStream3)).words.size() == 7);
  const ReadBack back = Read(Group({1, 2, 3}, {{"a", {1}}, {"b", {2}}}, {3}));
  REQUIRE(back.words.size() == 8);
  CHECK(back.words[2] == "consumer (given back) seen 0");
  CHECK(back.words.back() == "3-0 held by (given back) since 0 count 1");
  for (const uint8_t type : {type::kStream3, type::kStream5}) {
    CAPTURE(int{type});
    CHECK(Read(Group({1, 2}, {{"a", {1}}}, {}, type)) == kBadStream);           // nobody has 2
    CHECK(Read(Group({1}, {{"a", {1}}, {"b", {1}}}, {}, type)) == kBadStream);  // two have 1
    CHECK(Read(Group({1}, {{"a", {1, 1}}}, {}, type)) == kBadStream);
    CHECK(Read(Group({1}, {{"a", {1, 2}}}, {}, type)) == kBadStream);  // 2 is not pending
    CHECK(Read(Group({1, 1}, {{"a", {1}}}, {}, type)) == kBadStream);
    CHECK(Read(Group({1}, {{"a", {1}}, {"a", {}}}, {}, type)) == kBadStream);
    CHECK(Read(Group({2, 1}, {{"a", {1, 2}}}, {}, type)) == kBadStream);  // no order
    CHECK(Read(Group({1, 2}, {{"a", {2, 1}}}, {}, type)) == kBadStream);
  }
  CHECK(Read(Group({1}, {{"a", {1}}}, {1})) == kBadStream);
  CHECK(Read(Group({1}, {{"a", {1}}}, {2})) == kBadStream);
  ReadDamaged(Group({1, 2, 3}, {{"a", {1}}, {"b", {2}}}, {3}));
}

TEST_CASE_METHOD(ValueRig, "IDs must ascend, within a listpack and beyond") {
  const Items first{"2", "0", "0", "one", "4"};
  CHECK(Read(OneNode(With(kHead, With(first, {"2", "0", "1", "two", "4"})), 2)).status == ValueStatus::kDone);
  CHECK(Read(OneNode(With(kHead, With(first, {"2", "0", "0", "two", "4"})), 2)) == kBadStream);
  CHECK(Read(OneNode(With(kHead, With(first, {"2", "-1", "1", "two", "4"})), 2)) == kBadStream);
  // A deleted entry has no place in the order: XSETID can lower the last ID below it.
  const Items deleted{"3", "3", "0", "gone", "4"};
  CHECK(Read(OneNode(With({"1", "1", "1", "f", "0"}, With(deleted, {"2", "0", "1", "two", "4"})), 1)) ==
        Done({"5.2=f=two", "last 5-9 deleted 0-0 added 1"}, "stream"));
  // After the last ID of the stream, 5-9.
  CHECK(Read(OneNode(With(kHead, With(first, {"2", "1", "0", "two", "4"})), 2)) == kBadStream);
  // 0-0 is no ID.
  CHECK(Read(OneNode(With({"1", "0", "1", "f", "0"}, first), 1, StreamKey(0, 0))) == kBadStream);
  const std::string node = Listpack(With({"1", "0", "1", "f", "0"}, first));
  CHECK(Read(ByHand(type::kStream)
                 .Count(2)
                 .Text(StreamKey(5, 1))
                 .Text(node)
                 .Text(StreamKey(5, 1))
                 .Text(node)
                 .Count(2)
                 .Count(5)
                 .Count(9)
                 .Count(0)
                 .bytes()) == kBadStream);
}

TEST_CASE_METHOD(ValueRig,
                 "entries share their fields in a file, but are refused if they would take far more here") {
  const std::string field(1 << 20, 'f');
  const auto status_with = [&](size_t entries) {
    const std::string count = std::to_string(entries);
    std::vector<std::string> ids(entries);
    Items items{count, "0", "1", field, "0"};
    for (size_t i = 0; i < entries; ++i) {
      ids[i] = std::to_string(i);
      for (const std::string_view item : {"2", "0", ids[i].c_str(), "v", "4"}) items.push_back(item);
    }
    const std::string bytes = ByHand(type::kStream)
                                  .Count(1)
                                  .Text(StreamKey(5, 1))
                                  .Text(Listpack(items))
                                  .Count(entries)
                                  .Count(5)
                                  .Count(entries)
                                  .Count(0)
                                  .bytes();
    return Whole(bytes).status;
  };
  CHECK(status_with(60) == ValueStatus::kDone);
  CHECK(status_with(65) == ValueStatus::kRefused);
}

TEST_CASE_METHOD(ValueRig, "a stream's numbers must agree") {
  const Items one{"2", "0", "0", "one", "4"};
  const Items head{"1", "0", "1", "f", "0"};
  CHECK(Read(OneNode(With(head, one), 1)).status == ValueStatus::kDone);
  // The number of entries is an exception: servers wrote wrong ones.
  CHECK(Read(OneNode(With(head, one), 2)).words == Read(OneNode(With(head, one), 1)).words);
  CHECK(Read(OneNode(With(kHead, one), 1)) == kBadStream);
  CHECK(Read(OneNode(With({"0", "1", "1", "f", "0"}, one), 1)) == kBadStream);
  CHECK(Read(OneNode(With(head, {"2", "0", "0", "one", "5"}), 1)) == kBadStream);
  CHECK(Read(OneNode(With(head, {"4", "0", "0", "one", "4"}), 1)) == kBadStream);
  CHECK(Read(OneNode(With(head, {"0", "0", "0", "0", "4"}), 1)) == kBadStream);
  CHECK(Read(OneNode(With(head, {"0", "0", "0", "9223372036854775807", "g", "1"}), 1)) == kBadStream);
  CHECK(Read(OneNode(With({"1", "0", "1", "f", "1"}, one), 1)) == kBadStream);
  CHECK(Read(OneNode(With({"1", "0", "-1", "0"}, one), 1)) == kBadStream);
  CHECK(Read(OneNode(With(head, With(one, {"7"})), 1)) == kBadStream);
  CHECK(Read(OneNode({"0", "0", "1", "f", "0"}, 0)) == kBadStream);
  CHECK(Read(OneNode({}, 0)) == kBadStream);
  CHECK(Read(OneNode(With(head, one), 1, "short")) == kBadStream);
}

}  // namespace
}  // namespace mayfly::rdb
