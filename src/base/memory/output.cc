#include "base/memory/output.h"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <memory>
#include <new>
#include <utility>

#include <sanitizer/asan_interface.h>

namespace mayfly {

static_assert(sizeof(OutputSplice) == 32);
static_assert(OutputChunk::kCapacity % alignof(OutputSplice) == 0);
static_assert(OutputChain::kReserveMax + sizeof(OutputSplice) + OutputChain::kSlotSize <=
              OutputChunk::kCapacity);

OutputChunk* ChunkPool::Take() {
  OutputChunk* chunk = free_;
  if (chunk != nullptr) [[likely]] {
    ASAN_UNPOISON_MEMORY_REGION(chunk, sizeof *chunk);
    free_ = chunk->next;
    --kept_;
  } else {
    chunk = static_cast<OutputChunk*>(std::malloc(sizeof(OutputChunk)));
    if (chunk == nullptr) {
      failed_ = true;
      throw std::bad_alloc();
    }
    ++allocations_;
  }
  chunk->next = nullptr;
  chunk->end = 0;
  chunk->splice_count = 0;
  return chunk;
}

void ChunkPool::Give(OutputChunk* chunk) noexcept {
  if (kept_ >= kept_max_) {
    std::free(chunk);
    return;
  }
  chunk->next = free_;
  free_ = chunk;
  ++kept_;
  // Accessing a kept chunk is as wrong as accessing a freed chunk.
  ASAN_POISON_MEMORY_REGION(chunk, sizeof *chunk);
}

void ChunkPool::Trim(size_t keep) noexcept {
  for (; kept_ > keep; --kept_) {
    OutputChunk* chunk = free_;
    ASAN_UNPOISON_MEMORY_REGION(chunk, sizeof *chunk);
    free_ = chunk->next;
    std::free(chunk);
  }
}

void OutputChain::SealRun() noexcept {
  sealed_ += static_cast<size_t>(write_ - run_);
  run_ = write_;
}

void OutputChain::Grow() {
  if (tail_ != nullptr) {
    SealRun();
    CheckLimit();
    // Splices take room, too: many short splices, such as the headers of nested arrays, take more room than their bytes.
    if (chunk_memory() / 2 >= limit_bytes_) MarkFull();
  }
  if (full_) throw OutputTooLong();
  OutputChunk* chunk = pool_.Take();
  if (tail_ != nullptr) {
    tail_->end = EndOf(*tail_);
    tail_->next = chunk;
  } else {
    head_ = chunk;
  }
  tail_ = chunk;
  ++chunks_;
  write_ = run_ = chunk->bytes;
  limit_ = chunk->bytes + OutputChunk::kCapacity;
}

void OutputChain::AppendSlowly(std::string_view bytes) {
  while (!bytes.empty()) {
    if (write_ == limit_) Grow();
    const size_t copied = bytes.copy(write_, static_cast<size_t>(limit_ - write_));
    write_ += copied;
    bytes.remove_prefix(copied);
  }
}

OutputSplice* OutputChain::AddSplice(uint32_t skip) {
  if (static_cast<size_t>(limit_ - write_) < sizeof(OutputSplice) + skip) Grow();
  SealRun();
  OutputSplice* splice = tail_->Splice(tail_->splice_count++);
  limit_ = reinterpret_cast<char*>(splice);
  return new (splice) OutputSplice{EndOf(*tail_), skip, write_, 0, {}};
}

void OutputChain::AppendShared(SharedBytes block, size_t offset, size_t length) {
  assert(length <= block.size() && offset <= block.size() - length);
  if (length <= kCopyMax) {
    if (length > 0) Append({block.data() + offset, length});
    return;
  }
  if (full_) throw OutputTooLong();
  OutputSplice* splice = AddSplice(0);
  splice->data = block.data() + offset;
  splice->size = length;
  splice->block = std::move(block);
  sealed_ += length;
  shared_ += length;
  CheckLimit();
}

OutputChain::Slot OutputChain::OpenSlot() {
  OutputSplice* splice = AddSplice(kSlotSize);
  write_ += kSlotSize;
  run_ = write_;
  return splice;
}

void OutputChain::FillSlot(Slot slot, std::string_view text) noexcept {
  assert(slot->size == 0 && text.size() <= kSlotSize);
  text.copy(const_cast<char*>(slot->data), text.size());
  slot->size = text.size();
  sealed_ += text.size();
}

size_t OutputChain::GatherRuns(std::span<OutputPiece> pieces) const noexcept {
  size_t count = 0;
  const auto add = [&](const char* data, size_t size) {
    if (size > 0) pieces[count++] = {data, size};
    return count < pieces.size();
  };
  if (pieces.empty()) return 0;
  uint32_t at = head_at_;
  uint32_t next_splice = head_splice_;
  size_t done = splice_at_;
  for (OutputChunk* chunk = head_; chunk != nullptr; chunk = chunk->next) {
    for (; next_splice < chunk->splice_count; ++next_splice) {
      const OutputSplice& splice = *chunk->Splice(next_splice);
      if (!add(chunk->bytes + at, splice.at - at)) return count;
      if (!add(splice.data + done, splice.size - done)) return count;
      at = splice.at + splice.skip;
      done = 0;
    }
    if (!add(chunk->bytes + at, EndOf(*chunk) - at)) return count;
    at = next_splice = 0;
  }
  return count;
}

void OutputChain::DropSplice(OutputSplice& splice) noexcept {
  if (splice.block) shared_ -= splice.size;
  std::destroy_at(&splice);
}

void OutputChain::ConsumeFront(size_t n) noexcept {
  for (;;) {
    OutputChunk* chunk = head_;
    OutputSplice* splice = head_splice_ < chunk->splice_count ? chunk->Splice(head_splice_) : nullptr;
    const uint32_t run_end = splice != nullptr ? splice->at : EndOf(*chunk);
    const size_t from_run = std::min<size_t>(n, run_end - head_at_);
    head_at_ += static_cast<uint32_t>(from_run);
    n -= from_run;
    if (head_at_ < run_end) return;
    if (splice != nullptr) {
      const size_t from_splice = std::min(n, splice->size - splice_at_);
      splice_at_ += from_splice;
      n -= from_splice;
      if (splice_at_ < splice->size) return;
      head_at_ += splice->skip;
      ++head_splice_;
      splice_at_ = 0;
      DropSplice(*splice);
    } else if (chunk == tail_) {
      return;
    } else {
      head_ = chunk->next;
      head_at_ = head_splice_ = 0;
      --chunks_;
      pool_.Give(chunk);
    }
  }
}

void OutputChain::Clear() noexcept {
  for (OutputChunk* chunk = head_; chunk != nullptr;) {
    OutputChunk* const next = chunk->next;
    for (; head_splice_ < chunk->splice_count; ++head_splice_) DropSplice(*chunk->Splice(head_splice_));
    head_splice_ = 0;
    pool_.Give(chunk);
    chunk = next;
  }
  head_ = tail_ = nullptr;
  write_ = limit_ = run_ = nullptr;
  sealed_ = consumed_ = splice_at_ = chunks_ = 0;
  head_at_ = 0;
}

}  // namespace mayfly
