#include "resp/writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/text/numbers.h"

namespace mayfly::resp {
namespace {

bool IsLineEnd(char c) noexcept { return c == '\r' || c == '\n'; }

}  // namespace

char* internal::PutNumber(char* p, int64_t n) noexcept { return p + FormatInteger(n, p); }

void Writer::Line(char type, std::string_view text) {
  out_->Append({&type, 1});
  while (!text.empty()) {
    const size_t clean = std::min(text.find_first_of("\r\n"), text.size());
    out_->Append(text.substr(0, clean));
    if (clean < text.size()) out_->Append(" ");
    text.remove_prefix(std::min(clean + 1, text.size()));
  }
  Literal("\r\n");
}

void Writer::Simple(std::string_view text) { Line('+', text); }

void Writer::Error(std::string_view text) {
  while (!text.empty() && IsLineEnd(text.front())) text.remove_prefix(1);
  while (!text.empty() && IsLineEnd(text.back())) text.remove_suffix(1);
  Line('-', text);
  ++errors_;
  const size_t code = text.find(' ');
  last_error_code_ = {};
  if (code < last_error_code_.size()) text.copy(last_error_code_.data(), code);
}

void Writer::BulkInteger(int64_t value) {
  char digits[kMaxIntegerText];
  Bulk({digits, FormatInteger(value, digits)});
}

void Writer::BulkShared(SharedBytes block, size_t offset, size_t length) {
  assert(length <= block.size() && offset <= block.size() - length);
  if (length <= OutputChain::kCopyMax) return Bulk({block.data() + offset, length});
  // Before the command changes anything: the chain finds out about a splice only when it has the splice.
  out_->RequireRoom(length);
  Header('$', static_cast<int64_t>(length));
  out_->AppendShared(std::move(block), offset, length);
  Literal("\r\n");
}

void Writer::LongBulk(std::string_view bytes) {
  Header('$', static_cast<int64_t>(bytes.size()));
  out_->Append(bytes);
  Literal("\r\n");
}

void Writer::Double(double value) {
  char text[kMaxDoubleText];
  DoubleText({text, FormatDouble(value, text)});
}

void Writer::DoubleText(std::string_view number) {
  if (version_ == 2) return Bulk(number);
  out_->Append(",");
  out_->Append(number);
  Literal("\r\n");
}

void Writer::Verbatim(std::string_view format, std::string_view text) {
  assert(format.size() == 3);
  if (version_ == 2) return Bulk(text);
  Header('=', static_cast<int64_t>(format.size() + 1 + text.size()));
  out_->Append(format);
  out_->Append(":");
  out_->Append(text);
  Literal("\r\n");
}

void Writer::BigNumber(std::string_view digits) {
  assert(digits.find_first_not_of("0123456789", digits.starts_with('-') ? 1 : 0) == std::string_view::npos);
  if (version_ == 2) return Bulk(digits);
  out_->Append("(");
  out_->Append(digits);
  Literal("\r\n");
}

}  // namespace mayfly::resp
