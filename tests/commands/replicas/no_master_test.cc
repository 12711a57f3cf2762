// A replica without its master, and with replica-serve-stale-data no, gives out no key: neither by a command, nor by a script,
// a function or a transaction. Scripts that may write do not begin where a write would be refused. The replies are those of
// redis-server.
#include <string>
#include <vector>

#include "replication/replicas.h"
#include "support/beside_redis.h"

namespace mayfly::testing {
namespace {

const std::string kReadsKey = "return redis.call('get', 'k')";
const std::string kReadsAndSaysSo = "#!lua flags=no-writes\n" + kReadsKey;
const std::string kReadsThoughStale = "#!lua flags=allow-stale,no-writes\n" + kReadsKey;
const std::string kWritesThoughStale = "#!lua flags=allow-stale\nreturn redis.call('set', 'k', 'v')";
const std::string kAsksTheTime = "#!lua flags=allow-stale,no-writes\nreturn type(redis.call('time'))";
const std::string kMayWrite = "#!lua\nreturn 1";
const std::string kLibraryOfReaders =
    "#!lua name=lib\n"
    "local function read() return redis.call('get', 'k') end\n"
    "redis.register_function('w', read)\n"
    "redis.register_function{function_name = 'r', callback = read, flags = {'no-writes'}}\n"
    "redis.register_function{function_name = 's', callback = read, flags = {'no-writes', 'allow-stale'}}\n"
    "redis.register_function{function_name = 't', flags = {'no-writes', 'allow-stale'}, callback = "
    "function()\n"
    "  return type(redis.call('time')) end}\n";

class NoMasterTest : public BesideRedis {
 public:
  NoMasterTest() {
    static_cast<void>(Replicas::Of(server().server));  // as at the start of the daemon
    read_sha_ = Run({"SCRIPT", "LOAD", kReadsKey}).text;
    no_writes_sha_ = Run({"SCRIPT", "LOAD", kReadsAndSaysSo}).text;
    stale_sha_ = Run({"SCRIPT", "LOAD", kReadsThoughStale}).text;
  }
  ~NoMasterTest() { server().server.master_link.reset(); }
  std::vector<Words> Preparation() const {
    return {{"SET", "k", "old"},
            {"SCRIPT", "LOAD", kReadsKey},
            {"SCRIPT", "LOAD", kReadsAndSaysSo},
            {"SCRIPT", "LOAD", kReadsThoughStale},
            {"FUNCTION", "LOAD", kLibraryOfReaders}};
  }
  // Everything that runs a script, and a few wrong calls.
  std::vector<Words> Calls() const {
    std::vector<Words> calls;
    for (const std::string& script :
         {kReadsKey, kReadsAndSaysSo, kReadsThoughStale, kWritesThoughStale, kAsksTheTime, kMayWrite}) {
      calls.push_back({"EVAL", script, "0"});
      calls.push_back({"EVAL_RO", script, "0"});
      calls.push_back({"EVAL", script, "x"});
    }
    for (const std::string& sha : {read_sha_, no_writes_sha_, stale_sha_, std::string(40, 'f')}) {
      calls.push_back({"EVALSHA", sha, "0"});
      calls.push_back({"EVALSHA_RO", sha, "0"});
    }
    for (const char* name : {"w", "r", "s", "t", "nosuch"}) {
      calls.push_back({"FCALL", name, "0"});
      calls.push_back({"FCALL_RO", name, "0"});
      calls.push_back({"FCALL", name, "-1"});
    }
    calls.push_back({"EVAL", "this is no Lua", "0"});
    calls.push_back({"EVAL", "#!lua flags=nosuch\nreturn 1", "0"});
    calls.push_back({"EVAL", "return redis.pcall('time')['err'] or redis.pcall('get', 'k')", "0"});
    calls.push_back({"GET", "k"});
    calls.push_back({"PUBLISH", "c", "m"});
    return calls;
  }
  // Each call by itself, and as a part of a transaction.
  std::vector<Words> WithTransactions(const std::vector<Words>& calls) const {
    std::vector<Words> requests;
    for (const Words& call : calls) {
      requests.push_back(call);
      requests.push_back({"MULTI"});
      requests.push_back(call);
      requests.push_back({"EXEC"});
    }
    return requests;
  }
  // Both servers answer these requests of one client each with the same bytes.
  void Same(const std::vector<Words>& requests) {
    std::string bytes;
    for (const Words& request : requests) bytes += EncodeRequest(request);
    const std::vector<std::string> redis = client_.Ask(bytes, requests.size());
    for (size_t i = 0; i < requests.size(); ++i) {
      CAPTURE(i, requests[i]);
      CHECK(Bulk(RunRaw(EncodeRequest(requests[i]))) == Bulk(redis[i]));
    }
  }
  // The same request from another client of each server.
  void ByAnother(const Words& request) {
    OracleClient client(oracle());
    client.Ask(EncodeRequest(request), 1);
    Connect().Run(request);
  }

