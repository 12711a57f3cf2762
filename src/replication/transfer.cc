#include "replication/transfer.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "base/text/numbers.h"
#include "config/words.h"

namespace mayfly {
namespace {

constexpr std::string_view kMarked = "EOF:";

}  // namespace

Transfer::Transfer(Disk& disk, std::string folder, const std::string& run_id, bool verifies,
                   std::function<void()> wake)
    : disk_(disk),
      folder_(std::move(folder)),
      name_(TemporaryName(run_id, "received")),
      part_(TemporaryName(run_id, "part")),
      verifies_(verifies),
      wake_(std::move(wake)) {}

Transfer::~Transfer() {
  if (writer_ == nullptr) return;
  if (state_ == State::kReceiving) static_cast<void>(writer_->Abandon());
  writer_.reset();
  static_cast<void>(disk_.Remove(path()));
}

Transfer::State Transfer::state() {
  if (writer_ == nullptr || state_ == State::kDone || state_ == State::kFailed) return state_;
  static_cast<void>(writer_->Collect());  // frees written chunks
  const SaveTarget::State written = writer_->state();
  if (written == SaveTarget::State::kFailed) {
    state_ = State::kFailed;
    problem_ = writer_->problem();
  } else if (written == SaveTarget::State::kDone) {
    state_ = State::kDone;
  }
  return state_;
}

size_t Transfer::Take(std::string_view bytes) {
  size_t taken = 0;
  while (taken != bytes.size() && state() == State::kReceiving && waiting_bytes() < kMostWaitingBytes) {
    const std::string_view rest = bytes.substr(taken);
    taken += in_body_ ? TakeBody(rest) : TakeHeader(rest);
  }
  return taken;
}

size_t Transfer::TakeHeader(std::string_view bytes) {
  const size_t end = bytes.find('\n');
  const size_t size = end == std::string_view::npos ? bytes.size() : end + 1;
  header_.append(bytes.substr(0, size));
  if (header_.size() > kMostHeaderBytes) {
    Fail("the master sends no snapshot");
    return size;
  }
  if (end == std::string_view::npos) return size;
  std::string line = std::exchange(header_, {});
  line.erase(line.find_last_not_of("\r\n") + 1);
  if (!line.empty() && !ReadHeader(line))
    Fail("the master sends no snapshot, but " + config::Printable(line));
  return size;
}

bool Transfer::ReadHeader(std::string_view line) {
  if (!line.starts_with('$')) return false;
  line.remove_prefix(1);
  if (line.starts_with(kMarked)) {
    mark_ = line.substr(kMarked.size());
    if (mark_.size() != kMarkBytes) return false;
  } else {
    const std::optional<int64_t> bytes = ParseInteger(line);
    if (!bytes || *bytes <= 0) return false;
    total_ = *bytes;
  }
  writer_ = std::make_unique<FileWriter>(
      disk_,
      FileWriter::Target{
          .folder = folder_, .name = name_, .temporary = part_, .checksum = verifies_, .whole = true},
      wake_);
  in_body_ = true;
  return true;
}

// The mark ends the received bytes: the master sends nothing more before the replica's answer.
size_t Transfer::TakeBody(std::string_view bytes) {
  if (mark_.empty()) {
    const size_t size = std::min<uint64_t>(bytes.size(), static_cast<uint64_t>(total_) - received_);
    Give(bytes.substr(0, size));
    if (received_ == static_cast<uint64_t>(total_)) Finish();
    return size;
  }
  last_.append(bytes);
  if (last_.ends_with(mark_)) {
    last_.resize(last_.size() - kMarkBytes);
    Give(std::exchange(last_, {}));
    Finish();
    return bytes.size();
  }
  if (last_.size() > kMarkBytes) {
    const size_t sure = last_.size() - kMarkBytes;
    Give(std::string_view(last_).substr(0, sure));
    last_.erase(0, sure);
  }
  return bytes.size();
}

void Transfer::Give(std::string_view bytes) {
  received_ += bytes.size();
  if (chunk_.capacity() < kChunkBytes) chunk_.reserve(kChunkBytes + kChunkBytes / 2);
  chunk_.append(bytes);
  if (chunk_.size() < kChunkBytes) return;
  writer_->Give(std::exchange(chunk_, {}));
  chunk_ = writer_->Collect();
}

void Transfer::Finish() {
  if (!chunk_.empty()) writer_->Give(std::exchange(chunk_, {}));
  writer_->Finish();
  state_ = State::kWriting;
}

void Transfer::Fail(std::string_view problem) {
  if (writer_ != nullptr && state_ == State::kReceiving) static_cast<void>(writer_->Abandon());
  state_ = State::kFailed;
  problem_ = problem;
}

}  // namespace mayfly
