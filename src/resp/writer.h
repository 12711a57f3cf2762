// Writer formats replies in RESP2 or RESP3, straight into a connection's OutputChain.
//
// Each call writes one value. The header of an array, map or set comes first and holds the number of elements; the elements
// follow as values. Under RESP2 the types of RESP3 become the types of Redis 7.0: a map is a flat array of twice the length,
// a set is an array, a double or verbatim text is a bulk string, a boolean is an integer, and null is `$-1` or `*-1`.
//
// HELLO changes the version between two replies. A Writer owns nothing: the chain must outlive the Writer. Every call that
// writes may throw std::bad_alloc. Loop thread only.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/memory/output.h"
#include "base/memory/shared_bytes.h"
#include "base/text/short_bytes.h"

namespace mayfly::resp {

namespace internal {

// Headers of small numbers: byte 0 is free for the type, the digits and "\r\n" follow, and byte 7 is the total length.
inline constexpr size_t kReadyHeaders = 1024;
constexpr std::array<uint64_t, kReadyHeaders> MakeHeaders() {
  std::array<uint64_t, kReadyHeaders> headers{};
  for (size_t n = 0; n < kReadyHeaders; ++n) {
    size_t digits = 1;
    for (size_t rest = n; rest >= 10; rest /= 10) ++digits;
    uint64_t text = 0;
    size_t rest = n;
    for (size_t i = digits; i > 0; --i, rest /= 10) text |= uint64_t{'0' + rest % 10} << (8 * i);
    text |= uint64_t{'\r'} << (8 * (digits + 1)) | uint64_t{'\n'} << (8 * (digits + 2));
    headers[n] = text | uint64_t{digits + 3} << 56;
  }
  return headers;
}
inline constexpr std::array<uint64_t, kReadyHeaders> kHeaders = MakeHeaders();
static_assert(std::endian::native == std::endian::little);

char* PutNumber(char* p, int64_t n) noexcept;

}  // namespace internal

// The most bytes written by PutHeader, rounded up.
inline constexpr size_t kHeaderSize = 24;

inline char* PutLineEnd(char* p) noexcept {
  p[0] = '\r';
  p[1] = '\n';
  return p + 2;
}
// Writes "<type><n>\r\n" and returns the address after the line end.
// REQUIRES: room for kHeaderSize bytes.
[[gnu::always_inline]] inline char* PutHeader(char* p, char type, int64_t n) noexcept {
  if (static_cast<uint64_t>(n) < internal::kReadyHeaders) [[likely]] {
    const uint64_t header = internal::kHeaders[static_cast<size_t>(n)] | static_cast<unsigned char>(type);
    std::memcpy(p, &header, sizeof header);
    return p + (header >> 56);
  }
  *p = type;
  return PutLineEnd(internal::PutNumber(p + 1, n));
}

// The header of an array, map or set with elements that are counted while they are written. Writer::Defer makes a Deferred
// before the first element. Afterwards call exactly one of the methods below; without a call no header is written. Several
// may be open at once, nested. Invalid after the next Consume of the chain.
class Deferred {
 public:
  void Array(size_t count) noexcept { Fill('*', count); }
  void Map(size_t pairs) noexcept { version_ == 2 ? Fill('*', 2 * pairs) : Fill('%', pairs); }
  void Set(size_t count) noexcept { Fill(version_ == 2 ? '*' : '~', count); }
  void Push(size_t count) noexcept { Fill(version_ == 2 ? '*' : '>', count); }

 private:
  friend class Writer;
  Deferred(OutputChain& out, int version) : out_(out), slot_(out.OpenSlot()), version_(version) {}
  void Fill(char type, size_t count) noexcept {
    char text[kHeaderSize];
    char* const end = PutHeader(text, type, static_cast<int64_t>(count));
    out_.FillSlot(slot_, {text, static_cast<size_t>(end - text)});
  }

  OutputChain& out_;
  const OutputChain::Slot slot_;
  const int version_;
};

class Writer {
 public:
  // Bulk strings up to this size are written in one piece with their header.
  static constexpr size_t kOnePieceMax = 256;

  explicit Writer(OutputChain& out, int version = 2) noexcept : out_(&out), version_(version) {}

  int version() const noexcept { return version_; }
  // REQUIRES: version is 2 or 3.
  void set_version(int version) noexcept {
    assert(version == 2 || version == 3);
    version_ = version;
  }
  OutputChain& out() noexcept { return *out_; }
  // Writes replies to `out` from now on.
  void Redirect(OutputChain& out) noexcept { out_ = &out; }

