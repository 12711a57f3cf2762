#include "snapshot/large/half_saved_list.h"

#include <algorithm>
#include <utility>

#include "snapshot/format/types.h"

namespace mayfly {
namespace {

// What an element costs beside its bytes.
constexpr size_t kElementCost = 16;

}  // namespace

HalfSavedList::HalfSavedList(HalfSavedHost& home, unsigned database, std::string_view key, ListValue& list,
                             std::string&& facts)
    : HalfSaved(home, database, std::move(facts)), list_(&list), left_(list.Size()) {
  rdb::Out out(head_, home.compression);
  out.Byte(rdb::type::kList);
  out.String(key);
  out.Length(left_);
  list_->SetListener(this);
}

bool HalfSavedList::Some(std::string& out) {
  if (!begun_) {
    out += head_;
    begun_ = true;
    return false;
  }
  if (!buffer_.empty()) return buffer_.MoveSome(out), false;
  if (left_ != 0) {
    const uint64_t written = Write(next_, left_, /*all=*/false, out);
    next_ += written;
    left_ -= written;
    return false;
  }
  Detach();
  for (size_t work = 0; !tail_.empty() && work < kSliceBytes; tail_.pop_back()) {
    out += tail_.back();
    work += kElementCost + tail_.back().size();
    home_.buffered_bytes -= tail_.back().size();
  }
  return tail_.empty();
}

uint64_t HalfSavedList::Write(uint64_t index, uint64_t count, bool all, std::string& bytes) const {
  rdb::Out out(bytes, home_.compression);
  char room[PackItem::kRoom];
  ListWalk walk(*list_, index, ListEnd::kHead);
  uint64_t written = 0;
  for (size_t work = 0;;) {
    const std::string_view text = walk.Text(room);
    out.String(text);
    work += kElementCost + text.size();
    if (++written == count || (work >= kSliceBytes && !all)) return written;
    walk.Next();
  }
}

uint64_t HalfSavedList::SaveSomeAside(uint64_t count) {
  uint64_t written = 0;
  buffer_.Append([&](std::string& bytes) { written = Write(next_, count, /*all=*/false, bytes); });
  next_ += written;
  left_ -= written;
  return written;
}

bool HalfSavedList::PutAside() {
  if (left_ != 0) SaveSomeAside(left_);
  if (left_ != 0) return false;
  Detach();
  return true;
}

// ---- changes

void HalfSavedList::BeforeDropHead(uint64_t count) noexcept {
  if (count > next_ && left_ != 0) Aside([&] { SaveAside(std::min(count - next_, left_)); });
  next_ -= std::min(next_, count);
}

void HalfSavedList::BeforeDropTail(uint64_t count) noexcept {
  if (left_ == 0 || list_ == nullptr) return;
  const uint64_t size = list_->Size() - count;
  if (size >= next_ + left_) return;
  const uint64_t from = std::max(size, next_);
  const uint64_t dropped = next_ + left_ - from;
  Aside([&] {
    std::string run;
    if (dropped != 0) Write(from, dropped, /*all=*/true, run);
    const size_t bytes = run.size();
    tail_.push_back(std::move(run));
    home_.buffered_bytes += bytes;
  });
  left_ -= std::min(left_, dropped);
  next_ = std::min(next_, size);
}

void HalfSavedList::BeforeChange() noexcept {
  if (left_ != 0) Aside([&] { SaveAside(left_); });
  Detach();
}

void HalfSavedList::Detach() noexcept {
  if (list_ != nullptr) std::exchange(list_, nullptr)->SetListener(nullptr);
  left_ = 0;
  LetGo();
}

void HalfSavedList::GiveUp() noexcept {
  buffer_.Clear();
  for (const std::string& run : tail_) home_.buffered_bytes -= run.size();
  tail_.clear();
  Detach();
}

}  // namespace mayfly
