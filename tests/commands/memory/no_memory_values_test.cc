// Commands that create or edit a value, on every type in each of its forms, while the first, second, third ... allocation
// fails. Then the key is as before and the reply is the OOM error, or the client is closed; what has changed was reported.
#include <set>

#include "cache/types/hash_value.h"
#include "cache/types/list_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "cache/types/stream/stream_value.h"
#include "commands/memory/failing_allocation.h"
#include "commands/memory/no_memory_world.h"
#include "support/output_text.h"

namespace mayfly::testing {
namespace {

// Counts the changes that clients may hear of. Needs no memory while it hears them.
class ReportedChanges final : public ChangeListener {
 public:
  explicit ReportedChanges(ChangeHub& changes) : changes_(changes) {
    changes_.Listen(*this, ChangeHub::kAllReasons);
  }
  ~ReportedChanges() override { changes_.Unlisten(*this); }
  ReportedChanges(const ReportedChanges&) = delete;
  ReportedChanges& operator=(const ReportedChanges&) = delete;

  void OnChange(const Change& change) override { count += change.event.name.empty() ? 0 : 1; }

  size_t count = 0;

 private:
  ChangeHub& changes_;
};

// The members of a value with their deadlines.
class ShownMembers final : public MemberVisitor {
 public:
  explicit ShownMembers(const RichValue& value) : value_(value) { value.ForEachMember(*this); }

  void Visit(std::span<const std::string_view> parts) override {
    for (const std::string_view part : parts) text += std::string(part) + " ";
    text += std::to_string(DeadlineOf(parts[0]).deadline_ms) + "\n";
  }

  std::string text;

 private:
  Expiry DeadlineOf(std::string_view member) const {
    switch (value_.type) {
      case ValueType::kHash:
        return static_cast<const HashValue&>(value_).DeadlineOf(member);
      case ValueType::kSet:
        return static_cast<const SetValue&>(value_).DeadlineOf(member);
      case ValueType::kSortedSet: {
        const auto& value = static_cast<const SortedSetValue&>(value_);
        return value.DeadlineOf(value.Find(member));
      }
      default:
        return Expiry::Never();
    }
  }

  const RichValue& value_;
};

bool IsSound(const RichValue& value) {
  switch (value.type) {
    case ValueType::kHash:
      return static_cast<const HashValue&>(value).Validate();
    case ValueType::kSet:
      return static_cast<const SetValue&>(value).Validate();
    case ValueType::kSortedSet:
      return static_cast<const SortedSetValue&>(value).Validate();
    case ValueType::kList:
      return static_cast<const ListValue&>(value).Validate();
    case ValueType::kStream:
      return static_cast<const StreamValue&>(value).Validate();
    default:
      return true;
  }
}

class ValuesWorld : public World {
 public:
  using World::World;

