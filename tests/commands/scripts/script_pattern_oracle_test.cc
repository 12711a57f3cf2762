// Patterns, and the functions of strings that take patterns, beside a real redis-server's: Mayfly matches on its own, so that a match
// can look at the time.
#include "support/scripts_beside_redis.h"

namespace mayfly::testing {
namespace {

// A pattern with ^ at its front matches at one place only: where the search begins.
constexpr const char* kAnchors[] = {
    "return {('aaa'):gsub('^a', 'b'), ('aaa'):gsub('a', 'b'), ('baa'):gsub('^a', 'x')}",
    "return {('aaa'):gsub('^a*', '-'), ('aaa'):gsub('^', '-'), (''):gsub('^', '-'), (''):gsub('^$', '-')}",
    "return {('abc'):gsub('^%w', string.upper), ('abc'):gsub('^(%w)', {a = 'X', b = 'Y'})}",
    "return {('aaa'):gsub('^a', 'b', 0), ('aaa'):gsub('^a', 'b', 1), ('aaa'):gsub('^a', 'b', 9)}",
    "return {('  padded  '):gsub('^%s+', ''), ('  padded  '):gsub('%s+$', '')}",
    "return {tostring(('xaa'):find('^a')), ('xaa'):find('^a', 2), tostring(('xaa'):find('^x', 2))}",
    "return {tostring(('xaa'):match('^a')), ('xaa'):match('^a+', 2), ('xaa'):match('^(.)(.)', -2)}",
    "return {('abc'):find('^', 2), ('abc'):find('^', 4), ('abc'):find('^', 9), ('abc'):match('^')}",
    "return {('abc'):find('^$', 4), tostring(('abc'):find('^$'))}",
    // ^ elsewhere, and in gmatch, is a byte like others
    "return {('a^b'):find('a^b'), ('a^b'):gsub('[%^]', 'x'), ('x^y'):match('(^.)')}",
    "local t = {} for w in ('aa^ab'):gmatch('^a') do t[#t + 1] = w end return t",
    "local t = {} for w in ('^a^'):gmatch('^') do t[#t + 1] = w end return t",
    "return {('^^a'):find('^^'), ('^^a'):gsub('^^', '-'), tostring(('a^'):find('^^'))}",
    // $ is the end only at a pattern's end
    "return {('a$b'):find('a$b'), ('a$'):find('$$'), ('a$'):gsub('$', '!'), ('a$b'):gsub('%$', '!')}",
    "return {('ab'):find('b$'), tostring(('ab'):find('a$')), ('ab'):find('$'), ('ab'):match('()$')}",
    "return {('ab'):match('(b)$'), ('ab$'):match('(b$)'), tostring(('ab'):match('(b$)'))}",
    "return {('ab'):gsub('$', '!'), ('aab'):gsub('a$', '!'), ('aba'):gsub('a$', '!'), ('a\\n'):find('a$')}",
};

constexpr const char* kReplaced[] = {
    // the text and the count
    ("local t = {} for _, call in ipairs({{'aaa', '^a', 'b'}, {'aaa', 'a', 'b'}, {'baa', '^a', 'x'}, {'aaa', "
     "'^a*', '-'}, {'aaa', '^', '-'}, "
     "{'', '^', '-'}, {'', '', '-'}, {'', 'x', '-'}, {'', 'x*', '-'}, {'abc', '', '-'}, {'abc', '', '-', 2}, "
     "{'abc', '', '-', 4}, {'abc', '', '-', 9}, "
     "{'aaaa', 'a', 'b', 0}, {'aaaa', 'a', 'b', -1}, {'aaaa', 'a', 'b', 1}, {'aaaa', 'a', 'b', 3}, {'aaaa', "
     "'a', 'b', 4}, {'aaaa', 'a', 'b', 5}, "
     "{'aaaa', '^a', 'b', 0}, {'aaaa', '^a', 'b', 2}, {'abc', 'b*', '-'}, {'bbb', 'b*', '-'}, {'abbc', 'b-', "
     "'-'}, {'abab', 'aba', 'x'}, "
     "{'aaaaa', 'aa', 'x'}, {'abcd', '..', '<%0>'}, {'abcd', '.$', '!'}, {'abcd', '$', '!'}, {'a b', '%s', "
     "''}, {'x', 'y', 'z', 5}}) do "
     "local s, n = string.gsub(unpack(call)) t[#t + 1] = s .. ' ' .. n end return t"),
    // how often, and where a search goes on after a match and after an empty one
    "return {('aaaa'):gsub('a', 'b', 2), ('aaaa'):gsub('a', 'b', 0), ('aaaa'):gsub('a', 'b', -1)}",
    "return {('aaaa'):gsub('a', 'b', 4), ('aaaa'):gsub('a', 'b', 5), ('abc'):gsub('', '-', 2)}",
    "return {('aaaa'):gsub('a', 'b', 1.9), ('aaaa'):gsub('a', 'b', '2')}",
    "return ('a'):gsub('a', 'b', 'x')",
    R"(return {('abc'):gsub('b*', '-'), ('bbb'):gsub('b*', '-'), ('abbc'):gsub('b-', '-'), (''):gsub('b*',
'-')})",
    "return {('hello world'):gsub('o', '0'), ('hello'):gsub('x', 'y'), ('aXbXc'):gsub('X', '')}",
    "return {('abab'):gsub('aba', 'x'), ('aaaaa'):gsub('aa', 'x'), ('abcd'):gsub('..', '<%0>')}",
    "return {('one two'):gsub('(%w+) (%w+)', '%2 %1'), ('abc'):gsub('(a)(b)(c)', '%3%2%1%0')}",
    // the template
    R"(return {('abc'):gsub('b', '%%'), ('abc'):gsub('b', '%x'), ('abc'):gsub('b', '%'), ('abc'):gsub('b',
