#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

const Reply kWrongType = Error("WRONGTYPE Operation against a key holding the wrong kind of value");

Reply Entry(const std::string& id, const Words& pairs) {
  return Array({Bulk(id), Bulks({pairs.begin(), pairs.end()})});
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "entries are added with rising ids and read by them") {
  CHECK(Run({"XADD", "s", "5-1", "f", "v"}) == Bulk("5-1"));
  CHECK(Run({"XADD", "s", "5-*", "f", "w"}) == Bulk("5-2"));
  CHECK(Run({"XADD", "s", "7", "g", "1", "h", "2"}) == Bulk("7-0"));
  CHECK(Run({"XLEN", "s"}) == Integer(3));
  CHECK(Run({"TYPE", "s"}) == Simple("stream"));
  CHECK(Run({"OBJECT", "ENCODING", "s"}) == Bulk("stream"));
  const Reply first = Entry("5-1", {"f", "v"});
  const Reply second = Entry("5-2", {"f", "w"});
  const Reply third = Entry("7-0", {"g", "1", "h", "2"});
  CHECK(Run({"XRANGE", "s", "-", "+"}) == Array({first, second, third}));
  CHECK(Run({"XREVRANGE", "s", "+", "-"}) == Array({third, second, first}));
  CHECK(Run({"XRANGE", "s", "(5-1", "5"}) == Array({second}));
  CHECK(Run({"XREVRANGE", "s", "(7-0", "5-2"}) == Array({second}));
  CHECK(Run({"XRANGE", "s", "-", "+", "COUNT", "2"}) == Array({first, second}));
  CHECK(Run({"XREVRANGE", "s", "+", "-", "COUNT", "1"}) == Array({third}));
  CHECK(Run({"XRANGE", "s", "-", "+", "COUNT", "0"}) == NullArray());
  CHECK(Run({"XRANGE", "none", "-", "+"}) == Array({}));
  CHECK(Run({"XRANGE", "s", "(18446744073709551615-18446744073709551615", "+"}) ==
        Error("ERR invalid start ID for the interval"));
  CHECK(Run({"XRANGE", "s", "-", "(0-0"}) == Error("ERR invalid end ID for the interval"));
}

TEST_CASE_METHOD(CommandTest, "XADD refuses ids that do not rise, and makes ids of the time") {
  const Reply too_low =
      Error("ERR The ID specified in XADD is equal or smaller than the target stream top item");
  const std::string id = Run({"XADD", "s", "*", "f", "v"}).text;
  CHECK(id == std::to_string(server().executor.now().wall_ms) + "-0");
  CHECK(Run({"XADD", "s", "*", "f", "v"}).text == id.substr(0, id.size() - 1) + "1");
  CHECK(Run({"XADD", "s", id, "f", "v"}) == too_low);
  CHECK(Run({"XADD", "s", "1-*", "f", "v"}) == too_low);
  CHECK(Run({"XADD", "new", "0-0", "f", "v"}) ==
        Error("ERR The ID specified in XADD must be greater than 0-0"));
  CHECK(Run({"XADD", "new", "0-*", "f", "v"}) == Bulk("0-1"));
  CHECK(Run({"XADD", "end", "18446744073709551615-18446744073709551615", "f", "v"}).kind ==
        Reply::Kind::kBulk);
  CHECK(Run({"XADD", "end", "*", "f", "v"}) ==
        Error("ERR The stream has exhausted the last possible ID, unable to add more items"));
  CHECK(Run({"XADD", "none", "NOMKSTREAM", "*", "f", "v"}) == Null());
  CHECK(Run({"XADD", "ahead", "99999999999999-5", "f", "v"}) == Bulk("99999999999999-5"));
  CHECK(Run({"XADD", "ahead", "*", "f", "v"}) == Bulk("99999999999999-6"));
  CHECK(Run({"XADD", "s", "*", "f"}) == Error("ERR wrong number of arguments for 'xadd' command"));
  CHECK(Run({"XADD", "s", "x", "f", "v"}) ==
        Error("ERR Invalid stream ID specified as stream command argument"));
}

TEST_CASE_METHOD(CommandTest, "an open end without a sequence leaves out the first or the last possible id") {
  for (const char* const id : {"4-0", "5-0", "5-3", "6-0"}) Run({"XADD", "s", id, "f", "v"});
  const auto ids = [this](const Words& request) {
    Words found;
    for (const Reply& entry : Run(request).elements) found.push_back(entry.elements.at(0).text);
    return found;
  };
  CHECK(ids({"XRANGE", "s", "-", "(5"}) == Words{"4-0", "5-0", "5-3"});
  CHECK(ids({"XRANGE", "s", "(5", "+"}) == Words{"5-3", "6-0"});
  CHECK(ids({"XREVRANGE", "s", "(5", "-"}) == Words{"5-3", "5-0", "4-0"});
  CHECK(ids({"XREVRANGE", "s", "+", "(5"}) == Words{"6-0", "5-3"});
  CHECK(ids({"XRANGE", "s", "5", "5"}) == Words{"5-0", "5-3"});
}

