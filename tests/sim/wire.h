// A connection between two programs of the world. Each program has a Link of its own, its socket; the wire takes what one has
// written and brings it to the other, in order.
//
//   program -Write-> outbound | --wire: delay, rate, stall--> | unsent, inbound -Read-> program
//
// The bytes under way are limited, so a program that does not read fills the kernel's buffer of the other. An end of one side
// comes to the other after the bytes before it; a reset comes at once, and destroys what was under way.
//
// Owned by the world until both programs have closed their sockets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "sim/link.h"

namespace mayfly::sim {

class Wire {
 public:
  static constexpr size_t kMostUnderWay = 64 * 1024;

  struct Terms {
    uint64_t delay_ms = 0;
    size_t bytes_per_ms = Link::kAtOnce;  // in each direction
    size_t piece = SIZE_MAX;              // that comes at once, at most
  };

  Wire(std::shared_ptr<Link> caller, std::shared_ptr<Link> called, uint64_t now_ns);

  void set_terms(const Terms& terms) noexcept { terms_ = terms; }
  // Nothing moves, not even an end.
  void set_stalled(bool on) noexcept { stalled_ = on; }
  bool stalled() const noexcept { return stalled_; }
  // Both sides see a reset.
  void Cut() noexcept;
  // Both programs have closed their sockets.
  bool over() const noexcept { return caller_->closed_by_program() && called_->closed_by_program(); }

  // As in Link.
  void Pump(uint64_t now_ns);
  uint64_t NextPumpNs(uint64_t now_ns) const noexcept;

 private:
  struct Piece {
    uint64_t due_ns;
    std::string bytes;
  };
  struct Way {
    std::deque<Piece> under_way;
    size_t under_way_bytes = 0;
    uint64_t paid_ns = 0;  // the rate has been used up to here
    bool ended = false;
  };
  void Pump(Way& way, Link& from, Link& to, uint64_t now_ns) const;
  void Take(Way& way, Link& from, const Link& to, uint64_t now_ns) const;
  uint64_t NextPumpNs(const Way& way, const Link& from, const Link& to, uint64_t now_ns) const noexcept;

  const std::shared_ptr<Link> caller_;
  const std::shared_ptr<Link> called_;
  Terms terms_;
  Way to_called_;
  Way to_caller_;
  bool stalled_ = false;
};

}  // namespace mayfly::sim
