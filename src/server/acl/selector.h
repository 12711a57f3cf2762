// A selector is one set of permissions: commands, and the keys and channels for these commands. A user has one main selector
// and any number of further selectors in parentheses; a call is allowed if a single selector allows the whole call.
//
//   ~app:* %R~shared:* resetchannels &news:* -@all +@read +publish
//
// Borrows the catalogue of commands.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/acl/command_rights.h"
#include "server/acl/rule_error.h"

namespace mayfly {

// The access of a command to a key; both bits, or none, are possible.
enum KeyAccess : uint8_t { kReadsKey = 1 << 0, kWritesKey = 1 << 1 };

struct KeyPattern {
  std::string text;  // a glob pattern
  uint8_t access;    // KeyAccess bits
};

class Selector {
 public:
  Selector(const CommandCatalogue& catalogue, bool all_channels)
      : commands_(catalogue), all_channels_(all_channels) {}

  // Applies one rule about commands, keys or channels. An error changes nothing. Throws std::bad_alloc.
  [[nodiscard]] RuleError Apply(std::string_view rule);

  const CommandRights& commands() const noexcept { return commands_; }
  bool all_keys() const noexcept { return all_keys_; }
  const std::vector<KeyPattern>& keys() const noexcept { return keys_; }
  bool all_channels() const noexcept { return all_channels_; }
  const std::vector<std::string>& channels() const noexcept { return channels_; }

  bool MayUseKey(std::string_view key, uint8_t access) const noexcept;
  // True if every key is allowed.
  bool MayUseAnyKey(uint8_t access) const noexcept;
  // `is_pattern`: the pattern of PSUBSCRIBE, allowed only in the same words.
  bool MayUseChannel(std::string_view channel, bool is_pattern) const noexcept;
  bool AllowsAll() const noexcept { return all_keys_ && all_channels_ && commands_.AllowsAll(); }

  std::string Describe() const;          // all rules
  std::string DescribeKeys() const;      // "~a* %R~b*"
  std::string DescribeChannels() const;  // "&a* &b"

 private:
  RuleError AddKeys(std::string_view rule);
  RuleError AddChannels(std::string_view pattern);

  CommandRights commands_;
  bool all_keys_ = false;
  bool all_channels_;
  std::vector<KeyPattern> keys_;
  std::vector<std::string> channels_;
};

// True if the channel matches one of the patterns. A pattern must be literally among the patterns.
bool AnyAllows(const std::vector<std::string>& patterns, std::string_view channel, bool is_pattern) noexcept;

}  // namespace mayfly
