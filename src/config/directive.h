// One wish of the user, wherever it was written: an option's name, its words, and the place to blame.
#pragma once

#include <string>
#include <vector>

namespace mayfly::config {

struct Directive {
  std::string place;  // "/etc/mayfly.conf:12", "MAYFLY_PORT" or "--port"
  // True for a line of a file: the place says where, but not which option. The two others are named after it.
  bool in_file = false;
  std::string name;  // in lower case
  std::vector<std::string> words;
  bool included = false;  // the line of a file that another file, or the command line, includes

  // How an error message begins.
  std::string Blame() const { return in_file ? place + ": " + name : place; }
};

}  // namespace mayfly::config
