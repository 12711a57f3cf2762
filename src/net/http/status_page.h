// The status page: one HTML document, put together at the start from the files of net/http/status/. The build embeds
// them.
//
// It loads nothing but /status.json. The Content-Security-Policy allows its own script and style by their SHA-256, and
// nothing else: whatever a key is called, the browser runs nothing of it. Without JavaScript it shows a summary in words,
// which is written for each request.
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

  // The header lines that it has to be sent with.
  std::string_view headers() const noexcept { return headers_; }
  // Borrows this object and the server.
  std::unique_ptr<Page> Make(Server& server) const;

 private:
  std::string before_summary_;
  std::string after_summary_;
  std::string headers_;
};

}  // namespace mayfly::net
