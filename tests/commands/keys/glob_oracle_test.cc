// Patterns as a real redis-server reads them, in KEYS and, without regard to case, in CONFIG GET.
#include <algorithm>
#include <random>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

constexpr unsigned kSeed = 20261122;
constexpr size_t kBatches = 50;
constexpr size_t kBatch = 200;

class PatternTest : public CommandTest {
 public:
  std::string Draw(std::string_view alphabet, size_t most) {
    std::string text(random_() % (most + 1), ' ');
    for (char& c : text) c = alphabet[random_() % alphabet.size()];
    return text;
  }
  // The replies of the oracle to a pipeline.
  std::vector<Reply> AskRedis(const std::vector<Words>& requests) {
    std::string bytes;
    for (const Words& request : requests) bytes += EncodeRequest(request);
    std::vector<Reply> replies;
    for (const std::string& reply : oracle_.Ask(bytes, requests.size()))
      replies.push_back(TakeReplies(reply).at(0));
    return replies;
  }

 private:
  Oracle oracle_;
  std::mt19937 random_{kSeed};
};

}  // namespace

TEST_CASE_METHOD(PatternTest, "KEYS finds what Redis finds, by any pattern") {
  CAPTURE(kSeed);
  std::vector<Words> sets{{"SET", "", "v"}};
  for (int i = 0; i < 60; ++i) sets.push_back({"SET", Draw("aAzb[]^-\\*\xff\x80", 3), "v"});
  AskRedis(sets);
  for (const Words& set : sets) Run(set);
  for (size_t batch = 0; batch < kBatches; ++batch) {
    std::vector<Words> requests;
    for (size_t i = 0; i < kBatch; ++i) requests.push_back({"KEYS", Draw("aAzb*?[[]^-\\\xff\x80", 7)});
    const std::vector<Reply> redis = AskRedis(requests);
    for (size_t i = 0; i < kBatch; ++i) {
      CAPTURE(Bulk(requests[i][1]));
      REQUIRE(Sorted(Run(requests[i])) == Sorted(redis[i]));
    }
  }
}

TEST_CASE_METHOD(PatternTest, "CONFIG GET finds what Redis finds, by any pattern") {
  CAPTURE(kSeed);
  const auto finds_hz = [](const Reply& reply) {
    return std::any_of(reply.elements.begin(), reply.elements.end(),
                       [](const Reply& name) { return name.text == "hz" || name.text == "HZ"; });
  };
  for (size_t batch = 0; batch < kBatches; ++batch) {
    std::vector<Words> requests;
    for (size_t i = 0; i < kBatch; ++i) requests.push_back({"CONFIG", "GET", Draw("hzHZa*?[]^-\\", 6)});
    const std::vector<Reply> redis = AskRedis(requests);
    for (size_t i = 0; i < kBatch; ++i) {
      CAPTURE(Bulk(requests[i][2]));
      REQUIRE(finds_hz(Run(requests[i])) == finds_hz(redis[i]));
    }
  }
}

}  // namespace mayfly::testing
