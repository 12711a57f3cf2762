// Scripts that let a shell complete the command line of mayfly: `mayfly --completion bash` (or zsh, or fish).
//
// They are made from the table of options: each option is a flag, and a flag whose value is one of a few words (yes and
// no, a policy ...) is followed by these. The first word is completed to a file's name, the conf file.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mayfly::config {

// Nothing if there is none for this shell.
std::optional<std::string> CompletionFor(std::string_view shell);

}  // namespace mayfly::config
