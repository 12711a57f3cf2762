// Values and digests are those of Redis 8.4's own tests and pages.
#include <array>

#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kSyntax = "ERR syntax error";
constexpr std::string_view kBadDigest = "ERR must be exactly 16 hexadecimal characters";
constexpr const char* kHelloDigest = "b6acb9d84a38ff74";  // of "Hello world"
constexpr const char* kHelloDigestUpper = "B6ACB9D84A38FF74";
constexpr const char* kOtherDigest = "b6acb9d84a38ff75";

}  // namespace

TEST_CASE_METHOD(CommandTest, "DIGEST answers with 16 hexadecimal digits of any string") {
  Run({"SET", "k", "Hello world"});
  CHECK(Run({"DIGEST", "k"}) == Bulk(kHelloDigest));
  const std::string zeros =
      "v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2kwlj7626sd";
  Run({"SET", "zeros", zeros});
  CHECK(Run({"DIGEST", "zeros"}) == Bulk("00006c38adf31777"));
  Run({"SET", "n", "12345"});
  Run({"SETRANGE", "text", "0", "12345"});
  CHECK(Run({"OBJECT", "ENCODING", "n"}) == Bulk("int"));
  CHECK(Run({"DIGEST", "n"}) == Run({"DIGEST", "text"}));
  const std::string big(100'000, 'x');
  Run({"MSET", "big", big, "same", big});
  CHECK(Run({"DIGEST", "big"}) == Run({"DIGEST", "same"}));
  CHECK(Run({"DIGEST", "absent"}) == Null());
  CHECK(Run({"DIGEST"}) == Error("ERR wrong number of arguments for 'digest' command"));
  CHECK(Run({"DIGEST", "k", "n"}) == Error("ERR wrong number of arguments for 'digest' command"));
}

TEST_CASE_METHOD(CommandTest, "SET IFEQ and IFNE compare with the current value") {
  CHECK(Run({"SET", "k", "v", "IFEQ", "x"}) == Null());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"SET", "k", "v", "IFNE", "x"}) == Ok());
  CHECK(Run({"SET", "k", "w", "IFNE", "v"}) == Null());
  CHECK(Run({"SET", "k", "w", "IFEQ", "x"}) == Null());
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"SET", "k", "w", "ifeq", "v"}) == Ok());
  CHECK(Run({"SET", "k", "123", "IfNe", "v"}) == Ok());
  CHECK(Run({"SET", "k", "", "IFEQ", "123"}) == Ok());
  CHECK(Run({"SET", "k", "x", "IFEQ", ""}) == Ok());
  UseResp3();
  CHECK(RunRaw("SET k y IFEQ z\r\n") == "_\r\n");
}

