// What a fuzz target begins with when it is called as `fuzz_NAME --seeds=DIR`: files that it writes into DIR. scripts/suite/fuzz.py
// calls each target so whose source includes this header.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

namespace mayfly::testing {

// Appends bytes that look random; `number` decides which.
inline void PutRandomBytes(std::ofstream& seed, int number, int count) {
  uint32_t random = 2654435761u * static_cast<uint32_t>(number + 1);
  for (int i = 0; i < count; ++i) {
    random = random * 1664525u + 1013904223u;
    seed.put(static_cast<char>(random >> 24));
  }
}

// For LLVMFuzzerInitialize: if the program was called with --seeds=DIR, calls write(DIR) and ends the program.
template <class Write>
void WriteSeedsIfTold(int argc, char** argv, Write write) {
  constexpr std::string_view kFlag = "--seeds=";
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (!arg.starts_with(kFlag)) continue;
    write(std::string(arg.substr(kFlag.size())));
    std::exit(0);
  }
}

}  // namespace mayfly::testing