  const RichValue* ValueOf(std::string_view name) {
    Keyspace& keyspace = server.databases.At(0);
    const Entry* const entry = keyspace.Peek(keyspace.KeyOf(name), server.executor.now());
    return entry != nullptr && entry->encoding() == Encoding::kRich ? entry->rich() : nullptr;
  }
  // All keys, the requests' keys with the deadlines of their members.
  std::string Shown() {
    std::string text = Digest();
    for (const char* name : {"k", "other", "new"}) {
      if (const RichValue* const value = ValueOf(name)) text += ShownMembers(*value).text;
    }
    return text;
  }
  bool Sound() {
    for (const char* name : {"k", "other", "new"}) {
      const RichValue* const value = ValueOf(name);
      if (value != nullptr && !IsSound(*value)) return false;
    }
    return Valid();
  }
};

// One type: ways to make the key "k", each with what else is there, and requests for each of them.
struct TypeCase {
  std::vector<std::vector<Words>> forms;
  std::vector<Words> requests;
};

// Members as long as these need memory each.
const std::string kLongA(2000, 'a');
const std::string kLongB(3000, 'b');
const std::string kLongC(4000, 'c');
const std::string kLongest(100'000, 'x');

TypeCase HashCase() {
  const Words timed = {"HEXPIRE", "k", "100", "FIELDS", "2", "f", "n"};
  const Words packed = {"HSET", "k", "f", "v", "n", "10", "x", "1.5"};
  const Words large = {"HSET", "k", "f", kLongest, "n", "10", "x", "1.5"};
  return {.forms = {{packed}, {large}, {packed, timed}, {large, timed}},
          .requests = {
              {"HSET", "k", "n", kLongA, kLongA, kLongB, kLongB, kLongC},
              {"HSET", "k", "f", "another length", "new", "v"},
              {"HSET", "new", "n", kLongA, kLongA, kLongB, kLongB, kLongC},
              {"HMSET", "k", "f", kLongA, "n", kLongB, kLongA, kLongC},
              {"HSETNX", "k", kLongA, kLongB},
              {"HSETNX", "k", "short", "v"},
              {"HINCRBY", "k", "n", "1000000000"},
              {"HINCRBY", "k", kLongA, "1"},
              {"HINCRBYFLOAT", "k", "x", "0.25"},
              {"HSETEX", "k", "EX", "9", "FIELDS", "3", "n", kLongA, kLongA, kLongB, kLongB, kLongC},
              {"HSETEX", "k", "EX", "9", "FIELDS", "2", "n", "1", "new", "2"},
              {"HSETEX", "k", "KEEPTTL", "FIELDS", "2", "n", kLongA, kLongA, kLongB},
              {"HSETEX", "k", "PXAT", "1", "FIELDS", "2", "n", kLongA, kLongA, kLongB},
              {"HSETEX", "new", "EX", "9", "FIELDS", "2", "n", kLongA, kLongA, kLongB},
              {"HEXPIRE", "k", "50", "FIELDS", "3", "f", "n", "x"},
              {"HPEXPIRE", "k", "50", "FIELDS", "3", "f", "n", "x"},
              {"HEXPIREAT", "k", "1", "FIELDS", "2", "f", "n"},
              {"HPEXPIREAT", "k", "9000000000000", "FIELDS", "3", "f", "n", "x"},
              {"HPERSIST", "k", "FIELDS", "3", "f", "n", "x"},
              {"HGETEX", "k", "EX", "50", "FIELDS", "3", "f", "n", "x"},
              {"HGETEX", "k", "PERSIST", "FIELDS", "3", "f", "n", "x"},
              {"HGETDEL", "k", "FIELDS", "2", "f", "n"},
              {"HGETDEL", "k", "FIELDS", "3", "f", "n", "x"},
              {"HDEL", "k", "f", "n"},
              {"EXPIREMEMBER", "k", "x", "50"},
              {"EXPIREMEMBER", "k", "x", "0"},
          }};
}

TypeCase ListCase() {
  const Words other = {"RPUSH", "other", "from", kLongA, "from"};
  const Words pages = {"RPUSH", "k", kLongB, "a", kLongB, "b", kLongB, "c", kLongB, "b"};
  return {.forms = {{other, {"RPUSH", "k", "a", "10", "b"}},
                    {other, pages},
                    {other, {"RPUSH", "k", "a", "b", kLongest}}},
          .requests = {
              {"RPUSH", "k", kLongA, kLongB, kLongC, kLongA, kLongB, kLongC, kLongA, kLongB, kLongC},
              {"LPUSH", "k", kLongA, kLongB, kLongC, kLongA, kLongB, kLongC, kLongA, kLongB, kLongC},
              {"LPUSH", "k", "1", "2", "3"},
              {"RPUSHX", "k", kLongA, kLongB, kLongC},
              {"LPUSHX", "k", kLongA, kLongB, kLongC},
              {"RPUSH", "new", kLongA, kLongB, kLongC, kLongest},
              {"LINSERT", "k", "BEFORE", "b", kLongC},
              {"LINSERT", "k", "AFTER", "a", kLongest},
              {"LSET", "k", "1", kLongC},
              {"LSET", "k", "-1", kLongest},
              {"LREM", "k", "0", "b"},
              {"LTRIM", "k", "1", "1"},
              {"LPOP", "k", "2"},
              {"RPOP", "k"},
              {"LMPOP", "1", "k", "RIGHT", "COUNT", "2"},
              {"LMOVE", "other", "k", "LEFT", "RIGHT"},
              {"LMOVE", "k", "other", "RIGHT", "LEFT"},
              {"LMOVE", "k", "new", "RIGHT", "LEFT"},
              {"LMOVE", "k", "k", "LEFT", "RIGHT"},
              {"RPOPLPUSH", "other", "k"},
              {"BLMOVE", "other", "k", "LEFT", "RIGHT", "0"},
              {"BRPOPLPUSH", "k", "new", "0"},
              {"BLPOP", "k", "0"},
              {"BRPOP", "k", "0"},
              {"BLMPOP", "0", "1", "k", "LEFT", "COUNT", "2"},
              {"SORT", "other", "ALPHA", "STORE", "k"},
          }};
}

TypeCase SetCase() {
  const Words other = {"SADD", "other", "a", "1", kLongA, "from"};
  const Words large = {"SADD", "k", "a", "b", "1", kLongest};
  const Words timed = {"SADDEX", "k", "100", "a", "b"};
  return {.forms = {{other, {"SADD", "k", "1", "2", "70000"}},
                    {other, {"SADD", "k", "a", "b", "1"}},
                    {other, large},
                    {other, large, timed},
                    {other, timed, {"SADDEX", "other", "50", "from", kLongA}}},
          .requests = {
              {"SADD", "k", kLongA, kLongB, kLongC, "a"},
              {"SADD", "k", "5", "6", "3000000000", "7"},
              {"SADD", "k", "5", "6", kLongA, kLongB},
              {"SADD", "k", "short", "a"},
              {"SADD", "new", kLongA, kLongB, "1", kLongC},
              {"SADDEX", "k", "9", kLongA, kLongB, "a", "1", kLongC},
              {"SADDEX", "k", "KEEPTTL", "9", "a", "1", kLongA, kLongC},
              {"SADDEX", "k", "9", "a", "1"},
              {"SADDEX", "new", "9", kLongA, kLongB, kLongC},
              {"SMOVE", "other", "k", kLongA},
              {"SMOVE", "other", "k", "from"},
              {"SMOVE", "other", "new", kLongA},
              {"SMOVE", "k", "other", "b"},
              {"SMOVE", "k", "other", "2"},
              {"SREM", "k", "a", "1"},
              {"SPOP", "k"},
              {"SPOP", "k", "2"},
              {"SEXPIRE", "k", "50", "MEMBERS", "3", "a", "b", "1"},
              {"SPEXPIRE", "k", "50000", "MEMBERS", "3", "a", "b", "1"},
              {"SEXPIREAT", "k", "9000000000", "MEMBERS", "3", "a", "b", "1"},
              {"SPEXPIREAT", "k", "1", "MEMBERS", "3", "a", "b", "1"},
              {"SPERSIST", "k", "MEMBERS", "3", "a", "b", "1"},
              {"EXPIREMEMBER", "k", "1", "50"},
              {"SUNIONSTORE", "k", "k", "other"},
              {"SINTERSTORE", "k", "k", "other"},
              {"SDIFFSTORE", "k", "other", "k"},
          }};
}

TypeCase SortedSetCase() {
  const Words other = {"ZADD", "other", "1", "a", "2", kLongA, "3", "from"};
  const Words large = {"ZADD", "k", "1", "a", "2", "b", "3", "c", "4", kLongest};
  const Words packed = {"ZADD", "k", "1", "a", "2", "b", "3.5", "c"};
  const std::vector<Words> timed = {{"EXPIREMEMBER", "k", "a", "100"}, {"EXPIREMEMBER", "k", "b", "100"}};
  return {.forms = {{other, packed},
                    {other, large},
                    {other, packed, timed[0]},
                    {other, large, timed[0], timed[1]}},
          .requests = {
              {"ZADD", "k", "5", "a", "6", kLongA, "7", kLongB, "0", kLongC, "1", "b"},
              {"ZADD", "k", "XX", "CH", "9", "a", "8", "b", "7", "c"},
              {"ZADD", "k", "NX", "9", "a", "8", kLongA, "7", kLongB},
              {"ZADD", "k", "GT", "CH", "9", "a", "0", "b", "7", kLongB},
              {"ZADD", "k", "1", "short", "0.5", "c"},
              {"ZADD", "new", "5", "a", "6", kLongA, "7", kLongB},
              {"ZADD", "k", "INCR", "5", kLongA},
              {"ZINCRBY", "k", "2.5", "b"},
              {"ZINCRBY", "k", "1", kLongB},
              {"ZINCRBY", "new", "1", kLongB},
              {"GEOADD", "k", "14", "38", kLongA, "15", "39", "b", "16", "40", kLongB},
              {"GEOADD", "k", "CH", "14", "38", "a", "15", "39", "b"},
              {"GEOADD", "new", "14", "38", kLongA, "15", "39", "b"},
              {"ZREM", "k", "a", "c"},
              {"ZPOPMIN", "k", "2"},
              {"ZPOPMAX", "k"},
              {"ZMPOP", "1", "k", "MAX", "COUNT", "2"},
              {"BZPOPMIN", "k", "0"},
              {"BZPOPMAX", "k", "0"},
              {"BZMPOP", "0", "1", "k", "MIN", "COUNT", "2"},
              {"ZREMRANGEBYRANK", "k", "0", "1"},
              {"ZREMRANGEBYSCORE", "k", "1", "2"},
              {"ZREMRANGEBYLEX", "k", "-", "[b"},
              {"ZUNIONSTORE", "k", "2", "k", "other"},
              {"ZINTERSTORE", "k", "2", "k", "other"},
              {"ZDIFFSTORE", "k", "2", "other", "k"},
              {"ZRANGESTORE", "k", "other", "0", "-1"},
              {"GEOSEARCHSTORE", "k", "other", "FROMLONLAT", "-179", "-85", "BYRADIUS", "9000", "km"},
              {"GEORADIUS", "other", "-179", "-85", "9000", "km", "STORE", "k"},
              {"GEORADIUSBYMEMBER", "other", "a", "9000", "km", "STORE", "k"},
              {"EXPIREMEMBER", "k", "c", "50"},
              {"EXPIREMEMBER", "k", "a", "50"},
          }};
}

TypeCase StreamCase() {
  std::vector<Words> entries = {{"XADD", "k", "1-1", "f", "v"}, {"XADD", "k", "1-2", "f", "v"}};
  std::vector<Words> nodes = {{"CONFIG", "SET", "stream-node-max-entries", "2"}};
  for (const char* id : {"1-1", "1-2", "1-3", "1-4", "1-5"}) nodes.push_back({"XADD", "k", id, "f", kLongA});
  for (std::vector<Words>* form : {&entries, &nodes}) {
    for (const char* group : {"g", "h"}) {
      form->push_back({"XGROUP", "CREATE", "k", group, "0"});
      form->push_back({"XREADGROUP", "GROUP", group, "a", "COUNT", "1", "STREAMS", "k", ">"});
    }
  }
  return {.forms = {entries, nodes},
          .requests = {
              {"XADD", "k", "3-1", kLongA, kLongB, kLongC, kLongA},
              {"XADD", "k", "3-1", "f", "v"},
              {"XADD", "k", "MAXLEN", "1", "3-1", "f", kLongB},
              {"XADD", "k", "MINID", "1-2", "3-1", kLongA, kLongB},
              {"XADD", "new", "3-1", kLongA, kLongB, kLongC, kLongA},
              {"XADD", "new", "MAXLEN", "0", "3-1", kLongA, kLongB},
              {"XDEL", "k", "1-1", "1-2"},
              {"XTRIM", "k", "MAXLEN", "1"},
              {"XTRIM", "k", "MINID", "1-2"},
              {"XSETID", "k", "9-9", "ENTRIESADDED", "20"},
              {"XREADGROUP", "GROUP", "g", kLongA, "STREAMS", "k", ">"},
              {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "k", "0"},
              {"XCLAIM", "k", "g", kLongB, "0", "1-1", "1-2", "FORCE"},
              {"XAUTOCLAIM", "k", "g", "b", "0", "0"},
              {"XACK", "k", "g", "1-1"},
              {"XACKDEL", "k", "g", "ACKED", "IDS", "1", "1-1"},
              {"XDELEX", "k", "DELREF", "IDS", "2", "1-1", "1-2"},
              {"XTRIM", "k", "MAXLEN", "0", "DELREF"},
              {"XGROUP", "CREATE", "k", kLongA, "0"},
              {"COPY", "k", "new"},
          }};
}

std::vector<TypeCase> AllTypes() {
  return {HashCase(), ListCase(), SetCase(), SortedSetCase(), StreamCase()};
}

struct Calm {
  std::string before;
  std::string after;
  std::string reply;
};

// Returns how many allocations failed.
size_t FailEach(const std::vector<Words>& form, const Words& request, const Calm& calm) {
  for (size_t nth = 1;; ++nth) {
    ValuesWorld world(form);
    const ReportedChanges reported(world.server.changes);
    world.Run(world.client, request, nth);
    if (!AllocationFailed()) return nth - 1;
    INFO("allocation " << nth);
    CHECK(world.Sound());
    const std::string now = world.Shown();
    if (now != calm.before) CHECK(reported.count != 0);
    if (world.client.Has(Mode::kDropped) || world.no_room) continue;
    const std::string reply = OutputText(world.client.output);
    const bool refused = reply == kOom;
    CHECK(now == (refused ? calm.before : calm.after));
    CHECK((refused || reply == calm.reply));
    if (refused) CHECK(reported.count == 0);
  }
}

}  // namespace

TEST_CASE("the requests that find no memory for a value are all that write values of these types") {
  std::set<std::string> listed;
  for (const TypeCase& type : AllTypes()) {
    for (const Words& request : type.requests) listed.insert(request[0]);
  }
  constexpr uint32_t kOfValues = kAclHash | kAclList | kAclSet | kAclSortedSet | kAclGeo | kAclStream;
  const CommandTable table;
  for (const TableRow* row : table.rows()) {
    if ((row->command->flags & kWrite) == 0 || (row->command->acl & kOfValues) == 0) continue;
    INFO(row->full_name);
    CHECK(listed.contains(UpperCase(row->full_name)));
  }
}

TEST_CASE("a value stays as it is if there is no memory for its change, or the change is reported") {
  const size_t type = GENERATE(size_t{0}, size_t{1}, size_t{2}, size_t{3}, size_t{4});
  const TypeCase tried = AllTypes()[type];
  size_t failures = 0;
  for (const std::vector<Words>& form : tried.forms) {
    for (const Words& request : tried.requests) {
      ValuesWorld world(form);
      Calm calm{.before = world.Shown(), .after = {}, .reply = {}};
      world.Run(world.client, request);
      calm.after = world.Shown();
      calm.reply = OutputText(world.client.output);
      std::string shown;
      for (const std::string& word : request) shown += word.substr(0, 20) + " ";
      INFO(form.back()[0] << ", " << shown);
      CHECK(calm.reply.substr(0, 1) != "-");
      failures += FailEach(form, request, calm);
    }
  }
  CHECK(failures > 40);
}

}  // namespace mayfly::testing
