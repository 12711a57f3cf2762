// A real redis-server that follows a server without a loop: a socket between the two, carried by the test.
//
// One process serves many masters, one after the other. Loop thread only.
#pragma once

#include <memory>
#include <string>

#include "support/oracle.h"
#include "support/snapshot_test.h"

namespace mayfly::testing::crossings {

class RedisFollower {
 public:
  // Throws std::runtime_error if there is no redis-server.
  RedisFollower();
  RedisFollower(const RedisFollower&) = delete;
  RedisFollower& operator=(const RedisFollower&) = delete;
  ~RedisFollower();

  // Returns when it has all keys.
  void Follow(SnapshotTest& master);
  // Returns when it has what the master has written.
  void CatchUp(SnapshotTest& master);
  // Keeps the keys, and follows nobody.
  void Leave() noexcept;
  Reply Ask(const Words& request);

 private:
  void Carry(SnapshotTest& master);
  std::string LinkField(const std::string& field);

  Oracle oracle_;
  uint16_t port_ = 0;
  int listener_ = -1;
  int link_ = -1;
  std::unique_ptr<TestClient> client_;  // the master's
};

}  // namespace mayfly::testing::crossings
