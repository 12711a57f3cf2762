// The entries of the wheel benchmark: 80 bytes each in one region, named by 32-bit handles (offset / 16). The
// wheel's fields are where a cache entry has them: unaligned, after 14 bytes of other links and flags.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <sys/mman.h>

namespace mayfly::bench {

constexpr size_t kEntryBytes = 80;
constexpr size_t kHandleBytes = 16;

// The wheel's fields of an entry: next at 14, prev at 18, a deadline of 48 bits at 22, the slot at 28.
struct EntryHooks {
  using Ref = uint32_t;
  static constexpr Ref kNull = 0;
  char* base;

  Ref Next(Ref r) const noexcept { return Load<Ref>(r, 14); }
  void SetNext(Ref r, Ref to) const noexcept { Store(r, 14, to); }
  Ref Prev(Ref r) const noexcept { return Load<Ref>(r, 18); }
  void SetPrev(Ref r, Ref to) const noexcept { Store(r, 18, to); }
  // Loads the same pieces that SetDeadline stores. A wider load could not take its value from stores that are
  // still on their way to the cache, and would have to wait for them as long as for a cache miss.
  uint64_t Deadline(Ref r) const noexcept {
    return Load<uint32_t>(r, 22) | uint64_t{Load<uint16_t>(r, 26)} << 32;
  }
  void SetDeadline(Ref r, uint64_t deadline) const noexcept {
    Store(r, 22, static_cast<uint32_t>(deadline));
    Store(r, 26, static_cast<uint16_t>(deadline >> 32));
  }
  uint16_t Slot(Ref r) const noexcept { return Load<uint16_t>(r, 28); }
  void SetSlot(Ref r, uint16_t slot) const noexcept { Store(r, 28, slot); }
  void Prefetch(Ref r) const noexcept { __builtin_prefetch(At(r) + 14); }

 private:
  char* At(Ref r) const noexcept { return base + size_t{r} * kHandleBytes; }
  template <typename T>
  T Load(Ref r, size_t offset) const noexcept {
    T value;
    std::memcpy(&value, At(r) + offset, sizeof value);
    return value;
  }
  template <typename T>
  void Store(Ref r, size_t offset, T value) const noexcept {
    std::memcpy(At(r) + offset, &value, sizeof value);
  }
};

// Owns the region.
class Entries {
 public:
  Entries(size_t count, bool huge_pages) : bytes_((count + 1) * kEntryBytes) {
    void* region = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) {
      std::perror("mmap");
      std::exit(1);
    }
    if (huge_pages) madvise(region, bytes_, MADV_HUGEPAGE);
    std::memset(region, 0xff, bytes_);  // touches every page; every slot field reads kUnfiled
    base_ = static_cast<char*>(region);
  }
  ~Entries() { munmap(base_, bytes_); }
  Entries(const Entries&) = delete;
  Entries& operator=(const Entries&) = delete;

  EntryHooks hooks() const { return {base_}; }
  static uint32_t HandleOf(size_t i) { return static_cast<uint32_t>((i + 1) * kEntryBytes / kHandleBytes); }

 private:
  size_t bytes_;
  char* base_ = nullptr;
};

}  // namespace mayfly::bench
