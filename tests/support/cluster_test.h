// Command tests of a daemon that is a part of a cluster. Three nodes: this one has the slots 0 to 8191 and 8193, the other
// one 8194 to 16000, and a third none; 8192 and the slots from 16001 on have no node.
//
// Keys by their slots: "b" 3300, "bar" 5061 and "hello" 866 are here, "a" 15495, "foo" 12182 and "h" 11694 are the other
// one's, and kUnserved is nobody's.
#pragma once

#include <memory>
#include <string>

#include "server/cluster/cluster.h"
#include "support/command_test.h"

namespace mayfly::testing {

class ClusterTest : public CommandTest {
 public:
  static constexpr const char* kSelf = "1c804338219df6882f759e3371314d61099573b9";
  static constexpr const char* kOther = "1355d41da9f192a9a0250f68c4fd6e21c0f19d2b";
  static constexpr const char* kUnserved = "foo{x}";  // 16287

  ClusterTest() {
    ClusterMap map;
    REQUIRE_FALSE(map.Read("cluster.conf", std::string("node ") + kSelf +
                                               " 127.0.0.1:7000 0-8191 8193\nnode " + kOther +
                                               " 127.0.0.1:7001 8194-16000\nnode spare [::1]:7002\n"));
    REQUIRE_FALSE(map.FindSelf("cluster.conf", {.name = kSelf, .hosts = {}}));
    Join(std::move(map));
  }

 protected:
  struct Emulated {};
  explicit ClusterTest(Emulated) {
    ClusterMap map;
    map.MakeSingle(kSelf);
    Join(std::move(map), /*emulated=*/true);
  }
  Cluster& cluster() noexcept { return *cluster_; }
  // From now on the server is a part of this cluster.
  void Join(ClusterMap&& map, bool emulated = false) {
    cluster_ = std::make_unique<Cluster>(std::move(map), emulated, server().changes);
    server().executor.Join(*cluster_);
  }

 private:
  std::unique_ptr<Cluster> cluster_;
};

class EmulatedClusterTest : public ClusterTest {
 public:
  EmulatedClusterTest() : ClusterTest(Emulated{}) {}
};

}  // namespace mayfly::testing
