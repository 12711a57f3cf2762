// The requests of a cluster. Equal options give equal requests on every machine.
//
// A share of the requests goes to one-hit wonders: each has a key that no other request has. The others go to `keys` keys, by
// Zipf's law. Each request has a TTL drawn from the cluster's shares, in case that it leads to a write.
#pragma once

#include <cstdint>
#include <random>

#include "mixes/cluster.h"
#include "zipf.h"

namespace mayfly::bench {

struct StreamOptions {
  uint32_t keys = 0;    // how many keys are asked for more than once
  double compress = 1;  // a second of the cluster takes 1 / compress seconds here
  uint64_t seed = 1;
};

struct Request {
  Operation operation;
  uint32_t key;  // a number; see FirstCounter
  int64_t ttl_ms;
};

class Stream {
 public:
  Stream(const Cluster& cluster, const StreamOptions& options);

  Request Next();

  // Numbers below FirstCounter() are popular keys. Then come the counters that have keys of their own, and from FirstOneHit()
  // on the one-hit wonders, in the order of their requests.
  uint32_t FirstCounter() const { return keys_; }
  uint32_t FirstOneHit() const { return first_one_hit_; }

 private:
  double Uniform();
  Operation DrawOperation();
  int64_t DrawTtl();

  const Cluster& cluster_;
  uint32_t keys_;
  double compress_;
  Zipf zipf_;
  std::mt19937_64 random_;
  uint32_t first_one_hit_;
  uint32_t next_one_hit_;
};

// Texts of keys and values: keys have the cluster's size. Values have sizes evenly between a half and one and a half of the
// cluster's mean, and the same size for a key each time. Letters, but digits if values are counters.
class Texts {
 public:
  Texts(const Cluster& cluster, const Stream& stream);

  std::string KeyOf(uint32_t key) const;
  std::string_view ValueOf(uint32_t key) const;
  size_t ValueBytes(uint32_t key) const;
  // What the two take.
  size_t Payload(uint32_t key) const { return key_bytes_ + ValueBytes(key); }

 private:
  bool IsCounter(uint32_t key) const { return numeric_ || (key >= first_counter_ && key < first_one_hit_); }

  size_t key_bytes_;
  size_t value_bytes_;
  bool numeric_;
  uint32_t first_counter_;
  uint32_t first_one_hit_;
  std::string letters_;
  std::string digits_;
};

}  // namespace mayfly::bench
