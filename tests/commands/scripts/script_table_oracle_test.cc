// The functions of tables and of strings that Mayfly has written anew, so that a long call can look at the time, and those of the base
// library, beside a real redis-server's.
#include "support/scripts_beside_redis.h"

namespace mayfly::testing {
namespace {

constexpr const char* kTexts[] = {
    ("local t = {} for from = -5, 5 do for to = -5, 5 do t[#t + 1] = ('abc'):sub(from, to) .. '|' .. "
     "(''):sub(from, to) end "
     "t[#t + 1] = ('abc'):sub(from) end return t"),
    R"(return {('abc'):sub(1.9), ('abc'):sub('2'), ('abc'):sub(2, nil), ('abc'):sub(2^31), ('abc'):sub(-2^31),
('abc'):sub(2, 2^31)})",
    "return {('abc'):sub(1, -2^31), ('abc'):sub(-2^31, 2^31), string.sub(12345, 2, 3), ('a\\0b'):sub(2)}",
    "return ('abc'):sub()",
    "return ('abc'):sub('x')",
    "return ('abc'):sub(1, {})",
    "return string.sub()",
    // every byte
    ("local all = {} for c = 0, 255 do all[#all + 1] = string.char(c) end all = table.concat(all) "
     "return {all:lower(), all:upper(), all:reverse(), all:rep(2), #all:rep(5)}"),
    R"(return {(''):lower(), (''):upper(), (''):reverse(), (''):rep(3), ('x'):rep(0), ('x'):rep(1),
('x'):rep(1.9), ('x'):rep('2')})",
    "return {string.lower(12), string.upper(1.5), string.reverse(123), string.rep(12, 3)}",
    ("local t = {} for n = 1, 9 do t[#t + 1] = ('abc'):rep(n) t[#t + 1] = ('a'):rep(n) t[#t + 1] = "
     "('ab'):reverse():rep(n) end return t"),
    "return string.lower()",
    "return string.upper({})",
    "return string.reverse()",
    "return ('x'):rep()",
    "return ('x'):rep('y')",
    // texts around the size of the room that small ones are made in
    ("local t = {} for size = 1022, 1027 do local s = ('aBc'):rep(400):sub(1, size) "
     "t[#t + 1] = s:lower() t[#t + 1] = s:upper() t[#t + 1] = s:reverse() t[#t + 1] = #s end return t"),
    ("local t = {} for n = 340, 345 do t[#t + 1] = ('abc'):rep(n) t[#t + 1] = ('x'):rep(n * 3) end return t"),
    R"(return {('%5s|%-5s|%05d|%x|%q'):format('a', 'b', 3, 255, 'a\nb\0c"'), ('%s'):format(5),
('%d'):format('7'), ('%c'):format(65)})",
    "return ('%d'):format('x')",
    "return ('%y'):format(1)",
    "return string.format()",
    "return {('abc'):byte(1, -1)}",
    R"(return {('abc'):byte(), ('abc'):byte(-1), select('#', ('abc'):byte(9)), string.char(), #'a\0b',
('a\0b'):len()})",
};

constexpr const char* kLists[] = {
    // insert: at each place, also outside of the list
    ("local t = {} for at = -2, 6 do local list = {1, 2, 3} table.insert(list, at, 'x') local s = '' "
     "for i = -2, 7 do s = s .. tostring(list[i]) .. ' ' end t[#t + 1] = s end return t"),
    R"(local t = {} table.insert(t, 'a') table.insert(t, 1, 'b') table.insert(t, 2, 'c') table.insert(t, #t +
1, 'd') return t)",
    "local t = {1, 2} table.insert(t, nil) return #t",
    "local t = {1, 2} table.insert(t, 1, nil) return {tostring(t[1]), t[2], t[3]}",
    "local t = {1} table.insert(t, 1.9, 'x') table.insert(t, '1', 'y') return t",
    "return select('#', table.insert({}, 1))",
    "return table.insert({}, 'x', 1)",
    "return table.insert({}, {}, 1)",
    "return table.insert()",
    "return table.insert(5, 1)",
    "return table.insert(nil, 1)",
    "return table.insert({}, 1, 2, 3, 4)",
    R"(local t = setmetatable({}, {__newindex = function() error('no') end, __len = function() return 9 end})
