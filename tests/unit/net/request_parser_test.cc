// The parser gets its bytes in blocks of exactly their size, so that the sanitizer sees any read beyond them.
#include "net/http/request_parser.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/exact_block.h"

namespace mayfly::net {
namespace {

using State = RequestParser::State;

// What became of these bytes, fed in pieces of `size`: each request as "GET /path keep" or "HEAD /path close", then the
// failure, if there is one.
std::vector<std::string> Parse(const std::string& bytes, size_t size) {
  RequestParser parser;
  std::vector<std::string> seen;
  for (size_t at = 0; at < bytes.size(); at += size) {
    const std::string whole = bytes.substr(at, size);
    const ExactBlock block(whole);
    for (std::string_view piece = block.view(); !piece.empty();) {
      piece.remove_prefix(parser.Feed(piece));
      if (parser.state() == State::kFailed) {
        seen.push_back(std::to_string(parser.failure()));
        return seen;
      }
      if (parser.state() == State::kNeedMore) continue;
      const RequestParser::Request& request = parser.request();
      seen.push_back((request.head_only ? "HEAD " : "GET ") + request.path +
                     (request.keep_alive ? " keep" : " close") +
                     (request.host.empty() ? "" : " at " + request.host));
      parser.Next();
      CHECK(parser.idle());
    }
  }
  return seen;
}

// The same whatever the pieces are.
std::vector<std::string> Seen(const std::string& bytes) {
  const std::vector<std::string> whole = Parse(bytes, bytes.size());
  for (const size_t size : {1, 2, 3, 7, 100, 1'000}) CHECK(Parse(bytes, size) == whole);
  return whole;
}

using Lines = std::vector<std::string>;

TEST_CASE("a request may come in any pieces, and further ones right after it") {
  CHECK(Seen("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n") == Lines{"GET /metrics keep at a"});
  CHECK(Seen("GET / HTTP/1.1\r\n\r\nHEAD /livez?x=1 HTTP/1.1\r\n\r\nGET /b HTTP/1.0\r\n\r\n") ==
        Lines{"GET / keep", "HEAD /livez keep", "GET /b close"});
}

TEST_CASE("a client says whether it keeps the connection") {
  CHECK(Seen("GET /a HTTP/1.1\r\nConnection: close\r\n\r\n") == Lines{"GET /a close"});
  CHECK(Seen("GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n") == Lines{"GET /a keep"});
}

TEST_CASE("a target may be whole, as clients send it to proxies; other protocols are not changed to") {
  CHECK(Seen("GET http://mayfly:9121/metrics?a=b HTTP/1.1\r\n\r\n") == Lines{"GET /metrics keep"});
  CHECK(Seen("GET http://mayfly:9121 HTTP/1.1\r\n\r\n") == Lines{"GET / keep"});
  CHECK(Seen("GET /a HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n").at(0).starts_with("GET /a "));
}

TEST_CASE("the header Host is kept, however it is written, and a request has one at most") {
  CHECK(Seen("GET / HTTP/1.1\r\nhoST:  a.b:1\r\nX: y\r\n\r\n") == Lines{"GET / keep at a.b:1"});
  CHECK(Seen("GET / HTTP/1.1\r\nX: y\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n\r\n") ==
        Lines{"GET / keep at a", "GET / keep"});
  CHECK(Seen("GET / HTTP/1.1\r\nHostess: a\r\nX-Host: b\r\nHos: c\r\nHost:\r\n\r\n") == Lines{"GET / keep"});
  CHECK(Seen("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n") == Lines{"400"});
  const std::string longest(RequestParser::kHostBytes, 'h');
  CHECK(Seen("GET / HTTP/1.1\r\nHost: " + longest + "\r\n\r\n") == Lines{"GET / keep at " + longest});
  CHECK(Seen("GET / HTTP/1.1\r\nHost: " + longest + "h\r\n\r\n") == Lines{"400"});
}

TEST_CASE("what is no request that is served fails with its status") {
  CHECK(Seen("POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc") == Lines{"405"});
  CHECK(Seen("DELETE / HTTP/1.1\r\n\r\n") == Lines{"405"});
  CHECK(Seen("CONNECT a:80 HTTP/1.1\r\n\r\n") == Lines{"405"});
  CHECK(Seen("GET / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc") == Lines{"413"});
  CHECK(Seen("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n") == Lines{"413"});
  CHECK(Seen("*1\r\n$4\r\nPING\r\n") == Lines{"400"});
  CHECK(Seen("PING\r\n") == Lines{"400"});
  CHECK(Seen("GET /a b HTTP/1.1\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/2.0\r\n\r\n") == Lines{"505"});
  CHECK(Seen(std::string("\x16\x03\x01\x00\xFF", 5)) == Lines{"400"});
}

TEST_CASE("a first line that cannot be one fails at once, however short it is") {
  CHECK(Seen("SET a b\r\n") == Lines{"400"});
  CHECK(Seen("AUTH HTTP/1.1\r\n") == Lines{"400"});
  CHECK(Seen("SSH-2.0-x\r\n") == Lines{"400"});
  CHECK(Seen("GET /\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/1.1\n") == Lines{"400"});
  CHECK(Seen(" GET") == Lines{"400"});
  CHECK(Seen("GET / HTTP/2.0") == Lines{"505"});
  CHECK(Seen("GET / HTTP/1.1").empty());
}

TEST_CASE("lines without a carriage return are refused, and nobody waits for one") {
  CHECK(Seen("GET /a HTTP/1.0\n\n") == Lines{"400"});
  CHECK(Seen("GET /a HTTP/1.1\r\nHost: a\n\n") == Lines{"400"});
  CHECK(Seen("GET /a HTTP/1.1\r\nHost: a\n\r\n") == Lines{"400"});
  CHECK(Seen("GET /a HTTP/1.1\r\n\n") == Lines{"400"});
}

TEST_CASE("versions other than 1.0 and 1.1, and what is no version") {
  CHECK(Seen("GET / HTTP/0.9\r\n\r\n") == Lines{"505"});
  CHECK(Seen("GET / HTTP/1.2\r\n\r\n") == Lines{"505"});
  CHECK(Seen("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") == Lines{"505"});
  CHECK(Seen("GET / HTTP/1.1 \r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / http/1.1\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/1.10\r\n\r\n") == Lines{"400"});
}

// The version says nothing about a line that is wrong before it.
TEST_CASE("a line with another version and a further mistake is no request") {
  CHECK(Seen("G(T / HTTP/1.2\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET /\x01 HTTP/2.0\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/1.x\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/x.1\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/1,1\r\n\r\n") == Lines{"400"});
  CHECK(Seen("GET / HTTP/9.9\r\n\r\n") == Lines{"505"});
  CHECK(Seen("GET / HTTP/3\r\n\r\n") == Lines{"400"});
}

TEST_CASE("a method that nobody knows is not allowed either, whether or not it has a body") {
  CHECK(Seen("FOO / HTTP/1.1\r\n\r\n") == Lines{"405"});
  CHECK(Seen("get / HTTP/1.1\r\n\r\n") == Lines{"405"});
  CHECK(Seen("OPTIONS * HTTP/1.1\r\n\r\n") == Lines{"405"});
  CHECK(Seen("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") == Lines{"405"});
}

TEST_CASE("line ends before a request are skipped") {
  CHECK(Seen("\r\nGET /a HTTP/1.1\r\n\r\n\r\n\r\nGET /b HTTP/1.1\r\n\r\n") ==
        Lines{"GET /a keep", "GET /b keep"});
  CHECK(Seen(std::string(RequestParser::kHeadBytes, '\n')) == Lines{"431"});
}

// What a proxy in front may take for another request, or for a body, must not be a request here.
TEST_CASE("requests that can be understood in two ways are refused") {
  const auto with = [](const std::string& lines) { return Seen("GET / HTTP/1.1\r\n" + lines + "\r\n\r\n"); };
  CHECK(with("X: a\nContent-Length: 5") == Lines{"400"});
  CHECK(with("X: a\rContent-Length: 5") == Lines{"400"});
  CHECK(with("Content-Length : 5") == Lines{"400"});
  CHECK(with("Transfer-Encoding : chunked") == Lines{"400"});
  CHECK(with(" Transfer-Encoding: chunked") == Lines{"400"});
  CHECK(with("Transfer-Encoding: chunked\r\nContent-Length: 5") == Lines{"400"});
  CHECK(with("Content-Length: 5\r\nTransfer-Encoding: chunked") == Lines{"400"});
  CHECK(with("Content-Length: 0\r\nContent-Length: 5") == Lines{"400"});
  CHECK(with("Content-Length: 0, 5") == Lines{"400"});
  CHECK(with("Content-Length: +0") == Lines{"400"});
  CHECK(with("Content-Length: 99999999999999999999") == Lines{"400"});
  CHECK(with("Content-Length:") == Lines{"400"});
  CHECK(with("Host: a\x01") == Lines{"400"});
  for (const char* const value : {"gzip", "identity", "xchunked", "chunked, gzip", "", "\r\n chunked"})
    CHECK(with(std::string("Transfer-Encoding: ") + value) == Lines{"413"});
  CHECK(with("Content-Length: 0") == Lines{"GET / keep"});
  CHECK(with("Content-Length: 0\r\nContent-Length: 0") == Lines{"GET / keep"});
}

TEST_CASE("a header that goes on in the next line has a space there") {
  CHECK(Seen("GET / HTTP/1.1\r\nX: a\r\n Host: x\r\n\r\n") == Lines{"GET / keep"});
  CHECK(Seen("GET / HTTP/1.1\r\nHost: a\r\n\tb\r\n\r\n") == Lines{"GET / keep at a b"});
  CHECK(Seen("GET / HTTP/1.1\r\nConnection:\r\n close\r\n\r\n") == Lines{"GET / close"});
}

TEST_CASE("targets") {
  const auto path = [](const std::string& target) {
    return Seen("GET " + target + " HTTP/1.1\r\n\r\n").at(0);
  };
  CHECK(path("/a?b#c") == "GET /a keep");
  CHECK(path("/a://b") == "GET /a://b keep");
  CHECK(path("http://a?b") == "GET / keep");
  CHECK(path("HTTPS://[::1]:9/a") == "GET /a keep");
  for (const char* const wrong :
       {"a", "a:80", "?a", "*", "http://", "http:///a", "http:/a", "://a", "a/b://c", "/a\tb", "/\x7F"})
    CHECK(path(wrong) == "400");
}

TEST_CASE("an incomplete head is kept, and no more than that") {
  RequestParser parser;
  const std::string line = "GET / HTTP/1.1\r\nX: ";
  CHECK(parser.Feed(line) == line.size());
  const size_t rest = RequestParser::kHeadBytes - line.size() - 4;
  for (size_t i = 0; i < rest; ++i) CHECK(parser.Feed("x") == 1);
  CHECK(parser.memory() < 2 * RequestParser::kHeadBytes + 64);
  CHECK(parser.Feed("\r\n\r\nGET") == 4);
  CHECK(parser.state() == State::kReady);
  parser.Next();
  CHECK(parser.memory() < 64);
}

TEST_CASE("targets and heads have their limits") {
  const size_t most = RequestParser::kTargetBytes;
  CHECK(Seen("GET /" + std::string(most - 1, 'a') + " HTTP/1.1\r\n\r\n").at(0).starts_with("GET /aaa"));
  CHECK(Seen("GET /" + std::string(most, 'a') + " HTTP/1.1\r\n\r\n") == Lines{"414"});
  CHECK(Seen("GET /" + std::string(100'000, 'a')) == Lines{"414"});
  CHECK(Seen(std::string(100'000, 'A')) == Lines{"414"});
  const std::string head = "GET / HTTP/1.1\r\nX: ";
  const size_t rest = RequestParser::kHeadBytes - head.size() - 4;
  CHECK(Seen(head + std::string(rest - 1, 'x') + "\r\n\r\n") == Lines{"GET / keep"});
  CHECK(Seen(head + std::string(rest + 1, 'x') + "\r\n\r\n") == Lines{"431"});
  CHECK(Seen(head + std::string(100'000, 'x')) == Lines{"431"});
}

}  // namespace
}  // namespace mayfly::net
