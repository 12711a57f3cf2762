// Slabs: the heap's objects of 129 to 2,512 bytes, in close size classes (SlabClasses). jemalloc's classes are an eighth to a
// quarter apart there, and entries would lose a tenth of their memory to rounding.
//
//   slab:    | header, 64 | object | free | object | object | never used yet    | rest |
//            ^ aligned to 32 KB                             ^ fresh      less than an object
//            A free object's first 8 bytes point to the next free object of the slab.
//
//   class:   current ---> one slab: Allocate takes objects from it until it is full
//            bands[3] --> slab <-> slab     other slabs with room, at least three quarters in use
//            bands[2] --> ...               at least half
//            bands[1] --> slab              at least a quarter
//            bands[0] --> slab <-> slab     less
//
// Masking an object's address gives the object's slab. The next current slab comes from the fullest band: sparse slabs are
// left alone and become empty. An empty slab returns to the source at once, except the current slab: else a single key that
// comes and goes would take and return a slab each time. Allocate and Free are O(1): a few loads and stores, and some more
// when a slab fills, empties or changes its band.
//
// Invariants (Validate): a slab is current, or in the band of its use, or full and in no list; used, free and
// fresh objects of a slab add up to its capacity; idle_bytes() is the memory of all slabs less that of used
// objects. Objects are aligned to 16.
//
// Ownership: a slab belongs to this object from GetSlab to ReturnSlab. The destructor returns no slab: all slabs stay with
// the source, which must outlive this object. Loop thread only. Units: bytes.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>

namespace mayfly {

// Size classes. A class is the largest multiple of 16 bytes of which n objects fit into a slab, for each n from 13 up: little of
// a full slab is left over. Up to 720 bytes the classes are all multiples of 16, at 1 KB they lie 32 bytes apart, and at 2 KB
// 128. Larger ones would lie as far apart as jemalloc's.
inline constexpr size_t kSlabRoom = size_t{32} * 1024 - 64;  // for objects, after the header
inline constexpr size_t kSlabStep = 16;
inline constexpr size_t kSlabAbove = 128;  // up to here jemalloc has all multiples of 16
inline constexpr size_t kSlabFewest = 13;
inline constexpr size_t kSlabUpTo = kSlabRoom / kSlabFewest / kSlabStep * kSlabStep;

// Classes are numbered from 0, by their sizes.
class SlabClasses {
 public:
  constexpr SlabClasses() noexcept {
    for (size_t step = 0; step < kSteps; ++step) {
      const size_t objects = kSlabRoom / (kSlabAbove + (step + 1) * kSlabStep);
      const size_t bytes = kSlabRoom / objects / kSlabStep * kSlabStep;
      if (count_ == 0 || bytes != bytes_of_[count_ - 1]) bytes_of_[count_++] = static_cast<uint16_t>(bytes);
      class_of_[step] = static_cast<uint8_t>(count_ - 1);
    }
  }

  constexpr size_t count() const noexcept { return count_; }
  // The bytes taken by an object of the class.
  constexpr size_t BytesOf(size_t index) const noexcept { return bytes_of_[index]; }
  // The class of objects of `size`.
  // REQUIRES: kSlabAbove < size <= kSlabUpTo.
  constexpr size_t Of(size_t size) const noexcept {
    assert(size > kSlabAbove && size <= kSlabUpTo);
    return class_of_[(size - (kSlabAbove + 1)) / kSlabStep];
  }

 private:
  static constexpr size_t kSteps = (kSlabUpTo - kSlabAbove) / kSlabStep;

  std::array<uint8_t, kSteps> class_of_{};
  std::array<uint16_t, kSteps> bytes_of_{};
  size_t count_ = 0;
};
inline constexpr SlabClasses kSlabClasses;

// The source of slabs.
class SlabSource {
 public:
  // Returns Slabs::kSlabBytes, aligned to Slabs::kSlabAlignment; nullptr if there is no memory.
  virtual void* GetSlab() noexcept = 0;
  virtual void ReturnSlab(void* slab) noexcept = 0;
  // The memory that a slab takes at the source: kSlabBytes, rounded up. Constant.
  virtual size_t BytesTaken() const noexcept = 0;
  // The bytes of a slab that may hold objects: kSlabBytes or more, and kSlabAlignment at most. Constant.
  virtual size_t BytesUsable() const noexcept = 0;

