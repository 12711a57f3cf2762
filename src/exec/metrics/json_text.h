// Writes JSON from the front to the back. For example:
//
//   JsonText json;
//   json.Open('{').Key("keys").Number(2).Key("names").Open('[').String("a\"b").Close(']').Close('}');
//   json.text() == R"({"keys":2,"names":["a\"b"]})"
//
// A text may have any bytes: bytes that are not UTF-8 are shown as \xNN. The characters that could end a <script> are
// escaped, so the text may stand in HTML.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace mayfly {

class JsonText {
 public:
  // All methods throw std::bad_alloc.
  JsonText& Open(char bracket);
  JsonText& Close(char bracket);
  JsonText& Key(std::string_view name);
  JsonText& String(std::string_view value);
  template <std::integral Integer>
  JsonText& Number(Integer number) {
    return Write(std::to_string(number));
  }
  JsonText& Decimal(double number);
  JsonText& Bool(bool value) { return Write(value ? "true" : "false"); }

  std::string& text() noexcept { return text_; }
  const std::string& text() const noexcept { return text_; }

 private:
  JsonText& Write(std::string_view raw);
  void AppendString(std::string_view value);

  std::string text_;
  bool comma_ = false;  // before the next value
};

}  // namespace mayfly
