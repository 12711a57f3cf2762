// Writes streams in Redis's layout: entries in listpacks, each with the ID of its first entry.
//
//   | listpacks | ID, listpack | ID, listpack | ... | entries | last ID | for kStream2: first ID, greatest deleted ID,
//   additions | consumer groups: 0 |
//
//   listpack:  | entries | deleted entries: 0 | fields | field | ... | 0 |  then for each entry:
//              | flags | ms | sequence | value | ... | items |                                 if the fields are those above
//              | flags | ms | sequence | fields | field | value | ... | items |                otherwise
//
// ms and sequence are differences from the listpack's ID. The last item of an entry is the number of its other items.
#pragma once

#include <cstdint>
#include <string>

#include "cache/types/stream_value.h"
#include "snapshot/format/rdb_out.h"

namespace mayfly::rdb {

// type::kStream if this type carries all of the stream, else type::kStream2.
uint8_t StreamTypeOf(const StreamValue& stream) noexcept;

// Appends the stream to `bytes`. Throws std::bad_alloc, also for an entry that is too large for a listpack.
void WriteStream(const StreamValue& stream, uint8_t type, Compression compression, std::string& bytes);

}  // namespace mayfly::rdb
