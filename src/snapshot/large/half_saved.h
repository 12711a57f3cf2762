// A large value on its way into a snapshot file, in slices: its key and the value as it was when the save began, whatever
// happens to both meanwhile.
//
//   begin      before the first change of the key, or when the walk comes to the key. O(1)
//   Some       appends the next bytes to the file, when the value's turn has come: one value after another
//   a change   the value tells before, and this object puts the part that changes into a buffer of its own; the buffer
//              goes into the file with the rest. The first change may come long before the value's turn
//   a wait     a request that would change the value as a whole waits: from now on PutAside puts one part after the other into
//              the buffer, before the value's turn and whatever is in the file. The wait is over when the value is read
//   a removal  of the key, or its replacement: this object keeps the value until the value is saved, and then has it freed in
//              slices. Nothing is copied
//   GiveUp     the save has failed: nothing more is written. Unwind ends the reading of the value
//
// There is a class for each shape of a value: tables of members, lists, streams and texts. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/time/clock.h"
#include "cache/entry/rich_value.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/large/side_text.h"

namespace mayfly {

class Databases;
class Entry;
class HalfSaved;

// The save, as its half-saved values see it.
class HalfSavedHost {
 public:
  explicit HalfSavedHost(Databases& its_databases) noexcept : databases(its_databases) {}
  virtual ~HalfSavedHost() = default;
  // Returns false if the save has failed; a save without room for more bytes fails by this call.
  virtual bool HasRoom() noexcept = 0;
  // Returns true if there is room for a copy that a request could also wait for.
  virtual bool HasRoomAside() const noexcept = 0;
  // The save fails.
  virtual void OnNoMemory() noexcept = 0;
  // kept_bytes has changed.
  virtual void CountBytes() noexcept = 0;
  // A request waits until this value is read: PutAside should follow soon.
  virtual void OnAwaited(HalfSaved& value) noexcept = 0;

  Databases& databases;
  Now began;
  Now alive_at;  // what is due at this time is not saved: `began`, or a time before all deadlines while what is due is kept
  rdb::Compression compression = rdb::Compression::kNone;
  bool plain = false;         // fields have no deadlines in the file
  size_t buffered_bytes = 0;  // of all buffers
  uint64_t kept_bytes = 0;    // of kept values
};

class HalfSaved {
 public:
  // Values with so many bytes are saved in slices, texts from Out::kMostCompressed on.
  static constexpr size_t kLargeBytes = size_t{64} << 10;
  // Some appends about so many bytes of the value.
  static constexpr size_t kSliceBytes = size_t{32} << 10;

  // Returns true if the entry's value is saved in slices.
  static bool IsLarge(const Entry& entry) noexcept;
  // Null if the value has no member at the time of the save. `facts` are the bytes of the file before the type of the value.
  // Throws std::bad_alloc. REQUIRES: IsLarge(entry); the value is not half saved. Borrows home.
  static std::unique_ptr<HalfSaved> Begin(HalfSavedHost& home, unsigned database, const Entry& entry,
                                          std::string&& facts);

  virtual ~HalfSaved() = default;
  HalfSaved(const HalfSaved&) = delete;
  HalfSaved& operator=(const HalfSaved&) = delete;

  unsigned database() const noexcept { return database_; }
  // Appends the next bytes. Returns true if these are the last. Throws std::bad_alloc; then GiveUp must follow.
  virtual bool Some(std::string& out) = 0;
  virtual void GiveUp() noexcept = 0;
  // Goes on for about `budget` members. Returns true at the end. REQUIRES: after GiveUp.
  virtual bool Unwind(size_t budget) noexcept = 0;
  // Reads the next part into the buffer. Returns true if nothing is left to read. Throws std::bad_alloc, and has changed nothing
  // then. REQUIRES: before GiveUp.
  virtual bool PutAside() = 0;
  // For the save alone: a request waits for the value; the value has moved forward.
  bool awaited = false;
  bool forward = false;
  // The bytes of a text that no key has any more.
  virtual uint64_t TextBytes() const noexcept { return 0; }

 protected:
  HalfSaved(HalfSavedHost& home, unsigned database, std::string&& head)
      : home_(home), head_(std::move(head)), buffer_(&home.buffered_bytes), database_(database) {}

  // Calls write(), which puts a part of the value aside, unless the save has failed; lets the save fail if memory runs out.
  template <typename Write>
  void Aside(Write&& write) noexcept {
    if (!home_.HasRoom()) return;
    try {
      write();
    } catch (const std::bad_alloc&) {
      home_.OnNoMemory();
    }
  }
  // Owns the value from now on.
  void TakeOver(std::unique_ptr<RichValue> value) noexcept;
  bool keeps() const noexcept { return kept_ != nullptr; }
  // Has the owned value freed, if there is one. REQUIRES: the value has no listener.
  void LetGo() noexcept;

  HalfSavedHost& home_;
  std::string head_;  // the first bytes in the file
  SideText buffer_;   // the next ones

 private:
  const unsigned database_;
  std::unique_ptr<RichValue> kept_;
  uint64_t kept_bytes_ = 0;
};

}  // namespace mayfly
