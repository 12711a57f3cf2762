// The memory of entries: a jemalloc arena in which 32 bits name an object. The arena stays inside one reserved range of
// addresses, the *region*: 32 bits suffice for every address in the region.
//
//   reserved, PROT_NONE:  |= arena's extents =|.................................|   up to 64 GiB
//                         ^ base              ^ grown_to                        ^ end
//   HeapRef = (address - base) / 16. 0 is null, because the first page is never handed out.
//
// Sizes whose jemalloc classes are far apart are served from our own slabs (base/memory/slabs.h). Each slab is one
// allocation of the arena.
//
// The arena's pages may be huge pages (base/memory/huge_units.h).
//
// Invariants: every object is in the region, aligned to 16. Only an explicit tcache of this arena allocates and frees objects,
// never plain malloc or free (a thread's own tcache would mix in memory of other arenas). A full region returns nullptr, which
// becomes Redis's OOM error.
//
// Under the sanitizers a HeapRef is a pointer and memory comes from malloc, so that ASan detects every use
// after free. Loop thread only.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#ifndef MAYFLY_SANITIZE
#include <jemalloc/jemalloc.h>
#endif

#include "base/memory/slabs.h"

namespace mayfly {

#ifdef MAYFLY_SANITIZE
using HeapRefBits = uintptr_t;
#else
using HeapRefBits = uint32_t;
#endif

// The bytes taken by an object of `size` from malloc or new: four size classes in each doubling above 128 bytes (jemalloc(3),
// "Implementation notes"). Objects of the heap have classes of their own (Heap::SizeClass).
constexpr size_t MallocSizeClass(size_t size) noexcept {
  constexpr size_t kQuantum = 16;
  constexpr size_t kEvenUpTo = 8 * kQuantum;  // the classes lie a quantum apart
  if (size <= kQuantum / 2) return kQuantum / 2;
  if (size <= kEvenUpTo) return (size + kQuantum - 1) & ~(kQuantum - 1);
  const size_t step = std::bit_floor(size - 1) / 4;
  return (size + step - 1) & ~(step - 1);
}

// Refers to an object of the Heap. Zero is the null reference.
struct HeapRef {
  HeapRefBits bits = 0;
  constexpr explicit operator bool() const noexcept { return bits != 0; }
  constexpr bool operator==(const HeapRef&) const noexcept = default;
};
static_assert(std::is_trivially_copyable_v<HeapRef>);

// Resolves references to pointers. A HeapBase holds the region's base and is small enough to be copied into every container.
class HeapBase {
 public:
  constexpr HeapBase() noexcept = default;
  explicit constexpr HeapBase(uintptr_t base) noexcept : base_(base) {}

  // REQUIRES: ref is not null.
  template <typename T>
  T* Resolve(HeapRef ref) const noexcept {
    assert(ref);
    return static_cast<T*>(AddressOf(ref));
  }
#ifdef MAYFLY_SANITIZE
  // As Resolve, for an address that is only prefetched: `ref` may be null.
  void* AddressOf(HeapRef ref) const noexcept { return reinterpret_cast<void*>(ref.bits); }
  HeapRef RefOf(const void* object) const noexcept { return {reinterpret_cast<uintptr_t>(object)}; }
#else
  // As Resolve, for an address that is only prefetched: `ref` may be null.
  void* AddressOf(HeapRef ref) const noexcept {
    return reinterpret_cast<void*>(base_ + (static_cast<uintptr_t>(ref.bits) << kAlignmentShift));
  }
  // REQUIRES: `object` lies in the region.
  HeapRef RefOf(const void* object) const noexcept {
    const uintptr_t offset = reinterpret_cast<uintptr_t>(object) - base_;
    assert(offset >> kAlignmentShift <= std::numeric_limits<HeapRefBits>::max());
    return {static_cast<HeapRefBits>(offset >> kAlignmentShift)};
  }
#endif

 private:
  static constexpr unsigned kAlignmentShift = 4;
  [[maybe_unused]] uintptr_t base_ = 0;
};

// What the allocator reports about all arenas together.
struct AllocatorBytes {
  uint64_t allocated = 0;  // by the whole process; of slabs only the bytes of the objects
  uint64_t active = 0;     // in pages that hold at least one object, or belong to a slab
  uint64_t resident = 0;   // in pages that are backed by memory
  uint64_t muzzy = 0;      // in unused pages that the kernel may reclaim
};

// Whether memory may be huge pages of 2 MB.
enum class HugePages : uint8_t {
  kOff,      // not wanted
  kRefused,  // wanted, but the kernel gives none
  kOn,
};

class Heap {
 public:
  static constexpr size_t kMaxRegionBytes = size_t{64} << 30;
  static constexpr size_t kMinRegionBytes = size_t{64} << 20;

  // Reserves min(64 GiB, half of RLIMIT_AS, `region_bytes`), and halves the size while the kernel refuses. Throws
  // std::runtime_error if not even kMinRegionBytes are available.
  explicit Heap(size_t region_bytes = kMaxRegionBytes);
  ~Heap();
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  HeapBase base() const noexcept { return base_; }
  size_t region_bytes() const noexcept { return region_bytes_; }

#ifdef MAYFLY_SANITIZE
  void* Allocate(size_t size) noexcept;
  void Free(void* object, size_t size) noexcept;
  void* AllocateLines(size_t bytes) noexcept;
  void FreeLines(void* lines, size_t bytes) noexcept;
#else
  // Returns nullptr if the region is full.
  void* Allocate(size_t size) noexcept {
    return Slabs::Serves(size) ? slabs_.Allocate(size) : mallocx(size, flags_);
  }
  // REQUIRES: `size` is in the same size class as the size passed to Allocate.
  void Free(void* object, size_t size) noexcept {
    Slabs::Serves(size) ? slabs_.Free(object) : sdallocx(object, size, flags_);
  }
  // An array of cache lines, aligned to 64. Returns nullptr if the region is full. Takes MallocSizeClass(bytes).
  // REQUIRES: `bytes` is a multiple of 64.
  void* AllocateLines(size_t bytes) noexcept { return mallocx(bytes, flags_); }
  void FreeLines(void* lines, size_t bytes) noexcept { sdallocx(lines, bytes, flags_); }
#endif

