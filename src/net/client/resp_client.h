// A client with RESP: connects the socket to the executor and the session.
//
// Input. What has come is run when the turn has read from all clients (Clients::Defer), and what has not run is kept
// (net/socket/input.h). The input of a big argument waits in the kernel also while keys are evicted to make room for it.
//
// Memory: an idle client holds neither tail nor chunk. Loop thread only.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "exec/dispatch/batch.h"
#include "net/client/connection.h"
#include "net/client/service.h"
#include "net/socket/input.h"
#include "server/clients/session.h"

namespace mayfly::net {

class RespClient final : public Session, public Connection {
 public:
  // Throws std::bad_alloc.
  RespClient(Clients& clients, Kind kind, std::unique_ptr<Transport> transport);

  static RespClient& Of(Session& session) noexcept { return static_cast<RespClient&>(session); }

  // What it sent was run (see Clients::Defer): keeps the rest.
  void AfterRun(const Feed& feed);
  // Runs what it sent while it was parked.
  void Resume();

  // ---- as a Connection
  void Flush() override;
  std::span<char> LendInput() override;
  void TakeInput(std::span<const char> bytes) override;

 private:
  ~RespClient() override = default;

  const ReadCalls& read_calls() const noexcept override;
  void OnAccept(Addresses&& addresses) noexcept override;
  void OnOpen() override;
  void OnFullRead(size_t size) override;
  bool TakeEnd() override;
  void OnStop() noexcept override { Set(Mode::kEnding); }
  void OnLeave() noexcept override;
  // Keeps input_bytes and input_memory right, too.
  void Account() noexcept override;
  // A client that is parked waits by its own deadline; a subscriber and a monitor only listen.
  bool MayBeSilent() const noexcept override {
    return parked != nullptr || Has(Mode::kSubscribed) || Has(Mode::kMonitor);
  }
  const config::OutputLimit& LimitOfOutput() const noexcept override;
  bool IsStranger() const noexcept override;
  bool IsHeldBack() const noexcept override { return KeepsEnough(); }
  bool MayBeEvicted() const noexcept override { return !no_evict; }
  std::string_view name() const noexcept override { return peer; }
  std::string_view RefusalOf(Verdict verdict) const noexcept override { return net::RefusalOf(verdict); }

  // Counts what is kept, closes the client if that is too much, and reads on or not.
  void AfterInput();
  // Closes the client if its requests that have not run are more than client-query-buffer-limit. Returns whether they are.
  bool EnforceInputLimit();
  bool KeepsEnough() const noexcept { return parked != nullptr && ExceedsParked(); }
  // REQUIRES: it is parked.
  bool ExceedsParked() const noexcept;

  Input input_;
};

// RESP, plain or over the transports that `transports` makes (borrowed).
class RespService final : public Service {
 public:
  explicit RespService(const TransportFactory* transports = nullptr) noexcept : transports_(transports) {}
  Connection* NewConnection(Clients& clients, Connection::Kind kind) const override;

 private:
  const TransportFactory* transports_;
};

}  // namespace mayfly::net
