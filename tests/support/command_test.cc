#include "support/command_test.h"

#include <array>

#include "server/hubs/hubs.h"

namespace mayfly::testing {
namespace {

std::string_view NameOf(ChangeReason reason) {
  switch (reason) {
    case ChangeReason::kFlushed:
      return "flushed";
    case ChangeReason::kSwapped:
      return "swapped";
    case ChangeReason::kNamespaceFlushed:
      return "flushed";
    case ChangeReason::kCreated:
    case ChangeReason::kValueChanged:
    case ChangeReason::kExpiryChanged:
    case ChangeReason::kSlid:
    case ChangeReason::kDeleted:
    case ChangeReason::kExpired:
    case ChangeReason::kEvicted:
    case ChangeReason::kInvalidated:
    case ChangeReason::kRenamed:
    case ChangeReason::kFreed:
      break;
  }
  return "?";
}

}  // namespace

void ChangeLog::OnChange(const Change& change) {
  if (change.event.name.empty()) {
    lines_.emplace_back(NameOf(change.reason));
    if (!change.key.empty()) lines_.back().append(" ").append(change.key).append("*");
    return;
  }
  const bool absent = change.reason == ChangeReason::kDeleted && change.entry == nullptr;
  const auto add = [&](std::string_view event) {
    lines_.push_back(std::string(event).append(" ").append(change.key));
    if (change.database != 0) lines_.back() += " in " + std::to_string(change.database);
  };
  if (change.reason == ChangeReason::kCreated) add("new");
  add(absent ? "absent" : change.event.name);
  if (!change.event.then.empty()) add(change.event.then);
}

void TestServer::TurnWheels() {
  FreeDue();
  RunWoken();
}

void TestServer::RunWoken() {
  executor.RunWoken([this](Session& session) {
    for (TestClient* client : clients) {
      if (&client->session() == &session) client->Serve();
    }
  });
  executor.EndTurn();
}

TestClient::TestClient(TestServer& server) : server_(server), session_(server.chunks) {
  server_.Connect(session_);
  session_.peer = "127.0.0.1:" + std::to_string(session_.id);
  session_.local = SharedBytes::Copy("127.0.0.1:6379");
  server_.clients.push_back(this);
}

TestClient::~TestClient() {
  std::erase(server_.clients, this);
  server_.server.hubs.client_ends.Tell(session_);
  server_.sessions.Remove(session_);
}

Reply TestClient::Run(const std::vector<std::string>& words) {
  std::vector<Reply> replies = TakeReplies(RunRaw(EncodeRequest(words)));
  if (replies.empty()) return NoReply();
  REQUIRE(replies.size() == 1);
  return std::move(replies.front());
}

std::string TestClient::RunRaw(std::string_view bytes) {
  input_.append(bytes);
  Serve();
  return TakeOutput();
}

std::string TestClient::RunRawWithBlocks(std::string_view bytes) {
  std::string output;
  while (!bytes.empty()) {
    size_t taken = 0;
    const std::span<char> room = session_.parser.BlockRoom();
    if (!room.empty()) {
      taken = bytes.copy(room.data(), room.size());
      session_.parser.BlockFilled(taken);
    } else {
      constexpr size_t kPiece = 1000;
      taken = std::min(bytes.size(), kPiece);
      input_.append(bytes.substr(0, taken));
    }
    bytes.remove_prefix(taken);
    if (session_.parser.BlockRoom().empty()) Serve();
    if (session_.parser.WantsBlock() != 0) input_.resize(session_.parser.StartBlock(input_));
    output += TakeOutput();
  }
  return output;
}

void TestClient::Serve() {
  server_.executor.RefreshNow();
  const auto exact = std::make_unique<char[]>(input_.size());
  input_.copy(exact.get(), input_.size());
  Feed feed{.session = &session_, .input = {exact.get(), input_.size()}};
  server_.executor.Run({&feed, 1});
  if (feed.state == Feed::State::kNoRoom) throw std::bad_alloc();
  input_.erase(0, feed.consumed);
  server_.RunWoken();
}

std::string TestClient::TakeOutput() {
  std::string bytes;
  std::array<OutputPiece, 16> pieces;
  while (!session_.output.empty()) {
    const size_t before = bytes.size();
    const size_t count = session_.output.Gather(pieces);
    for (size_t i = 0; i < count; ++i) bytes.append(pieces[i].data, pieces[i].size);
    session_.output.Consume(bytes.size() - before);
  }
  return bytes;
}

CommandTest::CommandTest() : client_(server_) {}

CommandTest::~CommandTest() {
  for (unsigned i = 0; i < server_.databases.count(); ++i) CHECK(server_.databases.At(i).Validate());
}

TestClient& CommandTest::Connect() {
  others_.push_back(std::make_unique<TestClient>(server_));
  return *others_.back();
}

void CommandTest::SetOption(std::string_view name, std::string_view value) {
  const std::vector<config::NameValue> pairs{{std::string(name), std::string(value)}};
  std::vector<std::string> warnings;
  const config::Problem problem = server_.options.Set(pairs, warnings);
  INFO(problem.value_or(""));
  REQUIRE_FALSE(problem);
  if (name != "requirepass" || value.empty()) return;
  for (TestClient* client : server_.clients) client->session().LogIn(nullptr);
}

void CommandTest::StartWith(std::string_view name, std::string_view value) {
  server_.files.directory = [](const std::string& path, std::string& absolute) {
    absolute = path;
    return config::Problem();
  };
  const std::vector<std::string> words{"--" + std::string(name), std::string(value)};
  const config::LoadResult loaded = server_.options.Load(words, {});
  INFO(loaded.error.value_or(""));
  REQUIRE_FALSE(loaded.error);
}

}  // namespace mayfly::testing
