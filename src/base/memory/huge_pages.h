// Whether the kernel gives huge pages of 2 MB to a process that asks for them.
#pragma once

#include <string_view>

namespace mayfly {

// True if a file with the text of /sys/kernel/mm/transparent_hugepage/enabled allows huge pages: the word in brackets is
// in force.
bool AllowsHugePages(std::string_view enabled) noexcept;
// Reads the kernel's files. False if huge pages have another size than 2 MB.
bool KernelHasHugePages() noexcept;

}  // namespace mayfly
