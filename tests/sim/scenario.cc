#include "sim/scenario.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>

#include "net/socket/limits.h"

namespace mayfly::sim {
namespace {

using testing::EncodeRequest;

constexpr size_t kClientsMax = 40;
constexpr size_t kKeysEach = 8;

}  // namespace

struct Scenario::Client {
  enum class State : uint8_t {
    kTalking,
    kEnding,  // sends nothing more; gets all its replies and then the end
    kLost,    // gets some of its replies, in order
  };

  Client(uint64_t n, Peer& its_peer, testing::LooplessServer& model_server)
      : number(n), peer(its_peer), model(model_server) {}

  uint64_t number;
  Peer& peer;
  ModelClient model;
  State state = State::kTalking;
  std::string expected;
  std::vector<size_t> replies_end{0};  // in `expected`
  size_t checked = 0;                  // bytes that came and were right
  std::string to_send;                 // made up, and not yet given to the network
};

void Scenario::Tally::Add(const Tally& other) noexcept {
  clients += other.clients;
  requests += other.requests;
  bytes_received += other.bytes_received;
  partial_writes += other.partial_writes;
  quits += other.quits;
  ends += other.ends;
  resets += other.resets;
  pauses += other.pauses;
  expired_keys += other.expired_keys;
  stops_in_traffic += other.stops_in_traffic;
}

Scenario::Scenario(const Choices& choices, bool sealed)
    : server_({.choices = choices, .uv_phase_us = 500, .sealed = sealed}),
      operator_(&server_.Connect()),
      with_pauses_(server_.world.choices().OneIn(2)),
      stop_in_traffic_(server_.world.choices().OneIn(3)) {
  server_.world.set_timers_in_batches(this->choices().OneIn(2));
  server_.world.set_short_transfers(this->choices().OneIn(2));
  if (this->choices().OneIn(2)) server_.world.set_look_cost_us(1 + this->choices().Below(50));
}

Scenario::~Scenario() = default;

void Scenario::Run(size_t steps) {
  for (size_t i = 0; i < 4; ++i) Join();
  for (size_t i = 0; i < steps && !choices().exhausted(); ++i) {
    Step();
    for (const auto& client : clients_) Check(*client);
  }
  server_.world.set_look_cost_us(0);
  for (const auto& client : clients_) client->peer.ReadAll();
  stop_in_traffic_ ? StopInTraffic() : StopAtRest();
  tally_.expired_keys = server_.expiry_stats().expired_keys;
}

// All clients get all their replies before the server is stopped.
void Scenario::StopAtRest() {
  for (const auto& client : clients_) SendPiece(*client, client->to_send.size());
  server_.AdvanceTime(1'000);  // longer than any pause
  for (const auto& client : clients_) CheckEnd(*client);
  if (operator_->received().size() != replies_to_operator_ * 5)
    server_.world.Fail("the operator got too little");
  for (unsigned i = 0; i < server_.parts.databases.count(); ++i) {
    if (!server_.parts.databases.At(i).Validate()) server_.world.Fail("a keyspace is not in order");
  }
  server_.Raise(SIGTERM);
  operator_->Leave();
  for (const auto& client : clients_) client->peer.Leave();
  server_.Settle();
  if (!server_.ended()) server_.world.Fail("the server does not end though all clients have closed");
}

// Whatever was run is answered, each client gets whole replies and then the end.
void Scenario::StopInTraffic() {
  ++tally_.stops_in_traffic;
  server_.Raise(SIGTERM);
  for (uint64_t ms = 0; ms < net::kStopSilenceMs && !server_.ended(); ++ms) {
    server_.AdvanceTime(1);
    if (operator_->ended()) operator_->Leave();
    for (const auto& client : clients_) {
      if (client->peer.ended()) client->peer.Leave();
    }
  }
  if (!server_.ended()) server_.world.Fail("the server does not end though all clients read");
  server_.world.Happen();  // what was written last arrives
  for (const auto& client : clients_) {
    CheckBytes(*client);
    Count(*client);
    if (client->state == Client::State::kLost) continue;
    if (!client->peer.ended()) server_.world.Fail(NameOf(*client) + " was reset by a server that stops");
    if (!std::binary_search(client->replies_end.begin(), client->replies_end.end(), client->checked))
      server_.world.Fail(NameOf(*client) + " got a part of a reply");
  }
}

// ---- what happens

void Scenario::Step() {
  Client& client = AnyClient();
  switch (choices().Below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return MakeUpRequests(client);
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
      return SendPiece(client, choices().Below(choices().OneIn(3) ? 200'000 : 300));
    case 9:
    case 10:
    case 11:
      server_.Turn(1 + choices().Below(3));
      return;
    case 12:
      return server_.Settle();
    case 13:
      return server_.AdvanceTime(choices().Below(30));
    case 14:
      return ChangeRate(client);
    default:
      return RareStep(client);
  }
}

void Scenario::RareStep(Client& client) {
  switch (choices().Below(8)) {
    case 0:
    case 1:
      return Join();
    case 2:
      return ScatterDust();
    case 3:
      return Quit(client);
    case 4:
      if (client.state != Client::State::kTalking) return;
      SendPiece(client, client.to_send.size());
      client.peer.EndInput();
      // A client that is held back when its input ends is dropped.
      client.state = with_pauses_ ? Client::State::kLost : Client::State::kEnding;
      ++tally_.ends;
      return;
    case 5:
      client.peer.Reset();
      client.state = Client::State::kLost;
      ++tally_.resets;
      return;
    default:
      if (!with_pauses_) return;
      operator_->Request(
          {"CLIENT", "PAUSE", std::to_string(1 + choices().Below(40)), choices().OneIn(2) ? "WRITE" : "ALL"});
      ++replies_to_operator_;
      ++tally_.pauses;
  }
}

void Scenario::Join() {
  if (clients_.size() >= kClientsMax) {
    Client& oldest = *clients_.front();
    if (oldest.state != Client::State::kLost && !oldest.peer.ended()) return;
    CheckEnd(oldest);
    oldest.peer.Leave();
    clients_.erase(clients_.begin());
  }
  Peer* const peer = server_.TryConnect();
  if (peer == nullptr) return;
  peer->link().send_capacity = 1'000 + choices().Below(200'000);
  peer->link().receive_capacity = 1'000 + choices().Below(200'000);
  clients_.push_back(std::make_unique<Client>(tally_.clients++, *peer, model_));
}

Scenario::Client& Scenario::AnyClient() { return *clients_[choices().Below(clients_.size())]; }

void Scenario::ChangeRate(Client& client) {
  constexpr std::array<size_t, 5> kRates = {0, 10, 1'000, 100'000, Link::kAtOnce};
  client.peer.link().set_rate(kRates[choices().Below(kRates.size())]);
}

void Scenario::Quit(Client& client) {
  if (client.state != Client::State::kTalking) return;
  client.state = Client::State::kEnding;
  ++tally_.quits;
  // In order, or by breaking the protocol. What it sends after that must do no harm.
  Add(client, choices().OneIn(2) ? "QUIT\r\n" : "*2\r\n$x\r\n");
  if (choices().OneIn(2)) client.to_send += std::string(choices().Below(100'000), 'x');
  SendPiece(client, client.to_send.size());
}

// Keys that nobody reads, and that expire one after the other or at once.
void Scenario::ScatterDust() {
  const bool at_once = choices().OneIn(2);
  const size_t keys = 1 + choices().Below(300);
  for (size_t i = 0; i < keys; ++i) {
    const size_t ms = at_once ? 20 : 1 + choices().Below(100);
    operator_->Request(
        {"SET", "dust:" + std::to_string(choices().Below(10'000)), "v", "PX", std::to_string(ms)});
  }
  replies_to_operator_ += keys;
}

// ---- requests

void Scenario::MakeUpRequests(Client& client) {
  if (client.state != Client::State::kTalking) return;
  for (size_t left = 1 + choices().Below(choices().OneIn(4) ? 200 : 8); left != 0; --left)
    Add(client, MakeUpRequest(client));
}

void Scenario::Add(Client& client, const std::string& request) {
  client.to_send += request;
  client.expected += client.model.Answer(request);
  client.replies_end.push_back(client.expected.size());
  ++tally_.requests;
}

std::string Scenario::MakeUpRequest(Client& client) {
  const auto key = [&] {
    return 'c' + std::to_string(client.number) + ':' + std::to_string(choices().Below(kKeysEach));
  };
  const auto value = [&] {
    constexpr std::array<size_t, 6> kSizes = {10, 10, 200, 5'000, 40'000, 150'000};
    const size_t size = choices().Below(kSizes[choices().Below(kSizes.size())]);
    return std::string(size, static_cast<char>('a' + choices().Below(26)));
  };
  switch (choices().Below(18)) {
    case 0:
    case 1:
      return EncodeRequest({"SET", key(), value()});
    case 2:
    case 3:
    case 4:
      return EncodeRequest({"GET", key()});
    case 5:
      return EncodeRequest({"MGET", key(), key(), key(), key()});
    case 6:
      return EncodeRequest({"APPEND", key(), value()});
    case 7:
      return EncodeRequest({"SETRANGE", key(), std::to_string(choices().Below(20'000)), value()});
    case 8:
      return EncodeRequest({"INCR", key() + ":n"});
    case 9:
      return EncodeRequest({"DEL", key(), key()});
    case 10:
      return EncodeRequest({"GETRANGE", key(), "5", "-5"});
    case 11:
      return EncodeRequest({"SELECT", std::to_string(choices().Below(16))});
    case 12:
      return EncodeRequest({"ECHO", value()});
    case 13:
      return EncodeRequest({"CLIENT", "REPLY", choices().OneIn(2) ? "SKIP" : "ON"});
    case 14:
      return "STRLEN " + key() + "\r\n";
    case 15:
      return choices().OneIn(2) ? "\r\n" : "*0\r\n";
    case 16:
      return choices().OneIn(2) ? "GET\r\n" : EncodeRequest({"NOSUCHCOMMAND", value().substr(0, 50)});
    default:
      return "PING\r\n";
  }
}

void Scenario::SendPiece(Client& client, size_t size) {
  if (client.state == Client::State::kLost || client.to_send.empty()) return;
  client.peer.Send(client.to_send.substr(0, size));
  client.to_send.erase(0, size);
}

// ---- checks

std::string Scenario::NameOf(const Client& client) { return "client " + std::to_string(client.number); }

void Scenario::CheckBytes(Client& client) {
  const std::string& received = client.peer.received();
  const size_t fresh = received.size() - client.checked;
  if (received.compare(client.checked, fresh, client.expected, client.checked, fresh) != 0) {
    const auto [bad, should] =
        std::mismatch(received.begin(), received.end(), client.expected.begin(), client.expected.end());
    const auto at = static_cast<size_t>(bad - received.begin());
    server_.world.Fail(NameOf(client) + " gets at byte " + std::to_string(at) + " '" +
                       received.substr(at, 60) + "' instead of '" +
                       client.expected.substr(std::min(at, client.expected.size()), 60) + "'");
  }
  client.checked = received.size();
}

void Scenario::Check(Client& client) {
  CheckBytes(client);
  if (client.state == Client::State::kTalking && !client.peer.connected())
    server_.world.Fail(NameOf(client) + " is closed for no reason");
}

// All clients have read everything by now.
void Scenario::CheckEnd(Client& client) {
  Check(client);
  Count(client);
  if (client.state == Client::State::kLost) return;
  const std::string who = NameOf(client);
  if (client.checked != client.expected.size())
    server_.world.Fail(who + " got " + std::to_string(client.checked) + " bytes of " +
                       std::to_string(client.expected.size()) +
                       (client.peer.was_reset() ? " before a reset" : ""));
  if (client.state == Client::State::kEnding && !client.peer.ended())
    server_.world.Fail(who + (client.peer.was_reset() ? " was reset" : " is still connected"));
}

void Scenario::Count(Client& client) {
  tally_.bytes_received += client.checked;
  for (const Link::WriteCall& call : client.peer.link().write_calls)
    tally_.partial_writes += call.taken > 0 && static_cast<size_t>(call.taken) < call.asked ? 1 : 0;
}

}  // namespace mayfly::sim
