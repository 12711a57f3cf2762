// The client's end of a TLS connection that has no socket: OpenSSL over two memory BIOs. What it wants to send is taken
// from it, and what it is to receive is given to it, in whatever pieces a test likes.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include <openssl/ssl.h>

namespace mayfly::net {

class TlsPeer {
 public:
  struct Start {
    int version = 0;               // TLS1_2_VERSION ...; 0: any
    std::string certificate = {};  // with `key`: paths
    std::string key = {};
    bool tickets = true;
    std::string host = {};           // SNI
    SSL_SESSION* session = nullptr;  // to resume; borrowed
    std::string ciphers = {};        // of TLS 1.2; empty: OpenSSL's
    std::string suites = {};         // of TLS 1.3; empty: OpenSSL's
  };

  TlsPeer() : TlsPeer(Start{}) {}
  explicit TlsPeer(const Start& start) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_min_proto_version(context_.get(), start.version);
    SSL_CTX_set_max_proto_version(context_.get(), start.version);
    if (!start.ciphers.empty()) SSL_CTX_set_cipher_list(context_.get(), start.ciphers.c_str());
    if (!start.suites.empty()) SSL_CTX_set_ciphersuites(context_.get(), start.suites.c_str());
    if (!start.tickets) SSL_CTX_set_options(context_.get(), SSL_OP_NO_TICKET);
    SSL_CTX_set_session_cache_mode(context_.get(), SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context_.get(), [](SSL* ssl, SSL_SESSION* session) {
      static_cast<TlsPeer*>(SSL_get_app_data(ssl))->session_.reset(session);
      return 1;  // it is ours now
    });
    if (!start.certificate.empty()) {
      SSL_CTX_use_certificate_file(context_.get(), start.certificate.c_str(), SSL_FILETYPE_PEM);
      SSL_CTX_use_PrivateKey_file(context_.get(), start.key.c_str(), SSL_FILETYPE_PEM);
    }
    ssl_.reset(SSL_new(context_.get()));
    SSL_set_app_data(ssl_.get(), this);
    SSL_set_bio(ssl_.get(), BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    if (!start.host.empty()) SSL_set_tlsext_host_name(ssl_.get(), start.host.c_str());
    if (start.session != nullptr) SSL_set_session(ssl_.get(), start.session);
    SSL_set_connect_state(ssl_.get());
    Turn();
  }

  // Goes on with the handshake, or reads what has come.
  void Turn() {
    if (!open()) SSL_do_handshake(ssl_.get());
    if (!open()) return;
    char room[20'000];
    size_t size = 0;
    while (SSL_read_ex(ssl_.get(), room, sizeof room, &size) == 1) received.append(room, size);
  }
  void Receive(std::string_view ciphertext) {
    BIO_write(SSL_get_rbio(ssl_.get()), ciphertext.data(), static_cast<int>(ciphertext.size()));
    Turn();
  }
  void Write(std::string_view plaintext) {
    if (SSL_write(ssl_.get(), plaintext.data(), static_cast<int>(plaintext.size())) !=
        static_cast<int>(plaintext.size()))
      throw std::runtime_error("the client cannot write");
  }
  void End() { SSL_shutdown(ssl_.get()); }
  // What it sends.
  std::string Take() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(SSL_get_wbio(ssl_.get()), &bytes);
    std::string taken(bytes, static_cast<size_t>(size));
    static_cast<void>(BIO_reset(SSL_get_wbio(ssl_.get())));
    return taken;
  }
  bool open() const noexcept { return SSL_is_init_finished(ssl_.get()) == 1; }
  bool ended() const noexcept { return (SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }
  bool resumed() const noexcept { return SSL_session_reused(ssl_.get()) == 1; }
  std::string cipher() const { return SSL_get_cipher_name(ssl_.get()); }
  std::string version() const { return SSL_get_version(ssl_.get()); }
  // What it may resume later; null if the server has given nothing.
  SSL_SESSION* session() const noexcept { return session_.get(); }
  SSL* ssl() noexcept { return ssl_.get(); }
  std::string received;

 private:
  template <auto kFree>
  struct Free {
    template <typename T>
    void operator()(T* object) const noexcept {
      kFree(object);
    }
  };
  std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>> context_;
  std::unique_ptr<SSL_SESSION, Free<SSL_SESSION_free>> session_;
  std::unique_ptr<SSL, Free<SSL_free>> ssl_;
};

}  // namespace mayfly::net
