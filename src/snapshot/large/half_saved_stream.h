// A stream that is half saved (half_saved.h).
//
// Nodes are saved from the oldest. Before an entry goes, the nodes up to the entry's are saved into the buffer. Entries that
// clients add come after the last entry of the beginning (not always after the stream's last ID: XSETID may lower that), and
// are not written, not even if they lie in a node with older ones.
//
// Groups come last in the file. Before a group changes, all groups are saved into a buffer of their own.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cache/types/stream/stream_value.h"
#include "cache/types/value_listeners.h"
#include "snapshot/large/half_saved.h"
#include "snapshot/values/stream_out.h"

namespace mayfly {

class HalfSavedStream final : public HalfSaved, private StreamListener {
 public:
  // As HalfSaved::Begin.
  HalfSavedStream(HalfSavedHost& home, unsigned database, std::string_view key, StreamValue& stream,
                  std::string&& facts);
  ~HalfSavedStream() override { GiveUp(); }

  bool Some(std::string& out) override;
  void GiveUp() noexcept override;
  bool Unwind(size_t) noexcept override { return true; }
  bool PutAside() override;

 private:
  void BeforeNode(StreamId first) noexcept override;
  void BeforeGroups() noexcept override;
  size_t UnreadPending() const noexcept override { return groups_.left(); }
  StreamId FirstUnread() const noexcept override { return from_; }
  void OnAwaited() noexcept override { home_.OnAwaited(*this); }
  void Keep(std::unique_ptr<RichValue> value) noexcept override { TakeOver(std::move(value)); }

  // Writes the next node. Returns the size of its listpack. Throws std::bad_alloc, and has passed no node then.
  size_t WriteNode(std::string& bytes);
  void PutGroupsAside();
  // Ends the reading if nothing is left to read. Returns true then.
  bool DetachAtEnd() noexcept;
  void Detach() noexcept;

  StreamValue* stream_;  // null: nothing is left to read
  const StreamId last_;  // of an entry at the beginning
  StreamId from_ = {};   // the nodes before are saved
  size_t left_;          // nodes
  bool begun_ = false;
  std::string totals_;  // after the nodes
  rdb::StreamGroupsOut groups_;
  bool groups_read_ = false;
  SideText aside_;  // groups
};

}  // namespace mayfly
