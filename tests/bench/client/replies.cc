#include "replies.h"

#include <algorithm>
#include <cstdlib>

namespace mayfly::bench {

void Replies::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (bulk_left_ > 0) {
      const size_t skipped = std::min(bulk_left_, bytes.size());
      bulk_left_ -= skipped;
      bytes.remove_prefix(skipped);
      if (bulk_left_ == 0) TakeValue();
      continue;
    }
    const size_t end = bytes.find('\n');
    if (end == std::string_view::npos) {
      line_.append(bytes);
      return;
    }
    if (line_.empty()) {
      TakeLine(bytes.substr(0, end));
    } else {
      line_.append(bytes.substr(0, end));
      TakeLine(line_);
      line_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
}

void Replies::TakeLine(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  const char kind = line.empty() ? '-' : line.front();
  if (kind == '$' && line != "$-1") {
    constexpr size_t kLineEnd = 2;
    bulk_left_ = std::strtoull(line.data() + 1, nullptr, 10) + kLineEnd;
    ++hits_;
    return;
  }
  if (kind == '*') values_left_ += static_cast<size_t>(std::max(std::atoll(line.data() + 1), 0LL));
  TakeValue();
  if (kind == ':') integer_ = std::strtoll(line.data() + 1, nullptr, 10);
  if (kind == '-') {
    if (errors_++ == 0) first_error_ = line;
  }
}

}  // namespace mayfly::bench
