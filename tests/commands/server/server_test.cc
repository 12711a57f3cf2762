#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "TIME answers with the wall clock as seconds and microseconds") {
  CHECK(Run({"TIME"}) == Bulks({"1700000000", "0"}));
  LetTimePass(1234);
  CHECK(Run({"TIME"}) == Bulks({"1700000001", "234000"}));
  StepWallClockUnnoticed(-2000);
  CHECK(Run({"TIME"}) == Bulks({"1699999999", "234000"}));
  CHECK(Run({"TIME", "x"}) == Error("ERR wrong number of arguments for 'time' command"));
}

TEST_CASE_METHOD(CommandTest, "SHUTDOWN ends the server without a reply") {
  const std::vector<std::string> forms[] = {
      {"SHUTDOWN"},        {"SHUTDOWN", "NOSAVE"},       {"shutdown", "nosave", "now"},
      {"SHUTDOWN", "NOW"}, {"SHUTDOWN", "NOW", "FORCE"}, {"SHUTDOWN", "SAVE", "NOW", "FORCE"}};
  for (const std::vector<std::string>& form : forms) {
    TestClient& operator_client = Connect();
    server().server.shutdown_requested = false;
    CHECK(operator_client.Run(form) == NoReply());
    CHECK(server().server.shutdown_requested);
    CHECK(operator_client.session().Has(Mode::kDropped));
  }
}

TEST_CASE_METHOD(CommandTest, "after a SHUTDOWN that is refused the server goes on serving") {
  CHECK(Run({"SHUTDOWN", "FOO"}) == Error("ERR syntax error"));
  CHECK(Run({"SHUTDOWN", "SAVE", "NOSAVE"}) == Error("ERR syntax error"));
  CHECK(Run({"SHUTDOWN", "ABORT", "NOW"}) == Error("ERR syntax error"));
  CHECK(Run({"SHUTDOWN", "ABORT"}) == Error("ERR No shutdown in progress."));
  CHECK_FALSE(server().server.shutdown_requested);
  CHECK(Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(CommandTest, "LASTSAVE answers when the server was started, as long as nothing was saved") {
  const int64_t started = WallMs() / 1000;
  stats().started_mono_ms = server().clock.Read().mono_ms;
  AdvanceTime(100'000);
  CHECK(Run({"LASTSAVE"}) == Integer(started));
  const std::string told = "\r\nrdb_last_save_time:" + std::to_string(started) + "\r\n";
  CHECK(Run({"INFO", "persistence"}).text.find(told) != std::string::npos);
  CHECK(Run({"LASTSAVE", "x"}) == Error("ERR wrong number of arguments for 'lastsave' command"));
}

TEST_CASE_METHOD(CommandTest, "LASTSAVE answers when the last good save ended") {
  stats().saves.last_save_s = 1'600'000'000;
  CHECK(Run({"LASTSAVE"}) == Integer(1'600'000'000));
  CHECK(Run({"INFO", "persistence"}).text.find("\r\nrdb_last_save_time:1600000000\r\n") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest, "LOLWUT shows a mayfly and the version, as plain text in RESP3") {
  const Reply art = Run({"LOLWUT"});
  CHECK(art.text.find("Mayfly ver. " MAYFLY_VERSION "\n") != std::string::npos);
  CHECK(Run({"LOLWUT", "version", "5", "1", "2", "3", "x"}).text == art.text);
  CHECK(Run({"LOLWUT", "version", "7", "x"}).text == art.text);
  CHECK(Run({"LOLWUT", "VERSION", "5", "1", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"LOLWUT", "VERSION"}).text == art.text);
  CHECK(Run({"LOLWUT", "x"}).text == art.text);
  CHECK(Run({"LOLWUT", "VERSION", "x"}) == Error("ERR value is not an integer or out of range"));
  UseResp3();
  CHECK(RunRaw("LOLWUT\r\n").substr(0, 1) == "=");
}

}  // namespace mayfly::testing
