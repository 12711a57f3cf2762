#include "mixes/player.h"

#include <algorithm>
#include <thread>

namespace mayfly::bench {
namespace {

constexpr double kMsPerS = 1000;
constexpr double kUsPerS = 1'000'000;
constexpr size_t kBatchBytes =
    256 * 1024;  // fit into a socket's buffers, so that neither side waits for the other to read

}  // namespace

Player::Player(const Cluster& cluster, const StreamOptions& stream, const PlayOptions& options)
    : cluster_(cluster),
      options_(options),
      stream_(cluster, stream),
      texts_(cluster, stream_),
      alive_([this](uint32_t key) { return texts_.Payload(key); }),
      batch_requests_(
          std::clamp<size_t>(kBatchBytes / (cluster.key_bytes + cluster.value_bytes), 1, options.batch)) {}

// ---- the past

void Player::PlayPast() {
  const auto requests = static_cast<uint64_t>(options_.past_s * options_.rate);
  for (uint64_t i = 0; i < requests; ++i) {
    alive_.AdvanceTo(static_cast<int64_t>(static_cast<double>(i) / options_.rate * kMsPerS));
    ApplyToModel(stream_.Next());
  }
}

void Player::ApplyToModel(const Request& request) {
  const bool has = alive_.Has(request.key);
  alive_.Use(request.key);
  if (request.operation == Operation::kGet) {
    ++past_gets_;
    past_misses_ += has ? 0 : 1;
  }
  if (request.operation == Operation::kDelete) return alive_.Remove(request.key);
  if (request.operation == Operation::kSet || !has) alive_.Set(request.key, alive_.now_ms() + request.ttl_ms);
}

// ---- the servers

int64_t Player::NowMs() const {
  return model_start_ms_ + static_cast<int64_t>(SecondsSince(real_start_) * kMsPerS);
}

void Player::Load(std::vector<Played>& servers) {
  const auto load = [&](std::span<const Alive::Deadline> keys) {
    for (Played& server : servers) {
      for (const auto& [key, deadline_ms] : keys) {
        server.peer->Set(texts_.KeyOf(key), texts_.ValueOf(key), std::max<int64_t>(deadline_ms - NowMs(), 1));
      }
      server.peer->Send();
    }
    for (Played& server : servers) {
      for (size_t i = 0; i < keys.size(); ++i) server.peer->Take();
    }
  };
  const std::vector<Alive::Deadline> alive = alive_.InOrderOfUse();
  for (size_t at = 0; at < alive.size(); at += batch_requests_) {
    load(std::span(alive).subspan(at, std::min(batch_requests_, alive.size() - at)));
  }
}

void Player::Play(std::vector<Played>& servers) {
  for (Played& server : servers) server.empty_bytes = server.peer->ResidentBytes();
  model_start_ms_ = alive_.now_ms();
  real_start_ = Clock::now();
  Load(servers);
  play_start_ = Clock::now();
  const auto batches =
      static_cast<uint64_t>((options_.settle_s + options_.seconds) * options_.rate / batch_requests_);
  const auto uncounted = static_cast<uint64_t>(options_.settle_s * options_.rate / batch_requests_);
  double next_look_s = options_.settle_s;
  for (uint64_t i = 0; i < batches; ++i) {
    const double due_s = static_cast<double>(i * batch_requests_) / options_.rate;
    const auto due =
        play_start_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(due_s));
    if (i == uncounted) {
      for (Played& server : servers) {
        server.commands = server.peer->commands();
        server.cpu_ns = server.peer->CpuNs();
      }
    }
    // The client may wake late: that is no wait for the server.
    const bool early = Clock::now() < due;
    if (early) std::this_thread::sleep_until(due);  // polls: the next requests are due
    const auto begin = early ? Clock::now() : due;
    PlayBatch(servers, i >= uncounted);
    if (i >= uncounted) waits_us_.push_back(SecondsSince(begin) * kUsPerS);
    if (due_s < next_look_s) continue;
    Look(servers);
    next_look_s += options_.sample_ms / kMsPerS;
  }
  for (Played& server : servers) {
    server.commands = server.peer->commands() - server.commands;
    server.cpu_ns = server.peer->CpuNs() - server.cpu_ns;
  }
}

void Player::PlayBatch(std::vector<Played>& servers, bool counts) {
  requests_.clear();
  for (size_t i = 0; i < batch_requests_; ++i) requests_.push_back(stream_.Next());
  ++batch_;
  for (Played& server : servers) {
    for (const Request& request : requests_) Encode(*server.peer, request);
    server.peer->Send();
  }
  const bool follow = servers.size() == 1;
  if (follow) alive_.AdvanceTo(NowMs());
  std::vector<size_t> second;
  for (Played& server : servers) {
    again_.clear();
    TakeFirst(server, follow, counts);
    server.peer->Send();
    second.push_back(again_.size());
  }
  for (size_t i = 0; i < servers.size(); ++i) {
    for (size_t left = second[i]; left > 0; --left) {
      if (servers[i].peer->Take() == Reply::kRefused && counts) ++servers[i].refused;
    }
  }
}

void Player::Encode(Peer& peer, const Request& request) const {
  const std::string key = texts_.KeyOf(request.key);
  switch (request.operation) {
    case Operation::kGet:
      return peer.Get(key);
    case Operation::kSet:
      return peer.Set(key, texts_.ValueOf(request.key), request.ttl_ms);
    case Operation::kAdd:
      return peer.Add(key, texts_.ValueOf(request.key), request.ttl_ms);
    case Operation::kIncr:
      return peer.Incr(key);
    case Operation::kDelete:
      return peer.Delete(key);
  }
}

void Player::TakeFirst(Played& server, bool follow, bool counts) {
  for (const Request& request : requests_) {
    const Reply reply = server.peer->Take();
    if (reply == Reply::kRefused && counts) ++server.refused;
    bool stored = reply == Reply::kStored;
    if (request.operation == Operation::kGet) {
      if (request.key >= server.missed_in.size()) server.missed_in.resize(request.key + request.key / 2 + 1);
      // The second miss of a key in a batch: the application has stored the key in between.
      const bool missed = reply == Reply::kMiss && server.missed_in[request.key] != batch_;
      if (counts) {
        ++server.gets;
        server.misses += missed ? 1 : 0;
      }
      if (missed) {
        server.missed_in[request.key] = batch_;
        server.peer->Set(texts_.KeyOf(request.key), texts_.ValueOf(request.key), request.ttl_ms);
        again_.push_back(request.key);
        stored = true;
      }
    } else if (request.operation == Operation::kIncr && reply == Reply::kNew) {
      server.peer->SetNewCounter(texts_.KeyOf(request.key), request.ttl_ms);
      again_.push_back(request.key);
      stored = true;
    }
    if (!follow) continue;
    if (stored) alive_.Set(request.key, alive_.now_ms() + request.ttl_ms);
    if (request.operation == Operation::kDelete) alive_.Remove(request.key);
  }
}

void Player::Look(std::vector<Played>& servers) {
  for (Played& server : servers) {
    alive_.AdvanceTo(NowMs());
    server.samples.push_back({SecondsSince(play_start_), server.peer->ResidentBytes() - server.empty_bytes,
                              server.peer->CountKeys(), static_cast<int64_t>(alive_.count()),
                              static_cast<int64_t>(alive_.bytes())});
  }
}

}  // namespace mayfly::bench
