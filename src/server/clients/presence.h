// Tells whether a client is still connected. The network floor implements it, because only a socket knows.
#pragma once

namespace mayfly {

struct Session;

class Presence {
 public:
  // False if the client has closed its connection or will send nothing more, whether or not that was read from the
  // socket yet. Costs a system call.
  virtual bool IsThere(const Session& session) const noexcept = 0;

 protected:
  Presence() = default;
  Presence(const Presence&) = default;
  Presence& operator=(const Presence&) = default;
  ~Presence() = default;
};

}  // namespace mayfly
