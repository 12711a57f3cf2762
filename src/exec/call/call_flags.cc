#include "exec/call/call_flags.h"

namespace mayfly {

const CallFlags*& CallFlags::First() noexcept {
  static const CallFlags* first = nullptr;
  return first;
}

uint32_t CallFlags::Find(Server& server, const Command& command, std::span<const std::string_view> call) {
  for (const CallFlags* some = First(); some != nullptr; some = some->next_) {
    for (const Command& row : some->rows_) {
      if (&row == &command) return some->reader_(server, command, call);
    }
  }
  return command.flags;
}

}  // namespace mayfly
