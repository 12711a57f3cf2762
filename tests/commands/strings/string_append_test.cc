#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "APPEND creates, then adds, and answers with the length") {
  CHECK(Run({"APPEND", "k", "Hello"}) == Integer(5));
  CHECK(Run({"APPEND", "k", " World"}) == Integer(11));
  CHECK(Run({"GET", "k"}) == Bulk("Hello World"));
  CHECK(Run({"APPEND", "k"}) == Error("ERR wrong number of arguments for 'append' command"));
}

TEST_CASE_METHOD(CommandTest, "APPEND of nothing creates an empty key") {
  CHECK(Run({"APPEND", "k", ""}) == Integer(0));
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
  CHECK(Run({"GET", "k"}) == Bulk(""));
}

TEST_CASE_METHOD(CommandTest, "APPEND to a number adds digits") {
  Run({"SET", "n", "-12"});
  CHECK(Run({"APPEND", "n", "34"}) == Integer(5));
  CHECK(Run({"GET", "n"}) == Bulk("-1234"));
  CHECK(Run({"STRLEN", "n"}) == Integer(5));
}

TEST_CASE_METHOD(CommandTest, "APPEND keeps the expiry, but not that of a key that is gone") {
  Run({"SET", "k", "a", "PX", "50"});
  CHECK(Run({"APPEND", "k", "b"}) == Integer(2));
  CHECK(Run({"PTTL", "k"}) == Integer(50));
  LetTimePass(50);
  CHECK(Run({"APPEND", "k", "c"}) == Integer(1));
  CHECK(Run({"TTL", "k"}) == Integer(-1));
}

TEST_CASE_METHOD(CommandTest, "a value grows by APPEND from an entry of its own into a block and beyond") {
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(1000 + static_cast<size_t>(i), static_cast<char>('a' + i % 26));
    expected += piece;
    CHECK(Run({"APPEND", "k", piece}) == Integer(static_cast<int64_t>(expected.size())));
  }
  CHECK(Run({"GET", "k"}) == Bulk(expected));
  CHECK(Run({"APPEND", "k", ""}) == Integer(static_cast<int64_t>(expected.size())));
  CHECK(Run({"OBJECT", "ENCODING", "k"}) == Bulk("raw"));
}

TEST_CASE_METHOD(CommandTest, "a reply that shares a big value does not see what APPEND adds") {
  const std::string old(50'000, 'o');
  Run({"SET", "k", old});
  const std::string replies = RunRaw(EncodeRequest({"GET", "k"}) + EncodeRequest({"APPEND", "k", "x"}));
  CHECK(TakeReplies(replies) == std::vector<Reply>{Bulk(old), Integer(50'001)});
}

TEST_CASE_METHOD(CommandTest, "APPEND stops at proto-max-bulk-len") {
  SetOption("proto-max-bulk-len", "1mb");
  const std::string half(512 * 1024, 'h');
  CHECK(Run({"APPEND", "k", half}) == Integer(512 * 1024));
  CHECK(Run({"APPEND", "k", half}) == Integer(1024 * 1024));
  CHECK(Run({"APPEND", "k", "x"}) == Error("ERR string exceeds maximum allowed size (proto-max-bulk-len)"));
  CHECK(Run({"APPEND", "k", ""}) == Integer(1024 * 1024));
  CHECK(Run({"STRLEN", "k"}) == Integer(1024 * 1024));
}

}  // namespace mayfly::testing
