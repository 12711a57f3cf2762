// Clients that fail to log in: what they are answered, and when; what the log says about them.
#include "server/clients/failed_logins.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "server/acl/users.h"
#include "support/command_test.h"
#include "support/long_text.h"

namespace mayfly::testing {
namespace {

const Reply kWrong = Error("WRONGPASS invalid username-password pair or user is disabled.");
const std::string kWrongLine = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";

class LoginTest : public CommandTest {
 public:
  LoginTest() {
    SetOption("requirepass", "secret");
    client().session().LogIn(&server().server.users.default_user());
  }

  // The guest fails that many times; time passes where it has to wait.
  void Fail(int times) {
    for (int i = 0; i < times; ++i) {
      if (guest.Run({"AUTH", "wrong"}) == kWrong) continue;
      AdvanceTime(FailedLogins::kLongestWaitMs);
      REQUIRE(guest.Received() == std::vector<Reply>{kWrong});
    }
  }
  // How long a guest waits that has just sent a request which was not answered at once.
  uint64_t WaitOf(TestClient& waiting, const Reply& answer) {
    for (uint64_t ms = 1; ms <= 2 * FailedLogins::kLongestWaitMs; ++ms) {
      AdvanceTime(1);
      const std::vector<Reply> received = waiting.Received();
      if (received.empty()) continue;
      CHECK(received == std::vector<Reply>{answer});
      return ms;
    }
    return 0;
  }
  int64_t InfoNumber(const std::string& field) {
    const std::string text = Run({"INFO", "everything"}).text;
    const size_t at = text.find("\r\n" + field + ':');
    return at == std::string::npos ? -1 : std::stoll(text.substr(at + field.size() + 3));
  }

  TestClient& guest = Connect();
};

// The same with a log.
class LoginLogTest : public LoginTest {
 public:
  LoginLogTest() {
    std::ofstream(path_, std::ios::trunc).flush();
    guest.session().peer = "10.0.0.1:5";
    server().server.log = &log_;
  }
  ~LoginLogTest() { std::filesystem::remove(path_); }

  // What the lines say that were written since the last call, without their dates.
  std::vector<std::string> TakeLog() {
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line.substr(line.find(" # ") + 3));
    std::filesystem::resize_file(path_, 0);
    return lines;
  }

 private:
  std::string path_ =
      std::filesystem::temp_directory_path() / ("mayfly-login-test-" + std::to_string(getpid()));
  Log log_{server().clock, Log::Level::kWarning, path_};
};

}  // namespace

// ---- waiting

TEST_CASE_METHOD(LoginTest, "a client that fails three times is answered at once") {
  CHECK(guest.Run({"AUTH", "wrong"}) == kWrong);
  CHECK(guest.Run({"HELLO", "3", "AUTH", "default", "wrong"}) == kWrong);
  CHECK(guest.Run({"AUTH", "nobody", "secret"}) == kWrong);
}

TEST_CASE_METHOD(LoginTest, "a client that fails again and again waits longer each time, up to a second") {
  Fail(3);
  for (const uint64_t wait_ms : {100, 200, 400, 800, 1000, 1000, 1000}) {
    CHECK(guest.Run({"AUTH", "wrong"}) == NoReply());
    CHECK(WaitOf(guest, kWrong) == wait_ms);
  }
}

TEST_CASE("the wait has its bound after any number of failures") {
  CHECK(FailedLogins::WaitMs(0) == 0);
  CHECK(FailedLogins::WaitMs(2) == 0);
  CHECK(FailedLogins::WaitMs(3) == FailedLogins::kFirstWaitMs);
  for (const uint32_t failures : {50U, 67U, 1'000'000U, UINT32_MAX})
    CHECK(FailedLogins::WaitMs(failures) == FailedLogins::kLongestWaitMs);
}

TEST_CASE_METHOD(LoginTest, "a right password waits as a wrong one does, then lets in and clears the count") {
  Fail(5);
  CHECK(guest.Run({"AUTH", "secret"}) == NoReply());
  AdvanceTime(399);
  CHECK(guest.Received().empty());
  AdvanceTime(1);
  CHECK(guest.Received() == std::vector<Reply>{Ok()});
  CHECK(guest.Run({"GET", "k"}) == Null());
  for (int i = 0; i < 3; ++i) CHECK(guest.Run({"AUTH", "wrong"}) == kWrong);
}

