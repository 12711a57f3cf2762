// Where replies cannot be the same byte for byte: what is compared instead, and why.
//
// A reply that is the same needs no line. Errors are compared as they are, unless the line says otherwise.
// A line for a command that the table does not have fails the run, and so does one that every run should need
// and this one did not.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "differential/case.h"
#include "exec/call/command_table.h"
#include "support/reply.h"

namespace mayfly::testing {

// What else is known when two replies are compared.
struct Surroundings {
  // Replies to the request before, which may be this one's witness (witness.h); empty: there is none.
  std::string redis_before = {};
  std::string mayfly_before = {};
  // By how much Mayfly may have read its clock later than the oracle, in any batch so far.
  int64_t late_ms = 0;
  // The absolute deadlines that were drawn, as Unix time in ms. Borrowed; null: unknown.
  const std::set<int64_t>* deadlines_ms = nullptr;
};

class Normalisers {
 public:
  Normalisers();

  // Whether the bytes of the two replies say the same.
  bool Same(const Case& sent, const std::string& redis, const std::string& mayfly,
            const Surroundings& surroundings);
  // Lines of the table that are not true, as sentences.
  std::vector<std::string> Complaints(const CommandTable& table) const;

 private:
  std::vector<uint64_t> uses_;  // of each line
};

}  // namespace mayfly::testing
