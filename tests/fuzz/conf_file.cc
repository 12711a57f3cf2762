// Any bytes as a conf file: read or refused with one printable line, and never a crash.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "config/sources/files.h"
#include "config/sources/options.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  mayfly::config::Files files;
  files.read = [&](const std::string& path, std::string& text) -> mayfly::config::Problem {
    if (path != "fuzz.conf") return "no such file";
    text = bytes;
    return std::nullopt;
  };
  files.expand = [](const std::string&) { return std::vector<std::string>{"fuzz.conf"}; };
  files.directory = [](const std::string&, std::string& absolute) -> mayfly::config::Problem {
    absolute = "/";
    return std::nullopt;
  };
  mayfly::config::Options options(1 << 30, files);
  const std::vector<std::string> words{"fuzz.conf"};
  const mayfly::config::LoadResult result = options.Load(words, {});
  for (const char c : result.error.value_or("")) {
    if (c < ' ' || c > '~') std::abort();
  }
  options.Match("*");
  return 0;
}
