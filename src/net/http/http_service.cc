#include "net/http/http_service.h"

#include <memory>
#include <string>

#include "exec/metrics/metrics_page.h"
#include "exec/metrics/status_json.h"
#include "net/http/status_codes.h"

namespace mayfly::net {
namespace {

constexpr std::string_view kPlain = "text/plain; charset=utf-8";
constexpr std::string_view kMetrics = "text/plain; version=0.0.4; charset=utf-8";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kHtml = "text/html; charset=utf-8";

}  // namespace

HttpClient::Answer HttpService::AnswerTo(const RequestParser::Request& request, bool stopping) const {
  const std::string_view path = request.path;
  if (path == "/metrics")
    return {.status = kOk, .type = kMetrics, .page = std::make_unique<MetricsPage>(server_)};
  if (path == "/livez") return {.status = kOk, .type = kPlain, .body = "alive\n"};
  if (path == "/readyz")
    return {
        .status = stopping ? kUnavailable : kOk, .type = kPlain, .body = stopping ? "stopping\n" : "ready\n"};
  if (path == "/status.json")
    return {.status = kOk, .type = kJson, .page = std::make_unique<StatusJson>(server_, stopping)};
  if (path == "/")
    return {.status = kOk, .type = kHtml, .page = page_.Make(server_), .more_headers = page_.headers()};
  return Refuse(kNotFound);
}

HttpClient::Answer HttpService::Refuse(int status) const {
  std::string body(StatusLineOf(status));
  body += status == kNotFound ? ": there are /metrics, /livez, /readyz, /status.json and /\n" : "\n";
  return {.status = status, .type = kPlain, .body = std::move(body)};
}

}  // namespace mayfly::net
