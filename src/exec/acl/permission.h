// Decides whether a user may make a call: the command, and each of the keys and channels. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "exec/call/command_table.h"
#include "server/acl/user.h"

namespace mayfly {

// In the order in which Redis chooses one to tell of, if several selectors deny a call: the highest.
enum class Denial : uint8_t { kNone, kCommand, kKey, kChannel };

struct Permission {
  Denial denial = Denial::kNone;
  size_t index = 0;  // of the key or channel among the call's arguments

  bool granted() const noexcept { return denial == Denial::kNone; }
};

// Keys are looked at as far as the row's key specs fit the call; a handler refuses one that they do not fit. Of a
// call with a wrong number of arguments only the command is looked at. Allocates nothing.
Permission FindPermission(const User& user, const TableRow& row, std::span<const std::string_view> call);
// Whether one selector allows the call, and such access (KeyUse bits) to every key: what SORT needs for BY and
// GET.
bool MayUseAnyKey(const User& user, const TableRow& row, std::span<const std::string_view> call,
                  uint16_t use);

// What User::quick should be for its rules. Throws std::bad_alloc.
QuickRights QuickRightsOf(const User& user, const CommandTable& commands);
// The same question, where it needs few instructions to be answered. False: FindPermission has to say it.
[[gnu::always_inline]] inline bool IsQuicklyGranted(const User& user, const TableRow& row,
                                                    std::span<const std::string_view> call) noexcept {
  return user.quick().Allow(row.id, call, row.first_key);
}

}  // namespace mayfly
