// Plays a cluster's requests against servers, in real time, as an application does: it asks for a key and stores the key after a
// miss.
//
// First the traffic of the past, up to a number of requests, is played against Alive alone. Its live keys are loaded into the
// servers with the rest of their TTLs, so that the servers begin in the middle of the traffic. Then the requests go to all
// servers in batches at a steady rate. A wait is the time from the moment at which a batch was due until all its replies are
// there, so that a slow server is charged for the batches that it delays.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mixes/alive.h"
#include "mixes/peer.h"
#include "mixes/stream.h"

namespace mayfly::bench {

struct PlayOptions {
  double rate = 20'000;    // requests a second
  double past_s = 0;       // how long the traffic has been going on before
  double settle_s = 1;     // of play that does not count
  double seconds = 5;      // of play that counts
  double sample_ms = 200;  // between two looks at keys and memory
  size_t batch = 16;       // requests at once; fewer where values are large
};

struct Sample {
  double at_s;
  int64_t resident_bytes;  // beyond those of the empty server
  int64_t keys;
  int64_t alive;
  int64_t alive_bytes;
};

// What came of a server.
struct Played {
  std::unique_ptr<Peer> peer;
  int64_t empty_bytes = 0;
  uint64_t gets = 0;
  uint64_t misses = 0;
  uint64_t refused = 0;
  uint64_t commands = 0;
  int64_t cpu_ns = 0;
  std::vector<Sample> samples;
  std::vector<uint64_t> missed_in = {};  // key -> the last batch that missed it
};

class Player {
 public:
  Player(const Cluster& cluster, const StreamOptions& stream, const PlayOptions& options);

  // Plays the past. The model misses as a server without a limit does.
  void PlayPast();
  // Loads what is alive and plays. With one server Alive follows its replies, and so is exact; with more it is not used.
  void Play(std::vector<Played>& servers);

  const Alive& alive() const { return alive_; }
  double past_miss_ratio() const {
    return static_cast<double>(past_misses_) / static_cast<double>(std::max<uint64_t>(past_gets_, 1));
  }
  std::vector<double>& waits_us() { return waits_us_; }

 private:
  using Clock = std::chrono::steady_clock;

  void ApplyToModel(const Request& request);
  void Load(std::vector<Played>& servers);
  void PlayBatch(std::vector<Played>& servers, bool counts);
  void Encode(Peer& peer, const Request& request) const;
  // Takes the first replies of a batch, and encodes what they make the application do.
  void TakeFirst(Played& server, bool follow, bool counts);
  void Look(std::vector<Played>& servers);
  int64_t NowMs() const;
  double SecondsSince(Clock::time_point then) const {
    return std::chrono::duration<double>(Clock::now() - then).count();
  }

  const Cluster& cluster_;
  PlayOptions options_;
  Stream stream_;
  Texts texts_;
  Alive alive_;
  uint64_t past_gets_ = 0;
  uint64_t past_misses_ = 0;
  Clock::time_point real_start_;  // at which the stream's time was model_start_ms_
  Clock::time_point play_start_;
  int64_t model_start_ms_ = 0;
  size_t batch_requests_;
  uint64_t batch_ = 0;             // the current batch's number
  std::vector<Request> requests_;  // of the current batch
  std::vector<uint32_t> again_;    // places in requests_ that had a second command
  std::vector<double> waits_us_;
};

}  // namespace mayfly::bench
