#include "cache/types/look_ahead.h"

#include "cache/types/hash_value.h"
#include "cache/types/list_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "cache/types/stream/stream_value.h"

namespace mayfly {

// No virtual calls: every request of a rich value runs through this function.
void PrefetchMembers(const RichValue& value, std::span<const std::string_view> arguments) noexcept {
  const std::string_view first = arguments.empty() ? std::string_view() : arguments.front();
  const std::string_view last = arguments.empty() ? std::string_view() : arguments.back();
  switch (value.type) {
    case ValueType::kString:
      return;
    case ValueType::kHash:
      return static_cast<const HashValue&>(value).Prefetch(first);
    case ValueType::kList:
      return static_cast<const ListValue&>(value).Prefetch();
    case ValueType::kSet:
      return static_cast<const SetValue&>(value).Prefetch(first);
    case ValueType::kSortedSet:
      return static_cast<const SortedSetValue&>(value).Prefetch(last);
    case ValueType::kStream:
      return static_cast<const StreamValue&>(value).Prefetch();
  }
}

}  // namespace mayfly
