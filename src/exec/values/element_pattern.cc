#include "exec/values/element_pattern.h"

#include <span>

#include "exec/dispatch/context.h"
#include "exec/values/string_access.h"
#include "exec/values/value_type.h"

namespace mayfly {
namespace {

// Looks for one field of a hash. Takes its value's copy, which is valid after the visit.
class FieldFinder final : public MemberVisitor {
 public:
  FieldFinder(std::string_view field, std::string& value) noexcept : field_(field), value_(value) {}
  void Visit(std::span<const std::string_view> parts) override {
    if (found_ || parts.size() < 2 || parts[0] != field_) return;
    value_ = parts[1];
    found_ = true;
  }
  bool found() const noexcept { return found_; }

 private:
  std::string_view field_;
  std::string& value_;
  bool found_ = false;
};

// The value of a field of a hash; it may lie in `room`.
std::optional<std::string_view> FieldOf(const RichValue& hash, std::string_view field, std::string& room) {
  FieldFinder finder(field, room);
  hash.ForEachMember(finder);
  return finder.found() ? std::optional<std::string_view>(room) : std::nullopt;
}

}  // namespace

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
  const Entry* const entry = ctx.Read(ctx.keyspace.KeyOf(name_));
  if (entry == nullptr) return std::nullopt;
  const ValueType type = TypeOf(*entry);
  if (!field_.empty())
    return type == ValueType::kHash ? FieldOf(*entry->rich(), field_, copy_) : std::nullopt;
  if (type != ValueType::kString) return std::nullopt;
  return TextOf(*entry, digits_);
}

}  // namespace mayfly
