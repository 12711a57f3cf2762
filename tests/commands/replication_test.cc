#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "WAIT answers 0 at once: no replica can ever connect") {
  CHECK(Run({"WAIT", "0", "0"}) == Integer(0));
  CHECK(Run({"WAIT", "3", "0"}) == Integer(0));
  CHECK(Run({"WAIT", "-1", "1000"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "WAIT reads its number first, then its timeout") {
  CHECK(Run({"WAIT", "x", "y"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"WAIT", "0", "y"}) == Error("ERR timeout is not an integer or out of range"));
  CHECK(Run({"WAIT", "0", "1.5"}) == Error("ERR timeout is not an integer or out of range"));
  CHECK(Run({"WAIT", "0", "-1"}) == Error("ERR timeout is negative"));
  CHECK(Run({"WAIT", "0", "9223372036854775807"}) == Error("ERR timeout is out of range"));
  CHECK(Run({"WAIT", "0"}) == Error("ERR wrong number of arguments for 'wait' command"));
}

TEST_CASE_METHOD(CommandTest, "WAITAOF refuses to wait for a file that is not written") {
  CHECK(RunRaw("WAITAOF 0 0 0\r\n") == "*2\r\n:0\r\n:0\r\n");
  CHECK(Run({"WAITAOF", "0", "2", "100"}) == Array({Integer(0), Integer(0)}));
  CHECK(Run({"WAITAOF", "1", "0", "0"}) ==
        Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."));
  CHECK(Run({"WAITAOF", "1", "0", "-1"}) == Error("ERR timeout is negative"));
  CHECK(Run({"WAITAOF", "2", "0", "0"}) == Error("ERR value is out of range, value must between 0 and 1"));
  CHECK(Run({"WAITAOF", "x", "0", "0"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"WAITAOF", "0", "-1", "0"}) == Error("ERR value is out of range, must be positive"));
  CHECK(Run({"WAITAOF", "0", "x", "0"}) == Error("ERR value is out of range, must be positive"));
  CHECK(Run({"WAITAOF", "0", "0"}) == Error("ERR wrong number of arguments for 'waitaof' command"));
}

TEST_CASE_METHOD(CommandTest, "ROLE is that of a master without replicas") {
  CHECK(RunRaw("ROLE\r\n") == "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
  CHECK(Run({"ROLE", "x"}) == Error("ERR wrong number of arguments for 'role' command"));
}

}  // namespace mayfly::testing
