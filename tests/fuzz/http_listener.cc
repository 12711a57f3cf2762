// Random bytes to the parser of the metrics port, torn at random places: the same requests as in one piece and the same
// failure after the same one, no byte outside the received ones is read, and no request is longer than its limit.
//
// The first byte of a test case says where to tear.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "../support/exact_block.h"
#include "net/http/request_parser.h"

namespace {

using mayfly::net::RequestParser;
using State = RequestParser::State;

void Check(bool holds) {
  if (!holds) std::abort();
}

// What the parser made of one piece after the other, until it failed.
class Reader {
 public:
  void Receive(std::string_view bytes) {
    const mayfly::ExactBlock block(bytes);
    for (std::string_view rest = block.view(); !rest.empty() && parser_.state() == State::kNeedMore;) {
      const size_t taken = parser_.Feed(rest);
      Check(taken <= rest.size());
      rest.remove_prefix(taken);
      of_this_request_ += taken;
      Check(of_this_request_ <= RequestParser::kHeadBytes);
      if (parser_.state() == State::kNeedMore) Check(rest.empty());
      if (parser_.state() != State::kReady) continue;
      const RequestParser::Request& request = parser_.request();
      Check(request.path.size() <= RequestParser::kTargetBytes && !request.path.empty());
      seen_ += (request.head_only ? "HEAD " : "GET ") + request.path +
               (request.keep_alive ? " keep " : " close ") + request.host + "\n";
      Check(request.host.size() <= RequestParser::kHostBytes);
      of_this_request_ = 0;
      parser_.Next();
    }
  }
  std::string Seen() const {
    if (parser_.state() == State::kFailed) Check(parser_.failure() >= 400);
    return parser_.state() == State::kFailed ? seen_ + std::to_string(parser_.failure()) : seen_;
  }

 private:
  RequestParser parser_;
  std::string seen_;
  size_t of_this_request_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  uint32_t random = data[0] * 2654435761u + 1;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  Reader whole, torn;
  whole.Receive(bytes);
  while (!bytes.empty()) {
    random = random * 1664525u + 1013904223u;
    const size_t piece = std::min<size_t>(bytes.size(), 1 + (random >> 24) % 23);
    torn.Receive(bytes.substr(0, piece));
    bytes.remove_prefix(piece);
  }
  Check(whole.Seen() == torn.Seen());
  return 0;
}
