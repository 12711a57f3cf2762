// Values of every type and size, made at a server by its own commands: for what is dumped, saved, restored and loaded between
// servers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/words.h"

namespace mayfly::testing {

// A value is made at the key "k".
struct Made {
  const char* about;
  std::vector<Words> requests;
};

std::string Long(char letter, size_t size = 100);
// What redis-server 7.0 and Valkey 8.0 know.
std::vector<Made> Values();
// Hashes of redis-server 7.4 and later. `now_ms`: Unix time.
std::vector<Made> ValuesWithFieldDeadlines(int64_t now_ms);

// Each version of a server has digits of its own for fractions, and Redis's digest tells since 7.4 of deadlines of fields.
bool HasOwnDigest(const std::vector<Words>& requests);

// Options of a redis-server by which values have their large forms, and lists have many nodes.
Words LargeForms();

}  // namespace mayfly::testing
