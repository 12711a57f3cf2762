// LOLWUT: a picture and the version.
#include <string>

#include "exec/dispatch/context.h"
#include "exec/info/identity.h"

namespace mayfly::lolwut_commands {
namespace {

constexpr std::string_view kMayfly =
    "            .-------.__\n"
    "            `-.  `.    `-.\n"
    "               `-. `.     `.\n"
    "                  `-.`.     |\n"
    "  ~~~~~~~~~~~~~~~.____`.`.__;__ .-.\n"
    "  ~~~~~~~~~~~~~~~'==============( o)<\n"
    "                       / |  \\   `-'\n"
    "                      /  |   \\\n"
    "\n"
    "  It lives for a day, and every key for as long as you say.\n"
    "\n";

// Mayfly has a single picture: VERSION and the numbers after VERSION change nothing. But as in Redis, the version and the
// sizes of Redis's pictures 5 and 6 must be numbers.
bool NumbersAreSome(Args& args) {
  if (!args.Accept("VERSION", 1)) return true;
  const std::optional<int64_t> version = args.NextInteger();
  if (!version) return false;
  for (int sizes = *version == 5 ? 3 : *version == 6 ? 2 : 0; sizes > 0 && !args.Done(); --sizes) {
    if (!args.NextInteger()) return false;
  }
  return true;
}

void LolWut(Context& ctx, Args& args) {
  if (!NumbersAreSome(args)) return ctx.Fail(errors::kNotInteger);
  std::string text(kMayfly);
  text.append("Mayfly ver. ").append(kMayflyVersion).append("\n");
  ctx.reply.Verbatim("txt", text);
}

constexpr Command kRows[] = {
    {.name = "lolwut",
     .arity = -1,
     .flags = kReadOnly | kFast,
     .handler = LolWut,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Shows a mayfly and the version.",
     .syntax = "[VERSION version]"},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::lolwut_commands
