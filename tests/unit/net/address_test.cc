#include "net/socket/address.h"

#include <string>

#include "support/catch.h"

namespace mayfly::net {
namespace {

sockaddr_storage Only(const std::string& host, uint16_t port = 6379) {
  std::string problem;
  const std::vector<sockaddr_storage> found = ResolveHost(host, port, problem);
  REQUIRE(found.size() == 1);
  return found[0];
}
const sockaddr& AsAddress(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr&>(storage);
}

TEST_CASE("addresses are written with their port, IPv6 in brackets") {
  CHECK(FormatAddress(AsAddress(Only("127.0.0.1"))) == "127.0.0.1:6379");
  CHECK(FormatAddress(AsAddress(Only("::1", 80))) == "[::1]:80");
  CHECK(FormatAddress(AsAddress(Only("*"))) == "0.0.0.0:6379");
  CHECK(FormatAddress(AsAddress(Only("::*"))) == "[::]:6379");
  const sockaddr_storage nothing{};
  CHECK(FormatAddress(AsAddress(nothing)) == "?:0");
}

TEST_CASE("all of 127.0.0.0/8 and ::1 are this machine, however they are written") {
  CHECK(IsLoopback(AsAddress(Only("127.0.0.1"))));
  CHECK(IsLoopback(AsAddress(Only("127.255.0.9"))));
  CHECK(IsLoopback(AsAddress(Only("::1"))));
  CHECK(IsLoopback(AsAddress(Only("::ffff:127.0.0.1"))));
  CHECK_FALSE(IsLoopback(AsAddress(Only("10.0.0.1"))));
  CHECK_FALSE(IsLoopback(AsAddress(Only("128.0.0.1"))));
  CHECK_FALSE(IsLoopback(AsAddress(Only("::ffff:10.0.0.1"))));
  CHECK_FALSE(IsLoopback(AsAddress(Only("fe80::1"))));
  CHECK_FALSE(IsLoopback(AsAddress(Only("::"))));
}

TEST_CASE("sockets collide on one port of one host, and those of all hosts of a family with each of them") {
  CHECK(IsSame(Only("*"), Only("0.0.0.0")));
  CHECK(IsSame(Only("::1"), Only("0:0:0:0:0:0:0:1")));
  CHECK_FALSE(IsSame(Only("127.0.0.1"), Only("127.0.0.1", 80)));
  CHECK_FALSE(IsSame(Only("127.0.0.1"), Only("::ffff:127.0.0.1")));
  CHECK_FALSE(IsSame(Only("127.0.0.1"), Only("*")));
  CHECK(Collide(Only("127.0.0.1"), Only("127.0.0.1")));
  CHECK(Collide(Only("127.0.0.1"), Only("*")));
  CHECK(Collide(Only("::*"), Only("::1")));
  CHECK_FALSE(Collide(Only("127.0.0.1"), Only("127.0.0.2")));
  CHECK_FALSE(Collide(Only("127.0.0.1"), Only("*", 80)));
  CHECK_FALSE(Collide(Only("*"), Only("::*")));
  CHECK(IsSame(WithoutPort(Only("::1")), Only("::1", 0)));
  CHECK(IsSame(WithoutPort(Only("127.0.0.1")), Only("127.0.0.1", 0)));
}

TEST_CASE("a text that is no address is refused with a reason") {
  std::string problem;
  CHECK(ResolveHost("300.1.2.3.4", 1, problem).empty());
  CHECK_FALSE(problem.empty());
}

}  // namespace
}  // namespace mayfly::net
