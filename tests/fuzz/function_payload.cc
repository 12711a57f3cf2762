// Any bytes as a payload of FUNCTION RESTORE: all of its libraries come, or none and nothing changes. What is there then can be
// dumped and restored, and is the same.
//
// The first byte says how the rest is read. It is the payload without its footer; or it is a recipe for one, made of libraries
// that can be loaded, so that the fuzzer comes behind the checks of their texts.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "exec/dispatch/batch.h"
#include "seed_files.h"
#include "server/hubs/hubs.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/values/function_text.h"
#include "support/exact_block.h"
#include "support/loopless_server.h"
#include "support/reply.h"

namespace mayfly::testing {
namespace {

constexpr uint8_t kIsRecipe = 1;
constexpr uint8_t kIsOld = 2;  // the version of the footer
constexpr std::string_view kPolicies[] = {"APPEND", "REPLACE", "FLUSH"};

// One library for each byte: 4 names with 4 functions, whose names are the same in other cases of letters.
std::string LibraryOf(uint8_t byte) {
  const std::string name(1, static_cast<char>('a' + byte % 4));
  const std::string function(1,
                             static_cast<char>((byte & 0x40) != 0 ? 'w' + byte / 4 % 4 : 'W' + byte / 4 % 4));
  return "#!lua name=" + name + "\nredis.register_function('" + function + "', function() return " +
         std::to_string(byte) + " end)";
}

// Each byte is a library, but 0xFF and the next one: the next one as it is.
std::string Cooked(std::string_view recipe) {
  std::string payload;
  rdb::Out out(payload);
  for (size_t i = 0; i < recipe.size() && i < 8; ++i) {
    if (static_cast<uint8_t>(recipe[i]) != 0xFF) {
      rdb::WriteFunction(LibraryOf(static_cast<uint8_t>(recipe[i])), out);
    } else if (++i < recipe.size()) {
      payload += recipe[i];
    }
  }
  return payload;
}

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

class World {
 public:
  World() : session_(server_.chunks) { server_.Connect(session_); }
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  ~World() {
    server_.server.hubs.client_ends.Tell(session_);
    server_.sessions.Remove(session_);
  }

  std::string Ask(const std::vector<std::string>& request) {
    const std::string bytes = EncodeRequest(request);
    const ExactBlock block(bytes);
    Feed feed{.session = &session_, .input = block.view()};
    server_.executor.Run({&feed, 1});
    std::string reply;
    std::array<OutputPiece, 16> pieces;
    while (!session_.output.empty()) {
      const size_t before = reply.size();
      const size_t count = session_.output.Gather(pieces);
      for (size_t i = 0; i < count; ++i) reply.append(pieces[i].data, pieces[i].size);
      session_.output.Consume(reply.size() - before);
    }
    return reply;
  }
  // The payload in the reply to FUNCTION DUMP.
  std::string Dumped() {
    const std::string reply = Ask({"FUNCTION", "DUMP"});
    const size_t begin = reply.find("\r\n") + 2;
    return reply.substr(begin, reply.size() - begin - 2);
  }

 private:
  LooplessServer server_;
  Session session_;
};

void Try(std::string payload, uint8_t flags) {
  World world;
  for (const uint8_t there : {0, 5}) world.Ask({"FUNCTION", "LOAD", LibraryOf(there)});
  const std::string before = world.Dumped();
  rdb::AppendDumpFooter(payload, (flags & kIsOld) != 0 ? 5 : rdb::version::kRedis70);
  const std::string policy(kPolicies[(flags >> 2) % 3]);
  const std::string reply = world.Ask({"FUNCTION", "RESTORE", payload, policy});
  const std::string after = world.Dumped();
  if (reply != "+OK\r\n" && (!reply.starts_with("-ERR ") || after != before))
    Fail("not all or nothing: " + reply);
  if (world.Ask({"FUNCTION", "RESTORE", after, "FLUSH"}) != "+OK\r\n") Fail("what was dumped is refused");
  if (world.Dumped() != after) Fail("what was dumped comes back otherwise");
}

void WriteSeeds(const std::string& folder) {
  int number = 0;
  const auto write = [&](uint8_t flags, std::string_view bytes) {
    std::ofstream seed(folder + "/" + std::to_string(number++), std::ios::binary);
    seed.put(static_cast<char>(flags));
    seed.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  for (const uint8_t flags : {0, 4, 8}) {
    write(flags, Cooked({"\2\7", 2}));
    write(flags | kIsRecipe, {"\2\7", 2});
    write(flags | kIsRecipe, {"\0\5", 2});
    write(flags | kIsRecipe, {"\1\x41", 2});
    write(flags | kIsRecipe, {"\2\xFF\xF5", 3});
  }
  write(0, {"\xF6\1a\3lua\0\1x", 9});
}

}  // namespace
}  // namespace mayfly::testing

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, mayfly::testing::WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mayfly::testing;
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  Try((data[0] & kIsRecipe) != 0 ? Cooked(rest) : std::string(rest), data[0]);
  return 0;
}
