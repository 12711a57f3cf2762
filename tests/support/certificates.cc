#include "support/certificates.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

namespace mayfly::testing {
namespace {

constexpr long kSecondsPerDay = 24 * 60 * 60;

template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const noexcept {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using File = std::unique_ptr<FILE, Free<fclose>>;

void Require(bool condition) {
  if (!condition) throw std::runtime_error("cannot make a certificate");
}

File Open(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode));
  Require(file != nullptr);
  return file;
}

Key MakeKey(const std::string& path) {
  Key key(EVP_EC_gen("P-256"));
  Require(key != nullptr);
  Require(PEM_write_PrivateKey(Open(path, "w").get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return key;
}

// Of `key`, for `name`, into a file; signed by the issuer, or by itself without one.
Certificate Issue(const std::string& path, const std::string& name, EVP_PKEY* key, X509* issuer,
                  EVP_PKEY* issuer_key, long valid_s = kSecondsPerDay) {
  static long serial = 1;
  Certificate made(X509_new());
  Require(made != nullptr);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -kSecondsPerDay);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), valid_s);
  X509_set_pubkey(made.get(), key);
  const auto* const text = reinterpret_cast<const unsigned char*>(name.c_str());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(made.get(), X509_get_subject_name(issuer != nullptr ? issuer : made.get()));
  X509_EXTENSION* const basic = X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints,
                                                    issuer == nullptr ? "CA:TRUE" : "CA:FALSE");
  Require(basic != nullptr && X509_add_ext(made.get(), basic, -1) == 1);
  X509_EXTENSION_free(basic);
  Require(X509_sign(made.get(), issuer_key, EVP_sha256()) != 0);
  Require(PEM_write_X509(Open(path, "w").get(), made.get()) == 1);
  return made;
}

}  // namespace

Certificates::Certificates(const std::string& folder)
    : ca(folder + "/ca.crt"),
      server(folder + "/server.crt"),
      server_key(folder + "/server.key"),
      sealed_key(folder + "/sealed.key"),
      client(folder + "/client.crt"),
      client_key(folder + "/client.key"),
      stranger(folder + "/stranger.crt"),
      stranger_key(folder + "/stranger.key"),
      ca_key_(folder + "/ca.key") {
  const Key root_key = MakeKey(ca_key_);
  const Certificate root = Issue(ca, "a test's CA", root_key.get(), nullptr, root_key.get());
  Renew("localhost");
  const Key own_key = MakeKey(client_key);
  Issue(client, "client", own_key.get(), root.get(), root_key.get());
  const Key other_root_key = MakeKey(stranger_key);
  const Certificate other_root =
      Issue(stranger, "another CA", other_root_key.get(), nullptr, other_root_key.get());
  const Key other_key = MakeKey(stranger_key);
  Issue(stranger, "stranger", other_key.get(), other_root.get(), other_root_key.get());
}

void Certificates::Renew(const std::string& name) const {
  const Key root_key(PEM_read_PrivateKey(Open(ca_key_, "r").get(), nullptr, nullptr, nullptr));
  const Certificate root(PEM_read_X509(Open(ca, "r").get(), nullptr, nullptr, nullptr));
  Require(root_key != nullptr && root != nullptr);
  const Key key = MakeKey(server_key);
  Issue(server, name, key.get(), root.get(), root_key.get());
  const auto* const passphrase = reinterpret_cast<const unsigned char*>(kPassphrase);
  const int size = static_cast<int>(std::strlen(kPassphrase));
  Require(PEM_write_PrivateKey(Open(sealed_key, "w").get(), key.get(), EVP_aes_128_cbc(), passphrase, size,
                               nullptr, nullptr) == 1);
}

void Certificates::Expire() const {
  const Key root_key(PEM_read_PrivateKey(Open(ca_key_, "r").get(), nullptr, nullptr, nullptr));
  const Certificate root(PEM_read_X509(Open(ca, "r").get(), nullptr, nullptr, nullptr));
  const Key key(PEM_read_PrivateKey(Open(server_key, "r").get(), nullptr, nullptr, nullptr));
  Require(root_key != nullptr && root != nullptr && key != nullptr);
  Issue(server, "expired", key.get(), root.get(), root_key.get(), -1);
}

}  // namespace mayfly::testing
