#include "full_syncs.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "requests.h"

namespace mayfly::bench {

void FullSyncs::Begin() {
  socket_ = std::make_unique<Socket>(port_);
  socket_->SetNonBlocking();
  Send({"REPLCONF", "capa", "eof", "capa", "psync2"});
  in_snapshot_ = false;
  line_.clear();
  last_.clear();
}

void FullSyncs::Send(std::initializer_list<std::string_view> words) {
  std::string request;
  AppendRequest(request, words);
  if (socket_->Write(request) != request.size()) Die("the server takes no request for a snapshot");
}

void FullSyncs::Step() {
  std::array<char, Socket::kReadBytes> buffer;
  if (const size_t size = socket_->Receive(buffer); size != 0) Take({buffer.data(), size});
}

bool FullSyncs::TakeLine(std::string_view& bytes, std::string& line) {
  const size_t end = bytes.find('\n');
  line_ += bytes.substr(0, end);
  bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
  if (end == std::string_view::npos) return false;
  line = std::move(line_);
  line_.clear();
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return true;
}

void FullSyncs::Take(std::string_view bytes) {
  std::string line;
  while (!in_snapshot_) {
    if (!TakeLine(bytes, line)) return;
    if (line.starts_with('-')) Die("error reply: " + line);
    if (line == "+OK") Send({"PSYNC", "?", "-1"});
    if (!line.starts_with('$')) continue;  // likewise +FULLRESYNC, and an empty line, a sign of life
    in_snapshot_ = true;
    mark_ = line.starts_with("$EOF:") ? line.substr(5) : "";
    left_ = mark_.empty() ? std::strtoull(line.data() + 1, nullptr, 10) : 0;
  }
  if (mark_.empty()) {
    left_ -= std::min<uint64_t>(left_, bytes.size());
    if (left_ != 0) return;
  } else {
    last_ += bytes.substr(bytes.size() - std::min(bytes.size(), 2 * kMarkBytes));
    const bool ended = last_.find(mark_) != std::string::npos;
    last_.erase(0, last_.size() - std::min(last_.size(), kMarkBytes));
    if (!ended) return;
  }
  ++done_;
  Begin();
}

}  // namespace mayfly::bench
