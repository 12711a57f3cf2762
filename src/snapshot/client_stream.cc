#include "snapshot/client_stream.h"

#include <algorithm>
#include <new>
#include <random>
#include <utility>

#include "base/memory/output.h"
#include "config/sources/options.h"
#include "server/clients/session.h"
#include "server/clients/sessions.h"
#include "server/hubs/hubs.h"
#include "server/server.h"
#include "snapshot/format/crc64.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/saver.h"

namespace mayfly {
namespace {

constexpr size_t kEndMarkBytes = 40;

std::string DrawEndMark(std::mt19937_64& random) {
  std::uniform_int_distribution<size_t> digit(0, 15);
  std::string mark;
  while (mark.size() < kEndMarkBytes) mark += "0123456789abcdef"[digit(random)];
  return mark;
}

}  // namespace

ClientStream::ClientStream(Server& server, Session& session, const StreamTerms& terms, bool checksum, Now now)
    : Alarm(server.hubs.alarms),
      Listener(server.hubs.client_ends),
      server_(server),
      session_(&session),
      checksum_(checksum),
      ends_client_(terms.ends_client),
      mark_(DrawEndMark(server.random)),
      look_mono_ms_(now.mono_ms),
      moved_mono_ms_(now.mono_ms) {
  chunks_.push_back(terms.greeting + "$EOF:" + mark_ + "\r\n");
  waiting_bytes_ = chunks_.front().size();
}

ClientStream::~ClientStream() = default;

void ClientStream::Give(std::string&& chunk) {
  if (state_ != State::kWriting) return;  // the save does not know of the failure yet
  if (checksum_) crc_ = rdb::Crc64(crc_, chunk);
  const size_t bytes = chunk.size();
  chunks_.push_back(std::move(chunk));
  waiting_bytes_ += bytes;
}

std::string ClientStream::Collect() noexcept { return std::exchange(room_, {}); }

void ClientStream::Finish() {
  if (state_ != State::kWriting) return;
  std::string end;
  rdb::Out(end).Checksum(crc_);
  end += mark_;
  waiting_bytes_ += end.size();
  chunks_.push_back(std::move(end));
  finished_ = true;
}

bool ClientStream::Abandon() noexcept {
  if (state_ == State::kDone) return false;
  if (state_ == State::kWriting) Fail("abandoned");
  return true;
}

// The sent bytes are not a whole snapshot: the client must see the connection end.
void ClientStream::Fail(std::string_view problem) noexcept {
  state_ = State::kFailed;
  try {
    problem_ = problem;
  } catch (const std::bad_alloc&) {
    problem_ = "out of memory";  // short enough to need none
  }
  chunks_.clear();
  waiting_bytes_ = 0;
  if (session_ != nullptr) {
    session_->Set(Mode::kDropped);
    server_.sessions.MarkDirty(*session_);
  }
  server_.hubs.wakes.Signal();
}

// Replicas looks at the outputs of replicas, and counts the stream alone.
size_t ClientStream::MostInOutput() const noexcept {
  if (session_->Has(Mode::kReplica)) return kInOutput;
  const config::OutputLimit& limit = server_.options.settings().client_output_buffer_limit.normal;
  size_t most = std::min(kInOutput, session_->output.limit() / 2);
  if (limit.soft_bytes != 0) most = std::min<size_t>(most, limit.soft_bytes / 2);
  return std::max<size_t>(most, 1);
}

void ClientStream::Pump() {
  OutputChain& output = session_->output;
  const size_t most = MostInOutput();
  while (!chunks_.empty() && output.size() < most) {
    std::string& first = chunks_.front();
    const size_t size = std::min(first.size() - sent_, most - output.size());
    output.Append(std::string_view(first).substr(sent_, size));
    sent_ += size;
    waiting_bytes_ -= size;
    written_bytes_ += size;
    if (sent_ != first.size()) break;
    first.clear();
    room_.swap(first);
    chunks_.pop_front();
    sent_ = 0;
  }
  server_.sessions.MarkDirty(*session_);
}

uint64_t ClientStream::NextWake() const noexcept {
  return state_ == State::kWriting ? look_mono_ms_ + kLookMs : Alarms::kNever;
}

void ClientStream::OnWake(Now now, Log*) {
  if (NextWake() > now.mono_ms) return;
  look_mono_ms_ = now.mono_ms;
  const size_t unread = session_->output.size();
  if (unread < unread_ || unread == 0) moved_mono_ms_ = now.mono_ms;
  if (now.mono_ms - moved_mono_ms_ >= kPatienceMs) return Fail("the client does not read");
  try {
    Pump();
  } catch (const OutputTooLong&) {
    return Fail("the client's output limit is too small for a snapshot");
  } catch (const std::bad_alloc&) {
    return Fail("out of memory");
  }
  unread_ = session_->output.size();
  if (finished_ && chunks_.empty()) {
    state_ = State::kDone;
    if (ends_client_) session_->Set(Mode::kEnding);
  }
  server_.hubs.wakes.Signal();
}

void ClientStream::OnClientEnd(Session& session) noexcept {
  if (&session != session_) return;
  session_ = nullptr;
  if (state_ == State::kWriting) Fail("the client has left");
}

}  // namespace mayfly
