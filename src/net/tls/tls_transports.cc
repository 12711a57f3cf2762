#include "net/tls/tls_transports.h"

#include <cassert>
#include <utility>

namespace mayfly::net {

TlsTransports::TlsTransports(const Heap& heap, uint64_t& bytes, TlsFigures& figures) noexcept
    : blocks_(bytes), shared_{.heap = heap, .bytes = bytes, .figures = figures, .blocks = blocks_} {}

TlsTransports::~TlsTransports() {
  Drop(next_);
  Drop(now_);
}

config::Problem TlsTransports::Prepare(const config::Settings& settings) {
  assert(!prepared());
  const uint64_t before = shared_.OpensslBytes();
  config::Problem problem = TlsContext::Load(settings, next_);
  shared_.bytes += shared_.OpensslBytes() - before;
  return problem;
}

void TlsTransports::Commit() noexcept {
  if (next_ == nullptr) return;
  std::swap(now_, next_);
  shared_.figures.certificate_expires_s = now_->CertificateExpires();
  Drop(next_);
}

void TlsTransports::Abandon() noexcept { Drop(next_); }

// If a connection still has the context, the end of the connection frees it.
void TlsTransports::Drop(std::shared_ptr<const TlsContext>& context) noexcept {
  const uint64_t before = shared_.OpensslBytes();
  context.reset();
  shared_.bytes += shared_.OpensslBytes() - before;
}

std::unique_ptr<Transport> TlsTransports::NewTransport() const {
  assert(now_ != nullptr);
  return std::make_unique<TlsTransport>(now_, shared_);
}

}  // namespace mayfly::net
