#include "net/tls/tls_context.h"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <openssl/decoder.h>
#include <openssl/err.h>
#include <openssl/x509.h>

#include "base/text/ascii.h"
#include "config/words.h"

namespace mayfly::net {
namespace {

// Another server with the same keys does not accept these sessions.
constexpr std::string_view kSessionPurpose = "mayfly";

// The first error noted by OpenSSL since the last call: the first error is the cause, later errors name the callers.
std::string Reason() {
  const unsigned long error = ERR_peek_error();
  ERR_clear_error();
  if (error == 0) return "unknown error";
  if (ERR_GET_REASON(error) == ERR_R_MALLOC_FAILURE) throw std::bad_alloc();
  if (ERR_SYSTEM_ERROR(error)) return std::strerror(ERR_GET_REASON(error));
  const char* const reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "error " + std::to_string(error);
}

std::string CannotLoad(std::string_view option, const std::string& path) {
  const std::string reason = Reason();
  return std::string(option) + ": cannot load " + config::Printable(path) + ": " + reason;
}

struct Passphrase {
  std::string text;
  bool asked_for = false;  // the key's file is encrypted
};

// Gives the passphrase of the key's file; without a passphrase OpenSSL must not ask the terminal.
int GivePassphrase(char* room, int size, int, void* asked) noexcept {
  auto& passphrase = *static_cast<Passphrase*>(asked);
  passphrase.asked_for = true;
  const std::string& text = passphrase.text;
  if (static_cast<size_t>(size) < text.size()) return -1;
  text.copy(room, text.size());
  return static_cast<int>(text.size());
}

const char* PathOrNull(const std::string& path) noexcept { return path.empty() ? nullptr : path.c_str(); }

// "5ed36f99.0": a hash of the subject, and a number.
bool IsHashedName(std::string_view name) noexcept {
  constexpr size_t kDigits = 8;
  if (name.size() < kDigits + 2 || name[kDigits] != '.') return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return std::all_of(name.begin(), name.begin() + kDigits, [](char c) { return HexDigit(c) >= 0; }) &&
         std::all_of(name.begin() + kDigits + 1, name.end(), is_digit);
}

int64_t ExpiryOf(const X509* certificate) noexcept {
  tm utc{};
  if (certificate == nullptr || ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &utc) != 1) return 0;
  return timegm(&utc);
}

struct FreeKey {
  void operator()(EVP_PKEY* key) const noexcept { EVP_PKEY_free(key); }
};
struct FreeDecoder {
  void operator()(OSSL_DECODER_CTX* decoder) const noexcept { OSSL_DECODER_CTX_free(decoder); }
};
struct FreeBio {
  void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};

}  // namespace

struct TlsContext::Identity {
  std::string_view certificate_option;
  const std::string& certificate;
  std::string_view key_option;
  const std::string& key;
  const std::string& passphrase;  // of the option with the key's name and "-pass"
};

config::Problem TlsContext::Load(For others, const config::Settings& settings,
                                 std::shared_ptr<const TlsContext>& context) {
  ERR_clear_error();
  const auto made = std::make_shared<TlsContext>();
  made->context_.reset(SSL_CTX_new(others == For::kClients ? TLS_server_method() : TLS_client_method()));
  if (made->get() == nullptr || made->bio_method_ == nullptr) return "TLS cannot be set up: " + Reason();
  if (config::Problem problem = made->SetUp(others, settings)) return problem;
  ERR_clear_error();
  context = made;
  return std::nullopt;
}

