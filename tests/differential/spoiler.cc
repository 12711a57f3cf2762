#include "differential/spoiler.h"

#include <algorithm>
#include <utility>

namespace mayfly::testing {
namespace {

constexpr int kMostTries = 8;

bool Has(const std::vector<DrawnWord>& words, std::string_view token) {
  return std::any_of(words.begin(), words.end(),
                     [&](const DrawnWord& word) { return word.is_token && word.text == token; });
}

}  // namespace

void Spoiler::Spoil(const RowSyntax& syntax, std::string_view kept, std::vector<DrawnWord>& words) {
  const Drawn valid = words;
  for (int i = 0; i < kMostTries; ++i) {
    words = valid;
    SpoilOnce(syntax, words);
    if (dice_.OneIn(4)) SpoilOnce(syntax, words);
    if (kept.empty() || Has(words, kept)) return;
  }
}

void Spoiler::SpoilOnce(const RowSyntax& syntax, Drawn& words) {
  if (words.empty()) return Add(words);
  const size_t at = dice_.Below(words.size());
  const auto place = words.begin() + static_cast<std::ptrdiff_t>(at);
  switch (dice_.Below(9)) {
    case 0:
      words.erase(place);
      break;
    case 1:
      words.erase(place, words.end());
      break;
    case 2:
      Add(words);
      break;
    case 3:
    case 4: {
      const Drawn again = walker_.WalkOne(syntax);
      words.insert(words.end(), again.begin(), again.end());
      break;
    }
    case 5:
      std::swap(*place, words.back());
      break;
    default:
      Replace(syntax, words);
  }
}

void Spoiler::Add(Drawn& words) {
  switch (dice_.Below(4)) {
    case 0:
      return words.push_back({values_.Key()});
    case 1:
      return words.push_back({values_.Amount()});
    case 2:
      return words.push_back({""});
    default:
      if (words.empty()) return words.push_back({"nonsense"});
      return words.push_back({words[dice_.Below(words.size())].text});
  }
}

void Spoiler::Replace(const RowSyntax& syntax, Drawn& words) {
  DrawnWord& word = words[dice_.Below(words.size())];
  if (word.is_token) {
    Misspell(word.text);
    word.is_token = false;
  } else if (word.argument != nullptr) {
    word.text = values_.Hostile(syntax.row->full_name, *word.argument);
  }
}

void Spoiler::Misspell(std::string& word) {
  if (dice_.OneIn(6)) {
    word = values_.dice().OneIn(2) ? "" : "a\r\nb\n";
  } else if (word.empty() || dice_.OneIn(2)) {
    word.push_back(static_cast<char>('A' + dice_.Below(26)));
  } else {
    word.pop_back();
  }
}

}  // namespace mayfly::testing
