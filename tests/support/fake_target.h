// Another server for tests without a loop: a test takes what was sent to it, and answers, refuses or hangs up when it likes.
//
//   FakeTargets targets(server());
//   Run({"MIGRATE", "there", "6379", "k", "0", "100"}) == NoReply();
//   targets.last().Accept();
//   targets.last().Take() == "SELECT 0";
//   targets.last().Answer("+OK\r\n");
//
// Loop thread only. Borrows the server.
#pragma once

#include <cassert>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/outgoing.h"
#include "support/command_test.h"

namespace mayfly::testing {

class FakeTargets;

class FakeTarget {
 public:
  using State = OutgoingConnection::State;

  std::string host;
  uint16_t port = 0;

  // The connection is made.
  void Accept() { Become(State::kOpen); }
  void Refuse() { Become(State::kRefused); }
  void FindNoAddress() { Become(State::kNoAddress); }
  void HangUp() { Become(State::kLost); }
  // The requests that were sent since the last call: words separated by spaces, a payload as "...", requests by "; ".
  std::string Take();
  // The same bytes as they are.
  std::string TakeBytes() { return std::exchange(sent_, {}); }
  // From now on the system takes no more bytes.
  void Clog() { clogged_ = true; }
  void Unclog(size_t bytes) { unsent_ -= std::min(bytes, unsent_); }
  // The owner may leave bytes for its next turn; it gets as many turns as it needs.
  void Answer(std::string_view bytes);
  // Likewise, but one turn. The bytes that the owner has left.
  size_t AnswerForOneTurn(std::string_view bytes) {
    received_ += bytes;
    Tell();
    return received_.size();
  }
  // Another Mayfly answers.
  void AnswerAs(TestClient& client) { Answer(client.RunRaw(TakeBytes())); }
  // The bytes that the owner has not taken yet.
  size_t unread() const noexcept { return received_.size(); }
  // The owner has closed the connection.
  bool closed() const noexcept { return connection_ == nullptr; }

 private:
  friend class FakeTargets;
  class Connection;

  void Become(State state);
  void Tell();

  TestServer* server_ = nullptr;
  Connection* connection_ = nullptr;
  State state_ = State::kConnecting;
  OutgoingConnection::Listener* listener_ = nullptr;
  std::string sent_;
  std::string received_;
  size_t unsent_ = 0;
  bool clogged_ = false;
};

class FakeTarget::Connection final : public OutgoingConnection {
 public:
  explicit Connection(std::shared_ptr<FakeTarget> target) : target_(std::move(target)) {
    target_->connection_ = this;
  }
  ~Connection() override { target_->connection_ = nullptr; }
  State state() const noexcept override { return target_->state_; }
  void set_listener(Listener& listener) noexcept override { target_->listener_ = &listener; }
  void Send(std::string bytes) override {
    if (target_->clogged_) target_->unsent_ += bytes.size();
    target_->sent_ += bytes;
  }
  size_t unsent() const noexcept override { return target_->unsent_; }
  std::string_view received() const noexcept override { return target_->received_; }
  void Consume(size_t size) noexcept override { target_->received_.erase(0, size); }

 private:
  const std::shared_ptr<FakeTarget> target_;  // may outlive the test's FakeTargets
};

class FakeTargets final : public Outgoing {
 public:
  explicit FakeTargets(TestServer& server) : server_(server) { server.server.outgoing = this; }
  ~FakeTargets() { server_.server.outgoing = nullptr; }

  std::unique_ptr<OutgoingConnection> Connect(const std::string& host, uint16_t port,
                                              OutgoingConnection::Listener& listener) override {
    FakeTarget& target = *made_.emplace_back(std::make_shared<FakeTarget>());
    target.host = host;
    target.port = port;
    target.server_ = &server_;
    target.listener_ = &listener;
    return std::make_unique<FakeTarget::Connection>(made_.back());
  }
  size_t count() const noexcept { return made_.size(); }
  FakeTarget& last() { return *made_.back(); }

 private:
  TestServer& server_;
  std::vector<std::shared_ptr<FakeTarget>> made_;
};

inline void FakeTarget::Become(State state) {
  state_ = state;
  Tell();
}

// The loop then runs the clients that were woken.
inline void FakeTarget::Tell() {
  if (connection_ != nullptr) listener_->OnNews();
  server_->RunWoken();
}

inline void FakeTarget::Answer(std::string_view bytes) {
  size_t left = AnswerForOneTurn(bytes);
  for (size_t before = received_.size() + 1; left != 0 && left < before && !closed();) {
    before = left;
    left = AnswerForOneTurn({});
  }
}

inline std::string FakeTarget::Take() {
  std::string shown;
  std::string_view rest = sent_;
  const auto number = [&rest] {
    const size_t end = rest.find("\r\n");
    const size_t value = std::stoul(std::string(rest.substr(1, end - 1)));
    rest.remove_prefix(end + 2);
    return value;
  };
  while (!rest.empty()) {
    if (!shown.empty()) shown += "; ";
    const size_t words = number();
    const bool restores = rest.find("RESTORE") < 8;
    for (size_t i = 0; i < words; ++i) {
      const size_t size = number();
      if (i != 0) shown += ' ';
      shown += restores && i == 3 ? "..." : std::string(rest.substr(0, size));
      rest.remove_prefix(size + 2);
    }
  }
  sent_.clear();
  return shown;
}

}  // namespace mayfly::testing
