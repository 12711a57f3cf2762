// What bench_client can do; each mode is one run against one server and prints one JSON object.
//
// A mode that says "ready" prints that line once it is connected, so that the caller can look at the server
// before and after the measured part.
#pragma once

#include <cstdint>
#include <string>

namespace mayfly::bench {

// A size or a duration, as "A" or, for all values from A to B, "A-B".
struct Range {
  uint64_t least = 0;
  uint64_t most = 0;

  // Ends the program if the text is neither.
  static Range Parse(const std::string& text);
  // A value for a number, always the same one; the values are spread evenly over the range.
  uint64_t Pick(uint64_t number) const;
};

struct LoadOptions {
  int port = 0;
  uint64_t keys = 0;
  uint64_t first = 0;  // the number of the first key
  std::string value_bytes = "64";
  std::string ttl_ms = "0";  // 0: none
  int64_t at_ms = 0;         // a deadline of the wall clock for all keys; 0: none
  // What is sent for each member of each key, instead of a SET: see RequestForm.
  std::string request = {};
  uint64_t members = 1;
  bool noise = false;  // values that do not compress
};
// Inserts keys over one connection, 200 at a time.
void Load(const LoadOptions& options);

struct AskOptions {
  int port = 0;
  std::string command = "get";  // get, set, setex
  int connections = 50;
  int depth = 1;
  uint64_t requests = 0;
  double seconds = 0;  // sends for so long instead of a number of requests
  uint64_t keys = 0;
  uint64_t value_bytes = 64;
  // What is sent instead of `command`: request forms, one after another in turn, with " ; " between them. The turn goes through
  // the requests of a batch, and from one connection to the next.
  std::string request = {};
  uint64_t members = 1;
};
// Sends requests for random keys: every connection sends `depth` of them, waits for all replies, and sends
// again. Says "ready", begins at a line on standard input, and keeps its connections until that input ends.
void Ask(const AskOptions& options);

struct ProbeOptions {
  int port = 0;
  double seconds = 0;
  int64_t until_gone = 0;    // a deadline of the wall clock in ms: until it has passed and no key is left
  uint64_t below_bytes = 0;  // ... and used_memory is at most this
  bool until_eof = false;    // until standard input ends
  int64_t give_up_ms = 60'000;
};
// Asks for an absent key 1,000 times a second, one request at a time, and reports how long it waited.
void Probe(const ProbeOptions& options);

struct HoldOptions {
  int port = 0;
  int connections = 0;
};
// Opens connections, sends a PING on each, says "ready", and holds them until standard input ends.
void Hold(const HoldOptions& options);

struct StormOptions {
  int port = 0;
  int connections = 10'000;
  int give_up_ms = 10'000;  // without any event
};
// Opens connections all at once, without waiting for one before the next, sends a PING on each as soon as it is there,
// and reports when half of them and all of them were answered. Holds them until standard input ends.
void Storm(const StormOptions& options);

struct DeliverOptions {
  int port = 0;
  int subscribers = 100;
  uint64_t patterns = 0;  // in all; 0: everybody subscribes to one channel
  bool suffixes = false;  // patterns begin with the wildcard instead of ending with it
  int depth = 1;          // messages that are published at once
  uint64_t messages = 0;
  uint64_t value_bytes = 64;
};
// Publishes messages over one connection, and waits for each batch to arrive at all subscribers. Says "ready", begins at
// a line on standard input, and keeps its connections until that input ends. Reports deliveries as requests.
void Deliver(const DeliverOptions& options);

struct ListenOptions {
  int port = 0;
  std::string channel;
  int64_t at_ms = 0;  // the wall clock's time at which the messages are due
  uint64_t expect = 0;
  int64_t give_up_ms = 30'000;  // after that time
};
// Subscribes to a channel, says "ready", and reports how late the expected number of messages came.
void Listen(const ListenOptions& options);

struct StampedeOptions {
  int port = 0;
  std::string way = "get";  // get, lock, take, early, stale
  int connections = 1000;
  int compute_ms = 100;
  int ttl_ms = 1000;
  int pause_ms = 100;  // of a caller between two calls, on average
  double seconds = 60;
  uint64_t value_bytes = 1000;
};
// Many callers that want one value, which takes compute_ms to compute and lives for ttl_ms. Whoever has to compute it
// is decided by `way`: everybody who misses it (get); who gets a lock key, while the others look again every 50 ms
// (lock); who gets the lease (take), in time before the value expires (early), or while the others get the value that has
// expired, for at most ttl_ms more (stale). Reports how often it was computed, and how long the callers waited.
void RunStampede(const StampedeOptions& options);

struct TasksOptions {
  int port = 0;
  uint64_t tasks = 1'000'000;
  uint64_t value_bytes = 64;
  int lead_ms = 10'000;  // until the first is due
  int spread_ms = 20'000;
  int give_up_ms = 30'000;  // after the last was due
  bool herd =
      false;  // reads only when all are in the stream, and asks for its length once a millisecond until then
};
// Schedules tasks, keys that go into a stream at their deadlines, and takes them as a worker of a consumer group does: waits
// for some, reads them, and acknowledges them. Reports how late they came, and how many did not come, came twice, with a wrong
// value, or after one that was due later; of a herd, also when all were in the stream after the first deadline, and the waits of
// the client that asks.
void RunTasks(const TasksOptions& options);

struct VolleyOptions {
  std::string path;             // of the server's unix socket
  std::string command = "set";  // set, get
  int connections = 256;
  int depth = 1;                       // requests under way on each connection
  uint64_t requests = 0;               // of each connection
  uint64_t keys = 1000;                // of each connection, taken in order
  std::string value_bytes = "1-1024";  // each value has a random size of this range
  bool memcached = false;              // the text protocol of memcached instead of Redis's
};
// Requests as memtier_benchmark sends them with --key-pattern=P:P: each connection goes through keys of its own in order and keeps
// `depth` requests under way: it sends as many as were answered. Says "ready", begins at a line on standard input, and keeps its
// connections until that input ends. Reports how long a request waited for its reply, and the client's own processor time.
// A GET has to be a hit; what is not, ends the run.
void RunVolley(const VolleyOptions& options);

struct TrafficOptions {
  int port = 0;
  int connections = 20;
  double rate = 10'000;    // requests a second, of all connections together
  double write_share = 0;  // of the requests
  uint64_t keys = 0;
  double exponent = 0.99;  // of the popularity of keys; 0: all alike
  uint64_t seed = 1;       // of what is drawn: the same popularity with another seed brings other requests
  uint64_t value_bytes = 100;
  // What is written: request forms in turn, as AskOptions::request; "": a SET of a key.
  std::string write = {};
  uint64_t members = 1;
  int slice_ms = 50;
};
// Asks for keys at a steady rate, as an application does, until standard input ends: connections that break are opened again
// every 10 ms, also before the first server is there. Says "ready" once the first attempts are made. A connection that waits
// for replies sends nothing meanwhile, and what it did not send is not made up for. Reports, for each slice of time since
// the start, requests that were answered, hits, errors, connections that were refused, requests that were lost with their
// connection, and the longest wait; and the wall-clock time of the start.
void RunTraffic(const TrafficOptions& options);

struct PaceOptions {
  int port = 0;
  int connections = 50;
  double rate = 50'000;  // requests a second, of all connections together
  double seconds = 10;
  double warm_up = 1;  // seconds before
  double write_share = 0.1;
  uint64_t keys = 0;
  double exponent = 0.99;  // of the popularity of keys; 0: all alike
  uint64_t seed = 1;
  uint64_t value_bytes = 100;
  uint64_t ttl_ms = 0;    // of what is written; 0: none
  bool new_keys = false;  // every write is of a key that was not there
  // A request that goes beside the others, every beside_ms; its replies do not matter.
  std::string beside = {};
  int beside_ms = 100;
  bool syncs = false;  // a replica that asks for one full synchronisation after the other
};
// Sends requests at random times (a Poisson process), each when it is due, whether or not earlier ones were answered; the
// connections take turns. Reports percentiles of the waits, from the time when a request was due until its reply was read: a
// server that stalls thereby spoils the waits of all requests that were due meanwhile, as it does for an application
// (no coordinated omission). Also how late this program was with sending.
void RunPace(const PaceOptions& options);

}  // namespace mayfly::bench
