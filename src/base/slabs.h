// Objects of 129 to 512 bytes, in classes 16 bytes apart. malloc's classes lie 32 and 64 bytes apart there,
// and entries would lose a tenth of their memory to rounding.
//
//   slab:    | header, 64 | object | free | object | object | not had yet       | rest |
//            ^ aligned to 32 KB                             ^ fresh      less than an object
//            A free object's first 8 bytes name the next free one of the slab.
//
//   class:   current ---> one slab: every Allocate takes from it until it is full
//            bands[3] --> slab <-> slab     others with room, three quarters in use or more
//            bands[2] --> ...               half or more
//            bands[1] --> slab              a quarter or more
//            bands[0] --> slab <-> slab     less
//
// An object's slab is its address, masked. The fullest band gives the next current slab, so that sparse slabs
// are left alone and empty themselves; one that is empty goes back to the source at once. Only a current slab
// stays when it is empty, or a single key that comes and goes would move a slab each time.
// Allocate and Free are O(1): a few loads and stores, and some more when a slab fills, empties or changes its
// band.
//
// Invariants (Validate): a slab is current, in the band of its use, or full and in no list; used, free and
// fresh objects of a slab make up its capacity; idle_bytes() is what slabs take beyond their used objects.
// Objects are aligned to 16, to 64 where the class is a multiple of 64.
// Ownership: slabs belong to us from GetSlab to ReturnSlab; those that we have when we die stay with the
// source, which must outlive us. Loop thread only. Units: bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace mayfly {

// Where slabs come from.
class SlabSource {
 public:
  // Slabs::kSlabBytes, aligned to Slabs::kSlabAlignment; nullptr when there is no more.
  virtual void* GetSlab() noexcept = 0;
  virtual void ReturnSlab(void* slab) noexcept = 0;
  // What a slab takes there: kSlabBytes, and what the source rounds up. The same for each, always.
  virtual size_t BytesTaken() const noexcept = 0;

 protected:
  ~SlabSource() = default;
};

class Slabs {
 public:
  // With pages of 4 KB jemalloc takes a page more for whatever is above 14 KB: together 32 KB, so slabs lie
  // side by side. It never touches that page, nor do we. With larger pages 32 KB is its class for a slab.
  static constexpr size_t kSlabBytes = 28 * 1024;
  static constexpr size_t kSlabAlignment = 32 * 1024;
  static constexpr size_t kStep = 16;
  static constexpr size_t kAbove = 128;
  static constexpr size_t kUpTo = 512;

  explicit Slabs(SlabSource& source) noexcept : source_(source), slab_takes_(source.BytesTaken()) {}
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  static constexpr bool Serves(size_t size) noexcept { return size - (kAbove + 1) < kUpTo - kAbove; }
  // Bytes that an object of `size` takes. REQUIRES: Serves(size).
  static constexpr size_t SizeClass(size_t size) noexcept { return (size + kStep - 1) & ~(kStep - 1); }

  // nullptr when the source has no slab. REQUIRES: Serves(size).
  void* Allocate(size_t size) noexcept {
    Class& its_class = classes_[(size - (kAbove + 1)) / kStep];
    Slab* slab = its_class.current;
    if (slab == nullptr || slab->used == slab->capacity) [[unlikely]] {
      slab = NextCurrent(its_class);
      if (slab == nullptr) return nullptr;
    }
    ++slab->used;
    idle_bytes_ -= slab->object_bytes;
    if (FreeObject* object = slab->free; object != nullptr) {
      slab->free = object->next;
      return object;
    }
    char* object = slab->fresh;
    slab->fresh += slab->object_bytes;
    return object;
  }

  // REQUIRES: `object` came from Allocate and was not freed since.
  void Free(void* object) noexcept {
    Slab* slab = SlabOf(object);
    auto* freed = static_cast<FreeObject*>(object);
    freed->next = slab->free;
    slab->free = freed;
    idle_bytes_ += slab->object_bytes;
    if (--slab->used < slab->refile_below) [[unlikely]]
      Refile(*slab);
  }

  // Returns the current slabs that are empty, too.
  void Purge() noexcept;

  size_t slab_count() const noexcept { return slab_count_; }
  size_t idle_bytes() const noexcept { return idle_bytes_; }
  bool Validate() const noexcept;

 private:
  static constexpr size_t kClasses = (kUpTo - kAbove) / kStep;
  static constexpr uint32_t kBands = 4;
  static constexpr uint32_t kFull = kBands;  // in place of a band

  struct FreeObject {
    FreeObject* next;
  };
  struct alignas(64) Slab {
    FreeObject* free;
    char* fresh;
    Slab* next;  // in its band
    Slab* previous;
    uint32_t object_bytes;
    uint32_t used;
    uint32_t capacity;
    uint32_t refile_below;  // with fewer objects in use it leaves its band
    uint32_t band;          // or kFull; of a current slab it means nothing
    uint32_t class_index;
  };
  static_assert(sizeof(Slab) == 64);

  struct Class {
    Slab* current = nullptr;
    std::array<Slab*, kBands> bands{};
    size_t full = 0;  // full slabs that are not current
  };

  static Slab* SlabOf(void* object) noexcept {
    return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(object) & ~(kSlabAlignment - 1));
  }
  static uint32_t LeastOf(const Slab& slab, uint32_t band) noexcept;

  // REQUIRES: the current slab, if there is one, is full.
  Slab* NextCurrent(Class& its_class) noexcept;
  Slab* Carve(const Class& its_class) noexcept;
  // Has just lost an object: one band down, or back to the source.
  void Refile(Slab& slab) noexcept;
  void Return(Slab& slab) noexcept;
  static void Link(Class& its_class, Slab& slab) noexcept;
  static void Unlink(Class& its_class, Slab& slab) noexcept;

  static bool ValidateSlab(const Slab& slab, size_t class_index) noexcept;
  // Adds the bands' slabs to the sums.
  bool ValidateBands(const Class& its_class, size_t class_index, size_t& slabs, size_t& idle) const noexcept;

  SlabSource& source_;
  const size_t slab_takes_;
  std::array<Class, kClasses> classes_{};
  size_t slab_count_ = 0;
  size_t idle_bytes_ = 0;
};

}  // namespace mayfly
