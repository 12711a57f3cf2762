#include "snapshot/large/half_saved_stream.h"

#include <cassert>
#include <span>
#include <utility>

#include "snapshot/format/types.h"
#include "snapshot/values/stream_out.h"

namespace mayfly {

HalfSavedStream::HalfSavedStream(HalfSavedHost& home, unsigned database, std::string_view key,
                                 StreamValue& stream, std::string&& facts)
    : HalfSaved(home, database, std::move(facts)),
      stream_(&stream),
      last_(stream.LastEntryId()),
      left_(stream.nodes()),
      groups_(stream.groups(), rdb::StreamTypeOf(stream)),
      aside_(&home.buffered_bytes) {
  const uint8_t type = rdb::StreamTypeOf(stream);
  rdb::Out out(head_, home.compression);
  out.Byte(type);
  out.String(key);
  out.Length(left_);
  rdb::WriteStreamTotals(stream, type, totals_);
  stream_->SetListener(this);
}

bool HalfSavedStream::Some(std::string& out) {
  if (!begun_) {
    out += head_;
    begun_ = true;
    return false;
  }
  if (!buffer_.empty()) return buffer_.MoveSome(out), false;
  for (size_t work = 0; left_ != 0 && work < kSliceBytes;) work += WriteNode(out);
  if (left_ != 0) return false;
  if (!totals_.empty()) {
    out += totals_;
    totals_.clear();
  }
  if (!aside_.empty())
    aside_.MoveSome(out);
  else if (!groups_read_)
    groups_read_ = groups_.Some(out, kSliceBytes);
  return DetachAtEnd() && aside_.empty();
}

size_t HalfSavedStream::WriteNode(std::string& bytes) {
  size_t size = 0;
  StreamId from = from_;
  [[maybe_unused]] const bool there =
      stream_->VisitNode(from, last_, [&](std::span<const StreamEntry> entries) {
        size = rdb::WriteStreamNode(entries, home_.compression, bytes);
      });
  assert(there);
  from_ = from;
  --left_;
  return size;
}

void HalfSavedStream::PutGroupsAside() {
  rdb::StreamGroupsOut after = groups_;
  bool last = false;
  aside_.Append([&](std::string& bytes) { last = after.Some(bytes, kSliceBytes); });
  groups_ = after;
  groups_read_ = last;
}

// Groups first: groups are smaller, and most requests that wait for a stream wait for the groups.
bool HalfSavedStream::PutAside() {
  if (!groups_read_) {
    PutGroupsAside();
    return DetachAtEnd();
  }
  for (size_t work = 0; left_ != 0 && work < kSliceBytes;)
    buffer_.Append([&](std::string& bytes) { work += WriteNode(bytes); });
  return DetachAtEnd();
}

void HalfSavedStream::BeforeNode(StreamId first) noexcept {
  if (first > last_) return;
  while (left_ != 0 && from_ <= first) {
    const size_t before = left_;
    Aside([&] { buffer_.Append([&](std::string& bytes) { WriteNode(bytes); }); });
    if (left_ == before) return;  // the save has failed
  }
}

void HalfSavedStream::BeforeGroups() noexcept {
  while (!groups_read_) {
    bool written = false;
    Aside([&] {
      PutGroupsAside();
      written = true;
    });
    if (!written) return;  // the save has failed
  }
}

bool HalfSavedStream::DetachAtEnd() noexcept {
  if (left_ != 0 || !groups_read_) return false;
  Detach();
  return true;
}

void HalfSavedStream::Detach() noexcept {
  if (stream_ != nullptr) std::exchange(stream_, nullptr)->SetListener(nullptr);
  left_ = 0;
  groups_read_ = true;
  LetGo();
}

void HalfSavedStream::GiveUp() noexcept {
  buffer_.Clear();
  aside_.Clear();
  Detach();
}

}  // namespace mayfly
