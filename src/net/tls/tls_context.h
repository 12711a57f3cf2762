// The shared TLS settings of a server's connections: certificate, key, CAs, protocols, ciphers and resumable sessions. Made from
// the options and their files; constant afterwards, but for the sessions.
//
// A context is either for clients of this server, whose certificates tls-auth-clients may ask for, or for servers that this
// server connects to. Their certificates are always verified with the same CAs, as in Redis: chain and dates, but not the
// host's name.
//
// Shared by the connections made with the context: these connections keep the context when CONFIG SET or SIGHUP has made
// another. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <openssl/ssl.h>

#include "config/problem.h"
#include "config/settings.h"
#include "net/tls/tls_bio.h"

namespace mayfly::net {

class TlsContext {
 public:
  enum class For : uint8_t { kClients, kServers };

  // Loads the files named in the options into `context`. A problem is one line for a person, with OpenSSL's reason.
  [[nodiscard]] static config::Problem Load(For others, const config::Settings& settings,
                                            std::shared_ptr<const TlsContext>& context);

  // When the own certificate expires, in seconds of Unix time; 0: unreadable, or there is none.
  int64_t CertificateExpires() const noexcept { return certificate_expires_s_; }
  // A probable mistake in the loaded files, one line for a person; empty for none.
  const std::string& warning() const noexcept { return warning_; }
  // Borrowed.
  SSL_CTX* get() const noexcept { return context_.get(); }
  // For the BIOs of the connections. REQUIRES: loaded.
  const BIO_METHOD& bio_method() const noexcept { return *bio_method_; }

 private:
  struct Free {
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };

  // The options of a certificate and its key.
  struct Identity;

  config::Problem SetUp(For others, const config::Settings& settings);
  config::Problem SetProtocols(const config::Settings& settings);
  config::Problem CheckProtocols() const;
  config::Problem SetCiphers(const config::Settings& settings);
  config::Problem LoadOwnCertificate(const config::Settings& settings);
  config::Problem LoadCertificateForServers(const config::Settings& settings);
  config::Problem LoadIdentity(const Identity& identity);
  config::Problem LoadDhParameters(const std::string& path);
  config::Problem LoadCertificatesOfCas(const config::Settings& settings);
  config::Problem SetClientVerification(const config::Settings& settings);
  config::Problem SetServerVerification(const config::Settings& settings);
  void SetSessions(const config::Settings& settings) noexcept;

  TlsBioMethod bio_method_ = NewTlsBioMethod();
  std::unique_ptr<SSL_CTX, Free> context_;
  int64_t certificate_expires_s_ = 0;
  std::string warning_;
};

}  // namespace mayfly::net
