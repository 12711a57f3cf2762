// A client of the metrics port: requests of HTTP/1 are answered in order by HttpService.
//
//   idle --first byte--> reading --whole request--> answering --all is written--> idle, or the next request
//
// An answer is built in slices of the loop's time that it shares with expiry and eviction (server/sliced_work.h), so that
// clients of the cache never wait longer for it than for those. While it is built or written nothing more is read: a
// client holds one answer at most, and kRoomBytes of input.
//
// Time. Each of the three states has its limit (net/socket/limits.h), after which the connection is closed: a request that comes
// byte by byte, an answer that is read byte by byte, and a connection that is kept for nothing. Of the connections that
// wait between two requests, the idlest gives way when its port is full and another client comes.
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
  // What is to be answered: a text, or a page that is built first.
  struct Answer {
    int status;
    std::string_view type;
    std::unique_ptr<Page> page = nullptr;  // null: `body` stands already
    std::string body = {};
    std::string_view more_headers = {};
  };

  // Borrows the service. Throws std::bad_alloc.
  HttpClient(Clients& all, Kind kind, const HttpService& service);

  // ---- as a Connection
  bool is_observer() const noexcept override { return true; }
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
  // Reads the next request, if it may. True if it has written the answer itself, because the request is none.
  bool ReadNext();
  // The answer is whole: it waits to be written.
  void Finish();
  void Write(const Answer& answer, bool head_only);
  void EnterStage();

  const HttpService& service_;
  OutputChain output_;
  RequestParser parser_;
  std::optional<Answer> answer_;  // that is being built
  std::string_view unread_;       // in room_
  std::string peer_;
  uint64_t stage_since_mono_ms_ = 0;
  Stage stage_ = Stage::kIdle;
  bool asked_ = false;  // one request at least has come
  bool last_ = false;   // after what waits to be written, the connection ends
  bool sends_no_more_ = false;
  std::array<char, kRoomBytes> room_;
};

}  // namespace mayfly::net
