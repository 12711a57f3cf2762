// Whatever CONFIG SET accepts, CONFIG REWRITE writes so that a start from that file has it again.
#include <iterator>
#include <random>
#include <set>

#include "config/sources/conf_file.h"
#include "config/sources/conf_rewrite.h"
#include "config/values.h"
#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

std::vector<std::string> AnyValues() {
  // Bytes that a line, a word or a quote could break at.
  const std::string bytes = R"(
      "" " " "  " "\t" "\x0b\x0c" " a" "a " "a b" "a  b" "\n" "a\nport 1" "\nport 1\n" "\r" "a\r\nb" "\x00"
      "a\x00b" "\"" "'" "\\" "a\"b" "a'b" "\"a\"" "'a'" "\"a" "a\\" "\\\"" "\\x41" "\\n" "#" "# a" "a#b"
      "a #b" " #" "\x7f" "\xff" "\xff\xfe" "\xef\xbb\xbf" "\x1b[31m" "a\ninclude /etc/passwd" "--port"
      "%s%n" "{" "$HOME" "`id`" "*" "?" "[a]")";
  // Values of each kind, and the same with something after them.
  const std::string kinds = R"(
      yes no NO "yes\n" 0 1 2 -1 99 1000 007 "1\n" 1048576 9223372036854775807 1kb 2mb 10% auto "auto\n"
      "50 99.9" "0.1 1e-5 100" "50\n" "900 1" "900 1\nport 1" "1 2 3" "1 2 3\n" KEA mnlgE "K\nE" "now force"
      "save\nport" "normal 1 2 3" "normal 1 2 3 pubsub 4mb 5 6" "normal 1 2 3\n" "{title} {port}"
      "{title}\n{port}" a.b-c /tmp ./ "127.0.0.1 -::1" 777 local 500ms 30m 7d "a:* default 30m max 1d jitter 5"
      "a prefix a# b maxkeys 1m" "a prefix #a maxmemory 1kb default-ttl 90" "a prefix $`x` b prefix $"
      "a required \"b\" max 500ms" "'a' max 1" "a# max 1" "#a max 1" "a\\ max 1")";
  std::vector<std::string> values = SplitWords(bytes + kinds).value();
  for (const char c : {'\n', '"', '\\', ' ', '\0'}) values.emplace_back(1'000, c);
  for (const char c : {'x', '\xff'}) values.emplace_back(100'000, c);
  return values;
}

// Besides these, values of the option's own: its default, and each of its names.
std::vector<std::string> ValuesFor(const Option& option) {
  static const std::vector<std::string> kAny = AnyValues();
  std::vector<std::string> values = kAny;
  values.emplace_back(option.default_text);
  const std::string names =
      "volatile-ttl allkeys-lru noeviction debug warning nothing allchannels resetchannels hostname wait " +
      std::string(option.choices);
  for (std::string& name : SplitAtSpaces(names)) values.push_back(std::move(name));
  return values;
}

std::string Shown(const std::string& value) {
  constexpr size_t kEnough = 60;
  return Printable(value.substr(0, kEnough));
}

std::vector<const Option*> AllOptions() {
  std::vector<const Option*> options;
  for (const std::span<const Option> half : {MayflyOptions(), RedisOptions()}) {
    for (const Option& option : half) {
      if (!option.Has(kNoConfig)) options.push_back(&option);
    }
  }
  return options;
}

std::vector<const Option*> SettableOptions() {
  std::vector<const Option*> options = AllOptions();
  std::erase_if(options, [](const Option* o) { return o->Has(kFixed) || o->Has(kProtected); });
  return options;
}

// Its one harmless value is all that it may be, or all that CONFIG GET answers.
bool AlwaysAnswersDefault(const Option& option) { return option.Has(kRefused) || option.Has(kInert); }

std::vector<std::string> WordsOf(const Option& option, const std::string& value) {
  return option.Has(kMultiWord) ? SplitAtSpaces(value) : std::vector<std::string>{value};
}

// A start from a file that was rewritten has everything that `loaded` has.
void CheckReadBack(const TestFiles& files, const Loaded& loaded) {
  const Loaded again(files, {"/a.conf"});
  REQUIRE(again.error == "");
  const bool same = again.options.settings() == loaded.options.settings() &&
                    again.options.Match("*") == loaded.options.Match("*");
  CHECK(same);
}

TEST_CASE("each value that CONFIG SET accepts for an option is in force again after a rewrite") {
  for (const Option* option : SettableOptions()) {
    const std::string name(option->name);
    TestFiles files;
    const std::string text(option->default_text);
    const bool several = option->Has(kMultiWord) && !text.empty();
    files.Put("/a.conf", "# first\n" + name + " " + (several ? text : QuoteWord(text)) + "\n# last\n");
    Loaded loaded(files, {"/a.conf"});
    REQUIRE(loaded.error == "");
    std::set<std::string> answers;
    for (const std::string& value : ValuesFor(*option)) {
      if (!loaded.Set({{name, value}}).empty()) continue;
      CAPTURE(name, Shown(value));
      REQUIRE(loaded.options.Rewrite().value_or("") == "");
      const Loaded again(files, {"/a.conf"});
      REQUIRE(again.error == "");
      const bool same =
          again.Get(name) == loaded.Get(name) && again.options.settings() == loaded.options.settings();
      CHECK(same);
      answers.insert(loaded.Get(name));
    }
    INFO(name);
    CHECK((answers.size() > 1 || AlwaysAnswersDefault(*option)));
    CheckReadBack(files, loaded);
    CHECK(files.Text("/a.conf").starts_with("# first\n"));
    CHECK(files.Text("/a.conf").ends_with("\n# last\n"));
  }
}

TEST_CASE("values of many options together are in force again after a rewrite of any file") {
  constexpr unsigned kSeed = 20250101;
  std::mt19937 random(kSeed);
  const std::string texts[] = {
      "", "# mine", "\xEF\xBB\xBFtimeout 3\r\nmaxkeys 7\r\n",
      "REQUIREPASS \"\\x00 a\"\nslave-priority 3\n  masteruser 'x'  \ninclude /b.conf\nsave 1 2\n"};
  const std::vector<const Option*> options = SettableOptions();
  std::vector<std::vector<std::string>> values_of;
  for (const Option* option : options) values_of.push_back(ValuesFor(*option));
  for (size_t round = 0; round < 40; ++round) {
    TestFiles files;
    files.Put("/a.conf", texts[round % std::size(texts)]);
    files.Put("/b.conf", "timeout 9\ntls-ciphers \"a b\"\nclient-output-buffer-limit pubsub 1 2 3\n");
    Loaded loaded(files, {"/a.conf"});
    REQUIRE(loaded.error == "");
    for (size_t i = 0; i < options.size(); ++i) {
      const std::vector<std::string>& values = values_of[i];
      for (int tries = 0; tries < 3; ++tries)
        (void)loaded.Set({{std::string(options[i]->name), values[random() % values.size()]}});
    }
    CAPTURE(round);
    REQUIRE(loaded.options.Rewrite().value_or("") == "");
    CheckReadBack(files, loaded);
  }
}

TEST_CASE("random bytes that CONFIG SET accepts are in force again after a rewrite") {
  std::mt19937 random(7);
  const char* const names[] = {"requirepass", "bind-source-addr", "ignore-warnings", "masterauth"};
  TestFiles files;
  files.Put("/a.conf", "");
  Loaded loaded(files, {"/a.conf"});
  for (int round = 0; round < 500; ++round) {
    std::string value(random() % 20, '\0');
    for (char& c : value) c = static_cast<char>(random() % 3 == 0 ? " \n\"'\\#x\t"[random() % 8] : random());
    REQUIRE(loaded.Set({{names[random() % std::size(names)], value}}) == "");
    REQUIRE(loaded.options.Rewrite().value_or("") == "");
    CheckReadBack(files, loaded);
  }
}

// R#14970, and CONFIG SET with line ends: no value becomes another option's line.
TEST_CASE("the line of any option is one line, and reads back as the option's value") {
  for (const Option* option : AllOptions()) {
    for (const std::string& value : ValuesFor(*option)) {
      Settings settings;
      std::string text;
      if (ReadValue(*option, WordsOf(*option, value), settings, text)) continue;
      CAPTURE(option->name, Shown(value));
      std::map<const Option*, std::string> foreign;
      if (std::holds_alternative<Foreign>(option->target)) foreign[option] = text;
      const std::string line = LineOf(*option, settings, foreign);
      CHECK(line.find_first_of(std::string("\n\r\0", 3)) == std::string::npos);

      TestFiles files;
      std::vector<Directive> directives;
      files.Put("/a.conf", line);
      REQUIRE(ConfFileReader(files.files()).Read("/a.conf", directives).value_or("") == "");
      REQUIRE(directives.size() == 1);
      REQUIRE(directives[0].name == option->name);
      std::vector<std::string> words = directives[0].words;
      if (words.size() == 1 && !words[0].empty()) words = WordsOf(*option, words[0]);
      Settings again;
      std::string text_again;
      CHECK(ReadValue(*option, words, again, text_again).value_or("") == "");
      const bool same = again == settings && text_again == text;
      CHECK(same);
    }
  }
}

TEST_CASE("a file that would be too large to be read is not written") {
  TestFiles files;
  files.Put("/a.conf", "timeout 3\n");
  Loaded loaded(files, {"/a.conf"});
  REQUIRE(loaded.Set({{"bind-source-addr", std::string(kConfigBytesMax / 4, '\xff')}}) == "");
  CHECK(loaded.options.Rewrite() == "Rewriting config file: /a.conf: would be larger than 16777216 bytes");
  CHECK((files.Text("/a.conf") == "timeout 3\n"));
}

}  // namespace
}  // namespace mayfly::config
