// A server and two clients, for tests of what happens when an allocation of a request fails.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "commands/memory/failing_allocation.h"
#include "exec/values/dataset_digest.h"
#include "server/acl/users.h"
#include "server/hubs/hubs.h"
#include "support/command_test.h"
#include "support/output_text.h"
#include "support/words.h"

namespace mayfly::testing {

inline constexpr std::string_view kOom = "-OOM command not allowed when used memory > 'maxmemory'.\r\n";

// A server without anything that a test hangs on it, which may allocate, too.
class World {
 public:
  // The keys that `before` makes are there.
  explicit World(const std::vector<Words>& before) {
    server.Connect(client);
    server.Connect(bystander);
    for (const Words& words : before) Run(client, words);
    client.output.Clear();
    server.sessions.TakeDirty();
  }
  ~World() {
    for (Session* session : {&client, &bystander}) {
      server.server.hubs.client_ends.Tell(*session);
      server.sessions.Remove(*session);
    }
  }

  void Run(Session& session, const Words& words, size_t failing = 0) {
    const std::string input = EncodeRequest(words);
    RunRaw(session, input, failing);
  }
  void RunRaw(Session& session, const std::string& input, size_t failing = 0) {
    Feed feed{.session = &session, .input = input};
    server.executor.RefreshNow();
    const FailingAllocation failing_allocation(failing);
    server.executor.Run({&feed, 1});
    no_room = feed.state == Feed::State::kNoRoom;
  }
  void RunWoken(size_t failing = 0) {
    const FailingAllocation failing_allocation(failing);
    server.executor.RunWoken([](Session&) {});
  }
  std::string Digest() const { return HexOf(DigestOfAll(server.databases, server.executor.now())); }
  bool Valid() const {
    for (unsigned i = 0; i < server.databases.count(); ++i) {
      if (!server.databases.At(i).Validate()) return false;
    }
    return true;
  }
  bool Works() {
    if (bystander.Has(Mode::kDropped)) return true;  // CLIENT KILL
    bystander.output.Clear();
    if (server.parking.paused() != PauseOf::kNobody) server.parking.Unpause();
    bystander.LogIn(&server.server.users.default_user());
    Run(bystander, {"SET", "the next request", "v"});
    Run(bystander, {"GET", "the next request"});
    return OutputText(bystander.output) == "+OK\r\n$1\r\nv\r\n" && Valid();
  }

  LooplessServer server;
  Session client{server.chunks};
  Session bystander{server.chunks};
  bool no_room = false;
};

}  // namespace mayfly::testing
