// Several clients whose bytes reach a server without a loop through net::Input, as connections do it: bytes
// are lent room, wait until the turn ends, run together, and what has not run is kept.
//
// A client may be paused, blocked, killed, and go on. Memory that was lent as the shared buffer is freed when
// its bytes have run, so that the address sanitizer sees whoever reads it later.
#pragma once

#include <array>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/socket/input.h"
#include "server/hubs/hubs.h"
#include "support/loopless_server.h"

namespace mayfly::testing {

class InputRig {
 public:
  struct Client {
    explicit Client(LooplessServer& server) : session(server.chunks) {}
    Session session;
    net::Input input;
    std::string output;
    bool has_read = false;  // in this turn
    bool closed = false;
  };

  InputRig(LooplessServer& server, size_t count) : server_(server) {
    for (size_t i = 0; i < count; ++i) {
      clients_.push_back(std::make_unique<Client>(server_));
      server_.Connect(clients_.back()->session);
    }
  }
  InputRig(const InputRig&) = delete;
  InputRig& operator=(const InputRig&) = delete;
  ~InputRig() {
    for (const auto& client : clients_) Close(*client);
  }

  Client& at(size_t index) noexcept { return *clients_[index]; }
  size_t size() const noexcept { return clients_.size(); }

  // The socket of this client delivers the front of `bytes`. Returns how many bytes it took: one read a turn.
  size_t Deliver(Client& client, std::string_view bytes) {
    if (client.closed || client.has_read) return client.closed ? bytes.size() : 0;
    client.has_read = true;
    const std::span<char> room =
        client.input.Lend(client.session.parser, [this](size_t size) { return LendShared(size); });
    const size_t taken = bytes.copy(room.data(), room.size());
    const std::string_view to_run = client.input.Filled(client.session.parser, room.first(taken));
    if (!to_run.empty()) feeds_.push_back({.session = &client.session, .input = to_run});
    if (taken != room.size()) return taken;
    RunFeeds();
    if (!client.closed) client.has_read = !net::Input::MayReadOn(client.session.parser, taken);
    return taken;
  }

  // All that came is run, then those who were woken go on, then the replies are written.
  void EndTurn() {
    server_.executor.RefreshNow();
    RunFeeds();
    server_.executor.RunWoken([this](Session& session) { Resume(Of(session)); });
    for (const auto& client : clients_) {
      client->has_read = false;
      Write(*client);
    }
    static_cast<void>(server_.sessions.TakeDirty());
  }

  void Close(Client& client) {
    if (client.closed) return;
    client.closed = true;
    server_.server.hubs.client_ends.Tell(client.session);
    server_.sessions.Remove(client.session);
    client.input.Release();
  }

 private:
  Client& Of(const Session& session) {
    for (const auto& client : clients_) {
      if (&client->session == &session) return *client;
    }
    std::abort();
  }

  char* LendShared(size_t size) {
    shared_.push_back(std::make_unique<char[]>(size));
    return shared_.back().get();
  }

  void RunFeeds() {
    server_.executor.Run(feeds_);
    for (const Feed& feed : feeds_) {
      if (feed.state == Feed::State::kNoRoom) std::abort();
      Of(*feed.session).input.Keep(feed);
    }
    feeds_.clear();
    shared_.clear();
  }

  void Resume(Client& client) {
    if (client.closed || client.input.empty()) return;
    feeds_.push_back({.session = &client.session, .input = client.input.kept()});
    RunFeeds();
  }

  void Write(Client& client) {
    std::array<OutputPiece, 16> pieces;
    OutputChain& output = client.session.output;
    while (!client.closed && !output.empty()) {
      size_t written = 0;
      const size_t count = output.Gather(pieces);
      for (size_t i = 0; i < count; written += pieces[i++].size)
        client.output.append(pieces[i].data, pieces[i].size);
      output.Consume(written);
    }
    if (client.session.closes()) Close(client);
  }

  LooplessServer& server_;
  std::vector<std::unique_ptr<Client>> clients_;
  std::vector<std::unique_ptr<char[]>> shared_;
  std::vector<Feed> feeds_;
};

}  // namespace mayfly::testing