config::Problem TlsContext::SetUp(For others, const config::Settings& settings) {
  SSL_CTX_set_options(get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_SINGLE_DH_USE);
  // A connection at rest keeps no buffers. One call of SSL_write makes at most one record.
  SSL_CTX_set_mode(
      get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  config::Problem problem = SetProtocols(settings);
  if (!problem) problem = SetCiphers(settings);
  if (!problem) problem = CheckProtocols();
  if (others == For::kServers) {
    if (!problem) problem = LoadCertificateForServers(settings);
    if (!problem) problem = SetServerVerification(settings);
    SSL_CTX_set_session_cache_mode(get(), SSL_SESS_CACHE_OFF);
    return problem;
  }
  if (!problem) problem = LoadOwnCertificate(settings);
  if (!problem) problem = SetClientVerification(settings);
  if (!problem) SetSessions(settings);
  return problem;
}

config::Problem TlsContext::SetProtocols(const config::Settings& settings) {
  struct Version {
    std::string_view name;
    uint64_t ban;
  };
  constexpr Version kVersions[] = {{"TLSv1", SSL_OP_NO_TLSv1},
                                   {"TLSv1.1", SSL_OP_NO_TLSv1_1},
                                   {"TLSv1.2", SSL_OP_NO_TLSv1_2},
                                   {"TLSv1.3", SSL_OP_NO_TLSv1_3}};
  constexpr uint64_t kOld = SSL_OP_NO_TLSv1 | SSL_OP_NO_TLSv1_1;
  uint64_t banned = kOld;
  if (!settings.tls_protocols.empty()) {
    for (const Version& version : kVersions) banned |= version.ban;
    for (const std::string& word : config::SplitAtSpaces(settings.tls_protocols)) {
      const auto* const found =
          std::find_if(std::begin(kVersions), std::end(kVersions),
                       [&](const Version& version) { return SameIgnoringCase(version.name, word); });
      if (found == std::end(kVersions))
        return "tls-protocols: unknown protocol " + config::Printable(word) +
               "; a combination of TLSv1, TLSv1.1, TLSv1.2 and TLSv1.3 is possible";
      banned &= ~found->ban;
    }
  }
  SSL_CTX_set_options(get(), banned);
  return std::nullopt;
}

// Tests whether a client can connect at all. TLS 1.1 and older need hashes allowed only on OpenSSL's lowest level of
// security (possible by tls-ciphers: @SECLEVEL=0), and the system's openssl.cnf may set a least version.
config::Problem TlsContext::CheckProtocols() const {
  const uint64_t banned = SSL_CTX_get_options(get());
  const auto allowed = [banned](uint64_t ban) { return (banned & ban) == 0; };
  if (allowed(SSL_OP_NO_TLSv1_2) || allowed(SSL_OP_NO_TLSv1_3)) return std::nullopt;
  const int newest = allowed(SSL_OP_NO_TLSv1_1) ? TLS1_1_VERSION
                     : allowed(SSL_OP_NO_TLSv1) ? TLS1_VERSION
                                                : 0;
  const auto least = static_cast<int>(SSL_CTX_get_min_proto_version(get()));
  if (newest != 0 && SSL_CTX_get_security_level(get()) == 0 && least <= newest) return std::nullopt;
  return "tls-protocols: without TLSv1.2 and TLSv1.3 nobody could connect, because OpenSSL's settings here "
         "allow "
         "nothing older";
}

config::Problem TlsContext::SetCiphers(const config::Settings& settings) {
  if (!settings.tls_ciphers.empty() && SSL_CTX_set_cipher_list(get(), settings.tls_ciphers.c_str()) != 1)
    return "tls-ciphers: " + Reason();
  if (!settings.tls_ciphersuites.empty() &&
      SSL_CTX_set_ciphersuites(get(), settings.tls_ciphersuites.c_str()) != 1)
    return "tls-ciphersuites: " + Reason();
  if (settings.tls_prefer_server_ciphers) SSL_CTX_set_options(get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  return std::nullopt;
}

config::Problem TlsContext::LoadOwnCertificate(const config::Settings& settings) {
  if (settings.tls_cert_file.empty()) return "tls-cert-file: TLS needs a certificate, and none is given";
  if (settings.tls_key_file.empty()) return "tls-key-file: TLS needs a private key, and none is given";
  config::Problem problem = LoadIdentity({.certificate_option = "tls-cert-file",
                                          .certificate = settings.tls_cert_file,
                                          .key_option = "tls-key-file",
                                          .key = settings.tls_key_file,
                                          .passphrase = settings.tls_key_file_pass});
  if (!problem && !settings.tls_dh_params_file.empty())
    problem = LoadDhParameters(settings.tls_dh_params_file);
  return problem;
}

// As in Redis, the certificate and the key for servers count only together. A server that asks for no certificate is content
// without one.
config::Problem TlsContext::LoadCertificateForServers(const config::Settings& settings) {
  const bool has_certificate = !settings.tls_client_cert_file.empty();
  const bool has_key = !settings.tls_client_key_file.empty();
  if (has_certificate && has_key)
    return LoadIdentity({.certificate_option = "tls-client-cert-file",
                         .certificate = settings.tls_client_cert_file,
                         .key_option = "tls-client-key-file",
                         .key = settings.tls_client_key_file,
                         .passphrase = settings.tls_client_key_file_pass});
  if (has_certificate) warning_ = "tls-client-cert-file has no effect without tls-client-key-file";
  if (has_key) warning_ = "tls-client-key-file has no effect without tls-client-cert-file";
  if (settings.tls_cert_file.empty() || settings.tls_key_file.empty()) return std::nullopt;
  return LoadIdentity({.certificate_option = "tls-cert-file",
                       .certificate = settings.tls_cert_file,
                       .key_option = "tls-key-file",
                       .key = settings.tls_key_file,
                       .passphrase = settings.tls_key_file_pass});
}

config::Problem TlsContext::LoadIdentity(const Identity& identity) {
  Passphrase passphrase{.text = identity.passphrase};
  SSL_CTX_set_default_passwd_cb(get(), GivePassphrase);
  SSL_CTX_set_default_passwd_cb_userdata(get(), &passphrase);
  config::Problem problem;
  if (SSL_CTX_use_certificate_chain_file(get(), identity.certificate.c_str()) != 1) {
    problem = CannotLoad(identity.certificate_option, identity.certificate);
  } else if (SSL_CTX_use_PrivateKey_file(get(), identity.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    problem = CannotLoad(identity.key_option, identity.key);
    if (passphrase.asked_for)
      problem->append(" (it is encrypted: ").append(identity.key_option).append("-pass is its passphrase)");
  }
  SSL_CTX_set_default_passwd_cb_userdata(get(), nullptr);
  SSL_CTX_set_default_passwd_cb(get(), nullptr);
  if (!problem) certificate_expires_s_ = ExpiryOf(SSL_CTX_get0_certificate(get()));
  return problem;
}

config::Problem TlsContext::LoadDhParameters(const std::string& path) {
  const std::unique_ptr<BIO, FreeBio> file(BIO_new_file(path.c_str(), "r"));
  EVP_PKEY* read = nullptr;
  const std::unique_ptr<OSSL_DECODER_CTX, FreeDecoder> decoder(OSSL_DECODER_CTX_new_for_pkey(
      &read, "PEM", nullptr, "DH", OSSL_KEYMGMT_SELECT_DOMAIN_PARAMETERS, nullptr, nullptr));
  const bool well =
      file != nullptr && decoder != nullptr && OSSL_DECODER_from_bio(decoder.get(), file.get()) == 1;
  std::unique_ptr<EVP_PKEY, FreeKey> parameters(read);
  if (!well || SSL_CTX_set0_tmp_dh_pkey(get(), parameters.get()) != 1)
    return CannotLoad("tls-dh-params-file", path);
  static_cast<void>(parameters.release());  // now owned by the context
  return std::nullopt;
}

// OpenSSL reads a directory when the other side shows a certificate, and does not complain about an empty directory.
config::Problem TlsContext::LoadCertificatesOfCas(const config::Settings& settings) {
  const std::string& file = settings.tls_ca_cert_file;
  const std::string& directory = settings.tls_ca_cert_dir;
  if (!directory.empty()) {
    // Not std::filesystem's iterator, which ends the process when memory runs out.
    const auto close = [](DIR* names) { closedir(names); };
    const std::unique_ptr<DIR, decltype(close)> names(opendir(directory.c_str()), close);
    if (names == nullptr)
      return "tls-ca-cert-dir: cannot read " + config::Printable(directory) + ": " +
             std::generic_category().message(errno);
    bool any = false;
    while (const dirent* const entry = any ? nullptr : readdir(names.get()))
      any = IsHashedName(entry->d_name);
    if (!any)
      warning_ = "tls-ca-cert-dir: " + config::Printable(directory) +
                 " has no certificate under a name that openssl rehash gives: no certificate is valid by it";
  }
  if (file.empty() && directory.empty()) return std::nullopt;
  if (SSL_CTX_load_verify_locations(get(), PathOrNull(file), PathOrNull(directory)) == 1) return std::nullopt;
  return file.empty() ? CannotLoad("tls-ca-cert-dir", directory) : CannotLoad("tls-ca-cert-file", file);
}

config::Problem TlsContext::SetClientVerification(const config::Settings& settings) {
  using config::TlsAuthClients;
  if (config::Problem problem = LoadCertificatesOfCas(settings)) return problem;
  const std::string& file = settings.tls_ca_cert_file;
  const bool has_ca = !file.empty() || !settings.tls_ca_cert_dir.empty();
  if (settings.tls_auth_clients == TlsAuthClients::kNo) return std::nullopt;
  if (!has_ca)
    return "tls-auth-clients: clients' certificates cannot be verified without tls-ca-cert-file or "
           "tls-ca-cert-dir; with \"no\" clients need none";
  // A client with several certificates chooses by the names of these CAs.
  if (STACK_OF(X509_NAME)* const names = file.empty() ? nullptr : SSL_load_client_CA_file(file.c_str()))
    SSL_CTX_set_client_CA_list(get(), names);
  const bool required = settings.tls_auth_clients == TlsAuthClients::kYes;
  SSL_CTX_set_verify(get(), SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), nullptr);
  return std::nullopt;
}

config::Problem TlsContext::SetServerVerification(const config::Settings& settings) {
  if (config::Problem problem = LoadCertificatesOfCas(settings)) return problem;
  if (settings.tls_ca_cert_file.empty() && settings.tls_ca_cert_dir.empty())
    return "tls-replication and tls-cluster: other servers' certificates cannot be verified without "
           "tls-ca-cert-file or tls-ca-cert-dir";
  SSL_CTX_set_verify(get(), SSL_VERIFY_PEER, nullptr);
  return std::nullopt;
}

// A client of TLS 1.3, or of 1.2 with tickets, keeps its session itself, sealed with a key of this context. Other clients'
// sessions are in the cache.
void TlsContext::SetSessions(const config::Settings& settings) noexcept {
  SSL_CTX* const ctx = get();
  const auto* const purpose = reinterpret_cast<const unsigned char*>(kSessionPurpose.data());
  SSL_CTX_set_session_id_context(ctx, purpose, kSessionPurpose.size());
  if (!settings.tls_session_caching) {
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    SSL_CTX_set_num_tickets(ctx, 0);
    return;
  }
  SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_SERVER);
  SSL_CTX_sess_set_cache_size(ctx, static_cast<long>(settings.tls_session_cache_size));
  SSL_CTX_set_timeout(ctx, static_cast<long>(settings.tls_session_cache_timeout_seconds));
  SSL_CTX_set_num_tickets(ctx, 1);
}

}  // namespace mayfly::net
