#include "config/sources/check.h"

#include <map>
#include <utility>

#include "config/apply.h"
#include "config/namespace_values.h"
#include "config/sources/conf_file.h"

namespace mayfly::config {

bool AsksForCheck(std::span<const std::string> words, const CheckFlag& flag, std::string& path,
                  Problem& problem) {
  if (words.empty() || !words[0].starts_with(flag.name)) return false;
  path = words[0].substr(flag.name.size());
  if (!path.empty() && path[0] != '=') return false;
  const size_t taken = path.empty() ? 2 : 1;
  if (path.empty())
    path = words.size() > 1 ? words[1] : "";
  else
    path.erase(0, 1);
  if (path.empty() || words.size() > taken)
    problem = std::string(flag.name) + " takes one " + std::string(flag.file) + ", and nothing else";
  return true;
}

namespace {

// Redis saves without a line `save`, and loses less in a crash than Mayfly would with the same file.
constexpr std::string_view kNoSave =
    "nothing will be saved: the file has no line 'save'. Redis would then save by itself "
    "(save 3600 1 300 100 60 10000), and Mayfly does not";

void Drop(std::vector<Directive>& directives, const Option* option) {
  std::erase_if(directives, [&](const Directive& one) { return FindOption(one.name) == option; });
}

}  // namespace

CheckedFile CheckFile(const std::string& path, const Files& files) {
  CheckedFile checked;
  ConfFileReader reader(files);
  reader.CollectProblems(checked.problems);
  std::vector<Directive> directives;
  if (Problem problem = reader.Read(path, directives)) {
    checked.problems.push_back(std::move(*problem));
    return checked;
  }
  std::map<const Option*, const Directive*> last;  // a later line may take back an earlier line
  for (const Directive& directive : directives) last[FindOption(directive.name)] = &directive;
  Settings settings;
  for (const Directive& directive : directives) {
    const Option* option = nullptr;
    std::string text;
    if (Problem problem = ApplyDirective(directive, settings, option, text)) {
      checked.problems.push_back(std::move(*problem));
    } else if (std::holds_alternative<Foreign>(option->target) && IsRefused(*option, text)) {
      if (last[option] == &directive)
        checked.problems.push_back(directive.place + ": " + Refusal(*option, text));
    } else {
      checked.sound.push_back(directive);
    }
  }
  if (Problem problem = CheckNamespaces(settings)) {
    checked.problems.push_back(std::move(*problem));
    Drop(checked.sound, FindOption(&Settings::namespaces));
  }
  std::string absolute;
  if (Problem problem = files.directory(settings.dir.path, absolute)) {
    checked.problems.push_back("dir " + *problem);
    Drop(checked.sound, FindOption(&Settings::dir));
  }
  if (!last.contains(FindOption(&Settings::save))) checked.warnings.emplace_back(kNoSave);
  return checked;
}

}  // namespace mayfly::config
