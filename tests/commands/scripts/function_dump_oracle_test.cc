// FUNCTION DUMP and FUNCTION RESTORE beside real redis-servers: each restores what the other has dumped, and what one refuses
// the other refuses in the same words.
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include "snapshot/format/dump_footer.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/values/function_text.h"
#include "support/command_test.h"
#include "support/oracle.h"
#include "support/words.h"

namespace mayfly::testing {
namespace {

std::string LibraryOf(const std::string& name, const std::string& function) {
  return "#!lua name=" + name + "\nredis.register_function('" + function + "', function() return '" + name +
         "' end)";
}

std::string LongLibrary() {
  std::string text = "#!lua name=long\n";
  for (int i = 0; i < 200; ++i)
    text += "redis.register_function('f" + std::to_string(i) + "', function() return " + std::to_string(i) +
            " end)\n";
  return text;
}

// What FUNCTION DUMP would answer with these libraries.
std::string PayloadOf(const std::vector<std::string>& texts, uint16_t version = rdb::version::kRedis70) {
  std::string payload;
  rdb::Out out(payload);
  for (const std::string& text : texts) rdb::WriteFunction(text, out);
  rdb::AppendDumpFooter(payload, version);
  return payload;
}

// As release candidates of 7.0 wrote a library.
std::string OldPayload() {
  std::string payload;
  rdb::Out out(payload);
  out.Byte(rdb::opcode::kFunctionOld);
  out.String("old");
  out.String("lua");
  out.Length(1);
  out.String("a description");
  out.String("redis.register_function('fold', function() return 'old' end)");
  rdb::AppendDumpFooter(payload, rdb::version::kRedis70);
  return payload;
}

class FunctionDumpBesideRedis : public CommandTest {
 public:
  static Reply Redis(Oracle& oracle, const Words& request) {
    return TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0);
  }
  // Both servers answer a request alike. Returns the reply.
  Reply Both(Oracle& oracle, const Words& request) {
    INFO(request[1] << " with " << request.back());
    const Reply ours = Run(request);
    CHECK(ours == Redis(oracle, request));
    return ours;
  }
  // The libraries with their texts, whatever their order.
  static Reply ListOf(const std::function<Reply(const Words&)>& ask) {
    return Sorted(ask({"FUNCTION", "LIST", "WITHCODE"}));
  }
  void Exchange(const std::string& program) {
    Oracle oracle({}, program);
    for (const std::string& text : {LibraryOf("a", "fa"), LongLibrary(), LibraryOf("b", "fb")})
      REQUIRE(Redis(oracle, {"FUNCTION", "LOAD", text}).kind != Reply::Kind::kError);
    const Reply payload = Redis(oracle, {"FUNCTION", "DUMP"});
    Run({"FUNCTION", "FLUSH"});
    REQUIRE(Run({"FUNCTION", "RESTORE", payload.text}) == Ok());
    CHECK(Run({"FCALL", "f17", "0"}) == Integer(17));
    const Reply ours = Run({"FUNCTION", "DUMP"});
    CHECK(ours.text.size() == payload.text.size());  // Redis has its libraries in no order
    REQUIRE(Redis(oracle, {"FUNCTION", "RESTORE", ours.text, "FLUSH"}) == Ok());
    CHECK(Redis(oracle, {"FCALL", "fb", "0"}) == Bulk("b"));
    CHECK(Redis(oracle, {"FUNCTION", "LIST"}).elements.size() == 3);
  }
};

}  // namespace

TEST_CASE_METHOD(FunctionDumpBesideRedis, "redis-server and we restore each other's libraries") {
  Exchange(Oracle::kProgram);
  if (Oracle::Exists(Oracle::kNewerProgram)) {
    Exchange(Oracle::kNewerProgram);
  } else {
    std::cout << "left out: there is no " << Oracle::kNewerProgram << " to compare with" << std::endl;
  }
}

