// The figures of the status page as JSON, polled by the page's script (net/http/status/).
//
// Clients choose the names of keys: any bytes, and long names. Names are written like redis-cli's, in quotes and escaped,
// and cut at kShownKeyBytes. The hosts that replicas announce are cut there, too.
#pragma once

#include <string>

#include "exec/metrics/json_text.h"
#include "exec/metrics/page.h"
#include "server/server.h"

namespace mayfly {

class StatusJson final : public Page {
 public:
  static constexpr size_t kShownKeyBytes = 64;
  static constexpr size_t kShownKeys = 10;  // hot ones, and big ones
  static constexpr size_t kShownReplicas = 20;

  // `stopping`: the server ends.
  StatusJson(Server& server, bool stopping) : server_(server), stopping_(stopping) {}

  bool BuildSome(Now now) override;
  size_t memory() const noexcept override { return json_.text().capacity(); }
  std::string Take() override { return std::move(json_.text()); }

 private:
  void AddServer(Now now);
  void AddSnapshots(Now now);
  void AddReplication(Now now);
  void AddMemory();
  void AddKeys(Now now);
  void AddExpiry(Now now);
  void AddWheel(Now now);
  void AddTtls(Now now);
  void AddHotKeys(Now now);
  void AddBigKeys(Now now);

  Server& server_;
  const bool stopping_;
  JsonText json_;
  size_t part_ = 0;
};

}  // namespace mayfly
