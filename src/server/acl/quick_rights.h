// The frequent part of a user's permissions, prepared for a test of a few instructions.
//
// QuickRights gives one of three answers for each command: the user may run the command with any arguments; the user may run
// the command if the call's only key begins with a certain prefix; or all rules must be read. Nearly every call of a user
// with rules gets one of the first two answers: `~app:* +@all` is a prefix. A `false` never means a refusal. The floor above
// makes the answers, because only the table of commands knows the places of keys.
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
    // Allowed if the key has the prefix for this access: none, read, write, or both.
    kByPrefix,
    kByReadPrefix,
    kByWritePrefix,
    kByBothPrefix,
  };

  // The answer for a command with this access to its only key (KeyAccess bits).
  static constexpr Answer ByPrefix(uint8_t access) noexcept {
    return static_cast<Answer>(static_cast<uint8_t>(Answer::kByPrefix) + access);
  }

  // By id.
  void SetAnswers(std::vector<Answer> answers) noexcept {
    answers_ = std::move(answers);
    tests_keys_ = std::any_of(answers_.begin(), answers_.end(),
                              [](Answer answer) { return answer >= Answer::kByPrefix; });
  }
  // Sets the prefix of allowed keys for this access, not empty; without a prefix no key is allowed quickly.
  void SetPrefix(uint8_t access, std::string prefix) { prefixes_[access] = std::move(prefix); }

  // True if the user may run some command depending on the prefix of a key.
  bool tests_keys() const noexcept { return tests_keys_; }
  // True if the user may run the command with any arguments. False: unknown, the rules must be read.
  bool Freely(uint32_t id) const noexcept { return id < answers_.size() && answers_[id] == Answer::kFreely; }

  // True: the call is allowed. False: unknown, the rules must be read. `key_index`: the index of the only key. REQUIRES:
  // SetAnswers gave an answer for the id.
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
