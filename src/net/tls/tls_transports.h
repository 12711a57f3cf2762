// Makes the TLS transports of a server, with the certificates and rules of the options.
//
// A change takes two steps: Prepare loads the files into a context of their own, and Commit puts it in force for the
// connections that come from now on, or Abandon drops it. Connections that exist keep theirs.
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
  // Borrows all. `bytes` gets what all of TLS holds beyond its connections, `figures` what INFO says of it.
  TlsTransports(const Heap& heap, uint64_t& bytes, TlsFigures& figures) noexcept;
  ~TlsTransports() override;

  // Loads what these settings name. A problem is one line for a person, with OpenSSL's reason. Once until Commit or
  // Abandon.
  [[nodiscard]] config::Problem Prepare(const config::Settings& settings);
  bool prepared() const noexcept { return next_ != nullptr; }
  // What is probably wrong with it, for the log; empty if nothing is. REQUIRES: prepared().
  const std::string& warning() const noexcept { return next_->warning(); }
  // When its certificate expires, in seconds of Unix time; 0: that cannot be read. REQUIRES: prepared().
  int64_t CertificateExpires() const noexcept { return next_->CertificateExpires(); }
  // Without Prepare, these do nothing.
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
