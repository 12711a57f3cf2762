#include "net/tls/tls_transport.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <openssl/err.h>
#include <openssl/x509.h>

#include "net/socket/limits.h"
#include "net/tls/tls_bio.h"

namespace mayfly::net {
namespace {

// More than all replies and the answers to one read: at this size, the client makes TLS answer (changes of keys) without
// reading the answers.
constexpr size_t kUnreadMax = kSealedBytes + kRecordBytes + kReadBufferBytes;

}  // namespace

// While a Measured lives, adds OpenSSL's allocations and frees to ssl_bytes_.
class TlsTransport::Measured {
 public:
  explicit Measured(TlsTransport& transport) noexcept
      : transport_(transport), start_(transport.shared_.OpensslBytes()) {}
  Measured(const Measured&) = delete;
  Measured& operator=(const Measured&) = delete;
  ~Measured() { transport_.ssl_bytes_ += static_cast<int64_t>(transport_.shared_.OpensslBytes() - start_); }

 private:
  TlsTransport& transport_;
  const uint64_t start_;
};

TlsTransport::TlsTransport(std::shared_ptr<const TlsContext> context, const TlsShared& shared) noexcept
    : context_(std::move(context)), shared_(shared), plaintext_(shared.blocks), sending_(shared.blocks) {}

TlsTransport::~TlsTransport() {
  {
    const Measured measured(*this);
    // A session may be resumed even if the client has closed the socket without a word, the usual case.
    if (ssl_ != nullptr && state_ != State::kBroken)
      SSL_set_shutdown(ssl_.get(), SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    ssl_.reset();
    context_.reset();  // perhaps the last use of an old context; the context's memory was counted in `bytes`
  }
  shared_.bytes += static_cast<uint64_t>(ssl_bytes_);
  if (counted_) --shared_.figures.connections;
}

// OpenSSL may meanwhile have dropped sessions of other connections from the context.
size_t TlsTransport::memory() const noexcept {
  const auto ssl_bytes = static_cast<size_t>(std::max(ssl_bytes_, int64_t{0}));
  return sizeof *this + ssl_bytes + plaintext_.memory() + sending_.memory();
}

// ---- from the socket

void TlsTransport::Receive(std::string_view ciphertext) {
  if (state_ == State::kBroken || state_ == State::kEnded) return;
  const Measured measured(*this);
  arriving_ = ciphertext;
  if (ssl_ == nullptr) {
    Begin();
    SSL_set_accept_state(ssl_.get());
  }
  if (state_ == State::kHandshake) Handshake();
  if (state_ == State::kOpen) Decrypt();
  arriving_ = {};
  if (sending_.size() <= kUnreadMax) return;
  problem_ = "it does not read what TLS answers";
  state_ = State::kBroken;
}

void TlsTransport::Begin() {
  ssl_.reset(SSL_new(context_->get()));
  BIO* const bio = ssl_ == nullptr ? nullptr : NewTlsBio(context_->bio_method(), *this);
  if (bio == nullptr) {
    ssl_.reset();
    ERR_clear_error();
    state_ = State::kBroken;
    throw std::bad_alloc();
  }
  SSL_set_bio(ssl_.get(), bio, bio);
}

void TlsTransport::Connect(const std::string& server_name) {
  const Measured measured(*this);
  Begin();
  SSL_set_connect_state(ssl_.get());
  if (!server_name.empty() && SSL_set_tlsext_host_name(ssl_.get(), server_name.c_str()) != 1) {
    Break();
    throw std::bad_alloc();
  }
  Handshake();
}

void TlsTransport::Handshake() {
  ERR_clear_error();
  const int result = SSL_do_handshake(ssl_.get());
  if (result != 1) return Examine(result);
  state_ = State::kOpen;
  TlsFigures& figures = shared_.figures;
  ++figures.handshakes;
  if (SSL_session_reused(ssl_.get()) == 1) ++figures.resumed;
  ++figures.connections;
  counted_ = true;
}

void TlsTransport::Decrypt() {
  ERR_clear_error();
  while (!arriving_.empty() || SSL_pending(ssl_.get()) != 0) {
    std::span<char> room;
    try {
      room = plaintext_.Room();
    } catch (const std::bad_alloc&) {
      state_ = State::kBroken;
      throw;
    }
    size_t size = 0;
    const int result = SSL_read_ex(ssl_.get(), room.data(), room.size(), &size);
    plaintext_.Commit(result == 1 ? size : 0);
    if (result == 1) continue;
    return Examine(result);
  }
}

void TlsTransport::Examine(int result) {
  const int error = SSL_get_error(ssl_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return;
  if (error == SSL_ERROR_ZERO_RETURN) {
    state_ = State::kEnded;
    return;
  }
  const bool no_memory = out_of_memory_ || ERR_GET_REASON(ERR_peek_error()) == ERR_R_MALLOC_FAILURE;
  Break();
  if (no_memory) throw std::bad_alloc();
}

// OpenSSL's texts are constants.
void TlsTransport::Break() noexcept {
  const unsigned long error = ERR_peek_error();
  const char* reason = ERR_reason_error_string(error);
  const long verified = SSL_get_verify_result(ssl_.get());
  refuses_certificate_ = verified != X509_V_OK;
  if (refuses_certificate_) reason = X509_verify_cert_error_string(verified);
  problem_ = reason != nullptr ? reason : "broken";
  ERR_clear_error();
  state_ = State::kBroken;
}

size_t TlsTransport::Read(std::span<char> room) noexcept {
  size_t done = 0;
  while (done < room.size() && !plaintext_.empty()) {
    const std::string_view front = plaintext_.Front();
    const size_t size = std::min(room.size() - done, front.size());
    std::memcpy(room.data() + done, front.data(), size);
    plaintext_.Consume(size);
    done += size;
  }
  return done;
}

size_t TlsTransport::TakeArriving(std::span<char> room) noexcept {
  const size_t size = arriving_.copy(room.data(), room.size());
  arriving_.remove_prefix(size);
  return size;
}

// ---- to the socket

size_t TlsTransport::Write(std::string_view plaintext) {
  const bool open = state_ == State::kOpen || state_ == State::kEnded;
  if (!open || plaintext.empty() || sending_.size() >= kSealedBytes) return 0;
  const Measured measured(*this);
  ERR_clear_error();
  size_t written = 0;
  const int result = SSL_write_ex(ssl_.get(), plaintext.data(), plaintext.size(), &written);
  if (result == 1) return written;
  Examine(result);
  return 0;
}

void TlsTransport::End() {
  if (ssl_ == nullptr || state_ == State::kHandshake || state_ == State::kBroken) return;
  const Measured measured(*this);
  ERR_clear_error();
  const int result = SSL_shutdown(ssl_.get());
  if (result < 0) Examine(result);
}

bool TlsTransport::AddToSend(std::string_view bytes) noexcept {
  try {
    sending_.Append(bytes);
    return true;
  } catch (const std::bad_alloc&) {
    out_of_memory_ = true;
    return false;
  }
}

}  // namespace mayfly::net
