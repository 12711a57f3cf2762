#include "mixes/peer.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>

#include "support/request_text.h"

namespace mayfly::bench {
namespace {

using testing::AppendRequest;

// memcached has whole seconds, and 0 is no TTL.
std::string WholeSeconds(int64_t ttl_ms) {
  constexpr int64_t kMsPerS = 1000;
  return std::to_string(std::max<int64_t>((ttl_ms + kMsPerS / 2) / kMsPerS, 1));
}

}  // namespace

Peer::Peer(const std::string& address) : socket_(std::atoi(address.c_str())) {
  const size_t pid_at = address.find(':') + 1;
  const size_t protocol_at = address.find(':', pid_at) + 1;
  pid_ = std::atoi(address.c_str() + pid_at);
  const std::string protocol = address.substr(protocol_at);
  redis_ = protocol == "redis";
  if (pid_at == 0 || protocol_at == 0 || (!redis_ && protocol != "memcached"))
    Die(address + " is not PORT:PID:PROTOCOL");
}

void Peer::Get(std::string_view key) {
  ++commands_;
  if (redis_) return AppendRequest(output_, {"GET", key});
  output_.append("get ").append(key).append("\r\n");
}

void Peer::Set(std::string_view key, std::string_view value, int64_t ttl_ms) {
  ++commands_;
  if (redis_) return AppendRequest(output_, {"SET", key, value, "PX", std::to_string(ttl_ms)});
  Store("set ", key, value, ttl_ms);
}

void Peer::Add(std::string_view key, std::string_view value, int64_t ttl_ms) {
  ++commands_;
  if (redis_) return AppendRequest(output_, {"SET", key, value, "NX", "PX", std::to_string(ttl_ms)});
  Store("add ", key, value, ttl_ms);
}

void Peer::Incr(std::string_view key) {
  ++commands_;
  if (redis_) return AppendRequest(output_, {"INCR", key});
  output_.append("incr ").append(key).append(" 1\r\n");
}

void Peer::SetNewCounter(std::string_view key, int64_t ttl_ms) {
  ++commands_;
  if (redis_) return AppendRequest(output_, {"PEXPIRE", key, std::to_string(ttl_ms)});
  Store("set ", key, "1", ttl_ms);
}

void Peer::Delete(std::string_view key) {
  ++commands_;
  if (redis_) return AppendRequest(output_, {"DEL", key});
  output_.append("delete ").append(key).append("\r\n");
}

void Peer::Store(std::string_view verb, std::string_view key, std::string_view value, int64_t ttl_ms) {
  output_.append(verb).append(key).append(" 0 ").append(WholeSeconds(ttl_ms)).append(" ");
  output_.append(std::to_string(value.size())).append("\r\n").append(value).append("\r\n");
}

void Peer::Send() {
  socket_.Write(output_);
  output_.clear();
}

Reply Peer::Take() {
  const std::string_view line = TakeLine();
  const bool redis_value = line.starts_with('$') && line != "$-1";
  if (!redis_value && !line.starts_with("VALUE ")) return OfLine(line);
  const size_t size = std::strtoull(line.data() + (redis_value ? 1 : line.rfind(' ') + 1), nullptr, 10);
  constexpr size_t kLineEnd = 2;
  Skip(size + kLineEnd);
  if (!redis_value && TakeLine() != "END") Die("a reply without an end");
  return Reply::kHit;
}

Reply Peer::OfLine(std::string_view line) {
  static const std::map<std::string_view, Reply> kLines{{"$-1", Reply::kMiss},
                                                        {"END", Reply::kMiss},
                                                        {"+OK", Reply::kStored},
                                                        {"STORED", Reply::kStored},
                                                        {"NOT_STORED", Reply::kNotStored},
                                                        {"NOT_FOUND", Reply::kNew},
                                                        {"DELETED", Reply::kDone},
                                                        {":1", Reply::kNew}};
  if (const auto found = kLines.find(line); found != kLines.end()) return found->second;
  if (line.starts_with("-OOM") || line.starts_with("SERVER_ERROR out of memory")) return Reply::kRefused;
  const bool number = line.starts_with(':') || (!line.empty() && line.front() >= '0' && line.front() <= '9');
  if (!number) Die("error reply: " + std::string(line));
  return Reply::kDone;
}

std::string_view Peer::TakeLine() {
  for (;;) {
    const size_t end = input_.find("\r\n", taken_);
    if (end != std::string::npos) {
      const std::string_view line(input_.data() + taken_, end - taken_);
      taken_ = end + 2;
      return line;
    }
    input_.erase(0, taken_);
    taken_ = 0;
    socket_.Read(&input_);
  }
}

void Peer::Skip(size_t bytes) {
  while (input_.size() - taken_ < bytes) socket_.Read(&input_);
  taken_ += bytes;
}

int64_t Peer::CountKeys() {
  if (redis_) {
    socket_.Write("DBSIZE\r\n");
    return std::strtoll(TakeLine().data() + 1, nullptr, 10);
  }
  socket_.Write("stats\r\n");
  int64_t keys = 0;
  constexpr std::string_view kField = "STAT curr_items ";
  for (std::string_view line = TakeLine(); line != "END"; line = TakeLine()) {
    if (line.starts_with(kField)) keys = std::strtoll(line.data() + kField.size(), nullptr, 10);
  }
  return keys;
}

int64_t Peer::ResidentBytes() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/statm");
  int64_t all = 0;
  int64_t resident = 0;
  if (!(file >> all >> resident)) Die("the server's process is gone");
  return resident * sysconf(_SC_PAGESIZE);
}

int64_t Peer::CpuNs() const {
  // The kernel's number for the CPU clock of a whole process.
  const clockid_t clock = static_cast<clockid_t>((~static_cast<unsigned>(pid_) << 3) | 2);
  timespec time{};
  if (clock_gettime(clock, &time) != 0) DieOfErrno("the server's CPU time");
  constexpr int64_t kNsPerS = 1'000'000'000;
  return time.tv_sec * kNsPerS + time.tv_nsec;
}

}  // namespace mayfly::bench
