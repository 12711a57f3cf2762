// Brings the parts of a README that are made from tables up to date: write_readme_table README.md
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "support/readme_table.h"

int main(int count, char** words) {
  if (count != 2) return std::fprintf(stderr, "usage: write_readme_table README.md\n"), 2;
  std::ifstream file(words[1]);
  const std::string before((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto after = mayfly::testing::WithAllParts(before, mayfly::CommandTable());
  if (!after) return std::fprintf(stderr, "%s: the two lines around a part are missing\n", words[1]), 1;
  if (*after != before) std::ofstream(words[1]) << *after;
  return 0;
}
