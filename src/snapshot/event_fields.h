// The log of removed keys (EXPLOG) in a snapshot file: AUX fields in the head, which Redis and Valkey skip.
//
//   AUX "explog-next" <number>                   of the next event, in decimal digits
//   AUX "explog" <record> <record> ...           the newest records, the oldest first; several fields if there are many
//
//   record:  number, a length | time, Unix ms in 8 bytes | kind, a byte | 1 if there is a value, a byte | database, a length
//            | key, a string | value, a string
//
// Numbers go on after a restart: a reader that remembers its last number finds the unread records, and no number is used
// twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/watch/event_log.h"

namespace mayfly {

struct EventFields {
  // The fields' names.
  static constexpr std::string_view kNext = "explog-next";
  static constexpr std::string_view kRecords = "explog";
};

// Appends the fields to `bytes`, with about `most_bytes` of records. Appends nothing if the log is off. Throws
// std::bad_alloc.
void WriteEventFields(const EventLog& log, uint64_t most_bytes, std::string& bytes);

// Reads a field into the log. Skips all records if the log is off, or has events of this run, and a record if the log has a
// record with its number or a higher one: of an earlier file. Returns false if the field, or a part, cannot be read. Throws
// std::bad_alloc.
bool ReadNextEvent(std::string_view field, EventLog& log);
bool ReadEvents(std::string_view field, EventLog& log);

// Returns false if the field of this name cannot be read by the function for the name. Reads into no log.
bool CanReadEventField(std::string_view name, std::string_view field);

}  // namespace mayfly
