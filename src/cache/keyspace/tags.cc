#include "cache/keyspace/tags.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

namespace mayfly {

void TagHold::LetGo() noexcept {
  for (const HeapRef ref : refs_) tags_->LetGo(ref);
  refs_.clear();
}

Tags::Tags(Heap& heap, const Hasher& hasher, uint32_t table_order, size_t& all_doomed) noexcept
    : heap_(heap), hasher_(hasher), table_(TablePolicy(heap, hasher), table_order), all_doomed_(all_doomed) {}

Tags::~Tags() {
  static_cast<void>(FirstDoomed());
  assert(table_.empty() && doomed_ == 0 && bytes_ == 0);
}

const Tag* Tags::Find(std::string_view name) const noexcept {
  const HeapRef ref = table_.Find(name, hasher_(name));
  return ref && (At(ref)->keys != 0 || At(ref)->stale != 0) ? At(ref) : nullptr;
}

// ---- the tags of an entry

TagHold Tags::Hold(std::span<const std::string_view> names, TagHold hold) {
  hold.tags_ = this;
  hold.refs_.reserve(hold.refs_.size() + names.size());
  for (const std::string_view name : names) {
    const HeapRef ref = HoldOne(name);
    if (std::find(hold.refs_.begin(), hold.refs_.end(), ref) != hold.refs_.end())
      LetGo(ref);
    else
      hold.refs_.push_back(ref);
  }
  assert(hold.refs_.size() <= EntryExtra::kMostTags);
  return hold;
}

TagHold Tags::HoldThoseOf(const Entry& entry) {
  if (entry.tags() == 0) return {};
  return Hold(NamesOf(entry));
}

std::vector<std::string_view> Tags::NamesOf(const Entry& entry) const {
  std::vector<std::string_view> names;
  ForEachOf(entry, [&](const Tag& tag) { names.push_back(tag.name()); });
  return names;
}

HeapRef Tags::HoldOne(std::string_view name) {
  const uint64_t hash = hasher_(name);
  HeapRef ref = table_.Find(name, hash);
  if (!ref) {
    void* const memory = heap_.Allocate(sizeof(Tag) + name.size());
    if (memory == nullptr) throw std::bad_alloc();
    Tag* const tag = new (memory) Tag{.name_bytes = static_cast<uint32_t>(name.size())};
    std::memcpy(tag + 1, name.data(), name.size());
    ref = heap_.base().RefOf(tag);
    if (!table_.Insert(ref, hash)) {
      heap_.Free(memory, tag->allocated_bytes());
      throw std::bad_alloc();
    }
    bytes_ += Heap::SizeClass(tag->allocated_bytes());
  }
  ++At(ref)->holds;
  return ref;
}

void Tags::LetGo(HeapRef ref) noexcept {
  --At(ref)->holds;
  FreeIfUnused(*At(ref));
}

void Tags::Link(Entry& entry, TagHold&& hold) noexcept {
  assert(entry.tags() == hold.size() && hold.tags_ == this);
  const HeapRef own = heap_.base().RefOf(&entry);
  size_t at = 0;
  for (TagLink& link : entry.extra()->tags()) {
    assert(!link.tag);
    link.tag = hold.refs_[at++];
    Tag& tag = *At(link.tag);
    assert(tag.doomed == 0);
    link.next = tag.first;
    if (tag.first) EntryAt(tag.first)->extra()->LinkOf(link.tag).prev = own;
    tag.first = own;
    ++tag.keys;
  }
  hold.LetGo();
}

void Tags::SetNeighbours(const TagLink& link, HeapRef before, HeapRef behind) noexcept {
  (link.prev ? EntryAt(link.prev)->extra()->LinkOf(link.tag).next : At(link.tag)->first) = before;
  if (link.next) EntryAt(link.next)->extra()->LinkOf(link.tag).prev = behind;
}

void Tags::Unlink(Entry& entry) noexcept {
  for (TagLink& link : entry.extra()->tags()) {
    if (!link.tag) continue;
    Tag& tag = *At(link.tag);
    SetNeighbours(link, link.next, link.prev);
    --(entry.extra()->retired ? tag.stale : tag.keys);
    link = {};
    FreeIfUnused(tag);
  }
}

void Tags::Hand(Entry& from, Entry& to) noexcept {
  assert(from.tags() == to.tags() && from.extra()->retired == to.extra()->retired);
  const HeapRef own = heap_.base().RefOf(&to);
  TagLink* into = to.extra()->tags().data();
  for (TagLink& link : from.extra()->tags()) {
    if (link.tag) SetNeighbours(link, own, own);
    *into++ = std::exchange(link, {});
  }
}

void Tags::FollowMove(Entry& entry) noexcept {
  const HeapRef own = heap_.base().RefOf(&entry);
  for (const TagLink& link : entry.extra()->tags()) {
    if (link.tag) SetNeighbours(link, own, own);
  }
}

void Tags::Retire(Entry& entry) noexcept {
  entry.extra()->retired = true;
  for (const TagLink& link : entry.extra()->tags()) {
    --At(link.tag)->keys;
    ++At(link.tag)->stale;
  }
}

void Tags::FreeIfUnused(Tag& tag) noexcept {
  if (!tag.unused() || tag.doomed != 0) return;
  [[maybe_unused]] const bool erased = table_.EraseRef(heap_.base().RefOf(&tag), hasher_(tag.name()));
  assert(erased);
  Free(tag);
}

void Tags::Free(Tag& tag) noexcept {
  bytes_ -= Heap::SizeClass(tag.allocated_bytes());
  heap_.Free(&tag, tag.allocated_bytes());
}

// ---- dooms

const Tag* Tags::Doom(std::string_view name, uint64_t number) noexcept {
  const uint64_t hash = hasher_(name);
  const HeapRef ref = table_.Find(name, hash);
  if (!ref) return nullptr;
  assert(At(ref)->holds == 0 && number != 0);
  table_.EraseRef(ref, hash);
  At(ref)->doomed = number;
  At(ref)->next_doomed = std::exchange(first_doomed_, ref);
  ++doomed_;
  ++all_doomed_;
  return At(ref);
}

unsigned Tags::DoomedSince(const Entry& entry, uint64_t number) const noexcept {
  unsigned count = 0;
  ForEachOf(entry, [&](const Tag& tag) { count += tag.doomed >= number ? 1 : 0; });
  return count;
}

Entry* Tags::FirstDoomed() noexcept {
  while (first_doomed_) {
    Tag& tag = *At(first_doomed_);
    if (tag.first) return EntryAt(tag.first);
    first_doomed_ = tag.next_doomed;
    --doomed_;
    --all_doomed_;
    Free(tag);
  }
  return nullptr;
}

// ---- checks

bool Tags::ValidateTag(const Tag& tag, size_t* links) const noexcept {
  const HeapRef ref = heap_.base().RefOf(&tag);
  size_t keys = 0;
  size_t stale = 0;
  HeapRef prev{};
  for (HeapRef at = tag.first; at;) {
    EntryExtra& extra = *EntryAt(at)->extra();
    ++(extra.retired ? stale : keys);
    const TagLink& link = extra.LinkOf(ref);
    if (!(link.prev == prev)) return false;
    prev = std::exchange(at, link.next);
  }
  *links += keys + stale;
  return keys == tag.keys && stale == tag.stale && tag.holds == 0;
}

bool Tags::Validate(size_t links) const noexcept {
  bool sound = table_.Validate();
  size_t seen = 0;
  uint64_t bytes = 0;
  const auto look = [&](const Tag& tag, bool doomed) {
    sound = sound && ValidateTag(tag, &seen) && (tag.doomed != 0) == doomed && (doomed || !tag.unused());
    bytes += Heap::SizeClass(tag.allocated_bytes());
  };
  table_.ForEach([&](HeapRef ref) { look(*At(ref), false); });
  size_t doomed = 0;
  for (HeapRef at = first_doomed_; at; at = At(at)->next_doomed, ++doomed) look(*At(at), true);
  return sound && seen == links && doomed == doomed_ && bytes == bytes_;
}

}  // namespace mayfly
