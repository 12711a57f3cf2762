#include "sim/world.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/socket/address.h"
#include "sim/threads.h"

#include <arpa/inet.h>
#include <sys/un.h>

namespace mayfly::sim {
namespace {

World* current = nullptr;

sockaddr_storage AddressOf(const std::string& host, uint16_t port) {
  sockaddr_storage storage{};
  auto& v4 = reinterpret_cast<sockaddr_in&>(storage);
  auto& v6 = reinterpret_cast<sockaddr_in6&>(storage);
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
  } else if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
  }
  return storage;
}

std::string TextOf(const sockaddr& address) {
  std::string host(INET6_ADDRSTRLEN, '\0');
  if (address.sa_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    inet_ntop(AF_INET, &four.sin_addr, host.data(), INET_ADDRSTRLEN);
    return host.substr(0, host.find('\0')) + ":" + std::to_string(ntohs(four.sin_port));
  }
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  inet_ntop(AF_INET6, &six.sin6_addr, host.data(), INET6_ADDRSTRLEN);
  return "[" + host.substr(0, host.find('\0')) + "]:" + std::to_string(ntohs(six.sin6_port));
}

}  // namespace

World::World(Choices choices) : choices_(std::move(choices)) {
  if (current != nullptr) Fail("there is a world already");
  current = this;
}

World::~World() { current = nullptr; }

World& World::Current() {
  // For a loop without a server: its leash is endless.
  static World empty_world;
  return current != nullptr ? *current : empty_world;
}

void World::Fail(const std::string& text) const {
  throw SimulationError(text + " (" + choices_.Origin() + ", turn " + std::to_string(turns_) + ")");
}

// ---- time

void World::Drive(SteppedClock& clock) {
  clocks_.push_back(&clock);
  now_ns_ = clock.Read().mono_ms * kNsPerMs;
}

void World::SetTime(uint64_t ns) noexcept {
  const uint64_t passed_ms = ns / kNsPerMs - now_ns_ / kNsPerMs;
  now_ns_ = ns;
  if (passed_ms == 0) return;
  for (SteppedClock* const clock : clocks_) clock->AdvanceTime(passed_ms);
}

void World::StepWall(int64_t ms) {
  for (SteppedClock* const clock : clocks_) clock->StepWall(ms);
  wall_stepped_ = true;
}

void World::Happen() {
  while (!events_.empty() && events_.begin()->first <= now_ns_) {
    const std::function<void()> event = std::move(events_.begin()->second);
    events_.erase(events_.begin());
    event();
  }
  std::erase_if(links_, [](const std::shared_ptr<Link>& link) { return link.use_count() == 1; });
  RunThreads();
  std::erase_if(wires_, [](const auto& wire) { return wire->over(); });
  for (const auto& wire : wires_) wire->Pump(now_ns_);
  for (const std::shared_ptr<Link>& link : links_) link->Pump(now_ns_);
}

uint64_t World::NextEventNs() const {
  uint64_t next = events_.empty() ? UINT64_MAX : events_.begin()->first;
  for (const std::shared_ptr<Link>& link : links_) next = std::min(next, link->NextPumpNs());
  for (const auto& wire : wires_) next = std::min(next, wire->NextPumpNs(now_ns_));
  return next;
}

// ---- network

int World::Bind(const sockaddr& address, size_t size) {
  if (!bind_errors_.empty()) {
    const int error = bind_errors_.front();
    bind_errors_.pop_front();
    if (error != 0) return -error;
  }
  Port port;
  if (address.sa_family == AF_UNIX) {
    port.path = reinterpret_cast<const sockaddr_un&>(address).sun_path;
  } else {
    std::memcpy(&port.address, &address, size);
    auto& number = reinterpret_cast<sockaddr_in&>(port.address).sin_port;  // both families have it there
    if (number == 0) number = htons(next_free_port_++);
  }
  const auto taken = [&](const auto& other) {
    if (!port.path.empty() || !other.second.path.empty()) return other.second.path == port.path;
    return net::Collide(other.second.address, port.address);
  };
  if (std::any_of(ports_.begin(), ports_.end(), taken)) return -EADDRINUSE;
  ports_.emplace(next_fd_, std::move(port));
  return next_fd_++;
}

int World::Listen(int fd, size_t backlog) {
  const auto found = ports_.find(fd);
  if (found == ports_.end()) return -EBADF;
  found->second.listening = true;
  found->second.backlog_max = backlog;
  return 0;
}

