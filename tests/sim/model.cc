#include "sim/model.h"

#include <array>

namespace mayfly::sim {

ModelClient::ModelClient(testing::LooplessServer& server) : server_(server), session_(server.chunks) {
  server_.Connect(session_);
}

ModelClient::~ModelClient() { server_.sessions.Remove(session_); }

std::string ModelClient::Answer(std::string_view request) {
  if (closed()) return {};
  Feed feed{.session = &session_, .input = request};
  server_.executor.Run({&feed, 1});
  std::string bytes;
  std::array<OutputPiece, 16> pieces;
  while (!session_.output.empty()) {
    const size_t before = bytes.size();
    const size_t count = session_.output.Gather(pieces);
    for (size_t i = 0; i < count; ++i) bytes.append(pieces[i].data, pieces[i].size);
    session_.output.Consume(bytes.size() - before);
  }
  return bytes;
}

}  // namespace mayfly::sim
