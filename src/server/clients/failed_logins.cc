#include "server/clients/failed_logins.h"

#include "server/figures/logged_name.h"

namespace mayfly {
void FailedLogins::Note(Session& session, std::string_view user, uint64_t now_mono_ms, Log* log) noexcept {
  if (session.failed_logins != UINT32_MAX) ++session.failed_logins;
  const uint64_t failures = throttle_.Note(now_mono_ms);
  if (failures == 0 || log == nullptr) return;
  const LoggedName name(user);
  if (failures == 1)
    log->Warning("client ", session.peer, " failed to log in as \"", name.view(), "\"");
  else
    log->Warning(failures, " more failed logins; the last was of client ", session.peer, " as \"",
                 name.view(), "\"");
}

void FailedLogins::Report(uint64_t now_mono_ms, Log* log) noexcept {
  const uint64_t failures = throttle_.Due(now_mono_ms);
  if (failures == 0 || log == nullptr) return;
  log->Warning(failures, failures == 1 ? " more failed login" : " more failed logins");
}

}  // namespace mayfly
