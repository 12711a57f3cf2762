// Reads TAGS count tag [tag ...]: the tags for a value (cache/tags/tags.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "cache/entry/entry_extra.h"
#include "cache/tags/task_name.h"
#include "exec/arguments/word.h"
#include "exec/call/args.h"

namespace mayfly {

// Every change of a key visits the key's tags one by one: more tags would make changes slow.
inline constexpr std::string_view kTooManyTags = "ERR a key has at most 255 tags";
static_assert(EntryExtra::kMostTags == 255);

// A tag is a name, not data: no namespace's account has the bytes of a tag.
inline constexpr size_t kMostTagBytes = 255;
inline constexpr std::string_view kTooLongTag = "ERR a tag has at most 255 bytes";
inline bool AnyTooLong(std::span<const std::string_view> tags) noexcept {
  return std::any_of(tags.begin(), tags.end(),
                     [](std::string_view tag) { return tag.size() > kMostTagBytes; });
}

// Tags of this form belong to tasks.
inline constexpr std::string_view kTagReserved = "ERR a tag must not begin with a zero byte and 'into'";
inline bool AnyReserved(std::span<const std::string_view> tags) noexcept {
  return std::any_of(tags.begin(), tags.end(), IsReservedTag);
}
// The error of tags that a client names; empty without an error.
inline std::string_view ErrorOfTags(std::span<const std::string_view> tags) noexcept {
  if (tags.size() > EntryExtra::kMostTags) return kTooManyTags;
  if (AnyTooLong(tags)) return kTooLongTag;
  return AnyReserved(tags) ? kTagReserved : std::string_view();
}

class TagWords {
 public:
  // Takes the arguments after the word TAGS. Returns an empty text, or the error. A tag equal to an option's word is
  // refused: most likely the count is too high, and the option would be lost silently.
  std::string_view Take(Args& args) noexcept {
    if (given_) return "ERR TAGS is given twice";
    const std::optional<int64_t> count = args.Done() ? std::nullopt : args.NextInteger();
    if (!count || *count < 1 || static_cast<uint64_t>(*count) > args.Left())
      return "ERR TAGS is followed by a count and that many tags, as in TAGS 2 user:1 team:7";
    names_ = args.Rest().first(static_cast<size_t>(*count));
    if (std::any_of(names_.begin(), names_.end(), IsOptionWord))
      return "ERR a tag must not be the word of an option: is the count of TAGS too high? Put TAGS last";
    args.Skip(names_.size());
    given_ = true;
    return {};
  }
  bool given() const noexcept { return given_; }
  std::span<const std::string_view> names() const noexcept { return names_; }

 private:
  static bool IsOptionWord(std::string_view tag) noexcept {
    switch (WordOf(tag)) {
      case WordOf("EX"):
      case WordOf("PX"):
      case WordOf("EXAT"):
      case WordOf("PXAT"):
      case WordOf("KEEPTTL"):
      case WordOf("NX"):
      case WordOf("XX"):
      case WordOf("GET"):
      case WordOf("IFEQ"):
      case WordOf("IFNE"):
      case WordOf("IFDEQ"):
      case WordOf("IFDNE"):
      case WordOf("JITTER"):
      case WordOf("SLIDE"):
      case WordOf("MAX"):
      case WordOf("STALE"):
      case WordOf("IFLEASE"):
      case WordOf("INTO"):
      case WordOf("MAXLEN"):
      case WordOf("TAGS"):
        return true;
      default:
        return false;
    }
  }

  std::span<const std::string_view> names_;
  bool given_ = false;
};

}  // namespace mayfly
