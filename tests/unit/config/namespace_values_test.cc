// The value of namespace.
#include "config/namespace_values.h"

#include <catch2/catch.hpp>

#include "config/words.h"
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
  CHECK(Read("a") == "a prefix a:");
  CHECK(Read("a b MAXKEYS 7 Prefix x c-1 prefix y maxmemory 0") ==
        "a prefix a: b prefix x maxkeys 7 c-1 prefix y");
}

TEST_CASE("a namespace that says something else is refused") {
  const std::string name = "a name has 1 to 64 letters, digits, '-', '_' and '.', and begins with a letter";
  const std::string prefix =
      "a prefix has 1 to 1024 printable characters, but no spaces, commas, quotes and backslashes";
  CHECK(Read("a:") == name);
  CHECK(Read(std::string(65, 'a')) == name);
  CHECK(Read(std::string(64, 'a')).starts_with("aaa"));
  CHECK(Read("a  b") == name);
  CHECK(Read("shop maxmem 64mb") == name);
  CHECK(Read("shop maxkeys 3 max-ttl 10") == name);
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
  CHECK(Read("a prefix b: b") == "'a' and 'b' have the same prefix");
}

TEST_CASE("lines add to one another, the same name comes in its place, and no words empty the list") {
  std::vector<NamespaceTerms> spaces;
  const auto read = [&](const std::string& text) { return ReadNamespaces(SplitAtSpaces(text), spaces); };
  CHECK_FALSE(read("a maxkeys 1"));
  CHECK_FALSE(read("b"));
  CHECK_FALSE(read("a prefix x:"));
  CHECK(FormatNamespaces(spaces) == "a prefix x: b prefix b:");
  CHECK(read("c prefix x:") == "'a' and 'c' have the same prefix");
  CHECK(spaces.size() == 2);
  CHECK_FALSE(ReadNamespaces(std::vector<std::string>{""}, spaces));
  CHECK(spaces.empty());
}

TEST_CASE("there may be 256 databases and namespaces together, however they are set") {
  TestFiles files;
  std::string lines;
  for (int i = 0; i < 240; ++i) lines += "namespace n" + std::to_string(i) + "\n";
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
