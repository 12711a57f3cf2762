// What cannot be compared with the oracle, and why; and what needs a room of its own for that.
//
// Every line is checked: a row or option that the table does not have, an option that the oracle does know, a
// form that does occur after all fail the run. So a line goes when its reason goes.
#pragma once

#include <span>
#include <string_view>

#include "differential/case.h"

namespace mayfly::testing {

enum class GapKind {
  kUnknown,        // the oracle is too old to know the command, or the option
  kNotSent,        // compared in no form
  kNewer,          // compared with a redis-server of version 8 instead, whose words are ours
  kNeverAccepted,  // the oracle refuses every form, or would end by a valid one
  kNeverRefused,   // takes whatever is said
};

struct Gap {
  std::string_view row;    // "client|setinfo"
  std::string_view token;  // empty: the whole command
  GapKind kind;
  std::string_view reason;
};
std::span<const Gap> Gaps() noexcept;
// Null where there is none.
const Gap* FindGap(std::string_view row, std::string_view token) noexcept;

// Commands that end, hold up or silence clients: they get two servers of their own, and new clients each
// time.
struct RoughRow {
  std::string_view row;
  std::string_view reason;
};
std::span<const RoughRow> RoughRows() noexcept;
bool IsRough(std::string_view row) noexcept;
// False for a request that would end the oracle, and for one whose effect depends on the millisecond.
bool MaySend(const Case& drawn);

}  // namespace mayfly::testing
