#include "base/bits/bit_field.h"

#include <algorithm>

#include "base/text/numbers.h"

namespace mayfly {
namespace {

// Wide enough for the sum of any two values.
__extension__ using Wide = __int128;

std::optional<uint64_t> Fit(FieldType type, Wide value, FieldOverflow overflow) noexcept {
  const unsigned magnitude = type.is_signed ? type.width - 1 : type.width;
  const Wide largest = (Wide{1} << magnitude) - 1;
  const Wide least = type.is_signed ? -largest - 1 : Wide{0};
  const bool fits = value >= least && value <= largest;
  if (!fits && overflow == FieldOverflow::kFail) return std::nullopt;
  if (!fits && overflow == FieldOverflow::kSaturate) value = std::clamp(value, least, largest);
  const uint64_t bits = static_cast<uint64_t>(value);
  return type.width == FieldType::kMaxWidth ? bits : bits & ((uint64_t{1} << type.width) - 1);
}

}  // namespace

std::optional<FieldType> FieldType::Parse(std::string_view text) noexcept {
  if (text.empty() || (text[0] != 'i' && text[0] != 'u')) return std::nullopt;
  const FieldType widest{text[0] == 'i', text[0] == 'i' ? kMaxWidth : kMaxWidth - 1};
  const std::optional<int64_t> width = ParseInteger(text.substr(1));
  if (!width || *width < 1 || *width > widest.width) return std::nullopt;
  return FieldType{widest.is_signed, static_cast<unsigned>(*width)};
}

int64_t FieldType::ValueOf(uint64_t bits) const noexcept {
  if (!is_signed) return static_cast<int64_t>(bits);
  const unsigned unused = kMaxWidth - width;
  return static_cast<int64_t>(bits << unused) >> unused;
}

std::optional<uint64_t> SetField(FieldType type, int64_t value, FieldOverflow overflow) noexcept {
  return Fit(type, type.is_signed ? Wide{value} : Wide{static_cast<uint64_t>(value)}, overflow);
}

std::optional<uint64_t> AddToField(FieldType type, int64_t value, int64_t amount,
                                   FieldOverflow overflow) noexcept {
  return Fit(type, Wide{value} + amount, overflow);
}

}  // namespace mayfly