table.insert(t, 1) return t)",
    // remove
    ("local t = {} for at = -1, 5 do local list = {1, 2, 3} local s = tostring((table.remove(list, at))) .. "
     "'/' .. "
     "select('#', table.remove({1, 2, 3}, at)) for i = 1, 4 do s = s .. ' ' .. tostring(list[i]) end t[#t + "
     "1] = s end return t"),
    R"(return {select('#', table.remove({})), select('#', table.remove({1})), tostring((table.remove({}))),
table.remove({7, 8}, nil)})",
    "local t = {1, 2, 3} return {table.remove(t, 1.9), table.remove(t, '1'), #t}",
    R"(local t = {[0] = 'zero', 1} return {tostring((table.remove(t, 0))), t[0], table.remove(t),
tostring((table.remove(t))), t[0]})",
    "return table.remove({1}, 'x')",
    "return table.remove()",
    "return table.remove('x')",
    // concat
    ("local t = {'a', 'b', 'c', 'd'} local found = {} for from = 1, 5 do for to = from - 2, 4 do "
     "found[#found + 1] = table.concat(t, '-', from, to) end end return found"),
    R"(return {table.concat({}), table.concat({}, 'x', 1, 0), table.concat({1}), table.concat({1, 2}),
table.concat({1.5, 'x', -0}, '')})",
    R"(return {table.concat({'a', 'b'}, 5), table.concat({'a', 'b'}, nil), table.concat({'a', 'b'}, '\0'),
table.concat({'a', 'b'}, ', ', nil, nil)})",
    R"(return {table.concat({[0] = 'z', 'a'}, '-', 0), table.concat({[-1] = 'm', [0] = 'z'}, '-', -1, 0),
table.concat({'a', nil, 'c'}, '-', 3, 3)})",
    R"(return {table.concat({'a', 'b', 'c'}, '-', '2'), table.concat({'a', 'b', 'c'}, '-', 1.9, 2.9),
table.concat({[2147483647] = 'x'}, '-', 2147483647, 2147483647)})",
    "return table.concat({'a', 'b'}, '-', 0)",
    "return table.concat({'a', true})",
    "return table.concat({'a', 'b', {}}, '-', 1, 3)",
    "return table.concat({}, {})",
    "return table.concat(5)",
    "return table.concat()",
    "return table.concat({}, '', 'x')",
    "return table.concat({}, '', 1, {})",
    // maxn, getn, setn, foreach, foreachi
    R"(return {table.maxn({}), table.maxn({1, 2}), table.maxn({[7] = 1, [3] = 2}), table.maxn({[-1] = 1, [0] =
2}), table.maxn({x = 1, y = 2})})",
    R"(return {tostring(table.maxn({[1.5] = 1, [2.5] = 2})), table.maxn({1, nil, 3}),
tostring(table.maxn({[1/0] = 1})), table.maxn({['9'] = 1, 5})})",
    "return table.maxn(5)",
    "return {table.getn({1, 2, 3}), table.getn({}), table.getn({x = 1})}",
    "return table.getn('x')",
    "return table.setn({}, 1)",
    ("local seen = {} local back = table.foreach({10, 20, x = 30}, function(k, v, more) seen[#seen + 1] = k "
     ".. '=' .. v .. tostring(more) end) "
     "table.sort(seen) return {tostring(back), table.concat(seen, ' ')}"),
    "return {table.foreach({10, 20, 30}, function(k, v) if v == 20 then return k, v end end)}",
    R"(return {table.foreach({5}, function() return false end) == false, select('#', table.foreach({},
error))})",
    R"(local s = '' local back = table.foreachi({10, 20, nil, 40}, function(i, v) s = s .. i .. '=' ..
