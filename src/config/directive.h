// One setting from a file, a variable or a flag: the option's name, its words, and its place for error messages.
#pragma once

#include <string>
#include <vector>

namespace mayfly::config {

struct Directive {
  std::string place;  // "/etc/mayfly.conf:12", "MAYFLY_PORT" or "--port"
  // True for a line of a file: the place of a line does not name the option; the place of a variable or a flag does.
  bool in_file = false;
  std::string name;  // in lower case
  std::vector<std::string> words;
  bool included = false;  // the line is in a file included by another file or the command line

  // The beginning of an error message.
  std::string Blame() const { return in_file ? place + ": " + name : place; }
};

}  // namespace mayfly::config
