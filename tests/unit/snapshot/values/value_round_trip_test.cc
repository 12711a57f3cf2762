// Values that are written and read back.
#include "cache/types/stream/stream_groups.h"
#include "snapshot/format/types.h"
#include "snapshot/values/stream_out.h"
#include "unit/snapshot/values/value_rig.h"

namespace mayfly::rdb {
namespace {

using Texts = std::vector<std::string_view>;

class Values : public ValueRig {
 public:
  std::unique_ptr<HashValue> Hash(const Texts& pairs) {
    auto hash = std::make_unique<HashValue>();
    HashValue::Progress progress;
    hash->Set(pairs, limits.hash, db().home(), false, progress);
    return hash;
  }
  std::unique_ptr<SetValue> SetOf(const Texts& members) {
    auto set = std::make_unique<SetValue>();
    for (const std::string_view member : members) set->Add(member, limits.set, db().home());
    return set;
  }
  std::unique_ptr<SortedSetValue> SortedSet(const std::vector<std::pair<std::string, double>>& members) {
    auto set = std::make_unique<SortedSetValue>();
    for (const auto& [name, score] : members) set->Put(name, score, limits.sorted_set, db().home());
    return set;
  }
  std::unique_ptr<ListValue> List(const Texts& elements) {
    auto list = std::make_unique<ListValue>();
    list->Push(ListEnd::kTail, elements, limits.list);
    return list;
  }
  void Append(StreamValue& stream, StreamId id, const Texts& pairs) {
    stream.Append(id, pairs, limits.stream);
  }

