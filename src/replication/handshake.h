// A replica's requests to its master before the master sends keys or commands. Each answer is one line:
//
//   PING                                       +PONG, or an error if a password is needed
//   AUTH [user] password                       +OK          if there is a password
//   REPLCONF listening-port <port>             +OK
//   REPLCONF ip-address <address>              +OK          if an address is announced
//   REPLCONF capa eof capa psync2 capa mayfly [capa cutoffs]
//                                              +OK, from a Mayfly +OK mayfly
//   PSYNC <history> <offset + 1>, or PSYNC ? -1
//                                              +FULLRESYNC <history> <offset>, +CONTINUE [history], or an error
//
// Errors of REPLCONF do not matter: older servers do not know every option. Does no input or output itself; reads no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly {

// A Mayfly's answer to REPLCONF ... CAPA MAYFLY.
inline constexpr std::string_view kMayflyAnswer = "+OK mayfly";

struct HandshakeTerms {
  std::string user = {};  // empty: the default user
  std::string password = {};
  std::string announced_address = {};  // empty: the address that the master sees
  uint16_t listening_port = 0;
  std::string history = {};    // of this server's stream; empty: none
  int64_t offset = 0;          // in the stream `history`
  bool takes_cutoffs = false;  // cutoffs instead of a DEL for each expired key (replication/cutoff.h)
  bool hands_over = false;     // asks a replica to become the master
};

class Handshake {
 public:
  enum class State : uint8_t {
    kUnderWay,
    kFull,      // the master sends all keys, and then the stream from offset() on
    kContinue,  // the stream goes on at offset()
    kLater,     // the master cannot answer now
    kRefused,   // see problem()
  };

  explicit Handshake(HandshakeTerms terms) : terms_(std::move(terms)) {}

  // The first request.
  std::string Begin();
  // Takes a line of the master, without the line end. Returns the next request, or "".
  std::string Take(std::string_view line);
  State state() const noexcept { return state_; }
  // True after the last request: PSYNC.
  bool asks_for_keys() const noexcept { return step_ == Step::kSync; }
  // The reason for kLater or kRefused, in one line.
  const std::string& problem() const noexcept { return problem_; }
  const std::string& history() const noexcept { return terms_.history; }
  int64_t offset() const noexcept { return terms_.offset; }
  // The master is a Mayfly: messages with facts of keys are true (replication/facts.h).
  bool is_mayfly() const noexcept { return is_mayfly_; }
  // The stream may have cutoffs.
  bool gets_cutoffs() const noexcept { return is_mayfly_ && terms_.takes_cutoffs; }

 private:
  enum class Step : uint8_t { kPing, kLogin, kPort, kAddress, kCapabilities, kSync };

  std::string Ask(Step step);
  std::string Refuse(std::string_view what, std::string_view line);
  void TakeSync(std::string_view line);
  bool ReadFull(std::string_view words);

  HandshakeTerms terms_;
  Step step_ = Step::kPing;
  bool is_mayfly_ = false;
  State state_ = State::kUnderWay;
  std::string problem_;
};

}  // namespace mayfly