tostring(v) .. ' ' end) return {s, tostring(back)})",
    "return {table.foreachi({10, 20, 30}, function(i, v) if v == 20 then return i, v end end)}",
    R"(return {table.foreachi({5, 6}, function() return false end) == false, select('#', table.foreachi({},
error))})",
    "local s = '' local t = {1, 2, 3} table.foreachi(t, function(i) t[i + 3] = i s = s .. i end) return s",
    "return table.foreach({1}, function() error('in it', 0) end)",
    "return table.foreachi({1}, function() error('in it', 0) end)",
    "return table.foreach({})",
    "return table.foreach(5, error)",
    "return table.foreachi({}, 5)",
    "return table.foreachi('x', error)",
    "local n = 0 table.foreach(string, function() n = n + 1 end) return n",
    // unpack
    "return {unpack({1, 2, 3})}",
    R"(return {select('#', unpack({})), select('#', unpack({1, nil, 3}, 1, 3)), select('#', unpack({1, 2}, 2,
1)), unpack({1, 2, 3}, 3)})",
    "return {unpack({1, 2, 3}, '2', 3.9)}",
    "return {unpack({[0] = 'z', 'a', [-1] = 'm'}, -1, 1)}",
    "return {unpack({1, 2, 3}, nil, nil)}",
    "return select('#', unpack({}, 1, 7999))",
    "return select('#', unpack({}, 1, 8001))",
    "return select('#', unpack({}, -2^31, 2^31 - 1))",
    "return {unpack({[2147483647] = 'x'}, 2147483647, 2147483647)}",
    "return select('#', unpack({}, 2147483647, -2147483648))",
    "return unpack({}, 'x')",
    "return unpack()",
    "return unpack('x')",
    "return table.unpack",
};

// The order in which a list is sorted can be seen: a function is asked, or equal elements move.
constexpr const char* kSorted[] = {
    ("local found = {} for size = 0, 20 do for step = 1, 7 do local t, log = {}, {} for i = 1, size do t[i] "
     "= i * step % 11 end "
     "table.sort(t, function(a, b) log[#log + 1] = a .. '<' .. b return a < b end) "
     "found[#found + 1] = table.concat(t, ' ') .. ' ' .. table.concat(log, ' ') end end return found"),
    ("local found = {} for size = 0, 40 do local t = {} for i = 1, size do t[i] = {i * 7 % 5, i} end "
     "table.sort(t, function(a, b) return a[1] > b[1] end) for i = 1, size do t[i] = t[i][1] .. ':' .. "
     "t[i][2] end "
     "found[#found + 1] = table.concat(t, ' ') end return found"),
    "local t = {} for i = 1, 500 do t[i] = i * 7919 % 503 end table.sort(t) return t",
    "local t = {} for i = 1, 500 do t[i] = 'k' .. i * 7919 % 503 end table.sort(t) return t",
    R"(local t = {} for i = 1, 300 do t[i] = i end table.sort(t) table.sort(t, function(a, b) return a > b
end) return t)",
    "local t = {'b', 'a\\0z', 'a', 'a\\0', '', 'B', '\\255', '10', '9'} table.sort(t) return t",
    "local t = {3, 1, 2} table.sort(t, nil) return t",
    "return select('#', table.sort({2, 1}))",
    ("local m = {__lt = function(a, b) return a.n < b.n end} local t = {} for i = 1, 9 do t[i] = "
     "setmetatable({n = i * 4 % 9}, m) end "
     "table.sort(t) for i = 1, 9 do t[i] = t[i].n end return t"),
    "local t = {3, nil, 1} return pcall(table.sort, t) and #t or 'failed'",
    "local t = {1, 2, 3, nil, 5} table.sort(t) return t",
    "local t = {1, 'a'} table.sort(t) return t",
    "local t = {{}, {}} table.sort(t) return t",
    "local t = {true, false} table.sort(t) return t",
    "local t = {1, 2, 3, 4, 5, 6, 7, 8} table.sort(t, function() return true end) return t",
    "local t = {1, 2, 3, 4, 5, 6, 7, 8} table.sort(t, function() return false end) return t",
    "local t = {5, 4, 3, 2, 1} table.sort(t, function(a, b) return a <= b end) return t",
    "local t = {3, 3, 3, 3, 3} table.sort(t, function(a, b) return a <= b end) return t",
    "local t = {2, 1} table.sort(t, function() error('in it', 0) end) return t",
    "local t = {3, 2, 1} table.sort(t, function(a, b) return nil end) return t",
    "return table.sort({1, 2}, 5)",
    "return table.sort({1, 2}, {})",
    "return table.sort(5)",
    "return table.sort()",
};

