// Compares the table with itself, with Settings and with conf/mayfly.conf.
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "base/text/ascii.h"
#include "config/option.h"
#include "config/values.h"
#include "config/words.h"
#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

std::string ConfText() {
  std::ifstream file(MAYFLY_SOURCE_DIR "/conf/mayfly.conf");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The words of each line of the conf file that is no comment, by name.
std::map<std::string, std::vector<std::string>> ConfLines() {
  std::map<std::string, std::vector<std::string>> lines;
  std::stringstream text(ConfText());
  for (std::string line; std::getline(text, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> words = SplitWords(line).value();
    const std::string name = words.front();
    words.erase(words.begin());
    CHECK(lines.emplace(name, words).second);
  }
  return lines;
}

// The names in the comment block after a line with `heading`, from the lines that begin with "#   ".
std::set<std::string> NamesListedAfter(const std::string& heading) {
  std::set<std::string> names;
  std::stringstream text(ConfText());
  std::string line;
  while (std::getline(text, line) && line.find(heading) == std::string::npos) {
  }
  while (std::getline(text, line) && line.starts_with("#")) {
    if (!line.starts_with("#   ")) continue;
    const std::vector<std::string> words = SplitWords(line.substr(1)).value();
    names.insert(words.begin(), words.end());
  }
  return names;
}

std::set<std::string> NamesWith(OptionFlag flag) {
  std::set<std::string> names;
  for (const Option& option : RedisOptions()) {
    if (option.Has(flag)) names.emplace(option.name);
  }
  return names;
}

struct Anything {
  template <typename T>
  operator T() const;  // NOLINT(google-explicit-constructor): it is to become whatever a member is
};

template <size_t... kAt>
constexpr bool HasMembers(std::index_sequence<kAt...>) {
  return requires { Settings{(static_cast<void>(kAt), Anything{})...}; };
}

// The number of members of Settings, which is at least kLeast and below kAbove.
template <size_t kLeast, size_t kAbove>
constexpr size_t CountMembers() {
  constexpr size_t kMiddle = (kLeast + kAbove) / 2;
  if constexpr (kMiddle == kLeast)
    return kLeast;
  else if constexpr (HasMembers(std::make_index_sequence<kMiddle>()))
    return CountMembers<kMiddle, kAbove>();
  else
    return CountMembers<kLeast, kMiddle>();
}

}  // namespace

TEST_CASE("each member of Settings is the value of one option, which is found by the member") {
  for (const Option& option : MayflyOptions()) {
    INFO(option.name);
    CHECK(FindOption(option.target) == &option);
    CHECK_FALSE(std::holds_alternative<Foreign>(option.target));
  }
  constexpr size_t kMany = 1024;
  CHECK(CountMembers<0, kMany>() == MayflyOptions().size());
}

TEST_CASE("conf/mayfly.conf names every option with its default, and no other") {
  const auto lines = ConfLines();
  std::set<std::string> table;
  for (const Option& option : MayflyOptions()) {
    table.emplace(option.name);
    INFO(option.name);
    REQUIRE(lines.contains(std::string(option.name)));
    CHECK(JoinWords(lines.at(std::string(option.name))) == option.default_text);
  }
  for (const auto& [name, words] : lines) {
    INFO(name);
    CHECK(table.contains(name));
  }
}

TEST_CASE("conf/mayfly.conf as it stands changes nothing") {
  TestFiles files;
  files.Put("mayfly.conf", ConfText());
  Loaded loaded(files, {"mayfly.conf"});
  CHECK(loaded.error == "");
  CHECK(loaded.warnings.empty());
  CHECK(loaded.options.settings() == Loaded(files, {}).options.settings());
}

TEST_CASE("conf/mayfly.conf lists the ignored and the refused options of Redis") {
  CHECK(NamesListedAfter("Options of Redis only") == NamesWith(kIgnored));
  CHECK(NamesListedAfter("Options that are refused") == NamesWith(kRefused));
}

TEST_CASE("the table's default texts are the initial values of Settings") {
  for (const Option& option : MayflyOptions()) {
    INFO(option.name);
    const Settings fresh;
    Settings read;
    std::string unused;
    const std::vector<std::string> words = option.Has(kMultiWord)
                                               ? SplitAtSpaces(option.default_text)
                                               : std::vector<std::string>{std::string(option.default_text)};
    CHECK_FALSE(ReadValue(option, words, read, unused));
    CHECK(read == fresh);
    CHECK_FALSE(option.doc.empty());
  }
}

TEST_CASE("the defaults of Redis's options are values that they accept") {
  for (const Option& option : RedisOptions()) {
    INFO(option.name);
    Settings unused;
    std::string text = "untouched";
    const std::vector<std::string> words = option.Has(kMultiWord)
                                               ? SplitAtSpaces(option.default_text)
                                               : std::vector<std::string>{std::string(option.default_text)};
    CHECK_FALSE(ReadValue(option, words, unused, text));
    CHECK(text == option.default_text);
    CHECK(option.Has(kIgnored) != option.Has(kRefused));
    CHECK((!option.Has(kRefused) || !option.doc.empty()));
  }
}

TEST_CASE("every name and alias belongs to one option and is in lower case") {
  std::set<std::string> names;
  for (const std::span<const Option> half : {MayflyOptions(), RedisOptions()}) {
    for (const Option& option : half) {
      for (const std::string_view name : {option.name, option.alias}) {
        if (name.empty()) continue;
        INFO(name);
        CHECK(names.emplace(name).second);
        CHECK(LowerCase(name) == name);
        CHECK(FindOption(name) == &option);
      }
    }
  }
  for (const std::string& name : names) {
    INFO(name);  // MAYFLY_X_FILE must not mean two things
    CHECK_FALSE(names.contains(name + "-file"));
  }
  CHECK(FindOption("MaxMemory-Policy") == FindOption("maxmemory-policy"));
  CHECK(FindOption("") == nullptr);
  CHECK(FindOption("maxmemor") == nullptr);
}

TEST_CASE("CONFIG GET answers each default in a form that CONFIG SET accepts") {
  TestFiles files;
  const Loaded loaded(files, {});
  for (const Option& option : MayflyOptions()) {
    INFO(option.name);
    const std::string text = FormatValue(option, loaded.options.settings());
    Settings read = loaded.options.settings();
    std::string unused;
    const std::vector<std::string> words =
        option.Has(kMultiWord) ? SplitAtSpaces(text) : std::vector<std::string>{text};
    CHECK_FALSE(ReadValue(option, words, read, unused));
    CHECK(FormatValue(option, read) == text);
  }
}

}  // namespace mayfly::config
