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

std::vector<std::string> ProblemsOf(const std::string& path, const Files& files) {
  std::vector<std::string> problems;
  ConfFileReader reader(files);
  reader.CollectProblems(problems);
  std::vector<Directive> directives;
  if (Problem problem = reader.Read(path, directives)) problems.push_back(std::move(*problem));

  std::map<const Option*, const Directive*> last;  // a later line may take back an earlier line
  for (const Directive& directive : directives) last[FindOption(directive.name)] = &directive;
  Settings settings;
  for (const Directive& directive : directives) {
    const Option* option = nullptr;
    std::string text;
    if (Problem problem = ApplyDirective(directive, settings, option, text))
      problems.push_back(std::move(*problem));
    else if (std::holds_alternative<Foreign>(option->target) && last[option] == &directive &&
             IsRefused(*option, text))
      problems.push_back(directive.place + ": " + Refusal(*option, text));
  }
  if (Problem problem = CheckNamespaces(settings)) problems.push_back(std::move(*problem));
  std::string absolute;
  if (Problem problem = files.directory(settings.dir.path, absolute)) problems.push_back("dir " + *problem);
  return problems;
}

}  // namespace mayfly::config
