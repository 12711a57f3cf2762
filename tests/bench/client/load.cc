#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

#include "modes.h"
#include "requests.h"
#include "socket.h"

namespace mayfly::bench {
namespace {

// Members of all keys, one request each.
void LoadMembers(const LoadOptions& options) {
  constexpr uint64_t kBatch = 200;
  const RequestForm form(options.request);
  Socket socket(options.port);
  const uint64_t all = options.keys * options.members;
  std::string out;
  for (uint64_t done = 0; done < all;) {
    out.clear();
    for (const uint64_t end = std::min(done + kBatch, all); done < end; ++done) {
      out += form.bytes();
      form.Write(options.first + done / options.members, done % options.members,
                 out.data() + out.size() - form.bytes().size());
    }
    socket.Write(out);
    socket.ReadUntil(done);
  }
  std::printf("{\"members\": %" PRIu64 "}\n", all);
}

constexpr size_t kNoiseBytes = size_t{1} << 20;

// Text that has the values of all keys in it: a value begins at its key's number, or at the beginning if all are alike.
std::string ValuesOf(const LoadOptions& options, uint64_t longest) {
  if (!options.noise) return std::string(longest, 'v');
  std::mt19937_64 random(1);
  std::string noise(kNoiseBytes + longest, '\0');
  for (char& byte : noise) byte = static_cast<char>(random());
  return noise;
}

}  // namespace

Range Range::Parse(const std::string& text) {
  size_t used = 0;
  Range range;
  try {
    range.least = range.most = std::stoull(text, &used);
    if (used < text.size() && text[used] == '-') {
      const std::string rest = text.substr(used + 1);
      range.most = std::stoull(rest, &used);
      used = rest.size() == used ? text.size() : 0;
    }
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || range.most < range.least) Die("neither A nor A-B: " + text);
  return range;
}

uint64_t Range::Pick(uint64_t number) const {
  // The finalizer of splitmix64: neighbours get values far apart.
  uint64_t z = (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return least + (z ^ (z >> 31)) % (most - least + 1);
}

void Load(const LoadOptions& options) {
  if (!options.request.empty()) return LoadMembers(options);
  constexpr uint64_t kBatch = 200;
  const Range sizes = Range::Parse(options.value_bytes);
  const Range ttls = Range::Parse(options.ttl_ms);
  const std::string values = ValuesOf(options, sizes.most);
  const std::string at = std::to_string(options.at_ms);
  Socket socket(options.port);
  uint64_t value_bytes = 0;
  std::string out;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t done = 0; done < options.keys;) {
    out.clear();
    const uint64_t end = std::min(done + kBatch, options.keys);
    for (; done < end; ++done) {
      const uint64_t number = options.first + done;
      const std::string key = KeyOf(number);
      const std::string_view bytes =
          std::string_view(values).substr(options.noise ? number % kNoiseBytes : 0, sizes.Pick(number));
      value_bytes += bytes.size();
      if (options.at_ms != 0) {
        AppendRequest(out, {"SET", key, bytes, "PXAT", at});
      } else if (ttls.most != 0) {
        AppendRequest(out, {"SET", key, bytes, "PX", std::to_string(ttls.Pick(~number))});
      } else {
        AppendRequest(out, {"SET", key, bytes});
      }
    }
    socket.Write(out);
    socket.ReadUntil(done);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("{\"keys\": %" PRIu64 ", \"key_bytes\": %" PRIu64 ", \"value_bytes\": %" PRIu64
              ", \"seconds\": %.3f}\n",
              options.keys, options.keys * kKeyBytes, value_bytes, took.count());
}

}  // namespace mayfly::bench
