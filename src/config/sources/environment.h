// Reads options from environment variables: MAYFLY_NAME, and MAYFLY_NAME_FILE for a value in a file.
//
// The second form is for secrets: it reads the value from a file of one line, without line ends after it. A file
// that holds only white space, or several lines, is an error, for every option. Kubernetes sets variables like
// MAYFLY_PORT=tcp://10.0.0.1:6379 in every container beside a Service named mayfly. These, and variables whose
// name is no option, are ignored with one warning for all, which names the nearest option. Only a name that looks like
// a secret, such as MAYFLY_PASSWORD, ends the start: without it the server would be open.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/directive.h"
#include "config/problem.h"
#include "config/sources/files.h"

namespace mayfly::config {

// `variables` are "NAME=value" texts. Appends to both lists; a problem begins with the variable's name.
[[nodiscard]] Problem ReadEnvironment(std::span<const std::string> variables, const Files& files,
                                      std::vector<Directive>& directives, std::vector<std::string>& warnings);

}  // namespace mayfly::config
