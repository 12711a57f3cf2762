// Does for a resp::Parser what a connection does: receives bytes in pieces, keeps the incomplete tail, reads
// big arguments into their blocks. Records what the parser returned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "exact_block.h"
#include "resp/whole_requests.h"

namespace mayfly {

struct Received {
  std::vector<std::vector<std::string>> requests;  // empty ones, too
  std::string error;

  bool operator==(const Received&) const = default;
};

class RequestFeed {
 public:
  enum class Blocks { kUse, kRefuse };

  explicit RequestFeed(const resp::Limits& limits, Blocks blocks = Blocks::kUse)
      : limits_(limits), blocks_(blocks) {}

  // Bytes from the socket: first they go into the block that is being filled, if there is one, then after the
  // tail.
  void Receive(std::string_view piece) {
    if (!received_.error.empty()) return;
    const std::span<char> room = parser_.BlockRoom();
    const size_t into_block = piece.copy(room.data(), room.size());
    parser_.BlockFilled(into_block);
    piece.remove_prefix(into_block);
    if (piece.empty() && into_block < room.size()) return;
    tail_.append(piece);
    Take();
  }

  const Received& received() const { return received_; }
  resp::Parser& parser() { return parser_; }
  const std::string& tail() const { return tail_; }
  size_t adopted() const { return adopted_; }

 private:
  // Parses as many requests as there are, then reads the views, as a connection with look-ahead does.
  void Take() {
    const ExactBlock block(tail_);
    std::string_view input = block.view();
    resp::ArgList args;
    std::vector<resp::Request> batch;
    resp::Request request{};
    resp::Status status;
    while ((status = parser_.Next(input, limits_, args, request)) == resp::Status::kReady) {
      if (request.size == 0 || request.size > input.size())
        throw std::logic_error("a request of no possible size");
      input.remove_prefix(request.size);
      batch.push_back(request);
    }
    for (const resp::Request& made : batch) Note(args, made);
    if (status == resp::Status::kError) {
      received_.error = parser_.ErrorText();
    } else if (parser_.WantsBlock() != 0 && blocks_ == Blocks::kUse) {
      input = input.substr(0, parser_.StartBlock(input));
    }
    tail_ = std::string(input);
  }

  void Note(const resp::ArgList& args, const resp::Request& request) {
    std::vector<std::string>& words = received_.requests.emplace_back();
    for (size_t i = 0; i < request.arg_count; ++i) {
      words.emplace_back(args[request.first_arg + i]);
      const SharedBytes* block = args.BlockOf(request.first_arg + i);
      if (block == nullptr) continue;
      ++adopted_;
      if (block->view() != words.back()) throw std::logic_error("a block that is not its argument");
    }
  }

  const resp::Limits limits_;
  const Blocks blocks_;
  resp::Parser parser_;
  std::string tail_;
  Received received_;
  size_t adopted_ = 0;
};

// Everything in one piece.
inline Received FeedWhole(std::string_view bytes, const resp::Limits& limits) {
  RequestFeed feed(limits);
  feed.Receive(bytes);
  return feed.received();
}

}  // namespace mayfly
