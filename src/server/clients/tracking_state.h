// The settings of one client's CLIENT TRACKING. The session owns the settings; Tracking (server/watch/tracking.h) changes
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mayfly {

struct TrackingOptions {
  bool broadcast = false;
  bool opt_in = false;    // remembers only keys read after CLIENT CACHING YES
  bool opt_out = false;   // remembers all keys but keys read after CLIENT CACHING NO
  bool no_loop = false;   // receives no message of the client's own changes
  uint64_t redirect = 0;  // id of the client that receives the messages; 0: this client
};

struct TrackingState {
  TrackingOptions options;
  bool caching = false;          // CLIENT CACHING was called for the next request
  bool redirect_broken = false;  // the redirect target is gone
  std::vector<std::string> prefixes;
  uint64_t prefix_bytes = 0;  // of the prefixes, here and in Tracking
};

}  // namespace mayfly
