// The language of the command tests: requests through the real table and executor, in process, by a clock
// that stands still until the test moves it.
//
//   TEST_CASE_METHOD(CommandTest, "a key vanishes exactly at its deadline") {
//     CHECK(Run({"SET", "k", "v", "PX", "20"}) == Ok());
//     AdvanceTime(19);
//     CHECK(Run({"GET", "k"}) == Bulk("v"));
//     AdvanceTime(1);
//     CHECK(Run({"GET", "k"}) == Null());
//   }
//
// Run is one client; Connect gives more of them. Time: AdvanceTime is what the server lives through, wheels
// and all. LetTimePass moves the clock alone, as if the loop had been held up: what is due has not been freed
// yet, and must be invisible all the same. When a test ends, every keyspace is validated.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include "support/loopless_server.h"
#include "support/reply.h"

namespace mayfly::testing {

// Writes down what passes the change point: "set k", "deleted k", "expired k", "flushed" ...
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
  TestServer() { changes.Listen(change_log, ~uint32_t{0}); }
  ~TestServer() { changes.Unlisten(change_log); }

  // FreeDue, and whoever waited for that runs again.
  void TurnWheels();
  // Runs again whoever was woken, and then what such a client had sent meanwhile.
  void RunWoken();

  std::vector<TestClient*> clients;  // each adds itself
  ChangeLog change_log;
};

// One client of it, with the bytes that it sent and did not get an answer for yet.
class TestClient {
 public:
  explicit TestClient(TestServer& server);
  TestClient(const TestClient&) = delete;
  TestClient& operator=(const TestClient&) = delete;
  ~TestClient();

  // Sends one request and gives its reply; NoReply() where the client has to wait for it.
  Reply Run(const std::vector<std::string>& words);
  // Sends bytes as they are and gives the bytes that came back. What is no whole request waits for more. Each
  // piece is shown to the parser in a block of its own size, so that the sanitizer sees any read beyond it.
  std::string RunRaw(std::string_view bytes);
  // As RunRaw, but as a connection that reads big arguments straight into blocks of their own.
  std::string RunRawWithBlocks(std::string_view bytes);
  // The replies that came since, to a request that had to wait or without any request.
  std::vector<Reply> Received() { return TakeReplies(TakeOutput()); }

  // As after HELLO 3 and HELLO 2, whatever HELLO does.
  void UseResp3() { session_.reply.set_version(3); }
  void UseResp2() { session_.reply.set_version(2); }

  Session& session() noexcept { return session_; }
  // Runs what is whole of the input that waits.
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

  // Both clocks go on by `ms`, and the server does what is due.
  void AdvanceTime(uint64_t ms) {
    LetTimePass(ms);
    TurnWheels();
  }
  // Both clocks go on, but the server has not come round to look at them.
  void LetTimePass(uint64_t ms) { server_.clock.AdvanceTime(ms); }
  // Somebody sets the wall clock; time goes on as before.
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

  // As CONFIG SET. REQUIRES: a valid option and value.
  void SetOption(std::string_view name, std::string_view value);
  // What passed the change point since the last call, in words.
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
