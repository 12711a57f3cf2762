// Prefetches the parts of a value that a request will read. The value itself has arrived in the processor's cache.
#pragma once

#include <span>
#include <string_view>

namespace mayfly {

class RichValue;

// `arguments` are those of the request after the key. What they are depends on the command, so this is a guess, and
// costs little if it is wrong: it takes the first for a field or a member, or the last one if the value is a sorted set,
// where the score stands before it.
void PrefetchMembers(const RichValue& value, std::span<const std::string_view> arguments) noexcept;

}  // namespace mayfly
