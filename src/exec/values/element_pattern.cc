#include "exec/values/element_pattern.h"

#include "exec/call/value_type.h"
#include "exec/dispatch/context.h"
#include "exec/values/hash_access.h"
#include "exec/values/string_access.h"

namespace mayfly {
// As in Redis, a zero byte ends the search for a star or an arrow.
ElementPattern::ElementPattern(std::string_view pattern) noexcept {
  constexpr std::string_view kArrow = "->";
  is_element_ = pattern == "#";
  const std::string_view searched = pattern.substr(0, pattern.find('\0'));
  const size_t star = searched.find('*');
  if (star == std::string_view::npos) return;
  has_star_ = true;
  before_ = pattern.substr(0, star);
  after_ = pattern.substr(star + 1);
  const size_t arrow = searched.find(kArrow, star + 1);
  if (arrow == std::string_view::npos || arrow + kArrow.size() == searched.size()) return;
  after_ = pattern.substr(star + 1, arrow - star - 1);
  field_ = pattern.substr(arrow + kArrow.size());
}

std::optional<std::string_view> ElementPattern::Find(Context& ctx, std::string_view element) {
  if (is_element_) return element;
  if (!has_star_) return std::nullopt;
  name_.assign(before_).append(element).append(after_);
  const Key key = ctx.keyspace.KeyOf(name_);
  Entry* const entry = ctx.Read(key);
  if (entry == nullptr) return std::nullopt;
  const ValueType type = TypeOf(*entry);
  if (field_.empty())
    return type == ValueType::kString ? std::optional(TextOf(*entry, digits_)) : std::nullopt;
  if (type != ValueType::kHash) return std::nullopt;
  const Entry* const live = DropDueMembers(ctx, key, entry, /*writes=*/false);
  return live != nullptr ? static_cast<const HashValue&>(*live->rich()).Get(field_, room_) : std::nullopt;
}

}  // namespace mayfly
