#include "net/client/admission.h"

#include "support/catch.h"

namespace mayfly::net {
namespace {

constexpr Visitor kFromHere{
    .over_unix_socket = false, .from_loopback = true, .clients_before = 0, .clients_max = 2};
constexpr Visitor kFromAfar{
    .over_unix_socket = false, .from_loopback = false, .clients_before = 0, .clients_max = 2};
constexpr Visitor kOverUnixSocket{
    .over_unix_socket = true, .from_loopback = false, .clients_before = 0, .clients_max = 2};

TEST_CASE("protected mode without a password lets in this machine only") {
  const config::Settings settings;
  REQUIRE(settings.protected_mode);
  CHECK(VerdictOn(settings, kFromHere) == Verdict::kWelcome);
  CHECK(VerdictOn(settings, kOverUnixSocket) == Verdict::kWelcome);
  CHECK(VerdictOn(settings, kFromAfar) == Verdict::kProtected);
}

TEST_CASE("a password or protected-mode no lets in everybody") {
  Visitor has_to_log_in = kFromAfar;
  has_to_log_in.needs_no_login = false;
  CHECK(VerdictOn(config::Settings{}, has_to_log_in) == Verdict::kWelcome);
  config::Settings open;
  open.protected_mode = false;
  CHECK(VerdictOn(open, kFromAfar) == Verdict::kWelcome);
}

TEST_CASE("a client above the limit is refused, wherever it comes from") {
  const config::Settings settings;
  Visitor visitor = kFromHere;
  visitor.clients_before = 1;
  CHECK(VerdictOn(settings, visitor) == Verdict::kWelcome);
  visitor.clients_before = 2;
  CHECK(VerdictOn(settings, visitor) == Verdict::kTooMany);
  visitor.from_loopback = false;
  CHECK(VerdictOn(settings, visitor) == Verdict::kTooMany);
}

TEST_CASE("every refusal is one error line") {
  CHECK(RefusalOf(Verdict::kTooMany) == "-ERR max number of clients reached\r\n");
  const std::string_view denied = RefusalOf(Verdict::kProtected);
  CHECK(denied.starts_with("-DENIED "));
  CHECK(denied.find("\r\n") == denied.size() - 2);
}

}  // namespace
}  // namespace mayfly::net
