// A root directory of the test's own, below which MemoryLimitFiles finds what the test writes there.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.h"

namespace mayfly::testing {

class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "mayfly-root-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
    Put("/proc/meminfo", "MemTotal:       16000 kB\nMemFree:        1 kB\n");
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void Put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + name).parent_path());
    std::ofstream(path_ + name) << text;
  }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace mayfly::testing
