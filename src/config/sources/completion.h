// Scripts that let a shell complete the command line of mayfly: `mayfly --completion bash` (or zsh, or fish).
//
// The scripts come from the table of options: each option is a flag. After a flag with a fixed set of words (yes and no, a
// policy ...) the shell offers the words. The first word is completed to a file's name, the conf file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mayfly::config {

// Returns nothing for an unknown shell.
std::optional<std::string> CompletionFor(std::string_view shell);

}  // namespace mayfly::config
