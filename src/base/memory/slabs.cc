#include "base/memory/slabs.h"

#include <algorithm>
#include <cassert>
#include <new>

namespace mayfly {

// The lowest number of used objects that keeps a slab in the band.
uint32_t Slabs::LeastOf(const Slab& slab, uint32_t band) noexcept {
  if (band == kFull) return slab.capacity;
  return std::max(1U, slab.capacity / kBands * band);
}

Slabs::Slab* Slabs::NextCurrent(Class& its_class) noexcept {
  assert(its_class.current == nullptr || its_class.current->used == its_class.current->capacity);
  Slab* next = nullptr;
  for (uint32_t band = kBands; band-- > 0 && next == nullptr;) next = its_class.bands[band];
  if (next != nullptr) {
    Unlink(its_class, *next);
  } else {
    next = Carve(its_class);
    if (next == nullptr) return nullptr;
  }
  if (Slab* full = its_class.current; full != nullptr) {
    full->band = kFull;
    full->refile_below = LeastOf(*full, kFull);
    ++its_class.full;
  }
  next->refile_below = 0;
  its_class.current = next;
  return next;
}

Slabs::Slab* Slabs::Carve(const Class& its_class) noexcept {
  void* memory = source_.GetSlab();
  if (memory == nullptr) return nullptr;
  const auto class_index = static_cast<uint32_t>(&its_class - classes_.data());
  const auto object_bytes = static_cast<uint32_t>(kSlabClasses.BytesOf(class_index));
  ++slab_count_;
  idle_bytes_ += slab_takes_;
  return new (memory) Slab{.free = nullptr,
                           .fresh = static_cast<char*>(memory) + sizeof(Slab),
                           .next = nullptr,
                           .previous = nullptr,
                           .object_bytes = object_bytes,
                           .used = 0,
                           .capacity = static_cast<uint32_t>(slab_bytes_ - sizeof(Slab)) / object_bytes,
                           .refile_below = 0,
                           .band = 0,
                           .class_index = class_index};
}

void Slabs::Refile(Slab& slab) noexcept {
  Class& its_class = classes_[slab.class_index];
  slab.band == kFull ? void(--its_class.full) : Unlink(its_class, slab);
  if (slab.used == 0) return Return(slab);
  --slab.band;
  slab.refile_below = LeastOf(slab, slab.band);
  Link(its_class, slab);
}

void Slabs::Return(Slab& slab) noexcept {
  --slab_count_;
  idle_bytes_ -= slab_takes_;
  source_.ReturnSlab(&slab);
}

void Slabs::Link(Class& its_class, Slab& slab) noexcept {
  Slab*& first = its_class.bands[slab.band];
  slab.previous = nullptr;
  slab.next = first;
  if (first != nullptr) first->previous = &slab;
  first = &slab;
}

void Slabs::Unlink(Class& its_class, Slab& slab) noexcept {
  (slab.previous == nullptr ? its_class.bands[slab.band] : slab.previous->next) = slab.next;
  if (slab.next != nullptr) slab.next->previous = slab.previous;
}

void Slabs::Purge() noexcept {
  for (Class& its_class : classes_) {
    if (its_class.current == nullptr || its_class.current->used != 0) continue;
    Return(*its_class.current);
    its_class.current = nullptr;
  }
}

// ---- Validate

bool Slabs::ValidateSlab(const Slab& slab, size_t class_index) const noexcept {
  const size_t bytes = kSlabClasses.BytesOf(class_index);
  if (slab.class_index != class_index || slab.object_bytes != bytes || slab.used > slab.capacity)
    return false;
  if (slab.capacity * bytes > slab_bytes_ - sizeof(Slab)) return false;
  const char* first = reinterpret_cast<const char*>(&slab + 1);
  const auto had = static_cast<size_t>(slab.fresh - first);
  if (had % bytes != 0 || had / bytes > slab.capacity) return false;
  size_t free = 0;
  for (const FreeObject* at = slab.free; at != nullptr; at = at->next, ++free) {
    const auto offset = static_cast<size_t>(reinterpret_cast<const char*>(at) - first);
    if (offset >= had || offset % bytes != 0 || free == slab.capacity) return false;
  }
  return slab.used + free == had / bytes;
}

bool Slabs::ValidateBands(const Class& its_class, size_t class_index, size_t& slabs,
                          size_t& idle) const noexcept {
  for (uint32_t band = 0; band < kBands; ++band) {
    const Slab* previous = nullptr;
    for (const Slab* at = its_class.bands[band]; at != nullptr; previous = at, at = at->next) {
      if (at->previous != previous || at->band != band || at == its_class.current) return false;
      if (at->refile_below != LeastOf(*at, band) || at->used < at->refile_below) return false;
      if (at->used >= LeastOf(*at, band + 1) || !ValidateSlab(*at, class_index)) return false;
      ++slabs;
      idle += slab_takes_ - size_t{at->used} * at->object_bytes;
    }
  }
  return true;
}

bool Slabs::Validate() const noexcept {
  size_t slabs = 0;
  size_t idle = 0;
  for (size_t i = 0; i < classes_.size(); ++i) {
    const Class& its_class = classes_[i];
    if (!ValidateBands(its_class, i, slabs, idle)) return false;
    if (const Slab* current = its_class.current; current != nullptr) {
      if (current->refile_below != 0 || !ValidateSlab(*current, i)) return false;
      ++slabs;
      idle += slab_takes_ - size_t{current->used} * current->object_bytes;
    }
    const size_t bytes = kSlabClasses.BytesOf(i);
    slabs += its_class.full;
    idle += its_class.full * (slab_takes_ - (slab_bytes_ - sizeof(Slab)) / bytes * bytes);
  }
  return slabs == slab_count_ && idle == idle_bytes_;
}

}  // namespace mayfly
