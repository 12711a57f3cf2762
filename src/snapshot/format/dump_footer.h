// The end of a DUMP payload: the version of its format, and a checksum.
//
//   | type 1 | value | version 2 | CRC-64 of all bytes before 8 |      both numbers have their lowest byte first
//
// A server refuses a payload of a higher version than its own. The footer of a snapshot file is another one: opcode::kEnd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mayfly::rdb {

inline constexpr size_t kDumpFooterBytes = 10;

// Completes a payload of a type and a value. Throws std::bad_alloc.
void AppendDumpFooter(std::string& payload, uint16_t version);

struct DumpPayload {
  uint16_t version;
  std::string_view value;  // type and value, a view into the payload
};

// Returns nullopt if the payload has no footer, or if the checksum is wrong. Any version is accepted.
std::optional<DumpPayload> CheckDumpFooter(std::string_view payload) noexcept;
// As CheckDumpFooter, and also nullopt if the version is not known here.
std::optional<DumpPayload> OpenDumpPayload(std::string_view payload) noexcept;

// What RESTORE and FUNCTION RESTORE answer without an OpenDumpPayload.
inline constexpr std::string_view kBadDumpFooter = "ERR DUMP payload version or checksum are wrong";

}  // namespace mayfly::rdb
