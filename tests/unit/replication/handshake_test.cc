#include "replication/handshake.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

using State = Handshake::State;

// A request in words.
std::string Words(const std::string& bytes) {
  std::string words;
  size_t at = bytes.find("\r\n") + 2;
  while (at < bytes.size()) {
    const size_t begin = bytes.find("\r\n", at) + 2;
    const size_t size = std::stoul(bytes.substr(at + 1));
    if (!words.empty()) words += ' ';
    words += bytes.substr(begin, size);
    at = begin + size + 2;
  }
  return words;
}

const std::string kHistory(40, 'a');

// Until PSYNC is sent.
std::string Greet(Handshake& handshake) {
  std::string sent = handshake.Begin();
  while (!Words(sent).starts_with("PSYNC")) sent = handshake.Take("+OK");
  return Words(sent);
}

}  // namespace

TEST_CASE("a replica says who it is, line by line") {
  Handshake handshake(
      {.user = "bob", .password = "secret", .announced_address = "10.0.0.2", .listening_port = 7000});
  CHECK(Words(handshake.Begin()) == "PING");
  CHECK(Words(handshake.Take("+PONG")) == "AUTH bob secret");
  CHECK(Words(handshake.Take("+OK")) == "REPLCONF listening-port 7000");
  CHECK(Words(handshake.Take("+OK")) == "REPLCONF ip-address 10.0.0.2");
  CHECK(Words(handshake.Take("+OK")) == "REPLCONF capa eof capa psync2 capa mayfly");
  CHECK(Words(handshake.Take("+OK")) == "PSYNC ? -1");
  CHECK(handshake.Take("+FULLRESYNC " + kHistory + " 17").empty());
  CHECK(handshake.state() == State::kFull);
  CHECK(handshake.history() == kHistory);
  CHECK(handshake.offset() == 17);
}

TEST_CASE("a replica gets cutoffs if it takes them, and its master is a Mayfly") {
  const bool takes = GENERATE(false, true);
  const std::string answer = GENERATE("+OK", "+OK mayfly");
  Handshake handshake({.takes_cutoffs = takes});
  std::string sent = handshake.Begin();
  while (!Words(sent).starts_with("REPLCONF capa")) sent = handshake.Take("+OK");
  CHECK(Words(sent).ends_with(" capa cutoffs") == takes);
  CHECK(Words(handshake.Take(answer)) == "PSYNC ? -1");
  CHECK(handshake.gets_cutoffs() == (takes && answer == "+OK mayfly"));
}

TEST_CASE("a password without a user is the default user's, and an error before it does not matter") {
  Handshake handshake({.password = "secret"});
  handshake.Begin();
  CHECK(Words(handshake.Take("-NOAUTH Authentication required.")) == "AUTH secret");
  CHECK(handshake.Take("-WRONGPASS no").empty());
  CHECK(handshake.state() == State::kRefused);
  CHECK(handshake.problem() == "the master refuses the password (masterauth, masteruser): -WRONGPASS no");
}

TEST_CASE("errors of REPLCONF do not matter, and empty lines say nothing") {
  Handshake handshake({});
  handshake.Begin();
  handshake.Take("+PONG");
  CHECK(handshake.Take("").empty());
  CHECK(Words(handshake.Take("-ERR Unrecognized REPLCONF option")) ==
        "REPLCONF capa eof capa psync2 capa mayfly");
  CHECK(Words(handshake.Take("-ERR Unrecognized REPLCONF option")) == "PSYNC ? -1");
  CHECK(handshake.Take("").empty());
  CHECK(handshake.state() == State::kUnderWay);
}

TEST_CASE("a stream goes on after the last byte, perhaps under another name") {
  for (const std::string& answer : {std::string("+CONTINUE"), "+CONTINUE " + std::string(40, 'b')}) {
    Handshake handshake({.history = kHistory, .offset = 99});
    CHECK(Greet(handshake) == "PSYNC " + kHistory + " 100");
    handshake.Take(answer);
    CHECK(handshake.state() == State::kContinue);
    CHECK(handshake.history() == (answer.size() > 10 ? std::string(40, 'b') : kHistory));
    CHECK(handshake.offset() == 99);
  }
}