 private:
  OracleClient client_{oracle()};
  std::string read_sha_;
  std::string no_writes_sha_;
  std::string stale_sha_;
};

}  // namespace

TEST_CASE_METHOD(NoMasterTest,
                 "without its master a replica that must not serve stale data runs no script that reads it") {
  Same(Preparation());
  Same({{"CONFIG", "SET", "replica-serve-stale-data", "no"}, {"REPLICAOF", "127.0.0.1", "1"}});
  Same(WithTransactions(Calls()));
  Same({{"CONFIG", "SET", "replica-read-only", "no"}});
  Same(WithTransactions(Calls()));
  Same({{"CONFIG", "SET", "replica-serve-stale-data", "yes"}});
  Same(WithTransactions(Calls()));
}

TEST_CASE_METHOD(NoMasterTest, "EXEC runs nothing of what was queued while there was a master") {
  Same(Preparation());
  Same({{"REPLICAOF", "127.0.0.1", "1"}});
  std::vector<Words> calls = Calls();
  calls.push_back({"PING"});
  calls.push_back({"CLIENT", "GETNAME"});
  calls.push_back({"SELECT", "0"});
  for (const Words& call : calls) {
    ByAnother({"CONFIG", "SET", "replica-serve-stale-data", "yes"});
    Same({{"MULTI"}, {"CLIENT", "GETNAME"}, call});
    ByAnother({"CONFIG", "SET", "replica-serve-stale-data", "no"});
    Same({{"EXEC"}});
  }
}

TEST_CASE_METHOD(NoMasterTest,
                 "replicas that are too few for a write are a master's concern, also before the link is up") {
  Same(Preparation());
  const std::vector<Words> writes = {
      {"SET", "k", "v"}, {"DEL", "k"}, {"EVAL", "return redis.call('set', 'k', 'v')", "0"}};
  Same({{"CONFIG", "SET", "min-replicas-to-write", "1", "replica-read-only", "no"}});
  Same(WithTransactions(writes));
  Same({{"REPLICAOF", "127.0.0.1", "1"}});
  Same(WithTransactions(writes));
  Same({{"CONFIG", "SET", "min-replicas-to-write", "2"}});
  Same(WithTransactions(writes));
  Same({{"REPLICAOF", "NO", "ONE"}});
  Same(WithTransactions(writes));
}

TEST_CASE_METHOD(NoMasterTest,
                 "a script that may write does not begin while replicas are too few for a write") {
  Same(Preparation());
  Same({{"CONFIG", "SET", "min-replicas-to-write", "1"}});
  Same(WithTransactions(Calls()));
  Same({{"GET", "k"}, {"EVAL", "return redis.call('set', 'k', 'v')", "0"}});
  for (const Words& call : Calls()) {
    ByAnother({"CONFIG", "SET", "min-replicas-to-write", "0"});
    Same({{"MULTI"}, call});
    ByAnother({"CONFIG", "SET", "min-replicas-to-write", "1"});
    Same({{"EXEC"}});
  }
}

}  // namespace mayfly::testing