  [[gnu::always_inline]] void Ok() { Literal("+OK\r\n"); }
  void Pong() { Literal("+PONG\r\n"); }
  void Queued() { Literal("+QUEUED\r\n"); }
  // A status line. Line ends in `text` become blanks.
  void Simple(std::string_view text);
  // A complete error with its code: "ERR syntax error". Line ends around the text are removed, line ends inside become
  // blanks.
  void Error(std::string_view text);
  // The number of errors written since the last ForgetErrors.
  uint64_t errors() const noexcept { return errors_; }
  void ForgetErrors() noexcept { errors_ = 0; }
  // The code of the last error; empty if the error had no code, or a code longer than any known code.
  std::string_view last_error_code() const noexcept { return last_error_code_.data(); }

  void Integer(int64_t value) { Header(':', value); }
  [[gnu::always_inline]] void Bulk(std::string_view bytes) {
    if (bytes.size() > kOnePieceMax) [[unlikely]]
      return LongBulk(bytes);
    char* const begin = out_->Reserve(kHeaderSize + bytes.size() + 2);
    char* p = PutHeader(begin, '$', static_cast<int64_t>(bytes.size()));
    CopyBytes(p, bytes.data(), bytes.size());
    p = PutLineEnd(p + bytes.size());
    out_->Commit(static_cast<size_t>(p - begin));
  }
  // The number's text as a bulk string, as GET replies for an integer value.
  void BulkInteger(int64_t value);
  // A part of a block as a bulk string. A long part is not copied but shared.
  // REQUIRES: offset + length <= block.size().
  void BulkShared(SharedBytes block, size_t offset, size_t length);
  void BulkShared(SharedBytes block) {
    const size_t size = block.size();
    BulkShared(std::move(block), 0, size);
  }

  void Null() {
    if (version_ == 2) return Literal("$-1\r\n");
    Literal("_\r\n");
  }
  void NullArray() {
    if (version_ == 2) return Literal("*-1\r\n");
    Literal("_\r\n");
  }
  void EmptyArray() { Literal("*0\r\n"); }

  void Array(size_t count) { Header('*', static_cast<int64_t>(count)); }
  void Map(size_t pairs) {
    if (version_ == 2) return Array(2 * pairs);
    Header('%', static_cast<int64_t>(pairs));
  }
  void Set(size_t count) { Header(version_ == 2 ? '*' : '~', static_cast<int64_t>(count)); }
  void Push(size_t count) { Header(version_ == 2 ? '*' : '>', static_cast<int64_t>(count)); }
  // An attribute: `pairs` keys and values follow, then the reply with this attribute.
  // REQUIRES: version() is 3.
  void Attribute(size_t pairs) {
    assert(version_ == 3);
    Header('|', static_cast<int64_t>(pairs));
  }
  // Starts a container whose length is known only after the last element.
  Deferred Defer() { return Deferred(*out_, version_); }

  // Writes the shortest text that reads back as `value`, as Redis does since 7.2 ("0.1").
  void Double(double value);
  // Writes a double as text formatted by the caller.
  void DoubleText(std::string_view number);
  void Bool(bool value) {
    if (version_ == 2) return Literal(value ? ":1\r\n" : ":0\r\n");
    Literal(value ? "#t\r\n" : "#f\r\n");
  }
  // Text for people.
  // REQUIRES: `format` has 3 bytes: "txt", "mkd".
  void Verbatim(std::string_view format, std::string_view text);
  // REQUIRES: `digits` is a decimal number, which may start with '-'.
  void BigNumber(std::string_view digits);

 private:
  template <size_t N>
  [[gnu::always_inline]] void Literal(const char (&text)[N]) {
    std::memcpy(out_->Reserve(N - 1), text, N - 1);
    out_->Commit(N - 1);
  }
  void Header(char type, int64_t n) {
    char* const begin = out_->Reserve(kHeaderSize);
    out_->Commit(static_cast<size_t>(PutHeader(begin, type, n) - begin));
  }
  void LongBulk(std::string_view bytes);
  void Line(char type, std::string_view text);

  OutputChain* out_;
  int version_;
  uint32_t errors_ = 0;
  std::array<char, 32> last_error_code_{};  // zero-terminated
};

}  // namespace mayfly::resp
