// Texts of scripts that are larger than the pieces in which Mayfly works on them, so that it can look at the time in between: what is
// at the border of two pieces, beside a real redis-server.
#include "support/scripts_beside_redis.h"

namespace mayfly::testing {
namespace {

constexpr const char* kSearches[] = {
    // a needle around each border of the first pieces of 64 KB
    ("local found = {} for _, border in ipairs({65536, 131072, 196608}) do for at = border - 7, border + 3 "
     "do "
     "local s = ('x'):rep(at - 1) .. 'needle' .. ('x'):rep(70000) "
     "found[#found + 1] = table.concat({s:find('needle', 1, true)}, '-') end end return found"),
    // the needle is what the text ends with, or is missing there by one byte
    ("local found = {} for size = 65530, 65545 do local s = ('x'):rep(size) .. 'needle' "
     "found[#found + 1] = (s:find('needle', 1, true)) found[#found + 1] = tostring(s:find('needles', 1, "
     "true)) "
     "found[#found + 1] = tostring(s:sub(1, -2):find('needle', 1, true)) end return found"),
    // the search begins before, at and behind the needle, and before the text's end
    ("local s = ('x'):rep(65533) .. 'needle' .. ('x'):rep(65533) .. 'needle' local found = {} "
     "for _, from in ipairs({1, 2, 7, 65533, 65534, 65535, 65540, 131072, 131073, 131074, -6, -5, -131072}) "
     "do "
     "found[#found + 1] = tostring(s:find('needle', from, true)) end return found"),
    // pieces of a large needle have fewer places
    ("local needle = ('y'):rep(100000) local found = {} for at = 38, 46 do "
     "local s = ('x'):rep(at - 1) .. needle .. 'x' found[#found + 1] = table.concat({s:find(needle, 1, "
     "true)}, "
     "'-') found[#found + 1] = tostring(s:find(needle .. 'y', 1, true)) end return found"),
    "local s = ('x'):rep(5e6) return {s:find(s, 1, true), tostring(s:find(s .. 'x', 1, true)), s:find('', "
    "65537)}",
    // without the fourth argument a text without special bytes is searched for in the same way
    ("local s = ('x'):rep(65533) .. 'ne-dle' return {s:find('ne%-dle'), s:find('ne-dle', 1, true), "
     "tostring(s:find('ne-dle')), s:find('dle')}"),
    "local s = ('x'):rep(65534) .. '\\0a.b' return {s:find('\\0a.b'), s:find('\\0a', 1, true), "
    "s:find('a.b')}",
    "local s = ('x'):rep(65530) .. 'a\\0b' .. ('x'):rep(9) return {s:find('a\\0b', 1, true), s:find('b')}",
    "local s = ('x'):rep(70000) .. 'needle' return {s:match('()needle()'), (s:gsub('needle', '')) == "
    "s:sub(1, 70000)}",
};

// The texts that functions make grow by pieces of 256 KB. Of the large ones the sum is compared.
constexpr const char* kMade[] = {
    ("local sums = {} for size = 262142, 262147 do local s = ('aBcDe'):rep(60000):sub(1, size) "
     "for _, name in ipairs({'lower', 'upper', 'reverse'}) do "
     "sums[#sums + 1] = redis.sha1hex(string[name](s)) end end return sums"),
    ("local sums = {} for _, size in ipairs({524287, 524288, 524289, 786432}) do "
     "local s = ('aBcDeFg'):rep(120000):sub(1, size) for _, name in ipairs({'lower', 'upper', 'reverse'}) do "
     "local made = string[name](s) sums[#sums + 1] = #made sums[#sums + 1] = redis.sha1hex(made) end end "
     "return sums"),
    ("local sums = {} for _, text in ipairs({'x', 'ab', 'abc', 'abcdefg', ('0123456789'):rep(99) .. 'x'}) do "
     "for _, size in ipairs({1023, 1024, 1025, 262143, 262144, 262145, 600000}) do "
     "sums[#sums + 1] = redis.sha1hex(text:rep(math.ceil(size / #text))) end end return sums"),
    // a text longer than a piece, more than once
    ("local text = ('abcdefg'):rep(40000) local s = text:rep(3) "
     "return {#s, redis.sha1hex(s), tostring(s == text .. text .. text), #text:rep(1), #text:rep(0)}"),
};

// The parser reads a chunk in pieces of 64 KB.
constexpr const char* kChunks[] = {
    ("local found = {} for size = 65500, 65540 do "
     "found[#found + 1] = loadstring((' '):rep(size) .. 'return \"a text at the border\"')() end return "
     "found"),
    "return #loadstring('return \"' .. ('x'):rep(200000) .. '\"')()",
    "local f, e = loadstring(('\\n'):rep(65536) .. 'x =') return e",
    "local f, e = loadstring(('\\n'):rep(131072) .. '=') return e",
};

}  // namespace

TEST_CASE_METHOD(ScriptsBesideRedis, "a plain search finds a text across the border of two pieces") {
  CompareScripts(kSearches);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "texts that are made in pieces are whole") { CompareScripts(kMade); }

TEST_CASE_METHOD(ScriptsBesideRedis, "a chunk that is read in pieces is compiled as a whole") {
  CompareScripts(kChunks);
}

}  // namespace mayfly::testing
