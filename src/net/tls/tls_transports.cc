#include "net/tls/tls_transports.h"

#include <cassert>
#include <utility>

#include <openssl/tls1.h>

#include <arpa/inet.h>
#include <netinet/in.h>

namespace mayfly::net {
namespace {

// TLS tells a server its name, but no address.
bool IsName(const std::string& host) noexcept {
  in6_addr room{};
  return host.size() <= TLSEXT_MAXLEN_host_name && inet_pton(AF_INET, host.c_str(), &room) != 1 &&
         inet_pton(AF_INET6, host.c_str(), &room) != 1;
}

bool ConnectsByTls(const config::Settings& settings) noexcept {
  return settings.tls_replication || settings.tls_cluster;
}

bool IsOver(const TlsContext& context, int64_t now_s) noexcept {
  return context.CertificateExpires() != 0 && context.CertificateExpires() <= now_s;
}

}  // namespace

TlsTransports::TlsTransports(const Heap& heap, uint64_t& bytes, TlsFigures& figures) noexcept
    : blocks_(bytes),
      shared_{.heap = heap, .bytes = bytes, .figures = figures, .blocks = blocks_},
      shared_with_servers_{.heap = heap, .bytes = bytes, .figures = figures_of_servers_, .blocks = blocks_} {}

TlsTransports::~TlsTransports() {
  Drop(next_);
  Drop(now_);
}

bool TlsTransports::Uses(const config::Settings& settings) noexcept {
  return settings.tls_port != 0 || ConnectsByTls(settings);
}

config::Problem TlsTransports::Check(const config::Settings& settings) {
  Contexts contexts;
  return Load(settings, contexts);
}

config::Problem TlsTransports::Prepare(const config::Settings& settings) {
  assert(next_.clients == nullptr && next_.servers == nullptr);
  const uint64_t before = shared_.OpensslBytes();
  Contexts loaded;
  if (config::Problem problem = Load(settings, loaded)) return problem;
  shared_.bytes += shared_.OpensslBytes() - before;
  next_ = std::move(loaded);
  return std::nullopt;
}

config::Problem TlsTransports::Load(const config::Settings& settings, Contexts& contexts) {
  using For = TlsContext::For;
  config::Problem problem;
  if (settings.tls_port != 0) problem = TlsContext::Load(For::kClients, settings, contexts.clients);
  if (!problem && ConnectsByTls(settings))
    problem = TlsContext::Load(For::kServers, settings, contexts.servers);
  return problem;
}

std::vector<std::string> TlsTransports::Warnings(int64_t now_s) const {
  std::vector<std::string> warnings;
  for (const auto& context : {next_.clients, next_.servers}) {
    const bool is_new =
        context != nullptr && !context->warning().empty() &&
        (warnings.empty() || warnings.front() != context->warning());  // both read the same directory
    if (is_new) warnings.push_back(context->warning());
  }
  if (next_.clients != nullptr && IsOver(*next_.clients, now_s))
    warnings.emplace_back(
        "tls-cert-file: the certificate has expired: clients that check it will not connect");
  if (next_.servers != nullptr && IsOver(*next_.servers, now_s))
    warnings.emplace_back(
        "the certificate for other servers (tls-client-cert-file, or tls-cert-file) has expired: those that "
        "ask for it will refuse this server");
  return warnings;
}

void TlsTransports::Commit() noexcept {
  if (next_.clients != nullptr) {
    std::swap(now_.clients, next_.clients);
    shared_.figures.certificate_expires_s = now_.clients->CertificateExpires();
  }
  if (next_.servers != nullptr) std::swap(now_.servers, next_.servers);
  Drop(next_);
}

void TlsTransports::Abandon() noexcept { Drop(next_); }

// If a connection still has the context, the end of the connection frees it.
void TlsTransports::Drop(Contexts& contexts) noexcept {
  const uint64_t before = shared_.OpensslBytes();
  contexts = {};
  shared_.bytes += shared_.OpensslBytes() - before;
}

std::unique_ptr<Transport> TlsTransports::NewTransport() const {
  assert(now_.clients != nullptr);
  return std::make_unique<TlsTransport>(now_.clients, shared_);
}

std::unique_ptr<TlsTransport> TlsTransports::NewTransportTo(const std::string& host) const {
  assert(now_.servers != nullptr);
  auto transport = std::make_unique<TlsTransport>(now_.servers, shared_with_servers_);
  transport->Connect(IsName(host) ? host : std::string());
  return transport;
}

}  // namespace mayfly::net
