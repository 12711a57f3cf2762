// A replica that only ever receives: it asks for a full synchronisation, reads the whole snapshot, and asks again.
//
// Understands both forms of a snapshot: of a known length ("$123"), and up to a mark ("$EOF:" and forty characters). Any error
// ends the program. Never blocks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "socket.h"

namespace mayfly::bench {

class FullSyncs {
 public:
  explicit FullSyncs(int port) : port_(port) { Begin(); }

  // Reads what has arrived. Call it often.
  void Step();
  // How many snapshots were received whole.
  uint64_t done() const { return done_; }

 private:
  static constexpr size_t kMarkBytes = 40;

  void Begin();
  void Send(std::initializer_list<std::string_view> words);
  void Take(std::string_view bytes);
  // The next line, without its end; false if it has not arrived as a whole.
  bool TakeLine(std::string_view& bytes, std::string& line);

  const int port_;
  std::unique_ptr<Socket> socket_;
  std::string line_;  // the beginning of a line
  bool in_snapshot_ = false;
  std::string mark_;   // ends the snapshot; "": left_ says where it ends
  uint64_t left_ = 0;  // bytes of the snapshot
  std::string last_;   // its last bytes, as many as a mark has
  uint64_t done_ = 0;
};

}  // namespace mayfly::bench