  // The value comes back the same, with either compression.
  void ComesBack(const Entry& entry, uint8_t type, unsigned version) {
    const ValueForm form = FormOf(entry, now());
    CHECK(int{form.type} == int{type});
    CHECK(form.version == version);
    const RichValue& value = *entry.rich();
    for (const Compression compression : {Compression::kNone, Compression::kLzf}) {
      const std::string bytes = Written(entry, compression);
      CHECK(Read(bytes) == Done(WordsOfValue(value, now()), std::string(value.EncodingName())));
    }
  }
};

TEST_CASE_METHOD(Values, "strings come back with their encoding") {
  const std::string long_text(100'000, 'x');
  for (const std::string& text :
       {std::string(), std::string("text"), std::string("12"), std::string("-70000"),
        std::string("9223372036854775807"), std::string("012"), long_text}) {
    CAPTURE(text.substr(0, 20));
    const Entry& entry = *Set("k", text);
    const bool integer = entry.encoding() == Encoding::kInteger;
    CHECK(FormOf(entry, now()).version == version::kOldest);
    for (const Compression compression : {Compression::kNone, Compression::kLzf})
      CHECK(Whole(Written(entry, compression)) == Done({text}, integer ? "int" : "text"));
  }
  CHECK(Written(*Set("k", long_text), Compression::kLzf).size() < 2000);
}

TEST_CASE_METHOD(Values, "hashes come back, small and large") {
  const std::string long_text(70, 'v');
  ComesBack(Put("k", Hash({"a", "1", "b", "", "", "x", "-5", "f"})), type::kHash, version::kOldest);
  ComesBack(Put("k", Hash({"a", "1", "b", long_text})), type::kHash, version::kOldest);
}

TEST_CASE_METHOD(Values, "fields keep their deadlines to the millisecond, on either clock") {
  for (const std::string& text : {std::string("1"), std::string(70, 'v')}) {
    for (const bool wall : {false, true}) {
      auto hash = Hash({"a", text, "b", "2", "c", "3"});
      const uint64_t unix_ms = static_cast<uint64_t>(now().wall_ms) + 5000;
      const Expiry deadline = wall ? Expiry::At(static_cast<int64_t>(unix_ms)) : In(5000);
      hash->SetDeadline("a", deadline, now());
      hash->SetDeadline("b", {deadline.kind, deadline.deadline_ms + 77}, now());
      const Entry& entry = Put("k", std::move(hash));
      ComesBack(entry, type::kHashTtl, version::kRedis74);
      CHECK(Read(Written(entry)).words == ValueWords{"a=" + text + '@' + std::to_string(unix_ms),
                                                     "b=2@" + std::to_string(unix_ms + 77), "c=3"});
    }
  }
}

TEST_CASE_METHOD(Values, "fields that are due are not written, and do not count") {
  for (const std::string& text : {std::string("1"), std::string(70, 'v')}) {
    auto hash = Hash({"a", text, "b", "2", "c", "3"});
    hash->SetDeadline("a", In(10), now());
    hash->SetDeadline("b", In(20), now());
    const Entry& entry = Put("k", std::move(hash));
    clock.AdvanceTime(10);
    CHECK(FormOf(entry, now()).members == 2);
    CHECK(Read(Written(entry)).words.size() == 2);
    clock.AdvanceTime(10);
    // No field that is left has a deadline.
    CHECK(int{FormOf(entry, now()).type} == int{type::kHash});
    CHECK(Read(Written(entry)) == Done({"c=3"}, "listpack"));
  }
}

TEST_CASE_METHOD(Values, "nothing is to be written of a hash whose fields are all due") {
  auto hash = Hash({"a", "1"});
  hash->SetDeadline("a", In(10), now());
  const Entry& entry = Put("k", std::move(hash));
  clock.AdvanceTime(10);
  CHECK(FormOf(entry, now()).members == 0);
}

TEST_CASE_METHOD(Values, "fields whose deadlines are over are dropped by the reader, and counted") {
  auto hash = Hash({"a", "1", "b", "2"});
  hash->SetDeadline("a", In(10), now());
  const std::string bytes = Written(Put("k", std::move(hash)));
  clock.AdvanceTime(10);
  ReadBack expected = Done({"b=2"}, "listpack");
  expected.expired_fields = 1;
  CHECK(Read(bytes) == expected);

  hash = Hash({"a", "1"});
  hash->SetDeadline("a", In(10), now());
  const std::string alone = Written(Put("k", std::move(hash)));
  clock.AdvanceTime(10);
  CHECK(Read(alone) == ReadBack{.status = ValueStatus::kExpired, .expired_fields = 1});
}

TEST_CASE_METHOD(Values, "sets come back in all forms") {
  ComesBack(Put("k", SetOf({"1", "-2", "70000"})), type::kSet, version::kOldest);
  ComesBack(Put("k", SetOf({"1", "a", ""})), type::kSet, version::kOldest);
  ComesBack(Put("k", SetOf({"1", "a", std::string(70, 'm')})), type::kSet, version::kOldest);
}

TEST_CASE_METHOD(Values, "members of a set that are due are not written; deadlines of the others are lost") {
  auto set = SetOf({"a", "b", "c"});
  set->AddUntil("a", In(10), false, db().home(), now());
  set->AddUntil("b", In(20), false, db().home(), now());
  const Entry& entry = Put("k", std::move(set));
  clock.AdvanceTime(10);
  CHECK(FormOf(entry, now()).members == 2);
  CHECK(Read(Written(entry)) == Done({"b", "c"}, "listpack"));
}

TEST_CASE_METHOD(Values, "sorted sets come back, small and large") {
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<std::pair<std::string, double>> members{
      {"a", 1}, {"b", 1}, {"c", -infinity}, {"d", infinity}, {"e", 0.1}};
  ComesBack(Put("k", SortedSet(members)), type::kZset, 8);
  members.emplace_back(std::string(70, 'm'), 5e-324);
  ComesBack(Put("k", SortedSet(members)), type::kZset, 8);
}

TEST_CASE_METHOD(Values, "a sorted set of very many members comes back") {
  auto set = std::make_unique<SortedSetValue>();
  constexpr int kMembers = 12'000;
  for (int i = 0; i < kMembers; ++i) {
    const std::string name = "m" + std::to_string(i);
    set->Put(name, i % 1000, limits.sorted_set, db().home());
  }
  const Entry& entry = Put("k", std::move(set));
  const std::string bytes = Written(entry);
  const ReadBack expected = Done(WordsOfValue(*entry.rich(), now()), "skiplist");
  CHECK(Whole(bytes) == expected);
  CHECK(InPieces(bytes, bytes.size(), 1000) == expected);
}

TEST_CASE_METHOD(Values, "members of a sorted set that are due are not written, hidden or not") {
  auto set = SortedSet({{"a", 1}, {"b", 2}, {"c", 3}});
  set->SetDeadline(set->Find("a"), "a", In(10), db().home(), now());
  set->SetDeadline(set->Find("b"), "b", In(20), db().home(), now());
  SortedSetValue& value = *set;
  const Entry& entry = Put("k", std::move(set));
  clock.AdvanceTime(10);
  CHECK(FormOf(entry, now()).members == 2);
  CHECK(Read(Written(entry)) == Done({"b=2", "c=3"}, "listpack"));
  clock.AdvanceTime(10);
  value.DropDue(now(), SortedSetValue::kAtOnce, nullptr);
  CHECK(FormOf(entry, now()).members == 1);
  CHECK(Read(Written(entry)) == Done({"c=3"}, "listpack"));
}

TEST_CASE_METHOD(Values, "lists come back, small and large") {
  ComesBack(Put("k", List({"a", "1", "", "-7", "a"})), type::kList, version::kOldest);
  const std::string long_text(9000, 'e');
  ComesBack(Put("k", List({"a", long_text, "b", long_text, "7"})), type::kList, version::kOldest);
}

TEST_CASE_METHOD(Values, "streams come back") {
  auto stream = std::make_unique<StreamValue>();
  Append(*stream, {5, 1}, {"f", "1", "g", "text"});
  Append(*stream, {5, 2}, {"f", "-3", "g", ""});
  Append(*stream, {7, 0}, {"other", "x"});
  ComesBack(Put("k", std::move(stream)), type::kStream, 9);
}

TEST_CASE_METHOD(Values, "streams with several nodes come back") {
  limits.stream.node_entries = 3;
  auto stream = std::make_unique<StreamValue>();
  for (uint64_t i = 1; i <= 10; ++i) Append(*stream, {i, UINT64_MAX - i}, {"f", std::to_string(i)});
  ComesBack(Put("k", std::move(stream)), type::kStream, 9);
}

TEST_CASE_METHOD(Values,
                 "a group whose count Redis would compute from the older type is written with its count") {
  const auto type_of = [&](StreamId last_delivered, uint64_t entries) {
    auto stream = std::make_unique<StreamValue>();
    for (uint64_t i = 1; i <= entries; ++i) Append(*stream, {i, 0}, {"f", "v"});
    stream->EditGroups().Add("g", last_delivered, StreamGroup::kUnknown);
    return rdb::StreamTypeOf(*stream);
  };
  CHECK(type_of({0, 0}, 0) == type::kStream2);
  CHECK(type_of({5, 5}, 0) == type::kStream2);
  CHECK(type_of({0, 0}, 3) == type::kStream2);
  CHECK(type_of({1, 0}, 3) == type::kStream2);
  CHECK(type_of({2, 0}, 3) == type::kStream);
  CHECK(type_of({3, 0}, 3) == type::kStream2);
  CHECK(type_of({4, 0}, 3) == type::kStream);
}

TEST_CASE_METHOD(
    Values, "one group that the older type does not carry is enough for the newer one, wherever it stands") {
  const auto type_of = [&](const std::vector<std::pair<StreamId, int64_t>>& groups) {
    auto stream = std::make_unique<StreamValue>();
    for (uint64_t i = 1; i <= 3; ++i) Append(*stream, {i, 0}, {"f", "v"});
    int name = 0;
    for (const auto& [last_delivered, entries_read] : groups)
      stream->EditGroups().Add("g" + std::to_string(name++), last_delivered, entries_read);
    const uint8_t type = rdb::StreamTypeOf(*stream);
    ComesBack(Put("k", std::move(stream)), type, type == type::kStream ? 9 : version::kRedis70);
    return type;
  };
  const std::pair<StreamId, int64_t> plain{{2, 0}, StreamGroup::kUnknown};
  const std::pair<StreamId, int64_t> computed{{3, 0}, StreamGroup::kUnknown};
  const std::pair<StreamId, int64_t> counted{{2, 0}, 2};
  const std::pair<StreamId, int64_t> none_read{{2, 0}, 0};
  CHECK(type_of({}) == type::kStream);
  CHECK(type_of({plain, plain}) == type::kStream);
  for (const auto& other : {computed, counted, none_read}) {
    CHECK(type_of({other}) == type::kStream2);
    CHECK(type_of({other, plain, plain}) == type::kStream2);
    CHECK(type_of({plain, other, plain}) == type::kStream2);
    CHECK(type_of({plain, plain, other}) == type::kStream2);
  }
}

TEST_CASE_METHOD(Values, "a stream keeps its greatest deleted ID, whatever the number of its additions is") {
  for (const uint64_t added : {uint64_t{2}, uint64_t{3}, uint64_t{9}}) {
    auto stream = std::make_unique<StreamValue>();
    for (uint64_t i = 1; i <= 3; ++i) Append(*stream, {i, 0}, {"f", "v"});
    stream->Delete({1, 0});
    stream->SetAdded(added);
    ComesBack(Put("k", std::move(stream)), type::kStream2, version::kRedis70);
  }
  auto stream = std::make_unique<StreamValue>();
  Append(*stream, {1, 0}, {"f", "v"});
  stream->SetMaxDeletedId({0, 1});  // the smallest
  ComesBack(Put("k", std::move(stream)), type::kStream2, version::kRedis70);
  auto added = std::make_unique<StreamValue>();
  Append(*added, {1, 0}, {"f", "v"});
  added->SetAdded(0);  // fewer than there are
  ComesBack(Put("k", std::move(added)), type::kStream2, version::kRedis70);
  auto later = std::make_unique<StreamValue>();
  Append(*later, {1, 0}, {"f", "v"});
  later->SetLastId({UINT64_MAX, UINT64_MAX});
  ComesBack(Put("k", std::move(later)), type::kStream, 9);
}

TEST_CASE_METHOD(Values, "streams keep their counters, also without entries") {
  auto stream = std::make_unique<StreamValue>();
  for (uint64_t i = 1; i <= 4; ++i) Append(*stream, {i, 0}, {"f", std::to_string(i)});
  stream->Delete({2, 0});
  StreamValue& value = *stream;
  const Entry& entry = Put("k", std::move(stream));
  ComesBack(entry, type::kStream2, version::kRedis70);
  for (uint64_t i = 1; i <= 4; ++i) value.Delete({i, 0});
  ComesBack(entry, type::kStream2, version::kRedis70);
  auto empty = std::make_unique<StreamValue>();
  empty->SetLastId({9, 9});
  ComesBack(Put("k", std::move(empty)), type::kStream, 9);
}

TEST_CASE_METHOD(Values, "large entries of a node are written as several listpacks") {
  limits.stream.node_bytes = 0;
  auto stream = std::make_unique<StreamValue>();
  const std::string text(600'000, 't');
  for (uint64_t i = 1; i <= 5; ++i) Append(*stream, {i, 0}, {"f", text});
  CHECK(stream->nodes() == 1);
  const Entry& entry = Put("k", std::move(stream));
  CHECK(Whole(Written(entry)) == Done(WordsOfValue(*entry.rich(), now()), "stream"));
}

TEST_CASE_METHOD(Values, "no damage to a written value does more than make it bad") {
  auto timed = Hash({"a", "1", "b", "2"});
  timed->SetDeadline("a", In(5000), now());
  auto stream = std::make_unique<StreamValue>();
  for (uint64_t i = 1; i <= 3; ++i) Append(*stream, {i, 0}, {"f", "1", "g", "text"});
  stream->Delete({2, 0});
  ReadDamaged(Written(*Set("s", std::string(60, 'x')), Compression::kLzf));
  ReadDamaged(Written(Put("k", Hash({"a", "1", "b", "text"}))));
  ReadDamaged(Written(Put("k", std::move(timed))));
  ReadDamaged(Written(Put("k", SetOf({"1", "a", "-700"}))));
  ReadDamaged(Written(Put("k", SortedSet({{"a", 1}, {"b", 2.5}}))));
  ReadDamaged(Written(Put("k", List({"a", "1", ""}))));
  ReadDamaged(Written(Put("k", std::move(stream))));
}

}  // namespace
}  // namespace mayfly::rdb