TEST_CASE_METHOD(CommandTest, "SET IFDEQ and IFDNE compare digests, in any case") {
  CHECK(Run({"SET", "k", "v", "IFDEQ", kHelloDigest}) == Null());
  CHECK(Run({"SET", "k", "Hello world", "IFDNE", kHelloDigest}) == Ok());
  CHECK(Run({"SET", "k", "v", "IFDNE", kHelloDigestUpper}) == Null());
  CHECK(Run({"SET", "k", "v", "IFDEQ", kOtherDigest}) == Null());
  CHECK(Run({"SET", "k", "Hello world", "IFDEQ", kHelloDigestUpper}) == Ok());
  CHECK(Run({"SET", "k", "v", "IFDNE", kOtherDigest}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest, "a digest must have 16 characters, but it is read only if the key exists") {
  for (const char* condition : {"IFDEQ", "IFDNE"}) {
    Run({"SET", "k", "v"});
    for (const char* digest : {"", "6acb9d84a38ff74", "0b6acb9d84a38ff74"}) {
      CHECK(Run({"SET", "k", "w", condition, digest}) == Error(kBadDigest));
      CHECK(Run({"SET", "k", "w", condition, digest, "GET"}) == Error(kBadDigest));
      CHECK(Run({"DELEX", "k", condition, digest}) == Error(kBadDigest));
      CHECK(Run({"DELEX", "absent", condition, digest}) == Integer(0));
    }
    CHECK(Run({"GET", "k"}) == Bulk("v"));
  }
  CHECK(Run({"SET", "absent", "v", "IFDEQ", "short"}) == Null());
  CHECK(Run({"SET", "absent", "v", "IFDNE", "short"}) == Ok());
  CHECK(Run({"SET", "k", "w", "IFDEQ", "zzzzzzzzzzzzzzzz"}) == Null());
  CHECK(Run({"SET", "k", "w", "IFDNE", "zzzzzzzzzzzzzzzz"}) == Ok());
}

TEST_CASE_METHOD(CommandTest, "a condition of SET can be combined with GET and an expiry") {
  Run({"SET", "k", "v"});
  CHECK(Run({"SET", "k", "w", "IFEQ", "x", "GET", "EX", "10"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
  CHECK(Run({"SET", "k", "w", "EX", "10", "GET", "IFEQ", "v"}) == Bulk("v"));
  CHECK(Run({"TTL", "k"}) == Integer(10));
  CHECK(Run({"SET", "k", "x", "IFNE", "v", "KEEPTTL"}) == Ok());
  CHECK(Run({"TTL", "k"}) == Integer(10));
  CHECK(Run({"SET", "absent", "v", "IFEQ", "x", "GET"}) == Null());
  CHECK(Run({"SET", "absent", "v", "IFNE", "x", "GET"}) == Null());
  CHECK(Run({"GET", "absent"}) == Bulk("v"));
  CHECK(Run({"SET", "k", "v", "IFEQ", "no", "EX", "0"}) == Error("ERR invalid expire time in 'set' command"));
}

TEST_CASE_METHOD(CommandTest, "conditions of SET exclude each other") {
  const auto options = GENERATE(values<std::vector<std::string>>({
      {"IFEQ"},
      {"IFDNE"},
      {"IFEQ", "v", "NX"},
      {"XX", "IFEQ", "v"},
      {"IFEQ", "v", "IFNE", "v"},
      {"IFEQ", "v", "IFEQ", "v"},
      {"IFDEQ", kHelloDigest, "IFEQ", "v"},
  }));
  Run({"SET", "k", "v"});
  std::vector<std::string> request{"SET", "k", "w"};
  request.insert(request.end(), options.begin(), options.end());
  CHECK(Run(request) == Error(kSyntax));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest, "DELEX deletes on one of four conditions, or without any") {
  const auto set = [&] { Run({"SET", "k", "Hello world"}); };
  set();
  CHECK(Run({"DELEX", "k"}) == Integer(1));
  CHECK(Run({"DELEX", "k"}) == Integer(0));
  for (const auto& [condition, holds, fails] :
       {std::array{"IFEQ", "Hello world", "Hello"}, std::array{"ifne", "Hello", "Hello world"},
        std::array{"IFDEQ", kHelloDigestUpper, kOtherDigest},
        std::array{"IfDnE", kOtherDigest, kHelloDigest}}) {
    set();
    CHECK(Run({"DELEX", "k", condition, fails}) == Integer(0));
    CHECK(Run({"EXISTS", "k"}) == Integer(1));
    CHECK(Run({"DELEX", "k", condition, holds}) == Integer(1));
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
    CHECK(Run({"DELEX", "k", condition, holds}) == Integer(0));
  }
  Run({"SET", "n", "-999"});
  CHECK(Run({"DELEX", "n", "IFEQ", "-999"}) == Integer(1));
  CHECK(TakeChanges().back() == "del n");
}

TEST_CASE_METHOD(CommandTest, "DELEX refuses other conditions if the key exists") {
  Run({"SET", "k", "v"});
  for (const char* word : {"INVALID", "IF", "EQ", "", "NX"}) {
    CHECK(Run({"DELEX", "k", word, "v"}) == Error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"));
    CHECK(Run({"DELEX", "absent", word, "v"}) == Integer(0));
  }
  for (const char* key : {"k", "absent"}) {
    CHECK(Run({"DELEX", key, "IFEQ"}) == Error("ERR wrong number of arguments for 'delex' command"));
    CHECK(Run({"DELEX", key, "IFEQ", "v", "x"}) ==
          Error("ERR wrong number of arguments for 'delex' command"));
  }
  CHECK(Run({"DELEX"}) == Error("ERR wrong number of arguments for 'delex' command"));
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "DELIFEQ deletes a key that has this value") {
  Run({"MSET", "k", "v", "n", "12", "big", std::string(40'000, 'b')});
  CHECK(Run({"DELIFEQ", "k", "w"}) == Integer(0));
  CHECK(Run({"DELIFEQ", "k", "v"}) == Integer(1));
  CHECK(Run({"DELIFEQ", "k", "v"}) == Integer(0));
  CHECK(Run({"DELIFEQ", "n", "12"}) == Integer(1));
  CHECK(Run({"DELIFEQ", "big", std::string(40'000, 'b')}) == Integer(1));
  CHECK(Run({"DBSIZE"}) == Integer(0));
  Run({"SET", "k", "v", "PX", "5"});
  LetTimePass(5);
  CHECK(Run({"DELIFEQ", "k", "v"}) == Integer(0));
  CHECK(Run({"DELIFEQ", "k"}) == Error("ERR wrong number of arguments for 'delifeq' command"));
}

}  // namespace mayfly::testing
