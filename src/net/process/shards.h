// mayfly --shards N: one daemon for each of N processors, on ports in a row, together a cluster.
//
// This process serves nobody. It writes the cluster's file, in memory, starts the daemons with its own options and those
// that tell them apart, each on a processor of its own where the system allows that, and waits. Signals are passed on. A
// daemon that ends by itself is started again, with an empty cache and after a short wait; the others do not notice.
// Each says when it serves (net/socket/ready_socket.h), and the service manager is told that this is ready when all do. One that
// was told to end (SHUTDOWN, exit code 0) stays ended. When no daemon is left, this ends, too; and if this is killed, they
// are told to end. What a daemon must not change by itself: net/process/shard_rules.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "config/problem.h"
#include "config/sources/options.h"

#include <sys/types.h>

namespace mayfly::net {

// The file of such a cluster: N nodes named shard-1 to shard-N, with equal parts of the slots.
// `first_tls_port`: 0 for none.
std::string ShardsFile(unsigned shards, unsigned first_port, unsigned first_tls_port);

// What a daemon gets after the words of the command line, so that it counts.
// `supervised` is for this program: it is the service manager of its daemons.
std::vector<std::string> ShardOptions(const config::Settings& settings, unsigned index,
                                      const std::string& cluster_file);

// The environment of a daemon, without what the service manager of this process, whose id is `parent`, has said to it.
std::vector<std::string> ShardEnvironment(std::vector<std::string> environment, pid_t parent,
                                          const std::string& ready_socket);

// A folder that can be returned to: where the program was started. Paths of its options are relative to it.
class StartFolder {
 public:
  StartFolder() noexcept;
  StartFolder(const StartFolder&) = delete;
  StartFolder& operator=(const StartFolder&) = delete;
  ~StartFolder();
  // False if that fails. To be called between fork and exec.
  bool Enter() const noexcept;

 private:
  int fd_;
};

// Whether there can be shards with these settings.
[[nodiscard]] config::Problem CheckShards(const config::Settings& settings);

// Until all daemons have ended. `words`: the command line without the program's name. A problem is the reason why it did
// not begin, or why a daemon could not start for the first time.
[[nodiscard]] config::Problem RunShards(const config::Options& options, const std::vector<std::string>& words,
                                        const std::vector<std::string>& environment, const StartFolder& start,
                                        Log& log);

}  // namespace mayfly::net
