#include "base/memory/heap.h"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>

#include "base/memory/huge_pages.h"
#include "base/memory/huge_units.h"
#include "base/memory/linux_pages.h"

#include <sys/mman.h>
#include <sys/resource.h>

#ifndef MAYFLY_SANITIZE
// Read by jemalloc when the process starts; MALLOC_CONF in the environment goes before it.
//
// dirty_decay_ms (Heap::kPagesStayMs): the time for which freed pages of any arena stay with the process. A grown table
// leaves holes too small for new entries, and values of another size need pages of another arena; with jemalloc's usual ten
// seconds the old pages would still count as resident.
extern "C" {
[[gnu::used]] const char* malloc_conf = "dirty_decay_ms:1000,muzzy_decay_ms:0";
}
#endif

namespace mayfly {

#ifdef MAYFLY_SANITIZE

Heap::Heap(size_t region_bytes) : region_bytes_(region_bytes) {}
Heap::~Heap() = default;

void* Heap::Allocate(size_t size) noexcept { return Take(SizeClass(size), 16); }
void Heap::Free(void* object, size_t size) noexcept { Return(object, SizeClass(size)); }
void* Heap::AllocateLines(size_t bytes) noexcept { return Take(MallocSizeClass(bytes), 64); }
void Heap::FreeLines(void* lines, size_t bytes) noexcept { Return(lines, MallocSizeClass(bytes)); }

// As in the real arena, the whole size class belongs to the object: an entry grows in place within it.
void* Heap::Take(size_t size_class, size_t alignment) noexcept {
  if (used_bytes_ + size_class > region_bytes_) return nullptr;
  void* object = nullptr;
  if (posix_memalign(&object, alignment, size_class) != 0) return nullptr;
  used_bytes_ += size_class;
  return object;
}

void Heap::Return(void* object, size_t size_class) noexcept {
  assert(used_bytes_ >= size_class);
  used_bytes_ -= size_class;
  std::free(object);
}

Heap::Fill Heap::ReadFill() const noexcept { return {.used = used_bytes_, .in_pages = 2 * used_bytes_}; }
bool Heap::IsSparse(void*, size_t) const noexcept { return true; }
void* Heap::AllocateDense(size_t size) noexcept { return Allocate(size); }
void Heap::FreeDense(void* object, size_t size) noexcept { Free(object, size); }
void Heap::FlushCaches() noexcept {}
void Heap::Purge() noexcept {}
void Heap::PurgePages() noexcept {}
void Heap::PurgeOldPages() noexcept {}
bool Heap::HasPlain(size_t bytes) noexcept {
  void* const volatile room = std::malloc(bytes);  // volatile: no compiler may leave it out
  std::free(room);
  return room != nullptr;
}
AllocatorBytes Heap::ReadAllocator() const noexcept {
  return {.allocated = used_bytes_, .active = used_bytes_, .resident = used_bytes_};
}
std::string Heap::AllocatorReport() { return "This build has no allocator that reports."; }
void Heap::UseHugePages(bool wanted) noexcept { huge_pages_wanted_ = wanted; }
HugePages Heap::huge_pages() const noexcept {
  return huge_pages_wanted_ ? HugePages::kRefused : HugePages::kOff;
}
uint64_t Heap::HugeBytes() const noexcept { return 0; }

#else

namespace {

constexpr size_t kPage = HugeUnits::kPageBytes;
constexpr size_t kUnit = HugeUnits::kUnitBytes;

// The unit of jemalloc's counts: its own idea of a page, 64 KB in builds for kernels with such pages.
size_t AllocatorPageBytes() noexcept {
  size_t bytes = kPage;
  size_t size = sizeof bytes;
  return mallctl("arenas.page", &bytes, &size, nullptr, 0) == 0 ? bytes : kPage;
}

void* PointerTo(uintptr_t at) noexcept { return reinterpret_cast<void*>(at); }

// Addresses without memory; null if the kernel refuses.
void* ReserveAddresses(size_t bytes, int protection) noexcept {
  void* memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

// The state of the extent hooks. The object is in plain memory, outside the region, and lives until the arena's last call.
//
// To jemalloc all memory that the hooks hand out is not committed, and so is memory that went back: jemalloc calls Commit
// for exactly the pages that it is about to use.
struct Heap::Region : extent_hooks_t {
  uintptr_t begin;
  uintptr_t grown_to;
  uintptr_t accessible_to;  // grows by whole units: a huge page needs a whole unit
  uintptr_t end;
  HugeUnits::Unit* units;
  size_t units_bytes;
  LinuxPages pages;
  HugeUnits huge;

  Region(uintptr_t from, size_t bytes, void* its_units, size_t its_units_bytes) noexcept
      : extent_hooks_t{},
        begin(from),
        grown_to(from + kPage),  // reference 0 names no object
        accessible_to(from),
        end(from + bytes),
        units(static_cast<HugeUnits::Unit*>(its_units)),
        units_bytes(its_units_bytes),
        huge(pages, from, units) {
    alloc = Alloc;
    dalloc = Dalloc;
    commit = Commit;
    decommit = Decommit;
    split = Split;
    merge = Merge;
    madvise(its_units, units_bytes, MADV_NOHUGEPAGE);
  }

  static Region* Of(extent_hooks_t* hooks) noexcept { return static_cast<Region*>(hooks); }

  // From the first time on, the kernel makes no huge page by itself.
  void AllowHuge(bool allowed) noexcept {
    if (allowed) madvise(PointerTo(begin), end - begin, MADV_NOHUGEPAGE);
    huge.Allow(allowed);
  }

  static void* Alloc(extent_hooks_t* hooks, void* wanted, size_t size, size_t alignment, bool* zero,
                     bool* commit, unsigned /*arena*/) noexcept {
    Region* region = Of(hooks);
    const uintptr_t at = (region->grown_to + alignment - 1) & ~(alignment - 1);
    if (wanted != nullptr && reinterpret_cast<uintptr_t>(wanted) != at) return nullptr;
    if (at > region->end || size > region->end - at) return nullptr;
    if (!region->GrowAccess(at + size)) return nullptr;
    region->grown_to = at + size;
    *zero = true;
    if (*commit) region->huge.Use(at, size);
    return PointerTo(at);
  }
  bool GrowAccess(uintptr_t to) noexcept {
    if (to <= accessible_to) return true;
    const size_t bytes = (to - accessible_to + kUnit - 1) & ~(kUnit - 1);
    if (mprotect(PointerTo(accessible_to), bytes, PROT_READ | PROT_WRITE) != 0) return false;
    accessible_to += bytes;
    return true;
  }
  // The arena keeps its former addresses: addresses are plentiful, and unused pages are purged.
  static bool Dalloc(extent_hooks_t*, void*, size_t, bool, unsigned) noexcept { return true; }
  static bool Commit(extent_hooks_t* hooks, void* address, size_t, size_t offset, size_t length,
                     unsigned) noexcept {
    Of(hooks)->huge.Use(reinterpret_cast<uintptr_t>(address) + offset, length);
    return false;
  }
  static bool Decommit(extent_hooks_t* hooks, void* address, size_t, size_t offset, size_t length,
                       unsigned) noexcept {
    Of(hooks)->huge.Leave(reinterpret_cast<uintptr_t>(address) + offset, length);
    return false;
  }
  static bool Split(extent_hooks_t*, void*, size_t, size_t, size_t, bool, unsigned) noexcept { return false; }
  static bool Merge(extent_hooks_t*, void*, size_t, void*, size_t, bool, unsigned) noexcept { return false; }
};

namespace {

// "arena.3.purge": the name of a control of an arena, made without an allocation.
class ArenaControl {
 public:
  ArenaControl(const char* before, unsigned arena, const char* after) noexcept {
    std::snprintf(name_, sizeof name_, "%s.%u.%s", before, arena, after);
  }
  const char* name() const noexcept { return name_; }

 private:
  char name_[64];
};

template <typename T>
T ReadControl(const char* name) {
  T value{};
  size_t size = sizeof value;
  if (mallctl(name, &value, &size, nullptr, 0) != 0)
    throw std::runtime_error(std::string("jemalloc: ") + name);
  return value;
}

}  // namespace

Heap::Heap(size_t region_bytes) {
  Reserve(region_bytes);
  extent_hooks_t* hooks = region_;
  size_t size = sizeof arena_;
  if (mallctl("arenas.create", &arena_, &size, &hooks, sizeof hooks) != 0)
    throw std::runtime_error("jemalloc: arenas.create");
  // The region grows by single units: the next unit is used when the last one is full.
  size_t growth = kUnit;
  mallctl(ArenaControl("arena", arena_, "retain_grow_limit").name(), nullptr, nullptr, &growth,
          sizeof growth);
  tcache_ = ReadControl<unsigned>("tcache.create");
  flags_ = static_cast<int>(MALLOCX_ARENA(arena_) | MALLOCX_TCACHE(tcache_));
  arena_slabs_.set_arena(arena_);
  thread_allocated_ = ReadControl<uint64_t*>("thread.allocatedp");
  thread_freed_ = ReadControl<uint64_t*>("thread.deallocatedp");
  utilization_size_ = std::size(utilization_);
  if (mallctlnametomib("experimental.utilization.query", utilization_, &utilization_size_) != 0)
    utilization_size_ = 0;
}

// The destruction of an arena does not lower the thread's count of bytes, so the empty slabs go back first.
Heap::~Heap() {
  slabs_.Purge();
  mallctl("tcache.destroy", nullptr, nullptr, &tcache_, sizeof tcache_);
  mallctl(ArenaControl("arena", arena_, "destroy").name(), nullptr, nullptr, nullptr, 0);
  munmap(PointerTo(region_->begin), region_->end - region_->begin);
  munmap(region_->units, region_->units_bytes);
  delete region_;
}

void Heap::Reserve(size_t region_bytes) {
  rlimit limit{};
  size_t wanted = std::min(region_bytes, kMaxRegionBytes);
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    wanted = std::min(wanted, static_cast<size_t>(limit.rlim_cur) / 2);
  const size_t least = std::max(kUnit, std::min(region_bytes, kMinRegionBytes) & ~(kUnit - 1));
  void* memory = nullptr;
  for (wanted &= ~(kUnit - 1); memory == nullptr && wanted >= least;) {
    memory = ReserveAddresses(wanted + kUnit, PROT_NONE);
    if (memory == nullptr) wanted = (wanted / 2) & ~(kUnit - 1);
  }
  if (memory == nullptr) throw std::runtime_error("cannot reserve address space for the heap");
  const auto mapped = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t begin = (mapped + kUnit - 1) & ~(kUnit - 1);
  if (begin != mapped) munmap(PointerTo(mapped), begin - mapped);
  munmap(PointerTo(begin + wanted), mapped + kUnit - begin);
  const size_t units_bytes = wanted / kUnit * sizeof(HugeUnits::Unit);
  void* units = ReserveAddresses(units_bytes, PROT_READ | PROT_WRITE);
  if (units == nullptr) {
    munmap(PointerTo(begin), wanted);
    throw std::runtime_error("cannot reserve address space for the heap");
  }
  region_ = new Region(begin, wanted, units, units_bytes);
  base_ = HeapBase(begin);
  region_bytes_ = wanted;
}

void Heap::UseHugePages(bool wanted) noexcept {
  huge_pages_wanted_ = wanted;
  region_->AllowHuge(huge_pages() == HugePages::kOn);
}

HugePages Heap::huge_pages() const noexcept {
  if (!huge_pages_wanted_) return HugePages::kOff;
  return KernelHasHugePages() ? HugePages::kOn : HugePages::kRefused;
}

uint64_t Heap::HugeBytes() const noexcept { return region_->huge.huge_bytes(); }

// ---- against fragmentation

uint64_t Heap::UntouchedBytes() const noexcept {
  return slabs_.slab_count() * (Slabs::kSlabAlignment - slabs_.slab_bytes());
}

uint64_t Heap::LessIdle(uint64_t bytes) const noexcept {
  return static_cast<uint64_t>(std::max(static_cast<int64_t>(bytes) - slabs_.idle_bytes(), int64_t{0}));
}

// With pages of 4 KB, jemalloc's place for a slab is kSlabAlignment and begins at the slab: jemalloc adds a page to vary the
// beginnings of large allocations, but not of those that are aligned. Nothing else uses that page. Among small pages it
// took no memory while nobody touched it, but in a huge page it does.
size_t Heap::ArenaSlabs::BytesUsable() const noexcept {
  bool page_added = false;
  size_t size = sizeof page_added;
  if (mallctl("config.cache_oblivious", &page_added, &size, nullptr, 0) != 0) page_added = false;
  return std::min(BytesTaken() + (page_added ? AllocatorPageBytes() : 0), Slabs::kSlabAlignment);
}

Heap::Fill Heap::ReadFill() const noexcept {
  uint64_t epoch = 1;  // without a new epoch jemalloc repeats its last answer
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  const auto read = [this](const char* what) noexcept {
    size_t value = 0;
    size_t size = sizeof value;
    const ArenaControl control("stats.arenas", arena_, what);
    return mallctl(control.name(), &value, &size, nullptr, 0) == 0 ? uint64_t{value} : 0;
  };
  const uint64_t untouched = UntouchedBytes();
  const uint64_t pages = read("pactive") * AllocatorPageBytes();
  const uint64_t used = read("small.allocated") + read("large.allocated");
  return {.used = LessIdle(used), .in_pages = pages > untouched ? pages - untouched : 0};
}

bool Heap::IsSparse(void* object, size_t size) const noexcept {
  if (Slabs::Serves(size)) return slabs_.IsSparse(object);
  // jemalloc's answer. A region is the place of one object, an extent is a row of places of one size, and the bin is all
  // extents of this size.
  struct Utilization {
    void* next_extent;  // of the next object
    size_t free_regions;
    size_t regions;
    size_t extent_bytes;
    size_t free_regions_of_bin;
    size_t regions_of_bin;
  } found{};
  size_t answered = sizeof found;
  if (utilization_size_ == 0 || mallctlbymib(utilization_, utilization_size_, &found, &answered,
                                             static_cast<void*>(&object), sizeof object) != 0)
    return false;
  if (found.free_regions == 0 || found.regions_of_bin == 0) return false;
  const auto extent = reinterpret_cast<uintptr_t>(found.next_extent);
  if (reinterpret_cast<uintptr_t>(object) - extent < found.extent_bytes) return false;
  // The limit is somewhat above the average, or extents that are all alike would stay the same. A bin with little free room
  // is left alone.
  constexpr size_t kLeastFreePart = 16;
  constexpr size_t kAbove = 8;
  const size_t used = found.regions - found.free_regions;
  const size_t used_of_bin = found.regions_of_bin - found.free_regions_of_bin;
  if (found.free_regions_of_bin * kLeastFreePart < found.regions_of_bin) return false;
  return used * found.regions_of_bin <= (used_of_bin + used_of_bin / kAbove) * found.regions;
}

void* Heap::AllocateDense(size_t size) noexcept {
  return Slabs::Serves(size) ? slabs_.Allocate(size)
                             : mallocx(size, static_cast<int>(MALLOCX_ARENA(arena_) | MALLOCX_TCACHE_NONE));
}

void Heap::FreeDense(void* object, size_t size) noexcept {
  Slabs::Serves(size) ? slabs_.Free(object)
                      : sdallocx(object, size, static_cast<int>(MALLOCX_ARENA(arena_) | MALLOCX_TCACHE_NONE));
}

void Heap::FlushCaches() noexcept { mallctl("tcache.flush", nullptr, nullptr, &tcache_, sizeof tcache_); }

void Heap::Purge() noexcept {
  slabs_.Purge();
  mallctl("tcache.flush", nullptr, nullptr, &tcache_, sizeof tcache_);
  mallctl("thread.tcache.flush", nullptr, nullptr, nullptr, 0);
  PurgePages();
}

void Heap::PurgePages() noexcept {
  mallctl(ArenaControl("arena", MALLCTL_ARENAS_ALL, "purge").name(), nullptr, nullptr, nullptr, 0);
}

// Without the thread's cache: what free leaves there is not found by realloc, from 16 KB on.
bool Heap::HasPlain(size_t bytes) noexcept {
  void* const room = mallocx(bytes, MALLOCX_TCACHE_NONE);
  if (room == nullptr) return false;
  dallocx(room, MALLOCX_TCACHE_NONE);
  return true;
}

void Heap::PurgeOldPages() noexcept {
  mallctl(ArenaControl("arena", MALLCTL_ARENAS_ALL, "decay").name(), nullptr, nullptr, nullptr, 0);
}

AllocatorBytes Heap::ReadAllocator() const noexcept {
  uint64_t epoch = 1;  // without a new epoch jemalloc repeats its last answer
  mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch);
  const auto read = [](const char* name) noexcept {
    size_t value = 0;
    size_t size = sizeof value;
    return mallctl(name, &value, &size, nullptr, 0) == 0 ? uint64_t{value} : 0;
  };
  const ArenaControl muzzy("stats.arenas", MALLCTL_ARENAS_ALL, "pmuzzy");
  // To the allocator a slab is one object, full or empty.
  const uint64_t allocated = read("stats.allocated");
  const uint64_t active = read("stats.active");
  const uint64_t untouched = UntouchedBytes();
  return {.allocated = LessIdle(allocated),
          .active = active > untouched ? active - untouched : 0,
          .resident = read("stats.resident") + region_->huge.kept_bytes(),
          .muzzy = read(muzzy.name()) * AllocatorPageBytes()};
}

std::string Heap::AllocatorReport() {
  std::string report;
  // If memory runs out, the report ends.
  const auto append = [](void* to, const char* text) noexcept {
    try {
      static_cast<std::string*>(to)->append(text);
    } catch (const std::bad_alloc&) {
    }
  };
  malloc_stats_print(append, &report, nullptr);
  return report;
}

#endif

}  // namespace mayfly
