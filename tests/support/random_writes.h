// Random writes of all types, by a few clients' habits: single requests, pipelines, transactions and scripts.
//
// A request is drawn from patterns, in which some words stand for others:
//
//   %s %l %h %u %z %x %p   a key: of a text, list, hash, set, sorted set, stream, HyperLogLog      %k   of any of them
//   %m  a member   %v  a value, sometimes long   %n  a small number   %i  an index   %f  a fraction
//   t%n is a stream that only takes tasks: none waits there for the end of a key of another type.
//   %t  some ms    %d  a Unix time in ms         %b  a database       %c  a consumer %e  an entry's id
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "support/words.h"

namespace mayfly::testing {

class RandomWrites {
 public:
  struct Taste {
    bool member_deadlines = true;  // which older servers do not know
    bool fractions = true;         // as scores; each server's digest has digits of its own for them
  };

  explicit RandomWrites(unsigned seed) : random_(seed) {}
  RandomWrites(unsigned seed, const Taste& taste) : random_(seed), taste_(taste) {}

  // The bytes of one or more requests. `now_ms`: Unix time.
  std::string Next(int64_t now_ms);
  size_t Draw(size_t below) { return random_() % below; }

  // A request each, by which every value becomes large soon.
  static std::vector<Words> SmallLimits();

 private:
  // The pattern is not to this taste.
  bool Leaves(std::string_view pattern) const noexcept;
  Words Request(int64_t now_ms);
  std::string Word(const std::string& pattern, int64_t now_ms);
  std::string Key(char type) { return type + std::to_string(Draw(kKeys)); }
  std::string Script(int64_t now_ms);

  static constexpr size_t kKeys = 5;

  std::mt19937 random_;
  Taste taste_;
};

}  // namespace mayfly::testing
