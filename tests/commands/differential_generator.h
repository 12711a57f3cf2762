// Draws requests that are likely to meet: few keys, options in every combination, numbers at the edges.
//
// The same seed gives the same requests, except that absolute times are drawn around `now`. Relative times
// are drawn from a wide range, far from each other: two servers do not read their clocks in the same
// millisecond, and a comparison of deadlines must not hang on that.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace mayfly::testing {

class RequestGenerator {
 public:
  RequestGenerator(uint64_t seed, int64_t now_s) : random_(seed), now_s_(now_s) {}

  using Words = std::vector<std::string>;

  Words Next();
  // All keys that are ever drawn.
  static const Words& EveryKey();

 private:
  struct Recipe;
  static const Recipe kRecipes[];

  size_t Below(size_t limit) { return std::uniform_int_distribution<size_t>(0, limit - 1)(random_); }
  bool OneIn(size_t n) { return Below(n) == 0; }
  std::string Pick(const Words& words) { return words[Below(words.size())]; }

  std::string Key() { return Pick(EveryKey()); }
  std::string Value();
  std::string Amount();
  std::string TimeFor(const std::string& word);
  std::string Pattern();
  Words Keys(size_t most);

  void AddExpireOption(Words& request);
  Words SetLike();
  Words GetEx();
  Words Expire();
  Words Scan();
  void Spoil(Words& request);
  void MixCase(std::string& word);

  std::mt19937_64 random_;
  int64_t now_s_;
};

}  // namespace mayfly::testing
