#include "base/memory/huge_units.h"

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/memory/huge_pages.h"
#include "support/catch.h"

namespace mayfly {
namespace {

constexpr size_t kPageOfUnit = HugeUnits::kPageBytes;
constexpr size_t kBytesOfUnit = HugeUnits::kUnitBytes;

// Tells what was asked of it: "huge 3", "drop 3:10+2" (unit, first page, number of pages), "break 3:10+2".
class ToldKernel final : public PageKernel {
 public:
  bool MakeHuge(uintptr_t unit, size_t bytes) noexcept override {
    CHECK(bytes == kBytesOfUnit);
    told.push_back("huge " + std::to_string((unit - begin) / kBytesOfUnit));
    return has_huge;
  }
  void Drop(uintptr_t at, size_t bytes) noexcept override {
    std::memset(reinterpret_cast<void*>(at), 0, bytes);
    told.push_back("drop " + Range(at, bytes));
  }
  void Break(uintptr_t at, size_t bytes) noexcept override { told.push_back("break " + Range(at, bytes)); }

  uintptr_t begin = 0;
  bool has_huge = true;
  std::vector<std::string> told;

 private:
  std::string Range(uintptr_t at, size_t bytes) const {
    const size_t offset = at - begin;
    return std::to_string(offset / kBytesOfUnit) + ':' + std::to_string(offset % kBytesOfUnit / kPageOfUnit) +
           '+' + std::to_string(bytes / kPageOfUnit);
  }
};

struct HugeUnitsTest {
  static constexpr size_t kUnits = 64;
  static constexpr size_t kBusy =
      HugeUnits::kFromBytes / kBytesOfUnit;  // units in use from which units are huge
  using Told = std::vector<std::string>;

  HugeUnitsTest() {
    REQUIRE(posix_memalign(&region, kBytesOfUnit, kUnits * kBytesOfUnit) == 0);
    kernel.begin = reinterpret_cast<uintptr_t>(region);
    units.emplace(kernel, kernel.begin, states.data());
  }
  ~HugeUnitsTest() { std::free(region); }
  HugeUnitsTest(const HugeUnitsTest&) = delete;
  HugeUnitsTest& operator=(const HugeUnitsTest&) = delete;

  uintptr_t At(size_t unit, size_t page = 0) const {
    return kernel.begin + unit * kBytesOfUnit + page * kPageOfUnit;
  }
  void Use(size_t unit, size_t page, size_t pages) { units->Use(At(unit, page), pages * kPageOfUnit); }
  void Leave(size_t unit, size_t page, size_t pages) { units->Leave(At(unit, page), pages * kPageOfUnit); }
  // What the kernel was asked since the last call.
  Told Asked() { return std::exchange(kernel.told, {}); }
  // As much in use as it takes, in the first kBusy units.
  void Fill() {
    units->Allow(true);
    units->Use(At(0), kBusy * kBytesOfUnit);
    REQUIRE(Asked().empty());
  }

  void* region = nullptr;
  ToldKernel kernel;
  std::vector<HugeUnits::Unit> states = std::vector<HugeUnits::Unit>(kUnits);
  std::optional<HugeUnits> units;
};

}  // namespace

TEST_CASE_METHOD(HugeUnitsTest, "units are huge from 32 MB in use on, beginning with their first page") {
  Fill();
  Use(kBusy, 3, 2);
  CHECK(Asked() == Told{"huge " + std::to_string(kBusy)});
  Use(kBusy, 0, 3);
  CHECK(Asked().empty());
  CHECK(units->huge_bytes() == kBytesOfUnit);
  units->Use(At(kBusy + 1), 2 * kBytesOfUnit);
  CHECK(Asked() == Told{"huge " + std::to_string(kBusy + 1), "huge " + std::to_string(kBusy + 2)});
}

TEST_CASE_METHOD(HugeUnitsTest, "without permission no unit becomes huge, and huge ones stay") {
  Fill();
  Use(20, 0, 1);
  units->Allow(false);
  Asked();
  Use(21, 0, 1);
  CHECK(Asked().empty());
  CHECK(units->huge_bytes() == kBytesOfUnit);
}

TEST_CASE_METHOD(HugeUnitsTest,
                 "small pages go back when they are left, and the last ones with the whole unit") {
  Use(1, 0, 10);
  Leave(1, 2, 3);
  CHECK(Asked() == Told{"drop 1:2+3"});
  Leave(1, 0, 2);
  Leave(1, 5, 5);
  CHECK(Asked() == Told{"drop 1:0+2", "drop 1:0+512"});
}

TEST_CASE_METHOD(HugeUnitsTest,
                 "a huge unit keeps an eighth of its pages, and clears them before their next use") {
  Fill();
  Use(20, 0, 512);
  std::memset(reinterpret_cast<void*>(At(20)), 0xAA, kBytesOfUnit);
  Asked();
  Leave(20, 100, HugeUnits::kLeftPagesMax);
  CHECK(Asked().empty());
  CHECK(units->kept_bytes() == HugeUnits::kLeftPagesMax * kPageOfUnit);
  Use(20, 100, 1);
  CHECK(*reinterpret_cast<const char*>(At(20, 100)) == 0);
  CHECK(*reinterpret_cast<const char*>(At(20, 101) - 1) == 0);
  CHECK(*reinterpret_cast<const unsigned char*>(At(20, 99)) == 0xAA);
  CHECK(units->kept_bytes() == (HugeUnits::kLeftPagesMax - 1) * kPageOfUnit);
}

TEST_CASE_METHOD(HugeUnitsTest,
                 "a huge page with more than an eighth left is broken, and all unused pages go back") {
  Fill();
  Use(20, 0, 400);
  Leave(20, 10, 60);
  Asked();
  Leave(20, 200, 5);
  CHECK(Asked() == Told{"break 20:10+60", "drop 20:10+60", "drop 20:200+5", "drop 20:400+112"});
  CHECK(units->huge_bytes() == 0);
  CHECK(units->kept_bytes() == 0);
  Use(20, 10, 1);  // stays small
  Leave(20, 10, 1);
  CHECK(Asked() == Told{"drop 20:10+1"});
}

TEST_CASE_METHOD(HugeUnitsTest, "an empty huge unit goes back whole, and may be huge again") {
  Fill();
  Use(20, 0, 30);
  Leave(20, 0, 30);
  CHECK(Asked() == Told{"huge 20", "drop 20:0+512"});
  CHECK(units->huge_bytes() == 0);
  Use(20, 7, 1);
  CHECK(Asked() == Told{"huge 20"});
}

TEST_CASE_METHOD(HugeUnitsTest, "after a refusal of the kernel the next 32 units are not tried") {
  Fill();
  kernel.has_huge = false;
  Use(20, 0, 1);
  CHECK(Asked() == Told{"huge 20"});
  kernel.has_huge = true;
  for (size_t i = 1; i <= HugeUnits::kPauseUnits; ++i) Use(20 + i, 0, 1);
  CHECK(Asked().empty());
  Use(60, 0, 1);
  CHECK(Asked() == Told{"huge 60"});
}

TEST_CASE("huge pages are allowed if the kernel's word in brackets is always or madvise") {
  CHECK(AllowsHugePages("[always] madvise never\n"));
  CHECK(AllowsHugePages("always [madvise] never\n"));
  CHECK_FALSE(AllowsHugePages("always madvise [never]\n"));
  CHECK_FALSE(AllowsHugePages(""));
}

}  // namespace mayfly
