#include "cache/entry/entry.h"

#include <string>
#include <vector>

#include "cache/entry/value.h"
#include "support/catch.h"

namespace mayfly {
namespace {

// An entry in a block of exactly its size, so that a sanitizer detects any access past the end.
class OwnEntry {
 public:
  OwnEntry(std::string_view key, StringValue value, bool expires = false, EntryExtra::Shape extra = {})
      : shape_{key.size(), value.stored_bytes(), expires, extra}, memory_(new char[shape_.Total()]) {
    entry = Entry::Format(memory_.get(), shape_, key);
    if (extra.any()) entry->set_extra(EntryExtra::New(extra));
    entry->set_encoding(value.encoding());
    value.StoreTo(entry->stored_data());
  }
  ~OwnEntry() {
    if (entry->encoding() == Encoding::kBlock) SharedBytes::Adopt(entry->pointer());
    if (entry->Has(EntryFlag::kExtra)) EntryExtra::Delete(entry->extra());
  }
  Entry* entry;

 private:
  Entry::Shape shape_;
  std::unique_ptr<char[]> memory_;
};

}  // namespace

TEST_CASE("key and value lengths around every boundary of their encoding read back") {
  for (const size_t key_bytes : {0, 1, 127, 128, 129, 16'383, 16'384, 70'000}) {
    for (const size_t value_bytes : {0, 1, 127, 128, 16'383, 16'384}) {
      for (const bool expires : {false, true}) {
        const std::string key(key_bytes, 'k');
        const std::string value(value_bytes, 'v');
        const OwnEntry own(key, StringValue::Edited(value), expires);
        REQUIRE(own.entry->key() == key);
        REQUIRE(own.entry->text() == value);
        REQUIRE(own.entry->expires() == expires);
        REQUIRE(own.entry->allocated_bytes() == own.entry->shape().Total());
      }
    }
  }
}

#ifndef MAYFLY_SANITIZE
TEST_CASE("a short key costs 16 bytes beyond key and value, one with a TTL 32") {
  CHECK(Entry::Shape{.key_bytes = 14, .value_bytes = 32}.Total() == 46 + 16);
  CHECK(Entry::Shape{.key_bytes = 14, .value_bytes = 32, .expires = true}.Total() == 46 + 32);
}
#endif

TEST_CASE("an integer takes as few bytes as it needs") {
  const std::vector<std::pair<int64_t, size_t>> cases = {{0, 0},
                                                         {1, 1},
                                                         {-1, 1},
                                                         {127, 1},
                                                         {128, 2},
                                                         {-128, 1},
                                                         {-129, 2},
                                                         {32'767, 2},
                                                         {32'768, 3},
                                                         {INT32_MAX, 4},
                                                         {INT64_MAX, 8},
                                                         {INT64_MIN, 8},
                                                         {-(int64_t{1} << 55), 7},
                                                         {int64_t{1} << 55, 8}};
  for (const auto& [value, bytes] : cases) {
    const OwnEntry own("k", StringValue::Integer(value));
    CHECK(own.entry->stored().size() == bytes);
    CHECK(own.entry->integer() == value);
    CHECK(own.entry->TextLength() == std::to_string(value).size());
  }
}

TEST_CASE("a text that is the canonical form of an integer is stored as an integer") {
  CHECK(StringValue::Of("42").encoding() == Encoding::kInteger);
  CHECK(StringValue::Of("-9223372036854775808").encoding() == Encoding::kInteger);
  for (const std::string text : {"042", "+1", "1.0", "", " 1", "9223372036854775808", "-0", "1a"})
    CHECK(StringValue::Of(text).encoding() == Encoding::kText);
  CHECK(StringValue::Edited("42").encoding() == Encoding::kEdited);
}

TEST_CASE("a text above the inline limit is stored in a block that can be shared") {
  const std::string text(Entry::kMaxInlineValue + 1, 'x');
  const OwnEntry own("k", StringValue::Of(text));
  CHECK(own.entry->encoding() == Encoding::kBlock);
  const SharedBytes pinned = own.entry->block();
  CHECK(pinned.view() == text);
  CHECK_FALSE(pinned.Unique());
  CHECK(own.entry->TextLength() == text.size());
}

TEST_CASE("a deadline above 48 bits is kept exactly, in the extra") {
  for (const uint64_t deadline : {uint64_t{0}, uint64_t{1}, Entry::kMaxNearDeadline,
                                  Entry::kMaxNearDeadline + 1, Entry::kMaxNearDeadline + 2, UINT64_MAX}) {
    const OwnEntry own("k", StringValue::Of("v"), true, {.times = true});
    own.entry->set_deadline_ms(deadline);
    CHECK(own.entry->deadline().deadline_ms == deadline);
    CHECK(own.entry->key() == "k");
    CHECK(own.entry->text() == "v");
  }
}

TEST_CASE("a deadline and an own time are kept beside each other, each on its clock") {
  const OwnEntry own("k", StringValue::Of("v"), true, {.times = true});
  Entry& entry = *own.entry;
  entry.set_deadline_ms(500);
  CHECK(entry.deadline().deadline_ms == 500);
  CHECK(entry.wake_ms() == 500);
  CHECK(entry.own().kind == Expiry::Kind::kNever);
  CHECK_FALSE(entry.mixed());
  entry.set_two_times({Expiry::Kind::kWall, 900}, {Expiry::Kind::kRelative, 300}, 300);
  CHECK(entry.deadline().kind == Expiry::Kind::kWall);
  CHECK(entry.deadline().deadline_ms == 900);
  CHECK(entry.own().deadline_ms == 300);
  CHECK(entry.wake_ms() == 300);
  CHECK(entry.wake().kind == Expiry::Kind::kRelative);
  CHECK(entry.mixed());
  CHECK(entry.text() == "v");
}

TEST_CASE("the extra of an entry has just the parts that it needs") {
  for (const bool times : {false, true}) {
    for (const uint8_t tags : {0, 1, 3, 255}) {
      const OwnEntry own("k", StringValue::Of("v"), true, {.times = times, .tags = tags});
      Entry& entry = *own.entry;
      entry.set_deadline_ms(500);
      CHECK(entry.has_times() == times);
      CHECK(entry.tags() == tags);
      CHECK_FALSE(entry.terms().any());
      if (times) entry.times().terms.stale_ms = 7;
      unsigned number = 0;
      if (tags != 0) {
        for (TagLink& link : entry.extra()->tags()) link.next.bits = ++number;
      }
      CHECK(number == tags);
      CHECK(entry.stale_ms() == (times ? 7 : 0));
      CHECK(entry.deadline().deadline_ms == 500);
      CHECK(entry.text() == "v");
      CHECK(entry.shape().extra == EntryExtra::Shape{times, tags});
      // A value with times alone takes the place of such a one; no other does.
      CHECK(entry.Fits({.key_bytes = 1, .value_bytes = 1, .expires = true, .extra = {.times = true}}) ==
            (times && tags == 0));
      CHECK_FALSE(entry.Fits({.key_bytes = 1, .value_bytes = 1, .expires = true, .extra = {.tags = 3}}));
    }
  }
}

TEST_CASE("writing a header field leaves the others alone") {
  const OwnEntry own("key", StringValue::Of("value"), true);
  Entry& entry = *own.entry;
  entry.set_stamp(Entry::kStampMask);
  entry.set_owner(255);
  entry.Set(EntryFlag::kPhase);
  entry.set_filed(0xFFFF);
  CHECK(entry.stamp() == Entry::kStampMask);
  CHECK(entry.encoding() == Encoding::kText);
  CHECK(entry.owner() == 255);
  CHECK(entry.expires());
  entry.Clear(EntryFlag::kPhase);
  CHECK_FALSE(entry.Has(EntryFlag::kPhase));
  CHECK(entry.deadline().deadline_ms == 0);
  CHECK(entry.key() == "key");
}

TEST_CASE("the age of a stamp is right after the clock's counter has wrapped") {
  constexpr uint64_t kTurnMs = (uint64_t{Entry::kTimeMask} + 1) * Entry::kStampMs;
  CHECK(Entry::IdleMs(Entry::StampOf(640), 640) == 0);
  CHECK(Entry::IdleMs(Entry::StampOf(0), 640) == 640);
  CHECK(Entry::IdleMs(Entry::StampOf(kTurnMs - 1), kTurnMs + 64) == 128);
  constexpr uint64_t kMinutesTurnMs = 65'536 * Entry::kMinuteMs;
  CHECK(Entry::IdleMs(Entry::CountedStamp(255, kMinutesTurnMs - 1), kMinutesTurnMs) == Entry::kMinuteMs);
  CHECK(Entry::IdleMs(Entry::CountedStamp(0, 59'999), 60'000) == Entry::kMinuteMs);
}

TEST_CASE("no time of access is mistaken for an LFU counter") {
  for (const uint64_t mono_ms : {uint64_t{0}, uint64_t{1} << 33, uint64_t{1} << 40, UINT64_MAX}) {
    CHECK((Entry::StampOf(mono_ms) & Entry::kCountedStamp) == 0);
    CHECK(Entry::StampOf(mono_ms) <= Entry::kStampMask);
    CHECK((Entry::CountedStamp(255, mono_ms) & Entry::kCountedStamp) != 0);
    CHECK(Entry::CountedStamp(255, mono_ms) <= Entry::kStampMask);
  }
}

}  // namespace mayfly