'x%')})",
    R"(return {('abc'):gsub('b', '%0%0'), ('abc'):gsub('b', '%1'), ('abc'):gsub('(b)', '[%1]'),
('abc'):gsub('b', '')})",
    "return {('abc'):gsub('b', 'x\\0y'), ('abc'):gsub('b', '\\0'), ('a\\0b'):gsub('%z', '0')}",
    "return {('abc'):gsub('()b()', '%1-%2'), ('abc'):gsub('()', '%1'), ('abc'):gsub('(b)()', '%2%1')}",
    "return {('abc'):gsub('b', 7), ('abc'):gsub('b', 1.5), ('a1b'):gsub(1, 2), string.gsub(121, 1, 3)}",
    "return ('abc'):gsub('(a)(b)', '%3')",
    "return ('abc'):gsub('(a', 'x')",
    "return ('abc'):gsub('a)', 'x')",
    "return ('abc'):gsub('((a)', '%2')",
    "return {('abcdefghij'):gsub('(.)(.)(.)(.)(.)(.)(.)(.)(.)', '%9%8%7%6%5%4%3%2%1')}",
    // a table, a function
    R"(return {('a b c'):gsub('%w', {a = 1, b = false, c = 'see'}), ('a b'):gsub('(%w) (%w)', {a = 'A', b =
'B'})})",
    R"(return {('abc'):gsub('b', {}), ('abc'):gsub('()', {'x', false, 'z'}), ('abc'):gsub('%w', {['%0'] =
'x'})})",
    "return ('abc'):gsub('b', {b = true})",
    "return ('abc'):gsub('b', {b = {}})",
    "return ('abc'):gsub('b', {b = function() end})",
    "return {('x'):gsub('x', setmetatable({}, {__index = function(_, k) return k .. k end}))}",
    R"(return {('abc'):gsub('(%w)(%w)', function(...) return select('#', ...) .. table.concat({...}, '+')
end)})",
    "return {('abc'):gsub('%w', function(...) return select('#', ...) end)}",
    "return {('abc'):gsub('()%w()', function(a, b) return a + b end), ('abc'):gsub('b', function() end)}",
    R"(return {('abc'):gsub('b', function() return nil end), ('abc'):gsub('b', function() return false, 'x'
