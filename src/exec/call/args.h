// The arguments of one request, with a cursor after the command's name.
//
// Views: they die when the handler returns. args[0] is the command's name (args[1] a subcommand's).
//   while (!args.Done()) {
//     if (args.Accept("NX")) ... else if (args.Accept("EX")) seconds = args.Next(); else return Fail(syntax)
//   }
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/memory/shared_bytes.h"
#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "resp/args.h"

namespace mayfly {

class Args {
 public:
  // `cursor` is the index of the first argument after the name.
  Args(std::span<const std::string_view> all, size_t cursor) noexcept : all_(all), cursor_(cursor) {}

  size_t size() const noexcept { return all_.size(); }
  std::string_view operator[](size_t index) const noexcept { return all_[index]; }
  std::span<const std::string_view> all() const noexcept { return all_; }
  // The arguments from the cursor on.
  std::span<const std::string_view> Rest() const noexcept { return all_.subspan(cursor_); }

  bool Done() const noexcept { return cursor_ >= all_.size(); }
  size_t Left() const noexcept { return all_.size() - cursor_; }
  // REQUIRES: !Done().
  std::string_view Next() noexcept {
    assert(!Done());
    return all_[cursor_++];
  }
  // Passes `count` arguments that were read by index. REQUIRES: `count` arguments are left.
  void Skip(size_t count) noexcept {
    assert(cursor_ <= all_.size() && count <= Left());
    cursor_ += count;
  }
  std::string_view Peek() const noexcept {
    assert(!Done());
    return all_[cursor_];
  }
  // Passes the argument if equal to this word, in any case, and if at least `followed_by` arguments come after.
  bool Accept(std::string_view upper, size_t followed_by = 0) noexcept {
    if (Left() <= followed_by || Done() || !EqualsIgnoringCase(all_[cursor_], upper)) return false;
    ++cursor_;
    return true;
  }
  // Returns nothing if the argument is not a 64-bit integer; passes the argument either way. REQUIRES: !Done().
  std::optional<int64_t> NextInteger() noexcept { return ParseInteger(Next()); }

  // The block into which the connection read argument `index`; empty if the argument has no block.
  SharedBytes BlockOf(size_t index) const noexcept {
    const SharedBytes* block = list_ != nullptr ? list_->BlockOf(IndexInList(index)) : nullptr;
    return block != nullptr ? *block : SharedBytes();
  }
  bool HasBlocks() const noexcept { return list_ != nullptr && list_->has_blocks(); }
  // REQUIRES: the arguments lie in `list`.
  void SetList(const resp::ArgList& list) noexcept {
    assert(all_.empty() ||
           (all_.data() >= list.data() && all_.data() + all_.size() <= list.data() + list.size()));
    list_ = &list;
  }

 private:
  size_t IndexInList(size_t index) const noexcept {
    return static_cast<size_t>(all_.data() - list_->data()) + index;
  }

  std::span<const std::string_view> all_;
  size_t cursor_;
  const resp::ArgList* list_ = nullptr;
};

}  // namespace mayfly
