// Brings the parts of the manual that are made from tables up to date: write_readme_table DOCS, the folder of the pages.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "support/readme_table.h"

int main(int count, char** words) {
  if (count != 2) return std::fprintf(stderr, "usage: write_readme_table DOCS\n"), 2;
  for (const auto& part : mayfly::testing::MadeParts(mayfly::CommandTable())) {
    const std::string path = std::string(words[1]) + "/" + part.page;
    std::ifstream file(path);
    const std::string before((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const auto after = mayfly::testing::WithPart(before, part.name, part.text);
    if (!after) return std::fprintf(stderr, "%s: the two lines around a part are missing\n", path.c_str()), 1;
    if (*after != before) std::ofstream(path) << *after;
  }
  return 0;
}
