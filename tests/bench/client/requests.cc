#include "requests.h"

namespace mayfly::bench {

void AppendRequest(std::string& out, std::initializer_list<std::string_view> words) {
  out += '*';
  out += std::to_string(words.size());
  out += "\r\n";
  for (const std::string_view word : words) {
    out += '$';
    out += std::to_string(word.size());
    out += "\r\n";
    out += word;
    out += "\r\n";
  }
}

void WriteDigits(uint64_t number, char* digits) {
  for (size_t i = kKeyDigits; i-- > 0; number /= 10) digits[i] = static_cast<char>('0' + number % 10);
}

std::string KeyOf(uint64_t number) {
  std::string key(kKeyBytes, 'k');
  key[1] = ':';
  WriteDigits(number, key.data() + 2);
  return key;
}

}  // namespace mayfly::bench
