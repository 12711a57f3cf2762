#include "exec/info/info_text.h"

#include <algorithm>
#include <cstdio>
#include <type_traits>

#include "base/memory/heap.h"
#include "base/text/numbers.h"

namespace mayfly {
namespace {

constexpr std::string_view kLineEnd = "\r\n";

void AppendDecimal(std::string& text, const InfoDecimal& decimal) {
  char digits[64];
  const int size = std::snprintf(digits, sizeof digits, "%.*f", decimal.decimals, decimal.value);
  text.append(digits, static_cast<size_t>(size)).append(decimal.unit);
}

// Replaces the characters that would end a name or a line.
std::string SafeName(std::string_view name) {
  std::string safe(name);
  std::replace_if(
      safe.begin(), safe.end(), [](char c) { return c == '#' || c == ':' || c == '\n' || c == '\r'; }, '_');
  return safe;
}

}  // namespace

void InfoText::Section(std::string_view title) {
  if (!text_.empty()) text_ += kLineEnd;
  text_.append("# ").append(title).append(kLineEnd);
}

void InfoText::Field(std::string_view name, const InfoValue& value) {
  text_.append(name).append(":");
  Append(value);
  text_ += kLineEnd;
}

// Writes the number, and a second field with the form for people.
void InfoText::Bytes(std::string_view name, uint64_t bytes) {
  Field(name, bytes);
  text_.append(name).append("_human:").append(FormatBytesHuman(bytes)).append(kLineEnd);
}

void InfoText::Group(const InfoLabel& label, std::span<const InfoMember> members) {
  text_.append(label.prefix).append(SafeName(label.of));
  if (members.empty()) text_ += ':';
  char before = ':';
  for (const InfoMember& member : members) {
    text_.append(1, before).append(member.name).append("=");
    Append(member.value);
    before = ',';
  }
  text_ += kLineEnd;
}

size_t InfoText::memory() const noexcept {
  return text_.capacity() > std::string().capacity() ? MallocSizeClass(text_.capacity() + 1) : 0;
}

void InfoText::Append(const InfoValue& value) {
  std::visit(
      [this](const auto& kind) {
        using Kind = std::remove_cvref_t<decltype(kind)>;
        if constexpr (std::is_same_v<Kind, std::string_view>)
          text_ += kind;
        else if constexpr (std::is_same_v<Kind, InfoDecimal>)
          AppendDecimal(text_, kind);
        else
          text_ += std::to_string(kind);
      },
      value.kinds());
}

}  // namespace mayfly
