#include "exec/arguments/scan_options.h"

#include "base/text/ascii.h"

namespace mayfly {

std::optional<uint64_t> ParseCursor(std::string_view text) noexcept {
  text = text.substr(0, text.find('\0'));
  const bool negative = !text.empty() && text[0] == '-';
  const bool has_sign = negative || (!text.empty() && text[0] == '+');
  const std::string_view digits = text.substr(has_sign ? 1 : 0);
  if (has_sign && digits.empty()) return std::nullopt;
  uint64_t value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    if (__builtin_mul_overflow(value, uint64_t{10}, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, static_cast<uint64_t>(c - '0'), &value)) return std::nullopt;
  }
  return negative ? 0 - value : value;
}

bool ReadScanOptions(Context& ctx, Args& args, ScanOptions& options) {
  const bool of_keys = ctx.row.full_name == "scan";
  while (!args.Done()) {
    if (args.Accept("COUNT", 1)) {
      const std::optional<int64_t> count = args.NextInteger();
      if (!count) return ctx.Fail(errors::kNotInteger), false;
      if (*count < 1) return ctx.Fail(errors::kSyntax), false;
      options.count = static_cast<uint64_t>(*count);
    } else if (args.Accept("MATCH", 1)) {
      options.pattern = args.Next();
    } else if (of_keys && args.Accept("TYPE", 1)) {
      options.type = LowerCase(args.Next());
    } else if (args.Accept("NOVALUES")) {
      if (ctx.row.full_name != "hscan")
        return ctx.Fail("ERR NOVALUES option can only be used in HSCAN"), false;
      options.no_values = true;
    } else if (args.Accept("NOSCORES")) {
      if (ctx.row.full_name != "zscan")
        return ctx.Fail("ERR NOSCORES option can only be used in ZSCAN"), false;
      options.no_values = true;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

}  // namespace mayfly
