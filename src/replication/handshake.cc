#include "replication/handshake.h"

#include "base/text/numbers.h"
#include "config/words.h"
#include "resp/request_text.h"

namespace mayfly {
namespace {

using resp::RequestText;

constexpr size_t kHistoryDigits = 40;
constexpr std::string_view kFullAnswer = "+FULLRESYNC ";
constexpr std::string_view kContinueAnswer = "+CONTINUE";

bool IsHistory(std::string_view text) noexcept {
  return text.size() == kHistoryDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

std::string Handshake::Begin() { return Ask(Step::kPing); }

std::string Handshake::Ask(Step step) {
  step_ = step;
  switch (step) {
    case Step::kPing:
      return RequestText({"PING"});
    case Step::kLogin:
      if (terms_.password.empty()) return Ask(Step::kPort);
      return terms_.user.empty() ? RequestText({"AUTH", terms_.password})
                                 : RequestText({"AUTH", terms_.user, terms_.password});
    case Step::kPort:
      return RequestText({"REPLCONF", "listening-port", std::to_string(terms_.listening_port)});
    case Step::kAddress:
      if (terms_.announced_address.empty()) return Ask(Step::kCapabilities);
      return RequestText({"REPLCONF", "ip-address", terms_.announced_address});
    case Step::kCapabilities:
      if (terms_.takes_cutoffs)
        return RequestText(
            {"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly", "capa", "cutoffs"});
      return RequestText({"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly"});
    case Step::kSync:
      break;
  }
  if (terms_.history.empty()) return RequestText({"PSYNC", "?", "-1"});
  const std::string first = std::to_string(terms_.offset + 1);
  if (terms_.hands_over) return RequestText({"PSYNC", terms_.history, first, "FAILOVER"});
  return RequestText({"PSYNC", terms_.history, first});
}

std::string Handshake::Take(std::string_view line) {
  if (line.empty()) return {};  // the master is alive, and not ready yet
  const bool error = line.starts_with('-');
  switch (step_) {
    case Step::kPing:
      if (error && !line.starts_with("-NOAUTH") && !line.starts_with("-NOPERM") &&
          !line.starts_with("-ERR operation not permitted"))
        return Refuse("answers PING with", line);
      return Ask(Step::kLogin);
    case Step::kLogin:
      return error ? Refuse("refuses the password (masterauth, masteruser):", line) : Ask(Step::kPort);
    case Step::kPort:
      return Ask(Step::kAddress);
    case Step::kAddress:
      return Ask(Step::kCapabilities);
    case Step::kCapabilities:
      is_mayfly_ = line == kMayflyAnswer;
      return Ask(Step::kSync);
    case Step::kSync:
      TakeSync(line);
      return {};
  }
  return {};
}

void Handshake::TakeSync(std::string_view line) {
  if (line.starts_with(kFullAnswer) && ReadFull(line.substr(kFullAnswer.size()))) {
    state_ = State::kFull;
  } else if (line.starts_with(kContinueAnswer) && !terms_.history.empty()) {
    line.remove_prefix(kContinueAnswer.size());
    if (line.starts_with(' ') && IsHistory(line.substr(1))) terms_.history = line.substr(1);
    state_ = State::kContinue;
  } else if (line.starts_with("-NOMASTERLINK") || line.starts_with("-LOADING")) {
    state_ = State::kLater;
    problem_ = config::Printable(line.substr(1));
  } else {
    Refuse("does not send its keys:", line);
  }
}

bool Handshake::ReadFull(std::string_view words) {
  const size_t space = words.find(' ');
  if (space == std::string_view::npos || !IsHistory(words.substr(0, space))) return false;
  const std::optional<int64_t> offset = ParseInteger(words.substr(space + 1));
  // So far from the end of the type, no number of bytes later overflows.
  constexpr int64_t kMost = int64_t{1} << 62;
  if (!offset || *offset < 0 || *offset > kMost) return false;
  terms_.history = words.substr(0, space);
  terms_.offset = *offset;
  return true;
}

std::string Handshake::Refuse(std::string_view what, std::string_view line) {
  state_ = State::kRefused;
  problem_ = "the master ";
  problem_.append(what).append(" ").append(config::Printable(line));
  return {};
}

}  // namespace mayfly
