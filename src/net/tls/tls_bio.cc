#include "net/tls/tls_bio.h"

#include <cstddef>

#include "net/tls/tls_transport.h"

namespace mayfly::net {
namespace {

TlsTransport& Of(BIO* bio) noexcept { return *static_cast<TlsTransport*>(BIO_get_data(bio)); }

int ReadSome(BIO* bio, char* room, size_t size, size_t* read) noexcept {
  BIO_clear_retry_flags(bio);
  *read = Of(bio).TakeArriving({room, size});
  if (*read != 0) return 1;
  BIO_set_retry_read(bio);
  return 0;
}

int WriteAll(BIO* bio, const char* bytes, size_t size, size_t* written) noexcept {
  BIO_clear_retry_flags(bio);
  if (!Of(bio).AddToSend({bytes, size})) return 0;
  *written = size;
  return 1;
}

long Control(BIO*, int command, long, void*) noexcept {
  // There is nothing to flush: written bytes wait in the transport to be sent.
  return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0;
}

int Create(BIO* bio) noexcept {
  BIO_set_init(bio, 1);
  return 1;
}

// Nobody looks for a BIO by its type. This is the highest number that BIO_get_new_index would give. It is not called: once it has
// failed for lack of memory, it may fail for ever.
constexpr int kType = BIO_TYPE_SOURCE_SINK | 0xFF;

}  // namespace

TlsBioMethod NewTlsBioMethod() noexcept {
  TlsBioMethod made(BIO_meth_new(kType, "transport"));
  if (made == nullptr) return made;
  BIO_meth_set_read_ex(made.get(), ReadSome);
  BIO_meth_set_write_ex(made.get(), WriteAll);
  BIO_meth_set_ctrl(made.get(), Control);
  BIO_meth_set_create(made.get(), Create);
  return made;
}

BIO* NewTlsBio(const BIO_METHOD& method, TlsTransport& transport) noexcept {
  BIO* const bio = BIO_new(&method);
  if (bio != nullptr) BIO_set_data(bio, &transport);
  return bio;
}

}  // namespace mayfly::net
