// TLS as a Transport: OpenSSL's state machine between received ciphertext and ciphertext to send. A TlsTransport has no
// socket of its own.
//
//   Receive -> arriving_ -> SSL_accept, SSL_read -> plaintext_ -> Read
//   ToSend <- sending_ <- SSL_write, handshake, alerts <- Write
//
// A BIO of our own (tls_bio.h) hands OpenSSL what Receive got, where it lies, and appends what OpenSSL writes to
// sending_. What arrives is decrypted at once; OpenSSL itself keeps no more than an unfinished record.
//
// Memory. Nothing is made before the first bytes come. A connection at rest holds OpenSSL's state and no buffer. What
// OpenSSL allocates is measured at the allocator around each call. A session stays in the context's cache when its
// connection is gone, so what is left then counts as the server's (TlsShared::bytes).
//
// Ownership: a connection owns its transport, which shares the context and borrows TlsShared. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include <openssl/ssl.h>

#include "base/memory/heap.h"
#include "net/socket/transport.h"
#include "net/tls/block_queue.h"
#include "net/tls/tls_context.h"
#include "server/figures/stats.h"

namespace mayfly::net {

// What the transports of a server share. It outlives them.
struct TlsShared {
  // What OpenSSL holds on this thread, beyond some constant; always 0 under the sanitizers, where nobody counts.
  uint64_t OpensslBytes() const noexcept {
#ifdef MAYFLY_SANITIZE
    return 0;
#else
    return heap.ThreadBytes() - blocks.memory();
#endif
  }

  const Heap& heap;     // counts what the thread allocates
  uint64_t& bytes;      // what OpenSSL holds beyond any connection
  TlsFigures& figures;  // for INFO
  BlockPool& blocks;    // of all their queues
};

class TlsTransport final : public Transport {
 public:
  // `shared` is borrowed.
  TlsTransport(std::shared_ptr<const TlsContext> context, const TlsShared& shared) noexcept;
  ~TlsTransport() override;

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

  // ---- for its BIO
  // Moves up to room.size() bytes of what has arrived.
  size_t TakeArriving(std::span<char> room) noexcept;
  // False if there is no memory for them.
  bool AddToSend(std::string_view bytes) noexcept;

 private:
  class Measured;
  struct Free {
    void operator()(SSL* ssl) const noexcept { SSL_free(ssl); }
  };

  void Begin();
  void Handshake();
  void Decrypt();
  // What a call that did not succeed means. Throws std::bad_alloc if that is it.
  void Examine(int result);
  void Break() noexcept;

  std::shared_ptr<const TlsContext> context_;
  const TlsShared& shared_;
  std::unique_ptr<SSL, Free> ssl_;  // null until something has arrived
  int64_t ssl_bytes_ = 0;           // what OpenSSL holds for it
  std::string_view arriving_;
  BlockQueue plaintext_;
  BlockQueue sending_;
  const char* problem_ = "";
  State state_ = State::kHandshake;
  bool out_of_memory_ = false;
  bool counted_ = false;  // as one of TlsFigures::connections
};

}  // namespace mayfly::net
