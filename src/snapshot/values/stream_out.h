// Writes streams in Redis's layout: entries in listpacks, each with the ID of its first entry.
//
//   | listpacks | ID, listpack | ID, listpack | ... | entries | last ID | for kStream2: first ID, greatest deleted ID,
//   additions | consumer groups | group | ... |
//
//   group:     | name | last delivered ID | for kStream2: entries read | pending entries | ID, ms, deliveries | ...
//              | consumers | consumer | ... |
//   consumer:  | name | ms when it was seen | pending entries | ID | ... |
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

#include "cache/types/stream/stream_value.h"
#include "snapshot/format/rdb_out.h"

namespace mayfly {
class StreamConsumer;
class StreamGroup;
class StreamGroups;
}  // namespace mayfly

namespace mayfly::rdb {

// type::kStream if this type carries all of the stream, else type::kStream2.
uint8_t StreamTypeOf(const StreamValue& stream) noexcept;

// Appends the stream to `bytes`. Throws std::bad_alloc, also for an entry that is too large for a listpack.
void WriteStream(const StreamValue& stream, uint8_t type, Compression compression, std::string& bytes);

// The parts of a stream, for writing in slices: the number of nodes, each node as one listpack, the totals, the groups. All
// throw std::bad_alloc, WriteStreamNode also for entries too large for a listpack. WriteStreamNode returns the size of the
// listpack. REQUIRES: `entries` is not empty.
size_t WriteStreamNode(std::span<const StreamEntry> entries, Compression compression, std::string& bytes);
void WriteStreamTotals(const StreamValue& stream, uint8_t type, std::string& bytes);

class StreamGroupsOut {
 public:
  // Borrows the groups, which must not change before the end. Null: no groups.
  StreamGroupsOut(const StreamGroups* groups, uint8_t type) noexcept;
  // Appends about `budget` bytes. Returns true at the end. Throws std::bad_alloc, and then has passed nothing.
  bool Some(std::string& bytes, size_t budget);
  // The IDs still to be written.
  size_t left() const noexcept { return left_; }

 private:
  enum class Part : uint8_t { kCount, kHead, kPending, kConsumers, kConsumer, kHeld, kEnd };

  // Appends the next piece, and goes on to the next part.
  void Piece(std::string& bytes, size_t budget);
  // Appends IDs from from_ on. Returns true if no ID is left.
  template <typename Ids, typename Write>
  bool IdsPiece(const Ids& ids, std::string& bytes, size_t budget, Write&& write);
  void PendingPiece(std::string& bytes, size_t budget);
  void HeldPiece(std::string& bytes, size_t budget);

  const StreamGroups* groups_;
  uint8_t type_;
  Part part_ = Part::kCount;
  const StreamGroup* group_ = nullptr;
  const StreamConsumer* consumer_ = nullptr;
  StreamId from_ = {};
  size_t left_ = 0;
};

}  // namespace mayfly::rdb
