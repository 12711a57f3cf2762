// Options::Follow and Options::Prepare: how the parts of a server keep up with CONFIG SET.
#include <new>

#include "config/sources/candidate.h"
#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

using Lines = std::vector<std::string>;

std::string Blamed(const std::string& name, const std::string& reason) {
  return "CONFIG SET failed (possibly related to argument '" + name + "') - " + reason;
}

// What followers and candidates are asked to do, in order.
class FollowingTest {
 public:
  Candidate Noting(const std::string& name) {
    return {.prepare = [this, name](const Settings& wanted) -> Problem {
              Note("prepare " + name);
              if (wanted.timeout_seconds == kRefused) return "no";
              if (wanted.timeout_seconds == kTooMuch) throw std::bad_alloc();
              return std::nullopt;
            },
            .adopt = [this, name] { Note("adopt " + name); },
            .drop = [this, name] { Note("drop " + name); }};
  }
  Options::Follower NotingFollower(const std::string& name) {
    return [this, name](const Settings&) { Note("follow " + name); };
  }
  void Note(std::string line) { noted_.push_back(std::move(line)); }
  // What was noted since the last call.
  Lines Noted() { return std::exchange(noted_, {}); }
  std::string Set(const std::vector<NameValue>& pairs) { return loaded_.Set(pairs); }
  Options& options() { return loaded_.options; }
  const Settings& settings() { return loaded_.options.settings(); }

  static constexpr int64_t kRefused = 13;
  static constexpr int64_t kTooMuch = 14;

 private:
  TestFiles files_;
  Loaded loaded_{files_, {}};
  Lines noted_;
};

}  // namespace

TEST_CASE_METHOD(FollowingTest, "a follower is called once, however many of its options have changed") {
  options().Follow(NotingFollower("a"), &Settings::maxkeys, &Settings::hash_max_listpack_entries);
  CHECK(Set({{"maxkeys", "1"}, {"hash-max-listpack-entries", "2"}}) == "");
  CHECK(Noted() == Lines{"follow a"});
  CHECK(Set({{"maxkeys", "2"}}) == "");
  CHECK(Noted() == Lines{"follow a"});
}

TEST_CASE_METHOD(FollowingTest, "a follower sees all values of the CONFIG SET, also those of other options") {
  options().Follow(
      [this](const Settings& settings) {
        CHECK(&settings == &options().settings());
        Note(std::to_string(settings.maxkeys) + " " + std::to_string(settings.timeout_seconds));
      },
      &Settings::maxkeys);
  CHECK(Set({{"maxkeys", "1"}, {"timeout", "2"}}) == "");
  CHECK(Noted() == Lines{"1 2"});
}

TEST_CASE_METHOD(FollowingTest, "a follower is not called for a value that stays or for another option") {
  options().Follow(NotingFollower("a"), &Settings::maxkeys);
  CHECK(Set({{"maxkeys", "0"}}) == "");
  CHECK(Set({{"timeout", "5"}, {"hz", "20"}}) == "");
  options().SetMemoryBytes(1'000'000);
  CHECK(Noted().empty());
}

TEST_CASE_METHOD(FollowingTest, "followers are called in the order in which they were registered") {
  options().Follow(NotingFollower("keys"), &Settings::maxkeys);
  options().Follow(NotingFollower("port"), &Settings::port);
  options().Follow(NotingFollower("both"), &Settings::port, &Settings::maxkeys);
  CHECK(Set({{"port", "1"}, {"maxkeys", "1"}}) == "");
  CHECK(Noted() == Lines{"follow keys", "follow port", "follow both"});
}

TEST_CASE_METHOD(FollowingTest, "FollowFromNow calls its follower at once, too") {
  options().FollowFromNow(NotingFollower("a"), &Settings::maxkeys);
  CHECK(Noted() == Lines{"follow a"});
  CHECK(Set({{"maxkeys", "1"}}) == "");
  CHECK(Noted() == Lines{"follow a"});
}