TEST_CASE_METHOD(FunctionDumpBesideRedis, "a single library is dumped to the same bytes as in Redis") {
  Oracle oracle;
  Both(oracle, {"FUNCTION", "DUMP"});
  for (const std::string& text : {LibraryOf("a", "fa"), LongLibrary()}) {
    Both(oracle, {"FUNCTION", "FLUSH"});
    Both(oracle, {"FUNCTION", "LOAD", text});
    Both(oracle, {"FUNCTION", "DUMP"});
  }
}

TEST_CASE_METHOD(FunctionDumpBesideRedis,
                 "FUNCTION RESTORE takes all libraries of a payload or none, as in Redis") {
  Oracle oracle;
  const std::vector<std::vector<std::string>> payloads = {{},
                                                          {LibraryOf("x", "fx"), LibraryOf("y", "fy")},
                                                          {LibraryOf("a", "fx")},
                                                          {LibraryOf("a", "fa"), LibraryOf("y", "fy")},
                                                          {LibraryOf("x", "fa")},
                                                          {LibraryOf("x", "FA")},
                                                          {LibraryOf("b", "fa")},
                                                          {LibraryOf("x", "fx"), LibraryOf("x", "fy")},
                                                          {LibraryOf("x", "fx"), LibraryOf("y", "fx")},
                                                          {LibraryOf("x", "fx"), "#!lua name=y\nreturn +"},
                                                          {LibraryOf("x", "fx"), "no library"},
                                                          {LibraryOf("x", "fx"), "#!lua name=y\n"},
                                                          {LibraryOf("x", "fx"), "#!js name=y\n"},
                                                          {"12"}};
  for (const std::vector<std::string>& texts : payloads) {
    for (const char* policy : {"", "append", "REPLACE", "FLUSH"}) {
      CAPTURE(texts, policy);
      Both(oracle, {"FUNCTION", "FLUSH"});
      for (const char* name : {"a", "b"})
        Both(oracle, {"FUNCTION", "LOAD", LibraryOf(name, "f" + std::string(name))});
      Words request{"FUNCTION", "RESTORE", PayloadOf(texts)};
      if (*policy != 0) request.emplace_back(policy);
      const Reply reply = Both(oracle, request);
      CHECK(ListOf([this](const Words& list) { return Run(list); }) ==
            ListOf([&oracle](const Words& list) { return Redis(oracle, list); }));
      // What is there can be called: nothing of a failed payload is left.
      for (const char* name : {"fa", "fb", "fx", "fy"}) Both(oracle, {"FCALL", name, "0"});
    }
  }
}

TEST_CASE_METHOD(FunctionDumpBesideRedis, "two libraries may exchange the names of their functions") {
  Oracle oracle;
  for (const char* name : {"a", "b"})
    Both(oracle, {"FUNCTION", "LOAD", LibraryOf(name, "f" + std::string(name))});
  const std::string exchanged = PayloadOf({LibraryOf("a", "fb"), LibraryOf("b", "fa")});
  CHECK(Run({"FUNCTION", "RESTORE", exchanged}).text.ends_with(" already exists"));
  CHECK(Both(oracle, {"FUNCTION", "RESTORE", exchanged, "REPLACE"}) == Ok());
  CHECK(Both(oracle, {"FCALL", "fa", "0"}) == Bulk("b"));
  CHECK(Both(oracle, {"FCALL", "fb", "0"}) == Bulk("a"));
}

