#include "net/http/http_client.h"

#include <new>
#include <utility>

#include "base/time/clock.h"
#include "exec/dispatch/executor.h"
#include "net/client/clients.h"
#include "net/client/read_calls.h"
#include "net/http/http_service.h"
#include "net/http/status_codes.h"
#include "server/waiting/parking.h"

namespace mayfly::net {

HttpClient::HttpClient(Clients& all, Kind kind, const HttpService& service)
    : Step(all.server().sliced_work),
      Connection(all, kind, output_, nullptr),
      service_(service),
      output_(all.chunks()) {}

void HttpClient::OnOpen() { stage_since_mono_ms_ = clients().turn().now().mono_ms; }

// ---- requests

const Connection::ReadCalls& HttpClient::read_calls() const noexcept { return kReadCallsOf<HttpClient>; }

void HttpClient::TakeInput(std::span<const char> bytes) {
  clients().turn().Begin();
  unread_ = {bytes.data(), bytes.size()};
  Flush();
}

bool HttpClient::ReadNext() {
  if (state() != State::kOpen || answer_ || last_ || OutputWaits()) return false;
  if (!unread_.empty()) unread_.remove_prefix(parser_.Feed(unread_));
  switch (parser_.state()) {
    case RequestParser::State::kNeedMore:
      return false;
    case RequestParser::State::kReady:
      answer_ = service_.AnswerTo(parser_.request(),
                                  {.stopping = clients().stopping() || clients().server().waits_to_stop,
                                   .from_loopback = from_loopback()});
      Announce();
      return false;
    case RequestParser::State::kFailed:
      break;
  }
  last_ = true;
  unread_ = {};
  Write(service_.Refuse(parser_.failure()), /*head_only=*/false);
  return true;
}

// While a request or an answer waits nothing is read, and so the end is not either.
bool HttpClient::TakeEnd() { return false; }

// ---- answers

bool HttpClient::DoSome(Now now, size_t) noexcept {
  if (state() != State::kOpen || !answer_) return false;
  try {
    if (answer_->page != nullptr && answer_->page->BuildSome(now)) {
      Account();
      return true;
    }
    Finish();
  } catch (const std::bad_alloc&) {
    DropForMemory("its page");
    return false;
  }
  Flush();
  return state() == State::kOpen && answer_.has_value();
}

void HttpClient::Finish() {
  if (answer_->page != nullptr) answer_->body = answer_->page->Take();
  if (!parser_.request().keep_alive) last_ = true;
  Write(*answer_, parser_.request().head_only);
  answer_.reset();
  parser_.Next();
}

void HttpClient::Write(const Answer& answer, bool head_only) {
  output_.Append(WriteHead({.status = answer.status,
                            .type = answer.type,
                            .body_bytes = answer.body.size(),
                            .closes = last_,
                            .more = answer.more_headers}));
  if (!head_only) output_.Append(answer.body);
}

void HttpClient::Flush() {
  try {
    if (!WriteOut(LimitOfOutput())) return;
    if (ReadNext() && !WriteOut(LimitOfOutput())) return;
  } catch (const std::bad_alloc&) {
    return DropForMemory("its request");
  }
  if (last_ && !answer_) SetEnding();
  EnterStage();
  set_input_full(answer_.has_value() || OutputWaits() || !unread_.empty());
  Account();
  FollowOutput();
}

// A started answer is still finished: no other client is served any more, and none has to wait.
void HttpClient::OnStop() noexcept {
  unread_ = {};
  last_ = true;
  if (!answer_) return;
  try {
    while (answer_->page != nullptr && answer_->page->BuildSome(clients().executor().now())) {
    }
    Finish();
  } catch (const std::bad_alloc&) {
    answer_.reset();
  }
}

void HttpClient::OnLeave() noexcept {
  answer_.reset();
  unread_ = {};
}

// ---- limits

void HttpClient::EnterStage() {
  const bool answering = answer_.has_value() || OutputWaits();
  const Stage stage = answering ? Stage::kAnswering : parser_.idle() ? Stage::kIdle : Stage::kReading;
  const bool anew = answering && answer_.has_value() && !OutputWaits();
  if (stage == stage_ && !anew) return;
  stage_ = stage;
  if (answering) asked_ = true;
  stage_since_mono_ms_ = clients().turn().now().mono_ms;
  clients().File(*this);
}

uint64_t HttpClient::SilentUntil() const noexcept {
  switch (stage_) {
    case Stage::kReading:
      return stage_since_mono_ms_ + kHttpRequestMs;
    case Stage::kAnswering:
      return stage_since_mono_ms_ + kHttpAnswerMs;
    default:
      return stage_since_mono_ms_ + (asked_ ? kHttpIdleMs : kHttpRequestMs);
  }
}

uint64_t HttpClient::SpareSince() const noexcept {
  const bool spare = state() == State::kOpen && stage_ == Stage::kIdle && asked_;
  return spare ? stage_since_mono_ms_ : ParkingLot::kForever;
}

// An HttpClient holds one answer; the option is for clients of the cache.
const config::OutputLimit& HttpClient::LimitOfOutput() const noexcept {
  static constexpr config::OutputLimit kNone;
  return kNone;
}

void HttpClient::Account() noexcept {
  size_t page = 0;
  if (answer_) page = answer_->body.capacity() + (answer_->page != nullptr ? answer_->page->memory() : 0);
  Book({.client = page + parser_.memory() + output_.chunk_memory(), .output = output_.memory()});
}

std::string_view HttpClient::RefusalOf(Verdict verdict) const noexcept {
  if (verdict == Verdict::kTooMany)
    return "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: 31\r\n"
           "Retry-After: 1\r\nConnection: close\r\n\r\ntoo many clients of this port.\n";
  return "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 91\r\nConnection: "
         "close\r\n\r\n"
         "protected-mode is on and there is no password: this port serves only its own machine, "
         "too.\n";
}

}  // namespace mayfly::net
