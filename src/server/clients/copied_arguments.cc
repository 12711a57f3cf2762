#include "server/clients/copied_arguments.h"

#include "base/memory/heap.h"

namespace mayfly {

CopiedArguments::CopiedArguments(std::span<const std::string_view> arguments) : count_(arguments.size()) {
  for (const std::string_view argument : arguments) text_bytes_ += argument.size();
  block_ = std::make_unique_for_overwrite<char[]>(block_bytes());
  char* text = block_.get() + count_ * sizeof(std::string_view);
  char* view = block_.get();
  for (const std::string_view argument : arguments) {
    argument.copy(text, argument.size());
    new (view) std::string_view(text, argument.size());
    text += argument.size();
    view += sizeof(std::string_view);
  }
}

uint64_t CopiedArguments::memory() const noexcept {
  return block_ == nullptr ? 0 : MallocSizeClass(block_bytes());
}

}  // namespace mayfly
