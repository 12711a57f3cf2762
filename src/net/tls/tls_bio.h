// The two ends of OpenSSL's state machine, in memory instead of a socket. OpenSSL reads the received bytes of a
// TlsTransport, and appends its output to the transport's bytes to send.
#pragma once

#include <memory>

#include <openssl/bio.h>

namespace mayfly::net {

class TlsTransport;

struct FreeBioMethod {
  void operator()(BIO_METHOD* method) const noexcept { BIO_meth_free(method); }
};
// The functions that OpenSSL calls for such a BIO.
using TlsBioMethod = std::unique_ptr<BIO_METHOD, FreeBioMethod>;

// Null if there is no memory.
TlsBioMethod NewTlsBioMethod() noexcept;

// A BIO for this transport. The method and the transport must outlive the BIO. Null if there is no memory.
BIO* NewTlsBio(const BIO_METHOD& method, TlsTransport& transport) noexcept;

}  // namespace mayfly::net
