// Writes the primitives of the RDB format: bytes, lengths, strings, numbers. types.h says which of them a type of value or an
// opcode consists of.
//
//     std::string bytes;
//     Out out(bytes, Compression::kLzf);
//     out.Byte(type::kSet);
//     out.String(key);
//     out.Length(members.size());
//     for (std::string_view member : members) out.String(member);
//
// Every method appends to the caller's buffer. The caller may take bytes from the buffer's front, or clear the buffer, between
// two calls. Methods throw std::bad_alloc if the buffer cannot grow; then the buffer may end with a part of the primitive.
//
// A string has one form only, and the form is the one that Redis chooses: an integer where the text is its decimal form, LZF
// where it makes the string smaller, or the bytes themselves; but see kQuickLzf. Borrows the buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::rdb {

enum class Compression : uint8_t { kNone, kLzf, kQuickLzf };

class Out {
 public:
  // Texts of this length and shorter are not compressed.
  static constexpr size_t kNeverCompressed = 20;
  // Compression::kQuickLzf leaves longer texts as they are: LZF takes a millisecond for 150 to 300 KB. And texts that look random
  // (lzf::LooksRandom), with which LZF takes longest and gains nothing.
  static constexpr size_t kMostCompressed = size_t{128} << 10;

  explicit Out(std::string& bytes, Compression compression = Compression::kNone) noexcept
      : bytes_(bytes), compression_(compression) {}

  // The head of a file: "REDIS0010". REQUIRES: version <= 9999.
  void FileHead(unsigned version);
  void Byte(uint8_t byte) { bytes_.push_back(static_cast<char>(byte)); }
  // The bytes themselves, without a length.
  void Bytes(std::string_view bytes) { bytes_.append(bytes); }
  // A length, a count, or another unsigned number.
  void Length(uint64_t length);
  // A text with its length. A caller with a very long text may write Length(text.size()) and send the text itself.
  // Compression needs 256 KB of stack.
  void String(std::string_view text);
  // As String with the decimal text of `value`.
  void IntegerString(int64_t value);
  // A score of type::kZset, 8 bytes.
  void Double(double value);
  // A score of type::kZsetText, the shortest text that reads back as `value`.
  void DoubleText(double value);
  // A time in milliseconds, 8 bytes.
  void Millis(int64_t ms);
  // A time in seconds, 4 bytes. REQUIRES: the time lies before 2038.
  void Seconds(int64_t s);
  // The ID of a stream's entry, 16 bytes. A stream's listpack has it as a string: Length(kStreamIdBytes) comes before.
  static constexpr size_t kStreamIdBytes = 16;
  void StreamId(uint64_t ms, uint64_t seq);
  // The checksum after opcode::kEnd.
  void Checksum(uint64_t crc);

 private:
  // Returns false, and appends nothing, if `value` has no integer form.
  bool SmallInteger(int64_t value);
  bool MayCompress(std::string_view text) const noexcept;
  // Returns false, and appends nothing, if compression does not make the text smaller.
  bool Compressed(std::string_view text);

  std::string& bytes_;
  Compression compression_;
};

}  // namespace mayfly::rdb
