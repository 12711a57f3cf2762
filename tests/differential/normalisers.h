// Where replies cannot be the same byte for byte: what is compared instead, and why.
//
// A reply that is the same needs no line. Errors are compared as they are, unless the line says otherwise.
// A line for a command that the table does not have fails the run, and so does one that every run should need
// and this one did not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "differential/case.h"
#include "exec/command_table.h"
#include "support/reply.h"

namespace mayfly::testing {

class Normalisers {
 public:
  Normalisers();

  // Whether the two bytes of a reply say the same.
  bool Same(const Case& sent, const std::string& redis, const std::string& mayfly);
  // Lines of the table that are not true, as sentences.
  std::vector<std::string> Complaints(const CommandTable& table) const;

 private:
  std::vector<uint64_t> uses_;  // of each line
};

}  // namespace mayfly::testing
