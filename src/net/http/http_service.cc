#include "net/http/http_service.h"

#include <algorithm>
#include <memory>
#include <string>

#include "config/sources/options.h"
#include "exec/metrics/metrics_page.h"
#include "exec/metrics/status_json.h"
#include "net/http/host_rule.h"
#include "net/http/status_codes.h"
#include "server/clients/session.h"
#include "server/figures/link_figures.h"
#include "server/figures/stats.h"

namespace mayfly::net {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kMetrics = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kHtml = "text/html; charset=utf-8";

// Why all writes, or all requests for keys, are refused until somebody acts; "" if they are not. A master without enough
// replicas stays ready: replicas may look for the master by its readiness. A replica that cannot save answers reads.
std::string_view WhyNotReady(const Server& server) noexcept {
  const uint32_t modes = server.modes;
  if ((modes & BitOf(Mode::kUnsaved)) != 0 && !server.link.follows())
    return "writes are refused (MISCONF): the last save has failed, and stop-writes-on-bgsave-error is on\n";
  if ((modes & BitOf(Mode::kNoMaster)) != 0)
    return "requests are refused (MASTERDOWN): the link to the master is down, and replica-serve-stale-data "
           "is off\n";
  return {};
}

}  // namespace

HttpClient::Answer HttpService::AnswerTo(const RequestParser::Request& request, Circumstances now) const {
  const std::string_view path = request.path;
  if (path == "/livez") return {.status = kOk, .type = kPlain, .body = "alive\n"};
  if (path == "/readyz") return Readiness(now.stopping);
  if (now.from_loopback && !IsOwnHost(request.host, server_.options.settings().metrics_hosts))
    return Text(kMisdirected,
                ": this machine's clients ask by an address or as localhost; the option metrics-hosts allows "
                "more names\n");
  if (path == "/metrics")
    return {.status = kOk, .type = kMetrics, .page = std::make_unique<MetricsPage>(server_)};
  if (path == "/status.json")
    return {.status = kOk, .type = kJson, .page = std::make_unique<StatusJson>(server_, now.stopping)};
  if (path == "/")
    return {.status = kOk, .type = kHtml, .page = page_.Make(server_), .more_headers = page_.headers()};
  return Text(kNotFound, ": there are /metrics, /livez, /readyz, /status.json and /\n");
}

HttpClient::Answer HttpService::Readiness(bool stopping) const {
  if (stopping) return {.status = kUnavailable, .type = kPlain, .body = "stopping\n"};
  if (const std::string_view why = WhyNotReady(server_); !why.empty())
    return {.status = kUnavailable, .type = kPlain, .body = std::string(why)};
  const SaveFigures& figures = server_.stats.saves;
  const bool waits = (server_.modes & BitOf(Mode::kLoading)) != 0;
  HttpClient::Answer answer{
      .status = waits ? kUnavailable : kOk, .type = kPlain, .body = waits ? "" : "ready\n"};
  if (!figures.loading) return answer;
  const uint64_t percent =
      figures.load_file_bytes == 0
          ? 0
          : 100 * std::min(figures.load_done_bytes, figures.load_file_bytes) / figures.load_file_bytes;
  answer.body +=
      "loading: " + std::to_string(percent) + " %, " + std::to_string(figures.load_keys) + " keys\n";
  return answer;
}

HttpClient::Answer HttpService::Refuse(int status) const { return Text(status, "\n"); }

HttpClient::Answer HttpService::Text(int status, std::string_view more) const {
  return {.status = status, .type = kPlain, .body = std::string(StatusLineOf(status)).append(more)};
}

}  // namespace mayfly::net