TEST_CASE_METHOD(CommandTest, "a stream whose entries are all deleted stays and knows its last id") {
  Run({"XADD", "s", "1-1", "f", "v"});
  Run({"XADD", "s", "2-1", "f", "v"});
  TakeChanges();
  CHECK(Run({"XDEL", "s", "1-1", "1-2", "2-1"}) == Integer(2));
  CHECK(Run({"XDEL", "s", "2-1"}) == Integer(0));
  CHECK(TakeChanges() == Lines{"xdel s"});
  CHECK(Run({"EXISTS", "s"}) == Integer(1));
  CHECK(Run({"XLEN", "s"}) == Integer(0));
  CHECK(Run({"XADD", "s", "2-1", "f", "v"}).kind == Reply::Kind::kError);
  CHECK(Run({"XADD", "s", "2-2", "f", "v"}) == Bulk("2-2"));
  CHECK(Run({"DEL", "s"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "a stream is trimmed to a length or an id, exactly or by whole nodes") {
  for (int i = 1; i <= 250; ++i) Run({"XADD", "s", std::to_string(i) + "-0", "f", "v"});
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "240"}) == Integer(0));
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "140", "LIMIT", "50"}) == Integer(0));
  CHECK(Run({"XTRIM", "s", "MAXLEN", "~", "140"}) == Integer(100));
  CHECK(Run({"XTRIM", "s", "MAXLEN", "=", "140"}) == Integer(10));
  CHECK(Run({"XTRIM", "s", "MINID", "150"}) == Integer(39));
  CHECK(Run({"XRANGE", "s", "-", "+", "COUNT", "1"}) == Array({Entry("150-0", {"f", "v"})}));
  TakeChanges();
  Run({"XADD", "s", "MAXLEN", "5", "300", "f", "v"});
  CHECK(TakeChanges() == Lines{"xadd s", "xtrim s"});
  CHECK(Run({"XLEN", "s"}) == Integer(5));
  CHECK(Run({"XTRIM", "s", "MAXLEN", "0"}) == Integer(5));
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(CommandTest, "XSETID sets what a stream knows, within what is true") {
  Run({"XADD", "s", "5-1", "f", "v"});
  CHECK(Run({"XSETID", "s", "9-9", "ENTRIESADDED", "7", "MAXDELETEDID", "3-3"}) == Ok());
  CHECK(Run({"XADD", "s", "9-*", "f", "v"}) == Bulk("9-10"));
  CHECK(Run({"XSETID", "s", "5-0"}) ==
        Error("ERR The ID specified in XSETID is smaller than the target stream top item"));
  CHECK(Run({"XSETID", "none", "1-1"}) == Error("ERR no such key"));
}

