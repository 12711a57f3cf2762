// What bench_client can do; each mode is one run against one server and prints one JSON object.
//
// Where a mode says "ready", it prints that line once it is connected, so that the caller can look at the
// server before and after the part that counts.
#pragma once

#include <cstdint>
#include <string>

namespace mayfly::bench {

// "A" or "A-B": a size or a duration, fixed or uniform between two.
struct Range {
  uint64_t least = 0;
  uint64_t most = 0;

  // Dies where the text is neither.
  static Range Parse(const std::string& text);
  // The same for the same number, spread evenly over the range.
  uint64_t Pick(uint64_t number) const;
};

struct LoadOptions {
  int port = 0;
  uint64_t keys = 0;
  uint64_t first = 0;  // the number of the first key
  std::string value_bytes = "64";
  std::string ttl_ms = "0";  // 0: none
  int64_t at_ms = 0;         // a deadline of the wall clock for all keys; 0: none
};
// Inserts keys over one connection, 200 at a time.
void Load(const LoadOptions& options);

struct AskOptions {
  int port = 0;
  std::string command = "get";  // get, set, setex
  int connections = 50;
  int depth = 1;
  uint64_t requests = 0;
  uint64_t keys = 0;
  uint64_t value_bytes = 64;
};
// Sends requests for random keys; every connection sends `depth` of them, waits for all replies, and sends
// again. Says "ready", waits for a line on standard input, and keeps its connections until that ends.
void Ask(const AskOptions& options);

struct ProbeOptions {
  int port = 0;
  double seconds = 0;
  int64_t until_gone = 0;    // a deadline of the wall clock in ms: until no key is left after it
  uint64_t below_bytes = 0;  // ... and used_memory is at most this
  bool until_eof = false;    // until standard input ends
  int64_t give_up_ms = 60'000;
};
// Asks for an absent key a thousand times a second, one request at a time, and tells how long it waited.
void Probe(const ProbeOptions& options);

struct HoldOptions {
  int port = 0;
  int connections = 0;
};
// Opens connections, sends a PING on each, says "ready", and holds them until standard input ends.
void Hold(const HoldOptions& options);

}  // namespace mayfly::bench