constexpr const char* kBase[] = {
    // pairs and next
    "local t = {} for k, v in pairs({10, 20, nil, 40}) do t[#t + 1] = k .. '=' .. v end return t",
    R"(return {select('#', pairs({})), select('#', next({})), next({5}), tostring(next({5}, 1)), next({5, 6},
1)})",
    "return next({}, 'nosuch')",
    "return next(5)",
    "return next()",
    "return pairs(5)",
    "return pairs()",
    "return {type(pairs({})), select(3, pairs({})) == nil}",
    "return {next(setmetatable({}, {__index = {1}})) == nil}",
    "local t = {a = 1, b = 2, c = 3} for k in pairs(t) do t[k] = nil end return {next(t) == nil}",
    "local t = {a = 1, b = 2} for k in pairs(t) do t[k] = 5 end return {t.a, t.b}",
    R"(local found = {} for k, v in pairs(bit) do found[#found + 1] = k .. type(v) end table.sort(found)
return found)",
    "local k, v = next(math) return {type(k), v == math[k]}",
    // rawget, rawset, setmetatable, getmetatable
    R"(return {rawget({5}, 1), rawget({}, 1) == nil, rawget(setmetatable({}, {__index = {1}}), 1) == nil,
rawget(bit, 'band') == bit.band})",
    R"(local t = setmetatable({}, {__newindex = function() error('no') end}) return {rawset(t, 1, 'x') == t,
t[1]})",
    "return rawget(5, 1)",
    "return rawset({}, nil, 1)",
    "return rawset(5, 1, 1)",
    "return rawset(bit, 'x', 1)",
    "return rawequal(bit, bit)",
    R"(return {getmetatable({}) == nil, getmetatable(5) == nil, getmetatable(setmetatable({}, {__metatable =
'mine'}))})",
    "return setmetatable(setmetatable({}, {__metatable = 'mine'}), {})",
    "return setmetatable({}, 5)",
    "return setmetatable(bit, nil)",
    "return getmetatable(bit) == nil",
    "return getmetatable()",
    // tonumber, tostring
    R"(return {tonumber('10'), tonumber('0x10'), tonumber(' 5 '), tonumber('5x') == nil, tonumber('') == nil,
tonumber({}) == nil, tonumber(nil) == nil})",
    R"(return {tonumber('ff', 16), tonumber('11', 2), tonumber('zz', 36), tonumber('9', 8) == nil,
tonumber('7', 8), tonumber(' 11 ', 2)})",
    R"(return {tostring(tonumber('1e2')), tostring(tonumber('.5')), tostring(tonumber('1e400')),
tostring(tonumber('0x')), tostring(tonumber('-0'))})",
    "return tonumber('1', 1)",
    "return tonumber('1', 37)",
    "return tonumber(5, 16)",
    "return tonumber({}, 16)",
    "return tonumber()",
    // collectgarbage
    R"(return {collectgarbage(), collectgarbage('collect'), collectgarbage('stop'), collectgarbage('restart'),
type(collectgarbage('step'))})",
    R"(return {type(collectgarbage('count')), type(collectgarbage('setpause', 200)),
type(collectgarbage('setstepmul', 200))})",
    "return collectgarbage('nosuch')",
    "return collectgarbage('step', 'x')",
    // loadstring, load
    R"(return {loadstring('return 5')(), loadstring('return ...')(7), type(loadstring('')), 
