#include "cache/owners/namespaces.h"

#include <algorithm>
#include <cassert>

namespace mayfly {

size_t Namespace::keys() const noexcept {
  size_t keys = 0;
  for (const Quota* share : shares_) keys += share->size();
  return keys;
}

uint64_t Namespace::bytes() const noexcept {
  uint64_t bytes = 0;
  for (const Quota* share : shares_) bytes += share->bytes + share->size() * kTableBytesPerKey;
  return bytes;
}

Quota* Namespace::ShareIn(const Keyspace& keyspace) const noexcept {
  for (Quota* share : shares_) {
    if (&share->home() == &keyspace) return share;
  }
  return nullptr;
}

void Namespace::AddShare(Quota& share) noexcept {
  assert(shares_.size() < shares_.capacity());
  share.space = this;
  share.promised = promised_;
  shares_.push_back(&share);
}

void Namespace::ForgetShare(const Quota& share) noexcept { std::erase(shares_, &share); }

void Namespace::Rebase() noexcept {
  settled_ = {.bytes = limits_.bytes == 0 ? UINT64_MAX : std::max(limits_.bytes, bytes()),
              .keys = limits_.keys == 0 ? UINT64_MAX : std::max<uint64_t>(limits_.keys, keys())};
}

std::unique_ptr<Namespace>* Namespaces::FindIn(List& list, const Wanted& wanted) noexcept {
  for (std::unique_ptr<Namespace>& space : list) {
    if (space != nullptr && space->name() == wanted.name && space->prefix() == wanted.prefix) return &space;
  }
  return nullptr;
}

Namespaces::Prepared Namespaces::Prepare(std::vector<Wanted> wanted) {
  Prepared prepared;
  std::vector<std::string> prefixes;
  for (const Wanted& one : wanted) {
    const bool there = FindIn(active_, one) != nullptr || FindIn(retired_, one) != nullptr;
    prepared.spaces_.push_back(there ? nullptr : std::make_unique<Namespace>(one.name, one.prefix));
    prefixes.push_back(one.prefix);
  }
  prepared.prefixes_ = PrefixTable(prefixes);
  prepared.wanted_ = std::move(wanted);
  prepared.retired_.reserve(active_.size() + retired_.size());
  return prepared;
}

// In no step is memory needed: so what is in force never differs from what CONFIG GET answers.
void Namespaces::Adopt(Prepared prepared) noexcept {
  for (size_t i = 0; i < prepared.spaces_.size(); ++i) {
    std::unique_ptr<Namespace>& space = prepared.spaces_[i];
    const Wanted& wanted = prepared.wanted_[i];
    if (space == nullptr) {
      std::unique_ptr<Namespace>* there = FindIn(active_, wanted);
      if (there == nullptr) there = FindIn(retired_, wanted);
      space = std::move(*there);
    }
    space->limits_ = wanted.limits;
    space->Rebase();
  }
  for (std::unique_ptr<Namespace>& space : active_) Retire(std::move(space), prepared.retired_);
  for (std::unique_ptr<Namespace>& space : retired_) Retire(std::move(space), prepared.retired_);
  active_ = std::move(prepared.spaces_);
  retired_ = std::move(prepared.retired_);
  prefixes_ = std::move(prepared.prefixes_);
  for (const std::unique_ptr<Namespace>& space : active_) {
    SetFull(*space, false);
    NoteGrown(*space);
  }
}

void Namespaces::Retire(std::unique_ptr<Namespace> space, List& retired) noexcept {
  if (space == nullptr) return;
  SetFull(*space, false);
  space->limits_ = {};
  space->Rebase();
  space->promised_ = 0;
  for (Quota* share : space->shares()) share->promised = 0;
  if (space->has_grown_) {  // the namespace may be freed now
    TakeGrown([this, &space](Namespace& grown) {
      if (&grown != space.get()) NoteGrown(grown);
    });
  }
  if (!space->shares().empty()) retired.push_back(std::move(space));
}

Namespace* Namespaces::Find(std::string_view name) const noexcept {
  for (const List* const list : {&active_, &retired_}) {
    for (const std::unique_ptr<Namespace>& space : *list) {
      if (space->name() == name) return space.get();
    }
  }
  return nullptr;
}

void Namespaces::ResetStats() noexcept {
  for (const std::unique_ptr<Namespace>& space : active_) space->stats = {};
}

void Namespaces::Promise(const QuotaLimits& all) noexcept {
  QuotaLimits sum;
  const auto add = [](uint64_t limit, uint64_t& to) { to += std::min(limit, UINT64_MAX - to); };
  for (const std::unique_ptr<Namespace>& space : active_) {
    add(space->limits_.bytes, sum.bytes);
    add(space->limits_.keys, sum.keys);
  }
  const bool bytes = sum.bytes != 0 && sum.bytes <= all.bytes;
  const bool keys = sum.keys != 0 && sum.keys <= all.keys;
  promised_ =
      static_cast<uint8_t>((bytes ? EvictionPool::kForBytes : 0) | (keys ? EvictionPool::kForKeys : 0));
  for (const std::unique_ptr<Namespace>& space : active_) {
    space->promised_ =
        static_cast<uint8_t>((bytes && space->limits_.bytes != 0 ? EvictionPool::kForBytes : 0) |
                             (keys && space->limits_.keys != 0 ? EvictionPool::kForKeys : 0));
    for (Quota* share : space->shares()) share->promised = space->promised_;
  }
}

}  // namespace mayfly
