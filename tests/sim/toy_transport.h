// A transport that is as awkward as TLS and says what it does: a handshake of two messages, then records whose bytes
// are veiled. Both sides are of this class.
//
//   client                server
//     hello    ------->
//              <-------   welcome        (alert, and the end of it, if the hello is wrong)
//     data ... <------>   data ...
//     end      <------>   end
//
//   record: | kind | size, 2 bytes, low first | payload, each byte veiled by its place in the stream |
//
// The client may send data right after its hello. A record of kind `run` stands for up to 60,000 equal bytes, so a
// read may come to much more plaintext than its own size, and the rest of it waits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "net/socket/transport.h"

namespace mayfly::sim {

class ToyTransport final : public net::Transport {
 public:
  enum class Side : uint8_t { kServer, kClient };
  static constexpr size_t kPayloadMax = 1'000;
  static constexpr size_t kRunMax = 60'000;
  static constexpr std::string_view kHello = "hello";
  static constexpr std::string_view kWelcome = "welcome";

  explicit ToyTransport(Side side);

  State state() const noexcept override { return state_; }
  std::string_view Problem() const noexcept override { return problem_; }
  size_t memory() const noexcept override;
  void Receive(std::string_view ciphertext) override;
  bool HasPlaintext() const noexcept override { return read_ != plaintext_.size(); }
  size_t Read(std::span<char> room) noexcept override;
  size_t Write(std::string_view plaintext) override;
  void End() override;
  std::string_view ToSend() noexcept override;
  void Sent(size_t n) noexcept override { sent_ += n; }

  // One record as the first of its side's stream, for tests that break the rules.
  static std::string Record(char kind, std::string_view payload);
  static constexpr char kHandshakeKind = 'h', kDataKind = 'd', kRunKind = 'r', kEndKind = 'e',
                        kAlertKind = 'a';

 private:
  void Add(char kind, std::string_view payload);
  void Take(char kind, const std::string& payload);
  void TakeHandshake(const std::string& payload);
  void Break(std::string_view problem);

  const Side side_;
  State state_ = State::kHandshake;
  std::string problem_;
  std::string received_;  // the beginning of a record
  std::string plaintext_;
  size_t read_ = 0;  // of plaintext_
  std::string sending_;
  size_t sent_ = 0;  // of sending_
  std::string next_;
  size_t veiled_ = 0;    // bytes of payload written
  size_t unveiled_ = 0;  // and read
};

class ToyTransports final : public net::TransportFactory {
 public:
  std::unique_ptr<net::Transport> NewTransport() const override {
    return std::make_unique<ToyTransport>(ToyTransport::Side::kServer);
  }
};

}  // namespace mayfly::sim
