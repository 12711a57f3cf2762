// One cell of the table of crossings: the words in which a row says what it makes and what it promises, whatever the column.
//
//   void MakeValue(Crossing& c) { c.Make({"SET", "k:page", "v", "PX", "60000"}); }
//   void CheckValue(Crossing& c) {
//     c.Expect({"GET", "k:page"}, Bulk("v"));
//     c.ExpectDeadline("k:page", 60'000);
//     c.AdvanceTo(60'000);
//     c.Expect({"EXISTS", "k:page"}, Integer(0));
//   }
//
// A row makes its keys, the column lets them cross, and the row checks what has arrived. Times are ms since the making. All keys of
// a row begin with "k:". What differs is noted in `faults`, and the cell goes on.
//
// Writes go to the server that takes writes now: the master, or after a load or a promotion the new server. Reads go to the
// server that the keys have crossed to: the replica, for one. A read is never an access, so that it moves no deadline.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/snapshot_test.h"

namespace mayfly::testing::crossings {

class Crossing {
 public:
  virtual ~Crossing() = default;
  Crossing() = default;
  Crossing(const Crossing&) = delete;
  Crossing& operator=(const Crossing&) = delete;

  // ---- what rows say

  // A write, and its reply.
  Reply Write(const Words& request);
  Reply Read(const Words& request) { return DoRead(request); }
  // A write that must not be refused.
  Reply Make(const Words& request);
  void Expect(const Words& request, const Reply& reply) { Compare(request, Read(request), reply); }
  // Of a command that only a Mayfly knows: left out if the reader is a redis-server.
  void ExpectOurs(const Words& request, const Reply& reply) {
    if (reads_at_mayfly()) Expect(request, reply);
  }
  void ExpectWrite(const Words& request, const Reply& reply) { Compare(request, Write(request), reply); }
  // The reply to a read when the keys were made, and the same after the crossing.
  void Remember(const Words& request) { remembered_[request] = Look(writer(), request); }
  void ExpectSame(const Words& request) { Expect(request, remembered_.at(request)); }
  // By PEXPIRETIME; -1: none.
  void ExpectDeadline(std::string_view key, int64_t ms);
  void ExpectKeys(const Words& keys, int64_t present);
  // A counter of INFO at the server that takes writes, since the keys have arrived there.
  void ExpectCounted(const std::string& field, int64_t count);
  int64_t Counter(const std::string& field);
  void Check(bool holds, const std::string& what) {
    if (!holds) faults.push_back(what);
  }
  // All servers free what is due.
  void AdvanceTo(int64_t ms) { Advance(Until(ms)); }
  // All clocks show that time, and no server has had a turn since.
  void LetTimeComeTo(int64_t ms) { LetTime(Until(ms)); }
  std::string UnixMs(int64_t ms) const { return std::to_string(made_ms_ + ms); }
  int64_t UnixMsOf(int64_t ms) const { return made_ms_ + ms; }
  // Takes the lease of an absent key; its token.
  std::string Lease(const std::string& key);

  // ---- how columns differ

  // SLIDE, STALE, TAGS, INTO and deadlines of members of sets have crossed, too, and the rest of `check` tests them.
  virtual bool has_terms() const { return true; }
  // Stale values in their windows have crossed, too.
  virtual bool has_stale_values() const { return true; }
  // The server of the writes is the one that made the keys, without a break.
  virtual bool at_home() const { return true; }
  virtual bool reads_at_mayfly() const { return true; }
  // The replies to `make` may be errors: memory is full, or the options are not those of the row.
  bool refuses = false;

  // ---- what the table does

  void SetOptions(const std::vector<Words>& options);
  // Before `make`.
  virtual void Begin() {}
  // After `make`.
  virtual void Cross() {}
  // As Cross, while `end` takes the keys away: where the column lies between the two, it says so.
  virtual void CrossWhile(const std::function<void()>& end) {
    end();
    Cross();
  }
  // Instead of the row's `check`, the server of the reads has to have what the server of the writes has.
  virtual bool only_compares() const { return false; }
  virtual void CompareBoth() {}
  void NoteTime() { made_ms_ = writer().WallMs(); }
  void NoteCounters();
  virtual SnapshotTest& writer() = 0;
  // Every Mayfly of the column.
  virtual std::vector<SnapshotTest*> worlds() { return {&writer()}; }

  std::string token;  // of a lease that `make` has taken
  std::vector<std::string> faults;

 protected:
  virtual Reply Send(const Words& request) { return writer().Run(request); }
  virtual Reply DoRead(const Words& request) { return Look(writer(), request); }
  // What was written reaches all servers.
  virtual void Carry() {}
  virtual void Advance(uint64_t ms) { writer().AdvanceTime(ms); }
  virtual void LetTime(uint64_t ms) { writer().LetTimePass(ms); }
  // By a client whose commands are no accesses.
  Reply Look(SnapshotTest& world, const Words& request);

 private:
  uint64_t Until(int64_t ms);
  void Compare(const Words& request, const Reply& reply, const Reply& expected);

  int64_t made_ms_ = 0;
  std::map<Words, Reply> remembered_;
  std::map<std::string, int64_t> counted_;
  std::map<SnapshotTest*, TestClient*> readers_;
};

}  // namespace mayfly::testing::crossings
