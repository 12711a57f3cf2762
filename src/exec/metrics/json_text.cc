#include "exec/metrics/json_text.h"

#include <charconv>
#include <cmath>

#include "base/text/utf8.h"

namespace mayfly {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

}  // namespace

JsonText& JsonText::Open(char bracket) {
  Write({&bracket, 1});
  comma_ = false;
  return *this;
}

JsonText& JsonText::Close(char bracket) {
  text_ += bracket;
  comma_ = true;
  return *this;
}

JsonText& JsonText::Key(std::string_view name) {
  String(name);
  text_ += ':';
  comma_ = false;
  return *this;
}

JsonText& JsonText::String(std::string_view value) {
  if (comma_) text_ += ',';
  AppendString(value);
  comma_ = true;
  return *this;
}

// JSON has no infinity.
JsonText& JsonText::Decimal(double number) {
  if (!std::isfinite(number)) return Write("null");
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number);
  return Write({digits, end.ptr});
}

JsonText& JsonText::Write(std::string_view raw) {
  if (comma_) text_ += ',';
  text_ += raw;
  comma_ = true;
  return *this;
}

void JsonText::AppendString(std::string_view value) {
  text_ += '"';
  while (!value.empty()) {
    const size_t size = Utf8SizeAt(value);
    const auto first = static_cast<unsigned char>(value[0]);
    if (size == 0)
      text_.append("\\\\x").append(1, kDigits[first >> 4U]).append(1, kDigits[first & 15U]);
    else if (first == '"' || first == '\\')
      text_.append(1, '\\').append(1, static_cast<char>(first));
    else if (first < ' ' || first == 0x7F || first == '<' || first == '>' || first == '&')
      text_.append("\\u00").append(1, kDigits[first >> 4U]).append(1, kDigits[first & 15U]);
    else
      text_ += value.substr(0, size);
    value.remove_prefix(size == 0 ? 1 : size);
  }
  text_ += '"';
}

}  // namespace mayfly
