// Tells whether a client is still connected. Implemented by the network floor, because only a socket knows.
#pragma once

namespace mayfly {

struct Session;

class Presence {
 public:
  // False if the client has closed its connection or will send nothing more, even if the server has not yet read this end
  // from the socket. Costs a system call.
  virtual bool IsThere(const Session& session) const noexcept = 0;

 protected:
  Presence() = default;
  Presence(const Presence&) = default;
  Presence& operator=(const Presence&) = default;
  ~Presence() = default;
};

}  // namespace mayfly