end)})",
    "return {('abc'):gsub('b', function() return '%0' end), ('abc'):gsub('b', function() return 2.5 end)}",
    "return ('abc'):gsub('b', function() return true end)",
    "return ('abc'):gsub('b', function() error('in the function', 0) end)",
    "return {('abc'):gsub('%w', function(c) return (c:gsub('%w', function(d) return d .. d end)) end)}",
    "return ('abc'):gsub('b')",
    "return ('abc'):gsub()",
    "return ('abc'):gsub('b', nil)",
    "return string.gsub()",
    "return string.gsub({}, 'b', 'c')",
    "return ('abc'):gsub({}, 'c')",
    "return ('abc'):gsub('b', coroutine.create(function() end))",
};

constexpr const char* kFound[] = {
    // where a search begins
    ("local t = {} for from = -7, 7 do t[#t + 1] = tostring(('abcabc'):find('b', from)) "
     "t[#t + 1] = tostring(('abcabc'):find('b', from, true)) t[#t + 1] = tostring(('abcabc'):match('[bc]+', "
     "from)) "
     "t[#t + 1] = tostring(('abcabc'):find('', from)) t[#t + 1] = tostring(('abcabc'):find('()', from)) end "
     "return t"),
    R"(return {('abc'):find('b', '2'), ('abc'):find('b', 1.9), ('abc'):find('b', nil), ('a.c'):find('.', 1,
nil)})",
    R"(return {('a.c'):find('.', 1, false), ('a.c'):find('.', 1, true), ('a.c'):find('.', 1, 0),
('a.c'):find('%.', 1)})",
    "return ('abc'):find('b', 'x')",
    "return ('abc'):find()",
    "return ('abc'):match()",
    R"(return {(''):find(''), tostring((''):find('', 2)), (''):find('', 1, true), tostring((''):find('a')),
(''):match('')})",
    R"(return {('abc'):find('c', -1), ('abc'):find('abc'), tostring(('abc'):find('abcd')),
tostring(('abc'):find('abcd', 1, true))})",
    // each byte with a meaning makes a pattern of the text
    ("local t = {} for c in ('^$*+?.([%-'):gmatch('.') do local ok, a, b = pcall(string.find, 'x' .. c .. "
     "'y', c .. 'y') "
     "t[#t + 1] = c .. tostring(ok) .. tostring(a) .. tostring(b) end return t"),
    ("local t = {} for c in (')]{}|<>=!@#&_~'):gmatch('.') do local ok, a, b = pcall(string.find, 'x' .. c "
     ".. 'y', c .. 'y') "
     "t[#t + 1] = c .. tostring(ok) .. tostring(a) .. tostring(b) end return t"),
    // what a match answers: the whole, or its captures
    "return {('key=v'):match('%w+'), ('key=v'):match('(%w+)=(%w*)'), ('key='):match('(%w+)=(%w*)')}",
    "return {('key=v'):find('(%w+)=(%w*)'), ('key=v'):find('()=()'), ('key=v'):match('()=()')}",
    "return {('abc'):match('((a)(b))'), ('abc'):match('(a(b(c)))'), ('abc'):match('(()b())')}",
    "return {('abc'):match('(.-)(b)'), ('abc'):match('(x?)a'), ('abc'):match('(a*(.)%w(%s*))')}",
    R"(return {('aa bb'):match('(%w)%1 (%w)%2'), tostring(('ab ba'):match('(%w)%1')),
