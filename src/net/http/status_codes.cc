#include "net/http/status_codes.h"

namespace mayfly::net {

std::string_view StatusLineOf(int status) noexcept {
  switch (status) {
    case kOk:
      return "200 OK";
    case kBadRequest:
      return "400 Bad Request";
    case kForbidden:
      return "403 Forbidden";
    case kNotFound:
      return "404 Not Found";
    case kMethodNotAllowed:
      return "405 Method Not Allowed";
    case kBodyTooLarge:
      return "413 Content Too Large";
    case kTargetTooLong:
      return "414 URI Too Long";
    case kMisdirected:
      return "421 Misdirected Request";
    case kHeadTooLarge:
      return "431 Request Header Fields Too Large";
    case kVersionUnknown:
      return "505 HTTP Version Not Supported";
    default:
      return "503 Service Unavailable";
  }
}

// Answers change from one moment to the next, and are meant only for this port's own pages.
std::string WriteHead(const AnswerHead& head) {
  std::string text("HTTP/1.1 ");
  text.append(StatusLineOf(head.status)).append("\r\nContent-Type: ").append(head.type);
  text.append("\r\nContent-Length: ").append(std::to_string(head.body_bytes));
  text += "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n";
  text += "Cross-Origin-Resource-Policy: same-origin\r\n";
  if (head.status == kMethodNotAllowed) text += "Allow: GET, HEAD\r\n";
  text += head.closes ? "Connection: close\r\n" : "Connection: keep-alive\r\n";
  return text.append(head.more).append("\r\n");
}

}  // namespace mayfly::net
