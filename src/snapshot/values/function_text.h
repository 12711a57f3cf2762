// Reads and writes a library of functions, in a snapshot file or a payload of FUNCTION DUMP.
//
// Release candidates of Redis 7.0 wrote opcode::kFunctionOld: name, engine and code as separate strings, and a description,
// which Redis drops. Their text is put together as Redis does.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"

namespace mayfly::rdb {

// Reads what follows the opcode. After kMore and kBad `part` names the part that cannot be read, in Redis's words: "library
// payload". After kMore the caller rewinds `in`. Throws std::bad_alloc. REQUIRES: `code` is kFunction or kFunctionOld.
ReadStatus ReadFunction(In& in, uint8_t code, std::string& text, std::string_view& part);

// Appends the library as opcode::kFunction. Throws std::bad_alloc.
void WriteFunction(std::string_view text, Out& out);

}  // namespace mayfly::rdb
