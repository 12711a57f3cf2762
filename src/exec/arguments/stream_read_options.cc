#include "exec/arguments/stream_read_options.h"

#include <string>

#include "exec/arguments/wait_limit.h"

namespace mayfly {
namespace {

// What an option of one of the two commands has become.
enum class Read : uint8_t { kUnknown, kRead, kFailed };

Read Fail(Context& ctx, std::string_view error) { return ctx.Fail(error), Read::kFailed; }

// Reads an option that both commands have, but for STREAMS.
Read ReadCommonOption(Context& ctx, Args& args, StreamReadOptions& options) {
  if (args.Accept("BLOCK", 1)) {
    options.deadline_mono_ms = ReadBlock(ctx, args.Next());
    return options.deadline_mono_ms ? Read::kRead : Read::kFailed;
  }
  if (!args.Accept("COUNT", 1)) return Read::kUnknown;
  const std::optional<int64_t> count = args.NextInteger();
  if (!count) return Fail(ctx, errors::kNotInteger);
  options.count = *count < 0 ? 0 : static_cast<uint64_t>(*count);
  return Read::kRead;
}

Read RefuseGroupOption(Context& ctx, Args& args) {
  if (args.Accept("GROUP", 2))
    return Fail(ctx, "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.");
  if (args.Accept("NOACK"))
    return Fail(ctx, "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.");
  return Read::kUnknown;
}

Read ReadGroupOption(Context& ctx, Args& args, StreamReadOptions& options) {
  if (args.Accept("GROUP", 2)) {
    options.group = args.Next();
    options.consumer = args.Next();
    return Read::kRead;
  }
  if (args.Accept("NOACK")) {
    options.no_ack = true;
    return Read::kRead;
  }
  if (!args.Accept("CLAIM", 1)) return Read::kUnknown;
  options.claim_idle_ms = args.NextInteger();
  if (!options.claim_idle_ms) return Fail(ctx, "ERR min-idle-time is not an integer");
  if (*options.claim_idle_ms < 0) return Fail(ctx, "ERR min-idle-time must be a positive integer");
  return Read::kRead;
}

// `own` reads an option of this command alone.
template <typename Own>
bool ReadOptions(Context& ctx, Args& args, StreamReadOptions& options, Own&& own) {
  while (!args.Done()) {
    if (args.Accept("STREAMS", 1)) {
      options.first = args.size() - args.Left();
      options.streams = args.Left() / 2;
      if (args.Left() % 2 == 0) return true;
      ctx.Fail("ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified.");
      return false;
    }
    Read read = ReadCommonOption(ctx, args, options);
    if (read == Read::kUnknown) read = own();
    if (read == Read::kFailed) return false;
    if (read == Read::kUnknown) break;
  }
  return ctx.Fail(errors::kSyntax), false;
}

}  // namespace

bool ReadStreamReadOptions(Context& ctx, Args& args, StreamReadOptions& options) {
  return ReadOptions(ctx, args, options, [&] { return RefuseGroupOption(ctx, args); });
}

bool ReadGroupReadOptions(Context& ctx, Args& args, StreamReadOptions& options) {
  if (!ReadOptions(ctx, args, options, [&] { return ReadGroupOption(ctx, args, options); })) return false;
  if (options.group.data() != nullptr) return true;
  return ctx.Fail("ERR Missing GROUP option for XREADGROUP"), false;
}

}  // namespace mayfly
