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
#include <span>
#include <string>

#include "cache/types/stream_value.h"
#include "snapshot/format/rdb_out.h"

namespace mayfly::rdb {

// type::kStream if this type carries all of the stream, else type::kStream2.
uint8_t StreamTypeOf(const StreamValue& stream) noexcept;

// Appends the stream to `bytes`. Throws std::bad_alloc, also for an entry that is too large for a listpack.
void WriteStream(const StreamValue& stream, uint8_t type, Compression compression, std::string& bytes);

// The parts of a stream, for who writes it in slices: the number of nodes, each node as one listpack, the end. Both throw
// std::bad_alloc, WriteStreamNode also for entries that are too large for a listpack. WriteStreamNode returns the size of the
// listpack. REQUIRES: `entries` is not empty.
size_t WriteStreamNode(std::span<const StreamEntry> entries, Compression compression, std::string& bytes);
void WriteStreamEnd(const StreamValue& stream, uint8_t type, std::string& bytes);

}  // namespace mayfly::rdb
