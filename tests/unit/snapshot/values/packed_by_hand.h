// Objects and packed collections, made by hand from their public layouts: for reading what old servers wrote.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/format/byte_order.h"
#include "snapshot/format/listpack.h"
#include "snapshot/format/rdb_out.h"

namespace mayfly::rdb {

using Items = std::vector<std::string_view>;

// Appends the parts of an object: By(type).Count(2).Text("a") ...
class ByHand {
 public:
  explicit ByHand(uint8_t type) { out_.Byte(type); }
  ByHand(const ByHand&) = delete;
  ByHand& operator=(const ByHand&) = delete;

  ByHand& Count(uint64_t count) { return out_.Length(count), *this; }
  ByHand& Text(std::string_view text) { return out_.String(text), *this; }
  ByHand& Millis(int64_t ms) { return out_.Millis(ms), *this; }
  ByHand& Score(double score) { return out_.Double(score), *this; }
  ByHand& TextScore(double score) { return out_.DoubleText(score), *this; }
  ByHand& Raw(std::string_view bytes) { return out_.Bytes(bytes), *this; }
  const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
  Out out_{bytes_};
};

inline std::string Listpack(const Items& items) {
  ListpackWriter writer;
  for (const std::string_view item : items) writer.Append(item);
  return std::string(writer.Finish());
}

// With short texts and without integers. REQUIRES: no item has more than 63 bytes.
inline std::string Ziplist(const Items& items) {
  constexpr size_t kHeader = 10;
  std::string body;
  size_t last = 0;
  size_t before = 0;
  for (const std::string_view item : items) {
    last = body.size();
    body.push_back(static_cast<char>(before));
    body.push_back(static_cast<char>(item.size()));
    body += item;
    before = body.size() - last;
  }
  body.push_back('\xFF');
  std::string all;
  AppendLittle(all, kHeader + body.size(), sizeof(uint32_t));
  AppendLittle(all, kHeader + (items.empty() ? 0 : last), sizeof(uint32_t));
  AppendLittle(all, items.size(), sizeof(uint16_t));
  return all + body;
}

// REQUIRES: fields and values alternate; none has more than 253 bytes.
inline std::string Zipmap(const Items& items) {
  std::string all(1, static_cast<char>(items.size() / 2));
  for (size_t i = 0; i < items.size(); ++i) {
    all.push_back(static_cast<char>(items[i].size()));
    if (i % 2 == 1) all.push_back('\0');
    all += items[i];
  }
  all.push_back('\xFF');
  return all;
}

// With `bytes` bytes for each member.
inline std::string Intset(size_t bytes, const std::vector<int64_t>& members) {
  std::string all;
  AppendLittle(all, bytes, sizeof(uint32_t));
  AppendLittle(all, members.size(), sizeof(uint32_t));
  for (const int64_t member : members) AppendLittle(all, static_cast<uint64_t>(member), bytes);
  return all;
}

inline std::string StreamKey(uint64_t ms, uint64_t sequence) {
  std::string key;
  AppendBig(key, ms, sizeof ms);
  AppendBig(key, sequence, sizeof sequence);
  return key;
}

}  // namespace mayfly::rdb
