// The CommandFlags of one call. Those of a command that runs scripts depend on its arguments: as in Redis, a script
// that says in its first line what it does is taken at its word (no-writes), before it runs. Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "exec/call/command_table.h"
#include "server/server.h"

namespace mayfly {

// Says what the calls of some rows are. For rows with kSkipMonitor, which commands that make calls of their own have.
// Objects live as long as the program, which has few of them.
class CallFlags {
 public:
  // The flags of this call of this command. May throw std::bad_alloc.
  using Reader = uint32_t (*)(Server& server, const Command& command, std::span<const std::string_view> call);

  CallFlags(std::span<const Command> rows, Reader reader) noexcept
      : rows_(rows), reader_(reader), next_(First()) {
    First() = this;
  }
  CallFlags(const CallFlags&) = delete;
  CallFlags& operator=(const CallFlags&) = delete;

  static uint32_t Of(Server& server, const TableRow& row, std::span<const std::string_view> call) {
    const uint32_t flags = row.command->flags;
    return (flags & kSkipMonitor) == 0 ? flags : Find(server, *row.command, call);
  }

 private:
  static uint32_t Find(Server& server, const Command& command, std::span<const std::string_view> call);
  static const CallFlags*& First() noexcept;

  std::span<const Command> rows_;
  Reader reader_;
  const CallFlags* next_;
};

}  // namespace mayfly
