// The numbers of the RDB format: types of values, opcodes, forms of lengths, versions.
//
// A snapshot file is a head of 9 bytes ("REDIS0010"), then records, then opcode::kEnd. A record begins with one byte: an
// opcode, or the type of a value; then a key and a value of this type follow. A DUMP payload is a type and a value (see
// dump_footer.h). Types and opcodes share the byte, so no number is both.
//
// "Version" is the version of the format in which Redis wrote a thing first. A server reads every version up to its own, and
// refuses a file or a payload of a higher one.
//
// Sources: Redis's own replies to DUMP and SAVE (7.0.15), https://rdb.fnordig.de, the tables of
// https://github.com/redis/librdb, and Redis's and Valkey's release notes for what is newer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mayfly::rdb {

// The head of a file: a magic text, and the version in decimal digits.
inline constexpr size_t kHeadBytes = 9;
inline constexpr std::string_view kRedisMagic = "REDIS";    // four digits follow
inline constexpr std::string_view kValkeyMagic = "VALKEY";  // three digits follow; Valkey 9 and later

namespace version {

inline constexpr unsigned kChecksum = 5;  // the first one with a checksum at the end (Redis 2.6)
inline constexpr unsigned kOldest = 6;    // what Redis 2.8 reads; SmallestVersion returns no lower one
inline constexpr unsigned kRedis70 = 10;  // listpacks, functions
inline constexpr unsigned kRedis72 = 11;  // and Valkey up to 8.1
inline constexpr unsigned kRedis74 = 12;  // fields with deadlines; Redis up to 8.4
inline constexpr unsigned kRedis86 = 13;  // streams with idempotent producers, metadata of keys
inline constexpr unsigned kRedis88 = 14;  // streams with entries given back (XNACK), arrays
inline constexpr unsigned kNewest = 15;   // the last one of Redis whose new types are known by name (8.10)
inline constexpr unsigned kValkey9 = 80;  // 12 to 79 are Redis's alone

}  // namespace version

// Types of values. A string is what In::String reads; "pairs of strings" are two strings each.
namespace type {

inline constexpr uint8_t kString = 0;         // a string
inline constexpr uint8_t kList = 1;           // count, strings
inline constexpr uint8_t kSet = 2;            // count, strings
inline constexpr uint8_t kZsetText = 3;       // count, members with In::DoubleText
inline constexpr uint8_t kHash = 4;           // count, pairs of strings
inline constexpr uint8_t kZset = 5;           // count, members with In::Double; version 8
inline constexpr uint8_t kModuleOld = 6;      // of a pre-release of Redis 4.0
inline constexpr uint8_t kModule = 7;         // the value of a module, in parts of module_part; version 8
inline constexpr uint8_t kHashZipmap = 9;     // a string with a zipmap
inline constexpr uint8_t kListZiplist = 10;   // a string with a ziplist
inline constexpr uint8_t kSetIntset = 11;     // a string with an intset
inline constexpr uint8_t kZsetZiplist = 12;   // a string with a ziplist of members and scores
inline constexpr uint8_t kHashZiplist = 13;   // a string with a ziplist of fields and values; version 4
inline constexpr uint8_t kQuicklist = 14;     // count, strings with a ziplist each; version 7
inline constexpr uint8_t kStream = 15;        // listpacks of entries, groups; version 9
inline constexpr uint8_t kHashListpack = 16;  // a string with a listpack of fields and values; version 10
inline constexpr uint8_t kZsetListpack = 17;  // a string with a listpack of members and scores; version 10
inline constexpr uint8_t kQuicklist2 =
    18;                                  // count, then a kind (quicklist_node) and a string each; version 10
inline constexpr uint8_t kStream2 = 19;  // and the first ID, the greatest deleted ID, counters; version 10
inline constexpr uint8_t kSetListpack = 20;  // a string with a listpack; version 11
inline constexpr uint8_t kStream3 = 21;      // and the active time of consumers; version 11
inline constexpr uint8_t kHashTtlOld =
    22;  // of a pre-release of Redis 7.4; in Valkey 9 its hash with deadlines
inline constexpr uint8_t kHashTtlPackOld = 23;  // of a pre-release of Redis 7.4
inline constexpr uint8_t kHashTtl = 24;  // smallest deadline, count, {deadline, field, value}; version 12
inline constexpr uint8_t kHashTtlPack =
    25;  // smallest deadline, listpack of {field, value, deadline}; version 12
inline constexpr uint8_t kStream4 = 26;  // kStream3, then idempotent producers; version 13
inline constexpr uint8_t kStream5 = 27;  // and the IDs that the consumers of a group gave back; version 14

}  // namespace type