('xyxy'):match('(..)%1')})",
    "return {('[[x]]'):match('%[(=*)%[(.-)%]%1%]'), ('[=[x]]]=]'):match('%[(=*)%[(.-)%]%1%]')}",
    "return {('\"it\\'s\"'):match('([\"\\'])(.-)%1'), tostring(('()'):match('(%()%1'))}",
    "return ('abc'):find('(a)%2')",
    "return ('abc'):find('(a%1)')",
    "return ('abc'):find('%0')",
    "return ('abc'):match('a)b')",
    "return ('abc'):match('(a')",
    "return ('x'):match('((x)')",
    "return {select('#', ('x'):match(('()'):rep(32))), select('#', ('x'):find(('()'):rep(32)))}",
    "return ('x'):gsub(('()'):rep(33), '')",
    // one after the other
    "local t = {} for k, v in ('a=1, b=2,c=3'):gmatch('(%w+)=(%w+)') do t[#t + 1] = k .. v end return t",
    "local t = {} for w in ('one  two'):gmatch('%a*') do t[#t + 1] = '<' .. w .. '>' end return t",
    "local t = {} for w in ('abc'):gmatch('') do t[#t + 1] = #w end return t",
    "local t = {} for w in (''):gmatch('.*') do t[#t + 1] = '<' .. w .. '>' end return t",
    "local t = {} for a, b in ('abcd'):gmatch('()(..)') do t[#t + 1] = a .. b end return t",
    "local t = {} for w in ('a$b$'):gmatch('.$') do t[#t + 1] = w end return t",
    "local f = ('ab'):gmatch('.') return {f(), f(), tostring((f())), select('#', f())}",
    "local t = {} for w in string.gmatch(1234, 2 .. '.') do t[#t + 1] = w end return t",
    "local f, g = ('ab'):gmatch('.'), ('xy'):gmatch('.') return {f(), g(), f(), g(), tostring((f()))}",
    "return ('ab'):gmatch()",
    "return string.gmatch({}, 'x')",
    "return ('ab'):gmatch('[a')()",
    "local t = {} for w in string.gfind('a b', '%a') do t[#t + 1] = w end return t",
};

constexpr const char* kItems[] = {
    // each class, and its complement, with each byte; alone and in a set
    ("local t = {} for class in ('acdlpsuwxzACDLPSUWXZ'):gmatch('.') do local whole, set, other = {}, {}, {} "
     "for c = 0, 255 do local s = string.char(c) if s:find('%' .. class) then whole[#whole + 1] = c end "
     "if s:find('[%' .. class .. ']') then set[#set + 1] = c end "
     "if s:find('[^%' .. class .. ']') then other[#other + 1] = c end end "
     "t[#t + 1] = class .. table.concat(whole, ' ') .. '|' .. table.concat(set, ' ') .. '|' .. "
     "table.concat(other, ' ') end return t"),
    // each other letter behind % is itself
    ("local t = {} for c = 1, 255 do local s = string.char(c) if not s:find('[%w]') then "
     "t[#t + 1] = tostring(pcall(string.find, s, '%' .. s)) end end return table.concat(t, ' ')"),
    R"(local t = {} for c in ('eghijkmnoqrtvyEGHIJKMNOQRTVYBF'):gmatch('.') do t[#t + 1] = (c .. 'x'):find('%'
.. c) end return t)",
    // sets
    ("local t = {} for _, set in ipairs({'[a-c]', '[^a-c]', '[c-a]', '[a-a]', '[-a]', '[a-]', '[^-a]', "
     "'[a-c-e]', "
     "'[%a-c]', '[a-%z]', '[]]', '[^]]', '[]a]', '[a^]', '[%]]', '[%-]', '[a%-c]', '[^^]', '[%^a]', '[+--]', "
     "'[.]', '[%.%%]', "
     "'[[]', '[*+?]', '[\\200-\\255]', '[\\127-\\129]', '[ -~]', '[^%s%d]', '[%w_]', '[]-a]', '[a-c%d]', "
     "'[^%W]', '[$]', '[(]'}) do "
     "local found = {} for c = 0, 255 do if string.char(c):find(set) then found[#found + 1] = c end end "
     "t[#t + 1] = set .. table.concat(found, ' ') end return t"),
    "return ('x'):find('[')",
    "return ('x'):find('[^')",
    "return ('x'):find('[]')",
    "return ('x'):find('[^]')",
    "return ('x'):find('[%')",
    "return ('x'):find('[%]')",
    "return ('x'):find('[a-')",
    "return ('x'):find('[a%')",
    "return ('x'):find('x[')",
    "return tostring(('y'):find('x['))",
    // how often
    ("local t = {} for _, p in ipairs({'a*', 'a+', 'a-', 'a?', 'xa*', 'xa+', 'xa-b', 'xa?a', '.*a', '.-a', "
     "'.+a', '.?a', 'a*a', 'a+a', 'a-a$', "
     "'a?a?a?b', '[ab]*', '[ab]+b', '%a-b', 'x*', 'x-', '**', '*', '+', '-', '?', '.', 'a**', 'a*+', 'a+?', "
     "'%a?%a?', '()a*()', '(a*)(a*)', '(a-)(a*)', "
     "'(a?)(a+)b', 'a-$', '.-$', '^.-b'}) do for _, s in ipairs({'', 'a', 'aaab', 'xaab', 'baaa', 'x*+-?'}) "
     "do "
     "local ok, a, b, c, d = pcall(string.find, s, p) t[#t + 1] = tostring(ok) .. tostring(a) .. tostring(b) "
     ".. tostring(c) .. tostring(d) "
     "end end return t"),
    R"(return {('aXb'):find('a.b'), ('a\nb'):find('a.b'), ('a\0b'):find('a.b'), ('a\0b'):match('a%zb') ==
