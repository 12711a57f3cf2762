// The parts with state for a client, to be told of the client's end. A part registers itself as a listener by its construction;
// no code keeps a list of parts by hand.
//
// A client ends once, before its session ends; RESET ends no client. No batch has the session. ClientEnds must outlive the
// parts. Loop thread only.
#pragma once

#include <algorithm>
#include <vector>

namespace mayfly {

struct Session;

class ClientEnds {
 public:
  class Listener {
   public:
    // Throws std::bad_alloc.
    explicit Listener(ClientEnds& ends) : ends_(ends) { ends_.listeners_.push_back(this); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Forgets all state for the client. No effect if there is none.
    virtual void OnClientEnd(Session& session) noexcept = 0;

   protected:
    ~Listener() { std::erase(ends_.listeners_, this); }

   private:
    ClientEnds& ends_;
  };

  ClientEnds() = default;
  ClientEnds(const ClientEnds&) = delete;
  ClientEnds& operator=(const ClientEnds&) = delete;

  void Tell(Session& session) noexcept {
    for (Listener* listener : listeners_) listener->OnClientEnd(session);
  }

 private:
  std::vector<Listener*> listeners_;  // in the order of construction
};

}  // namespace mayfly
