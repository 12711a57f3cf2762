// The same requests to a real redis-server and to Mayfly: the replies must be the same, byte for byte, in
// both protocols. Where they cannot be, kLeniencies says what is compared instead, and why.
//
// MAYFLY_DIFF_COMMANDS sets how many requests are sent, MAYFLY_DIFF_SEED which.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <set>
#include <sstream>

#include "commands/differential_generator.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

constexpr uint64_t kDefaultSeed = 20261121;
constexpr uint64_t kDefaultRequests = 20'000;
constexpr size_t kBatch = 64;
constexpr int64_t kLateMs =
    20'000;  // how far apart the servers may read their clocks on a machine under load
constexpr size_t kMostShown = 10;

using Words = std::vector<std::string>;

struct Exchange {
  const Words& request;
  const Reply& redis;
  const Reply& mayfly;
};

bool Near(const Exchange& pair, int64_t tolerance) {
  if (pair.redis.kind != Reply::Kind::kInteger || pair.mayfly.kind != Reply::Kind::kInteger) return false;
  if (pair.redis.integer < 0 || pair.mayfly.integer < 0) return false;
  return std::abs(pair.redis.integer - pair.mayfly.integer) <= tolerance;
}

bool NearMilliseconds(const Exchange& pair) { return Near(pair, kLateMs); }
bool NearSeconds(const Exchange& pair) { return Near(pair, kLateMs / 1000); }
// Redis adds 500 ms before it divides, which overflows in the last half second that 64 bits can say.
bool NearSecondsOrOverflown(const Exchange& pair) {
  return NearSeconds(pair) || (pair.redis.integer < -2 && pair.mayfly.integer == INT64_MAX / 1000 + 1);
}
bool SameElements(const Exchange& pair) { return Sorted(pair.redis) == Sorted(pair.mayfly); }
bool SameKind(const Exchange& pair) { return pair.redis.kind == pair.mayfly.kind; }

std::set<std::string> TextsOf(const Reply& reply) {
  std::set<std::string> texts;
  for (const Reply& element : reply.elements) texts.insert(element.text);
  return texts;
}

bool SamePage(const Exchange& pair) {
  const auto is_page = [](const Reply& reply) {
    return reply.elements.size() == 2 && reply.elements[0].kind == Reply::Kind::kBulk &&
           reply.elements[1].kind == Reply::Kind::kArray;
  };
  if (!is_page(pair.redis) || !is_page(pair.mayfly)) return false;
  const bool whole =
      pair.request[1] == "0" && pair.redis.elements[0].text == "0" && pair.mayfly.elements[0].text == "0";
  return !whole || TextsOf(pair.redis.elements[1]) == TextsOf(pair.mayfly.elements[1]);
}

bool NearIdleTime(const Exchange& pair) {
  return pair.request.size() > 1 && (pair.request[1] == "IDLETIME") && NearSeconds(pair);
}

struct Leniency {
  std::string_view command;
  bool (*same)(const Exchange&);
  std::string_view reason;
};

constexpr Leniency kLeniencies[] = {
    {"KEYS", SameElements, "the order of keys is that of the hash"},
    {"SCAN", SamePage, "cursors and pages are each server's own; a whole iteration shows the same keys"},
    {"RANDOMKEY", SameKind, "chance"},
    {"TTL", NearSeconds, "the servers read their clocks at different moments"},
    {"PTTL", NearMilliseconds, "as TTL"},
    {"PEXPIRETIME", NearMilliseconds, "as TTL, for relative expiries"},
    {"EXPIRETIME", NearSecondsOrOverflown, "as TTL; and Redis overflows at the very end of time"},
    {"OBJECT", NearIdleTime, "IDLETIME: the servers read their clocks at different moments"},
};

std::string UpperCase(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return text;
}

bool Same(const Words& request, const std::string& redis, const std::string& mayfly) {
  if (redis == mayfly) return true;
  const std::string command = UpperCase(request[0]);
  const auto* found = std::find_if(std::begin(kLeniencies), std::end(kLeniencies),
                                   [&](const Leniency& leniency) { return leniency.command == command; });
  if (found == std::end(kLeniencies)) return false;
  const std::vector<Reply> redis_replies = TakeReplies(redis);
  const std::vector<Reply> mayfly_replies = TakeReplies(mayfly);
  return redis_replies.size() == 1 && mayfly_replies.size() == 1 &&
         found->same({request, redis_replies[0], mayfly_replies[0]});
}

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::stoull(text) : otherwise;
}

int64_t RealMs() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since_epoch).count();
}

class DifferentialTest : public CommandTest {
 public:
  DifferentialTest() : oracle_({"--proto-max-bulk-len", "1mb"}) {
    SetOption("proto-max-bulk-len", "1mb");
    FollowRealTime();
  }

  // Sends one batch to both; the number of replies that differ.
  size_t Compare(std::vector<Words> requests, int protocol) {
    protocol == 3 ? UseResp3() : UseResp2();
    std::string bytes = EncodeRequest({"HELLO", std::to_string(protocol)});
    for (const Words& request : requests) bytes += EncodeRequest(request);
    const std::vector<std::string> redis = oracle_.Ask(bytes, requests.size() + 1);
    FollowRealTime();
    size_t different = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      if (UpperCase(requests[i][0]) == "DBSIZE") TurnWheels();
      const std::string mayfly = RunRaw(EncodeRequest(requests[i]));
      if (Same(requests[i], redis[i + 1], mayfly)) continue;
      ++different;
      Show(requests[i], redis[i + 1], mayfly);
    }
    TurnWheels();
    return different;
  }

 private:
  void FollowRealTime() {
    const int64_t behind_ms = RealMs() - WallMs();
    if (behind_ms > 0) LetTimePass(static_cast<uint64_t>(behind_ms));
  }

  void Show(const Words& request, const std::string& redis, const std::string& mayfly) {
    if (++shown_ > kMostShown) return;
    std::ostringstream text;
    Reply words = Array({});
    for (const std::string& word : request) words.elements.push_back(Bulk(word));
    text << words << "\n  redis:  " << Bulk(redis) << "\n  mayfly: " << Bulk(mayfly);
    UNSCOPED_INFO(text.str());
  }

  Oracle oracle_;
  size_t shown_ = 0;
};

}  // namespace

TEST_CASE_METHOD(DifferentialTest, "Mayfly answers what Redis answers") {
  const uint64_t seed = FromEnvironment("MAYFLY_DIFF_SEED", kDefaultSeed);
  const uint64_t count = FromEnvironment("MAYFLY_DIFF_COMMANDS", kDefaultRequests);
  RequestGenerator generator(seed, RealMs() / 1000);
  size_t different = 0;
  uint64_t sent = 0;
  for (uint64_t batch = 0; sent < count; ++batch) {
    std::vector<Words> requests;
    while (requests.size() < kBatch) {
      Words request = generator.Next();
      // Redis frees an expired key when somebody asks for it: asked for all, it counts the keys that we
      // count.
      if (UpperCase(request[0]) == "DBSIZE") {
        requests.push_back(RequestGenerator::EveryKey());
        requests.back().insert(requests.back().begin(), "EXISTS");
      }
      requests.push_back(std::move(request));
    }
    sent += requests.size();
    different += Compare(std::move(requests), batch % 2 == 0 ? 2 : 3);
  }
  INFO("seed " << seed << ", " << sent << " requests");
  CHECK(different == 0);
}

}  // namespace mayfly::testing
