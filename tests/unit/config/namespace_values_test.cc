// The value of namespace.
#include "config/namespace_values.h"

#include "config/words.h"
#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

std::string Read(const std::string& text) {
  std::vector<NamespaceTerms> spaces;
  if (const Problem problem = ReadNamespaces(SplitAtSpaces(text), spaces)) return *problem;
  return FormatNamespaces(spaces);
}

}  // namespace

TEST_CASE("namespaces follow one another, and are answered in one form") {
  CHECK(Read("app1 prefix app1: maxmemory 256mb maxkeys 1m default-ttl 1h") ==
        "app1 prefix app1: maxmemory 268435456 maxkeys 1000000 default-ttl 3600");
  CHECK(Read("a maxkeys 0") == "a prefix a:");
  CHECK(Read("a prefix a: b MAXKEYS 7 Prefix x c-1 prefix y maxmemory 0") ==
        "a prefix a: b prefix x maxkeys 7 c-1 prefix y");
}

TEST_CASE("a namespace that says something else is refused") {
  const std::string name =
      "a name has 1 to 64 letters, digits, '-', '_' and '.', and begins with a letter: '";
  const auto needs_word = [](const std::string& space, const std::string& found) {
    return "after '" + space + "' comes prefix, maxmemory, maxkeys or default-ttl with its value, not " +
           found;
  };
  const std::string prefix =
      "a prefix has 1 to 1024 printable characters, but no spaces, commas, quotes and backslashes";
  CHECK(Read("a: maxkeys 1") == name + "a:'");
  CHECK(Read(std::string(65, 'a') + " maxkeys 1").starts_with(name));
  CHECK(Read(std::string(64, 'a') + " maxkeys 1").starts_with("aaa"));
  CHECK(Read("a") == needs_word("a", "nothing"));
  CHECK(Read("shop prefx a") == needs_word("shop", "'prefx'"));
  CHECK(Read("a  b") == needs_word("a", "''"));
  CHECK(Read("shop maxmem 64mb") == needs_word("shop", "'maxmem'"));
  CHECK(Read("shop prefix s: blog") == needs_word("blog", "nothing"));
  CHECK(Read("shop maxkeys 3 max-ttl 10") == needs_word("max-ttl", "'10'"));
  CHECK(Read("shop prefix s: maxmemry maxkeys 5") ==
        "'maxmemry' is too much like the word 'maxmemory' to be a name");
  CHECK(Read("shop maxkeys 3 12") == name + "12'");
  CHECK(Read("prefix a") == "a namespace begins with its name");
  CHECK(Read("a prefix") == "a value is missing after 'prefix'");
  CHECK(Read("a prefix x,y") == prefix);
  CHECK(Read("a prefix \"x\"") == prefix);
  CHECK(Read("a prefix x\\") == prefix);
  CHECK(Read("a prefix " + std::string(1025, 'x')) == prefix);
  CHECK(Read("a maxmemory lots") == "maxmemory must be a memory value");
  CHECK(Read("a maxkeys -1") == "maxkeys must be a number, as 500, 10k or 1m");
  CHECK(Read("a default-ttl x").starts_with("argument must be a time"));
  CHECK(Read("a prefix x b prefix x") == "'a' and 'b' have the same prefix");
  CHECK(Read("a prefix b: b maxkeys 1") == "'a' and 'b' have the same prefix");
}

TEST_CASE("lines add to one another, the same name comes in its place, and no words empty the list") {
  std::vector<NamespaceTerms> spaces;
  const auto read = [&](const std::string& text) { return ReadNamespaces(SplitAtSpaces(text), spaces); };
  CHECK_FALSE(read("a maxkeys 1"));
  CHECK_FALSE(read("b maxkeys 0"));
  CHECK_FALSE(read("a prefix x:"));
  CHECK(FormatNamespaces(spaces) == "a prefix x: b prefix b:");
  CHECK(read("c prefix x:") == "'a' and 'c' have the same prefix");
  CHECK(spaces.size() == 2);
  CHECK_FALSE(ReadNamespaces(std::vector<std::string>{""}, spaces));
  CHECK(spaces.empty());
}

TEST_CASE("a change of one namespace leaves its other terms and the other namespaces as they are") {
  std::vector<NamespaceTerms> spaces;
  const auto change = [&](const std::string& name, const std::string& words) {
    return ChangeNamespace(name, SplitAtSpaces(words), spaces).value_or("");
  };
  CHECK(change("a", "prefix x: maxkeys 5") == "");
  CHECK(change("b", "maxmemory 1kb") == "");
  CHECK(change("a", "maxmemory 2kb") == "");
  CHECK(change("b", "maxmemory 0 default-ttl 1m") == "");
  const std::string both = "a prefix x: maxmemory 2048 maxkeys 5 b prefix b: default-ttl 60";
  CHECK(FormatNamespaces(spaces) == both);
  CHECK(change("b", "prefix x:") == "'a' and 'b' have the same prefix");
  CHECK(change("b", "maxkeys 1 c") == "'c' is none of prefix, maxmemory, maxkeys, default-ttl");
  CHECK(change("b", "maxkeys 1 c maxkeys 2") == "'c' is none of prefix, maxmemory, maxkeys, default-ttl");
  CHECK(change("b", "maxkeys") == "a value is missing after 'maxkeys'");
  CHECK(change("c", "").starts_with("after 'c' comes prefix"));
  CHECK(change("maxkey", "maxkeys 1").starts_with("'maxkey' is too much like"));
  CHECK(FormatNamespaces(spaces) == both);
}

TEST_CASE("there may be 256 databases and namespaces together, however they are set") {
  TestFiles files;
  std::string lines;
  for (int i = 0; i < 240; ++i) lines += "namespace n" + std::to_string(i) + " maxkeys 1\n";
  files.Put("/a.conf", lines);
  const Loaded fits(files, {"/a.conf"});
  CHECK(fits.error == "");
  CHECK(fits.options.settings().namespaces.size() == 240);
  CHECK_FALSE(CheckNamespaces(fits.options.settings()));
  files.Put("/b.conf", lines + "databases 17\n");
  CHECK(Loaded(files, {"/b.conf"}).error ==
        "240 namespaces beside 17 databases are too many: there may be 256 of both together");
}

}  // namespace mayfly::config
