#include "requests.h"

namespace mayfly::bench {

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
