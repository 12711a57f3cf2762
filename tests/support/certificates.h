// Certificates for tests of TLS: a CA, what it has signed, and what another one has signed. Made anew by each test with
// OpenSSL's library, as PEM files in a folder that the test owns.
#pragma once

#include <string>

namespace mayfly::testing {

struct Certificates {
  static constexpr const char* kPassphrase = "open sesame";

  // Writes the files into this folder.
  explicit Certificates(const std::string& folder);
  // Replaces the server's certificate by another of this CA, for `name`, and its key.
  void Renew(const std::string& name) const;
  // Replaces the server's certificate by one that has expired.
  void Expire() const;

  std::string ca;
  std::string server, server_key;      // for "localhost"
  std::string sealed_key;              // the same key, encrypted with kPassphrase
  std::string client, client_key;      // for "client"
  std::string stranger, stranger_key;  // for "stranger", signed by a CA that nobody trusts

 private:
  std::string ca_key_;
};

}  // namespace mayfly::testing
