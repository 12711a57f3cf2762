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

// Made once, and needed until the process ends.
const BIO_METHOD* Method() noexcept {
  static BIO_METHOD* const kMethod = [] {
    BIO_METHOD* const made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "transport");
    if (made == nullptr) return made;
    BIO_meth_set_read_ex(made, ReadSome);
    BIO_meth_set_write_ex(made, WriteAll);
    BIO_meth_set_ctrl(made, Control);
    BIO_meth_set_create(made, Create);
    return made;
  }();
  return kMethod;
}

}  // namespace

BIO* NewTlsBio(TlsTransport& transport) noexcept {
  const BIO_METHOD* const method = Method();
  BIO* const bio = method == nullptr ? nullptr : BIO_new(method);
  if (bio != nullptr) BIO_set_data(bio, &transport);
  return bio;
}

}  // namespace mayfly::net
