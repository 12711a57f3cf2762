// What clients send, right and wrong: the examples of the parser's tests and the seeds of its fuzzer. The
// expected errors are those of redis-server 7.0.15.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct RequestExample {
  std::string_view bytes;
  std::vector<std::vector<std::string>> requests;
  std::string_view error = "";  // after "Protocol error: "
  bool authenticated = true;
};

inline std::vector<RequestExample> RequestCorpus() {  // long: one table
  using std::string_literals::operator""s;
  using std::string_view_literals::operator""sv;
  return {
      {"*1\r\n$4\r\nPING\r\n", {{"PING"}}},
      {"*2\r\n$3\r\nGET\r\n$14\r\nsession:123456\r\n", {{"GET", "session:123456"}}},
      {"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n*1\r\n$4\r\nPING\r\n", {{"SET", "k", ""}, {"PING"}}},
      {"*2\r\n$4\r\nECHO\r\n$8\r\na\r\n\0b\r\n*\r\n"sv, {{"ECHO", "a\r\n\0b\r\n*"s}}},
      {"*11\r\n$4\r\nMGET\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n$1\r\n4\r\n$1\r\n5\r\n$1\r\n6\r\n$1\r\n7\r\n$"
       "1\r\n8\r\n$1\r\n"
       "9\r\n$2\r\n10\r\n",
       {{"MGET", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}}},
      {"*2\r\n$4\r\nECHO\r\n$101\r\n"
       "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789x"
       "\r\n",
       {{"ECHO",
         "012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789012345678"
         "9"
         "x"}}},
      // These ask for nothing and get no reply.
      {"*0\r\n*-1\r\n*-5\r\n*-9223372036854775808\r\nPING\r\n", {{}, {}, {}, {}, {"PING"}}},
      {"\r\n\n \t \r\n*1\r\n$4\r\nPING\r\n", {{}, {}, {}, {"PING"}}},
      // The parser does not look at the byte after '\r', nor at the two after a payload.
      {"*1\rX$4\rXPINGXY*1\r\n$4\r\nPING\r\n", {{"PING"}, {"PING"}}},
      {"*1\r\n$3\r\nPING\r\n", {{"PIN"}, {}}},
      {"*1\n$4\nPING\n", {}},
      {"*1\r\n$4\r", {}},
      {"*2147483647\r\n", {}},
      {"*1\r\n$536870912\r\n", {}},

      {"*x\r\n", {}, "invalid multibulk length"},
      {"*\r\n", {}, "invalid multibulk length"},
      {"*+1\r\n", {}, "invalid multibulk length"},
      {"*01\r\n", {}, "invalid multibulk length"},
      {"*-0\r\n", {}, "invalid multibulk length"},
      {"*1 \r\n", {}, "invalid multibulk length"},
      {"*2147483648\r\n", {}, "invalid multibulk length"},
      {"*99999999999999999999\r\n", {}, "invalid multibulk length"},
      {"*-9223372036854775809\r\n", {}, "invalid multibulk length"},
      {"PING\r\n*1\r\n$-1\r\n", {{"PING"}}, "invalid bulk length"},
      {"*1\r\n$x\r\n", {}, "invalid bulk length"},
      {"*1\r\n$\r\n", {}, "invalid bulk length"},
      {"*1\r\n$04\r\nPING\r\n", {}, "invalid bulk length"},
      {"*1\r\n$ 4\r\nPING\r\n", {}, "invalid bulk length"},
      {"*1\r\n$536870913\r\n", {}, "invalid bulk length"},
      {"*1\r\n$18446744073709551620\r\nPING\r\n", {}, "invalid bulk length"},
      {"*1\r\n$:\r\n0123456789\r\n", {}, "invalid bulk length"},
      {"*1\r\n$/\r\nPING\r\n", {}, "invalid bulk length"},
      {"*1\r\n$1:\r\nPINGPINGPINGPINGPING\r\n", {}, "invalid bulk length"},
      {"*1\r\n$1/\r\nPINGPINGPINGPINGPING\r\n", {}, "invalid bulk length"},
      {"*:\r\n$4\r\nPING\r\n", {}, "invalid multibulk length"},
      {"*2\n\n$3\r\nGET\r\n$1\r\nk\r\n", {}, "invalid multibulk length"},
      {"*1\r\nPING\r\n", {}, "expected '$', got 'P'"},
      {"*1\r\n:4\r\nPING\r\n", {}, "expected '$', got ':'"},
      {"*3\r\n$3\r\nSET\r\nPING\r\n", {}, "expected '$', got 'P'"},
      {"*1\r\n\r\n", {}, "expected '$', got '\r'"},
      // Redis waits for ever if a header contains a NUL; here it is an error like any other wrong byte.
      {"*\0"
       "1\r\n$4\r\nPING\r\n"sv,
       {},
       "invalid multibulk length"},
      {"*1\r\n$4\0\r\nPING\r\n"sv, {}, "invalid bulk length"},

      {"PING\r\n", {{"PING"}}},
      {"PING\n", {{"PING"}}},
      {"PING\r\r\n", {{"PING"}}},
      {"  set  k\tv  \r\nget k\n", {{"set", "k", "v"}, {"get", "k"}}},
      {"\vPING \f x\v\r\n", {{"PING", "x\v"}}},
      {"ECHO a\rb\r\n", {{"ECHO", "a", "b"}}},
      {"$4\r\nPING\r\n", {{"$4"}, {"PING"}}},
      {"P\0NG x\r\n"sv, {{"P\0NG"s, "x"}}},
      {"ECHO \"a b\" 'c d' e\r\n", {{"ECHO", "a b", "c d", "e"}}},
      {R"(ECHO "\x41\n\r\t\b\a\q\\\"")"
       "\r\n",
       {{"ECHO", "A\n\r\t\b\aq\\\""}}},
      {R"(ECHO "\xfF\XFF\x4g\x")"
       "\r\n",
       {{"ECHO", "\xffXFFx4gx"}}},
      {R"(ECHO 'a\'b\n"\x41' \x41)"
       "\r\n",
       {{"ECHO", "a'b\\n\"\\x41", "\\x41"}}},
      {"ECHO a\"b c\" \"\" ''\r\n", {{"ECHO", "ab c", "", ""}}},
      {"\"\" a\r\n", {{"", "a"}}},
      {"ECHO \"a\"\v'b'\r\n", {{"ECHO", "a", "b"}}},
      {"ECHO \"a\rb\"\r\n", {{"ECHO", "a\rb"}}},

      {"ECHO \"a\r\n", {}, "unbalanced quotes in request"},
      {"ECHO 'a\r\n", {}, "unbalanced quotes in request"},
      {"ECHO \"a\"b\r\n", {}, "unbalanced quotes in request"},
      {"ECHO 'a'b\r\n", {}, "unbalanced quotes in request"},
      {"ECHO 'a'\"b\"\r\n", {}, "unbalanced quotes in request"},
      {"ECHO \"\\\r\n", {}, "unbalanced quotes in request"},
      {"ECHO \"a\\\r\n\"\r\n", {}, "unbalanced quotes in request"},
      {"GET k\r\nECHO 'a\\'\r\n", {{"GET", "k"}}, "unbalanced quotes in request"},

      {"*11\r\n", {}, "unauthenticated multibulk length", false},
      {"*1\r\n$16385\r\n", {}, "unauthenticated bulk length", false},
      {"*1\r\n$600000000\r\n", {}, "invalid bulk length", false},
      {"*2147483648\r\n", {}, "invalid multibulk length", false},
      {"*1\r\n$16384\r\n", {}, "", false},
      {"*10\r\n", {}, "", false},
      {"*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\na b c d e f g h i j k l\r\n",
       {{"AUTH", "pw"}, {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}},
       "",
       false},
  };
}

}  // namespace mayfly
