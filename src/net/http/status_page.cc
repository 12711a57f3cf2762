#include "net/http/status_page.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <openssl/evp.h>

#include "exec/metrics/status_text.h"
#include "net/http/status_files.h"

namespace mayfly::net {
namespace {

// The source in a Content-Security-Policy: 'sha256-...' of the text's bytes, in base64.
std::string SourceOf(std::string_view text) {
  constexpr size_t kDigestBytes = 32;
  std::array<unsigned char, kDigestBytes> digest{};
  std::array<unsigned char, 4 * (kDigestBytes + 2) / 3 + 1> base64{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::runtime_error("cannot compute a SHA-256");
  const int length = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(size));
  return "'sha256-" + std::string(reinterpret_cast<const char*>(base64.data()), static_cast<size_t>(length)) +
         '\'';
}

// Replaces the mark, used once in the page, by `text`.
void Replace(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

// The document with a current summary.
class Document final : public Page {
 public:
  Document(Server& server, std::string_view before, std::string_view after)
      : server_(server), before_(before), after_(after) {}

  bool BuildSome(Now now) override {
    body_.append(before_).append(StatusText(server_, now)).append(after_);
    return false;
  }
  size_t memory() const noexcept override { return body_.capacity(); }
  std::string Take() override { return std::move(body_); }

 private:
  Server& server_;
  const std::string_view before_;
  const std::string_view after_;
  std::string body_;
};

}  // namespace

StatusPage::StatusPage() {
  std::string page(kPageHtml);
  Replace(page, "{{style}}", kPageStyle);
  Replace(page, "{{script}}", kPageScript);
  constexpr std::string_view kSummary = "{{summary}}";
  const size_t at = page.find(kSummary);
  before_summary_ = page.substr(0, at);
  after_summary_ = page.substr(at + kSummary.size());
  headers_ = "Content-Security-Policy: default-src 'none'; script-src " + SourceOf(kPageScript) +
             "; style-src " + SourceOf(kPageStyle) +
             "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n"
             "Referrer-Policy: no-referrer\r\n";
}

std::unique_ptr<Page> StatusPage::Make(Server& server) const {
  return std::make_unique<Document>(server, before_summary_, after_summary_);
}

}  // namespace mayfly::net
