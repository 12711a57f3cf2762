// The status page: one HTML document, put together at the start from the files of net/http/status/. The build embeds these
// files.
//
// The page loads nothing but /status.json. The Content-Security-Policy allows the page's script and style by SHA-256, and
// nothing else: whatever the name of a key, the browser runs nothing of the name. Without JavaScript the page shows a
// summary in words, written for each request.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "exec/metrics/page.h"
#include "server/server.h"

namespace mayfly::net {

class StatusPage {
 public:
  // Throws std::bad_alloc.
  StatusPage();

  // The header lines to be sent with the page.
  std::string_view headers() const noexcept { return headers_; }
  // Borrows this object and the server.
  std::unique_ptr<Page> Make(Server& server) const;

 private:
  std::string before_summary_;
  std::string after_summary_;
  std::string headers_;
};

}  // namespace mayfly::net
