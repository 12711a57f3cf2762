#include "sim/peer.h"

#include <algorithm>
#include <map>

namespace mayfly::sim {

size_t Peer::MostWritesInATurn() const {
  std::map<uint64_t, size_t> writes;
  size_t most = 0;
  for (const Link::WriteCall& call : link_->write_calls) most = std::max(most, ++writes[call.turn]);
  return most;
}

std::vector<size_t> Peer::Writes() const {
  std::vector<size_t> sizes;
  for (const Link::WriteCall& call : link_->write_calls) {
    if (call.taken > 0) sizes.push_back(static_cast<size_t>(call.taken));
  }
  return sizes;
}

}  // namespace mayfly::sim
