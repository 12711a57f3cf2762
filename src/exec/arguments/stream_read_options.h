// Reads the options of XREAD and XREADGROUP.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "exec/dispatch/context.h"

namespace mayfly {

struct StreamReadOptions {
  uint64_t count = 0;  // 0: no limit
  std::optional<uint64_t> deadline_mono_ms = {};
  size_t first = 0;    // of the keys
  size_t streams = 0;  // as many ids follow
  // Of XREADGROUP.
  std::string_view group = {};
  std::string_view consumer = {};
  bool no_ack = false;
  std::optional<int64_t> claim_idle_ms = {};  // CLAIM
};

// False after having answered the error.
bool ReadStreamReadOptions(Context& ctx, Args& args, StreamReadOptions& options);
bool ReadGroupReadOptions(Context& ctx, Args& args, StreamReadOptions& options);

}  // namespace mayfly