  // The bytes occupied by an object of `size`. An entry can grow in place within its size class.
  static constexpr size_t SizeClass(size_t size) noexcept {
    return Slabs::Serves(size) ? Slabs::SizeClass(size) : MallocSizeClass(size);
  }

  // Bytes in use by all allocations of the loop thread, from this heap and from plain malloc. Of slabs only the objects
  // count, so every evicted key lowers the result. Costs a few loads.
#ifdef MAYFLY_SANITIZE
  uint64_t ThreadBytes() const noexcept { return used_bytes_; }
#else
  uint64_t ThreadBytes() const noexcept {
    return *thread_allocated_ - *thread_freed_ - static_cast<uint64_t>(slabs_.idle_bytes());
  }
#endif
  // Bytes that the loop thread has allocated or freed so far, through this heap or plain malloc: only rises. Objects in
  // slabs count when their slab comes or goes, because pages come and go with the slab.
#ifdef MAYFLY_SANITIZE
  uint64_t ChurnedBytes() const noexcept { return 0; }
#else
  uint64_t ChurnedBytes() const noexcept { return *thread_allocated_ + *thread_freed_; }
#endif
  // ---- against fragmentation
  //
  // Objects that stay pin the pages of freed objects. A page comes free when its last objects are moved.
  struct Fill {
    uint64_t used = 0;      // bytes of this heap's objects
    uint64_t in_pages = 0;  // bytes of the pages that hold the objects
  };
  // Takes some microseconds.
  Fill ReadFill() const noexcept;
  // Returns true if the object lies among more free room than the average object of its size: moving the object to a fuller
  // place helps to empty its page. Under the sanitizers always true.
  bool IsSparse(void* object, size_t size) const noexcept;
  // Like Allocate and Free, but past the caches: AllocateDense takes the room that jemalloc fills first, FreeDense frees at
  // once.
  void* AllocateDense(size_t size) noexcept;
  void FreeDense(void* object, size_t size) noexcept;
  // Returns the free objects in the caches to their pages.
  void FlushCaches() noexcept;

  // Gives unused pages of all arenas back to the kernel now.
  void Purge() noexcept;
  // Like Purge, without the loop thread's caches. Any thread.
  static void PurgePages() noexcept;
  // Gives pages back that have been unused for kPagesStayMs, and some younger pages. Any thread.
  static void PurgeOldPages() noexcept;
  static constexpr unsigned kPagesStayMs = 1000;
  AllocatorBytes ReadAllocator() const noexcept;

  // Lets the memory that is used from now on be huge pages, if the kernel has them for this process. Off at first.
  void UseHugePages(bool wanted) noexcept;
  HugePages huge_pages() const noexcept;
  // The bytes of the region in huge pages.
  uint64_t HugeBytes() const noexcept;
  // The allocator's report for people; a long text.
  static std::string AllocatorReport();
  // True if malloc and realloc have that many bytes for the next calls, which must not fail. The heap does not own that memory.
  static bool HasPlain(size_t bytes) noexcept;

 private:
#ifndef MAYFLY_SANITIZE
  // Bypasses the tcache: the tcache would keep returned slabs and never hand them out again.
  class ArenaSlabs final : public SlabSource {
   public:
    void set_arena(unsigned arena) noexcept { flags_ |= static_cast<int>(MALLOCX_ARENA(arena)); }
    void* GetSlab() noexcept override { return mallocx(Slabs::kSlabBytes, flags_); }
    void ReturnSlab(void* slab) noexcept override { sdallocx(slab, Slabs::kSlabBytes, flags_); }
    size_t BytesTaken() const noexcept override { return nallocx(Slabs::kSlabBytes, flags_); }
    size_t BytesUsable() const noexcept override;

   private:
    int flags_ = static_cast<int>(MALLOCX_ALIGN(Slabs::kSlabAlignment) | MALLOCX_TCACHE_NONE);
  };
#endif

  void Reserve(size_t region_bytes);
#ifndef MAYFLY_SANITIZE
  // The pages of slabs that are never touched and take no memory (Slabs::kSlabBytes).
  uint64_t UntouchedBytes() const noexcept;
  // `bytes` allocated, less those of slabs that hold no object.
  uint64_t LessIdle(uint64_t bytes) const noexcept;
#endif

  HeapBase base_;
  size_t region_bytes_ = 0;
  bool huge_pages_wanted_ = false;
  int flags_ = 0;
#ifdef MAYFLY_SANITIZE
  void* Take(size_t size_class, size_t alignment) noexcept;
  void Return(void* object, size_t size_class) noexcept;

  uint64_t used_bytes_ = 0;
#else
  struct Region;
  Region* region_ = nullptr;
  unsigned arena_ = 0;
  unsigned tcache_ = 0;
  size_t utilization_[3] =
      {};  // the address of jemalloc's control; size 0 if this jemalloc lacks the control
  size_t utilization_size_ = 0;
  uint64_t* thread_allocated_ = nullptr;
  uint64_t* thread_freed_ = nullptr;
  ArenaSlabs arena_slabs_;
  Slabs slabs_{arena_slabs_};
#endif
};

}  // namespace mayfly
