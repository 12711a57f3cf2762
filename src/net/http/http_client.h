// A client of the metrics port: requests of HTTP/1 are answered in order by HttpService.
//
//   idle --first byte--> reading --whole request--> answering --all is written--> idle, or the next request
//
// An answer is built in slices shared with expiry and eviction (server/sliced_work.h): clients of the cache never wait
// longer for an answer than for those. While an answer is built or written nothing more is read: a client holds at most one
// answer, and kRoomBytes of input.
//
// Time. Each of the three states has a limit (net/socket/limits.h), and the connection is closed after the limit: against
// requests sent byte by byte, answers read byte by byte, and connections kept without use. If the port is full and another
// client comes, the connection that has waited longest between two requests gives way.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/memory/output.h"
#include "exec/metrics/page.h"
#include "net/client/connection.h"
#include "net/http/request_parser.h"
#include "server/sliced_work.h"

namespace mayfly::net {

class HttpService;

class HttpClient final : private SlicedWork::Step, public Connection {
 public:
  // The answer to a request: a text, or a page to be built first.
  struct Answer {
    int status;
    std::string_view type;
    std::unique_ptr<Page> page = nullptr;  // null: `body` is ready
    std::string body = {};
    std::string_view more_headers = {};
  };

  // Borrows the service. Throws std::bad_alloc.
  HttpClient(Clients& all, Kind kind, const HttpService& service);

  // ---- as a Connection
  bool is_scraper() const noexcept override { return true; }
  uint64_t SpareSince() const noexcept override;
  std::span<char> LendInput() override { return room_; }
  void TakeInput(std::span<const char> bytes) override;
  void Flush() override;

 private:
  enum class Stage : uint8_t { kIdle, kReading, kAnswering };
  static constexpr size_t kRoomBytes = 2048;

  ~HttpClient() override = default;

  const ReadCalls& read_calls() const noexcept override;
  void OnAccept(Addresses&& addresses) noexcept override { peer_ = std::move(addresses.peer); }
  void OnOpen() override;
  bool TakeEnd() override;
  void OnStop() noexcept override;
  void OnLeave() noexcept override;
  void Account() noexcept override;
  uint64_t SilentUntil() const noexcept override;
  const config::OutputLimit& LimitOfOutput() const noexcept override;
  std::string_view name() const noexcept override { return peer_; }
  std::string_view RefusalOf(Verdict verdict) const noexcept override;

  bool DoSome(Now now, size_t budget) noexcept override;
  // Reads the next request, if allowed. True if ReadNext has written an error itself, because the input is no request.
  bool ReadNext();
  // The answer is complete and waits to be written.
  void Finish();
  void Write(const Answer& answer, bool head_only);
  void EnterStage();

  const HttpService& service_;
  OutputChain output_;
  RequestParser parser_;
  std::optional<Answer> answer_;  // the answer being built
  std::string_view unread_;       // in room_
  std::string peer_;
  uint64_t stage_since_mono_ms_ = 0;
  Stage stage_ = Stage::kIdle;
  bool asked_ = false;  // at least one request has come
  bool last_ = false;   // the connection ends after the waiting output
  std::array<char, kRoomBytes> room_;
};

}  // namespace mayfly::net
