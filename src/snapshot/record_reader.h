// Reads the records of a snapshot file in slices, for a RecordSink: the loader, or the check of a file.
//
//   FileReader's thread --chunks--> RecordReader: head, opcodes, keys, ValueIn --> RecordSink
//
// A large value is read in slices, like the deadlines of the value's members. A value of an unknown type is skipped if its
// length is known and the rules allow skipping; otherwise the value is damage. A value with wrong contents is refused, and the
// reading goes on after it. If the checksum at the end of the file is right, another server has written the value so; otherwise the
// value was the first damage. Memory: one window of the file, at least a
// chunk and at most as long as the longest string, and one value.
//
// Borrows the file and the sink. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/time/clock.h"
#include "cache/entry/rich_value.h"
#include "cache/types/member_home.h"
#include "snapshot/disk/file_reader.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/key_terms.h"
#include "snapshot/values/member_terms.h"
#include "snapshot/values/module_skip.h"
#include "snapshot/values/reading.h"
#include "snapshot/values/value_in.h"

namespace mayfly {

// A key of a file, with all facts before the value.
struct FileKey {
  uint64_t database = 0;
  std::string name;
  std::optional<int64_t> deadline_unix_ms;
  std::optional<uint64_t> idle_s;
  std::optional<uint8_t> frequency;
  KeyTerms terms;
  std::optional<uint64_t> early_steps;  // idle time of an early key (snapshot/use_order.h)
  uint64_t idle_steps = 0;              // of the keys in their turn now
  // What Mayfly alone has beside the value, for the key or its members, and this version cannot read or does not know: words for
  // people, "" if nothing. It counts as missing.
  std::string left_out = {};
};

// A value of a file.
struct ReadValue {
  // kDone; or kExpired or kEmpty, without a value.
  rdb::ValueStatus status = rdb::ValueStatus::kEmpty;
  bool of_module = false;           // kEmpty, because the value was skipped
  rdb::ValueIn& reader;             // of a string, and with the counts of dropped parts
  std::unique_ptr<RichValue> rich;  // null for a string
};

class RecordSink {
 public:
  enum class Answer : uint8_t {
    kNext,
    kEnough,  // the rest of the file is not wanted
  };

  // Called first. `valkey`: the version is Valkey's.
  virtual void TakeVersion(unsigned version, bool valkey) = 0;
  // A field about the file, not about a key. Throws std::bad_alloc.
  virtual void TakeField(std::string_view name, std::string_view value) = 0;
  // Likewise, a field of a Mayfly's file with records of EXPLOG (snapshot/event_fields.h), after TakeField. Returns false if the
  // field cannot be read. Throws std::bad_alloc.
  virtual bool TakeEvents(std::string_view name, std::string_view value) = 0;
  // A field about the file that Mayfly alone has cannot be read, or is not known. Throws std::bad_alloc.
  virtual void TakeLostField(std::string_view name) = 0;
  // The records from here on belong to this database. Returns "", or why the file cannot be used here: a part of a sentence whose
  // subject is the file. Throws std::bad_alloc.
  virtual std::string TakeDatabase(uint64_t /*database*/) { return {}; }
  // A key is left out. `what`: place, key and reason. Throws std::bad_alloc.
  virtual void TakeRefused(std::string_view what) = 0;
  // A module's record beside values was skipped.
  virtual void TakeModuleRecord() = 0;
  // The text of a library of functions.
  virtual void TakeFunction(std::string_view text) = 0;
  // The home of the members of the next value.
  virtual MemberHome HomeOf(uint64_t database) noexcept = 0;
  // Called before each record: the keys from here on were idle for `idle_steps`. Returns false if the budget is spent; the
  // call is then repeated. Throws std::bad_alloc.
  virtual bool ReadyFor(uint64_t idle_steps, Now now, size_t& budget) = 0;
  virtual Answer TakeKey(const FileKey& key, ReadValue value, Now now) = 0;
  // The number of keys of a database of the file: a hint, which may be wrong.
  virtual void Expect(uint64_t /*database*/, uint64_t /*keys*/) noexcept {}
  // Called before each key. Returns false if the rest of the file is not wanted.
  virtual bool WantsKey() noexcept { return true; }
  // This key comes soon: a hint.
  virtual void PrefetchKey(uint64_t /*database*/, std::string_view /*key*/) noexcept {}
  // Drops an incomplete or unwanted value; null does nothing.
  virtual void Drop(std::unique_ptr<RichValue> value) noexcept = 0;

