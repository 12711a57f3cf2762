// The parts that keep something for a client: one that is built hears when the client goes, and nobody keeps a list of them.
//
// A client goes once, before its session does; RESET ends no client. The session is in no batch. ClientEnds must outlive the
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

    // Forgets all that is kept for the client. No effect if that is nothing.
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
  std::vector<Ear*> ears_;  // in the order in which they were made
};

}  // namespace mayfly
