// However the bytes of several clients are torn, and whoever of them is paused, blocked, killed or goes on
// meanwhile: each client gets the replies that it would get if every request came alone and as a whole.
//
// A test case is a program for a handful of clients: which requests they send, where the bytes are torn, when
// a turn ends, and what an operator does. `fuzz_client_input --seeds=DIR` writes seeds.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "../support/input_rig.h"
#include "../support/request_text.h"
#include "exec/call/command_table.h"
#include "seed_files.h"
#include "server/waiting/parking.h"

namespace mayfly::testing {
namespace {

constexpr size_t kClients = 3;
constexpr size_t kMostBytes = 1 << 20;  // of one client's stream: keeps a test case short
constexpr std::string_view kPassword = "secret";
constexpr char kAwake[] = "awake";

// REST blocks until the client is woken. In the model there is a key that says that nobody rests.
void Rest(Context& ctx, Args& args) {
  const bool awake = ctx.keyspace.Peek(ctx.keyspace.KeyOf(kAwake), ctx.now) != nullptr;
  if (ctx.wake() == WakeReason::kNone && !awake) return ctx.Park(args, ParkingLot::kForever);
  ctx.reply.Ok();
}
constexpr Command kRows[] = {{.name = "rest", .arity = 1, .flags = kReadOnly | kBlocking, .handler = Rest}};
const CommandFamily family("fuzz", kRows);

// Reads the test case; zeros after its end.
class Script {
 public:
  Script(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool Done() const { return at_ == end_; }
  uint8_t Byte() { return at_ == end_ ? uint8_t{0} : *at_++; }
  size_t Below(size_t n) { return Byte() % n; }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

// Sizes around which a buffer or the parser changes its ways (net/socket/limits.h, resp/limits.h).
constexpr std::array<size_t, 16> kSizes = {0,         1,       9,         100,           1024,      4000,
                                           16 * 1024, 30'000,  32 * 1024, 32 * 1024 + 1, 48 * 1024, 64 * 1024,
                                           65'537,    100'000, 131'072,   200'000};

// A value that is worth something to whoever takes its end for requests.
std::string ValueFrom(Script& script) {
  constexpr std::string_view kEnd = "\r\nFLUSHALL\r\n*1\r\n$8\r\nFLUSHALL\r\n";
  const size_t wanted = kSizes[script.Below(kSizes.size())];
  const size_t size = wanted + script.Below(4) - std::min<size_t>(wanted, 2);
  std::string value(size, static_cast<char>('a' + script.Below(26)));
  if (size > kEnd.size()) value.replace(size - kEnd.size(), kEnd.size(), kEnd);
  return value;
}

// One whole request, or something that is none and ends the connection.
std::string RequestFrom(Script& script, size_t client) {
  const std::string key = std::to_string(client) + static_cast<char>('a' + script.Below(3));
  std::string text;
  switch (script.Below(16)) {
    case 0:
    case 1:
    case 2:
      AppendRequest(text, {"SET", key, ValueFrom(script)});
      break;
    case 3:
      AppendRequest(text, {"GET", key});
      break;
    case 4:
      AppendRequest(text, {"MGET", key, "absent", key});
      break;
    case 5:
      AppendRequest(text, {"APPEND", key, "12"});
      break;
    case 6:
      AppendRequest(text, {"STRLEN", key});
      break;
    case 7:
      text = "GET " + key + "\r\n";
      break;
    case 8:
      text = "SET " + key + " \"in line\"\n";
      break;
    case 9:
      AppendRequest(text, {"ECHO", ValueFrom(script)});
      break;
    case 10:
      AppendRequest(text, {"REST"});
      break;
    case 11:
      text = script.Below(2) == 0 ? "*0\r\n" : "\r\n";
      break;
    case 12:
      AppendRequest(text, {"AUTH", script.Below(2) == 0 ? kPassword : "wrong"});
      break;
    case 13:
      AppendRequest(text, {"NOSUCH", key});
      break;
    case 14: {
      constexpr std::array<std::string_view, 6> kBroken = {
          "*1\r\n!", "*2147483648\r\n", "*1\r\n$-5\r\n", "GET \"k\r\n", "*x\r\n", "*1\r\n$600000000\r\n"};
      text = kBroken[script.Below(kBroken.size())];
      break;
    }
    default:
      AppendRequest(text, {"PING"});
  }
  return text;
}

void SetPassword(LooplessServer& server) {
  const config::NameValue password{"requirepass", std::string(kPassword)};
  std::vector<std::string> warnings;
  if (server.options.Set({&password, 1}, warnings)) std::abort();
}

// Ends whatever a client may have to wait for.
void LetTimePass(LooplessServer& server) {
  constexpr uint64_t kLongMs = 100'000;
  server.clock.AdvanceTime(kLongMs);
  server.FreeDue();
}

struct Stream {
  std::vector<std::string> requests;
  std::string bytes;
  size_t sent = 0;
};

// What one client would get if every request came alone.
std::string Expected(const Stream& stream, bool with_password) {
  LooplessServer server;
  Key awake = server.databases.At(0).KeyOf(kAwake);
  server.databases.At(0).Put(awake, nullptr, StringValue::Of("1"), Expiry::Never(), server.executor.now());
  if (with_password) SetPassword(server);
  InputRig rig(server, 1);
  InputRig::Client& client = rig.at(0);
  if (with_password) client.session.LogIn(nullptr);
  for (const std::string& request : stream.requests) {
    for (std::string_view left = request; !left.empty() && !client.closed;) {
      left.remove_prefix(rig.Deliver(client, left));
      rig.EndTurn();
      LetTimePass(server);
      rig.EndTurn();  // a login may have been delayed
    }
  }
  return client.output;
}

void Fail(const char* what, size_t client, std::string_view got, std::string_view expected) {
  const auto differs = std::mismatch(got.begin(), got.end(), expected.begin(), expected.end());
  const auto at = static_cast<size_t>(differs.first - got.begin());
  std::fprintf(stderr, "client %zu: %s: %zu bytes, expected %zu, the first difference is at %zu\n", client,
               what, got.size(), expected.size(), at);
  for (const std::string_view text : {got, expected}) {
    const std::string_view around = text.substr(at < 100 ? 0 : at - 100, 200);
    std::fprintf(stderr, "  ...%.*s...\n", static_cast<int>(around.size()), around.data());
  }
  std::abort();
}

class Play {
 public:
  Play(const uint8_t* data, size_t size) : script_(data, size), rig_(server_, kClients) {
    with_password_ = script_.Below(4) == 0;
    if (with_password_) SetPassword(server_);
    for (size_t i = 0; with_password_ && i < kClients; ++i) rig_.at(i).session.LogIn(nullptr);
  }

  void Run() {
    while (!script_.Done()) Step(script_.Below(16));
    ContinueToTheEnd();
    for (size_t i = 0; i < kClients; ++i) Compare(i);
    for (unsigned i = 0; i < server_.databases.count(); ++i) {
      if (!server_.databases.At(i).Validate()) std::abort();
    }
  }

 private:
  void Step(size_t what) {
    const size_t client = script_.Below(kClients);
    switch (what) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return Compose(client);
      case 5:
      case 6:
      case 7:
        return Send(client, 1 + script_.Below(64));
      case 8:
        return Send(client, kSizes[script_.Below(kSizes.size())] + script_.Below(3));
      case 9:  // all that the kernel has, but for the last few bytes
        return Send(client, Unsent(client) - std::min(Unsent(client), script_.Below(40)));
      case 10:
        return server_.parking.Pause(script_.Below(2) == 0 ? PauseOf::kEverybody : PauseOf::kWriters,
                                     server_.executor.now().mono_ms + 1 + script_.Below(100));
      case 11:
        return server_.parking.Unpause();
      case 12:
        server_.clock.AdvanceTime(script_.Below(200));
        return server_.FreeDue();
      case 13:
        return Wake(client);
      case 14:
        if (script_.Below(8) == 0) Kill(client);
        return;
      default:
        return rig_.EndTurn();
    }
  }

  size_t Unsent(size_t client) const { return streams_[client].bytes.size() - streams_[client].sent; }

  void Compose(size_t client) {
    Stream& stream = streams_[client];
    if (stream.bytes.size() > kMostBytes) return;
    stream.requests.push_back(RequestFrom(script_, client));
    stream.bytes += stream.requests.back();
  }

  void Send(size_t client, size_t most) {
    Stream& stream = streams_[client];
    const std::string_view bytes = std::string_view(stream.bytes).substr(stream.sent, most);
    if (!bytes.empty()) stream.sent += rig_.Deliver(rig_.at(client), bytes);
  }

  void Wake(size_t client) {
    Parked* const parked = rig_.at(client).session.parked;
    if (parked != nullptr && !parked->paused) server_.parking.Wake(*parked, WakeReason::kReady);
  }

  void Kill(size_t client) {
    killed_[client] = true;
    rig_.at(client).session.Set(Mode::kDropped);
  }

  void ContinueToTheEnd() {
    server_.parking.Unpause();
    do {
      for (size_t i = 0; i < kClients; ++i) {
        Send(i, Unsent(i));
        Wake(i);
      }
      rig_.EndTurn();
      LetTimePass(server_);
    } while (AnyGoesOn());
  }

  bool AnyGoesOn() {
    for (size_t i = 0; i < kClients; ++i) {
      const bool waits = Unsent(i) != 0 || rig_.at(i).session.parked != nullptr;
      if (waits && !rig_.at(i).closed) return true;
    }
    return false;
  }

  void Compare(size_t i) {
    const std::string expected = Expected(streams_[i], with_password_);
    const std::string& got = rig_.at(i).output;
    if (killed_[i] ? !expected.starts_with(got) : got != expected)
      Fail(killed_[i] ? "not the beginning of its replies" : "other replies", i, got, expected);
  }

  Script script_;
  LooplessServer server_;
  InputRig rig_;
  std::array<Stream, kClients> streams_;
  std::array<bool, kClients> killed_{};
  bool with_password_ = false;
};

void WriteSeeds(const std::string& folder) {
  for (int number = 0; number < 32; ++number) {
    std::ofstream seed(folder + "/random-" + std::to_string(number), std::ios::binary);
    PutRandomBytes(seed, number, 60 + 20 * number);
  }
}

}  // namespace
}  // namespace mayfly::testing

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, mayfly::testing::WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mayfly::testing::Play(data, size).Run();
  return 0;
}
