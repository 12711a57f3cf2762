// A simulated machine with one program on it, or several (sim/fleet.h): its clocks, its network, its signals. Libuv's
// functions (uv_loop.cc, uv_handles.cc, uv_stream.cc), net/socket/descriptor.h's (system.cc) and those of threads (threads.cc)
// act on it.
//
// Time stands still while the program works, unless work has a price (set_look_cost_us, set_write_cost_us, Spend). When the loop
// would wait, time jumps to the next timer or the next event of the test. The order of events that may come in
// any order is drawn from Choices, so one seed is one run.
//
// The test and the loop take turns. uv_run returns when the test's leash is used up, always in the poll, where
// the program sleeps or would begin its next turn; the next uv_run continues there. One World at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <uv.h>

#include "base/time/clock.h"
#include "sim/choices.h"
#include "sim/link.h"
#include "sim/wire.h"

namespace mayfly::sim {

inline constexpr int kStepTimerFd = 1000;
// See World::set_timers_in_batches.
inline constexpr bool kLibuvBatchesTimers = UV_VERSION_HEX >= 0x013000;

// A mistake of the program or of the test. The text says how to get the same run again.
class SimulationError : public std::logic_error {
  using std::logic_error::logic_error;
};

// How far uv_run goes before it returns to the test.
struct Leash {
  uint64_t turns = UINT64_MAX;     // at most that many
  uint64_t until_ns = UINT64_MAX;  // it waits no longer than until then
  bool may_wait = true;            // false: it returns when the program would sleep
};

// A bound socket, and the connections that wait to be accepted from it.
struct Port {
  sockaddr_storage address{};
  std::string path;  // of a unix socket; empty: TCP
  std::deque<std::shared_ptr<Link>> backlog;
  size_t backlog_max = 0;
  bool listening = false;
};

class World {
 public:
  static constexpr uint64_t kNsPerUs = 1000;
  static constexpr uint64_t kNsPerMs = sim::kNsPerMs;

  explicit World(Choices choices);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World();
  // The one that exists, else an empty one.
  static World& Current();
  // Throws SimulationError.
  [[noreturn]] void Fail(const std::string& text) const;
  // The same for where nothing may be thrown: the loop throws when its turn is over.
  void FailLater(const std::string& text) { mistake_ = text; }
  void ThrowMistake() {
    if (!mistake_.empty()) Fail(std::exchange(mistake_, {}));
  }
  Choices& choices() noexcept { return choices_; }

  // ---- time
  uint64_t now_ns() const noexcept { return now_ns_; }
  // This clock, and others before it, show the world's time from now on. Borrowed.
  void Drive(SteppedClock& clock);
  // Time passes while the program works.
  void Spend(uint64_t ns) noexcept { SetTime(now_ns_ + ns); }
  // Each look at the cycle counter costs that much time, which stands for the work between two looks. A cycle is
  // a nanosecond.
  void set_look_cost_us(uint64_t us) noexcept { look_cost_ns_ = us * kNsPerUs; }
  uint64_t Look() noexcept {
    Spend(look_cost_ns_);
    return now_ns_;
  }
  // Each write to a connection costs that much time.
  void set_write_cost_us(uint64_t us) noexcept { write_cost_ns_ = us * kNsPerUs; }
  void PayWrite() noexcept { Spend(write_cost_ns_); }
  // Libuv's clock is ahead of the program's by this, so their milliseconds do not begin together.
  void set_uv_phase_us(uint64_t us) noexcept { uv_phase_ns_ = us * kNsPerUs; }
  // Libuv since 1.48 runs a timer that a timer's callback starts in the next turn; before, in the same turn if it is due. The
  // default is what the installed libuv does. To be set before the loop starts.
  void set_timers_in_batches(bool on) noexcept { timers_in_batches_ = on; }
  bool timers_in_batches() const noexcept { return timers_in_batches_; }
  uint64_t UvTimeMs() const noexcept { return (now_ns_ + uv_phase_ns_) / kNsPerMs; }
  // Somebody sets the wall clock.
  void StepWall(int64_t ms);

  // ---- what the test has planned
  void At(uint64_t ns, std::function<void()> event) { events_.emplace(ns, std::move(event)); }
  void Raise(int signal) { signals_.push_back(signal); }
  // Sets Link::short_transfers of all connections that are made from now on.
  void set_short_transfers(bool on) noexcept { short_transfers_ = on; }
  // Whether the kernel has a timer that a clock step cancels. To be set before the loop starts.
  void set_has_step_timer(bool has) noexcept { has_step_timer_ = has; }
  // accept fails with EMFILE while that many connections are open.
  void set_open_files_max(size_t files) noexcept { open_files_max_ = files; }
  // The next accepts fail with these values of errno, one after the other.
  void FailAccepts(const std::vector<int>& errors) {
    accept_errors_.insert(accept_errors_.end(), errors.begin(), errors.end());
  }

  // The next binds end with these values of errno, one after the other; 0: well.
  void FailBinds(const std::vector<int>& errors) {
    bind_errors_.insert(bind_errors_.end(), errors.begin(), errors.end());
  }

  // A name with these addresses, in this order, that a lookup finds after a time. Without addresses it finds none; text that
  // is no numeric address stands for one of another family.
  struct Host {
    std::vector<std::string> addresses;
    uint64_t lookup_ms = 0;
  };
  void SetHost(const std::string& name, Host host) { hosts_[name] = std::move(host); }
  // Whether a thread begins each lookup at once, so that none can be cancelled.
  void set_begins_lookups(bool on) noexcept { begins_lookups_ = on; }

