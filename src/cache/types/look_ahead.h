// Prefetches the parts of a value that a request will read. The value itself has arrived in the processor's cache.
#pragma once

#include <span>
#include <string_view>

namespace mayfly {

class RichValue;

// `arguments` are the request's arguments after the key. Their meaning depends on the command, so the prefetch may be wrong,
// at little cost: the first argument is taken for a field or a member; for a sorted set the last argument, because a score
// stands before the member.
void PrefetchMembers(const RichValue& value, std::span<const std::string_view> arguments) noexcept;

}  // namespace mayfly
