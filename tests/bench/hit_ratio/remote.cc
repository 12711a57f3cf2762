#include "hit_ratio/remote.h"

#include <cstdlib>

#include "client/requests.h"

namespace mayfly::bench {

void RemoteCache::Run(std::span<const Step> steps, std::vector<bool>& hits) {
  hits.clear();
  output_.clear();
  for (const Step& step : steps) Append(step);
  socket_.Write(output_);
  for (size_t i = 0; i < steps.size(); ++i) hits.push_back(TakeReply());
}

void RemoteCache::Append(const Step& step) {
  const std::string key = KeyOf(step.key);
  if (protocol_ == Protocol::kRedis) {
    step.store ? AppendRequest(output_, {"SET", key, value_}) : AppendRequest(output_, {"GET", key});
    return;
  }
  output_ += step.store ? "set " : "get ";
  output_ += key;
  if (step.store) output_ += " 0 0 " + std::to_string(value_.size()) + "\r\n" + value_;
  output_ += "\r\n";
}

bool RemoteCache::TakeReply() {
  const std::string_view line = TakeLine();
  if (line == "$-1" || line == "+OK" || line == "END" || line == "STORED") return false;
  const bool redis = line.starts_with('$');
  if (!redis && !line.starts_with("VALUE ")) Die("error reply: " + std::string(line));
  const size_t size = std::strtoull(line.data() + (redis ? 1 : line.rfind(' ') + 1), nullptr, 10);
  Skip(size + 2);
  if (!redis && TakeLine() != "END") Die("a reply without an end");
  return true;
}

std::string_view RemoteCache::TakeLine() {
  for (;;) {
    const size_t end = input_.find("\r\n", taken_);
    if (end != std::string::npos) {
      const std::string_view line(input_.data() + taken_, end - taken_);
      taken_ = end + 2;
      return line;
    }
    ReadMore();
  }
}

void RemoteCache::Skip(size_t bytes) {
  while (input_.size() - taken_ < bytes) ReadMore();
  taken_ += bytes;
}

void RemoteCache::ReadMore() {
  input_.erase(0, taken_);
  taken_ = 0;
  socket_.Read(&input_);
}

int64_t RemoteCache::CountKeys() {
  socket_.Write("DBSIZE\r\n");
  const std::string_view line = TakeLine();
  if (!line.starts_with(':')) Die("DBSIZE: " + std::string(line));
  return std::strtoll(line.data() + 1, nullptr, 10);
}

uint64_t RemoteCache::UsedMemory() {
  socket_.Write("INFO memory\r\n");
  const std::string_view header = TakeLine();
  if (!header.starts_with('$')) Die("INFO: " + std::string(header));
  const size_t size = std::strtoull(header.data() + 1, nullptr, 10);
  while (input_.size() - taken_ < size + 2) ReadMore();
  constexpr std::string_view kField = "\nused_memory:";
  const size_t at = input_.find(kField, taken_);
  if (at == std::string::npos) Die("INFO has no used_memory");
  const uint64_t used = std::strtoull(input_.data() + at + kField.size(), nullptr, 10);
  Skip(size + 2);
  return used;
}

void RemoteCache::SetMaxMemory(uint64_t bytes) { Configure("CONFIG SET maxmemory " + std::to_string(bytes)); }

void RemoteCache::ResetStatistics() { Configure("CONFIG RESETSTAT"); }

void RemoteCache::Configure(const std::string& command) {
  socket_.Write(command + "\r\n");
  const std::string_view line = TakeLine();
  if (line != "+OK") Die(command + ": " + std::string(line));
}

}  // namespace mayfly::bench
