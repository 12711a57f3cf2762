// mayfly --shards N: one daemon for each of N processors, on ports in a row, together a cluster.
//
// This process serves no client. It writes the cluster's file, in memory, starts the daemons with its own options and the
// differences for each shard, each on a separate processor if the system allows this, and waits. Signals are passed on. A
// daemon that ends by itself is started again, with what its last snapshot has and after a short wait; the others do not notice. Each
// daemon reports when it serves (net/socket/ready_socket.h), and the service manager hears READY=1 when all do. A daemon
// that was told to end (SHUTDOWN, exit code 0) stays ended. When no daemon is left, this process ends, too; if this process
// is killed, the daemons get SIGTERM. Settings that a daemon must not change: net/process/shard_rules.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "config/problem.h"
#include "config/sources/options.h"

#include <sys/types.h>

namespace mayfly::net {

// The file of a cluster of shards: N nodes named shard-1 to shard-N, with equal parts of the slots. `first_tls_port`: 0 for
// none.
std::string ShardsFile(unsigned shards, unsigned first_port, unsigned first_tls_port);

// The options of a daemon, placed after the words of the command line to override them. `supervised` is for this program:
// this program is the service manager of its daemons.
std::vector<std::string> ShardOptions(const config::Settings& settings, unsigned index,
                                      const std::string& cluster_file);

// The environment of a daemon, without the variables from the service manager of this process (process id `parent`).
std::vector<std::string> ShardEnvironment(std::vector<std::string> environment, pid_t parent,
                                          const std::string& ready_socket);

// The folder where the program was started, to return to: paths in the options are relative to this folder.
class StartFolder {
 public:
  StartFolder() noexcept;
  StartFolder(const StartFolder&) = delete;
  StartFolder& operator=(const StartFolder&) = delete;
  ~StartFolder();
  // False on failure. Called between fork and exec.
  bool Enter() const noexcept;

 private:
  int fd_;
};

// Checks that shards are possible with these settings.
[[nodiscard]] config::Problem CheckShards(const config::Settings& settings);

// Returns when all daemons have ended. `words`: the command line without the program's name. A problem is the reason for a
// failed begin, or for the failed first start of a daemon.
[[nodiscard]] config::Problem RunShards(const config::Options& options, const std::vector<std::string>& words,
                                        const std::vector<std::string>& environment, const StartFolder& start,
                                        Log& log);

}  // namespace mayfly::net
