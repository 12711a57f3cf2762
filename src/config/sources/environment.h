// Reads options from environment variables: MAYFLY_NAME, and MAYFLY_NAME_FILE for a value in a file.
//
// The second form is for secrets: it reads the value from a file of one line, without the line ends after the value. For
// every option, a file of only white space, or of several lines, is an error. Kubernetes sets variables like
// MAYFLY_PORT=tcp://10.0.0.1:6379 in every container beside a Service named mayfly. Variables of Kubernetes, and variables
// without an option, are ignored; one warning lists them all and names the nearest options. Only a name that looks like a
// secret, such as MAYFLY_PASSWORD, ends the start: without the secret the server would be open.
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