TEST_CASE_METHOD(FollowingTest, "a candidate sees all values of a CONFIG SET before they are in force") {
  options().Prepare({.prepare = [this](const Settings& wanted) -> Problem {
                      CHECK(settings().maxkeys == 0);
                      if (wanted.maxkeys > wanted.maxclients) return "too many";
                      return std::nullopt;
                    }},
                    &Settings::maxkeys);
  CHECK(Set({{"maxclients", "5"}, {"MaxKeys", "6"}}) == Blamed("maxkeys", "too many"));
  CHECK(settings().maxclients == 10'000);
  CHECK(settings().maxkeys == 0);
  CHECK(Set({{"MaxKeys", "6"}, {"maxclients", "7"}}) == "");
  CHECK(settings().maxkeys == 6);
}

TEST_CASE_METHOD(FollowingTest, "a candidate is asked once, and the first of its options is blamed") {
  options().Prepare(Noting("a"), &Settings::port, &Settings::maxkeys, &Settings::timeout_seconds);
  CHECK(Set({{"protected-mode", "no"}, {"maxkeys", "1"}, {"port", "1"}}) == "");
  CHECK(Noted() == Lines{"prepare a", "adopt a"});
  CHECK(Set({{"protected-mode", "yes"}, {"MaxKeys", "2"}, {"port", "2"}, {"timeout", "13"}}) ==
        Blamed("maxkeys", "no"));
  CHECK(Noted() == Lines{"prepare a", "drop a"});
}

TEST_CASE_METHOD(FollowingTest,
                 "a candidate is asked about an option that is named, also if its value stays") {
  options().Prepare(Noting("a"), &Settings::port);
  options().Follow(NotingFollower("a"), &Settings::port);
  CHECK(Set({{"port", "6379"}}) == "");
  CHECK(Noted() == Lines{"prepare a", "adopt a"});
  CHECK(Set({{"maxkeys", "1"}}) == "");
  CHECK(Noted().empty());
}

TEST_CASE_METHOD(FollowingTest, "a candidate is not asked about a CONFIG SET with a faulty value") {
  options().Prepare(Noting("a"), &Settings::port);
  CHECK(Set({{"port", "7000"}, {"timeout", "x"}}) != "");
  CHECK(Set({{"port", "65536"}}) != "");
  CHECK(Set({{"port", "7000"}, {"no-such-option", "1"}}) != "");
  CHECK(Noted().empty());
}

TEST_CASE_METHOD(FollowingTest, "candidates are adopted after the values are in force and before followers") {
  options().Follow(NotingFollower("keys"), &Settings::maxkeys);
  options().Prepare(Noting("port"), &Settings::port);
  options().Prepare({.prepare = [](const Settings&) -> Problem { return std::nullopt; },
                     .adopt = [this] { Note("adopt at maxkeys " + std::to_string(settings().maxkeys)); }},
                    &Settings::maxkeys);
  CHECK(Set({{"maxkeys", "3"}, {"port", "1"}}) == "");
  CHECK(Noted() == Lines{"prepare port", "adopt port", "adopt at maxkeys 3", "follow keys"});
}

TEST_CASE_METHOD(FollowingTest, "if a candidate refuses, it and those asked before are dropped") {
  options().Prepare(Noting("keys"), &Settings::maxkeys);
  options().Prepare({.prepare = [](const Settings&) -> Problem { return std::nullopt; }},
                    &Settings::timeout_seconds);
  options().Prepare(Noting("time"), &Settings::timeout_seconds);
  options().Prepare(Noting("port"), &Settings::port);
  options().Follow(NotingFollower("keys"), &Settings::maxkeys);
  CHECK(Set({{"timeout", "13"}, {"maxkeys", "1"}, {"port", "1"}}) == Blamed("timeout", "no"));
  CHECK(Noted() == Lines{"prepare time", "drop time"});
  CHECK(Set({{"port", "1"}, {"maxkeys", "1"}, {"timeout", "9"}}) == "");
  CHECK(Noted() == Lines{"prepare port", "prepare keys", "prepare time", "adopt keys", "adopt time",
                         "adopt port", "follow keys"});
}

TEST_CASE_METHOD(FollowingTest, "if a candidate finds no memory, all that were asked are dropped") {
  options().Prepare({.prepare = [](const Settings&) -> Problem { return std::nullopt; },
                     .drop = [this] { Note("drop keys"); }},
                    &Settings::maxkeys);
  options().Prepare(Noting("time"), &Settings::timeout_seconds);
  CHECK_THROWS_AS(Set({{"maxkeys", "1"}, {"timeout", "14"}}), std::bad_alloc);
  CHECK(Noted() == Lines{"prepare time", "drop keys", "drop time"});
  CHECK(settings().maxkeys == 0);
}

TEST_CASE_METHOD(FollowingTest, "a kept value is handed over once, and only if the CONFIG SET succeeds") {
  const auto make = [](const Settings& wanted) -> std::optional<std::string> {
    if (wanted.maxkeys == 0) return std::nullopt;
    return std::to_string(wanted.maxkeys);
  };
  options().Prepare(Keeping(make, [this](std::string&& made) { Note(std::move(made)); }), &Settings::maxkeys);
  options().Prepare(Noting("time"), &Settings::timeout_seconds);
  CHECK(Set({{"maxkeys", "1"}}) == "");
  CHECK(Noted() == Lines{"1"});
  CHECK(Set({{"maxkeys", "2"}, {"timeout", "13"}}) == Blamed("timeout", "no"));
  CHECK(Noted() == Lines{"prepare time", "drop time"});
  CHECK(Set({{"maxkeys", "0"}}) == "");
  CHECK(Noted().empty());
}

}  // namespace mayfly::config
