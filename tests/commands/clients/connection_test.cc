#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr std::string_view kNoAuth = "NOAUTH Authentication required.";
constexpr std::string_view kWrongPass = "WRONGPASS invalid username-password pair or user is disabled.";
constexpr std::string_view kHelloNoAuth =
    "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH "
    "<user> "
    "<pass> option can be used to authenticate the client and select the RESP protocol version at the same "
    "time";

std::vector<Reply> HelloPairs(int version, uint64_t id) {
  return {Bulk("server"),  Bulk("redis"),      Bulk("version"), Bulk("7.4.0"),
          Bulk("proto"),   Integer(version),   Bulk("id"),      Integer(static_cast<int64_t>(id)),
          Bulk("mode"),    Bulk("standalone"), Bulk("role"),    Bulk("master"),
          Bulk("modules"), Array({})};
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "PING is answered by PONG as a status, or by its argument") {
  CHECK(RunRaw("*1\r\n$4\r\nPING\r\n") == "+PONG\r\n");
  CHECK(RunRaw("ping\r\n") == "+PONG\r\n");
  CHECK(Run({"PING", "hello"}) == Bulk("hello"));
  CHECK(Run({"PING", "a", "b"}) == Error("ERR wrong number of arguments for 'ping' command"));
}

TEST_CASE_METHOD(CommandTest, "ECHO answers the same bytes") {
  const std::string bytes("\0\r\n\xff", 4);
  CHECK(Run({"ECHO", bytes}) == Bulk(bytes));
  CHECK(Run({"ECHO"}) == Error("ERR wrong number of arguments for 'echo' command"));
}

TEST_CASE_METHOD(CommandTest, "HELLO introduces the server, already in the new protocol") {
  const uint64_t id = client().session().id;
  CHECK(Run({"HELLO"}) == Array(HelloPairs(2, id)));
  CHECK(Run({"HELLO", "3"}) == Map(HelloPairs(3, id)));
  CHECK(Run({"HELLO"}) == Map(HelloPairs(3, id)));
  CHECK(Run({"hello", "2"}) == Array(HelloPairs(2, id)));
}

TEST_CASE_METHOD(CommandTest, "HELLO refuses what it does not understand and changes nothing") {
  CHECK(Run({"HELLO", "x"}) == Error("ERR Protocol version is not an integer or out of range"));
  for (const char* version : {"1", "4", "-3", "0"})
    CHECK(Run({"HELLO", version}) == Error("NOPROTO unsupported protocol version"));
  CHECK(Run({"HELLO", "3", "FOO"}) == Error("ERR Syntax error in HELLO option 'FOO'"));
  CHECK(Run({"HELLO", "3", std::string("k\0\r\n", 4)}) == Error("ERR Syntax error in HELLO option 'k'"));
  CHECK(Run({"HELLO", "3", "SETNAME", "a", "AUTH", "x"}) == Error("ERR Syntax error in HELLO option 'AUTH'"));
  CHECK(Run({"HELLO", "3", "SETNAME"}) == Error("ERR Syntax error in HELLO option 'SETNAME'"));
  CHECK(Run({"HELLO", "3", "SETNAME", "a b"}) ==
        Error("ERR Client names cannot contain spaces, newlines or special characters."));
  CHECK(Run({"CLIENT", "GETNAME"}) == Null());
  CHECK(client().session().reply.version() == 2);
}

TEST_CASE_METHOD(CommandTest, "HELLO logs in and names the connection in one request") {
  SetOption("requirepass", "secret");
  CHECK(Run({"HELLO"}) == Error(kHelloNoAuth));
  CHECK(Run({"HELLO", "3"}) == Error(kHelloNoAuth));
  CHECK(Run({"HELLO", "9"}) == Error("NOPROTO unsupported protocol version"));
  CHECK(Run({"HELLO", "3", "AUTH", "default", "wrong", "SETNAME", "me"}) == Error(kWrongPass));
  CHECK(Run({"HELLO", "3", "AUTH", "somebody", "secret"}) == Error(kWrongPass));
  CHECK(Run({"PING"}) == Error(kNoAuth));
  CHECK(Run({"HELLO", "3", "SETNAME", "me", "AUTH", "default", "secret"}) ==
        Map(HelloPairs(3, client().session().id)));
  CHECK(Run({"CLIENT", "GETNAME"}) == Bulk("me"));
}

TEST_CASE_METHOD(CommandTest, "without a password AUTH says so, and lets the default user in") {
  CHECK(Run({"AUTH", "x"}) ==
        Error("ERR AUTH <password> called without any password configured for the default "
              "user. Are you sure your configuration is correct?"));
  CHECK(Run({"AUTH", "default", "anything"}) == Ok());
  CHECK(Run({"AUTH", "somebody", "anything"}) == Error(kWrongPass));
  CHECK(Run({"AUTH", "a", "b", "c"}) == Error("ERR syntax error"));
  CHECK(Run({"AUTH"}) == Error("ERR wrong number of arguments for 'auth' command"));
}

