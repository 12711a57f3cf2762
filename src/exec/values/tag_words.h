// TAGS count tag [tag ...]: the tags that a value is given (cache/tags.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "cache/entry_extra.h"
#include "exec/dispatch/args.h"

namespace mayfly {

// Looked at one by one, more would make every change of a key slow.
inline constexpr std::string_view kTooManyTags = "ERR a key has at most 255 tags";
static_assert(EntryExtra::kMostTags == 255);

// A tag is a name, not data: its bytes are in no namespace's account.
inline constexpr size_t kMostTagBytes = 255;
inline constexpr std::string_view kTooLongTag = "ERR a tag has at most 255 bytes";
inline bool AnyTooLong(std::span<const std::string_view> tags) noexcept {
  return std::any_of(tags.begin(), tags.end(),
                     [](std::string_view tag) { return tag.size() > kMostTagBytes; });
}

class TagWords {
 public:
  // Takes what follows the word TAGS. False if there are not as many tags as are counted, or none.
  bool Take(Args& args) noexcept {
    if (args.Done() || given_) return false;
    const std::optional<int64_t> count = args.NextInteger();
    if (!count || *count < 1 || static_cast<uint64_t>(*count) > args.Left()) return false;
    names_ = args.Rest().first(static_cast<size_t>(*count));
    args.Skip(names_.size());
    given_ = true;
    return true;
  }
  bool given() const noexcept { return given_; }
  bool TooMany() const noexcept { return names_.size() > EntryExtra::kMostTags; }
  std::span<const std::string_view> names() const noexcept { return names_; }

 private:
  std::span<const std::string_view> names_;
  bool given_ = false;
};

}  // namespace mayfly