loadstring('return 1, 2')()})",
    "local f, e = loadstring('x x') return {tostring(f), e}",
    "local f, e = loadstring('x x', '=name') return {tostring(f), e}",
    "local f, e = loadstring('x x', '@name') return {tostring(f), e}",
    "local f, e = loadstring('x x', ('a name'):rep(30)) return {tostring(f), e}",
    "return {pcall(loadstring('error(\\'x\\')', '@name'))}",
    "local f, e = loadstring('\\27Lua') return {tostring(f), e}",
    "local f, e = loadstring('#!x\\nreturn 1') return {tostring(f), e}",
    "return loadstring(5)",
    "return loadstring({})",
    "return loadstring()",
    "return loadstring('', {})",
    "local n = 0 return load(function() n = n + 1 return ({'re', 'turn', ' ', '5', '5'})[n] end)()",
    "local n = 0 return load(function() n = n + 1 return ({'return 5', '', '5'})[n] end)()",
    "local n = 0 return load(function() n = n + 1 return ({'return ', 5})[n] end)()",
    "local f, e = load(function() return {} end) return {tostring(f), e}",
    "local f, e = load(function() error('in it', 0) end) return {tostring(f), e}",
    "local n = 0 local f, e = load(function() n = n + 1 return ({'x', ' x'})[n] end) return {tostring(f), e}",
    R"(local n = 0 local f, e = load(function() n = n + 1 return ({'x', ' x'})[n] end, '@name') return
{tostring(f), e})",
    "return load('return 1')",
    "return load()",
    "return load(function() end, {})",
    // pcall
    "return {pcall(error, {err = 'MINE text', more = 1})}",
    "return {pcall(error, nil)}",
    "return {pcall(pcall, error, 'x')}",
    "return {pcall(select, 2, 'a', 'b', 'c')}",
    "return {select('#', pcall(function() end)), select('#', pcall(error))}",
};

// The same numbers come from the same seed.
constexpr const char* kDrawn[] = {
    "math.randomseed(30) local t = {} for i = 1, 30 do t[i] = tostring(math.random()) end return t",
    "math.randomseed(30) local t = {} for i = 1, 30 do t[i] = math.random(6) end return t",
    "math.randomseed(30) local t = {} for i = 1, 30 do t[i] = math.random(-5, 5) end return t",
    "math.randomseed(10) local t = {} for i = 1, 10 do t[i] = math.random(2147483647) end return t",
    ("local t = {} for _, seed in ipairs({0, 1, -1, 7, 1.9, 65536, 2147483647, -2147483648, 4294967296}) do "
     "math.randomseed(seed) "
     "t[#t + 1] = math.random(1000000) t[#t + 1] = math.random(1000000) end return t"),
    "math.randomseed(5) local a = math.random(1e6) math.randomseed(5) return a == math.random(1e6)",
    "return {math.random(1), math.random(3, 3), math.random('1'), math.random(1.9)}",
    "return math.random(0)",
    "return math.random(-1)",
    "return math.random(2, 1)",
    "return math.random('x')",
    "return math.random(1, 2, 3)",
    "return math.randomseed()",
    "return math.randomseed('x')",
    "return select('#', math.randomseed(1))",
};

}  // namespace

TEST_CASE_METHOD(ScriptsBesideRedis, "texts are cut, turned and repeated as in Redis, with every byte") {
  CompareScripts(kTexts);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "lists change, and are joined and unpacked, as in Redis") {
  CompareScripts(kLists);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "a list is sorted by the comparisons that Redis makes") {
  CompareScripts(kSorted);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "the functions of the base library answer as in Redis") {
  CompareScripts(kBase);
}

TEST_CASE_METHOD(ScriptsBesideRedis, "random numbers are those that Redis draws from the same seed") {
  CompareScripts(kDrawn);
}

}  // namespace mayfly::testing
