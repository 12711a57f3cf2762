#include "config/sources/completion.h"

#include <string>

#include "config/option.h"
#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

std::string Script(const std::string& shell) { return CompletionFor(shell).value_or(""); }

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the scripts of all shells have every option that has an effect here") {
  const std::string bash = Script("bash");
  const std::string zsh = Script("zsh");
  const std::string fish = Script("fish");
  for (const Option& option : MayflyOptions()) {
    const std::string name(option.name);
    INFO(name);
    CHECK((Holds(bash, " --" + name + ' ') || Holds(bash, "'--" + name + ' ')));
    CHECK(Holds(zsh, "'*--" + name + '['));
    CHECK(Holds(fish, " -l " + name + ' '));
  }
  CHECK_FALSE(Holds(bash, "appendonly"));
}

TEST_CASE("a flag that takes one of a few words is followed by them, and a text with quotes is quoted") {
  CHECK(Holds(Script("bash"), "    --shadow-list) COMPREPLY=($(compgen -W 'yes no' "));
  CHECK(Holds(Script("zsh"), ":value:(debug verbose notice warning nothing)'"));
  CHECK(Holds(Script("fish"), "complete -c mayfly -l supervised -x -a 'upstart systemd auto no' -d "));
  CHECK(Holds(Script("fish"), "-d 'addresses to listen on; '\\''-'\\'' before one: it may be missing'"));
}

TEST_CASE("paths are completed by bash itself, which knows about spaces in them") {
  const std::string bash = Script("bash");
  CHECK_FALSE(Holds(bash, "compgen -f"));
  CHECK(Holds(bash, "    compopt -o default "));
  CHECK(bash.ends_with("complete -o default -F _mayfly mayfly\n"));
}

TEST_CASE("--completion answers with the script of a shell, and no other flag is read") {
  const TestFiles files;
  for (const std::string& shell : {std::string("bash"), std::string("zsh"), std::string("fish")}) {
    Options options(Loaded::kMemoryBytes, files.files());
    CHECK(options.Load(std::vector<std::string>{"--completion", shell}, {}).answer == Script(shell));
    CHECK(options.Load(std::vector<std::string>{"--completion=" + shell}, {}).answer == Script(shell));
  }
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"--completion"}, {"--completion", ""}, {"--completion="}})
    CHECK(Loaded(files, wrong).error == "--completion: there is none for '', but for bash, zsh and fish");
  CHECK(Loaded(files, {"--completion", "csh"}).error ==
        "--completion: there is none for 'csh', but for bash, zsh and fish");
  CHECK(Loaded(files, {"--completions", "bash"}).error == "unknown flag '--completions'");
  CHECK(Loaded(files, {"--port", "1", "--completion", "bash"}).error ==
        "--completion takes no other flags beside it");
}

}  // namespace mayfly::config
