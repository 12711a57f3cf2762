// Values in a keyspace, written and read back: whole, and in pieces.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/values/value_in.h"
#include "snapshot/values/value_out.h"
#include "support/catch.h"
#include "support/exact_block.h"
#include "support/value_words.h"
#include "unit/cache/keyspace_fixture.h"

namespace mayfly::rdb {

// What came of reading.
struct ReadBack {
  ValueStatus status = ValueStatus::kBad;
  ValueWords words = {};
  std::string encoding = {};
  size_t expired_fields = 0;

  bool operator==(const ReadBack&) const = default;
};

inline ReadBack Done(ValueWords words, std::string encoding) {
  return {.status = ValueStatus::kDone, .words = std::move(words), .encoding = std::move(encoding)};
}

class ValueRig : public KeyspaceFixture {
 public:
  const Entry& Put(std::string_view name, std::unique_ptr<RichValue> value) {
    const Key key = db().KeyOf(name);
    return *db().PutRich(key, db().Peek(key, now()), std::move(value), Expiry::Never(), now(), events::kSet);
  }
  // Type and value.
  std::string Written(const Entry& entry, Compression compression = Compression::kNone) {
    const ValueForm form = FormOf(entry, now());
    std::string bytes(1, static_cast<char>(form.type));
    WriteValue(entry, form, now(), compression, bytes);
    return bytes;
  }

  // Reads type and value from windows that grow by `piece` bytes, with budgets of `elements`. kMore: the bytes end first.
  ReadBack InPieces(std::string_view bytes, size_t piece, size_t elements) {
    ReadBack back;
    ValueIn reader(limits);
    const ValueIn::Source source{.home = db().home(), .now = now(), .valkey = valkey};
    if (!reader.Begin(static_cast<uint8_t>(bytes[0]), source)) return back;
    bytes.remove_prefix(1);
    rdb::In in;
    size_t begin = 0;
    size_t end = std::min(piece, bytes.size());
    for (;;) {
      const ExactBlock block(bytes.substr(begin, end - begin));
      in.SetWindow(block.view());
      size_t budget = elements;
      back.status = reader.Some(in, budget);
      CHECK(budget <= elements);
      begin += in.at();
      if (back.status == ValueStatus::kSpent) {
        CHECK(budget == 0);
        continue;
      }
      if (back.status == ValueStatus::kMore) {
        CHECK(in.bytes_needed() > end - begin);
        if (end == bytes.size()) return back;
        end = std::min(end + piece, bytes.size());
        continue;
      }
      back.expired_fields = reader.expired_fields();
      if (back.status == ValueStatus::kRefused) CHECK((ends_early || begin == bytes.size()));
      if (back.status == ValueStatus::kDone) {
        CHECK((ends_early || begin == bytes.size()));
        Take(reader, back);
      }
      return back;
    }
  }
  ReadBack Whole(std::string_view bytes) { return InPieces(bytes, bytes.size(), SIZE_MAX); }
  // Reads the same whole and in pieces of several sizes.
  ReadBack Read(std::string_view bytes) {
    const ReadBack whole = Whole(bytes);
    for (const size_t piece : {size_t{1}, size_t{7}, bytes.size()}) {
      for (const size_t elements : {size_t{1}, size_t{3}, SIZE_MAX}) {
        CAPTURE(piece, elements);
        CHECK(InPieces(bytes, piece, elements) == whole);
      }
    }
    return whole;
  }
  // Reads every beginning of the bytes, and the bytes with every byte changed. REQUIRES: they are good.
  void ReadDamaged(const std::string& good) {
    for (size_t size = 1; size < good.size(); ++size) {
      CAPTURE(size);
      CHECK(Whole(std::string_view(good).substr(0, size)).status == ValueStatus::kMore);
    }
    for (size_t at = 1; at < good.size(); ++at) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string damaged = good;
        damaged[at] = static_cast<char>(byte);
        ends_early = true;
        Whole(damaged);
        ends_early = false;
      }
    }
  }

  ValueLimits limits;
  bool valkey = false;
  bool ends_early = false;  // damage may make a value shorter

 private:
  void Take(ValueIn& reader, ReadBack& back) {
    if (reader.is_string()) {
      const Key key = db().KeyOf("taken");
      const Entry& entry =
          *db().Put(key, db().Peek(key, now()), reader.TakeString(), Expiry::Never(), now(), events::kSet);
      back.encoding = entry.encoding() == Encoding::kInteger ? "int" : "text";
      back.words = {entry.encoding() == Encoding::kInteger ? std::to_string(entry.integer())
                                                           : std::string(entry.text())};
      return;
    }
    const std::unique_ptr<RichValue> value = reader.TakeRich();
    REQUIRE(value != nullptr);
    CHECK(IsValid(*value));
    back.encoding = value->EncodingName();
    back.words = WordsOfValue(*value, now());
  }
};

}  // namespace mayfly::rdb
