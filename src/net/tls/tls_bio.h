// The two ends of OpenSSL's state machine, in memory instead of a socket. OpenSSL reads the received bytes of a
// TlsTransport, and appends its output to the transport's bytes to send.
#pragma once

#include <openssl/bio.h>

namespace mayfly::net {

class TlsTransport;

// A BIO for this transport. The transport must outlive the BIO. Null if there is no memory.
BIO* NewTlsBio(TlsTransport& transport) noexcept;

}  // namespace mayfly::net
