// Hash flooding: do keys that collide under well-known hashes cost more than others? Prints nanoseconds per request, and how
// many times a request on random names of the same length that is.
//
// An attacker who knows a table's hash sends names that all fall into one bucket, and every request then walks through all
// of them. Ours are hashed with a secret (base/bits/hash.h), so names that collide under another hash, or under XXH3 without the
// secret, are names like any others. Lua's tables are the exception: its hash of strings has no secret, and skips bytes of
// long ones; its row shows what that costs a script.
//
// A server without a loop, in process; rounds of both kinds take turns, and the fastest of each counts. Exits with 1 if
// anything but Lua's strings is more than kMost times as slow.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bits/hash.h"
#include "base/time/tsc.h"
#include "server/hubs/hubs.h"
#include "support/loopless_server.h"
#include "support/request_text.h"

namespace mayfly::testing {
namespace {

using Names = std::vector<std::string>;

constexpr double kMost = 1.2;
constexpr size_t kNames = 20'000;
// Of Lua's strings: their number is squared.
constexpr size_t kLuaNames = 5000;
constexpr uint64_t kRounds = 7;

// ---- names that collide

std::string Bytes(std::initializer_list<uint64_t> words) {
  std::string text;
  for (const uint64_t word : words) text.append(reinterpret_cast<const char*>(&word), sizeof word);
  return text;
}

// h = h * 33 + c: "Ez" and "FY" are the same to it, wherever they stand.
Names CollidingInDjb(size_t count) {
  Names names;
  for (size_t i = 0; i < count; ++i) {
    std::string name;
    for (size_t bit = 0; bit < 16; ++bit) name += (i >> bit & 1) != 0 ? "Ez" : "FY";
    names.push_back(name);
  }
  return names;
}

constexpr uint64_t Inverse(uint64_t odd) {
  uint64_t inverse = odd;
  for (int i = 0; i < 6; ++i) inverse *= 2 - odd * inverse;
  return inverse;
}

// std::hash of libstdc++ is MurmurHash64A with a known seed: for any first word there is a second one with which the state
// is the same again.
Names CollidingInMurmur(size_t count) {
  constexpr uint64_t kMultiplier = (uint64_t{0xc6a4a793} << 32U) + 0x5bd1e995;
  const auto mix = [](uint64_t word) {
    word *= kMultiplier;
    return (word ^ word >> 47U) * kMultiplier;
  };
  const auto unmix = [](uint64_t mixed) {
    mixed *= Inverse(kMultiplier);
    return (mixed ^ mixed >> 47U) * Inverse(kMultiplier);
  };
  constexpr uint64_t kSeed = 0xc70f6907;
  const uint64_t start = kSeed ^ 16 * kMultiplier;
  Names names;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t state = (start ^ mix(i)) * kMultiplier;
    names.push_back(Bytes({i, unmix(state ^ 42)}));
  }
  return names;
}

// The same for XXH64 without a seed.
Names CollidingInXxh64(size_t count) {
  constexpr uint64_t kOne = 0x9E3779B185EBCA87;
  constexpr uint64_t kTwo = 0xC2B2AE3D27D4EB4F;
  constexpr uint64_t kFour = 0x85EBCA77C2B2AE63;
  constexpr uint64_t kFive = 0x27D4EB2F165667C5;
  const auto mix = [](uint64_t word) { return std::rotl(word * kTwo, 31) * kOne; };
  const auto unmix = [](uint64_t mixed) { return std::rotr(mixed * Inverse(kOne), 31) * Inverse(kTwo); };
  Names names;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t state = std::rotl((kFive + 16) ^ mix(i), 27) * kOne + kFour;
    names.push_back(Bytes({i, unmix(state ^ 42)}));
  }
  return names;
}

