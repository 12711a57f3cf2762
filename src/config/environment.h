// Reads MAYFLY_<NAME> and MAYFLY_<NAME>_FILE variables.
//
// The second form reads the value from a file and drops one newline at its end: for secrets. A file that
// holds only white space is an error, for every option. Kubernetes puts addresses like
// MAYFLY_PORT=tcp://10.0.0.1:6379 into every container beside a Service named mayfly; these, and MAYFLY_
// names that are no option, are passed over and told in one warning, never an error.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/directive.h"
#include "config/files.h"
#include "config/problem.h"

namespace mayfly::config {

// `variables` are "NAME=value" texts. Appends to both lists; a problem begins with the variable's name.
[[nodiscard]] Problem ReadEnvironment(std::span<const std::string> variables, const Files& files,
                                      std::vector<Directive>& directives, std::vector<std::string>& warnings);

}  // namespace mayfly::config
