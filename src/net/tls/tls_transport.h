// TLS as a Transport: OpenSSL's state machine between received ciphertext and ciphertext to send. A TlsTransport has no
// socket.
//
//   Receive -> arriving_ -> handshake, SSL_read -> plaintext_ -> Read
//   ToSend <- sending_ <- SSL_write, handshake, alerts <- Write
//
// Our own BIO (tls_bio.h) hands the bytes from Receive to OpenSSL, in place, and appends OpenSSL's output to sending_.
// Received bytes are decrypted at once; OpenSSL itself keeps at most an unfinished record.
//
// A transport is the server's end of a connection, unless Connect has made it the client's end.
//
// Memory. A server's end makes nothing before the first bytes come. A connection at rest holds OpenSSL's state and no buffer. OpenSSL's
// memory is measured at the allocator around each call. A session stays in the context's cache when its connection is gone,
// and the remaining memory then counts as the server's (TlsShared::bytes).
//
// Ownership: a connection owns its transport; the transport shares the context and borrows TlsShared. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

#include "base/memory/heap.h"
#include "net/socket/transport.h"
#include "net/tls/block_queue.h"
#include "net/tls/tls_context.h"
#include "server/figures/stats.h"

namespace mayfly::net {

// The shared parts of a server's transports. TlsShared outlives the transports.
struct TlsShared {
  // OpenSSL's memory on this thread, plus some constant; always 0 under the sanitizers, where memory is not counted.
  uint64_t OpensslBytes() const noexcept {
#ifdef MAYFLY_SANITIZE
    return 0;
#else
    return heap.ThreadBytes() - blocks.memory();
#endif
  }

  const Heap& heap;     // counts the thread's allocations
  uint64_t& bytes;      // OpenSSL's memory beyond all connections
  TlsFigures& figures;  // for INFO
  BlockPool& blocks;    // for all queues of the transports
};

class TlsTransport final : public Transport {
 public:
  // `shared` is borrowed.
  TlsTransport(std::shared_ptr<const TlsContext> context, const TlsShared& shared) noexcept;
  ~TlsTransport() override;

  // Begins the handshake as the client of a server with this name, or of one without a name (""). Throws std::bad_alloc, and
  // the transport is then useless. REQUIRES: nothing was received, and the context is for servers.
  void Connect(const std::string& server_name);
  // kBroken, because the peer's certificate is not valid.
  bool RefusesCertificate() const noexcept { return refuses_certificate_; }

  State state() const noexcept override { return state_; }
  std::string_view Problem() const noexcept override { return problem_; }
  size_t memory() const noexcept override;
  void Receive(std::string_view ciphertext) override;
  bool HasPlaintext() const noexcept override { return !plaintext_.empty(); }
  size_t Read(std::span<char> room) noexcept override;
  size_t Write(std::string_view plaintext) override;
  void End() override;
  std::string_view ToSend() noexcept override { return sending_.Front(); }
  void Sent(size_t n) noexcept override { sending_.Consume(n); }

  // ---- for the transport's BIO
  // Moves up to room.size() received bytes.
  size_t TakeArriving(std::span<char> room) noexcept;
  // False if there is no memory for the bytes.
  bool AddToSend(std::string_view bytes) noexcept;

 private:
  class Measured;
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };

  void Begin();
  void Handshake();
  void Decrypt();
  // Handles the failure of a call. Throws std::bad_alloc if memory is the reason.
  void Examine(int result);
  void Break() noexcept;

  std::shared_ptr<const TlsContext> context_;
  const TlsShared& shared_;
  std::unique_ptr<SSL, Free> ssl_;  // null until bytes have arrived, or Connect
  int64_t ssl_bytes_ = 0;           // OpenSSL's memory for this connection
  std::string_view arriving_;
  BlockQueue plaintext_;
  BlockQueue sending_;
  const char* problem_ = "";
  State state_ = State::kHandshake;
  bool out_of_memory_ = false;
  bool refuses_certificate_ = false;
  bool counted_ = false;  // as one of TlsFigures::connections
};

}  // namespace mayfly::net
