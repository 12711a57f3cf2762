// Any bytes as a conf file: read or refused with one printable line, and never a crash. What follows a zero byte are lines for
// CONFIG SET, "name value", or REPLICAOF, "replicaof host port": whatever is accepted, CONFIG REWRITE writes so that the next start
// has it again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/numbers.h"
#include "config/sources/files.h"
#include "config/sources/options.h"

namespace {

using mayfly::config::Files;
using mayfly::config::LoadResult;
using mayfly::config::NameValue;
using mayfly::config::Options;
using mayfly::config::Problem;

const std::vector<std::string> kWords{"fuzz.conf"};

// A file system with one file.
Files FilesOf(std::string& conf) {
  Files files;
  files.read = [&conf](const std::string& path, std::string& text) -> Problem {
    if (path != "fuzz.conf") return "no such file";
    text = conf;
    return std::nullopt;
  };
  files.read_again = files.read;
  files.expand = [](const std::string&) { return std::vector<std::string>{"fuzz.conf"}; };
  files.directory = [](const std::string&, std::string& absolute) -> Problem {
    absolute = "/";
    return std::nullopt;
  };
  files.write = [&conf](const std::string&, const std::string& text) -> Problem {
    conf = text;
    return std::nullopt;
  };
  return files;
}

// REPLICAOF takes printable hosts without spaces, and all ports.
void Follow(Options& options, std::string_view words) {
  const size_t space = words.find(' ');
  const std::string_view host = words.substr(0, space);
  const auto port =
      space != std::string_view::npos ? mayfly::ParseInteger(words.substr(space + 1)) : std::nullopt;
  const bool is_host =
      !host.empty() && std::all_of(host.begin(), host.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (is_host && port && *port >= 0 && *port <= UINT16_MAX)
    options.FollowMaster({.host = std::string(host), .port = static_cast<uint16_t>(*port)});
}

void SetEach(Options& options, std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const NameValue pair{std::string(line.substr(0, space)), std::string(line.substr(space + 1))};
    if (pair.first == "replicaof") Follow(options, pair.second);
    std::vector<std::string> warnings;
    static_cast<void>(options.Set({&pair, 1}, warnings));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const size_t end = bytes.find('\0');
  std::string conf = bytes.substr(0, end);
  const auto files = FilesOf(conf);  // the options borrow it
  Options options(1 << 30, files);
  const LoadResult result = options.Load(kWords, {});
  for (const char c : result.error.value_or("")) {
    if (c < ' ' || c > '~') std::abort();
  }
  options.Match("*");
  if (result.error || end == std::string::npos) return 0;
  SetEach(options, std::string_view(bytes).substr(end + 1));
  if (options.Rewrite()) return 0;
  Options again(1 << 30, files);
  if (again.Load(kWords, {}).error || again.Match("*") != options.Match("*")) std::abort();
  return 0;
}
