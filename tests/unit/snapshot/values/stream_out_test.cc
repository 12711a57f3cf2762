// Consumer groups that are written in pieces, and listpacks that promise more than any server writes.
#include "snapshot/values/stream_out.h"

#include "cache/types/stream/stream_groups.h"
#include "snapshot/format/types.h"
#include "unit/snapshot/values/packed_by_hand.h"
#include "unit/snapshot/values/value_rig.h"

namespace mayfly::rdb {
namespace {

// Three groups: one with several consumers, one with nothing, one with a consumer that holds all.
void Fill(StreamGroups& groups) {
  StreamGroup& first = groups.Add("first", {300, 0}, 300);
  for (const char* const name : {"ann", "bob", "cid", "idle"}) first.AddConsumer(name, 1234);
  for (uint64_t i = 1; i <= 300; ++i) {
    StreamConsumer& to = *first.FindConsumer(i % 3 == 0 ? "ann" : i % 7 == 0 ? "bob" : "cid");
    first.Deliver({i, i % 5}, to, static_cast<int64_t>(1000 + i), static_cast<uint32_t>(i % 4));
  }
  groups.Add("nothing", {}, StreamGroup::kUnknown);
  StreamGroup& last = groups.Add("with one", {7, 7}, 5);
  StreamConsumer& one = last.AddConsumer("one", -5);
  for (uint64_t i = 1; i <= 40; ++i) last.Deliver({i, UINT64_MAX}, one, 5, 1);
}

}  // namespace

TEST_CASE("groups that are written in pieces have the bytes of those that are written at once") {
  StreamValue stream;
  Fill(stream.EditGroups());
  for (const uint8_t type : {type::kStream, type::kStream2}) {
    std::string whole;
    StreamGroupsOut at_once(stream.groups(), type);
    CHECK(at_once.left() == 2 * 340);
    CHECK(at_once.Some(whole, SIZE_MAX));
    CHECK(at_once.left() == 0);
    for (const size_t budget : {size_t{1}, size_t{17}, size_t{100}, size_t{1000}, whole.size() - 1}) {
      CAPTURE(int{type}, budget);
      std::string bytes;
      StreamGroupsOut out(stream.groups(), type);
      size_t left = out.left();
      for (bool end = false; !end;) {
        const size_t before = bytes.size();
        // What a copy writes does not move the original.
        std::string of_copy;
        StreamGroupsOut copy = out;
        copy.Some(of_copy, budget);
        end = out.Some(bytes, budget);
        REQUIRE(of_copy == bytes.substr(before));
        REQUIRE((end || bytes.size() - before >= budget));
        REQUIRE(bytes.size() - before < 2 * budget + 64);
        REQUIRE(out.left() <= left);
        left = out.left();
      }
      CHECK(out.left() == 0);
      CHECK(bytes == whole);
    }
  }
  std::string none;
  CHECK(StreamGroupsOut(nullptr, type::kStream2).Some(none, 1));
  CHECK(none == std::string(1, '\0'));
}

TEST_CASE_METHOD(ValueRig, "a listpack with more than 2^20 fields is refused, whatever follows") {
  const auto status_of = [&](const Items& items) {
    return Read(ByHand(type::kStream)
                    .Count(1)
                    .Text(StreamKey(5, 1))
                    .Text(Listpack(items))
                    .Count(1)
                    .Count(5)
                    .Count(9)
                    .Count(0)
                    .bytes())
        .status;
  };
  CHECK(status_of({"1", "0", "1", "f", "0", "0", "0", "0", "1", "f", "v", "6"}) == ValueStatus::kDone);
  // What would be an entry of its own follows the count.
  CHECK(status_of({"1", "0", "1048577", "0", "0", "0", "1", "f", "v", "6"}) == ValueStatus::kRefused);
  CHECK(status_of({"1", "0", "1", "f", "0", "0", "0", "0", "1048577", "f", "v", "6"}) ==
        ValueStatus::kRefused);
  // The fields are there.
  Items many{"1", "0", "1048577"};
  many.insert(many.end(), 1'048'577, "1");
  for (const char* const item : {"0", "0", "0", "0", "1", "f", "v", "6"}) many.emplace_back(item);
  const std::string bytes = ByHand(type::kStream)
                                .Count(1)
                                .Text(StreamKey(5, 1))
                                .Text(Listpack(many))
                                .Count(1)
                                .Count(5)
                                .Count(9)
                                .Count(0)
                                .bytes();
  CHECK(Whole(bytes).status == ValueStatus::kRefused);
}

}  // namespace mayfly::rdb
