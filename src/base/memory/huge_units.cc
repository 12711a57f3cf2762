#include "base/memory/huge_units.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace mayfly {
namespace {

// Calls `work` with the index of each unit of the range, and with its first page and the page after its last one.
template <typename Work>
void ForUnits(uintptr_t offset, size_t bytes, Work&& work) {
  assert(offset % HugeUnits::kPageBytes == 0 && bytes % HugeUnits::kPageBytes == 0);
  for (size_t page = offset / HugeUnits::kPageBytes, end = page + bytes / HugeUnits::kPageBytes;
       page < end;) {
    const size_t index = page / HugeUnits::kPages;
    const size_t first = page % HugeUnits::kPages;
    const size_t count = std::min(HugeUnits::kPages - first, end - page);
    work(index, first, first + count);
    page += count;
  }
}

}  // namespace

HugeUnits::HugeUnits(PageKernel& kernel, uintptr_t begin, Unit* units) noexcept
    : kernel_(kernel), begin_(begin), units_(units) {
  assert(begin % kUnitBytes == 0);
}

void HugeUnits::Use(uintptr_t at, size_t bytes) noexcept {
  ForUnits(at - begin_, bytes, [this](size_t index, size_t first, size_t end) {
    const std::scoped_lock lock(mutex_);
    UseIn(index, first, end);
  });
}

void HugeUnits::Leave(uintptr_t at, size_t bytes) noexcept {
  ForUnits(at - begin_, bytes, [this](size_t index, size_t first, size_t end) {
    const std::scoped_lock lock(mutex_);
    LeaveIn(index, first, end);
  });
}

void HugeUnits::UseIn(size_t index, size_t first, size_t end) noexcept {
  Unit& unit = units_[index];
  const uintptr_t address = AddressOf(index);
  if (unit.used_pages == 0) TryHuge(unit, address);
  for (size_t page = first; page < end; ++page) {
    assert(!unit.used.test(page));
    unit.used.set(page);
    if (!unit.left.test(page)) continue;
    unit.left.reset(page);
    --unit.left_pages;
    --kept_pages_;
    std::memset(reinterpret_cast<void*>(address + page * kPageBytes), 0, kPageBytes);
  }
  unit.used_pages = static_cast<uint16_t>(unit.used_pages + (end - first));
  used_pages_ += end - first;
}

void HugeUnits::TryHuge(Unit& unit, uintptr_t address) noexcept {
  assert(!unit.huge);
  if (!allowed_ || used_pages_ * kPageBytes < kFromBytes) return;
  if (pause_units_ != 0) {
    --pause_units_;
  } else if (kernel_.MakeHuge(address, kUnitBytes)) {
    unit.huge = true;
    ++huge_units_;
  } else {
    pause_units_ = kPauseUnits;
  }
}

void HugeUnits::LeaveIn(size_t index, size_t first, size_t end) noexcept {
  Unit& unit = units_[index];
  const uintptr_t address = AddressOf(index);
  for (size_t page = first; page < end; ++page) {
    assert(unit.used.test(page));
    unit.used.reset(page);
  }
  const size_t count = end - first;
  unit.used_pages = static_cast<uint16_t>(unit.used_pages - count);
  used_pages_ -= count;
  if (!unit.huge) {
    // An empty unit goes back whole: with the last page goes the kernel's table of small pages.
    unit.used_pages == 0 ? kernel_.Drop(address, kUnitBytes)
                         : kernel_.Drop(address + first * kPageBytes, count * kPageBytes);
    return;
  }
  for (size_t page = first; page < end; ++page) unit.left.set(page);
  unit.left_pages = static_cast<uint16_t>(unit.left_pages + count);
  kept_pages_ += count;
  if (unit.used_pages == 0)
    GiveBack(unit, address);
  else if (unit.left_pages > kLeftPagesMax)
    BreakUp(unit, address);
}

void HugeUnits::GiveBack(Unit& unit, uintptr_t address) noexcept {
  kernel_.Drop(address, kUnitBytes);
  EndHuge(unit);
}

void HugeUnits::BreakUp(Unit& unit, uintptr_t address) noexcept {
  bool whole = true;
  for (size_t page = 0; page < kPages;) {
    if (unit.used.test(page)) {
      ++page;
      continue;
    }
    const size_t first = page;
    while (page < kPages && !unit.used.test(page)) ++page;
    const uintptr_t at = address + first * kPageBytes;
    const size_t bytes = (page - first) * kPageBytes;
    if (whole) kernel_.Break(at, bytes);
    whole = false;
    kernel_.Drop(at, bytes);
  }
  EndHuge(unit);
}

void HugeUnits::EndHuge(Unit& unit) noexcept {
  kept_pages_ -= unit.left_pages;
  unit.left.reset();
  unit.left_pages = 0;
  unit.huge = false;
  --huge_units_;
}

}  // namespace mayfly
