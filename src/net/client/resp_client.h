// A client with RESP: connects the socket to the executor and the session.
//
// Input. Received requests run when the turn has read from all clients (Clients::Defer), and the rest is kept
// (net/socket/input.h). The input of a big argument also waits in the kernel while keys are evicted to make room.
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

  // The client's input was run (see Clients::Defer): keeps the rest.
  void AfterRun(const Feed& feed);
  // Runs the input received while the client was parked.
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
  // Also updates input_bytes and input_memory.
  void Account() noexcept override;
  // A parked client waits by its own deadline; a subscriber and a monitor only listen; a replica has its own timeout.
  bool MayBeSilent() const noexcept override {
    return parked != nullptr || Has(Mode::kSubscribed) || Has(Mode::kMonitor) || Has(Mode::kReplica);
  }
  const config::OutputLimit& LimitOfOutput() const noexcept override;
  bool IsStranger() const noexcept override;
  bool IsHeldBack() const noexcept override { return KeepsEnough(); }
  bool MayBeEvicted() const noexcept override { return !no_evict && !Has(Mode::kReplica); }
  std::string_view name() const noexcept override { return peer; }
  std::string_view RefusalOf(Verdict verdict) const noexcept override { return net::RefusalOf(verdict); }

  // Account would book what is booked already.
  bool IsBookedAsIdle() const noexcept;
  // Counts the kept bytes, closes the client if there are too many, and reads on or stops.
  void AfterInput();
  // Closes the client, and returns true, if its waiting requests are larger than client-query-buffer-limit.
  bool EnforceInputLimit();
  bool KeepsEnough() const noexcept { return parked != nullptr && ExceedsParked(); }
  // REQUIRES: the client is parked.
  bool ExceedsParked() const noexcept;

  Input input_;
};

// RESP, plain or over transports made by `transports` (borrowed).
class RespService final : public Service {
 public:
  explicit RespService(const TransportFactory* transports = nullptr) noexcept : transports_(transports) {}
  Connection* NewConnection(Clients& clients, Connection::Kind kind) const override;

 private:
  const TransportFactory* transports_;
};

}  // namespace mayfly::net
