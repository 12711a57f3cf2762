// The service of the metrics port: its pages and their requests. It answers:
//
//   /metrics      Prometheus's text (exec/metrics/metrics_page.h)
//   /livez        200 while the loop turns
//   /readyz       200 while clients are served, also while a file is loaded, with the progress; 503 with the reason while
//                 clients wait for a file (load-mode wait), while every write gets MISCONF or every read MASTERDOWN, and
//                 once the server stops
//   /             the status page; /status.json, polled by the page's script (exec/metrics/status_json.h)
//
// Clients of this machine get answers only under one of the machine's own names (host_rule.h). Probes are answered under any
// name: probes tell nothing.
//
// Clients of the metrics port are scrapers: scrapers take no place of maxclients, and are answered while the server stops,
// until the other clients are gone. Lives as long as the loop. Loop thread only.
#pragma once

#include "net/client/service.h"
#include "net/http/http_client.h"
#include "net/http/status_page.h"
#include "net/socket/limits.h"

namespace mayfly::net {

class HttpService final : public Service {
 public:
  // Borrows the server. Throws std::bad_alloc.
  explicit HttpService(Server& server) : server_(server) {}

  Connection* NewConnection(Clients& clients, Connection::Kind kind) const override {
    return new HttpClient(clients, kind, *this);
  }
  size_t scrapers_max() const noexcept override { return kHttpClientsMax; }

  struct Circumstances {
    bool stopping = false;
    bool from_loopback = false;  // a browser of this machine may be misled (host_rule.h)
  };
  HttpClient::Answer AnswerTo(const RequestParser::Request& request, Circumstances now) const;
  // The answer to input that is no request.
  HttpClient::Answer Refuse(int status) const;

 private:
  HttpClient::Answer Readiness(bool stopping) const;
  HttpClient::Answer Text(int status, std::string_view more) const;

  Server& server_;
  const StatusPage page_;
};

}  // namespace mayfly::net
