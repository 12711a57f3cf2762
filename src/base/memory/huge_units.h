// Decides which parts of the heap's region are huge pages. A huge page is 2 MB behind one entry of the processor's address
// cache, in place of 512.
//
//   region:  | unit 0 | unit 1 | unit 2 | ...    a unit is 2 MB, aligned to 2 MB
//   unit:    used, left, never used: the state of each of its 512 pages
//
// The allocator reports every range of pages before its use (Use) and after it (Leave), at the moment when the pages would
// go back to the kernel; the allocator keeps freed pages for Heap::kPagesStayMs before that.
//
//   - A unit becomes a huge page when its first page is used, and at no other time: nothing is copied. Units stay small
//     pages while less than kFromBytes are in use, so that a small server does not grow.
//   - The pages of small units go back to the kernel when the allocator leaves them.
//   - A huge unit keeps up to kLeftPagesMax left pages. With more, the huge page is broken: all left and never used pages go
//     back, and the unit consists of small pages until it is empty. So kept pages take at most an eighth of the memory.
//   - A unit with no page in use is given back whole.
//
// Once units may become huge, the kernel must not turn small pages into huge ones by itself: a unit with one page in use would
// take 2 MB again. The pages of the region are then closed to the kernel's own daemon, except for the moment of MakeHuge.
//
// Use returns only zeroed pages: kept pages are cleared. If the kernel has no huge page, the next kPauseUnits units are not
// tried. Any thread; calls exclude each other. Units: bytes, and pages of 4 KB.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace mayfly {

// The kernel's part. All addresses are whole pages.
class PageKernel {
 public:
  // Backs an empty unit by a huge page of zeros. Returns false if the unit has got small pages.
  virtual bool MakeHuge(uintptr_t unit, size_t bytes) noexcept = 0;
  // Gives the pages back: the next read finds zeros.
  virtual void Drop(uintptr_t at, size_t bytes) noexcept = 0;
  // Makes small pages of the huge page around `at`, so that parts of it can go back.
  virtual void Break(uintptr_t at, size_t bytes) noexcept = 0;

 protected:
  ~PageKernel() = default;
};

class HugeUnits {
 public:
  static constexpr size_t kUnitBytes = 2 << 20;
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kPages = kUnitBytes / kPageBytes;
  static constexpr size_t kFromBytes = 32 << 20;
  static constexpr size_t kLeftPagesMax = kPages / 8;
  static constexpr size_t kPauseUnits = 32;

  // What is known of one unit. All zero: nothing in use, small pages.
  struct Unit {
    std::bitset<kPages> used;
    std::bitset<kPages> left;  // of a huge unit: used before, and kept
    uint16_t used_pages;
    uint16_t left_pages;
    bool huge;
  };

  // Borrows `units`, zeroed and one for each unit of the region that begins at `begin`.
  // REQUIRES: begin is a multiple of kUnitBytes.
  HugeUnits(PageKernel& kernel, uintptr_t begin, Unit* units) noexcept;
  HugeUnits(const HugeUnits&) = delete;
  HugeUnits& operator=(const HugeUnits&) = delete;

  // Whether units may become huge from now on. Huge units stay.
  void Allow(bool allowed) noexcept { allowed_ = allowed; }

  // REQUIRES: a range of whole pages inside the region, none of them in use.
  void Use(uintptr_t at, size_t bytes) noexcept;
  // REQUIRES: a range of whole pages, all of them in use.
  void Leave(uintptr_t at, size_t bytes) noexcept;

  uint64_t huge_bytes() const noexcept { return huge_units_.load(std::memory_order_relaxed) * kUnitBytes; }
  // The left pages that huge units keep.
  uint64_t kept_bytes() const noexcept { return kept_pages_.load(std::memory_order_relaxed) * kPageBytes; }

 private:
  void UseIn(size_t index, size_t first, size_t end) noexcept;
  void LeaveIn(size_t index, size_t first, size_t end) noexcept;
  void TryHuge(Unit& unit, uintptr_t address) noexcept;
  void GiveBack(Unit& unit, uintptr_t address) noexcept;
  void BreakUp(Unit& unit, uintptr_t address) noexcept;
  void EndHuge(Unit& unit) noexcept;
  uintptr_t AddressOf(size_t index) const noexcept { return begin_ + index * kUnitBytes; }

  PageKernel& kernel_;
  const uintptr_t begin_;
  Unit* const units_;
  std::mutex mutex_;  // held for the work on one unit
  std::atomic<bool> allowed_ = false;
  size_t used_pages_ = 0;
  size_t pause_units_ = 0;
  std::atomic<uint64_t> huge_units_ = 0;
  std::atomic<uint64_t> kept_pages_ = 0;
};

}  // namespace mayfly
