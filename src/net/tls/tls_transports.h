// Makes the TLS transports of a server, with the certificates and rules of the options: those of its clients, and those of its
// connections to other servers.
//
// A change takes two steps: Prepare loads the files into new contexts, and Commit puts the contexts in force for later
// connections, or Abandon drops the contexts. Existing connections keep theirs.
//
// Ownership: outlives its transports. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

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

  // Whether the options ask for any TLS; if not, files may be named one after the other, as in Redis.
  static bool Uses(const config::Settings& settings) noexcept;
  // Whether Prepare would succeed.
  [[nodiscard]] static config::Problem Check(const config::Settings& settings);
  // Loads the files named in these settings, as far as they are used. A problem is one line for a person, with OpenSSL's reason.
  // Called once until Commit or Abandon.
  [[nodiscard]] config::Problem Prepare(const config::Settings& settings);
  // Probable mistakes in what is prepared, at this Unix time, for the log.
  std::vector<std::string> Warnings(int64_t now_s) const;
  // Without Prepare, Commit and Abandon do nothing.
  void Commit() noexcept;
  void Abandon() noexcept;

  // For a client. REQUIRES: a context is in force.
  std::unique_ptr<Transport> NewTransport() const override;
  // For a connection to this server, by a name or a numeric address; the handshake has begun. Throws std::bad_alloc.
  // REQUIRES: a context for servers is in force.
  std::unique_ptr<TlsTransport> NewTransportTo(const std::string& host) const;

 private:
  struct Contexts {
    std::shared_ptr<const TlsContext> clients;  // null: none
    std::shared_ptr<const TlsContext> servers;  // null: none
  };

  static config::Problem Load(const config::Settings& settings, Contexts& contexts);
  void Drop(Contexts& contexts) noexcept;

  BlockPool blocks_;
  TlsFigures figures_of_servers_;  // INFO shows those of clients only
  const TlsShared shared_;
  const TlsShared shared_with_servers_;
  Contexts now_;
  Contexts next_;
};

}  // namespace mayfly::net
