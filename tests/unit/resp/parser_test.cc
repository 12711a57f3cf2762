#include "resp/parser.h"

#include <random>
#include <string>

#include "support/catch.h"
#include "support/request_corpus.h"
#include "support/request_feed.h"

namespace mayfly {
namespace {

using resp::ArgList;
using resp::Limits;
using resp::Parser;
using resp::Request;
using resp::Status;

Received Expected(const RequestExample& example) {
  Received expected{example.requests, ""};
  if (!example.error.empty()) expected.error = "Protocol error: " + std::string(example.error);
  return expected;
}

Limits LimitsOf(const RequestExample& example) {
  Limits limits;
  limits.authenticated = example.authenticated;
  return limits;
}

std::string Numbered(std::string text, size_t number) { return text += std::to_string(number); }

std::string Multibulk(const std::vector<std::string>& words) {
  std::string text = Numbered("*", words.size());
  for (const std::string& word : words) {
    text += Numbered("\r\n$", word.size());
    text += "\r\n";
    text += word;
  }
  return text += "\r\n";
}

// Feeds `bytes` in random pieces of up to `longest` bytes.
Received FeedTorn(std::string_view bytes, const Limits& limits, size_t longest, std::mt19937& random) {
  RequestFeed feed(limits);
  while (!bytes.empty()) {
    const size_t size = std::min<size_t>(bytes.size(), 1 + random() % longest);
    feed.Receive(bytes.substr(0, size));
    bytes.remove_prefix(size);
  }
  return feed.received();
}

}  // namespace

TEST_CASE("requests and protocol errors are those of Redis for the same bytes") {
  for (const RequestExample& example : RequestCorpus()) {
    CAPTURE(example.bytes);
    const Received received = FeedWhole(example.bytes, LimitsOf(example));
    CHECK(received.requests == example.requests);
    CHECK(received.error == Expected(example).error);
  }
}

TEST_CASE("the result does not depend on how the input is split") {
  for (const RequestExample& example : RequestCorpus()) {
    const Received expected = Expected(example);
    for (size_t cut = 0; cut <= example.bytes.size(); ++cut) {
      CAPTURE(example.bytes, cut);
      RequestFeed feed(LimitsOf(example));
      feed.Receive(example.bytes.substr(0, cut));
      feed.Receive(example.bytes.substr(cut));
      REQUIRE(feed.received() == expected);
    }
    RequestFeed feed(LimitsOf(example));
    for (const char& byte : example.bytes) feed.Receive({&byte, 1});
    CAPTURE(example.bytes);
    REQUIRE(feed.received() == expected);
  }
}

TEST_CASE("an unauthenticated client's plain requests are parsed the same way") {
  Limits limits;
  limits.authenticated = false;
  CHECK(FeedWhole("*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n", limits).requests ==
        std::vector<std::vector<std::string>>{{"AUTH", "pw"}});
}

TEST_CASE("pipelined requests are parsed into one list") {
  std::string bytes;
  for (int i = 0; i < 3000; ++i) bytes += Multibulk({"SET", Numbered("key:", i), std::string(i % 300, 'v')});
  const ExactBlock block(bytes);
  std::string_view input = block.view();
  Parser parser;
  ArgList args;
  Request request{};
  for (size_t i = 0; i < 3000; ++i) {
    REQUIRE(parser.Next(input, Limits{}, args, request) == Status::kReady);
    REQUIRE(request.first_arg == 3 * i);
    REQUIRE(request.arg_count == 3);
    input.remove_prefix(request.size);
  }
  CHECK(input.empty());
  CHECK(parser.Next(input, Limits{}, args, request) == Status::kNeedMore);
  CHECK(parser.idle());
  for (size_t i = 0; i < 3000; ++i) {
    REQUIRE(args[3 * i] == "SET");
    REQUIRE(args[3 * i + 1] == Numbered("key:", i));
    REQUIRE(args[3 * i + 2].size() == i % 300);
    REQUIRE(args[3 * i].data() > block.view().data());
  }
}

TEST_CASE("neither an incomplete request nor a malformed one appends arguments") {
  Parser parser;
  ArgList args;
  args.Add("before");
  Request request{};
  CHECK(parser.Next("*2\r\n$3\r\nGET\r\n$1\r\n", Limits{}, args, request) == Status::kNeedMore);
  CHECK(args.size() == 1);
  CHECK(!parser.idle());
  CHECK(parser.Next("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", Limits{}, args, request) == Status::kReady);
  CHECK(request.first_arg == 1);
  CHECK(parser.Next("a b 'c\n", Limits{}, args, request) == Status::kError);
  CHECK(args.size() == 3);
  SECTION("the parser stays in the error state") {
    CHECK(parser.Next("PING\r\n", Limits{}, args, request) == Status::kError);
    CHECK(parser.ErrorText() == "Protocol error: unbalanced quotes in request");
  }
}

TEST_CASE("header and inline lines of up to 64 KB are accepted") {
  const Limits limits;
  struct Line {
    std::string begin;
    std::string error;
  };
  const Line lines[] = {{"*", "Protocol error: too big mbulk count string"},
                        {"*1\r\n$", "Protocol error: too big bulk count string"},
                        {"*1\r\nx", "Protocol error: too big bulk count string"},
                        {"1", "Protocol error: too big inline request"}};
  for (const Line& line : lines) {
    CAPTURE(line.begin);
    RequestFeed feed(limits);
    feed.Receive(line.begin);
    feed.Receive(std::string(limits.max_line - 1, '1'));
    CHECK(feed.received().error == "");
    feed.Receive("1");
    CHECK(feed.received().error == line.error);
    CHECK(FeedWhole(line.begin + std::string(limits.max_line, '1') + "\r\n", limits).error == line.error);
  }
  CHECK(FeedWhole(std::string(limits.max_line, 'a') + "\n", limits).requests.size() == 1);
}

TEST_CASE("a big argument goes into its own block however the input is split") {
  Limits limits;
  limits.big_bulk = 20;
  const std::string big(50, 'b');
  const std::string huge(70, 'h');
  const std::vector<std::vector<std::string>> requests = {
      {"SET", "k", big}, {"PING"}, {"MSET", "a", big, "b", "small", "c", huge, huge, big}, {"GET", "k"}};
  std::string bytes;
  for (const auto& words : requests) bytes += Multibulk(words);
  size_t adopted = 0;
  for (size_t first = 0; first <= bytes.size(); ++first) {
    for (size_t second = first; second <= bytes.size(); second += 7) {
      RequestFeed feed(limits);
      feed.Receive(std::string_view(bytes).substr(0, first));
      feed.Receive(std::string_view(bytes).substr(first, second - first));
      feed.Receive(std::string_view(bytes).substr(second));
      CAPTURE(first, second);
      REQUIRE(feed.received().error == "");
      REQUIRE(feed.received().requests == requests);
      REQUIRE(feed.parser().idle());
      REQUIRE(feed.parser().memory() == 0);
      adopted += feed.adopted();
    }
  }
  CHECK(adopted > 1000);
  RequestFeed slow(limits);
  for (const char& byte : bytes) slow.Receive({&byte, 1});
  CHECK(slow.received().requests == requests);
  CHECK(slow.adopted() == 5);
  RequestFeed refusing(limits, RequestFeed::Blocks::kRefuse);
  for (const char& byte : bytes) refusing.Receive({&byte, 1});
  CHECK(refusing.received().requests == requests);
  CHECK(refusing.adopted() == 0);
}

TEST_CASE("a block is wanted only for an incomplete long argument") {
  Limits limits;
  limits.big_bulk = 20;
  Parser parser;
  ArgList args;
  Request request{};
  const std::string head = "*2\r\n$3\r\nSET\r\n$21\r\n";
  const std::string payload(21, 'x');
  REQUIRE(parser.Next(head, limits, args, request) == Status::kNeedMore);
  CHECK(parser.WantsBlock() == 21);
  CHECK(parser.BlockRoom().empty());
  REQUIRE(parser.Next(head + payload.substr(1), limits, args, request) == Status::kNeedMore);
  CHECK(parser.WantsBlock() == 21);
  SECTION("the block takes the received payload and leaves the rest of the input") {
    CHECK(parser.StartBlock(head + payload.substr(1)) == head.size());
    CHECK(parser.WantsBlock() == 0);
    CHECK(parser.received() == 20);
    CHECK(parser.awaited() == 3);
    // 16 for the header, 21 for the payload and 2 for the line end, as the allocator rounds them.
    CHECK(parser.memory() == 48);
    REQUIRE(parser.BlockRoom().size() == 3);
    REQUIRE(parser.Next(head, limits, args, request) == Status::kNeedMore);
    std::string_view("x\r\n").copy(parser.BlockRoom().data(), 3);
    parser.BlockFilled(2);
    CHECK(parser.BlockRoom().size() == 1);
    REQUIRE(parser.Next(head, limits, args, request) == Status::kNeedMore);
    parser.BlockFilled(1);
    CHECK(parser.BlockRoom().empty());
    const std::string rest = head + "PING\r\n";
    REQUIRE(parser.Next(rest, limits, args, request) == Status::kReady);
    CHECK(request.size == head.size());
    CHECK(args[1] == payload);
    REQUIRE(args.BlockOf(1) != nullptr);
    CHECK(args.BlockOf(1)->data() == args[1].data());
    CHECK(args.BlockOf(0) == nullptr);
  }
  SECTION("no block is wanted if only the line end is missing") {
    REQUIRE(parser.Next(head + payload, limits, args, request) == Status::kNeedMore);
    CHECK(parser.WantsBlock() == 0);
  }
}

TEST_CASE("a request of a million arguments may arrive in small pieces") {
  constexpr size_t kCount = 1'000'000;
  constexpr size_t kPiece = 1000;
  std::string bytes = Numbered("*", kCount);
  bytes += "\r\n";
  for (size_t i = 0; i < kCount; ++i) bytes += "$1\r\nx\r\n";
  Parser parser;
  ArgList args;
  Request request{};
  for (size_t size = kPiece; size < bytes.size(); size += kPiece)
    REQUIRE(parser.Next(std::string_view(bytes).substr(0, size), Limits{}, args, request) ==
            Status::kNeedMore);
  CHECK(args.memory() < 100'000);
  REQUIRE(parser.Next(bytes, Limits{}, args, request) == Status::kReady);
  CHECK(request.arg_count == kCount);
  CHECK(args[kCount - 1] == "x");
  args.Clear();
  CHECK(args.memory() == 0);
}

TEST_CASE("a header that announces many arguments reserves no memory") {
  Parser parser;
  ArgList args;
  Request request{};
  CHECK(parser.Next("*2000000000\r\n$1\r\nx\r\n", Limits{}, args, request) == Status::kNeedMore);
  CHECK(args.memory() == 0);
}

TEST_CASE("random requests are parsed correctly however they are split") {
  constexpr unsigned kSeed = 20240607;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  Limits limits;
  limits.big_bulk = 100;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<std::string>> requests;
    std::string bytes;
    const size_t count = 1 + random() % 8;
    for (size_t i = 0; i < count; ++i) {
      std::vector<std::string>& words = requests.emplace_back();
      for (size_t n = 1 + random() % 12; n > 0; --n) {
        std::string& word = words.emplace_back(random() % 4 == 0 ? random() % 1500 : random() % 20, '\0');
        for (char& c : word) c = static_cast<char>(random() % 3 == 0 ? "\r\n*$1"[random() % 5] : random());
      }
      bytes += Multibulk(words);
    }
    CAPTURE(round);
    REQUIRE(FeedWhole(bytes, limits) == Received{requests, ""});
    for (const size_t longest : {1, 7, 200, 3000})
      REQUIRE(FeedTorn(bytes, limits, longest, random) == Received{requests, ""});
  }
}

TEST_CASE("an idle parser takes at most 104 bytes") { CHECK(sizeof(Parser) <= 104); }

}  // namespace mayfly
