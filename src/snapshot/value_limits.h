// The options with the limits of the small forms of all types of values, for values that are read from snapshots.
#pragma once

#include <cstddef>

#include "config/settings.h"
#include "snapshot/values/reading.h"

namespace mayfly {

inline rdb::ValueLimits ValueLimitsOf(const config::Settings& settings) noexcept {
  return {.hash = {.fields = static_cast<size_t>(settings.hash_max_listpack_entries),
                   .text_bytes = settings.hash_max_listpack_value},
          .set = {.integers = static_cast<size_t>(settings.set_max_intset_entries),
                  .packed = static_cast<size_t>(settings.set_max_listpack_entries),
                  .packed_bytes = settings.set_max_listpack_value},
          .sorted_set = {.packed = static_cast<size_t>(settings.zset_max_listpack_entries),
                         .packed_bytes = settings.zset_max_listpack_value},
          .list = ListLimit(settings.list_max_listpack_size),
          .stream = {.node_bytes = settings.stream_node_max_bytes,
                     .node_entries = static_cast<size_t>(settings.stream_node_max_entries)}};
}

}  // namespace mayfly
