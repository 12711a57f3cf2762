// Random traffic: many clients that send random requests in random pieces, read at random rates, end, quit
// and vanish, while keys expire, clients are paused and transfers are short. Each client uses keys of its own,
// so a model (model.h) knows every byte that it must get. A client that ends in order must get all of them.
//
// Random tests run it with seeds, fuzz targets with the fuzzer's bytes:
//
//   extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
//     mayfly::sim::Scenario(mayfly::sim::Choices(data, size)).Run(10'000);
//     return 0;
//   }
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/model.h"
#include "sim/server.h"

namespace mayfly::sim {

class Scenario {
 public:
  // `sealed`: clients come through a transport (sim/toy_transport.h).
  explicit Scenario(const Choices& choices, bool sealed = false);
  ~Scenario();

  // Runs that many steps, or fewer if the fuzzer's bytes are used up. Then all clients read, and the
  // server is stopped, at rest or in the middle of the traffic. Throws SimulationError at the first mistake.
  void Run(size_t steps);

  // How much of everything happened, so that a test can see that the traffic was not harmless.
  struct Tally {
    uint64_t clients = 0;
    uint64_t requests = 0;
    uint64_t bytes_received = 0;
    uint64_t partial_writes = 0;
    uint64_t quits = 0;
    uint64_t ends = 0;
    uint64_t resets = 0;
    uint64_t pauses = 0;
    uint64_t expired_keys = 0;
    uint64_t stops_in_traffic = 0;

    void Add(const Tally& other) noexcept;
  };
  const Tally& tally() const noexcept { return tally_; }

 private:
  struct Client;

  Choices& choices() noexcept { return server_.world.choices(); }
  void Step();
  void RareStep(Client& client);
  void Join();
  Client& AnyClient();
  void MakeUpRequests(Client& client);
  std::string MakeUpRequest(Client& client);
  void Add(Client& client, const std::string& request);
  void SendPiece(Client& client, size_t size);
  void ChangeRate(Client& client);
  void Quit(Client& client);
  void ScatterDust();
  void StopAtRest();
  void StopInTraffic();
  static std::string NameOf(const Client& client);
  void CheckBytes(Client& client);
  void Check(Client& client);
  void CheckEnd(Client& client);
  void Count(Client& client);

  SimulatedServer server_;
  testing::LooplessServer model_{1000};
  std::vector<std::unique_ptr<Client>> clients_;
  Peer* operator_;
  uint64_t replies_to_operator_ = 0;
  bool with_pauses_;
  bool stop_in_traffic_;
  Tally tally_;
};

}  // namespace mayfly::sim