// Records that are no keys, or come before a key and tell of it.
namespace opcode {

// Two meanings. Redis from version 13 on: a length, the number of classes, and for each 4 bytes with its ID and parts of
// module_part up to kEnd; it tells of the next key. Valkey 9: a string, the job of a slot's import, a length, and that many
// pairs of lengths.
inline constexpr uint8_t kKeyMetaOrImport = 243;
inline constexpr uint8_t kSlotInfo = 244;     // three lengths: slot, and sizes of its tables; may be ignored
inline constexpr uint8_t kFunction = 245;     // a string, the source of a library; version 10
inline constexpr uint8_t kFunctionOld = 246;  // of a pre-release of Redis 7.0
inline constexpr uint8_t kModuleAux = 247;    // what a module saves beside its values; version 9
inline constexpr uint8_t kIdle = 248;  // a length, seconds since the last access of the next key; version 9
inline constexpr uint8_t kFrequency = 249;  // a byte, the LFU counter of the next key; version 9
inline constexpr uint8_t kAux = 250;  // two strings, name and value; unknown names are ignored; version 7
inline constexpr uint8_t kTableSizes =
    251;  // two lengths: keys of the database, keys with a deadline; version 7
inline constexpr uint8_t kDeadlineMs = 252;  // In::Millis, the deadline of the next key; version 3
inline constexpr uint8_t kDeadlineS = 253;   // In::Seconds, the deadline of the next key
inline constexpr uint8_t kDatabase = 254;    // a length, the number of the database of the next keys
inline constexpr uint8_t kEnd = 255;  // the last record; from version 5 on 8 bytes with the CRC-64, or with 0

}  // namespace opcode

// The first byte of a length. The two highest bits decide, and the lower bits belong to the length where there is no other
// use of them. Longer lengths have their highest byte first.
namespace length_form {

inline constexpr uint8_t kMask = 0xC0;
inline constexpr uint8_t kBits6 = 0x00;    // the other 6 bits
inline constexpr uint8_t kBits14 = 0x40;   // the other 6 bits and the next byte
inline constexpr uint8_t kBits32 = 0x80;   // the next 4 bytes
inline constexpr uint8_t kBits64 = 0x81;   // the next 8 bytes; version 8
inline constexpr uint8_t kSpecial = 0xC0;  // no length: one of string_form

}  // namespace length_form

// The first byte of a string that does not begin with its length.
namespace string_form {

inline constexpr uint8_t kInt8 = 0xC0;   // an integer in the next byte; the string is its decimal text
inline constexpr uint8_t kInt16 = 0xC1;  // in the next 2 bytes, the lowest first
inline constexpr uint8_t kInt32 = 0xC2;  // in the next 4 bytes, the lowest first
inline constexpr uint8_t kLzf = 0xC3;    // the length compressed, the length of the text, the compressed text

}  // namespace string_form

// The first byte of a score of type::kZsetText, if it is not the length of a decimal text.
namespace double_form {

inline constexpr uint8_t kNan = 253;
inline constexpr uint8_t kInfinity = 254;
inline constexpr uint8_t kMinusInfinity = 255;

}  // namespace double_form

// The kind of a node of type::kQuicklist2, a length.
namespace quicklist_node {

inline constexpr uint64_t kPlain = 1;   // the string is one long element
inline constexpr uint64_t kPacked = 2;  // the string is a listpack

}  // namespace quicklist_node

// The parts of a module's value, of opcode::kModuleAux and of a key's metadata, lengths. So readers can skip what an unknown module wrote.
namespace module_part {

inline constexpr uint64_t kEnd = 0;
inline constexpr uint64_t kSigned = 1;    // a length
inline constexpr uint64_t kUnsigned = 2;  // a length
inline constexpr uint64_t kFloat = 3;     // 4 bytes
inline constexpr uint64_t kDouble = 4;    // 8 bytes
inline constexpr uint64_t kString = 5;    // a string

}  // namespace module_part

// The flags of an entry in a stream's listpack.
namespace stream_flag {

inline constexpr int64_t kDeleted = 1;     // the entry counts no longer
inline constexpr int64_t kSameFields = 2;  // the entry has the fields of its listpack's first entry

}  // namespace stream_flag

// The smallest version of a file or payload that may have a type or an opcode; 0 if this header does not name the number.
constexpr unsigned SmallestVersion(uint8_t code) noexcept {
  if (code <= type::kHash || (code >= type::kHashZipmap && code <= type::kHashZiplist))
    return version::kOldest;
  switch (code) {
    case opcode::kDeadlineMs:
    case opcode::kDeadlineS:
    case opcode::kDatabase:
    case opcode::kEnd:
      return version::kOldest;
    case type::kQuicklist:
    case opcode::kAux:
    case opcode::kTableSizes:
      return 7;
    case type::kZset:
    case type::kModule:
      return 8;
    case type::kStream:
    case opcode::kModuleAux:
    case opcode::kIdle:
    case opcode::kFrequency:
      return 9;
    case type::kHashListpack:
    case type::kZsetListpack:
    case type::kQuicklist2:
    case type::kStream2:
    case opcode::kFunction:
      return version::kRedis70;
    case type::kSetListpack:
    case type::kStream3:
      return version::kRedis72;
    case type::kHashTtl:
    case type::kHashTtlPack:
    case opcode::kSlotInfo:
      return version::kRedis74;
    case type::kStream4:
    case opcode::kKeyMetaOrImport:
      return version::kRedis86;
    case type::kStream5:
      return version::kRedis88;
    default:
      return 0;
  }
}

}  // namespace mayfly::rdb
