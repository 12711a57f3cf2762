// How much memory leases may take: all of them, those of one client, and failures that are remembered.
#include <string>

#include "server/hubs/hubs.h"
#include "server/waiting/leases.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

constexpr size_t kMegabyte = 1 << 20;

// A key's name of a megabyte and a little more.
std::string LongName(const std::string& prefix, size_t number) {
  return prefix + std::to_string(number) + std::string(kMegabyte, 'x');
}

bool GaveLease(const Reply& reply) {
  return reply.elements.size() == 4 && reply.elements[0] == Bulk("LEASE");
}

// Takes leases of keys with long names until that is refused; their number. `refusal` becomes the last reply.
size_t TakeMany(TestClient& client, const std::string& prefix, Reply& refusal) {
  size_t given = 0;
  while (GaveLease(refusal = client.Run({"TAKE", LongName(prefix, given), "LEASE", "1000"}))) ++given;
  return given;
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "leases are bounded by their memory, those of one client by a quarter of it") {
  constexpr size_t kOfOne = Leases::kMostBytesOfOwner / kMegabyte - 1;
  TestClient& a = Connect();
  TestClient& b = Connect();
  Reply refusal;
  CHECK(TakeMany(a, "a", refusal) == kOfOne);
  CHECK(refusal == Error("ERR this client holds too many leases"));
  for (const std::string name : {"b", "c", "d"}) CHECK(TakeMany(Connect(), name, refusal) == kOfOne);
  CHECK(TakeMany(b, "e", refusal) == kOfOne);
  CHECK(refusal == Error("ERR too many leases"));
  CHECK(server().leases.Validate());
  server().server.hubs.client_ends.Tell(a.session());
  CHECK(TakeMany(Connect(), "f", refusal) == kOfOne);
  AdvanceTime(1000);
  CHECK(server().leases.size() == 0);
  CHECK(server().leases.bytes() == 0);
  CHECK(server().leases.Validate());
}

TEST_CASE_METHOD(CommandTest, "failures are remembered while they take a quarter of that memory at most") {
  constexpr size_t kRemembered = Leases::kMostBytesOfFailures / kMegabyte - 1;
  for (size_t i = 0; i < 2 * kRemembered; ++i) {
    const std::string key = LongName("k", i);
    const Reply lease = Run({"TAKE", key, "LEASE", "1000"});
    REQUIRE(GaveLease(lease));
    CHECK(Run({"UNLEASE", key, lease.elements[2].text, "ERR", "down", "RETRY", "5000"}) == Integer(1));
    const Reply next = Run({"TAKE", key, "LEASE", "1"});
    CHECK((i < kRemembered ? next == Error("ERR down") : GaveLease(next)));
    AdvanceTime(1);
    CHECK(server().leases.Validate());
  }
  AdvanceTime(5000);
  CHECK(server().leases.bytes() == 0);
}

}  // namespace mayfly::testing
