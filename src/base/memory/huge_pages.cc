#include "base/memory/huge_pages.h"

#include <array>
#include <cstdio>
#include <string_view>

#include "base/memory/huge_units.h"

namespace mayfly {
namespace {

constexpr const char* kEnabled = "/sys/kernel/mm/transparent_hugepage/enabled";
constexpr const char* kSize = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";

// The beginning of a small file; empty if it cannot be read.
std::string_view ReadStart(const char* path, std::array<char, 64>& room) noexcept {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return {};
  const size_t size = std::fread(room.data(), 1, room.size(), file);
  std::fclose(file);
  return {room.data(), size};
}

}  // namespace

bool AllowsHugePages(std::string_view enabled) noexcept {
  return enabled.find("[always]") != std::string_view::npos ||
         enabled.find("[madvise]") != std::string_view::npos;
}

bool KernelHasHugePages() noexcept {
  std::array<char, 64> room{};
  if (!AllowsHugePages(ReadStart(kEnabled, room))) return false;
  std::string_view size = ReadStart(kSize, room);
  size = size.substr(0, size.find('\n'));
  static_assert(HugeUnits::kUnitBytes == 2'097'152);
  return size == "2097152";
}

}  // namespace mayfly
