// The CommandFlags of one call. The flags of a command that runs scripts depend on the arguments: as in Redis, the flags in
// a script's first line (no-writes) count before the script runs. Loop thread only.
#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "exec/call/command_table.h"
#include "server/server.h"

namespace mayfly {

// Computes the flags of calls of some rows. Used for rows with kSkipMonitor, the flag of all commands with inner calls.
// Objects live as long as the program, and are few.
class CallFlags {
 public:
  // Returns the flags of this call of this command. May throw std::bad_alloc.
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
  // As Of, but without the memory to read a script's first line it returns the command's own flags: the script itself will be
  // refused for that.
  static uint32_t IfReadable(Server& server, const TableRow& row,
                             std::span<const std::string_view> call) noexcept {
    try {
      return Of(server, row, call);
    } catch (const std::bad_alloc&) {
      return row.command->flags;
    }
  }

 private:
  static uint32_t Find(Server& server, const Command& command, std::span<const std::string_view> call);
  static const CallFlags*& First() noexcept;

  std::span<const Command> rows_;
  Reader reader_;
  const CallFlags* next_;
};

}  // namespace mayfly
