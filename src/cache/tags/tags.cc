#include "cache/tags/tags.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "cache/table/hash_table_resize.h"
#include "cache/tags/task_name.h"

namespace mayfly {

template class HashTable<Tags::TablePolicy>;

void TagHold::LetGo() noexcept {
  for (const HeapRef ref : refs_) tags_->LetGo(ref);
  refs_.clear();
  task_ = {};
}

Tags::Tags(Heap& heap, const Hasher& hasher, uint32_t table_order, size_t& all_doomed) noexcept
    : heap_(heap), hasher_(hasher), table_(TablePolicy(heap, hasher), table_order), all_doomed_(all_doomed) {}

Tags::~Tags() {
  static_cast<void>(FirstDoomed());
  while (first_drained_) {
    Tag& tag = *At(first_drained_);
    first_drained_ = tag.next_doomed;
    Free(tag);
  }
  assert(table_.empty() && doomed_ == 0 && !first_drained_ && tasks_.empty() && bytes_ == 0);
}

const Tag* Tags::Find(std::string_view name) const noexcept {
  const HeapRef ref = table_.Find(name, hasher_(name));
  return ref && (At(ref)->keys != 0 || At(ref)->stale != 0) ? At(ref) : nullptr;
}

// ---- the tags of an entry

TagHold Tags::Hold(std::span<const std::string_view> names, TagHold hold) {
  hold.tags_ = this;
  hold.refs_.reserve(hold.refs_.size() + names.size());
  for (const std::string_view name : names) AddTo(hold, HoldOne(name));
  assert(hold.refs_.size() <= EntryExtra::kMostTags);
  return hold;
}

void Tags::AddTo(TagHold& hold, HeapRef tag) {
  if (std::find(hold.refs_.begin(), hold.refs_.end(), tag) != hold.refs_.end()) return LetGo(tag);
  if (IsTaskTag(At(tag)->name())) {
    ForgetTask(hold);
    hold.task_ = tag;
  }
  hold.refs_.push_back(tag);
}

void Tags::ForgetTask(TagHold& hold) noexcept {
  if (!hold.task()) return;
  std::erase(hold.refs_, hold.task_);
  LetGo(std::exchange(hold.task_, {}));
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

std::vector<std::string_view> Tags::ShownNamesOf(const Entry& entry) const {
  std::vector<std::string_view> names = NamesOf(entry);
  std::erase_if(names, IsTaskTag);
  return names;
}

bool Tags::HasThese(const Entry& entry, const TagHold& hold) const noexcept {
  if (entry.tags() != hold.size()) return false;
  if (hold.empty()) return true;
  const std::span<TagLink> links = entry.extra()->tags();
  return std::all_of(links.begin(), links.end(), [&](const TagLink& link) {
    return std::find(hold.refs_.begin(), hold.refs_.end(), link.tag) != hold.refs_.end();
  });
}

HeapRef Tags::HoldOne(std::string_view name) {
  const uint64_t hash = hasher_(name);
  HeapRef ref = table_.Find(name, hash);
  if (!ref) ref = NewTag(name, hash);
  ++At(ref)->holds;
  return ref;
}

HeapRef Tags::NewTag(std::string_view name, uint64_t hash) {
  void* const memory = heap_.Allocate(sizeof(Tag) + name.size());
  if (memory == nullptr) throw std::bad_alloc();
  assert(name.size() < uint32_t{1} << 31);
  Tag* const tag = new (memory) Tag();
  tag->name_bytes = static_cast<uint32_t>(name.size());
  std::memcpy(tag + 1, name.data(), name.size());
  const HeapRef ref = heap_.base().RefOf(tag);
  try {
    if (!table_.Insert(ref, hash)) throw std::bad_alloc();
    if (IsTaskTag(name)) tasks_.emplace(TaskTargetOf(tag->name()).stream, ref);
  } catch (const std::bad_alloc&) {
    table_.EraseRef(ref, hash);
    heap_.Free(memory, tag->allocated_bytes());
    throw;
  }
  bytes_ += Heap::SizeClass(tag->allocated_bytes());
  return ref;
}

void Tags::LetGo(HeapRef ref) noexcept {
  --At(ref)->holds;
  FreeIfUnused(*At(ref));
}

void Tags::Link(Entry& entry, TagHold&& hold) noexcept {
  assert(entry.tags() == hold.size() && hold.tags_ == this);
  assert(entry.task() == hold.task());
  size_t at = 0;
  for (TagLink& link : entry.extra()->tags()) {
    assert(!link.tag);
    PushFront(entry, link, hold.refs_[at++]);
  }
  hold.LetGo();
}

void Tags::PushFront(Entry& entry, TagLink& link, HeapRef ref) noexcept {
  const HeapRef own = heap_.base().RefOf(&entry);
  Tag& tag = *At(ref);
  assert(tag.doomed == 0 && tag.drained == 0);
  link = {.tag = ref, .next = tag.first, .prev = {}};
  if (tag.first) EntryAt(tag.first)->extra()->LinkOf(ref).prev = own;
  tag.first = own;
  ++tag.keys;
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
  if (!tag.unused() || tag.doomed != 0 || tag.drained != 0) return;
  LeaveTables(tag);
  Free(tag);
}

void Tags::LeaveTables(const Tag& tag) noexcept {
  const HeapRef ref = heap_.base().RefOf(&tag);
  [[maybe_unused]] const bool erased = table_.EraseRef(ref, hasher_(tag.name()));
  assert(erased);
  if (!IsTaskTag(tag.name())) return;
  auto [at, end] = tasks_.equal_range(TaskTargetOf(tag.name()).stream);
  while (at != end && !(at->second == ref)) ++at;
  assert(at != end);
  tasks_.erase(at);
}

void Tags::Free(Tag& tag) noexcept {
  bytes_ -= Heap::SizeClass(tag.allocated_bytes());
  heap_.Free(&tag, tag.allocated_bytes());
}

// ---- tasks

TaskTarget Tags::TargetOf(const Entry& entry) const noexcept {
  return TaskTargetOf(At(TaskTagOf(entry))->name());
}

HeapRef Tags::TaskTagOf(const Entry& entry) const noexcept {
  assert(entry.task());
  for (const TagLink& link : entry.extra()->tags()) {
    if (link.tag && IsTaskTag(At(link.tag)->name())) return link.tag;
  }
  return {};
}

bool Tags::GoesInto(const TagHold& hold, std::string_view stream) const noexcept {
  return hold.task() && TaskTargetOf(At(hold.task_)->name()).stream == stream;
}

size_t Tags::CountTasks(std::string_view stream) const noexcept {
  size_t count = 0;
  for (auto [at, end] = tasks_.equal_range(stream); at != end; ++at) count += At(at->second)->keys;
  return count;
}

bool Tags::HasTaskFor(std::string_view stream) const noexcept {
  for (auto [at, end] = tasks_.equal_range(stream); at != end; ++at) {
    if (At(at->second)->keys != 0) return true;
  }
  for (HeapRef ref = first_drained_; ref; ref = At(ref)->next_doomed) {
    if (At(ref)->keys != 0 && TaskTargetOf(At(ref)->name()).stream == stream) return true;
  }
  return false;
}

void Tags::Drain(std::string_view stream) noexcept {
  for (auto at = tasks_.find(stream); at != tasks_.end(); at = tasks_.find(stream)) {
    Tag& tag = *At(at->second);
    assert(tag.holds == 0 && tag.stale == 0);
    const HeapRef ref = at->second;
    LeaveTables(tag);
    tag.drained = 1;
    tag.next_doomed = std::exchange(first_drained_, ref);
  }
}

Entry* Tags::NextToDrain() {
  while (first_drained_) {
    const HeapRef ref = first_drained_;
    Tag& tag = *At(ref);
    if (!tag.first) {
      first_drained_ = tag.next_doomed;
      Free(tag);
      continue;
    }
    Entry& entry = *EntryAt(tag.first);
    const HeapRef anew = HoldOne(tag.name());
    TagLink& link = entry.extra()->LinkOf(ref);
    SetNeighbours(link, link.next, link.prev);
    --tag.keys;
    PushFront(entry, link, anew);
    LetGo(anew);
    return &entry;
  }
  return nullptr;
}

// ---- dooms

const Tag* Tags::Doom(std::string_view name, uint64_t number) noexcept {
  const HeapRef ref = table_.Find(name, hasher_(name));
  if (!ref) return nullptr;
  assert(At(ref)->holds == 0 && number != 0);
  LeaveTables(*At(ref));
  At(ref)->doomed = number;
  (first_doomed_ ? At(last_doomed_)->next_doomed : first_doomed_) = ref;
  last_doomed_ = ref;
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
  for (HeapRef at = first_drained_; at; at = At(at)->next_doomed) {
    sound = sound && At(at)->drained != 0 && ValidateTag(*At(at), &seen);
    bytes += Heap::SizeClass(At(at)->allocated_bytes());
  }
  for (const auto& [stream, ref] : tasks_)
    sound = sound && IsTaskTag(At(ref)->name()) && TaskTargetOf(At(ref)->name()).stream == stream;
  return sound && seen == links && doomed == doomed_ && bytes == bytes_;
}

}  // namespace mayfly
