// A client of a server without a loop, for fuzz targets: it does itself what the loop would do with it.
#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "commands/memory/failing_allocation.h"
#include "server/hubs/hubs.h"
#include "support/loopless_server.h"

namespace mayfly::testing {

using Words = std::vector<std::string>;

[[noreturn]] inline void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

inline std::string Shown(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word.substr(0, 100);
  return text;
}

class Guest {
 public:
  explicit Guest(LooplessServer& server) : session(server.chunks), server_(server) {
    server_.Connect(session);
    session.peer = "127.0.0.1:" + std::to_string(session.id);
  }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() {
    server_.server.hubs.client_ends.Tell(session);
    server_.sessions.Remove(session);
  }

  void Send(std::string_view bytes) { input_ += bytes; }
  // Runs what it has sent, as far as it may run now. The parser gets a block of exactly that size. `failing`: this allocation
  // of the server fails; 0: none.
  void Serve(size_t failing = 0) {
    server_.executor.RefreshNow();
    const auto exact = std::make_unique<char[]>(input_.size());
    input_.copy(exact.get(), input_.size());
    Feed feed{.session = &session, .input = {exact.get(), input_.size()}};
    {
      const FailingAllocation fails(failing);
      server_.executor.Run({&feed, 1});
    }
    if (feed.state == Feed::State::kNoRoom) session.Set(Mode::kDropped);
    input_.erase(0, feed.consumed);
  }
  std::string TakeOutput() {
    std::string bytes;
    std::array<OutputPiece, 16> pieces;
    while (!session.output.empty()) {
      const size_t before = bytes.size();
      const size_t count = session.output.Gather(pieces);
      for (size_t i = 0; i < count; ++i) bytes.append(pieces[i].data, pieces[i].size);
      session.output.Consume(bytes.size() - before);
    }
    return bytes;
  }

  Session session;

 private:
  LooplessServer& server_;
  std::string input_;
};

inline void ValidateAll(LooplessServer& server) {
  for (unsigned i = 0; i < server.databases.count(); ++i) {
    if (!server.databases.At(i).Validate()) Fail("database " + std::to_string(i) + " is not valid");
  }
}

}  // namespace mayfly::testing
