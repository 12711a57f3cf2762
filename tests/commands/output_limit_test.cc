// How much output a pipeline may pile up before its client reads a byte. Connections close a client whose
// output is full; here it only stops.
#include "server/output_pool.h"
#include "support/command_test.h"
#include "support/long_text.h"

namespace mayfly::testing {
namespace {

constexpr uint64_t kMegabyte = uint64_t{1} << 20;

config::MaxMemory Bytes(uint64_t bytes) { return {config::MaxMemory::Request::kBytes, bytes, bytes}; }

}  // namespace

TEST_CASE_METHOD(CommandTest,
                 "a client that has not logged in piles up a few kilobytes of errors and no more") {
  SetOption("requirepass", "secret");
  TestClient& stranger = Connect();
  CHECK(stranger.RunRaw(Repeat("a\n", 60'000)).size() < 40'000);
  CHECK_FALSE(stranger.session().MayRun());
}

TEST_CASE_METHOD(CommandTest,
                 "the limit of who has not logged in ends with the login, in the same pipeline") {
  SetOption("requirepass", "secret");
  Run({"AUTH", "secret"});
  Run({"SET", "k", std::string(1000, 'x')});
  TestClient& guest = Connect();
  CHECK(guest.RunRaw("AUTH secret\r\n" + Repeat("GET k\r\n", 1000)).size() > 1'000'000);
  CHECK(guest.session().MayRun());
}

TEST_CASE_METHOD(CommandTest, "client-output-buffer-limit ends a pipeline after the reply that passes it") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  for (int i = 0; i < 20'000; ++i) Run({"SET", "key:" + std::to_string(i), "v"});
  const size_t one = RunRaw("KEYS *\r\n").size();
  CHECK(one < kMegabyte);
  CHECK(RunRaw(Repeat("KEYS *\r\n", 1000)).size() < kMegabyte + 2 * one);
  CHECK_FALSE(client().session().MayRun());
}

TEST_CASE_METHOD(CommandTest, "big values that are not copied count against the output limit too") {
  SetOption("client-output-buffer-limit", "normal 1mb 0 0");
  Run({"SET", "k", std::string(400'000, 'x')});
  CHECK(RunRaw(Repeat("GET k\r\n", 100)).size() < 2 * kMegabyte);
  CHECK_FALSE(client().session().MayRun());
}

TEST_CASE("the output pool is what maxmemory leaves, within reason") {
  const OutputPool large = OutputPool::Of(Bytes(1024 * kMegabyte), 24 * 1024 * kMegabyte);
  CHECK(large.most_bytes == 1024 * kMegabyte);
  CHECK(large.calm_bytes == 128 * kMegabyte);
  const OutputPool small = OutputPool::Of(Bytes(96 * kMegabyte), 128 * kMegabyte);
  CHECK(small.most_bytes == 16 * kMegabyte);
  CHECK(small.calm_bytes == 8 * kMegabyte);
  const OutputPool too_small = OutputPool::Of(Bytes(1024 * kMegabyte), 512 * kMegabyte);
  CHECK(too_small.most_bytes == 16 * kMegabyte);
  const OutputPool medium = OutputPool::Of(Bytes(384 * kMegabyte), 512 * kMegabyte);
  CHECK(medium.most_bytes == 64 * kMegabyte);
  CHECK(medium.calm_bytes == 32 * kMegabyte);
  const OutputPool unlimited = OutputPool::Of(Bytes(0), 2048 * kMegabyte);
  CHECK(unlimited.most_bytes == 512 * kMegabyte);
  const OutputPool unknown = OutputPool::Of(Bytes(0), 0);
  CHECK(unknown.most_bytes == 1024 * kMegabyte);
}

}  // namespace mayfly::testing