'a\0b'})",
    // %b and %f
    ("local t = {} for _, s in ipairs({'(a(b)c)', '((x)', '(x))', ')(', 'a(b)c(d)', '()', 'x', '(', ')', "
     "'(()())'}) do "
     "t[#t + 1] = tostring(s:match('%b()')) t[#t + 1] = tostring(s:match('^%b()')) t[#t + 1] = "
     "tostring(s:match('%b()$')) "
     "t[#t + 1] = tostring(s:match('%b()(.*)')) t[#t + 1] = tostring(s:match('(.-)%b()()')) end return t"),
    R"(return {('|a|b|'):match('%b||'), ('||'):gsub('%b||', 'x'), ('begin x end'):match('%bbd'),
tostring(('xx'):match('%bxy'))})",
    "return ('x'):find('%bx')",
    "return tostring(('x'):find('y%b'))",
    ("local t = {} for _, s in ipairs({'THE (quick) fox', 'a1b22', '', ' ', 'x', ' a ', 'a b'}) do "
     "t[#t + 1] = (s:gsub('%f[%a]', '<')) t[#t + 1] = (s:gsub('%f[%A]', '>')) t[#t + 1] = "
     "(s:gsub('%f[%w]%w+', '#')) "
     "t[#t + 1] = (s:gsub('%f[%z]', '$')) t[#t + 1] = (s:gsub('%f[^%z]', '^')) t[#t + 1] = "
     "tostring(s:find('%f[%d]', 2)) "
     "t[#t + 1] = tostring(s:match('%f[%a](%a+)%f[%A]')) end return t"),
    "return ('x'):find('%fx')",
    "return ('x'):find('%f[')",
    "return {('x\\0y'):gsub('%f[%z]', '-'), ('x\\0y'):gsub('%f[%Z]', '-')}",
    // a pattern ends at its first zero byte, a text does not
    R"(return {tostring(('ab'):find('a\0c')), ('ab'):match('a\0c'), ('a\0b'):find('[ab]\0', 2),
('a\0b'):match('%z(.)'),
('a\0b'):gsub('.', 'x')})",
    R"(return {('a\0b'):match('(a.b)'), ('a\0b'):find('b', 1, true), ('a\0b'):find('\0b', 1, true),
('\0'):find('%z')})",
    "return {('a\\0a'):match('(a)%z%1'), ('a\\0aa\\0a'):match('(a%za)%1') == 'a\\0a'}",
    // deep and long
    R"(return {#('a'):rep(100000):match('a*'), #('a'):rep(100000):match('.-$'), (('a'):rep(100000):gsub('a',
''))})",
    "return {#('a'):rep(5000):match(('a?'):rep(5000)), tostring(('a'):rep(200):match(('a'):rep(201)))}",
};

}  // namespace

TEST_CASE_METHOD(ScriptsBesideRedis,
                 "a pattern that is anchored matches where Redis's does, and no further on") {
  CompareScripts(kAnchors);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "gsub replaces the matches that Redis replaces, by the same texts") {
  CompareScripts(kReplaced);
}

TEST_CASE_METHOD(ScriptsBesideRedis,
                 "find, match and gmatch find what they find in Redis, from any place on") {
  CompareScripts(kFound);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "each item of a pattern matches the bytes that it matches in Redis") {
  CompareScripts(kItems);
}

}  // namespace mayfly::testing