  // ---- control, see above
  Leash& leash() noexcept { return leash_; }
  // How often the loop has come back from its poll.
  uint64_t turns() const noexcept { return turns_; }
  // When the loop that would sleep now wakes by itself; for tests with several loops.
  uint64_t sleeps_until_ns() const noexcept { return sleeps_until_ns_; }
  // uv_run has returned because nothing is left on the loop.
  bool loop_ended() const noexcept { return loop_ended_; }

  // ---- for libuv's functions
  void CountTurn() noexcept { ++turns_; }
  void NoteEnd() noexcept { loop_ended_ = true; }
  void NoteSleep(uint64_t until_ns) noexcept { sleeps_until_ns_ = until_ns; }
  // Runs the events that are due, and moves bytes in the network.
  void Happen();
  // When Happen has something to do next; UINT64_MAX if never.
  uint64_t NextEventNs() const;
  // REQUIRES: ns >= now_ns().
  void SetTime(uint64_t ns) noexcept;
  std::deque<int>& signals() noexcept { return signals_; }
  bool has_step_timer() const noexcept { return has_step_timer_; }
  // Those that were sent to unix sockets: "path: bytes".
  std::vector<std::string>& datagrams() noexcept { return datagrams_; }
  bool& wall_stepped() noexcept { return wall_stepped_; }
  // Null: the name is unknown.
  const Host* FindHost(const std::string& name) const {
    const auto found = hosts_.find(name);
    return found != hosts_.end() ? &found->second : nullptr;
  }
  bool begins_lookups() const noexcept { return begins_lookups_; }
  // Return a descriptor or 0; on an error, a negative value of errno.
  int Bind(const sockaddr& address, size_t size);
  int Listen(int fd, size_t backlog);
  int Accept(int fd);
  // Whether a poll of this descriptor would return: the step timer, or a port with connections that wait.
  bool Readable(int fd) const;
  // A set of net::OpenEndSet: owners by descriptor, null once they were reported.
  using EndSet = std::map<int, void*>;
  int OpenEndSet() {
    end_sets_[next_fd_];
    return next_fd_++;
  }
  EndSet& end_set(int fd) { return end_sets_.at(fd); }
  // The connection with this descriptor, or null.
  std::shared_ptr<Link> FindLink(int fd) const;
  void CloseFile(int fd);

  // ---- for peers
  // Makes a connection that waits to be accepted. `to` is "" for any TCP socket of the same family, a TCP address
  // such as "127.0.0.1:6379", or the path of a unix socket. Null if nobody listens there, or the backlog is full.
  std::shared_ptr<Link> Connect(const std::string& from_host, const std::string& to);
  // The same for a program that connects: `caller` gets its socket, and a wire joins both; `called` is its other end. Returns
  // 0, or a negative value of errno.
  int ConnectPrograms(const sockaddr& to, std::shared_ptr<Link>& caller);
  // The addresses to which programs have tried to connect: "127.0.0.1:6379", "[::1]:6379".
  std::vector<std::string>& calls() noexcept { return calls_; }
  // The connection of ConnectPrograms is ready, or refused, so long after the call: drawn anew for each.
  void set_connect_ms(std::function<uint64_t()> draw) { draw_connect_ms_ = std::move(draw); }
  uint64_t DrawConnectMs() { return draw_connect_ms_ ? draw_connect_ms_() : 0; }
  // Called for each wire when it is there.
  void set_on_wire(std::function<void(Wire&)> on_wire) { on_wire_ = std::move(on_wire); }
  const std::vector<std::unique_ptr<Wire>>& wires() const noexcept { return wires_; }
  // Sockets that listen.
  size_t listening() const noexcept {
    return static_cast<size_t>(
        std::count_if(ports_.begin(), ports_.end(), [](const auto& port) { return port.second.listening; }));
  }
  // Accepted connections that are not closed.
  size_t open_files() const noexcept { return files_.size(); }

 private:
  World() : choices_(1) {}
  // The port that listens at this TCP address, or null.
  Port* FindPort(const sockaddr_storage& address);

  Choices choices_;
  uint64_t now_ns_ = 0;
  std::vector<SteppedClock*> clocks_;
  uint64_t look_cost_ns_ = 0;
  uint64_t write_cost_ns_ = 0;
  uint64_t uv_phase_ns_ = 0;
  std::multimap<uint64_t, std::function<void()>> events_;
  std::deque<int> signals_;
  std::vector<std::string> datagrams_;
  std::map<int, Port> ports_;
  std::map<int, std::shared_ptr<Link>> files_;
  std::map<int, EndSet> end_sets_;
  std::vector<std::shared_ptr<Link>> links_;
  std::vector<std::unique_ptr<Wire>> wires_;
  std::function<uint64_t()> draw_connect_ms_;
  std::function<void(Wire&)> on_wire_;
  std::map<std::string, Host> hosts_;
  std::vector<std::string> calls_;
  std::deque<int> accept_errors_;
  std::deque<int> bind_errors_;
  size_t open_files_max_ = SIZE_MAX;
  int next_fd_ = kStepTimerFd + 1;
  uint16_t next_port_ = 40000;
  uint16_t next_free_port_ = 60000;  // what a bind to port 0 gets
  Leash leash_;
  uint64_t turns_ = 0;
  uint64_t sleeps_until_ns_ = UINT64_MAX;
  std::string mistake_;
  bool loop_ended_ = false;
  bool begins_lookups_ = false;
  bool short_transfers_ = false;
  bool has_step_timer_ = true;
  bool timers_in_batches_ = kLibuvBatchesTimers;
  bool wall_stepped_ = false;
};

}  // namespace mayfly::sim
