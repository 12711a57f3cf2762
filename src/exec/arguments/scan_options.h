// The cursor and options of SCAN, HSCAN, SSCAN and ZSCAN, and the walk through a value's pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/glob.h"
#include "exec/dispatch/context.h"

namespace mayfly {

struct ScanOptions {
  static constexpr uint64_t kDefaultCount = 10;

  uint64_t count = kDefaultCount;
  std::string_view pattern = "*";
  std::optional<std::string> type = {};  // in lower case; only for SCAN
  bool no_values = false;                // NOVALUES of HSCAN, NOSCORES of ZSCAN

  bool Matches(std::string_view name) const noexcept { return pattern == "*" || GlobMatch(pattern, name); }
};

// Parses like Redis, by strtoul's rules: a sign and leading zeros are accepted, "" is 0, and a zero byte ends the text.
// Returns nothing for other bytes or more than 64 bits. A cursor that no SCAN has returned is safe, and shows the keys after
// the cursor.
std::optional<uint64_t> ParseCursor(std::string_view text) noexcept;

// Answers with an empty page and the end of the iteration, also for an absent key.
inline void ReplyNoPage(Context& ctx) {
  ctx.reply.Array(2);
  ctx.reply.Bulk("0");
  ctx.reply.EmptyArray();
}

struct ScannedPages {
  uint64_t next;   // the cursor after these pages; 0 at the end
  uint64_t pages;  // the number of visited pages
};
// Walks through the members of a value from `cursor` on. scan_page(cursor, seen) visits one page, counts the page's members
// in `seen`, and returns the next cursor. COUNT bounds the work of one call: members count even without a match, and pages
// count even if empty.
template <typename ScanPage>
ScannedPages ScanPages(uint64_t cursor, const ScanOptions& options, ScanPage&& scan_page) {
  constexpr uint64_t kPagesPerMember = 10;
  uint64_t seen = 0;
  uint64_t pages = 0;
  do {
    cursor = scan_page(cursor, seen);
    ++pages;
  } while (cursor != 0 && seen < options.count && pages / kPagesPerMember < options.count);
  return {cursor, pages};
}

// Reads the arguments after the cursor. False after an error reply.
bool ReadScanOptions(Context& ctx, Args& args, ScanOptions& options);

}  // namespace mayfly