TEST_CASE_METHOD(CommandTest,
                 "with a password set, only AUTH, HELLO, QUIT and RESET are allowed before login") {
  SetOption("requirepass", "secret");
  for (const char* name : {"PING", "INFO", "TIME", "COMMAND", "DBSIZE"}) CHECK(Run({name}) == Error(kNoAuth));
  CHECK(Run({"SELECT", "1"}) == Error(kNoAuth));
  CHECK(Run({"CONFIG", "GET", "requirepass"}) == Error(kNoAuth));
  CHECK(Run({"AUTH", "wrong"}) == Error(kWrongPass));
  CHECK(Run({"AUTH", "default", "secre"}) == Error(kWrongPass));
  CHECK(Run({"AUTH", "secret"}) == Ok());
  CHECK(Run({"AUTH", "wrong"}) == Error(kWrongPass));
  CHECK(Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(CommandTest, "the replies of a pipeline that logs in midway come in order") {
  SetOption("requirepass", "secret");
  CHECK(RunRaw("PING\r\nAUTH wrong\r\nAUTH secret\r\nPING\r\n") ==
        "-NOAUTH Authentication required.\r\n"
        "-WRONGPASS invalid username-password pair or user is disabled.\r\n+OK\r\n+PONG\r\n");
}

TEST_CASE_METHOD(CommandTest, "SELECT chooses the database of this connection alone") {
  CHECK(Run({"SET", "k", "zero"}) == Ok());
  CHECK(Run({"SELECT", "15"}) == Ok());
  CHECK(Run({"GET", "k"}) == Null());
  CHECK(Run({"SET", "k", "fifteen"}) == Ok());
  CHECK(Connect().Run({"GET", "k"}) == Bulk("zero"));
  CHECK(Run({"SELECT", "16"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"SELECT", "-1"}) == Error("ERR DB index is out of range"));
  CHECK(Run({"SELECT", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"SELECT", "99999999999999999999"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"GET", "k"}) == Bulk("fifteen"));
  CHECK(RunRaw("SELECT 0\r\nGET k\r\nSELECT 15\r\nGET k\r\n") ==
        "+OK\r\n$4\r\nzero\r\n+OK\r\n$7\r\nfifteen\r\n");
}

TEST_CASE_METHOD(CommandTest, "QUIT answers and closes, and what comes after it does not run") {
  CHECK(RunRaw("QUIT now\r\nSET k v\r\n") == "+OK\r\n");
  CHECK(client().session().Has(Mode::kEnding));
  CHECK(Connect().Run({"GET", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "RESET makes the connection new again") {
  CHECK(Run({"HELLO", "3", "SETNAME", "me"}).kind == Reply::Kind::kMap);
  CHECK(Run({"SELECT", "3"}) == Ok());
  CHECK(Run({"CLIENT", "SETINFO", "LIB-NAME", "lib"}) == Ok());
  CHECK(RunRaw("RESET\r\n") == "+RESET\r\n");
  CHECK(client().session().reply.version() == 2);
  CHECK(client().session().db == 0);
  CHECK(Run({"CLIENT", "GETNAME"}) == Null());
  // The library behind the connection is still the same.
  CHECK(client().session().names().lib_name == "lib");
  CHECK(Run({"RESET", "x"}) == Error("ERR wrong number of arguments for 'reset' command"));
}

TEST_CASE_METHOD(CommandTest, "RESET logs out if there is a password") {
  SetOption("requirepass", "secret");
  CHECK(Run({"AUTH", "secret"}) == Ok());
  CHECK(Run({"RESET"}) == Simple("RESET"));
  CHECK(Run({"PING"}) == Error(kNoAuth));
}

TEST_CASE_METHOD(CommandTest, "commands about a cluster answer that there is none") {
  const Reply none = Error("ERR This instance has cluster support disabled");
  CHECK(Run({"CLUSTER", "NODES"}) == none);
  CHECK(Run({"CLUSTER", "SLOTS"}) == none);
  CHECK(Run({"CLUSTER", "HELP"}) == none);
  CHECK(Run({"READONLY"}) == none);
  CHECK(Run({"READWRITE"}) == none);
  CHECK(Run({"ASKING"}) == none);
  CHECK(Run({"CLUSTER"}) == Error("ERR wrong number of arguments for 'cluster' command"));
  CHECK(Run({"SENTINEL", "MASTERS"}) ==
        Error("ERR unknown command 'SENTINEL', with args beginning with: 'MASTERS' "));
}

}  // namespace mayfly::testing