 protected:
  ~SlabSource() = default;
};

class Slabs {
 public:
  // With pages of 4 KB jemalloc adds a page to every allocation above 14 KB: together 32 KB, and slabs lie side by side. With
  // larger pages jemalloc's class for a slab is 32 KB.
  static constexpr size_t kSlabBytes = 28 * 1024;
  static constexpr size_t kSlabAlignment = 32 * 1024;

  explicit Slabs(SlabSource& source) noexcept
      : source_(source), slab_takes_(source.BytesTaken()), slab_bytes_(source.BytesUsable()) {
    assert(slab_bytes_ >= kSlabBytes && slab_bytes_ <= kSlabAlignment);
  }
  Slabs(const Slabs&) = delete;
  Slabs& operator=(const Slabs&) = delete;

  static constexpr bool Serves(size_t size) noexcept {
    return size - (kSlabAbove + 1) < kSlabUpTo - kSlabAbove;
  }
  // The bytes taken by an object of `size`. REQUIRES: Serves(size).
  static constexpr size_t SizeClass(size_t size) noexcept {
    return kSlabClasses.BytesOf(kSlabClasses.Of(size));
  }

  // Returns nullptr if the source has no slab.
  // REQUIRES: Serves(size).
  void* Allocate(size_t size) noexcept {
    Class& its_class = classes_[kSlabClasses.Of(size)];
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

  // REQUIRES: `object` came from Allocate and has not been freed since.
  void Free(void* object) noexcept {
    Slab* slab = SlabOf(object);
    assert(slab->used != 0 && object != slab->free && object < static_cast<void*>(slab->fresh));
    auto* freed = static_cast<FreeObject*>(object);
    freed->next = slab->free;
    slab->free = freed;
    idle_bytes_ += slab->object_bytes;
    if (--slab->used < slab->refile_below) [[unlikely]]
      Refile(*slab);
  }

  // Returns true if the object's slab is less than three quarters in use and not the current slab of its class: the slab's
  // objects may find room in fuller slabs.
  bool IsSparse(void* object) const noexcept {
    const Slab* slab = SlabOf(object);
    return slab->band < kBands - 1 && slab != classes_[slab->class_index].current;
  }
  // Also returns empty current slabs.
  void Purge() noexcept;

  size_t slab_count() const noexcept { return slab_count_; }
  size_t slab_bytes() const noexcept { return slab_bytes_; }
  // Negative if slabs hold more than they count for at the source.
  int64_t idle_bytes() const noexcept { return static_cast<int64_t>(idle_bytes_); }
  bool Validate() const noexcept;

 private:
  static constexpr uint32_t kBands = 4;
  static constexpr uint32_t kFull = kBands;  // instead of a band

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
    uint32_t refile_below;  // the slab leaves its band when fewer objects are in use
    uint32_t band;          // or kFull; meaningless for the current slab
    uint32_t class_index;
  };
  static_assert(sizeof(Slab) + kSlabRoom == kSlabAlignment);

  struct Class {
    Slab* current = nullptr;
    std::array<Slab*, kBands> bands{};
    size_t full = 0;  // full slabs that are not current
  };

  static Slab* SlabOf(void* object) noexcept {
    return reinterpret_cast<Slab*>(reinterpret_cast<uintptr_t>(object) & ~(kSlabAlignment - 1));
  }
  static uint32_t LeastOf(const Slab& slab, uint32_t band) noexcept;

  // Makes a slab with room, or else a new slab, current and returns it; nullptr if no memory is left.
  // REQUIRES: the class has no current slab, or a full one.
  Slab* NextCurrent(Class& its_class) noexcept;
  Slab* Carve(const Class& its_class) noexcept;
  // Handles a slab that has just lost an object: moves the slab one band down, or returns the slab to the source.
  void Refile(Slab& slab) noexcept;
  void Return(Slab& slab) noexcept;
  static void Link(Class& its_class, Slab& slab) noexcept;
  static void Unlink(Class& its_class, Slab& slab) noexcept;

  bool ValidateSlab(const Slab& slab, size_t class_index) const noexcept;
  // Adds the slabs of the bands to the sums.
  bool ValidateBands(const Class& its_class, size_t class_index, size_t& slabs, size_t& idle) const noexcept;

  SlabSource& source_;
  const size_t slab_takes_;
  const size_t slab_bytes_;
  std::array<Class, kSlabClasses.count()> classes_{};
  size_t slab_count_ = 0;
  size_t idle_bytes_ = 0;  // modulo 2^64
};

}  // namespace mayfly