TEST_CASE("a master that cannot now is asked again, and another answer is refused") {
  for (const char* answer : {"-NOMASTERLINK no", "-LOADING Redis is loading"}) {
    Handshake handshake({});
    Greet(handshake);
    handshake.Take(answer);
    CHECK(handshake.state() == State::kLater);
  }
  for (const std::string& answer :
       {std::string("+FULLRESYNC"), "+FULLRESYNC " + kHistory, "+FULLRESYNC " + kHistory + " x",
        "+FULLRESYNC " + kHistory + " -1", "+FULLRESYNC " + kHistory.substr(1) + " 1",
        std::string("+CONTINUE"), std::string("-ERR unknown command"), std::string("garbage\x01")}) {
    Handshake handshake({});
    Greet(handshake);
    handshake.Take(answer);
    CHECK(handshake.state() == State::kRefused);
  }
}

TEST_CASE("an error of PING that means a password goes on, and any other one ends the handshake") {
  for (const char* answer :
       {"+PONG", "-NOAUTH Authentication required.", "-NOPERM no permission", "+anything",
        "-ERR operation not permitted", "-ERR operation not permitted, really"}) {
    CAPTURE(answer);
    Handshake handshake({.password = "secret"});
    CHECK(Words(handshake.Begin()) == "PING");
    CHECK(Words(handshake.Take(answer)) == "AUTH secret");
    CHECK(handshake.state() == State::kUnderWay);
    CHECK_FALSE(handshake.asks_for_keys());
  }
  for (const std::string& answer : {std::string("-ERR unknown command"), std::string("-MASTERDOWN no"),
                                    std::string("-DENIED \x01"), std::string("-")}) {
    CAPTURE(answer);
    Handshake handshake({.password = "secret"});
    handshake.Begin();
    CHECK(handshake.Take(answer).empty());
    CHECK(handshake.state() == State::kRefused);
    CHECK(handshake.problem().starts_with("the master answers PING with -"));
    CHECK(handshake.problem().find('\x01') == std::string::npos);
  }
}

TEST_CASE("a replica is asked to take over at a place of its stream, and only if there is one") {
  Handshake without({.hands_over = true});
  CHECK(Greet(without) == "PSYNC ? -1");
  Handshake handshake({.history = kHistory, .offset = 9, .hands_over = true});
  CHECK_FALSE(handshake.asks_for_keys());
  CHECK(Greet(handshake) == "PSYNC " + kHistory + " 10 FAILOVER");
  CHECK(handshake.asks_for_keys());
  CHECK(handshake.state() == State::kUnderWay);
}

TEST_CASE("names of streams are 40 digits in lower case, and places are far from the end of their type") {
  const int64_t most = int64_t{1} << 62;
  for (const int64_t place : {int64_t{0}, int64_t{1}, most}) {
    Handshake handshake({.history = std::string(40, 'b'), .offset = 5});
    Greet(handshake);
    CHECK(handshake.Take("+FULLRESYNC " + kHistory + " " + std::to_string(place)).empty());
    CHECK(handshake.state() == State::kFull);
    CHECK(handshake.history() == kHistory);
    CHECK(handshake.offset() == place);
  }
  for (const std::string& words :
       {kHistory + " " + std::to_string(most + 1), kHistory + "a 1", std::string(40, 'A') + " 1",
        kHistory.substr(1) + "g 1", kHistory + " ", kHistory + " 1 2", " " + kHistory + " 1"}) {
    CAPTURE(words);
    Handshake handshake({});
    Greet(handshake);
    handshake.Take("+FULLRESYNC " + words);
    CHECK(handshake.state() == State::kRefused);
    CHECK(handshake.problem() == "the master does not send its keys: +FULLRESYNC " + words);
  }
  // A stream that goes on keeps its name if the new one is none.
  for (const std::string& words : {" " + std::string(40, 'B'), " " + std::string(39, 'b'), std::string(" "),
                                   std::string(41, 'b'), "x" + std::string(40, 'b')}) {
    CAPTURE(words);
    Handshake handshake({.history = kHistory, .offset = 9});
    Greet(handshake);
    handshake.Take("+CONTINUE" + words);
    CHECK(handshake.state() == State::kContinue);
    CHECK(handshake.history() == kHistory);
    CHECK(handshake.offset() == 9);
  }
}

TEST_CASE("what a master answers that cannot now is told without its sign") {
  Handshake handshake({});
  Greet(handshake);
  handshake.Take("-LOADING \x02 is loading");
  CHECK(handshake.state() == State::kLater);
  CHECK(handshake.problem().starts_with("LOADING "));
  CHECK(handshake.problem().find('\x02') == std::string::npos);
}

}  // namespace mayfly
