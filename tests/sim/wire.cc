#include "sim/wire.h"

#include <algorithm>
#include <utility>

namespace mayfly::sim {

Wire::Wire(std::shared_ptr<Link> caller, std::shared_ptr<Link> called, uint64_t now_ns)
    : caller_(std::move(caller)), called_(std::move(called)) {
  // The wire alone moves what the programs write.
  caller_->set_rate(0);
  called_->set_rate(0);
  to_called_.paid_ns = to_caller_.paid_ns = now_ns;
}

void Wire::Cut() noexcept {
  caller_->Reset();
  called_->Reset();
}

void Wire::Pump(uint64_t now_ns) {
  Pump(to_called_, *caller_, *called_, now_ns);
  Pump(to_caller_, *called_, *caller_, now_ns);
}

void Wire::Take(Way& way, Link& from, const Link& to, uint64_t now_ns) const {
  const size_t unread = way.under_way_bytes + to.unread_by_program();
  size_t most = kMostUnderWay - std::min(kMostUnderWay, unread);
  if (terms_.bytes_per_ms != Link::kAtOnce) {
    const uint64_t elapsed_ms = (now_ns - way.paid_ns) / kNsPerMs;
    way.paid_ns += elapsed_ms * kNsPerMs;
    most = std::min<uint64_t>(most, elapsed_ms * terms_.bytes_per_ms);
  } else {
    way.paid_ns = now_ns;
  }
  uint64_t due_ns = now_ns + terms_.delay_ms * kNsPerMs;
  if (!way.under_way.empty()) due_ns = std::max(due_ns, way.under_way.back().due_ns);
  for (std::string bytes = from.TakeOutput(most); !bytes.empty(); due_ns += kNsPerMs) {
    std::string piece = bytes.substr(0, terms_.piece);
    bytes.erase(0, piece.size());
    way.under_way_bytes += piece.size();
    way.under_way.push_back({due_ns, std::move(piece)});
  }
}

void Wire::Pump(Way& way, Link& from, Link& to, uint64_t now_ns) const {
  if (from.reset_by_program() && !std::exchange(way.ended, true)) to.Reset();
  if (stalled_ || way.ended) {
    way.paid_ns = now_ns;
    return;
  }
  Take(way, from, to, now_ns);
  while (!way.under_way.empty() && way.under_way.front().due_ns <= now_ns) {
    const Piece piece = std::move(way.under_way.front());
    way.under_way.pop_front();
    way.under_way_bytes -= piece.bytes.size();
    to.Send(piece.bytes);
  }
  if (!from.ended_by_program() || !way.under_way.empty()) return;
  from.closed_by_program() ? to.Leave() : to.EndInput();
  way.ended = from.closed_by_program();
}

uint64_t Wire::NextPumpNs(const Way& way, const Link& from, const Link& to, uint64_t now_ns) const noexcept {
  if (stalled_ || way.ended) return UINT64_MAX;
  uint64_t next = way.under_way.empty() ? UINT64_MAX : std::max(way.under_way.front().due_ns, now_ns + 1);
  const bool has_room = way.under_way_bytes + to.unread_by_program() < kMostUnderWay;
  if (from.unread_by_peer() != 0 && has_room)
    next = std::min(next, std::max(way.paid_ns + kNsPerMs, now_ns + 1));
  return next;
}

uint64_t Wire::NextPumpNs(uint64_t now_ns) const noexcept {
  return std::min(NextPumpNs(to_called_, *caller_, *called_, now_ns),
                  NextPumpNs(to_caller_, *called_, *caller_, now_ns));
}

}  // namespace mayfly::sim
