// Decides whether a user may make a call: the command, and each of the keys and channels. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "exec/call/command_table.h"
#include "server/acl/user.h"

namespace mayfly {

// If several selectors deny a call, Redis reports the highest reason in this order.
enum class Denial : uint8_t { kNone, kCommand, kKey, kChannel };

struct Permission {
  Denial denial = Denial::kNone;
  size_t index = 0;  // of the key or channel among the call's arguments

  bool granted() const noexcept { return denial == Denial::kNone; }
};

// Keys are tested as far as the row's key specs fit the call; the handler refuses a call that the specs do not fit. For a
// call with a wrong number of arguments only the command is tested. Allocates nothing.
Permission FindPermission(const User& user, const TableRow& row, std::span<const std::string_view> call);
// True if one selector allows the call, and access (KeyUse bits) to every key: needed by SORT for BY and GET.
bool MayUseAnyKey(const User& user, const TableRow& row, std::span<const std::string_view> call,
                  uint16_t use);

// True if one selector allows the call, and writes to `key` as well: for a key that no key spec names.
bool MayAlsoWrite(const User& user, const TableRow& row, std::span<const std::string_view> call,
                  std::string_view key);

// Computes User::quick from the user's rules. Throws std::bad_alloc.
QuickRights QuickRightsOf(const User& user, const CommandTable& commands);
// The same test with few instructions. False: unknown, FindPermission must decide.
[[gnu::always_inline]] inline bool IsQuicklyGranted(const User& user, const TableRow& row,
                                                    std::span<const std::string_view> call) noexcept {
  return user.quick().Allow(row.id, call, row.first_key);
}

}  // namespace mayfly
