#include "requests.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <utility>

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

RequestForm::RequestForm(const std::string& form) {
  constexpr size_t kPlaceholder = 3;  // bytes of {k}
  std::istringstream line(form);
  std::vector<std::string> words;
  std::vector<std::vector<std::pair<size_t, char>>> places;  // of each word
  for (std::string word; line >> word;) {
    places.emplace_back();
    for (size_t at = 0; (at = word.find('{', at)) != std::string::npos;) {
      const std::string_view found = std::string_view(word).substr(at, kPlaceholder);
      if (found != "{k}" && found != "{m}") {  // a hash tag, for example
        ++at;
        continue;
      }
      places.back().emplace_back(at, found[1]);
      word.replace(at, kPlaceholder, kKeyDigits, '0');
      at += kKeyDigits;
    }
    words.push_back(word);
  }
  bytes_ = "*" + std::to_string(words.size()) + "\r\n";
  for (size_t i = 0; i < words.size(); ++i) {
    bytes_ += "$" + std::to_string(words[i].size()) + "\r\n";
    for (const auto& [at, kind] : places[i]) (kind == 'k' ? keys_ : members_).push_back(bytes_.size() + at);
    bytes_ += words[i] + "\r\n";
  }
}

std::vector<RequestForm> ReadForms(const std::string& forms) {
  std::vector<RequestForm> all;
  for (size_t begin = 0; begin <= forms.size();) {
    const size_t end = std::min(forms.find(" ; ", begin), forms.size());
    all.emplace_back(forms.substr(begin, end - begin));
    begin = end + 3;
  }
  return all;
}

}  // namespace mayfly::bench
