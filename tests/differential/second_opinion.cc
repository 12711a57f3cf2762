#include "differential/second_opinion.h"

#include <algorithm>

#include "base/text/numbers.h"
#include "differential/words.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kProbe = "a key that is never drawn";

bool IsError(const std::string& reply) { return reply.starts_with('-'); }

// Where the AUTHs of a HELLO stand, as far as the words make sense.
std::vector<size_t> LoginsOf(const Words& hello) {
  std::vector<size_t> found;
  for (size_t i = 2; i < hello.size();) {
    const std::string word = UpperCase(hello[i]);
    if (word == "AUTH" && i + 2 < hello.size()) {
      found.push_back(i);
      i += 3;
    } else if (word == "SETNAME" && i + 1 < hello.size()) {
      i += 2;
    } else {
      break;
    }
  }
  return found;
}

// The same with the first `count` logins such that they succeed: the default user takes any password.
Words WithGoodLogins(Words hello, size_t count) {
  const std::vector<size_t> logins = LoginsOf(hello);
  for (size_t i = 0; i < std::min(count, logins.size()); ++i) hello[logins[i] + 1] = "default";
  return hello;
}

// Valkey takes several numbers after ID, 7.0 one.
Words WithOneId(Words kill) {
  for (size_t i = 2; i + 1 < kill.size(); ++i) {
    if (UpperCase(kill[i]) != "ID" || !ParseInteger(kill[i + 1])) continue;
    while (i + 2 < kill.size() && ParseInteger(kill[i + 2]).value_or(0) > 0)
      kill.erase(kill.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  }
  return kill;
}

}  // namespace

std::optional<std::string> SecondOpinion::Of(const Words& request, const std::string& redis,
                                             const std::string& mayfly, const std::string& before) {
  const std::string name = UpperCase(request[0]);
  if (name == "BITCOUNT" || name == "BITPOS") return OfBits(request, redis, mayfly, before);
  if (name == "HELLO") return OfHello(request, redis);
  if (name == "CLIENT" && IsError(redis)) return pair_.AskRedisAlone({WithOneId(request)})[0];
  return std::nullopt;
}

// Before 7.2 a missing key is looked for first, and what is wrong after it is never read. And Valkey 8.0 lets
// BITCOUNT's end be left out.
std::optional<std::string> SecondOpinion::OfBits(const Words& request, const std::string& redis,
                                                 const std::string& mayfly, const std::string& before) {
  constexpr size_t kWithoutEnd = 3;
  const bool counts = UpperCase(request[0]) == "BITCOUNT";
  const bool without_end = counts && request.size() == kWithoutEnd;
  // Nor is it after a key of another type.
  const bool type_first = redis.starts_with("-WRONGTYPE ");
  if (without_end && IsError(redis) && !type_first) return before;
  if ((IsError(redis) && !type_first) || !IsError(mayfly)) return std::nullopt;
  Words other = request;
  other[1] = kProbe;
  if (without_end) other.emplace_back("-1");
  if (counts && other.size() > kWithoutEnd) {
    // A range that runs back from the end was also answered before the unit was read.
    const std::optional<int64_t> start = ParseInteger(other[2]);
    const std::optional<int64_t> end = ParseInteger(other[3]);
    if (start && end && *start < 0 && *end < 0 && *start > *end) other[2] = other[3];
  }
  return Ask(other);
}

// 7.0 logs in at each AUTH as it reads it, 7.2 and we once, by the last, when all is read. So an error after
// a wrong password comes first, and of several passwords only the last counts.
std::optional<std::string> SecondOpinion::OfHello(const Words& request, const std::string& redis) {
  if (!redis.starts_with("-WRONGPASS ")) return std::nullopt;
  const size_t logins = LoginsOf(request).size();
  std::string all_good = Ask(WithGoodLogins(request, logins));
  if (IsError(all_good)) return all_good;
  return Ask(WithGoodLogins(request, logins - 1));
}

std::string SecondOpinion::Ask(const Words& request) {
  const std::string probe(kProbe);
  return pair_.AskRedisAlone({{"SET", probe, "x"}, request, {"DEL", probe}})[1];
}

}  // namespace mayfly::testing
