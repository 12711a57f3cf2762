// A pattern of SORT's BY and GET: leads from an element to a value elsewhere.
//
//   weight_*        the string of the key that has the element in place of the first star
//   user:*->age     a field of the hash of such a key
//   #               the element itself
//   without a star  nothing
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/numbers.h"
#include "cache/types/pack.h"

namespace mayfly {

struct Context;

class ElementPattern {
 public:
  // Borrows `pattern`.
  explicit ElementPattern(std::string_view pattern) noexcept;

  bool has_star() const noexcept { return has_star_; }
  // Reads the value like a command that reads keys. Returns nothing if the key is absent or has another type. The text is
  // valid until the next call or change. Throws std::bad_alloc.
  std::optional<std::string_view> Find(Context& ctx, std::string_view element);

 private:
  bool is_element_ = false;
  bool has_star_ = false;
  std::string_view before_;
  std::string_view after_;
  std::string_view field_;      // empty: the value is a string
  std::string name_;            // of the key
  char room_[PackItem::kRoom];  // digits of a field's value
  char digits_[kMaxIntegerText];
};

}  // namespace mayfly