TEST_CASE_METHOD(LoginTest, "a hundred failed logins in one pipeline are each answered, in order") {
  CHECK(guest.RunRaw(Repeat("AUTH wrong\r\n", 100) + "AUTH secret\r\nPING\r\n") == Repeat(kWrongLine, 3));
  for (int i = 3; i < 100; ++i) {
    AdvanceTime(FailedLogins::kLongestWaitMs);
    CHECK(guest.Received() == std::vector<Reply>{kWrong});
  }
  AdvanceTime(FailedLogins::kLongestWaitMs);
  CHECK(guest.Received() == std::vector<Reply>{Ok(), Simple("PONG")});
  CHECK(InfoNumber("acl_access_denied_auth") == 100);
}

TEST_CASE_METHOD(LoginTest, "nobody else waits, not even a client of the same address") {
  Fail(10);
  CHECK(guest.Run({"AUTH", "wrong"}) == NoReply());
  TestClient& neighbour = Connect();
  neighbour.session().peer = guest.session().peer;
  CHECK(neighbour.Run({"AUTH", "secret"}) == Ok());
  CHECK(neighbour.Run({"SET", "k", "v"}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(LoginTest, "HELLO AUTH waits as AUTH does, and then takes effect") {
  Fail(3);
  CHECK(guest.Run({"HELLO", "3", "AUTH", "default", "wrong"}) == NoReply());
  CHECK(WaitOf(guest, kWrong) == 100);
  CHECK(guest.Run({"HELLO", "3", "AUTH", "default", "secret", "SETNAME", "me"}) == NoReply());
  CHECK(guest.session().names().name.empty());
  AdvanceTime(200);
  const std::vector<Reply> replies = guest.Received();
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].kind == Reply::Kind::kMap);
  CHECK(guest.session().names().name == "me");
}

TEST_CASE_METHOD(LoginTest, "requests that try no password are answered at once") {
  Fail(10);
  CHECK(guest.Run({"GET", "k"}) == Error("NOAUTH Authentication required."));
  CHECK(guest.Run({"AUTH", "a", "b", "c"}) == Error("ERR syntax error"));
  CHECK(guest.Run({"HELLO", "4"}) == Error("NOPROTO unsupported protocol version"));
  CHECK(guest.Run({"RESET"}) == Simple("RESET"));
}

TEST_CASE_METHOD(LoginTest, "RESET does not clear the count") {
  Fail(3);
  CHECK(guest.Run({"RESET"}) == Simple("RESET"));
  CHECK(guest.Run({"AUTH", "wrong"}) == NoReply());
  CHECK(WaitOf(guest, kWrong) == 100);
}

TEST_CASE_METHOD(LoginTest, "a delayed login is no blocked client: CLIENT UNBLOCK does not end its wait") {
  Fail(3);
  CHECK(guest.Run({"AUTH", "wrong"}) == NoReply());
  CHECK(InfoNumber("blocked_clients") == 0);
  const std::string id = std::to_string(guest.session().id);
  CHECK(Run({"CLIENT", "LIST", "ID", id}).text.find(" flags=N ") != std::string::npos);
  for (const char* how : {"TIMEOUT", "ERROR"}) CHECK(Run({"CLIENT", "UNBLOCK", id, how}) == Integer(0));
  CHECK(WaitOf(guest, kWrong) == 100);
}

TEST_CASE_METHOD(LoginTest, "a delayed login that is woken too early goes on waiting") {
  Fail(3);
  CHECK(guest.Run({"AUTH", "wrong"}) == NoReply());
  AdvanceTime(99);
  server().parking.Wake(*guest.session().parked, WakeReason::kReady);
  TurnWheels();
  CHECK(guest.Received().empty());
  CHECK(InfoNumber("blocked_clients") == 0);
  CHECK(WaitOf(guest, kWrong) == 1);
}

TEST_CASE_METHOD(LoginTest, "a delayed login may be killed, or its client may leave") {
  Fail(3);
  CHECK(guest.Run({"AUTH", "wrong"}) == NoReply());
  CHECK(Run({"CLIENT", "KILL", "ID", std::to_string(guest.session().id)}) == Integer(1));
  CHECK(guest.session().Has(Mode::kDropped));
  server().parking.Leave(guest.session());
  CHECK(server().parking.size() == 0);
  CHECK(server().parking.blocked() == 0);
  AdvanceTime(1000);
  CHECK(guest.Received().empty());
}

TEST_CASE_METHOD(LoginTest,
                 "a login that began to wait before a pause is answered in it; a later one begins after it") {
  Fail(3);
  CHECK(guest.RunRaw("AUTH wrong\r\nAUTH wrong\r\n").empty());
  Run({"CLIENT", "PAUSE", "500"});
  CHECK(WaitOf(guest, kWrong) == 100);
  AdvanceTime(400);
  AdvanceTime(199);
  CHECK(guest.Received().empty());
  AdvanceTime(1);
  CHECK(guest.Received() == std::vector<Reply>{kWrong});
}

TEST_CASE_METHOD(LoginTest, "without a password nobody waits") {
  SetOption("requirepass", "");
  for (int i = 0; i < 20; ++i) CHECK(guest.Run({"AUTH", "somebody", "x"}) == kWrong);
  CHECK(guest.Run({"AUTH", "default", "x"}) == Ok());
  CHECK(InfoNumber("acl_access_denied_auth") == 20);
}

TEST_CASE_METHOD(LoginTest, "a password that is taken away while a login waits is needed no more") {
  Fail(3);
  CHECK(guest.Run({"AUTH", "default", "wrong"}) == NoReply());
  SetOption("requirepass", "");
  CHECK(WaitOf(guest, Ok()) == 100);
}

TEST_CASE_METHOD(LoginTest, "a delayed login counts as one call") {
  Fail(3);
  CHECK(guest.Run({"AUTH", "wrong"}) == NoReply());
  AdvanceTime(100);
  CHECK(Run({"INFO", "commandstats"}).text.find("cmdstat_auth:calls=4,") != std::string::npos);
  CHECK(guest.session().commands == 4);
}

// ---- the log

TEST_CASE_METHOD(LoginLogTest,
                 "the first failed login is logged at once, with address and user, never with the password") {
  guest.Run({"AUTH", "wrong"});
  CHECK(TakeLog() == std::vector<std::string>{"client 10.0.0.1:5 failed to log in as \"default\""});
}

TEST_CASE_METHOD(LoginLogTest, "further failed logins are logged as a sum, once in ten seconds") {
  guest.Run({"HELLO", "2", "AUTH", "root", "wrong"});
  CHECK(TakeLog().size() == 1);
  for (int i = 0; i < 1000; ++i) Connect().Run({"AUTH", "wrong"});
  CHECK(TakeLog().empty());
  AdvanceTime(FailedLogins::kLogMs - 1);
  CHECK(TakeLog().empty());
  AdvanceTime(1);
  CHECK(TakeLog() == std::vector<std::string>{"1000 more failed logins"});
  AdvanceTime(10 * FailedLogins::kLogMs);
  CHECK(TakeLog().empty());
  CHECK(server().server.failed_logins.NextWake() == FailedLogins::kNever);
  guest.Run({"AUTH", "wrong"});
  CHECK(TakeLog().size() == 1);
}

TEST_CASE_METHOD(LoginLogTest, "a sum that is due at a failure names the client of that one") {
  guest.Run({"AUTH", "wrong"});
  guest.Run({"AUTH", "wrong"});
  TakeLog();
  LetTimePass(FailedLogins::kLogMs);
  guest.Run({"AUTH", "root", "wrong"});
  CHECK(TakeLog() ==
        std::vector<std::string>{"2 more failed logins; the last was of client 10.0.0.1:5 as \"root\""});
}

TEST_CASE_METHOD(LoginLogTest, "a user's name cannot forge a line, end its quotes or fill the log") {
  guest.Run({"AUTH", "a\r\nb\"c\\d\x1b\xff", "wrong"});
  CHECK(TakeLog() == std::vector<std::string>{"client 10.0.0.1:5 failed to log in as \"a??b?c?d??\""});
  AdvanceTime(FailedLogins::kLogMs);
  guest.Run({"AUTH", std::string(10'000, 'x'), "wrong"});
  CHECK(TakeLog() == std::vector<std::string>{"client 10.0.0.1:5 failed to log in as \"" +
                                              std::string(32, 'x') + "...\""});
}

TEST_CASE_METHOD(LoginLogTest, "a login that succeeds, or that no password guards, is not logged") {
  guest.Run({"AUTH", "secret"});
  guest.Run({"GET", "k"});
  SetOption("requirepass", "");
  guest.Run({"AUTH", "somebody", "x"});
  guest.Run({"AUTH", "x"});
  CHECK(TakeLog().empty());
}

}  // namespace mayfly::testing
