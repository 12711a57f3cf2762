#include "cache/keyspace/entry_memory.h"

#include <cassert>
#include <memory>
#include <new>
#include <utility>

#include "base/memory/heap.h"
#include "base/memory/shared_bytes.h"
#include "cache/entry/rich_value.h"

namespace mayfly {

Entry* EntryMemory::New(const Key& key, const Entry::Shape& shape, Expiry expiry) {
  EntryExtra* const extra = shape.extra.any() ? EntryExtra::New(shape.extra) : nullptr;
  void* memory = parts_.heap.Allocate(shape.Total());
  if (memory == nullptr) {
    EntryExtra::Delete(extra);
    throw std::bad_alloc();
  }
  Entry* entry = Entry::Format(memory, shape, key.text);
  entry->set_owner(id_);
  if (extra != nullptr) entry->set_extra(extra);
  if (shape.expires) {
    if (expiry.kind == Expiry::Kind::kWall) entry->Set(EntryFlag::kWallDeadline);
    entry->set_deadline_ms(expiry.deadline_ms);
    entry->set_filed(wheel::kUnfiled);
  } else if (shape.timed) {
    entry->clear_wake();
    entry->set_filed(wheel::kUnfiled);
  }
  return entry;
}

void EntryMemory::Delete(Entry& entry) noexcept {
  if (entry.Has(EntryFlag::kExtra)) {
    if (entry.tags() != 0) tags_.Unlink(entry);
    EntryExtra::Delete(entry.extra());
  }
  parts_.heap.Free(&entry, entry.allocated_bytes());
}

void EntryMemory::DeleteStale(Entry& entry) noexcept {
  assert(entry.encoding() != Encoding::kRich);
  if (entry.encoding() == Encoding::kBlock) static_cast<void>(SharedBytes::Adopt(entry.pointer()));
  Delete(entry);
}

// ---- the value

void EntryMemory::DropOutside(Entry& entry) noexcept {
  if (BigKeys::Passes(OutsideBytes(entry), 0) && in_use_) ForgetSize(parts_.hasher(entry.key()));
  if (entry.encoding() == Encoding::kBlock)
    static_cast<void>(SharedBytes::Adopt(entry.pointer()));
  else
    parts_.buried.Bury(std::unique_ptr<RichValue>(entry.rich()));
}

[[gnu::noinline]] uint64_t EntryMemory::Exchange(Entry& entry, Encoding encoding, size_t bytes) noexcept {
  const uint64_t before = Rounded(entry.encoding(), OutsideBytes(entry));
  DropValue(entry);
  NoteSize(entry, 0, bytes);
  return Rounded(encoding, bytes) - before;
}

char* EntryMemory::OwnBlock(Entry& entry, size_t size, uint64_t* grown) {
  SharedBytes block = SharedBytes::Adopt(entry.pointer());
  const size_t old = block.size();
  try {
    block.Detach(size);
  } catch (...) {
    static_cast<void>(block.Release());  // the entry still owns its reference
    throw;
  }
  *grown += Rounded(Encoding::kBlock, block.size()) - Rounded(Encoding::kBlock, old);
  NoteSize(entry, old, block.size());
  char* const bytes = block.data();
  StringValue::Block(std::move(block)).StoreTo(entry.stored_data());
  return bytes;
}

[[gnu::noinline]] void EntryMemory::TellSize(const Entry& entry, uint64_t bytes) noexcept {
  parts_.big_keys.Note(id_, parts_.hasher(entry.key()), entry.key(), bytes);
}

// ---- numbers of bytes

size_t EntryMemory::OutsideBytes(const Entry& entry) noexcept {
  switch (entry.encoding()) {
    case Encoding::kText:
    case Encoding::kEdited:
    case Encoding::kInteger:
      return 0;
    case Encoding::kBlock:
      return entry.block().size();
    case Encoding::kRich:
      return entry.rich()->Bytes();
  }
  return 0;
}

uint64_t EntryMemory::Rounded(Encoding encoding, size_t outside_bytes) noexcept {
  return encoding == Encoding::kBlock ? MallocSizeClass(SharedBytes::kHeaderBytes + outside_bytes)
                                      : outside_bytes;
}

uint64_t EntryMemory::Of(const Entry& entry) noexcept {
  uint64_t bytes = Heap::SizeClass(entry.allocated_bytes());
  if (entry.Has(EntryFlag::kExtra)) bytes += Heap::SizeClass(entry.extra()->shape().Total());
  return bytes + Rounded(entry.encoding(), OutsideBytes(entry));
}

}  // namespace mayfly
