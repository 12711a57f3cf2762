#include "server/cluster/cluster_map.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bits/sha1.h"
#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/words.h"

namespace mayfly {
namespace {

using config::Printable;
using config::Problem;

constexpr std::string_view kBlanks = " \t\r";
constexpr size_t kIdDigits = 40;
constexpr size_t kNameMax = 64;
constexpr size_t kHostMax = 255;

// Takes the next word off the front of `line`; empty at the end.
std::string_view TakeWord(std::string_view& line) noexcept {
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

bool IsDigit(char c) noexcept { return c >= '0' && c <= '9'; }
bool IsLetter(char c) noexcept { return IsLower(c) || IsUpper(c); }
bool IsHexDigit(char c) noexcept { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsOfName(char c) noexcept { return IsLetter(c) || IsDigit(c) || c == '.' || c == '_' || c == '-'; }
bool IsOfHostname(char c) noexcept { return IsLetter(c) || IsDigit(c) || c == '.' || c == '-'; }
bool IsOfIpv6(char c) noexcept { return IsHexDigit(c) || c == ':' || c == '.'; }

template <typename Is>
bool ConsistsOf(std::string_view text, Is is) noexcept {
  return std::all_of(text.begin(), text.end(), is);
}

std::string IdOf(std::string_view name) {
  if (name.size() == kIdDigits && ConsistsOf(name, IsHexDigit)) return LowerCase(name);
  return HexOf(Sha1Of(name));
}

constexpr std::string_view kReplicaOf = "replica-of";
constexpr std::string_view kWrongPort = ": a port is between 1 and 65535";

bool ReadPort(std::string_view text, uint16_t& port) noexcept {
  const std::optional<uint64_t> number = ParseUnsigned(text);
  if (!number || *number < 1 || *number > UINT16_MAX) return false;
  port = static_cast<uint16_t>(*number);
  return true;
}

Problem ReadAddress(std::string_view text, ClusterNode& node) {
  const auto wrong = [&]() -> Problem {
    return Printable(text) + ": an address is <host>:<port>, with an IPv6 host in brackets";
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  std::string_view host = text.substr(0, colon);
  const bool brackets = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (brackets) host = host.substr(1, host.size() - 2);
  const bool fits =
      host == ClusterMap::kSameHost || (brackets ? ConsistsOf(host, IsOfIpv6) : ConsistsOf(host, IsOfName));
  if (!fits || host.empty() || host.size() > kHostMax) return wrong();
  if (host != ClusterMap::kSameHost &&
      ConsistsOf(host, [](char c) { return c == '0' || c == '.' || c == ':'; }))
    return Printable(text) +
           ": no client can connect to that address; * stands for the one by which it has come";
  node.host = host;
  if (!ReadPort(text.substr(colon + 1), node.port)) return Printable(text) + std::string(kWrongPort);
  return std::nullopt;
}

// Reads a word with '=' after the address. `master`: the name of the master, which may stand in a later line.
Problem ReadAttribute(std::string_view word, ClusterNode& node, std::string_view& master) {
  const size_t equals = word.find('=');
  const std::string_view name = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  if (name == "tls-port" && node.tls_port == 0) {
    if (!ReadPort(value, node.tls_port)) return Printable(word) + std::string(kWrongPort);
    return std::nullopt;
  }
  if (name == "hostname" && node.hostname.empty()) {
    if (value.empty() || value.size() > kHostMax || !ConsistsOf(value, IsOfHostname))
      return Printable(word) + ": a hostname is at most " + std::to_string(kHostMax) +
             " letters, digits, '.' and '-'";
    node.hostname = value;
    return std::nullopt;
  }
  if (name == kReplicaOf && master.empty()) {
    if (value.empty()) return Printable(word) + ": the name of a node is missing";
    master = value;
    return std::nullopt;
  }
  return Printable(word) +
         ": an address may be followed by one tls-port=<port>, one hostname=<name> and one replica-of=<name>";
}

std::optional<uint16_t> ReadSlot(std::string_view text) noexcept {
  const std::optional<uint64_t> slot = ParseUnsigned(text);
  if (!slot || *slot >= kSlots) return std::nullopt;
  return static_cast<uint16_t>(*slot);
}

}  // namespace

Problem ClusterMap::Read(std::string_view path, std::string_view text) {
  const auto at = [&](size_t line) { return Printable(path) + ':' + std::to_string(line) + ": "; };
  std::vector<Wish> wishes;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view master;
    if (Problem problem = ReadNode(text.substr(0, end), master)) return at(number) + *problem;
    if (!master.empty()) wishes.push_back({static_cast<NodeIndex>(nodes_.size() - 1), master, number});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (nodes_.empty()) return Printable(path) + ": there is no node in it";
  for (const Wish& wish : wishes) {
    if (Problem problem = GrantWish(wish)) return at(wish.line) + *problem;
  }
  for (const Wish& wish : wishes) {
    const ClusterNode& master = nodes_[nodes_[wish.replica].master];
    if (master.is_replica())
      return at(wish.line) + std::string(kReplicaOf) + '=' + master.name + ": " + master.name +
             " is a replica itself; name its master";
  }
  CollectRanges();
  return std::nullopt;
}

Problem ClusterMap::GrantWish(const Wish& wish) {
  const std::string word = std::string(kReplicaOf) + '=' + Printable(wish.master);
  const ClusterNode* const found = FindById(IdOf(wish.master));
  if (found == nullptr) return word + ": there is no node of that name";
  const auto index = static_cast<NodeIndex>(found - nodes_.data());
  if (index == wish.replica) return word + ": a node is no replica of itself";
  ClusterNode& master = nodes_[index];
  if (master.host == kSameHost)
    return word + ": a replica connects to its master, and " + master.name + " has no address but *";
  nodes_[wish.replica].master = index;
  master.replicas.push_back(wish.replica);
  return std::nullopt;
}

Problem ClusterMap::ReadNode(std::string_view line, std::string_view& master) {
  const std::string_view what = TakeWord(line);
  if (what.empty() || what[0] == '#') return std::nullopt;
  if (what != "node")
    return Printable(what) +
           ": a line is: node <name> <host>:<port> [tls-port=<port>] [hostname=<name>] "
           "[replica-of=<name>] [<slot>|<first>-<last> ...]";
  if (nodes_.size() == kNodesMax) return "more than " + std::to_string(kNodesMax) + " nodes";
  ClusterNode node;
  node.name = TakeWord(line);
  if (node.name.empty()) return "a name and an address are missing";
  if (node.name.size() > kNameMax || !ConsistsOf(node.name, IsOfName))
    return Printable(node.name) + ": a name is at most " + std::to_string(kNameMax) +
           " letters, digits, '.', '_' and '-'";
  node.id = IdOf(node.name);
  const std::string_view address = TakeWord(line);
  if (address.empty()) return node.name + ": an address is missing";
  if (Problem problem = ReadAddress(address, node)) return problem;
  for (const ClusterNode& other : nodes_) {
    if (other.id == node.id) return node.name + ": there is a node of that name already";
    if (other.port == node.port && SameIgnoringCase(other.host, node.host))
      return node.name + ": " + other.name + " has the same address";
  }
  std::string_view word = TakeWord(line);
  for (; word.find('=') != std::string_view::npos; word = TakeWord(line)) {
    if (Problem problem = ReadAttribute(word, node, master)) return problem;
  }
  if (!word.empty() && !master.empty())
    return Printable(word) + ": " + node.name + " is a replica, and has no slots but those of its master";
  nodes_.push_back(std::move(node));
  const auto index = static_cast<NodeIndex>(nodes_.size() - 1);
  for (; !word.empty(); word = TakeWord(line)) {
    if (word.find('=') != std::string_view::npos) {
      ClusterNode unused;
      if (Problem problem = ReadAttribute(word, unused, master)) return problem;
      return Printable(word) + ": stands before the slots";
    }
    if (Problem problem = ReadSlots(word, index)) return problem;
  }
  return std::nullopt;
}

Problem ClusterMap::ReadSlots(std::string_view text, NodeIndex owner) {
  const size_t dash = text.find('-');
  const std::optional<uint16_t> first = ReadSlot(text.substr(0, dash));
  const std::optional<uint16_t> last =
      dash == std::string_view::npos ? first : ReadSlot(text.substr(dash + 1));
  if (!first || !last || *first > *last)
    return Printable(text) + ": slots are <slot> or <first>-<last>, from 0 to " + std::to_string(kSlots - 1);
  for (size_t slot = *first; slot <= *last; ++slot) {
    if (owners_[slot] != kNobody)
      return "slot " + std::to_string(slot) + " belongs to " + nodes_[owners_[slot]].name + " already";
    owners_[slot] = owner;
    ++assigned_;
  }
  return std::nullopt;
}

void ClusterMap::CollectRanges() {
  for (size_t slot = 0; slot < kSlots; ++slot) {
    const NodeIndex owner = owners_[slot];
    if (owner == kNobody) continue;
    std::vector<SlotRange>& ranges = nodes_[owner].slots;
    const auto at = static_cast<uint16_t>(slot);
    if (slot != 0 && owners_[slot - 1] == owner)
      ranges.back().last = at;
    else
      ranges.push_back({at, at});
  }
}

Problem ClusterMap::FindSelf(std::string_view path, const NodeClues& clues) {
  const auto fits = [&](const ClusterNode& node) {
    const auto is_host = [&](std::string_view host) { return SameIgnoringCase(node.host, host); };
    if (!clues.name.empty() && node.name != clues.name) return false;
    if (clues.port != 0 && node.port != clues.port) return false;
    return clues.hosts.empty() || node.host == kSameHost ||
           std::any_of(clues.hosts.begin(), clues.hosts.end(), is_host);
  };
  size_t found = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!fits(nodes_[i])) continue;
    self_ = static_cast<NodeIndex>(i);
    ++found;
  }
  if (found == 1) {
    shard_ = ShardOf(self_);
    return std::nullopt;
  }
  std::string sought;
  if (!clues.name.empty()) sought += " named " + Printable(clues.name);
  if (!clues.hosts.empty()) sought += " at " + Printable(clues.hosts.front());
  if (clues.port != 0) sought += " with port " + std::to_string(clues.port);
  return Printable(path) + ": " + (found == 0 ? "no node" : std::to_string(found) + " nodes") + sought +
         ": which of them is this one? Say it by cluster-announce-human-nodename <name>";
}

void ClusterMap::MakeSingle(std::string_view id) {
  ClusterNode& node = nodes_.emplace_back();
  node.name = id;
  node.id = id;
  node.host = kSameHost;
  owners_.fill(0);
  assigned_ = kSlots;
  self_ = 0;
  shard_ = 0;
  CollectRanges();
}

const ClusterNode* ClusterMap::FindById(std::string_view id) const noexcept {
  for (const ClusterNode& node : nodes_) {
    if (node.id == id) return &node;
  }
  return nullptr;
}

}  // namespace mayfly
