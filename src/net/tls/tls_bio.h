// The two ends of OpenSSL's state machine, in memory instead of a socket. OpenSSL reads what a TlsTransport has
// received, and appends what OpenSSL writes to what the transport sends.
#pragma once

#include <openssl/bio.h>

namespace mayfly::net {

class TlsTransport;

// A BIO for this transport, which must outlive it. Null if there is no memory.
BIO* NewTlsBio(TlsTransport& transport) noexcept;

}  // namespace mayfly::net
