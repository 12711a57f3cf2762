// Makes the TLS transports of a server, with the certificates and rules of the options.
//
// A change takes two steps: Prepare loads the files into a new context, and Commit puts the context in force for later
// connections, or Abandon drops the context. Existing connections keep theirs.
//
// Ownership: outlives its transports. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/memory/heap.h"
#include "config/problem.h"
#include "config/settings.h"
#include "net/socket/transport.h"
#include "net/tls/block_queue.h"
#include "net/tls/tls_context.h"
#include "net/tls/tls_transport.h"

namespace mayfly::net {

class TlsTransports final : public TransportFactory {
 public:
  // Borrows all arguments. `bytes` gets the memory of TLS beyond its connections, `figures` the figures for INFO.
  TlsTransports(const Heap& heap, uint64_t& bytes, TlsFigures& figures) noexcept;
  ~TlsTransports() override;

  // Loads the files named in these settings. A problem is one line for a person, with OpenSSL's reason. Called once until
  // Commit or Abandon.
  [[nodiscard]] config::Problem Prepare(const config::Settings& settings);
  bool prepared() const noexcept { return next_ != nullptr; }
  // A probable mistake in the prepared context, for the log; empty for none. REQUIRES: prepared().
  const std::string& warning() const noexcept { return next_->warning(); }
  // When the prepared certificate expires, in seconds of Unix time; 0: unreadable. REQUIRES: prepared().
  int64_t CertificateExpires() const noexcept { return next_->CertificateExpires(); }
  // Without Prepare, Commit and Abandon do nothing.
  void Commit() noexcept;
  void Abandon() noexcept;

  // REQUIRES: a context is in force.
  std::unique_ptr<Transport> NewTransport() const override;

 private:
  void Drop(std::shared_ptr<const TlsContext>& context) noexcept;

  BlockPool blocks_;
  const TlsShared shared_;
  std::shared_ptr<const TlsContext> now_;
  std::shared_ptr<const TlsContext> next_;
};

}  // namespace mayfly::net
