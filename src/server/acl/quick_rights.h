// The frequent part of a user's permissions, prepared for a test of a few instructions.
//
// For each command it knows one of three things: the user may run it whatever its arguments are; it may if the
// call's only key begins with a certain prefix; or all of the rules must be read. The first two are
// what nearly every call of a user with rules needs: `~app:* +@all` is a prefix. A `false` never
// means that a call is refused. The floor above fills it, since it knows where a call's keys are.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text/short_bytes.h"

namespace mayfly {

class QuickRights {
 public:
  enum class Answer : uint8_t {
    kReadRules,
    kFreely,
    // If the key has the prefix for keys that are looked at, read, written, or both.
    kByPrefix,
    kByReadPrefix,
    kByWritePrefix,
    kByBothPrefix,
  };

  // The answer for a command that accesses its only key so (KeyAccess bits).
  static constexpr Answer ByPrefix(uint8_t access) noexcept {
    return static_cast<Answer>(static_cast<uint8_t>(Answer::kByPrefix) + access);
  }

  // By id.
  void SetAnswers(std::vector<Answer> answers) noexcept {
    answers_ = std::move(answers);
    tests_keys_ = std::any_of(answers_.begin(), answers_.end(),
                              [](Answer answer) { return answer >= Answer::kByPrefix; });
  }
  // What a key must begin with, of a size other than 0, to be accessed so; without it no key is allowed quickly.
  void SetPrefix(uint8_t access, std::string prefix) { prefixes_[access] = std::move(prefix); }

  // Whether there is a command that the user may run if its key has a prefix.
  bool tests_keys() const noexcept { return tests_keys_; }
  // Whether the user may run the command whatever its arguments are. False: nobody knows yet.
  bool Freely(uint32_t id) const noexcept { return id < answers_.size() && answers_[id] == Answer::kFreely; }

  // True: the call is allowed. False: nobody knows yet. `key_index`: which argument the only key is.
  // REQUIRES: SetAnswers gave an answer for the id.
  [[gnu::always_inline]] bool Allow(uint32_t id, std::span<const std::string_view> call,
                                    size_t key_index) const noexcept {
    const Answer answer = answers_[id];
    if (answer == Answer::kFreely) return true;
    if (answer == Answer::kReadRules) return false;
    const std::string& prefix =
        prefixes_[static_cast<uint8_t>(answer) - static_cast<uint8_t>(Answer::kByPrefix)];
    if (prefix.empty() || key_index >= call.size()) return false;
    const std::string_view key = call[key_index];
    return key.size() >= prefix.size() && SameBytes({key.data(), prefix.size()}, prefix);
  }

 private:
  std::vector<Answer> answers_;
  bool tests_keys_ = false;
  std::array<std::string, 4> prefixes_;
};

}  // namespace mayfly
