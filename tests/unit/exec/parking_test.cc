// Clients that wait, by a command that only this test has: AWAIT key milliseconds answers with the key's
// value, and waits if there is none.
#include "server/waiting/parking.h"

#include <string>

#include "exec/call/args.h"
#include "exec/dispatch/context.h"
#include "support/catch.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

void Await(Context& ctx, Args& args) {
  const std::string_view key = args.Next();
  const Entry* entry = ctx.keyspace.Find(ctx.keyspace.KeyOf(key), ctx.now);
  if (entry != nullptr) return ctx.reply.Bulk(entry->text());
  if (ctx.wake() == WakeReason::kTimeout) return ctx.reply.NullArray();
  if (ctx.wake() == WakeReason::kUnblocked) return ctx.Fail("UNBLOCKED by an operator");
  const int64_t timeout_ms = args.NextInteger().value_or(0);
  ctx.Park(args,
           timeout_ms == 0 ? ParkingLot::kForever : ctx.now.mono_ms + static_cast<uint64_t>(timeout_ms));
}

void Put(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  ctx.keyspace.Put(key, ctx.keyspace.Peek(key, ctx.now), StringValue::Of(args[2]), Expiry::Never(), ctx.now);
  ctx.reply.Ok();
}

constexpr Command kRows[] = {
    {.name = "await",
     .arity = 3,
     .flags = kReadOnly | kBlocking,
     .keys = {1, 1, 1, kKeyRO},
     .handler = Await},
    {.name = "put", .arity = 3, .flags = kWrite, .keys = {1, 1, 1, kKeyOW}, .handler = Put},
};
const CommandFamily family("test", kRows);

class ParkingTest : public CommandTest {
 public:
  // Wakes all who wait, as a feature does that listens for keys: whoever waits longest comes first.
  void WakeAll(WakeReason reason = WakeReason::kReady) {
    for (TestClient* waiting : {&client(), &second, &third}) {
      if (waiting->session().parked != nullptr) server().parking.Wake(*waiting->session().parked, reason);
    }
    TurnWheels();
  }
  TestClient& second = Connect();
  TestClient& third = Connect();
};

}  // namespace

TEST_CASE_METHOD(ParkingTest, "a parked client is answered when the key that it waits for exists") {
  CHECK(Run({"AWAIT", "k", "0"}) == NoReply());
  CHECK(second.Run({"PUT", "k", "v"}) == Ok());
  WakeAll();
  CHECK(client().Received() == std::vector<Reply>{Bulk("v")});
  CHECK(Run({"AWAIT", "k", "0"}) == Bulk("v"));
}

TEST_CASE_METHOD(ParkingTest, "arguments are copied, so the buffer that they came in may be reused") {
  CHECK(RunRaw("*3\r\n$5\r\nAWAIT\r\n$5\r\nkey:1\r\n$1\r\n0\r\n").empty());
  CHECK(RunRaw("").empty());
  second.Run({"PUT", "key:1", "v"});
  WakeAll();
  CHECK(client().Received() == std::vector<Reply>{Bulk("v")});
}

TEST_CASE_METHOD(ParkingTest, "a timeout is answered exactly when it is over") {
  CHECK(Run({"AWAIT", "k", "500"}) == NoReply());
  AdvanceTime(499);
  CHECK(client().Received().empty());
  CHECK(server().parking.NextWake() <= server().clock.Read().mono_ms + 1);
  AdvanceTime(1);
  CHECK(client().Received() == std::vector<Reply>{NullArray()});
  CHECK(server().parking.size() == 0);
  CHECK(server().parking.NextWake() == ParkingLot::kForever);
}

TEST_CASE_METHOD(ParkingTest,
                 "a client that was woken in vain goes on waiting, with its first deadline and its place") {
  CHECK(Run({"AWAIT", "k", "500"}) == NoReply());
  CHECK(second.Run({"AWAIT", "k", "0"}) == NoReply());
  const uint64_t order = client().session().parked->order;
  CHECK(order < second.session().parked->order);
  AdvanceTime(400);
  WakeAll();
  REQUIRE(client().session().parked != nullptr);
  CHECK(client().session().parked->order == order);
  AdvanceTime(99);
  CHECK(client().Received().empty());
  AdvanceTime(1);
  CHECK(client().Received() == std::vector<Reply>{NullArray()});
}

TEST_CASE_METHOD(ParkingTest, "requests of a parked client run in order after it was answered") {
  CHECK(RunRaw("AWAIT k 100\r\nPUT k late\r\nAWAIT k 0\r\n").empty());
  CHECK(keyspace().size() == 0);
  AdvanceTime(100);
  CHECK(client().Received() == std::vector<Reply>{NullArray(), Ok(), Bulk("late")});
}

TEST_CASE_METHOD(ParkingTest, "a command that an operator wakes knows it") {
  CHECK(Run({"AWAIT", "k", "0"}) == NoReply());
  WakeAll(WakeReason::kUnblocked);
  CHECK(client().Received() == std::vector<Reply>{Error("UNBLOCKED by an operator")});
}

TEST_CASE_METHOD(ParkingTest,
                 "a client that leaves while it waits is forgotten, whether it was woken or not") {
  CHECK(second.Run({"AWAIT", "k", "100"}) == NoReply());
  CHECK(third.Run({"AWAIT", "k", "100"}) == NoReply());
  server().parking.Wake(*third.session().parked, WakeReason::kReady);
  server().parking.Leave(second.session());
  server().parking.Leave(third.session());
  CHECK(server().parking.size() == 0);
  CHECK(server().parking.TakeWoken() == nullptr);
  AdvanceTime(1000);
}

}  // namespace mayfly::testing
