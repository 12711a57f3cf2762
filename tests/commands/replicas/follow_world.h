// Two servers in one process: one follows the other, over a link that the test carries and breaks.
//
//   Follow();
//   Run({"SET", "a", "1"});
//   Carry();
//   CHECK(follower.Run({"GET", "a"}) == Bulk("1"));
#pragma once

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "base/log/log.h"
#include "commands/replicas/master_world.h"
#include "replication/master_link.h"
#include "support/fake_target.h"

namespace mayfly::testing {

// The server that follows.
class Follower : public SnapshotTest {
 public:
  Follower() {
    server().server.master_link = std::make_unique<MasterLink>(server().server, disk);
    if (std::getenv("SEED") != nullptr) server().server.log = &log_;
  }
  ~Follower() { server().server.master_link.reset(); }

  FakeTargets targets{server()};

 private:
  Log log_{server().clock, Log::Level::kWarning, ""};
};

class FollowTest : public MasterTest {
 public:
  FollowTest() {
    follower.server().server.run_id = std::string(40, 'f');  // the first name of its own stream
    if (std::getenv("SEED") != nullptr) server().server.log = &log_;
  }
  // Lets time pass on both sides, and carries bytes until neither has any.
  void Pass(uint64_t ms) {
    AdvanceTime(ms);
    follower.AdvanceTime(ms);
    Carry();
  }
  void Carry() {
    for (int idle = 0; idle < 3;) {
      if (follower.targets.count() == 0) return;
      FakeTarget& link = follower.targets.last();
      if (connection_ != nullptr && connection_->session().closes()) Cut();
      if (link.closed()) return;
      if (connected_ != follower.targets.count()) {
        connected_ = follower.targets.count();
        connection_ = std::make_unique<TestClient>(server());
        link.Accept();
      }
      const std::string down = connection_->RunRaw(link.TakeBytes());
      if (!down.empty()) link.Answer(down);
      idle = down.empty() ? idle + 1 : 0;
      Slice();
      follower.Slice();
    }
  }
  // Carries the bytes that are there once, without any other work of either side. REQUIRES: Follow().
  void CarryBytes() {
    FakeTarget& link = follower.targets.last();
    const std::string down = connection_->RunRaw(link.TakeBytes());
    if (!down.empty()) link.Answer(down);
  }
  void Follow() {
    REQUIRE(follower.Run({"REPLICAOF", "there", "7000"}) == Ok());
    AwaitLink();
  }
  // A thread writes the file: little time passes while it does, or a limit of time would depend on the machine.
  void AwaitLink() {
    constexpr int kRounds = 1'000'000;
    for (int i = 0; i < kRounds && Link("master_link_status") != "up"; ++i) {
      Pass(i < 100 || i % 1'000 == 0 ? 2 : 0);
      std::this_thread::yield();
    }
    REQUIRE(Link("master_link_status") == "up");
  }
  void Cut() {
    connection_.reset();
    server().RunWoken();
    follower.targets.last().HangUp();
  }
  void Break() {
    Cut();
    Pass(MasterLink::kRetryMs);
  }
  std::string Link(const std::string& field) {
    const std::string text = follower.Run({"INFO", "replication"}).text;
    const size_t at = text.find("\n" + field + ":");
    if (at == std::string::npos) return "";
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }

  // The same request has the same answer.
  void Compare(const Words& request) {
    const Reply there = follower.Run(request);
    const Reply here = Run(request);
    CAPTURE(request);
    CHECK(here == there);
  }
  void CompareStream(const std::string& key) {
    const Reply groups = Run({"XINFO", "GROUPS", key});
    Compare({"XINFO", "GROUPS", key});
    for (const Reply& group : groups.elements) {
      const std::string name = group.elements[1].text;
      Compare({"XPENDING", key, name});
      Compare({"XPENDING", key, name, "-", "+", "1000"});
      const Words consumers = {"XINFO", "CONSUMERS", key, name};
      CHECK(NamesIn(Run(consumers)) == NamesIn(follower.Run(consumers)));
    }
    Compare({"XRANGE", key, "-", "+"});
    for (const char* field : {"last-generated-id", "max-deleted-entry-id", "entries-added", "length"})
      CHECK(Member({"XINFO", "STREAM", key}, field));
  }
  // Of XINFO CONSUMERS. The times of requests are each server's own.
  static Words NamesIn(const Reply& consumers) {
    Words names;
    for (const Reply& consumer : consumers.elements) names.push_back(consumer.elements[1].text);
    return names;
  }
  bool Member(const Words& request, const std::string& field) {
    const auto value = [&](const Reply& reply) {
      const auto at = std::ranges::find(reply.elements, Bulk(field));
      return at != reply.elements.end() ? *(at + 1) : NoReply();
    };
    return value(Run(request)) == value(follower.Run(request));
  }
  void CompareKeys() {
    Compare({"DBSIZE"});  // also what is hidden, and not freed yet
    const Reply keys = Sorted(Run({"KEYS", "*"}));
    CHECK(Sorted(follower.Run({"KEYS", "*"})) == keys);
    for (const Reply& key : keys.elements) {
      Compare({"TYPE", key.text});
      Compare({"PEXPIRETIME", key.text});
      const std::string type = Run({"TYPE", key.text}).text;
      if (Run({"DEBUG", "DIGEST-VALUE", key.text}) != follower.Run({"DEBUG", "DIGEST-VALUE", key.text})) {
        CAPTURE(key.text, type);
        FAIL_CHECK("the values differ");
      }
      if (type == "stream") CompareStream(key.text);
    }
  }
  void CompareAll() {
    // A look is no access, which would let deadlines slide.
    REQUIRE(Run({"CLIENT", "NO-TOUCH", "ON"}) == Ok());
    for (const char* database : {"0", "1", "2"}) {
      Run({"SELECT", database});
      follower.Run({"SELECT", database});
      CAPTURE(database);
      CompareKeys();
    }
    Compare({"DEBUG", "DIGEST"});
    CHECK(Link("slave_repl_offset") == Field("replication", "master_repl_offset"));
  }

  Follower follower;

 private:
  Log log_{server().clock, Log::Level::kNotice, ""};
  std::unique_ptr<TestClient> connection_;
  size_t connected_ = 0;
};

}  // namespace mayfly::testing
