// The value of `namespace`: a list of namespaces, each with a name and its limits.
//
//   app1 prefix app1: maxmemory 256mb maxkeys 1m default-ttl 1h   app2 prefix app2:
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::config {

// Adds the namespaces in `words` to `spaces`, in the place of one with the same name; no words empty it. A name has at
// least one word with its value. Without a prefix it is the name and a colon. On a problem nothing is changed.
[[nodiscard]] Problem ReadNamespaces(std::span<const std::string> words, std::vector<NamespaceTerms>& spaces);
// Changes the terms of one namespace that `words` say; the others stay. Adds the namespace if there is none with this
// name. On a problem nothing is changed.
[[nodiscard]] Problem ChangeNamespace(const std::string& name, std::span<const std::string> words,
                                      std::vector<NamespaceTerms>& spaces);
std::string FormatNamespaces(const std::vector<NamespaceTerms>& spaces);

// Whether there are not too many beside the databases: an entry names either in one byte.
[[nodiscard]] Problem CheckNamespaces(const Settings& settings);

}  // namespace mayfly::config
