// The parts with state for a client, to be told of the client's end. A part registers itself as an ear by its construction;
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
  class Ear {
   public:
    // Throws std::bad_alloc.
    explicit Ear(ClientEnds& ends) : ends_(ends) { ends_.ears_.push_back(this); }
    Ear(const Ear&) = delete;
    Ear& operator=(const Ear&) = delete;

    // Forgets all state for the client. No effect if there is none.
    virtual void OnClientEnd(Session& session) noexcept = 0;

   protected:
    ~Ear() { std::erase(ends_.ears_, this); }

   private:
    ClientEnds& ends_;
  };

  ClientEnds() = default;
  ClientEnds(const ClientEnds&) = delete;
  ClientEnds& operator=(const ClientEnds&) = delete;

  void Tell(Session& session) noexcept {
    for (Ear* ear : ears_) ear->OnClientEnd(session);
  }

 private:
  std::vector<Ear*> ears_;  // in the order of construction
};

}  // namespace mayfly
