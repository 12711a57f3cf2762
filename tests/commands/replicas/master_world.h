// Clients that act as replicas of the server under test: each asks for all keys, confirms them, and reads the stream.
//
//   FakeReplica& replica = Follow();
//   Run({"SET", "a", "1"});
//   CHECK(replica.Take() == Heard{"SET a 1"});
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapshot/client_stream.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {

using Heard = std::vector<std::string>;

class FakeReplica {
 public:
  explicit FakeReplica(TestServer& server) : client(server) {}

  // What a replica says before it asks for keys.
  void Greet(const std::string& port = "7001") {
    REQUIRE(client.Run({"REPLCONF", "listening-port", port}) == Ok());
    REQUIRE(client.Run({"REPLCONF", "capa", "eof", "capa", "psync2"}) == Ok());
  }
  // As Greet, of a Mayfly; an older one knows no cutoffs.
  void GreetAsMayfly(bool knows_cutoffs = true) {
    Greet();
    Words words = {"REPLCONF", "capa", "mayfly"};
    if (knows_cutoffs) words.insert(words.end(), {"capa", "cutoffs"});
    REQUIRE(client.Run(words) == Simple("OK mayfly"));
  }
  // It has everything up to here.
  void Confirm() { ConfirmPlace(place); }
  void ConfirmPlace(int64_t where) { Send({"REPLCONF", "ACK", std::to_string(where)}); }
  // Likewise, and it is in its append-only file, too.
  void ConfirmDurable() {
    const std::string where = std::to_string(place);
    Send({"REPLCONF", "ACK", where, "FACK", where});
  }
  // The bytes of the stream since the last call, as they are.
  std::string TakeBytes() {
    std::string bytes = std::exchange(unread_, {});
    for (std::string more = client.RunRaw(""); !more.empty(); more = client.RunRaw("")) bytes += more;
    place += static_cast<int64_t>(bytes.size());
    return bytes;
  }
  // The same as commands: words separated by spaces, a payload as "...", but for a cutoff.
  Heard TakeAll() { return LinesOf(TakeBytes()); }
  // Without PING.
  Heard Take() {
    Heard lines = TakeAll();
    std::erase(lines, "PING");
    return lines;
  }
  bool dropped() { return client.session().Has(Mode::kDropped); }

  static Heard LinesOf(std::string_view bytes) {
    Heard lines;
    for (const Reply& request : TakeReplies(bytes)) {
      std::string line;
      for (size_t i = 0; i < request.elements.size(); ++i) {
        const bool is_payload = (i == 3 && request.elements[0] == Bulk("RESTORE")) ||
                                (i == 2 && request.elements[1] == Bulk("__mayfly__") &&
                                 !request.elements[2].text.starts_with("t"));
        if (i != 0) line += ' ';
        line += is_payload ? "..." : request.elements[i].text;
      }
      lines.push_back(line);
    }
    return lines;
  }

  TestClient client;
  std::string history;  // of the last answer to PSYNC
  std::string file;     // the snapshot
  int64_t place = 0;    // in the stream, after the last byte that was taken

 private:
  // A request without an answer.
  void Send(const Words& request) { unread_ += client.RunRaw(EncodeRequest(request)); }

  std::string unread_;
};

class MasterTest : public SnapshotTest {
 public:
  // A client that will be one; lives until it leaves.
  FakeReplica& NewReplica() {
    replicas_.push_back(std::make_unique<FakeReplica>(server()));
    return *replicas_.back();
  }
  // Its connection ends.
  void Leave(FakeReplica& leaving) {
    std::erase_if(replicas_, [&](const auto& replica) { return replica.get() == &leaving; });
    server().RunWoken();
  }
  // A replica that has all keys, and has read the stream so far. Database 0 is selected in the stream.
  FakeReplica& Follow(const std::string& port = "7001") {
    FakeReplica& replica = NewReplica();
    replica.Greet(port);
    return BringUp(replica);
  }
  // Likewise, of one that has greeted.
  FakeReplica& BringUp(FakeReplica& replica) {
    AskForAll(replica);
    replica.Confirm();
    CHECK(Run({"SET", "first", "1"}) == Ok());
    CHECK(Run({"DEL", "first"}) == Integer(1));
    CHECK(replica.Take() == Heard{"SELECT 0", "SET first 1", "DEL first"});
    return replica;
  }
  void AskForAll(FakeReplica& replica) {
    const std::string answer = replica.client.RunRaw("PSYNC ? -1\r\n");
    ReceiveAll(replica, answer);
  }
  // +FULLRESYNC history place, and the file between its marks.
  void ReceiveAll(FakeReplica& replica, std::string bytes = "") {
    constexpr size_t kMark = 40;
    size_t begin = std::string::npos;
    std::string mark;
    for (int turn = 0; turn < 100'000; ++turn) {
      if (mark.empty() && (begin = bytes.find("$EOF:")) != std::string::npos &&
          bytes.size() > begin + 5 + kMark)
        mark = bytes.substr(begin + 5, kMark);
      if (!mark.empty() && bytes.size() > begin + 2 * kMark + 7 && bytes.ends_with(mark)) break;
      AdvanceTime(ClientStream::kLookMs);
      Slice();
      bytes += replica.client.RunRaw("");
    }
    REQUIRE(bytes.ends_with(mark));
    // While it has to wait, empty lines show that the master lives.
    const std::string greeting = bytes.substr(0, begin).substr(bytes.find_first_not_of('\n'));
    REQUIRE(greeting.starts_with("+FULLRESYNC "));
    replica.history = greeting.substr(12, kMark);
    replica.place = std::stoll(greeting.substr(13 + kMark));
    replica.file = bytes.substr(begin + kMark + 7, bytes.size() - begin - 2 * kMark - 7);
    AdvanceTime(ClientStream::kLookMs);
    Slice();
  }
  // The answer to PSYNC of the place that `replica` has, by a new connection.
  std::string Continue(FakeReplica& replica, const std::string& history, int64_t place) {
    return replica.client.RunRaw("PSYNC " + history + " " + std::to_string(place + 1) + "\r\n");
  }
  std::string Field(const std::string& section, const std::string& field) {
    const std::string text = Run({"INFO", section}).text;
    const size_t at = text.find("\n" + field + ":");
    if (at == std::string::npos) return "";
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }

 private:
  std::vector<std::unique_ptr<FakeReplica>> replicas_;
};

}  // namespace mayfly::testing
