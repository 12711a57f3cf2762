// A selector is one set of permissions: commands, and the keys and channels for these commands. A user has one of its
// own and any number of further ones in parentheses; a call is allowed if one of them allows all of it.
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

// What a command does to a key; both, or none, is possible.
enum KeyAccess : uint8_t { kReadsKey = 1 << 0, kWritesKey = 1 << 1 };

struct KeyPattern {
  std::string text;  // a glob pattern
  uint8_t access;    // KeyAccess bits
};

class Selector {
 public:
  Selector(const CommandCatalogue& catalogue, bool all_channels)
      : commands_(catalogue), all_channels_(all_channels) {}

  // One rule about commands, keys or channels. On an error nothing is changed. Throws std::bad_alloc.
  [[nodiscard]] RuleError Apply(std::string_view rule);

  const CommandRights& commands() const noexcept { return commands_; }
  bool all_keys() const noexcept { return all_keys_; }
  const std::vector<KeyPattern>& keys() const noexcept { return keys_; }
  bool all_channels() const noexcept { return all_channels_; }
  const std::vector<std::string>& channels() const noexcept { return channels_; }

  bool MayUseKey(std::string_view key, uint8_t access) const noexcept;
  // Whatever key.
  bool MayUseAnyKey(uint8_t access) const noexcept;
  // `is_pattern`: of PSUBSCRIBE, which must have been allowed in these words.
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

// Whether the channel matches one of the patterns; a pattern must be one of them.
bool AnyAllows(const std::vector<std::string>& patterns, std::string_view channel, bool is_pattern) noexcept;

}  // namespace mayfly