int World::Accept(int fd) {
  const auto found = ports_.find(fd);
  if (found == ports_.end()) return -EBADF;
  std::deque<std::shared_ptr<Link>>& backlog = found->second.backlog;
  if (backlog.empty()) return -EAGAIN;
  if (!accept_errors_.empty()) {
    const int error = accept_errors_.front();
    accept_errors_.pop_front();
    if (error == ECONNABORTED) backlog.pop_front();  // its peer gave it up
    return -error;
  }
  if (files_.size() >= open_files_max_) return -EMFILE;
  std::shared_ptr<Link> link = std::move(backlog.front());
  backlog.pop_front();
  const int accepted = link->fd();
  files_.emplace(accepted, std::move(link));
  return accepted;
}

bool World::Readable(int fd) const {
  if (fd == kStepTimerFd) return wall_stepped_;
  if (const auto set = end_sets_.find(fd); set != end_sets_.end())
    return std::any_of(set->second.begin(), set->second.end(), [this](const auto& watched) {
      return watched.second != nullptr && FindLink(watched.first)->peer_ended();
    });
  const auto found = ports_.find(fd);
  return found != ports_.end() && !found->second.backlog.empty();
}

std::shared_ptr<Link> World::FindLink(int fd) const {
  const auto found = files_.find(fd);
  return found != files_.end() ? found->second : nullptr;
}

void World::CloseFile(int fd) {
  if (fd == kStepTimerFd || end_sets_.erase(fd) != 0) return;
  const auto watches = [fd](const auto& set) { return set.second.contains(fd); };
  if (std::any_of(end_sets_.begin(), end_sets_.end(), watches))
    FailLater("a descriptor is closed that is watched: " + std::to_string(fd));
  if (const auto port = ports_.find(fd); port != ports_.end()) {
    for (const std::shared_ptr<Link>& link : port->second.backlog) link->Close();
    ports_.erase(port);
    return;
  }
  const auto found = files_.find(fd);
  if (found == files_.end())
    return FailLater("a descriptor is closed that is not open: " + std::to_string(fd));
  found->second->Close();
  files_.erase(found);
}

Port* World::FindPort(const sockaddr_storage& address) {
  for (auto& [fd, port] : ports_) {
    if (port.listening && port.path.empty() && net::Collide(port.address, address)) return &port;
  }
  return nullptr;
}

int World::ConnectPrograms(const sockaddr& to, std::shared_ptr<Link>& caller) {
  const std::string text = TextOf(to);
  calls_.push_back(text);
  if (!text.starts_with("127.")) return -ENETUNREACH;
  const std::shared_ptr<Link> called = Connect("127.0.0.1", text);
  if (called == nullptr) return -ECONNREFUSED;
  caller = std::make_shared<Link>(next_fd_++, now_ns_, choices_.Below(UINT32_MAX));
  caller->short_transfers = short_transfers_;
  caller->peer_address = called->local_address;
  caller->local_address = called->peer_address;
  links_.push_back(caller);
  files_.emplace(caller->fd(), caller);
  wires_.push_back(std::make_unique<Wire>(caller, called, now_ns_));
  if (on_wire_) on_wire_(*wires_.back());
  return 0;
}

std::shared_ptr<Link> World::Connect(const std::string& from_host, const std::string& to) {
  const sockaddr_storage from = AddressOf(from_host, next_port_++);
  sockaddr_storage local{};
  Port* port = nullptr;
  if (const size_t colon = to.rfind(':'); colon != std::string::npos) {
    local = AddressOf(to.substr(0, colon), static_cast<uint16_t>(std::stoi(to.substr(colon + 1))));
    port = FindPort(local);
  } else {
    const auto listens = [&](const auto& one) {
      return one.second.listening && one.second.path == to &&
             (!to.empty() || one.second.address.ss_family == from.ss_family);
    };
    const auto found = std::find_if(ports_.begin(), ports_.end(), listens);
    if (found != ports_.end()) {
      port = &found->second;
      local = port->address;
    }
  }
  if (port == nullptr || port->backlog.size() > port->backlog_max) return nullptr;
  auto link = std::make_shared<Link>(next_fd_++, now_ns_, choices_.Below(UINT32_MAX));
  link->short_transfers = short_transfers_;
  link->peer_address = from;
  link->local_address = local;
  link->local_path = port->path;
  links_.push_back(link);
  port->backlog.push_back(link);
  return link;
}

}  // namespace mayfly::sim
