#include "server/failed_logins.h"

namespace mayfly {
namespace {

// A user's name as it may stand between quotes in a line of the log. Takes no memory: see Log.
class LoggedName {
 public:
  explicit LoggedName(std::string_view name) noexcept {
    for (const char c : name.substr(0, kMostBytes)) {
      const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\';
      text_[size_++] = plain ? c : '?';
    }
    if (name.size() <= kMostBytes) return;
    constexpr std::string_view kMore = "...";
    size_ += kMore.copy(text_.data() + size_, kMore.size());
  }
  std::string_view view() const noexcept { return {text_.data(), size_}; }

 private:
  static constexpr size_t kMostBytes = 32;
  static constexpr size_t kRoom = kMostBytes + 3;

  std::array<char, kRoom> text_{};
  size_t size_ = 0;
};

}  // namespace

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

void FailedLogins::Advance(uint64_t now_mono_ms, Log* log) noexcept {
  const uint64_t failures = throttle_.Due(now_mono_ms);
  if (failures == 0 || log == nullptr) return;
  log->Warning(failures, failures == 1 ? " more failed login" : " more failed logins");
}

}  // namespace mayfly
