#include "differential/server_pair.h"

#include <algorithm>
#include <stdexcept>

#include "differential/words.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kLimitOption = "proto-max-bulk-len";
constexpr std::string_view kLimit = "1mb";

// Redis counts expired keys until somebody asks for them.
bool CountsKeys(const Words& request) { return UpperCase(request[0]) == "DBSIZE"; }

}  // namespace

ServerPair::ServerPair(const std::string& program)
    : oracle_({"--" + std::string(kLimitOption), std::string(kLimit)}, program) {
  mayfly_.SetOption(kLimitOption, kLimit);
  mayfly_.SetOption("maxmemory-policy", "noeviction");  // Redis's default
  FollowRealTime();
}

void ServerPair::FollowRealTime() {
  const int64_t behind_ms = RealMs() - mayfly_.WallMs();
  if (behind_ms > 0) mayfly_.LetTimePass(static_cast<uint64_t>(behind_ms));
}

const Words ServerPair::kTimePasses{"(time passes)"};

ServerPair::Replies ServerPair::Ask(const std::vector<Words>& requests, size_t piece) {
  Replies replies;
  const std::span<const Words> all(requests);
  for (size_t from = 0; from < all.size();) {
    size_t to = from;
    while (to < all.size() && all[to] != kTimePasses) ++to;
    AskSome(all.subspan(from, to - from), piece, replies);
    if (to < all.size()) {
      LetTimePass();
      replies.redis.emplace_back("+OK\r\n");
      if (replies.mayfly.size() < replies.redis.size()) replies.mayfly.emplace_back("+OK\r\n");
    }
    from = to + 1;
  }
  mayfly_.TurnWheels();
  return replies;
}

void ServerPair::AskSome(std::span<const Words> requests, size_t piece, Replies& replies) {
  std::vector<std::string> encoded;
  std::string all;
  for (const Words& request : requests) all += encoded.emplace_back(EncodeRequest(request));
  const int64_t asked_ms = RealMs();
  for (std::string& reply : oracle_.Ask(all, requests.size())) replies.redis.push_back(std::move(reply));
  FollowRealTime();
  late_ms_ = std::max(late_ms_, mayfly_.WallMs() - asked_ms);
  for (size_t i = 0; i < requests.size();) {
    if (CountsKeys(requests[i])) mayfly_.TurnWheels();
    std::string bytes = encoded[i++];
    for (size_t n = 1; n < piece && i < requests.size() && !CountsKeys(requests[i]); ++n)
      bytes += encoded[i++];
    const std::string output = mayfly_.RunRaw(bytes);
    std::string_view rest = output;
    while (!rest.empty()) {
      const std::string_view before = rest;
      if (!TakeReply(rest)) throw std::runtime_error("a reply of Mayfly is cut off");
      replies.mayfly.emplace_back(before.substr(0, before.size() - rest.size()));
    }
  }
}

// Until the oracle says that it is later. What is due in Mayfly is not freed by that.
void ServerPair::LetTimePass() {
  const int64_t until_ms = RealMs() + kPassMs;
  const auto redis_ms = [this] {
    const Reply time = TakeReplies(AskRedis({"TIME"})).at(0);
    return std::stoll(time.elements.at(0).text) * 1000 + std::stoll(time.elements.at(1).text) / 1000;
  };
  while (redis_ms() < until_ms) {
  }
}

std::vector<std::string> ServerPair::AskRedisAlone(const std::vector<Words>& requests) {
  std::string bytes;
  for (const Words& request : requests) bytes += EncodeRequest(request);
  return OracleClient(oracle_).Ask(bytes, requests.size());
}

ServerPair::Outcomes ServerPair::AskAlone(const std::string& bytes, std::string_view last) {
  Outcomes outcomes;
  {
    OracleClient actor(oracle_);
    OracleClient other(oracle_);
    outcomes.redis.bytes = actor.AskUntil(bytes, last);
    outcomes.redis.ended = actor.ended();
    other.AskUntil("PING\r\n", "+PONG\r\n");
    outcomes.redis.other_ended = other.ended();
  }
  TestClient actor(mayfly_.server());
  TestClient other(mayfly_.server());
  const auto has_ended = [](TestClient& client) {
    return client.session().Has(Mode::kDropped) || client.session().Has(Mode::kEnding);
  };
  FollowRealTime();
  outcomes.mayfly.bytes = actor.RunRaw(bytes);
  for (int turns = 0; !has_ended(actor) && !outcomes.mayfly.bytes.ends_with(last) && turns < 3; ++turns) {
    FollowRealTime();
    mayfly_.TurnWheels();
    outcomes.mayfly.bytes += actor.RunRaw("");
  }
  outcomes.mayfly.ended = has_ended(actor);
  outcomes.mayfly.other_ended = has_ended(other);
  return outcomes;
}

void ServerPair::Reset() { Ask({{"RESET"}, {"FLUSHALL"}}, 1); }

}  // namespace mayfly::testing
