// The language of the command tests: requests run in process, through the real table and executor. The clock
// stands still until the test moves it.
//
//   TEST_CASE_METHOD(CommandTest, "a key vanishes exactly at its deadline") {
//     CHECK(Run({"SET", "k", "v", "PX", "20"}) == Ok());
//     AdvanceTime(19);
//     CHECK(Run({"GET", "k"}) == Bulk("v"));
//     AdvanceTime(1);
//     CHECK(Run({"GET", "k"}) == Null());
//   }
//
// Run sends as one client; Connect adds further clients. AdvanceTime lets time pass as in a server: the
// wheels free what is due. LetTimePass moves only the clock, as if the loop were held up: what is due is not
// freed yet, but must be invisible. At the end of a test every keyspace is validated.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.h"
#include "support/loopless_server.h"
#include "support/reply.h"
#include "support/words.h"

namespace mayfly::testing {

// Records what passes the change point, in the words of Redis's keyspace notifications: "new k", "set k",
// "expire k", "del k in 3" (the database) ...; also "absent k" (a DEL of an absent key), "flushed", "flushed
// app:*" (a namespace), "swapped".
class ChangeLog : public ChangeListener {
 public:
  void OnChange(const Change& change) override;
  std::vector<std::string> Take() { return std::exchange(lines_, {}); }

 private:
  std::vector<std::string> lines_;
};

class TestClient;

// A server without a loop, its clients, and what changed in it.
class TestServer : public LooplessServer {
 public:
  TestServer() { changes.Listen(change_log, {.reasons = ~uint32_t{0}, .effects = true}); }
  ~TestServer() { changes.Unlisten(change_log); }

  // FreeDue; then the clients that it woke run again.
  void TurnWheels();
  // Runs the clients that were woken again, and then what they have sent meanwhile.
  void RunWoken();

  std::vector<TestClient*> clients;  // each adds itself
  ChangeLog change_log;
};

// A client of that server, with the bytes that it sent and that were not answered yet.
class TestClient {
 public:
  explicit TestClient(TestServer& server);
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient();

  // Sends one request and returns its reply; NoReply() if the client has to wait for it.
  Reply Run(const std::vector<std::string>& words);
  // Sends bytes as they are and returns the bytes that came back. An incomplete request waits for more bytes.
  // The parser gets them in a block of exactly their size, so that the sanitizer sees any read beyond it.
  std::string RunRaw(std::string_view bytes);
  // As RunRaw, but reads big arguments straight into blocks of their own, as a connection does.
  std::string RunRawWithBlocks(std::string_view bytes);
  // The replies that came since the last call: to a request that had to wait, or without a request.
  std::vector<Reply> Received() { return TakeReplies(TakeOutput()); }

  // As after HELLO 3 and HELLO 2, but without sending it.
  void UseResp3() { session_.reply.set_version(3); }
  void UseResp2() { session_.reply.set_version(2); }

  Session& session() noexcept { return session_; }
  // Runs the complete requests of the input that waits.
  void Serve();

 private:
  std::string TakeOutput();

  TestServer& server_;
  Session session_;
  std::string input_;
};

class CommandTest {
 public:
  CommandTest();
  ~CommandTest();

  Reply Run(const std::vector<std::string>& words) { return client_.Run(words); }
  std::string RunRaw(std::string_view bytes) { return client_.RunRaw(bytes); }
  void UseResp3() { client_.UseResp3(); }
  void UseResp2() { client_.UseResp2(); }
  TestClient& client() noexcept { return client_; }
  // Another client; lives as long as the test.
  TestClient& Connect();

  // Both clocks advance by `ms`, and the server does what is due.
  void AdvanceTime(uint64_t ms) {
    LetTimePass(ms);
    TurnWheels();
  }
  // Both clocks advance, but the server has not looked at them yet.
  void LetTimePass(uint64_t ms) { server_.clock.AdvanceTime(ms); }
  // Somebody sets the wall clock; monotonic time does not change.
  void StepWallClock(int64_t ms) {
    StepWallClockUnnoticed(ms);
    TurnWheels();
  }
  void StepWallClockUnnoticed(int64_t ms) { server_.clock.StepWall(ms); }
  void TurnWheels() { server_.TurnWheels(); }
  int64_t WallMs() { return server_.clock.Read().wall_ms; }
  // Unix time in ms or s, `from_now` later, as the text of an argument.
  std::string UnixMs(int64_t from_now_ms) { return std::to_string(WallMs() + from_now_ms); }
  std::string UnixSeconds(int64_t from_now_s) { return std::to_string(WallMs() / 1000 + from_now_s); }

  // As if the configuration file had said so: after a requirepass nobody is logged in.
  // REQUIRES: a valid option and value.
  void SetOption(std::string_view name, std::string_view value);
  // As on the command line, for options that no CONFIG SET takes. All others get their defaults.
  void StartWith(std::string_view name, std::string_view value);
  // The changes since the last call, in words.
  std::vector<std::string> TakeChanges() { return server_.change_log.Take(); }
  Stats& stats() noexcept { return server_.stats; }
  Keyspace& keyspace(unsigned index = 0) noexcept { return server_.databases.At(index); }
  TestServer& server() noexcept { return server_; }

 private:
  TestServer server_;
  TestClient client_;
  std::vector<std::unique_ptr<TestClient>> others_;
};

}  // namespace mayfly::testing
