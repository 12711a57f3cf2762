#include "net/client/admission.h"

#include <cassert>

namespace mayfly::net {

Verdict VerdictOn(const config::Settings& settings, const Visitor& visitor) noexcept {
  if (visitor.clients_before >= visitor.clients_max) return Verdict::kTooMany;
  const bool from_here = visitor.over_unix_socket || visitor.from_loopback;
  if (settings.protected_mode && visitor.needs_no_login && !from_here) return Verdict::kProtected;
  return Verdict::kWelcome;
}

std::string_view RefusalOf(Verdict verdict) noexcept {
  assert(verdict != Verdict::kWelcome);
  if (verdict == Verdict::kTooMany) return "-ERR max number of clients reached\r\n";
  return "-DENIED Mayfly serves only clients of its own machine, because protected-mode is on and there is "
         "no "
         "password. To serve others, do one of these: 1) set a password with the option requirepass; "
         "2) where nobody else can reach the port, send CONFIG SET protected-mode no from this machine, or "
         "3) start with --protected-mode no or the same line in the configuration file.\r\n";
}

}  // namespace mayfly::net