TEST_CASE_METHOD(CommandTest, "XSETID goes back behind deleted entries, but not below the highest one") {
  for (const char* id : {"10-0", "50-0", "100-0"}) Run({"XADD", "s", id, "f", "v"});
  Run({"XSETID", "s", "200-0"});
  Run({"XDEL", "s", "100-0"});
  const Reply below = Error("ERR The ID specified in XSETID is smaller than current max_deleted_entry_id");
  CHECK(Run({"XSETID", "s", "60-0"}) == below);
  CHECK(Run({"XSETID", "s", "60-0", "ENTRIESADDED", "3", "MAXDELETEDID", "0-0"}) == below);
  CHECK(Run({"XSETID", "s", "100-0"}) == Ok());
  CHECK(Run({"XADD", "s", "100-0", "f", "v"}) ==
        Error("ERR The ID specified in XADD is equal or smaller than the target stream top item"));
  CHECK(Run({"XADD", "s", "100-1", "f", "v"}) == Bulk("100-1"));
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(CommandTest, "XREAD answers with what comes after the ids: pairs, or in RESP3 a map") {
  Run({"XADD", "s", "1-1", "f", "v"});
  Run({"XADD", "s", "2-1", "f", "w"});
  Run({"XADD", "t", "3-1", "g", "x"});
  const Reply of_s = Array({Bulk("s"), Array({Entry("2-1", {"f", "w"})})});
  const Reply of_t = Array({Bulk("t"), Array({Entry("3-1", {"g", "x"})})});
  CHECK(Run({"XREAD", "STREAMS", "s", "t", "1-1", "0"}) == Array({of_s, of_t}));
  CHECK(Run({"XREAD", "COUNT", "1", "STREAMS", "none", "s", "0", "1-1"}) == Array({of_s}));
  CHECK(Run({"XREAD", "STREAMS", "s", "+"}) == Array({of_s}));
  CHECK(Run({"XREAD", "STREAMS", "s", "$"}) == NullArray());
  UseResp3();
  const Reply map = Run({"XREAD", "STREAMS", "t", "0"});
  CHECK(map.kind == Reply::Kind::kMap);
  CHECK(map.elements.at(0) == Bulk("t"));
}

TEST_CASE_METHOD(CommandTest, "the keys of XREAD are the first half of what follows STREAMS") {
  CHECK(Run({"COMMAND", "GETKEYS", "XREAD", "COUNT", "5", "STREAMS", "a", "b", "0", "1"}) ==
        Bulks({"a", "b"}));
  CHECK(Run({"COMMAND", "GETKEYS", "XREAD", "COUNT", "5", "STREAMS"}).kind == Reply::Kind::kError);
}

TEST_CASE_METHOD(CommandTest, "XREAD BLOCK waits for the next entry, or until its time is over") {
  Run({"XADD", "s", "1-1", "f", "v"});
  TestClient& reader = Connect();
  reader.Run({"XREAD", "BLOCK", "0", "STREAMS", "s", "none", "$", "$"});
  CHECK(reader.Received().empty());
  Run({"XDEL", "s", "1-1"});
  CHECK(reader.Received().empty());
  Run({"XADD", "s", "2-1", "f", "w"});
  CHECK(reader.Received() ==
        std::vector<Reply>{Array({Array({Bulk("s"), Array({Entry("2-1", {"f", "w"})})})})});
  reader.Run({"XREAD", "BLOCK", "50", "STREAMS", "none", "$"});
  Run({"SET", "none", "text"});
  CHECK(reader.Received().empty());
  Run({"DEL", "none"});
  AdvanceTime(49);
  CHECK(reader.Received().empty());
  AdvanceTime(1);
  CHECK(reader.Received() == std::vector<Reply>{NullArray()});
  CHECK(Run({"XREAD", "BLOCK", "-1", "STREAMS", "s", "0"}) == Error("ERR timeout is negative"));
  CHECK(Run({"XREAD", "BLOCK", "x", "STREAMS", "s", "0"}) ==
        Error("ERR timeout is not an integer or out of range"));
}

TEST_CASE_METHOD(CommandTest, "XINFO STREAM tells what a stream is made of") {
  Run({"XADD", "s", "1-1", "f", "v"});
  Run({"XADD", "s", "2-1", "f", "w"});
  Run({"XDEL", "s", "1-1"});
  const Reply entry = Entry("2-1", {"f", "w"});
  CHECK(Run({"XINFO", "STREAM", "s"}) == Array({Bulk("length"),
                                                Integer(1),
                                                Bulk("radix-tree-keys"),
                                                Integer(1),
                                                Bulk("radix-tree-nodes"),
                                                Integer(2),
                                                Bulk("last-generated-id"),
                                                Bulk("2-1"),
                                                Bulk("max-deleted-entry-id"),
                                                Bulk("1-1"),
                                                Bulk("entries-added"),
                                                Integer(2),
                                                Bulk("recorded-first-entry-id"),
                                                Bulk("2-1"),
                                                Bulk("groups"),
                                                Integer(0),
                                                Bulk("first-entry"),
                                                entry,
                                                Bulk("last-entry"),
                                                entry}));
  const Reply full = Run({"XINFO", "STREAM", "s", "FULL", "COUNT", "0"});
  CHECK(full.elements.at(15) == Array({entry}));
  CHECK(full.elements.at(17) == Array({}));
  CHECK(Run({"XINFO", "STREAM", "none"}) == Error("ERR no such key"));
  CHECK(Run({"XINFO", "HELP"}).elements.size() > 3);
}

// The errors of redis-server 7.0.15 for a stream without groups.
TEST_CASE_METHOD(CommandTest,
                 "XINFO GROUPS of a stream is an empty list, and XINFO CONSUMERS names no group") {
  Run({"XADD", "s", "1-1", "f", "v"});
  CHECK(Run({"XINFO", "GROUPS", "s"}) == Array({}));
  CHECK(Run({"XINFO", "GROUPS", "none"}) == Error("ERR no such key"));
  CHECK(Run({"XINFO", "CONSUMERS", "s", "g"}) ==
        Error("NOGROUP No such consumer group 'g' for key name 's'"));
  CHECK(Run({"XINFO", "CONSUMERS", "none", "g"}) == Error("ERR no such key"));
  CHECK(Run({"XINFO", "CONSUMERS", "s"}) ==
        Error("ERR wrong number of arguments for 'xinfo|consumers' command"));
}

TEST_CASE_METHOD(CommandTest, "commands on streams refuse other types") {
  Run({"SET", "text", "v"});
  const std::vector<Words> requests = {{"XADD", "text", "*", "f", "v"},    {"XLEN", "text"},
                                       {"XRANGE", "text", "-", "+"},       {"XREVRANGE", "text", "+", "-"},
                                       {"XREAD", "STREAMS", "text", "0"},  {"XDEL", "text", "1-1"},
                                       {"XTRIM", "text", "MAXLEN", "1"},   {"XSETID", "text", "1-1"},
                                       {"XINFO", "STREAM", "text"},        {"XINFO", "GROUPS", "text"},
                                       {"XINFO", "CONSUMERS", "text", "g"}};
  for (const Words& request : requests) {
    INFO(request[0]);
    CHECK(Run(request) == kWrongType);
  }
}

}  // namespace mayfly::testing
