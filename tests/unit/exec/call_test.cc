// Calls within calls, by the commands of seam_commands.cc.
#include "exec/call/call.h"

#include <string>

#include "exec/call/reply_buffer.h"
#include "server/acl/users.h"
#include "support/catch.h"
#include "support/command_test.h"
#include "support/output_text.h"

namespace mayfly::testing {
namespace {

uint64_t CallsOf(TestServer& server, std::string_view name) {
  return server.commands.Find(name)->calls.calls;
}

uint64_t CyclesOf(TestServer& server, std::string_view name) {
  return server.commands.Find(name)->calls.cycles;
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "a call makes calls, and their replies are parts of its own") {
  CHECK(Run({"ALL", "KEEP", "k", "v", ";", "FETCH", "k", ";", "FETCH", "none"}) ==
        Array({Ok(), Bulk("v"), Null()}));
  CHECK(Run({"FETCH", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(CommandTest, "calls nest to any depth") {
  CHECK(Run({"ALL", "ALL", "ALL", "KEEP", "k", "v"}) == Array({Array({Array({Ok()})})}));
  CHECK(Run({"READ", "ALL", "READ", "FETCH", "k"}).kind == Reply::Kind::kArray);
}

TEST_CASE_METHOD(CommandTest, "time stands still for the calls within a call, and goes on after it") {
  const int64_t before = Run({"NOW"}).integer;
  CHECK(Run({"ALL", "NOW", ";", "PASS", "5", ";", "NOW"}) == Array({Integer(before), Ok(), Integer(before)}));
  CHECK(Run({"NOW"}) == Integer(before + 5));
}

TEST_CASE_METHOD(CommandTest, "a key that expires during a call is there for all calls within it") {
  Run({"KEEP", "k", "v"});
  const Key key = keyspace().KeyOf("k");
  const Now now = server().clock.Read();
  keyspace().SetExpiry(key, *keyspace().Peek(key, now), Expiry::In(10, now), now);
  CHECK(Run({"ALL", "FETCH", "k", ";", "PASS", "10", ";", "FETCH", "k"}) ==
        Array({Bulk("v"), Ok(), Bulk("v")}));
  CHECK(Run({"FETCH", "k"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "inner and outer calls are counted and timed for themselves") {
  Run({"ALL", "NOW", ";", "NOW", ";", "FETCH", "k"});
  CHECK(CallsOf(server(), "all") == 1);
  CHECK(CallsOf(server(), "now") == 2);
  CHECK(CallsOf(server(), "fetch") == 1);
  CHECK(stats().commands_processed == 4);
  CHECK(CyclesOf(server(), "all") >= CyclesOf(server(), "now") + CyclesOf(server(), "fetch"));
  CHECK(client().session().commands == 1);
  CHECK(*client().session().last_command == "all");
}

TEST_CASE_METHOD(CommandTest, "an inner call that is refused or fails is answered at its place") {
  CHECK(Run({"ALL", "NOSUCH", ";", "KEEP", "k", ";", "KEEP", "k", "v", ";", "MOVE-TO", "none", "k"}) ==
        Array({Error("ERR unknown command 'NOSUCH', with args beginning with: "),
               Error("ERR wrong number of arguments for 'keep' command"), Ok(), Error("ERR no such key")}));
  CHECK(server().commands.Find("keep")->calls.rejected == 1);
  CHECK(server().commands.Find("move-to")->calls.failed == 1);
  CHECK(stats().error_replies == 3);
}

TEST_CASE_METHOD(CommandTest, "an inner call cannot wait: it answers as if its time were over") {
  CHECK(Run({"ALL", "GRAB", "k", "0", ";", "NOW"}).elements.at(0) == NullArray());
  CHECK(server().parking.size() == 0);
}

TEST_CASE_METHOD(CommandTest,
                 "over maxmemory the calls of a script and of a transaction that may grow are refused") {
  Run({"KEEP", "k", "v"});
  SetOption("maxmemory-policy", "noeviction");
  SetOption("maxmemory", "1");
  CHECK(Run({"READ", "KEEP", "k", "w"}) ==
        Array({Bulk("OOM command not allowed when used memory > 'maxmemory'."), Integer(0), Integer(1)}));
  CHECK(Run({"ALL", "KEEP", "k", "w", ";", "FETCH", "k"}) ==
        Array({Error("OOM command not allowed when used memory > 'maxmemory'."), Bulk("v")}));
  SetOption("maxmemory", "0");
}

TEST_CASE_METHOD(CommandTest,
                 "a call that ignores the limits of memory runs over maxmemory, and the next does not") {
  SetOption("maxmemory-policy", "noeviction");
  SetOption("maxmemory", "1");
  Session own(server().chunks);
  own.LogIn(server().server.users.Newcomer());
  const std::vector<std::string_view> words = {"KEEP", "k", "v"};
  Executor& executor = server().executor;
  Call call{own, own.reply, executor.now(), Origin::kScript, words, executor.RowOf(words)};
  CHECK(executor.MakeCall(call).refused == Refusal::kMemory);
  const uint32_t modes = own.modes;
  call.ignores_memory_limits = true;
  CHECK(executor.MakeCall(call).refused == Refusal::kNone);
  CHECK(own.modes == modes);
  call.ignores_memory_limits = false;
  CHECK(executor.MakeCall(call).refused == Refusal::kMemory);
  CHECK(OutputText(own.output)
            .ends_with("+OK\r\n-OOM command not allowed when used memory > 'maxmemory'.\r\n"));
  SetOption("maxmemory", "0");
}

TEST_CASE_METHOD(CommandTest, "a call that ignores the limits of memory runs in a namespace that is full") {
  SetOption("maxmemory-policy", "noeviction");
  SetOption("namespace", "full maxmemory 10kb");
  for (int i = 0; i < 200; ++i) Run({"KEEP", "full:" + std::to_string(i), std::string(100, 'v')});
  Session own(server().chunks);
  own.LogIn(server().server.users.Newcomer());
  const std::vector<std::string_view> words = {"KEEP", "full:new", "v"};
  Executor& executor = server().executor;
  Call call{own, own.reply, executor.now(), Origin::kScript, words, executor.RowOf(words)};
  CHECK(executor.MakeCall(call).refused == Refusal::kNamespace);
  call.ignores_memory_limits = true;
  CHECK(executor.MakeCall(call).refused == Refusal::kNone);
}

TEST_CASE_METHOD(CommandTest,
                 "a call with a session of its own is read back and leaves the client as it was") {
  CHECK(Run({"READ", "KEEP", "k", "other"}) == Array({Bulk("OK"), Integer(0), Integer(0)}));
  CHECK(Run({"READ", "FETCH", "k"}) == Array({Bulk("other"), Integer(0), Integer(0)}));
  CHECK(Run({"FETCH", "k"}) == Null());
  CHECK(Run({"READ", "NOW"}).elements.at(1).integer == Run({"NOW"}).integer);
  CHECK(Run({"READ", "FETCH"}) ==
        Array({Bulk("ERR wrong number of arguments for 'fetch' command"), Integer(0), Integer(1)}));
  CHECK(client().session().db == 0);
  CHECK(client().session().reply.version() == 2);
}

TEST_CASE_METHOD(CommandTest, "a session that no loop knows is never handed to one") {
  Session own(server().chunks);
  own.LogIn(server().server.users.Newcomer());
  const std::vector<std::string_view> words = {"KEEP", "k", "v"};
  const Now now = server().executor.now();
  server().executor.MakeCall({own, own.reply, now, Origin::kScript, words, server().executor.RowOf(words)});
  CHECK_FALSE(own.output.empty());
  const std::string bytes = "FETCH k\r\n";
  Feed feed{.session = &own, .input = bytes};
  server().executor.Run({&feed, 1});
  CHECK(server().sessions.TakeDirty().empty());
  CHECK(own.output.size() == std::string("+OK\r\n$1\r\nv\r\n").size());
}

TEST_CASE_METHOD(CommandTest, "the text of a reply of many pieces is put together") {
  ReplyBuffer buffer(server().chunks, 2);
  CHECK(buffer.Text().empty());
  const std::string big(100'000, 'x');
  buffer.writer().Array(2);
  buffer.writer().BulkShared(SharedBytes::Copy(big));
  buffer.writer().Bulk(big);
  std::string_view text = buffer.Text();
  CHECK(TakeReply(text) == Array({Bulk(big), Bulk(big)}));
  CHECK(text.empty());
  CHECK(TakeReplies(buffer.Text()).size() == 1);  // as often as it is read
  buffer.writer().Ok();
  CHECK(TakeReplies(buffer.Text()) == std::vector<Reply>{Array({Bulk(big), Bulk(big)}), Ok()});
  buffer.Clear();
  CHECK(buffer.Text().empty());
}

TEST_CASE_METHOD(CommandTest, "a push reaches a client that wants no replies") {
  client().session().Silence();
  client().session().SetReplies(Replies::kOff);
  CHECK(Run({"NOW"}) == NoReply());
  UseResp3();
  resp::Writer push = client().session().Pusher();
  push.Push(2);
  push.Bulk("invalidate");
  push.Null();
  CHECK(client().Received() == std::vector<Reply>{Push({Bulk("invalidate"), Null()})});
  CHECK(Run({"NOW"}) == NoReply());
}

}  // namespace mayfly::testing