TEST_CASE_METHOD(FunctionDumpBesideRedis, "wrong payloads and words are refused as in Redis") {
  Oracle oracle;
  const std::string good = PayloadOf({LibraryOf("a", "fa")});
  std::string flipped = good;
  flipped.back() = static_cast<char>(flipped.back() ^ 1);
  std::string key("\0\1v", 3);
  rdb::AppendDumpFooter(key, rdb::version::kRedis70);
  std::string nothing("\xF5", 1);
  rdb::AppendDumpFooter(nothing, rdb::version::kRedis70);
  std::string end("\xFF", 1);
  rdb::AppendDumpFooter(end, rdb::version::kRedis70);
  for (const std::string& payload :
       {std::string(), std::string("x"), flipped, key, end, PayloadOf({LibraryOf("z", "fz")}, 99),
        PayloadOf({LibraryOf("old", "f5")}, 5)})
    Both(oracle, {"FUNCTION", "RESTORE", payload});
  CHECK(Run({"FUNCTION", "RESTORE", nothing}) == Error("ERR Failed loading library payload"));
  for (const Words& request : std::vector<Words>{{"FUNCTION", "DUMP", "x"},
                                                 {"FUNCTION", "RESTORE"},
                                                 {"FUNCTION", "RESTORE", good, "NOSUCH"},
                                                 {"FUNCTION", "RESTORE", "x", "NOSUCH"},
                                                 {"FUNCTION", "RESTORE", "x", "FLUSH"},
                                                 {"FUNCTION", "RESTORE", good, "FLUSH", "x"}})
    Both(oracle, request);
  Both(oracle, {"FUNCTION", "RESTORE", OldPayload()});
  Both(oracle, {"FUNCTION", "LIST", "WITHCODE", "LIBRARYNAME", "old"});
}

TEST_CASE_METHOD(FunctionDumpBesideRedis, "a payload that is cut anywhere is refused, and changes nothing") {
  for (std::string payload : {PayloadOf({LibraryOf("a", "fa"), LongLibrary()}), OldPayload()}) {
    payload.resize(payload.size() - rdb::kDumpFooterBytes);
    for (size_t size = 1; size < payload.size(); size += 1 + size / 50) {
      CAPTURE(size);
      std::string cut = payload.substr(0, size);
      rdb::AppendDumpFooter(cut, rdb::version::kRedis70);
      const Reply reply = Run({"FUNCTION", "RESTORE", cut});
      if (reply == Ok()) {  // the cut lies between two libraries
        CHECK(Run({"FUNCTION", "DELETE", "a"}) == Ok());
        continue;
      }
      CHECK(reply.text.starts_with("ERR Failed loading "));
      CHECK(Run({"FUNCTION", "LIST"}) == Array({}));
    }
  }
}

TEST_CASE_METHOD(FunctionDumpBesideRedis,
                 "without rdbcompression a library is dumped as it is, as in Redis") {
  Oracle oracle({"--rdbcompression", "no"});
  SetOption("rdbcompression", "no");
  Both(oracle, {"FUNCTION", "LOAD", LongLibrary()});
  const Reply plain = Both(oracle, {"FUNCTION", "DUMP"});
  CHECK(plain.text.find(LongLibrary()) != std::string::npos);
  SetOption("rdbcompression", "yes");
  CHECK(Run({"FUNCTION", "DUMP"}).text.size() < plain.text.size() / 2);
  for (const char* compresses : {"no", "yes"}) {
    SetOption("rdbcompression", compresses);
    CHECK(Run({"FUNCTION", "RESTORE", Run({"FUNCTION", "DUMP"}).text, "FLUSH"}) == Ok());
    CHECK(Run({"FCALL", "f17", "0"}) == Integer(17));
  }
}

// What a library has kept is in the memory of Lua, and goes with the old library.
TEST_CASE_METHOD(FunctionDumpBesideRedis, "a library that is restored begins anew, as in Redis") {
  Oracle oracle;
  const std::string counts =
      "#!lua name=counts\nlocal n = 0\nredis.register_function('count', function() n = n + 1 return n end)";
  Both(oracle, {"FUNCTION", "LOAD", counts});
  const std::string payload = PayloadOf({counts});
  for (const char* policy : {"REPLACE", "FLUSH", "APPEND"}) {
    for (int call = 0; call < 2; ++call) Both(oracle, {"FCALL", "count", "0"});
    Both(oracle, {"FUNCTION", "RESTORE", payload, policy});
    Both(oracle, {"FCALL", "count", "0"});
  }
}

}  // namespace mayfly::testing