uint64_t SipHash24(uint64_t one, uint64_t two) {  // of 16 bytes, with a key of zeros
  std::array<uint64_t, 4> v = {0x736f6d6570736575, 0x646f72616e646f6d, 0x6c7967656e657261,
                               0x7465646279746573};
  const auto round = [&v] {
    v[0] += v[1], v[1] = std::rotl(v[1], 13) ^ v[0], v[0] = std::rotl(v[0], 32);
    v[2] += v[3], v[3] = std::rotl(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = std::rotl(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = std::rotl(v[1], 17) ^ v[2], v[2] = std::rotl(v[2], 32);
  };
  for (const uint64_t word : {one, two, uint64_t{16} << 56U}) {
    v[3] ^= word;
    round(), round();
    v[0] ^= word;
  }
  v[2] ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

// For hashes that cannot be inverted: names whose hashes end alike are found by trying.
template <typename Hash>
Names FoundByTrying(size_t count, Hash&& hash) {
  constexpr uint64_t kSameBits = 0x3FF;
  Names names;
  for (uint64_t i = 0; names.size() < count; ++i) {
    if ((hash(i) & kSameBits) == 0) names.push_back(Bytes({i, ~i}));
  }
  return names;
}

Names CollidingInSipHash(size_t count) {
  return FoundByTrying(count, [](uint64_t i) { return SipHash24(i, ~i); });
}

Names CollidingInXxh3(size_t count) {
  return FoundByTrying(count, [](uint64_t i) {
    const std::string text = Bytes({i, ~i});
    return XXH3_64bits(text.data(), text.size());
  });
}

// Lua 5.1 looks at every third byte of 64, from the last one on.
Names CollidingInLua(size_t count) {
  Names names;
  for (size_t i = 0; i < count; ++i) {
    std::string name(64, 'x');
    for (size_t bit = 0; bit < 20; ++bit) name[3 * bit + 1] = (i >> bit & 1) != 0 ? '1' : '0';
    names.push_back(name);
  }
  return names;
}

uint64_t Djb(const std::string& name) {
  uint64_t hash = 5381;
  for (const char byte : name) hash = hash * 33 + static_cast<unsigned char>(byte);
  return hash;
}

// Whether all have one hash.
template <typename Hash>
bool IsOne(const Names& names, Hash&& hash) {
  return std::all_of(names.begin(), names.end(),
                     [&](const std::string& name) { return hash(name) == hash(names.front()); });
}

Names RandomLike(const Names& names) {
  std::mt19937_64 random(1);
  Names others;
  for (const std::string& name : names) {
    std::string other = name;
    for (char& byte : other) byte = static_cast<char>('0' + random() % 64);
    others.push_back(other);
  }
  return others;
}

// ---- requests

class Client {
 public:
  explicit Client(uint64_t hash_seed)
      : server_(testing::LooplessServer::kAnyCyclesPerUs, hash_seed), session_(server_.chunks) {
    server_.Connect(session_);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() {
    server_.server.hubs.client_ends.Tell(session_);
    server_.sessions.Remove(session_);
  }

  // Cycles that it takes to run them.
  uint64_t Run(const std::string& requests) {
    server_.executor.RefreshNow();
    Feed feed{.session = &session_, .input = requests};
    const uint64_t began = ReadCycles();
    server_.executor.Run({&feed, 1});
    const uint64_t took = ReadCycles() - began;
    std::array<OutputPiece, 16> pieces;
    while (!session_.output.empty()) {
      size_t size = 0;
      for (size_t count = session_.output.Gather(pieces); count != 0; --count) size += pieces[count - 1].size;
      session_.output.Consume(size);
    }
    return took;
  }

 private:
  LooplessServer server_;
  Session session_;
};

struct Way {
  std::string_view name;
  // Appends the requests for one name; `first` of all goes before.
  std::function<void(std::string&, const std::string&)> each;
};

const std::vector<Way>& Ways() {
  static const std::vector<Way> kWays = {
      {"SET", [](std::string& out, const std::string& name) { AppendRequest(out, {"SET", name, "v"}); }},
      {"GET", [](std::string& out, const std::string& name) { AppendRequest(out, {"GET", name}); }},
      {"HSET",
       [](std::string& out, const std::string& name) { AppendRequest(out, {"HSET", "hash", name, "v"}); }},
      {"HGET", [](std::string& out, const std::string& name) { AppendRequest(out, {"HGET", "hash", name}); }},
      {"SADD", [](std::string& out, const std::string& name) { AppendRequest(out, {"SADD", "set", name}); }},
      {"SISMEMBER",
       [](std::string& out, const std::string& name) { AppendRequest(out, {"SISMEMBER", "set", name}); }},
      {"ZADD",
       [](std::string& out, const std::string& name) { AppendRequest(out, {"ZADD", "zset", "1", name}); }},
      {"WATCH", [](std::string& out, const std::string& name) { AppendRequest(out, {"WATCH", name}); }},
      {"SUBSCRIBE",
       [](std::string& out, const std::string& name) { AppendRequest(out, {"SUBSCRIBE", name}); }}};
  return kWays;
}

// Nanoseconds per request of each way, the fastest round.
using Times = std::map<std::string_view, double>;

void MeasureRound(uint64_t seed, const Names& names, Times& times) {
  Client client(seed);
  const double cycles_per_ns = CycleRate::Measure().cycles_per_us() / 1000;
  for (const Way& way : Ways()) {
    std::string requests;
    for (const std::string& name : names) way.each(requests, name);
    const double ns =
        static_cast<double>(client.Run(requests)) / cycles_per_ns / static_cast<double>(names.size());
    const auto [at, is_new] = times.emplace(way.name, ns);
    if (!is_new) at->second = std::min(at->second, ns);
  }
}

// All names as the arguments of a script, which makes strings of Lua of them.
void MeasureLua(uint64_t seed, const Names& names, Times& times) {
  Client client(seed);
  std::vector<std::string_view> words = {"EVAL", "return #ARGV", "0"};
  words.insert(words.end(), names.begin(), names.end());
  std::string request;
  AppendRequest(request, words);
  const double cycles_per_ns = CycleRate::Measure().cycles_per_us() / 1000;
  const double ns =
      static_cast<double>(client.Run(request)) / cycles_per_ns / static_cast<double>(names.size());
  const auto [at, is_new] = times.emplace("EVAL, per string", ns);
  if (!is_new) at->second = std::min(at->second, ns);
}

// The worst ratio. Each round has another secret: with a single one, chance makes some tables slower by a quarter.
double Compare(std::string_view hash, const Names& colliding,
               void (*measure)(uint64_t, const Names&, Times&)) {
  const Names random = RandomLike(colliding);
  Times usual;
  Times flooded;
  for (uint64_t round = 0; round < kRounds; ++round) {
    measure(round, random, usual);
    measure(round, colliding, flooded);
  }
  double worst = 0;
  for (const auto& [name, ns] : flooded) {
    const double ratio = ns / usual[name];
    worst = std::max(worst, ratio);
    std::printf("%-10.*s %-17.*s %9.0f %9.0f %6.2f\n", static_cast<int>(hash.size()), hash.data(),
                static_cast<int>(name.size()), name.data(), usual[name], ns, ratio);
    std::fflush(stdout);
  }
  return worst;
}

}  // namespace
}  // namespace mayfly::testing

int main() {
  using namespace mayfly::testing;
  if (!IsOne(CollidingInMurmur(100),
             [](const std::string& name) { return std::hash<std::string>()(name); }) ||
      !IsOne(CollidingInXxh64(100),
             [](const std::string& name) { return XXH64(name.data(), name.size(), 0); }) ||
      !IsOne(CollidingInDjb(100), Djb)) {
    std::printf("the names do not collide\n");
    return 1;
  }
  std::printf("collide in request              random   flooded  times\n");
  double worst = 0;
  worst = std::max(worst, Compare("djb2", CollidingInDjb(kNames), MeasureRound));
  worst = std::max(worst, Compare("std::hash", CollidingInMurmur(kNames), MeasureRound));
  worst = std::max(worst, Compare("XXH64", CollidingInXxh64(kNames), MeasureRound));
  worst = std::max(worst, Compare("XXH3", CollidingInXxh3(kNames), MeasureRound));
  worst = std::max(worst, Compare("SipHash", CollidingInSipHash(kNames), MeasureRound));
  Compare("Lua 5.1", CollidingInLua(kLuaNames), MeasureLua);
  if (worst <= kMost) return 0;
  std::printf("a flood is %.2f times as slow\n", worst);
  return 1;
}