 protected:
  ~RecordSink() = default;
};

class RecordReader {
 public:
  enum class Status : uint8_t {
    kMore,   // the file has no more bytes yet
    kSpent,  // the budget is spent
    kEnd,    // of the file, or the sink has enough
    kBad,    // see problem()
  };
  // Why the reading has ended.
  enum class Trouble : uint8_t {
    kNone,
    kDisk,
    kDamaged,
    kUnknownVersion,
    kUnknownKind,  // of value or record: as damage, but another copy of the file has it, too
    kUnusable,     // see RecordSink::TakeDatabase
  };

  struct Rules {
    bool skips_unknown = true;
    bool verifies = true;       // the checksum
    bool keeps_due = false;     // members that are due stay
    bool wall_members = false;  // deadlines of members are Unix times, whatever the file says
  };

  // Throws std::bad_alloc.
  RecordReader(FileReader& file, std::string path, RecordSink& sink, const rdb::ValueLimits& limits,
               Rules rules);
  ~RecordReader();
  RecordReader(const RecordReader&) = delete;
  RecordReader& operator=(const RecordReader&) = delete;

  // Reads on. Units of the budget: see ValueIn. Throws std::bad_alloc. REQUIRES: no earlier call has returned kEnd or kBad.
  Status Some(Now now, size_t budget);

  // The bytes of the file read so far.
  uint64_t read_bytes() const noexcept { return window_at_ + in_.at(); }
  size_t window_bytes() const noexcept { return window_.capacity(); }
  // True if Mayfly has written the file. Known with the first key.
  bool ours() const noexcept { return ours_; }
  // After the end: true if the file had a checksum.
  bool summed() const noexcept { return summed_; }
  Trouble trouble() const noexcept { return trouble_; }
  // "", or one line. Empty from then on.
  std::string TakeProblem() noexcept { return std::exchange(problem_, {}); }

 private:
  enum class Step : uint8_t { kOk, kMore, kSpent, kEnd, kBad };
  // kMembers: a set or a sorted set is read, and deadlines of its members may follow.
  enum class State : uint8_t { kHead, kRecord, kValue, kMembers, kModule };

  Step Once(Now now, size_t& budget);
  // Returns false if no more bytes have come yet.
  bool Refill();
  Step ReadHead();
  Step ReadRecord(Now now, size_t& budget);
  Step ReadOpcode(uint8_t opcode);
  Step ReadField();
  // Reads one of Mayfly's fields about keys. Returns false if the field cannot be read.
  bool ReadOwnField(std::string_view name, std::string_view value);
  bool ReadIdle(std::string_view name, std::string_view value);
  // Reads a field of a Mayfly's file that is not about keys, or is not known.
  void ReadFileField(std::string_view name, std::string_view value);
  // Adds to what is left out of the next key.
  void LeaveOut(std::string_view what);
  Step SkipImport();
  Step BeginSkip(rdb::ModuleSkip::Kind kind, uint8_t code);
  Step ReadFunction(uint8_t opcode);
  Step ReadKey(uint8_t type, Now now);
  Step ReadOn(Now now, size_t& budget);
  Step ReadMembers(Now now, size_t& budget);
  Step SkipModule(Now now, size_t& budget);
  Step ReadEnd();
  // Tells the sink which key follows, if the window has its name.
  void LookAhead() noexcept;
  // Gives the key to the sink.
  Step Hand(rdb::ValueStatus status, Now now);
  // Leaves the key out. The whole value was read.
  Step Refuse(std::string_view what);
  // The facts that follow belong to the next key.
  void ForgetKey();
  Step Damaged(std::string_view what);
  // Likewise; the rest cannot be read, because this version does not know `what`, or may not skip it.
  Step NotKnown(const std::string& what);
  // The place in the file, the key if a value is being read, and `what`.
  std::string Located(std::string_view what) const;
  // The file has no place here.
  Step Unusable(std::string_view why);
  // True if the deadlines of the key's members are Unix times.
  bool HasWallMembers() const noexcept { return key_.terms.wall_members || rules_.wall_members; }

  FileReader& file_;
  const std::string path_;
  RecordSink& sink_;
  const Rules rules_;
  std::string window_;
  std::string chunk_;
  uint64_t window_at_ = 0;  // the window's place in the file
  rdb::In in_;
  State state_ = State::kHead;
  unsigned version_ = 0;
  bool valkey_ = false;
  bool ours_ = false;
  bool in_head_ = true;  // no database and no key was read: fields are about the file
  bool summed_ = false;
  bool goes_on_ = false;       // the file has bytes after its end
  std::string first_refused_;  // Located, of the first refused key
  FileKey key_;
  rdb::ValueIn value_;
  std::unique_ptr<RichValue> rich_;  // the complete value of value_, unless a string
  MemberTermsIn members_;            // deadlines for rich_
  rdb::ModuleSkip module_;
  bool skips_value_ = false;  // module_ reads the value of a key
  Trouble trouble_ = Trouble::kNone;
  std::string problem_;
};

}  // namespace mayfly
