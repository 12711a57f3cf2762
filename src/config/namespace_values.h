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

// Adds the namespaces in `words` to `spaces`; a namespace replaces the namespace with the same name. No words empty
// `spaces`. A name has at least one word with a value. The default prefix is the name and a colon. After a problem nothing
// is changed.
[[nodiscard]] Problem ReadNamespaces(std::span<const std::string> words, std::vector<NamespaceTerms>& spaces);
// Changes the terms of one namespace that are named in `words`; other terms stay. Adds the namespace if no namespace has
// this name. After a problem nothing is changed.
[[nodiscard]] Problem ChangeNamespace(const std::string& name, std::span<const std::string> words,
                                      std::vector<NamespaceTerms>& spaces);
std::string FormatNamespaces(const std::vector<NamespaceTerms>& spaces);

// Returns a problem if databases and namespaces together are too many: an entry names either in one byte.
[[nodiscard]] Problem CheckNamespaces(const Settings& settings);

}  // namespace mayfly::config
